"""Sum numbers and their squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from priory.base.labels import label_token
from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.data.columns import Numbers
from priory.data.finite import refuse_large
from priory.data.schema import Block
from priory.kernels.numbers import add_rows, central_moments, class_moments
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.sums import SumsTable, divisor, refuse_overflow

__all__ = ["MomentsTable"]

Sums: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""hi and lo of n, Σx and Σx²."""


@dataclass(frozen=True, eq=False)
class MomentsTable(SumsTable):
    """Sums of the numbers of one or more columns and of their squares, per class and column."""

    @classmethod
    def count(
        cls, block: Block, column: Numbers, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> MomentsTable:
        """Sum the values that are not missing."""
        table = cls.zeros(n_classes, column.values.shape[1])
        n, s1, s2 = table.n, table.s1, table.s2
        bad = class_moments(
            column.values, y, weight, table.rows, n.hi, s1.hi, s1.lo, s2.hi, s2.lo, n.lo
        )
        if bad >= 0:
            refuse_large(block, column.values)
        refuse_overflow(block, s2.hi)
        table.passed[...] = table.scatter
        return table

    @classmethod
    def about(
        cls, rows: IntArray, weight: FloatArray, s1: FloatArray, s2: FloatArray, c: float
    ) -> MomentsTable:
        """Make a table, classes × columns, of Σw, Σw(x − c) and Σw(x − c)².

        Σwx = Σw(x − c) + cΣw, and Σwx² = Σw(x − c)² + 2cΣw(x − c) + c²Σw.

        >>> one = np.ones((1, 1))
        >>> MomentsTable.about(2 * one.astype(int), 2 * one, 1 * one, 5 * one, 10.0).mean.tolist()
        [[10.5]]
        """
        n, a, b = map(DoubleDouble.of, (weight, s1, s2))
        table = cls(rows, n, a + n * c, b + (a * 2.0 + n * c) * c, np.zeros(rows.shape))
        table.passed[...] = table.scatter
        return table

    def absorb(self, column: Numbers, y: CodeArray) -> bool:
        """Add a few rows in place, unless a number is missing or too large."""
        return add_rows(column.values.astype(np.float64, copy=False), y, self.rows, *self._arrays())

    def _arrays(self) -> Sums:
        return self.n.hi, self.n.lo, self.s1.hi, self.s1.lo, self.s2.hi, self.s2.lo

    @classmethod
    def zeros(cls, n_classes: int, n_columns: int) -> MomentsTable:
        """Make a table of nothing, in arrays that may be written to."""
        shape = (n_classes, n_columns)
        n, s1, s2 = (DoubleDouble.zeros(shape) for _ in range(3))
        return cls(np.zeros(shape, dtype=np.int64), n, s1, s2, np.zeros(shape))

    @property
    def moments(self) -> MomentsTable:
        """The table itself."""
        return self

    @property
    def mean(self) -> FloatArray:
        """Σx / n, zero where nothing was seen."""
        return self._central()[0]

    @property
    def scatter(self) -> FloatArray:
        """Σ(x − mean)² = Σx² − (Σx)²/n, never negative."""
        return np.maximum(self.squares, 0.0)

    @property
    def variance(self) -> FloatArray:
        """The maximum-likelihood (1/n) variance, zero where nothing was seen."""
        return self.scatter / divisor(self.n).hi

    @property
    def squares(self) -> FloatArray:
        """Σx² − (Σx)²/n, which rounding may leave below zero."""
        return self._central()[1]

    def _central(self) -> tuple[FloatArray, FloatArray]:
        mean, squares = np.empty(self.n.hi.shape), np.empty(self.n.hi.shape)
        central_moments(*self._arrays(), mean, squares)
        return mean, squares

    @property
    def raw_squares(self) -> FloatArray:
        """Σx²."""
        return self.s2.hi

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each column and class."""
        tokens = list(map(label_token, block.columns))
        return [
            Part.of_grid("moments", tokens, self.rows, self.n, self.s1, self.s2),
            Part.of_grid("passed", tokens, self.rows, None, self.passed),
        ]

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> MomentsTable:
        """Make the table of such rows."""
        shape = (n_classes, len(block.columns))
        moments, passed = (parts[name].keyed(block.columns) for name in ("moments", "passed"))
        rows, _ = moments.grid(*shape)
        n, s1, s2 = moments.sums(*shape)
        _, through, _ = passed.sums(*shape)
        return cls(rows, n, s1, s2, through.value)
