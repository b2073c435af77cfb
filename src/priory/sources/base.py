"""The interface of sources: columns by name, and batches of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from priory.base.errors import SchemaError, did_you_mean, listing
from priory.data.rawtables import RawTable
from priory.text.analyzer import Analyzer

__all__ = ["SAMPLE_ROWS", "Batch", "Form", "Reading", "Source", "check_columns"]

SAMPLE_ROWS = 20_480
"""The number of rows from which the kinds of columns are inferred."""


class Form(StrEnum):
    """How the text of a column is parsed; NATURAL for columns that have a type."""

    NATURAL = "natural"
    NUMBER = "numbers"
    BOOLEAN = "booleans"
    DATE = "dates"
    TEXT = "text"


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of rows: an Arrow array (or any sequence) for each column.

    `misread` are the columns with values that do not fit their form, which are missing here.
    """

    columns: Mapping[str, Any]
    n_rows: int
    misread: frozenset[str] = field(default_factory=frozenset)

    def table(self, names: Collection[str]) -> RawTable:
        """Select some of the columns as a table."""
        chosen = tuple(names)
        return RawTable(chosen, self.n_rows, True, lambda i: self.columns[chosen[i]])


@dataclass(frozen=True)
class Reading:
    """Which rows are read, which values are missing, and how text files are written."""

    where: str | None = None
    na_values: tuple[str, ...] = ()
    encoding: str = "utf-8"
    delimiter: str | None = None


class Source(ABC):
    """The rows of a file, a query or a table, batch by batch."""

    name: str
    columns: tuple[str, ...]
    where: str | None = None
    """The condition that the rows meet."""
    target: str | None = None
    """The target column, if the source defines it."""

    @property
    def is_text(self) -> bool:
        """Whether columns have no types, so that they must be inferred."""
        return False

    @property
    def is_repeatable(self) -> bool:
        """Whether the rows can be read more than once."""
        return True

    def forms(self) -> Mapping[str, Form]:
        """Infer the form of each column from the first rows."""
        return dict.fromkeys(self.columns, Form.NATURAL)

    def analyzers(self) -> Mapping[str, Analyzer]:
        """List the analyzers of columns that are known to be texts."""
        return {}

    @abstractmethod
    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Iterate over the rows of some columns, at most `most` of them."""

    def fraction_done(self) -> float | None:
        """Report the fraction of the rows read so far, if it is known."""
        return None

    def example(self, column: str, form: Form) -> str | None:
        """Find a value of a column that does not fit a form."""
        return None

    def close(self) -> None:
        """Close files and connections."""
        return


def check_columns(names: Collection[str], known: Collection[str], what: str) -> None:
    """Refuse names of columns that the source does not have."""
    for name in names:
        if name not in known:
            raise SchemaError(
                f"{what} {name!r} was not found. Columns: {listing(known, 20)}."
                f"{did_you_mean(name, known)}"
            )
