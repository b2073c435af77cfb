"""Columns in the forms that the kernels read: labels, numbers, counts and texts.

A column here is coded and clean: strings have become codes, gaps are a negative code or
NaN. `reading` makes these from what the user has; everything above sees only these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import InputError
from priory.base.parallel import in_parallel, stretches
from priory.base.typing import AnyArray, BoolArray, FloatArray, Label
from priory.kernels.labels import (
    count_codes,
    encode_integers,
    encode_range,
    pack_codes,
    value_range,
)
from priory.kernels.text import Splitter, borrow_texts, encode_texts, text_sizes

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
    "all_finite",
    "code_columns",
    "integer_labels",
]


SMALL = 4096
"""Fewer entries are looked at one by one: a look at all of them first saves nothing."""

CLOSE = 65_536
"""Integers that are closer together than this need no hashing."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Hold one column of labels: a code a row, and the label of each code.

    A negative code is a gap. A label may have no row.
    """

    codes: AnyArray
    labels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> BoolArray:
        """Return which rows have a gap."""
        return self.codes < 0

    def take(self, rows: Any) -> Labels:
        """Return the rows chosen by an index, a slice or a mask."""
        return Labels(self.codes[rows], self.labels)

    def value(self, row: int) -> Label | None:
        """Return the label of one row, None for a gap."""
        code = int(self.codes[row])
        return None if code < 0 else self.labels[code]

    def seen(self) -> Labels:
        """Return the column with the labels alone that have a row, in their order.

        >>> Labels(np.array([2, 0, -1]), ("a", "b", "c")).seen().labels
        ('a', 'c')
        """
        rows = np.zeros(len(self.labels), dtype=np.int64)
        count_codes(self.codes, rows)
        there = rows > 0
        if there.all():
            return self
        places = np.append(np.cumsum(there) - 1, -1).astype(np.int32)  # the last is a gap's
        labels = tuple(self.labels[code] for code in np.flatnonzero(there).tolist())
        return Labels(places[self.codes], labels)

    def as_labels(self) -> Labels:
        """Return the column itself."""
        return self


@dataclass(frozen=True, eq=False)
class Numbers:
    """Hold one or more columns of floating-point numbers, rows × columns; NaN is a gap."""

    values: AnyArray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> BoolArray:
        """Return which rows have a gap, in any of the columns."""
        return np.asarray(np.isnan(self.values).any(axis=1))

    def take(self, rows: Any) -> Numbers:
        """Return the rows chosen by an index, a slice or a mask."""
        return Numbers(self.values[rows])

    def value(self, row: int) -> Label | tuple[Label | None, ...] | None:
        """Return the number of one row, or those of several columns; None for a gap."""
        numbers = [None if x != x else float(x) for x in self.values[row]]
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def as_labels(self) -> Labels:
        """Return a single column's values as labels, whole numbers as integers."""
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
    """Hold compressed sparse rows; a slice of them shares the entries and copies nothing."""

    data: AnyArray
    indices: AnyArray
    indptr: AnyArray
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns."""
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
        """Return the sum over each row of a function of its entries."""
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        values = np.asarray(entries(self.data[first:last]), dtype=np.float64)
        return np.asarray(
            np.bincount(rows, weights=values, minlength=self.shape[0]), dtype=np.float64
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """Hold many columns of counts, rows × columns, dense or sparse.

    With a `threshold` (dense data only) an entry counts as 1 above it and as 0 otherwise.
    """

    matrix: AnyArray | SparseRows
    threshold: float | None = None

    @classmethod
    def of(cls, matrix: Any) -> Counts:
        """Return a NumPy array, or a scipy.sparse matrix in CSR form, as counts."""
        if isinstance(matrix, np.ndarray):
            return cls(matrix)
        return cls(SparseRows(matrix.data, matrix.indices, matrix.indptr, matrix.shape[1]))

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def missing(self) -> BoolArray:
        """Return which rows have a gap: none, counts have no gaps."""
        return np.zeros(len(self), dtype=np.bool_)

    def take(self, rows: Any) -> Counts:
        """Return the rows chosen by an index, a slice or a mask."""
        return Counts(self.matrix[rows], self.threshold)

    def value(self, row: int) -> Label | None:
        """Return a short description of one row."""
        entries = self.matrix[row : row + 1]
        if isinstance(entries, SparseRows):
            present, total = entries.row_sums(np.sign)[0], entries.row_sums(np.asarray)[0]
        else:
            present, total = np.count_nonzero(entries), entries.sum()
        return f"{int(present)} columns present, sum {float(total):g}"

    def as_labels(self) -> Labels:
        """Refuse: a block of counts is not one column of labels."""
        raise InputError("a block of counts cannot be read as labels; name a family for counts")


@dataclass(frozen=True, eq=False)
class Combined:
    """Hold several columns of labels that are modelled together."""

    parts: tuple[Labels, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def missing(self) -> BoolArray:
        """Return which rows have a gap, in any of the columns."""
        return np.any([part.missing for part in self.parts], axis=0)

    def take(self, rows: Any) -> Combined:
        """Return the rows chosen by an index, a slice or a mask."""
        return Combined(tuple(part.take(rows) for part in self.parts))

    def value(self, row: int) -> tuple[Label | None, ...] | None:
        """Return the values of one row; None for a row of gaps alone."""
        values = tuple(part.value(row) for part in self.parts)
        return None if all(value is None for value in values) else values

    def as_labels(self) -> Labels:
        """Return one column of combinations; a row with a gap has none."""
        whole = ~self.missing
        codes = np.stack([part.codes[whole] for part in self.parts], axis=1)
        distinct, where = np.unique(codes, axis=0, return_inverse=True)
        combined = np.full(len(self), -1, dtype=np.int32)
        combined[whole] = where.ravel()
        labels = [
            tuple(part.labels[code] for part, code in zip(self.parts, place, strict=True))
            for place in distinct.tolist()
        ]
        return Labels(combined, tuple(labels))


@dataclass(frozen=True, eq=False)
class Pairs(Combined):
    """Hold several columns of labels of which pairs are counted; numbers are in bins.

    With `is_edge` there are two of them, and it is the second, the child, that is told of.
    """

    is_edge: bool = False

    @property
    def missing(self) -> BoolArray:
        """Return which rows have nothing to be told of: no child, or nothing but gaps."""
        if self.is_edge:
            return self.parts[-1].missing
        return np.all([part.missing for part in self.parts], axis=0)

    def take(self, rows: Any) -> Pairs:
        """Return the rows chosen by an index, a slice or a mask."""
        return Pairs(tuple(part.take(rows) for part in self.parts), self.is_edge)

    def as_labels(self) -> Labels:
        """Refuse: several columns are not one column of labels."""
        raise InputError("columns counted in pairs cannot be read as labels")


@dataclass(frozen=True, eq=False)
class Texts:
    """Hold a column of texts as Arrow does: UTF-8 bytes, text i from offsets[i] to offsets[i + 1].

    `missing` may be None where none is; `splitter` says what the words of a text are.
    """

    data: AnyArray
    offsets: AnyArray
    gaps: BoolArray | None
    splitter: Splitter

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def missing(self) -> BoolArray:
        """Return which rows have no text; an empty text is a text."""
        return np.zeros(len(self), dtype=np.bool_) if self.gaps is None else self.gaps

    @property
    def buffers(self) -> tuple[Any, AnyArray | None, BoolArray | None]:
        """Return what the kernels read: bytes, where each text begins, and the gaps."""
        return self.data, self.offsets, self.gaps

    @property
    def n_bytes(self) -> int:
        """Return about how many bytes the texts have."""
        return int(self.offsets[-1] - self.offsets[0])

    def split_by(self, splitter: Splitter) -> Texts:
        """Return the same texts, of which something else are the words."""
        return replace(self, splitter=splitter)

    def take(self, rows: Any) -> Texts:
        """Return the rows chosen by an index, a slice or a mask; a slice copies nothing."""
        gaps = None if self.gaps is None else self.gaps[rows]
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            return Texts(self.data, offsets, gaps, self.splitter)
        chosen = np.arange(len(self))[rows]
        pieces = [self.data[self.offsets[i] : self.offsets[i + 1]] for i in chosen.tolist()]
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        data = np.concatenate([np.zeros(0, dtype=np.uint8), *pieces])
        return Texts(data, offsets, gaps, self.splitter)

    def stretches(self, n_bytes: int) -> list[slice]:
        """Return the rows in stretches of about so many bytes."""
        return _stretches(self.offsets, n_bytes)

    def value(self, row: int) -> str | None:
        """Return one text, None for a gap."""
        if self.gaps is not None and self.gaps[row]:
            return None
        text = self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()
        return text.replace(b"\xff", b" ").decode("utf-8", "replace")  # \xff parts given words

    def as_labels(self) -> Labels:
        """Refuse: a text is not a label."""
        raise InputError("a text cannot be read as a label; name a family for words")


class Strings(Texts):
    """Hold a column of Python strings, to be encoded when their bytes are asked for.

    The kernels read them where they are, except those that are not ASCII: whoever takes them piece
    by piece never has a second copy of all of them.
    """

    def __init__(
        self, values: list[Any], ends: AnyArray, gaps: BoolArray | None, splitter: Splitter
    ) -> None:
        given = {"values": values, "ends": ends, "gaps": gaps, "splitter": splitter}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    values: list[Any]
    ends: AnyArray
    """Where each string would begin if all had the most bytes they can have."""

    @cached_property
    def _encoded(self) -> tuple[AnyArray, AnyArray]:
        data, offsets, _ = encode_texts(self.values)
        return data, offsets

    @property
    def data(self) -> AnyArray:
        """Return the bytes."""
        return self._encoded[0]

    @property
    def offsets(self) -> AnyArray:
        """Return where each text begins, and where the last one ends."""
        return self._encoded[1]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def buffers(self) -> tuple[Any, AnyArray | None, BoolArray | None]:
        """Return what the kernels read, without a copy of the strings that are ASCII."""
        data, _, _ = borrow_texts(self.values)
        return data, None, self.gaps

    @property
    def n_bytes(self) -> int:
        """Return about how many bytes the texts have."""
        return int(self.ends[-1] - self.ends[0])

    def split_by(self, splitter: Splitter) -> Strings:
        """Return the same texts, of which something else are the words."""
        return Strings(self.values, self.ends, self.gaps, splitter)

    def take(self, rows: Any) -> Texts:
        """Return the rows chosen by an index, a slice or a mask."""
        gaps = None if self.gaps is None else self.gaps[rows]
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            ends = self.ends[start : max(start, stop) + 1]
            return Strings(self.values[rows], ends, gaps, self.splitter)
        values = [self.values[i] for i in np.arange(len(self))[rows].tolist()]
        return Strings(values, text_sizes(values)[0], gaps, self.splitter)

    def stretches(self, n_bytes: int) -> list[slice]:
        """Return the rows in stretches of about so many bytes."""
        return _stretches(self.ends, n_bytes)


def _stretches(offsets: AnyArray, n_bytes: int) -> list[slice]:
    cuts = np.arange(int(offsets[0]) + n_bytes, int(offsets[-1]), n_bytes)
    ends = np.unique(np.searchsorted(offsets[1:], cuts)) + 1
    n = len(offsets) - 1
    inner = ends[ends < n].tolist()
    return [slice(a, b) for a, b in pairwise([0, *inner, n])]


Column: TypeAlias = Labels | Numbers | Counts | Combined | Texts


@dataclass(frozen=True, eq=False)
class Frame:
    """Hold the columns of some rows, by the name of their block.

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
        """Return the rows chosen by an index, a slice or a mask."""
        picked = {name: column.take(rows) for name, column in self.columns.items()}
        return Frame(len(np.arange(self.n_rows)[rows]), picked)


