"""What stands on the command line, as the library wants it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from priory.analyzer import Analyzer
from priory.classifier import Classifier
from priory.errors import SchemaError, SettingError, did_you_mean, listing
from priory.sources.base import Form
from priory.sources.training import form_of

__all__ = [
    "from_stdin",
    "parse_families",
    "parse_pairs",
    "parse_smoothing",
    "parse_texts",
    "parse_value",
]

KINDS = {"labels": "categorical", "numbers": "gaussian"}
"""Kinds may be named too; each stands for its plain family."""


@contextmanager
def from_stdin(data: Sequence[str]) -> Iterator[Any]:
    """Return the data; what comes from stdin is kept in a file, so that it can be read again."""
    if list(data) != ["-"]:
        if "-" in data:
            raise SettingError("- for stdin stands alone.")
        yield data[0] if len(data) == 1 else list(data)
        return
    stream: Any = sys.stdin.buffer
    start = stream.peek(16)
    kinds = {b"{": ".jsonl", b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz"}
    suffix = next((s for magic, s in kinds.items() if start.lstrip().startswith(magic)), ".csv")
    handle, name = tempfile.mkstemp(prefix="priory-stdin-", suffix=suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        yield name
    finally:
        os.unlink(name)


def parse_families(given: Sequence[str]) -> dict[Any, str]:
    """Return families by column; columns with commas are one block.

    >>> parse_families(["age=histogram", "a,b=joint", "zip=labels"])
    {'age': 'histogram', ('a', 'b'): 'joint', 'zip': 'categorical'}
    """
    families: dict[Any, str] = {}
    for columns, family in parse_pairs(given, "--as").items():
        names = tuple(name.strip() for name in columns.split(","))
        families[names if len(names) > 1 else names[0]] = KINDS.get(family, family)
    return families


def parse_texts(given: Sequence[str]) -> dict[str, Analyzer]:
    """Return how each column of text is split; a column alone is split into words.

    >>> {name: analyzer.unit for name, analyzer in parse_texts(["note", "body=email"]).items()}
    {'note': 'word', 'body': 'email'}
    """
    pairs = (text.partition("=") for text in given)
    return {name.strip(): Analyzer(unit or "word") for name, _, unit in pairs}


def parse_pairs(given: Sequence[str], option: str) -> dict[str, str]:
    """Return NAME=VALUE options as a mapping; a value may hold further signs of equality."""
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals):
            raise SettingError(f"{option} takes NAME=VALUE, not {text!r}.")
        pairs[name.strip()] = value
    return pairs


def parse_smoothing(text: str) -> Any:
    """Return a number, or "auto"."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"--smoothing takes a number or auto, not {text!r}.") from None


def parse_value(classifier: Classifier, name: str, text: str) -> Any:
    """Return a value of a column in the type that the classifier learned; nothing is a gap."""
    schema = classifier.statistics.schema
    block = next((b for b in schema if name in b.columns), None)
    if block is None:
        raise SchemaError(
            f"The model has no column {name!r}. Columns: {listing(schema.columns, 20)}."
            f"{did_you_mean(name, schema.columns)}"
        )
    if text == "":
        return None
    form = form_of(block, classifier.statistics.tables.get(block.name), block.columns.index(name))
    if form is Form.TRUTH and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if form is Form.NUMBER:
        try:
            number = float(text)
        except ValueError:
            raise SchemaError(f"Column {name!r} holds numbers, and {text!r} is none.") from None
        return int(number) if number.is_integer() else number
    return text
