"""The interface of sources: columns by name, and batches of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from priory.base.errors import PrioryWarning, SchemaError, SettingError, did_you_mean, listing, warn
from priory.data.gaps import CLASS_GAPS, GAP_WORDS
from priory.data.rawtables import RawTable
from priory.text.analyzer import Analyzer

__all__ = [
    "SAMPLE_BYTES",
    "SAMPLE_ROWS",
    "Batch",
    "Form",
    "Misread",
    "Reading",
    "Skipped",
    "Source",
    "TextSource",
    "Unread",
    "check_columns",
    "row_number",
]

SAMPLE_ROWS = 20_480
"""The number of rows from which the kinds of columns are inferred, at most."""

SAMPLE_BYTES = 1 << 23
"""And the size of their text: wide tables are judged by fewer rows."""


class Form(StrEnum):
    """How the text of a column is parsed; NATURAL for columns that have a type."""

    NATURAL = "natural"
    INTEGER = "integers"
    NUMBER = "numbers"
    BOOLEAN = "booleans"
    DATE = "dates"
    TEXT = "text"


class Misread(NamedTuple):
    """The values of a column that do not fit its form, and the rows of a batch they stand in."""

    rows: Sequence[int]
    values: Sequence[str]


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of rows: an Arrow array (or any sequence) for each column.

    `misread` are the columns with values that do not fit their form, which are missing here;
    `place` names a row of the batch by its line, or by its number.
    """

    columns: Mapping[str, Any]
    n_rows: int
    misread: Mapping[str, Misread] = field(default_factory=dict)
    place: Callable[[int], str] = "row {}".format

    def table(self, names: Collection[str]) -> RawTable:
        """Select some of the columns as a table; what is not there is missing in every row."""
        chosen = tuple(names)
        return RawTable(chosen, self.n_rows, True, lambda i: self._column(chosen[i]), tidy=True)

    def _column(self, name: str) -> Any:
        if name in self.columns:
            return self.columns[name]
        import pyarrow as pa

        return pa.nulls(self.n_rows, pa.string())

    def take(self, rows: Any) -> Batch:
        """Take some rows, in their order, with no value that does not fit."""
        index = np.asarray(rows, dtype=np.int64)
        columns = {
            name: column.take(index) if hasattr(column, "take") else [column[i] for i in index]
            for name, column in self.columns.items()
        }
        place = self.place
        return Batch(columns, len(index), place=lambda row: place(int(index[row])))

    def with_misread(self, misread: Mapping[str, Misread], rows: Any) -> Batch:
        """Add what does not fit of a batch from which these rows were taken."""
        places = {int(row): i for i, row in enumerate(rows)}
        kept = {
            name: [(places[r], v) for r, v in zip(*odd, strict=True) if r in places]
            for name, odd in misread.items()
        }
        found = {n: Misread(*map(list, zip(*odd, strict=True))) for n, odd in kept.items() if odd}
        return replace(self, misread=found)


@dataclass(frozen=True)
class Reading:
    """Which rows are read, which values are missing, and how text files are written."""

    where: str | None = None
    na_values: tuple[str, ...] = ()
    gap_words: frozenset[str] = GAP_WORDS
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None
    on_error: str = "fail"
    table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if self.query is not None and self.table is not None:
            raise SettingError(
                f"table={self.table!r} and query={self.query!r} both say what is read; give one."
            )
        if self.decimal not in (".", ","):
            raise SettingError(f"decimal must be '.' or ',', not {self.decimal!r}.")
        if self.thousands is not None and self.thousands not in (",", ".", " ", "'", "_"):
            raise SettingError(
                f"thousands must be one of ',', '.', ' ', \"'\" and '_', not {self.thousands!r}."
            )
        if self.thousands == self.decimal:
            raise SettingError(
                f"thousands={self.thousands!r} is the decimal mark as well. Give the other one "
                f"too: decimal={',' if self.decimal == '.' else '.'!r}."
            )
        if self.on_error not in ("fail", "skip"):
            raise SettingError(f"on_error must be one of fail, skip, not {self.on_error!r}.")

    @property
    def class_gaps(self) -> frozenset[str]:
        """The words that stand for no class among names of classes."""
        return self.gap_words & CLASS_GAPS

    @property
    def skips(self) -> bool:
        """Whether rows that cannot be read are left out."""
        return self.on_error == "skip"


