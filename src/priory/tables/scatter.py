"""Sum numbers and the products of all pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from priory.columns import Numbers
from priory.doubledouble import DoubleDouble
from priory.errors import ForgetError, InputError
from priory.labels import label_token
from priory.longtable import Entries
from priory.schema import Block
from priory.tables.base import Table, difference
from priory.typing import CodeArray, FloatArray, IntArray

__all__ = ["ScatterTable"]


@dataclass(frozen=True, eq=False)
class ScatterTable(Table):
    """Sum the numbers of several columns and their products, per class: n, Σx and Σxxᵀ.

    A row with a gap in any of the columns is not counted.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "n", "s1", "s2", "passed")
    not_compared: ClassVar[tuple[str, ...]] = ("passed",)

    rows: IntArray
    n: DoubleDouble
    s1: DoubleDouble
    s2: DoubleDouble
    passed: FloatArray
    """Σ(x − mean)² of each column over all that ever passed through; see `MomentsTable`."""

    @classmethod
    def count(
        cls,
        block: Block,
        column: Numbers,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> ScatterTable:
        """Sum the rows that have no gap."""
        d = len(block.columns)
        values = np.asarray(column.values, dtype=np.float64)
        _check_size(values, block)
        whole = ~np.isnan(values).any(axis=1)
        w = np.ones(len(values)) if weight is None else weight
        rows = np.zeros(n_classes, dtype=np.int64)
        zeros = DoubleDouble.zeros
        n, s1, s2 = zeros((n_classes,)), zeros((n_classes, d)), zeros((n_classes, d, d))
        for k in range(n_classes):
            mine = whole & (y == k)
            x, weights = values[mine], w[mine]
            if not len(x):
                continue
            # About the mean nothing cancels; the raw sums follow in double-double.
            origin = DoubleDouble.of(x.mean(axis=0))
            about = x - origin.hi
            weighted = about * weights[:, None]
            total = DoubleDouble.of(weights[:, None]).total()
            first = DoubleDouble.of(weighted.sum(axis=0))
            second = DoubleDouble.of(weighted.T @ about)
            o_first = _outer(origin, first)
            raw = second + o_first + _transposed(o_first) + _outer(origin, origin * total)
            rows[k] = len(x)
            _put(n, k, DoubleDouble(total.hi[0, 0], total.lo[0, 0]))
            _put(s1, k, first + origin * DoubleDouble(total.hi[0], total.lo[0]))
            _put(s2, k, raw)
        table = cls(rows, n, s1, s2, np.zeros((n_classes, d)))
        table.passed[...] = table.squares
        return table

    @property
    def squares(self) -> FloatArray:
        """Return Σ(x − mean)² of each column, classes × columns."""
        return np.diagonal(self.scatter, axis1=1, axis2=2)

    @property
    def weight(self) -> FloatArray:
        """Return Σw of each class."""
        return self.n.value

    @property
    def mean(self) -> FloatArray:
        """Return Σx / n, classes × columns, zero where nothing was seen."""
        return (self.s1 / self._divisor()).value

    @property
    def scatter(self) -> FloatArray:
        """Return Σ(x − mean)(x − mean)ᵀ, classes × columns × columns."""
        mean = self.s1 / self._divisor()
        products = DoubleDouble(mean.hi[:, :, None], mean.lo[:, :, None]) * DoubleDouble(
            self.s1.hi[:, None, :], self.s1.lo[:, None, :]
        )
        return (self.s2 - products).value

    def _divisor(self) -> DoubleDouble:
        some = self.n.hi > 0
        hi, lo = np.where(some, self.n.hi, 1.0), np.where(some, self.n.lo, 0.0)
        return DoubleDouble(hi[:, None], lo[:, None])

    def pooled(self) -> ScatterTable:
        """Return the sums over all classes, as a table of one class."""
        rows = self.rows.sum(keepdims=True)
        passed = self.passed.sum(axis=0, keepdims=True)
        return ScatterTable(rows, self.n.total(), self.s1.total(), self.s2.total(), passed)

    def __add__(self, other: ScatterTable) -> ScatterTable:
        return ScatterTable(
            self.rows + other.rows,
            self.n + other.n,
            self.s1 + other.s1,
            self.s2 + other.s2,
            self.passed + other.passed,
        )

    def __sub__(self, other: ScatterTable) -> ScatterTable:
        rows, _ = difference(self.rows, other.rows, self.weight, other.weight)
        some = rows > 0
        result = ScatterTable(
            rows,
            (self.n - other.n).where(some),
            (self.s1 - other.s1).where(some[:, None]),
            (self.s2 - other.s2).where(some[:, None, None]),
            np.where(some[:, None], self.passed + other.passed, 0.0),
        )
        size = np.abs(np.diagonal(self.s2.hi, axis1=1, axis2=2))
        if np.any(result.squares < -(1e-9 * result.passed + 1e-25 * size + 1e-300)):
            raise ForgetError("a variance would turn negative; these numbers were never learned")
        return result

    def __mul__(self, factor: float) -> ScatterTable:
        sums = (self.n * factor, self.s1 * factor, self.s2 * factor)
        return ScatterTable(self.rows, *sums, self.passed * factor)

    def entries(self, block: Block) -> list[Entries]:
        """Return a row for each class, each column and each pair of columns."""
        d = len(block.columns)
        names = tuple(map(label_token, block.columns))
        pairs = tuple(label_token((a, b)) for a in block.columns for b in block.columns)
        rows = self.rows[:, None]

        def flat(sums: DoubleDouble, size: int) -> DoubleDouble:
            return DoubleDouble(sums.hi.reshape(-1, size), sums.lo.reshape(-1, size))

        def grid(part: str, tokens: tuple[str, ...], sums: DoubleDouble) -> Entries:
            size = len(tokens)
            weight = DoubleDouble.zeros((len(rows), size))
            return Entries.of_grid(part, tokens, np.repeat(rows, size, axis=1), weight, sums)

        return [
            Entries.of_grid("documents", ("",), rows, flat(self.n, 1)),
            grid("sums", names, flat(self.s1, d)),
            grid("products", pairs, flat(self.s2, d * d)),
            grid("passed", names, DoubleDouble.of(self.passed)),
        ]

    @classmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> ScatterTable:
        """Return the table of such rows."""
        d = len(block.columns)
        pairs = [(a, b) for a in block.columns for b in block.columns]
        whole = parts.get("documents", Entries.none("documents"))
        rows, _ = whole.grid(n_classes, 1)
        n, _, _ = whole.sums(n_classes, 1)
        _, s1, _ = parts.get("sums", Entries.none("sums")).keyed(block.columns).sums(n_classes, d)
        products = parts.get("products", Entries.none("products")).keyed(pairs)
        _, s2, _ = products.sums(n_classes, d * d)
        through = parts.get("passed", Entries.none("passed")).keyed(block.columns)
        _, passed, _ = through.sums(n_classes, d)
        shape = (n_classes, d, d)
        return cls(
            rows[:, 0],
            DoubleDouble(n.hi[:, 0], n.lo[:, 0]),
            s1,
            DoubleDouble(s2.hi.reshape(shape), s2.lo.reshape(shape)),
            passed.value,
        )


def _check_size(values: FloatArray, block: Block) -> None:
    with np.errstate(invalid="ignore"):
        wrong = np.abs(values) > 1e150
    if wrong.any():
        row, j = np.argwhere(wrong)[0]
        raise InputError(
            f"Column {block.columns[j]!r} holds {float(values[row, j])!r}. Numbers must be finite "
            "and at most 1e150 in size; use NaN for a missing value, or rescale the column."
        )


def _outer(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    b = DoubleDouble(b.hi.reshape(1, -1), b.lo.reshape(1, -1))
    return DoubleDouble(a.hi[:, None], a.lo[:, None]) * b


def _transposed(a: DoubleDouble) -> DoubleDouble:
    return DoubleDouble(a.hi.T, a.lo.T)


def _put(sums: DoubleDouble, k: int, value: DoubleDouble) -> None:
    sums.hi[k], sums.lo[k] = value.hi.reshape(sums.hi[k].shape), value.lo.reshape(sums.lo[k].shape)
