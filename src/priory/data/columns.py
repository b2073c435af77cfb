"""Columns in the forms that the kernels read: labels, numbers, counts and texts.

A column here is coded and clean: strings have become codes, missing values a negative code or
NaN. `reading` makes these from what the user has; everything above sees only these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np

from priory.base.errors import InputError
from priory.base.labels import count_codes
from priory.base.typing import AnyArray, BoolArray, FloatArray, Label
from priory.data.texts import Texts
from priory.kernels.labels import encode_integers

__all__ = [
    "Column",
    "Combined",
    "Counts",
    "Frame",
    "Labels",
    "Numbers",
    "Pairs",
    "SparseRows",
    "Texts",
]


@dataclass(frozen=True, eq=False)
class Labels:
    """One column of labels: a code for each row, and the label of each code.

    A negative code is a missing value. A label may have no row.
    """

    codes: AnyArray
    labels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> BoolArray:
        """Which rows have no label."""
        return self.codes < 0

    def take(self, rows: Any) -> Labels:
        """Take rows by an index, a slice or a mask."""
        return Labels(self.codes[rows], self.labels)

    def value(self, row: int) -> Label | None:
        """Look up the label of one row, None where it is missing."""
        code = int(self.codes[row])
        return None if code < 0 else self.labels[code]

    def seen(self) -> Labels:
        """Keep the labels alone that have a row, in their order.

        >>> Labels(np.array([2, 0, -1]), ("a", "b", "c")).seen().labels
        ('a', 'c')
        """
        there = count_codes(self.codes, len(self.labels)) > 0
        if there.all():
            return self
        places = np.append(np.cumsum(there) - 1, -1).astype(np.int32)  # the last: missing
        labels = tuple(self.labels[code] for code in np.flatnonzero(there).tolist())
        return Labels(places[self.codes], labels)

    def as_labels(self) -> Labels:
        """Give the column itself."""
        return self


@dataclass(frozen=True, eq=False)
class Numbers:
    """One or more columns of floating-point numbers, rows × columns; NaN is a missing value."""

    values: AnyArray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> BoolArray:
        """Which rows have a missing value, in any of the columns."""
        return np.asarray(np.isnan(self.values).any(axis=1))

    def take(self, rows: Any) -> Numbers:
        """Take rows by an index, a slice or a mask."""
        return Numbers(self.values[rows])

    def value(self, row: int) -> Label | tuple[Label | None, ...] | None:
        """Look up the number of one row, or those of several columns; None where it is missing."""
        numbers = [None if x != x else float(x) for x in self.values[row]]
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def as_labels(self) -> Labels:
        """Code the values of a single column as labels; 2.0 is the integer 2."""
        values = self.values[:, 0].astype(np.float64)
        if np.isinf(values).any():
            raise InputError("infinity is no label; use NaN for a missing value")
        missing = np.isnan(values)
        # Adding zero turns -0.0 into 0.0: the two are one number, so one label.
        bits = np.where(missing, 0.0, values + 0.0).view(np.int64)
        codes, distinct = encode_integers(np.ascontiguousarray(bits))
        codes[missing] = -1
        numbers = distinct.view(np.float64).tolist()
        return Labels(codes, tuple(int(x) if x == int(x) else x for x in numbers))


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Compressed sparse rows; a slice of them shares the entries and copies nothing."""

    data: AnyArray
    indices: AnyArray
    indptr: AnyArray
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, self.n_columns

    def __getitem__(self, rows: Any) -> SparseRows:
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(self.shape[0])
            indptr = self.indptr[start : max(start, stop) + 1]
            return SparseRows(self.data, self.indices, indptr, self.n_columns)
        chosen = np.arange(self.shape[0])[rows]
        lengths = np.diff(self.indptr)[chosen]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        places = np.repeat(self.indptr[chosen], lengths) + within
        return SparseRows(self.data[places], self.indices[places], indptr, self.n_columns)

    def row_sums(self, entries: Callable[[AnyArray], AnyArray]) -> FloatArray:
        """Sum a function of the entries over each row."""
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        values = np.asarray(entries(self.data[first:last]), dtype=np.float64)
        return np.asarray(
            np.bincount(rows, weights=values, minlength=self.shape[0]), dtype=np.float64
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """Many columns of counts, rows × columns, dense or sparse.

    With a `threshold` (dense data only) an entry counts as 1 above it and as 0 otherwise.
    """

    matrix: AnyArray | SparseRows
    threshold: float | None = None

    @classmethod
    def of(cls, matrix: Any) -> Counts:
        """Take a NumPy array, or a scipy.sparse matrix in CSR form, as counts."""
        if isinstance(matrix, np.ndarray):
            return cls(matrix)
        return cls(SparseRows(matrix.data, matrix.indices, matrix.indptr, matrix.shape[1]))

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def missing(self) -> BoolArray:
        """Which rows have a missing value: none, a count that is not there is 0."""
        return np.zeros(len(self), dtype=np.bool_)

    def take(self, rows: Any) -> Counts:
        """Take rows by an index, a slice or a mask."""
        return Counts(self.matrix[rows], self.threshold)

    def value(self, row: int) -> Label | None:
        """Describe one row in short."""
        entries = self.matrix[row : row + 1]
        if isinstance(entries, SparseRows):
            present, total = entries.row_sums(np.sign)[0], entries.row_sums(np.asarray)[0]
        else:
            present, total = np.count_nonzero(entries), entries.sum()
        return f"{int(present)} columns present, sum {float(total):g}"

    def as_labels(self) -> NoReturn:
        """Refuse: a block of counts is not one column of labels."""
        raise InputError("a block of counts cannot be read as labels; name a family for counts")


@dataclass(frozen=True, eq=False)
class Combined:
    """Several columns of labels that are modelled together."""

    parts: tuple[Labels, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def missing(self) -> BoolArray:
        """Which rows have a missing value, in any of the columns."""
        return np.any([part.missing for part in self.parts], axis=0)

    def take(self, rows: Any) -> Combined:
        """Take rows by an index, a slice or a mask."""
        return Combined(tuple(part.take(rows) for part in self.parts))

    def value(self, row: int) -> tuple[Label | None, ...] | None:
        """Look up the values of one row; None where all are missing."""
        values = tuple(part.value(row) for part in self.parts)
        return None if all(value is None for value in values) else values

    def as_labels(self) -> Labels:
        """Code combinations of values as labels; a row with a missing value has none."""
        from priory.data.combinations import distinct_combinations  # few models need it

        parts = self.parts
        distinct, where = distinct_combinations(
            [part.codes for part in parts], [len(part.labels) for part in parts]
        )
        labels = [
            tuple(part.labels[code] for part, code in zip(self.parts, place, strict=True))
            for place in distinct.tolist()
        ]
        return Labels(where.astype(np.int32), tuple(labels))


@dataclass(frozen=True, eq=False)
class Pairs(Combined):
    """Several columns of labels of which pairs are counted; numbers are in bins.

    With `is_conditional` it is the last of them, the child, that is told of.
    """

    is_conditional: bool = False

    @property
    def missing(self) -> BoolArray:
        """Which rows have nothing to be told of: no child, or nothing but missing values."""
        if self.is_conditional:
            return self.parts[-1].missing
        return np.all([part.missing for part in self.parts], axis=0)

    def take(self, rows: Any) -> Pairs:
        """Take rows by an index, a slice or a mask."""
        return Pairs(tuple(part.take(rows) for part in self.parts), self.is_conditional)

    def as_labels(self) -> NoReturn:
        """Refuse: several columns are not one column of labels."""
        raise InputError("columns counted in pairs cannot be read as labels")


Column: TypeAlias = Labels | Numbers | Counts | Combined | Texts


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of some rows, by the name of their block.

    `other_units` are columns of numbers that came as something else than was learned, a date, a
    duration or a number, and as what.
    """

    n_rows: int
    columns: Mapping[str, Column]
    other_units: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, block: str) -> Column:
        return self.columns[block]

    def take(self, rows: Any) -> Frame:
        """Take rows by an index, a slice or a mask."""
        picked = {name: column.take(rows) for name, column in self.columns.items()}
        return Frame(len(np.arange(self.n_rows)[rows]), picked)
