"""Sum numbers and their squares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from priory.columns import Numbers
from priory.doubledouble import DoubleDouble
from priory.errors import ForgetError, InputError
from priory.kernels.numbers import class_moments
from priory.labels import label_token
from priory.longtable import Entries
from priory.schema import Block
from priory.tables.base import Table, difference
from priory.typing import CodeArray, FloatArray, IntArray

__all__ = ["MomentsTable"]


@dataclass(frozen=True, eq=False)
class MomentsTable(Table):
    """Sum the numbers of one or more columns and their squares, per class and column.

    Even the weight n = Σw is a double-double: (Σwx)²/n must cancel against Σwx² to twice the
    digits of a float64, and it can be no better than n is.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "n", "s1", "s2", "passed")
    not_compared: ClassVar[tuple[str, ...]] = ("passed",)
    can_absorb: ClassVar[bool] = True

    rows: IntArray
    n: DoubleDouble
    s1: DoubleDouble
    s2: DoubleDouble
    passed: FloatArray
    """Σ(x − mean)² of all that ever passed through, learned or forgotten: how much the rounding of
    these sums may have left behind."""

    @classmethod
    def count(
        cls,
        block: Block,
        column: Numbers,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> MomentsTable:
        """Sum the values that are not missing."""
        table = cls.zeros(n_classes, column.values.shape[1])
        table.absorb(block, column, y, weight)
        table.passed[...] = table.scatter
        return table

    def absorb(
        self, block: Block, column: Numbers, y: CodeArray, weight: FloatArray | None
    ) -> None:
        """Add the values that are not missing, in place."""
        n, s1, s2 = self.n, self.s1, self.s2
        bad = class_moments(
            column.values, y, weight, self.rows, n.hi, s1.hi, s1.lo, s2.hi, s2.lo, n.lo
        )
        if bad >= 0:
            values = column.values[:, bad]
            wrong = values[~(np.abs(values) <= 1e150) & ~np.isnan(values)][0]
            raise InputError(
                f"Column {block.columns[bad]!r} holds {float(wrong)!r}. Numbers must be finite and "
                "at most 1e150 in size; use NaN for a missing value, or rescale the column."
            )

    @classmethod
    def zeros(cls, n_classes: int, n_columns: int) -> MomentsTable:
        """Return a table of nothing, in arrays that may be written to."""
        shape = (n_classes, n_columns)
        n, s1, s2 = (DoubleDouble.zeros(shape) for _ in range(3))
        return cls(np.zeros(shape, dtype=np.int64), n, s1, s2, np.zeros(shape))

    @property
    def moments(self) -> MomentsTable:
        """Return the table itself."""
        return self

    @property
    def weight(self) -> FloatArray:
        """Return Σw, the number of rows when none was weighted."""
        return self.n.value

    @property
    def mean(self) -> FloatArray:
        """Return Σx / n, zero where nothing was seen."""
        return (self.s1 / _positive(self.n)).value

    @property
    def scatter(self) -> FloatArray:
        """Return Σ(x − mean)² = Σx² − (Σx)²/n, never negative."""
        return np.maximum(self._signed_scatter(), 0.0)

    @property
    def variance(self) -> FloatArray:
        """Return the maximum-likelihood (1/n) variance, zero where nothing was seen."""
        return self.scatter / _positive(self.n).hi

    def pooled(self) -> MomentsTable:
        """Return the sums over all classes, as a table of one class."""
        rows = self.rows.sum(axis=0, keepdims=True)
        passed = self.passed.sum(axis=0, keepdims=True)
        return MomentsTable(rows, self.n.total(), self.s1.total(), self.s2.total(), passed)

    def _signed_scatter(self) -> FloatArray:
        return (self.s2 - (self.s1 / _positive(self.n)) * self.s1).value

    def __add__(self, other: MomentsTable) -> MomentsTable:
        return MomentsTable(
            self.rows + other.rows,
            self.n + other.n,
            self.s1 + other.s1,
            self.s2 + other.s2,
            self.passed + other.passed,
        )

    def __sub__(self, other: MomentsTable) -> MomentsTable:
        rows, _ = difference(self.rows, other.rows, self.weight, other.weight)
        some = rows > 0
        result = MomentsTable(
            rows,
            (self.n - other.n).where(some),
            (self.s1 - other.s1).where(some),
            (self.s2 - other.s2).where(some),
            np.where(some, self.passed + other.passed, 0.0),
        )
        # What rounding may leave: of the sums about a mean, of the double-doubles, of tiny squares.
        allowance = 1e-9 * result.passed + 1e-25 * np.abs(self.s2.hi) + 1e-300
        if np.any(result._signed_scatter() < -allowance):
            raise ForgetError("a variance would turn negative; these numbers were never learned")
        return result

    def __mul__(self, factor: float) -> MomentsTable:
        sums = (self.n * factor, self.s1 * factor, self.s2 * factor)
        return MomentsTable(self.rows, *sums, self.passed * factor)

    def entries(self, block: Block) -> list[Entries]:
        """Return a row for each column and class."""
        tokens = tuple(map(label_token, block.columns))
        passed = DoubleDouble.of(self.passed)
        return [
            Entries.of_grid("moments", tokens, self.rows, self.n, self.s1, self.s2),
            Entries.of_grid(
                "passed", tokens, self.rows, DoubleDouble.zeros(self.rows.shape), passed
            ),
        ]

    @classmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> MomentsTable:
        """Return the table of such rows."""
        entries = parts.get("moments", Entries.none("moments")).keyed(block.columns)
        rows, _ = entries.grid(n_classes, len(block.columns))
        passed = parts.get("passed", Entries.none("passed")).keyed(block.columns)
        _, through, _ = passed.sums(n_classes, len(block.columns))
        n, s1, s2 = entries.sums(n_classes, len(block.columns))
        return cls(rows, n, s1, s2, through.value)


def _positive(n: DoubleDouble) -> DoubleDouble:
    """Return n, with 1 where nothing was seen, to divide by."""
    some = n.hi > 0
    return DoubleDouble(np.where(some, n.hi, 1.0), np.where(some, n.lo, 0.0))