@dataclass(frozen=True)
class Unread:
    """A column whose values fit a form, but for some: what they are and what would mend it."""

    column: str
    form: Form
    share: float
    commonest: tuple[tuple[str, int], ...]
    mend: str

    def __str__(self) -> str:
        shown = ", ".join(f"{value!r:.40} ({n:,})" for value, n in self.commonest)
        share = "more than 99.9%" if self.share > 0.999 else f"{self.share:.1%}"
        form = Form.NUMBER if self.form is Form.INTEGER else self.form
        if self.share < 0.5:  # numbers that are written in another way
            found = f"as only {share} of its values are {form} as they stand"
        else:
            found = f"though {share} of its values are {form}"
        return (
            f"Column {self.column!r} is read as labels, {found}; the commonest others: {shown}. "
            f"{self.mend}"
        )


class Skipped:
    """Rows that were left out, because they could not be read."""

    def __init__(self) -> None:
        self.reasons: dict[str, None] = {}  # each once, though rows may be read twice

    def add(self, reason: str) -> None:
        """Note a row, by its place and what is wrong with it."""
        self.reasons[reason] = None

    def tell(self, name: str) -> None:
        """Warn of the rows that were left out, once."""
        n, first = len(self.reasons), "; ".join(list(self.reasons)[:3])
        self.reasons = {}
        if n:
            more = f"; and {n - 3:,} more" if n > 3 else ""
            what = "1 row was" if n == 1 else f"{n:,} rows were"
            warn(f"{what} left out of {name}: {first}{more}.", PrioryWarning)


class Source(ABC):
    """The rows of a file, a query or a table, batch by batch."""

    name: str
    columns: tuple[str, ...]
    where: str | None = None
    """The condition that the rows meet."""
    target: str | None = None
    """The target column, if the source defines it."""
    reading: Reading = Reading()
    """How it is read."""
    dialect: str | None = None
    """The SQL of the database that it is in."""
    road: Any = None
    """Where its rows were counted, and why, once a model was trained (`sources.planning.Road`)."""

    def __init__(self) -> None:
        self.skipped = Skipped()

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

    def unread(self) -> Sequence[Unread]:
        """List the columns that are labels only because a few values do not fit."""
        return ()

    def analyzers(self) -> Mapping[str, Analyzer]:
        """List the analyzers of columns that are known to be texts."""
        return {}

    @abstractmethod
    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Iterate over the rows of some columns, at most `most` of them."""

    def count_there(self, task: Any, schema: Any) -> Any:
        """Count the rows where they are, if the source is an engine that can (`Counted`)."""
        return None

    def fraction_done(self) -> float | None:
        """Report the fraction of the rows read so far, if it is known."""
        return None

    def close(self) -> None:
        """Close files and connections."""
        return


class TextSource(Source):
    """Rows whose columns have no types, so that their forms are inferred from the first of them."""

    @property
    def is_text(self) -> bool:
        """True: the columns have no types."""
        return True

    def forms(self) -> Mapping[str, Form]:
        """Infer the form of each column from the first rows."""
        return self._inferred[0]

    def unread(self) -> Sequence[Unread]:
        """List the columns that are labels only because a few values do not fit."""
        return self._inferred[1]

    @cached_property
    def _inferred(self) -> tuple[Mapping[str, Form], Sequence[Unread]]:
        return self._infer()

    @abstractmethod
    def _infer(self) -> tuple[Mapping[str, Form], Sequence[Unread]]:
        """Find what each column holds, and which hold something else in a few rows."""


def check_columns(names: Collection[str], known: Collection[str], what: str) -> None:
    """Refuse names of columns that the source does not have."""
    for name in names:
        if name not in known:
            raise SchemaError(
                f"{what} {name!r} was not found. Columns: {listing(known, 20)}."
                f"{did_you_mean(name, known)}"
            )


def row_number(name: str, before: int) -> Callable[[int], str]:
    """Name the rows of a batch by their numbers, counting from 1.

    >>> row_number("the stream", 10)(0)
    'row 11 of the stream'
    """
    return lambda row: f"row {before + row + 1:,} of {name}"