def integer_labels(values: AnyArray) -> Labels:
    """Return integers as a column of labels.

    >>> column = integer_labels(np.array([7, 3, 7]))
    >>> column.codes.tolist(), column.labels
    ([0, 1, 0], (7, 3))
    """
    values = np.ascontiguousarray(values, dtype=np.int64)
    if len(values) >= SMALL:
        parts = stretches(len(values), 1)
        ends = in_parallel([partial(value_range, values[rows]) for rows in parts], len(parts))
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        if high - low < CLOSE:
            return _close_integers(values, low, high, parts)
    codes, distinct = encode_integers(values)
    return Labels(codes, tuple(distinct.tolist()))


def _close_integers(values: AnyArray, low: int, high: int, parts: list[slice]) -> Labels:
    """Return integers between two limits as labels, in their order."""
    codes = np.empty(len(values), dtype=np.int32)
    marks = [np.zeros(high - low + 1, dtype=np.uint8) for _ in parts]
    tasks = [
        partial(encode_range, values[rows], low, codes[rows], marked)
        for rows, marked in zip(parts, marks, strict=True)
    ]
    in_parallel(tasks, len(parts))
    seen = np.bitwise_or.reduce(marks)
    labels = np.flatnonzero(seen)
    if len(labels) < len(seen):
        codes = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[codes]
    return Labels(codes, tuple((labels + low).tolist()))


