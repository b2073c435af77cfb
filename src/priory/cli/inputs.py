"""Arguments of the command line, parsed for the library."""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from priory.base.errors import SchemaError, SettingError, did_you_mean, listing
from priory.classifier.classifier import Classifier
from priory.cli.failing import calling
from priory.data.gaps import GAP_WORDS
from priory.families import family_names
from priory.families.priors import MEstimate
from priory.sources.base import Form
from priory.sources.learned_forms import form_of
from priory.text.analyzer import Analyzer

__all__ = [
    "from_stdin",
    "parse_by_column",
    "parse_class_prior",
    "parse_families",
    "parse_m_estimate",
    "parse_pairs",
    "parse_smoothing",
    "parse_texts",
    "parse_value",
    "parse_weights",
]

KINDS = {"labels": "categorical", "numbers": "gaussian"}
"""Kinds may be given too; each stands for its plain family."""


class Stdin(os.PathLike[str]):
    """A temporary file with what came through a pipe, which messages call stdin."""

    called = "stdin"

    def __init__(self, path: str, is_json: bool) -> None:
        self.path, self.is_json = path, is_json

    def __fspath__(self) -> str:
        return self.path


@contextmanager
def from_stdin(data: Sequence[str]) -> Iterator[Any]:
    """Copy stdin to a temporary file, which can be read again; other data stay as they are."""
    if list(data) != ["-"]:
        if "-" in data:
            raise SettingError("- for stdin stands alone.")
        yield data[0] if len(data) == 1 else list(data)
        return
    stream: Any = sys.stdin.buffer
    is_json = stream.peek(16).lstrip()[:1] in (b"{", b"[")
    handle, name = tempfile.mkstemp(prefix="priory-stdin-")
    try:
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        with calling({name: Stdin.called}):
            yield Stdin(name, is_json)
    finally:
        os.unlink(name)


def parse_families(given: Sequence[str]) -> Any:
    """Parse one family for all columns, or families by column; with commas they are one block.

    >>> parse_families(["age=histogram", "a,b=joint", "zip=labels"])
    {'age': 'histogram', ('a', 'b'): 'joint', 'zip': 'categorical'}
    >>> parse_families(["gaussian"])
    'gaussian'
    """
    found = parse_by_column(given, "--families")
    if not isinstance(found, dict):
        return _family(found)
    families: dict[Any, str] = {}
    for columns, family in found.items():
        names = tuple(name.strip() for name in columns.split(","))
        families[names if len(names) > 1 else names[0]] = _family(family)
    return families


def _family(text: str) -> str:
    name = KINDS.get(text, text)
    known = family_names()
    if name not in ("plain", "auto", *known):
        raise SettingError(
            f"--families names a family {text!r}, which does not exist. Families: "
            f"{listing(known, 20)}.{did_you_mean(text, known)}"
        )
    return name


def parse_by_column(given: Sequence[str], option: str) -> Any:
    """Parse one value for all columns, or values by column.

    >>> parse_by_column(["skip"], "--missing"), parse_by_column(["a=skip", "b=error"], "--missing")
    ('skip', {'a': 'skip', 'b': 'error'})
    """
    if any("=" in text for text in given):
        return parse_pairs(given, option)
    if len(given) > 1:
        raise SettingError(
            f"{option} takes one value for all columns, or COLUMN=VALUE for each; not "
            f"{listing(given)}."
        )
    return given[0]


def parse_texts(given: Sequence[str]) -> dict[str, Analyzer]:
    """Parse how each column of text is split; a column alone is split into words.

    >>> {name: analyzer.unit for name, analyzer in parse_texts(["note", "body=email"]).items()}
    {'note': 'word', 'body': 'email'}
    """
    pairs = (text.partition("=") for text in given)
    return {name.strip(): Analyzer(unit or "word") for name, _, unit in pairs}


def parse_pairs(given: Sequence[str], option: str) -> dict[str, str]:
    """Parse NAME=VALUE options; a value may contain further equals signs."""
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals):
            raise SettingError(f"{option} takes NAME=VALUE, not {text!r}.")
        pairs[name.strip()] = value
    return pairs


def parse_smoothing(given: Sequence[str]) -> Any:
    """Parse Laplace's number, or "auto", for all columns or by column.

    >>> parse_smoothing(["0"]), parse_smoothing(["a=0.5", "b=auto"])
    (0.0, {'a': 0.5, 'b': 'auto'})
    """
    found = parse_by_column(given, "--smoothing")
    if isinstance(found, dict):
        return {name: _smoothing(text) for name, text in found.items()}
    return _smoothing(found)


def _smoothing(text: str) -> Any:
    number = text if text == "auto" else _number(text)
    if number is None or (isinstance(number, float) and not 0 <= number < math.inf):
        raise SettingError(
            f"--smoothing takes a number of at least 0 (Laplace's) or auto, not {text!r}. "
            "For an m-estimate: --m-estimate M."
        )
    return number


def parse_m_estimate(text: str) -> MEstimate:
    """Parse an m-estimate: M imagined rows, spread evenly (1/V) or as in the whole column.

    >>> parse_m_estimate("2"), parse_m_estimate("3,marginal")
    (MEstimate(m=2.0, p='uniform'), MEstimate(m=3.0, p='marginal'))
    """
    number, _, prior = text.partition(",")
    m = _number(number)
    if m is None or not 0 <= m < math.inf or prior not in ("", "uniform", "marginal"):
        raise SettingError(
            "--m-estimate takes a number of imagined rows of at least 0, M or M,uniform (spread "
            f"evenly over the values) or M,marginal (as in the whole column), not {text!r}."
        )
    return MEstimate(m, "marginal" if prior == "marginal" else "uniform")


def parse_class_prior(text: str) -> Any:
    """Parse "uniform", "words", or a probability for each class.

    >>> parse_class_prior("uniform"), parse_class_prior("a=.3,b=.7")
    ('uniform', {'a': 0.3, 'b': 0.7})
    """
    if text in ("uniform", "words"):
        return text
    prior = {}
    for part in text.split(","):
        name, equals, p = part.rpartition("=")  # a class may contain one, a number may not
        number = _number(p)
        if not equals or number is None or name.strip() in prior:
            raise SettingError(
                "--class-prior takes uniform, words, or a probability for each class, such as "
                f"No=.3,Yes=.7; not {text!r}."
            )
        prior[name.strip()] = number
    return prior


def parse_weights(text: str) -> str | None:
    """Parse how far factors are trusted; "none" takes each as it is.

    >>> parse_weights("none"), parse_weights("columns")
    (None, 'columns')
    """
    if text not in ("none", "auto", "temperature", "columns"):
        raise SettingError(
            f"--weights must be one of none, auto, temperature, columns, not {text!r}."
        )
    return None if text == "none" else text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse_value(classifier: Classifier, name: str, text: str) -> Any:
    """Convert text to the type of a column's training values; empty text is a missing value."""
    schema = classifier.statistics.schema
    block = next((b for b in schema if name in b.columns), None)
    if block is None:
        raise SchemaError(
            f"The model has no column {name!r}. Columns: {listing(schema.columns, 20)}."
            f"{did_you_mean(name, schema.columns)}"
        )
    form = form_of(block, classifier.statistics.tables.get(block.name), block.columns.index(name))
    text = text.strip()
    if text == "" or (form is not Form.TEXT and text.lower() in GAP_WORDS):
        return None
    if form is Form.BOOLEAN and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if form is Form.NUMBER:
        number = _number(text)
        if number is None:
            raise SchemaError(f"Column {name!r} holds numbers, and {text!r} is none.")
        return int(number) if number.is_integer() else number
    return text
