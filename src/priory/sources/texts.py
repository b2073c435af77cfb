"""A folder of texts as a source: the column `text`, and the column `class` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from priory.sources.base import Batch, Form, Source
from priory.sources.files import Location
from priory.sources.folders import is_message, iter_folder
from priory.text.analyzer import Analyzer

__all__ = ["CLASS", "TEXT", "FolderSource", "has_classes"]

TEXT, CLASS = "text", "class"


def has_classes(path: Location) -> bool:
    """Return whether a path is a folder that holds a folder, or a file of messages, for a class."""
    folder = Path(path)
    return folder.is_dir() and any(
        not entry.name.startswith(".") and (entry.is_dir() or entry.suffix.lower() == ".mbox")
        for entry in folder.iterdir()
    )


class FolderSource(Source):
    """Give the texts below a folder that holds a folder for each class, in batches."""

    target = CLASS

    def __init__(self, path: Location) -> None:
        self.name = str(path)
        self.columns = (TEXT, CLASS)
        self._path = path

    def analyzers(self) -> dict[str, Analyzer]:
        """Return how the texts are split: messages as messages, if most of the first are."""
        first = next(iter_folder(self._path, batch_bytes=2**20))[0]
        messages = sum(is_message(text.encode("utf-8", "replace")) for text in first)
        return {TEXT: Analyzer("email" if 2 * messages > len(first) else "word")}

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Return the texts and their classes."""
        import pyarrow as pa

        for texts, labels in self._lists(most):
            columns: dict[str, Any] = {TEXT: texts, CLASS: labels}
            arrays = {name: pa.array(columns[name], pa.large_string()) for name in forms}
            yield Batch(arrays, len(texts))

    def _lists(self, most: int | None) -> Iterator[tuple[list[str], list[str]]]:
        if most is None:
            yield from iter_folder(self._path)
            return
        for texts, labels in islice(iter_folder(self._path, batch_bytes=2**24), 1):
            yield texts[:most], labels[:most]
