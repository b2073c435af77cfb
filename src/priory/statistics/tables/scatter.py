"""Sum numbers and the products of all pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.labels import label_token
from priory.base.typing import CodeArray, FloatArray
from priory.data.columns import Numbers
from priory.data.schema import Block
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import Entries
from priory.statistics.tables.sums import SumsTable, divisor, refuse_large, refuse_overflow

__all__ = ["ScatterTable"]


@dataclass(frozen=True, eq=False)
class ScatterTable(SumsTable):
    """Sum the numbers of several columns and their products, per class: n, Σx and Σxxᵀ.

    A row with a gap in any of the columns is not counted.
    """

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
        refuse_large(block, values)
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
            # About the mean nothing cancels; the raw sums follow in double-double. Whole numbers
            # about a whole number are whole, and so are their products.
            mean = x.mean(axis=0)
            are_whole = (np.rint(x) == x).all(axis=0)
            origin = DoubleDouble.of(np.where(are_whole, np.rint(mean), mean))
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
        refuse_overflow(block, table.raw_squares)
        table.passed[...] = table.squares
        return table

    @property
    def squares(self) -> FloatArray:
        """Return Σ(x − mean)² of each column, classes × columns."""
        return np.diagonal(self.scatter, axis1=1, axis2=2)

    @property
    def raw_squares(self) -> FloatArray:
        """Return Σx² of each column."""
        return np.diagonal(self.s2.hi, axis1=1, axis2=2)

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
        n = divisor(self.n)
        return DoubleDouble(n.hi[:, None], n.lo[:, None])

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


def _outer(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    b = DoubleDouble(b.hi.reshape(1, -1), b.lo.reshape(1, -1))
    return DoubleDouble(a.hi[:, None], a.lo[:, None]) * b


def _transposed(a: DoubleDouble) -> DoubleDouble:
    return DoubleDouble(a.hi.T, a.lo.T)


def _put(sums: DoubleDouble, k: int, value: DoubleDouble) -> None:
    sums.hi[k], sums.lo[k] = value.hi.reshape(sums.hi[k].shape), value.lo.reshape(sums.lo[k].shape)
