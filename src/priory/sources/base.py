"""What a source is: columns by name, and batches of rows that the kernels can count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from priory.base.errors import SchemaError, did_you_mean, listing
from priory.data.rawtables import RawTable
from priory.text.analyzer import Analyzer

__all__ = ["SAMPLE_ROWS", "Batch", "Form", "Source", "check_columns"]

SAMPLE_ROWS = 20_480
"""So many rows at the beginning say what the columns are."""


class Form(StrEnum):
    """Say how the text of a column is read; NATURAL is for columns that have a type."""

    NATURAL = "natural"
    NUMBER = "numbers"
    BOOLEAN = "booleans"
    DATE = "dates"
    TEXT = "text"


@dataclass(frozen=True, eq=False)
class Batch:
    """Hold some rows: an Arrow array (or any sequence) for each column.

    `misread` are the columns with a value that is not of the form it was read in; it is a gap here.
    """

    columns: Mapping[str, Any]
    n_rows: int
    misread: frozenset[str] = field(default_factory=frozenset)

    def table(self, names: Collection[str]) -> RawTable:
        """Return some of the columns as a table."""
        chosen = tuple(names)
        return RawTable(chosen, self.n_rows, True, lambda i: self.columns[chosen[i]])


class Source(ABC):
    """Give the rows of a file, a query or a table, batch by batch."""

    name: str
    columns: tuple[str, ...]
    target: str | None = None
    """The column of the classes, where the source itself knows it."""

    @property
    def is_text(self) -> bool:
        """Return whether columns have no type of their own, so that one must be found."""
        return False

    @property
    def is_repeatable(self) -> bool:
        """Return whether the rows can be asked for more than once."""
        return True

    def forms(self) -> Mapping[str, Form]:
        """Return how each column should be read, going by the first rows."""
        return dict.fromkeys(self.columns, Form.NATURAL)

    def analyzers(self) -> Mapping[str, Analyzer]:
        """Return how columns that are texts by their nature are split."""
        return {}

    @abstractmethod
    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Return the rows of some columns, at most so many."""

    def fraction_done(self) -> float | None:
        """Return which share of the rows was read so far, where that is known."""
        return None

    def example(self, column: str, form: Form) -> str | None:
        """Return a value of a column that cannot be read in a form, if there is one."""
        return None

    def close(self) -> None:
        """Let go of files and connections, where there are any."""
        return


def check_columns(names: Collection[str], known: Collection[str], what: str) -> None:
    """Refuse names of columns that a source does not have."""
    for name in names:
        if name not in known:
            raise SchemaError(
                f"{what} {name!r} was not found. Columns: {listing(known, 20)}."
                f"{did_you_mean(name, known)}"
            )
