"""Folders of texts as sources, with the columns `text` and `class`."""

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
    """Tell whether a path is a folder with subfolders, or mbox files, for classes."""
    folder = Path(path)
    return folder.is_dir() and any(
        not entry.name.startswith(".") and (entry.is_dir() or entry.suffix.lower() == ".mbox")
        for entry in folder.iterdir()
    )


class FolderSource(Source):
    """A folder of texts with a subfolder for each class, read in batches."""

    target = CLASS

    def __init__(self, path: Location) -> None:
        self.name = str(path)
        self.columns = (TEXT, CLASS)
        self._path = path

    def analyzers(self) -> dict[str, Analyzer]:
        """Choose the analyzer: that of e-mail, if most of the first texts are messages."""
        first = next(iter_folder(self._path, batch_bytes=2**20))[0]
        messages = sum(is_message(text.encode("utf-8", "replace")) for text in first)
        return {TEXT: Analyzer("email" if 2 * messages > len(first) else "word")}

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Iterate over the texts and their classes."""
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