def code_columns(X: AnyArray, most: int) -> tuple[tuple[Labels, ...], int | None]:
    """Return the columns of a matrix of codes 0, 1, 2, … as labels, NaN as a gap.

    Codes are packed column by column, a byte each where they fit. With a code that is negative, or
    not below `most`, there are no columns but the position of the first that is at fault.

    >>> columns, _ = code_columns(np.array([[0, 2], [1, 0]]), most=10)
    >>> [column.codes.tolist() for column in columns], columns[1].labels
    ([[0, 1], [2, 0]], (0, 1, 2))
    """
    known = X.dtype in (np.float32, np.float64, np.int32, np.int64)
    X = np.ascontiguousarray(X if known else X.astype(np.float64))
    parts = stretches(len(X), X.shape[1])
    for dtype in (np.int8, np.int32):
        codes = np.empty(X.shape[::-1], dtype=dtype)
        largest = np.full((len(parts), X.shape[1]), -1, dtype=np.int64)
        tasks = [
            partial(pack_codes, X[rows], codes, rows.start, largest[i])
            for i, rows in enumerate(parts)
        ]
        wrong = max(in_parallel(tasks, len(parts)))
        if wrong < 0:
            break
    top = largest.max(axis=0)
    if wrong >= 0 or (top >= most).any():
        return (), int(wrong if wrong >= 0 else np.argmax(top >= most))
    columns = [Labels(codes[j], tuple(range(top[j] + 1))) for j in range(X.shape[1])]
    return tuple(columns), None


def all_finite(X: AnyArray) -> bool:
    """Return whether no entry of an array of numbers is infinite or NaN.

    >>> all_finite(np.ones((2, 2))), all_finite(np.array([[1.0, np.nan]]))
    (True, False)
    """
    if X.size < SMALL:
        return bool(np.isfinite(X).all())
    parts = stretches(len(X), X.size // max(len(X), 1))
    with np.errstate(invalid="ignore", over="ignore"):
        sums = in_parallel([partial(np.sum, X[rows]) for rows in parts], len(parts))
    # A sum can overflow though every entry is finite: then look at each.
    return bool(np.isfinite(sums).all()) or bool(np.isfinite(X).all())
