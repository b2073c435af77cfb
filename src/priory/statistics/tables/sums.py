"""What tables of sums of numbers share: n, Σx and Σx² as double-doubles, and their algebra."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from priory.base.errors import ForgetError, InputError
from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.data.schema import Block
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.tables.base import Table, difference

__all__ = ["SumsTable", "divisor", "refuse_overflow"]


@dataclass(frozen=True, eq=False)
class SumsTable(Table):
    """n = Σw, Σwx and Σwx², per class.

    Even the weight n is a double-double: (Σwx)²/n must cancel against Σwx² to twice the digits of
    a float64, and it can be no better than n is.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "n", "s1", "s2", "passed")
    not_compared: ClassVar[tuple[str, ...]] = ("passed",)

    rows: IntArray
    n: DoubleDouble
    s1: DoubleDouble
    s2: DoubleDouble
    passed: FloatArray
    """Σ(x − mean)² of all that ever passed through, learned or forgotten: how much the rounding of
    these sums may have left behind."""

    @property
    @abstractmethod
    def squares(self) -> FloatArray:
        """Σx² − (Σx)²/n of each column, which rounding may leave below zero."""

    @property
    @abstractmethod
    def raw_squares(self) -> FloatArray:
        """Σx² of each column."""

    @property
    def weight(self) -> FloatArray:
        """Σw, the number of rows when none was weighted."""
        return self.n.value

    def pooled(self) -> Self:
        """Sum over all classes, to a table of one class."""
        rows, passed = (a.sum(axis=0, keepdims=True) for a in (self.rows, self.passed))
        return type(self)(rows, self.n.total(), self.s1.total(), self.s2.total(), passed)

    def __sub__(self, other: Self) -> Self:
        rows, _ = difference(self, other)
        some = rows > 0
        sums = ((self.n, other.n), (self.s1, other.s1), (self.s2, other.s2))
        n, s1, s2 = ((a - b).where(_along(some, a.hi)) for a, b in sums)
        passed = self.passed + other.passed
        result = type(self)(rows, n, s1, s2, np.where(_along(some, passed), passed, 0.0))
        # What rounding may leave: of the sums about a mean, of the double-doubles, of tiny squares.
        allowance = 1e-9 * result.passed + 1e-25 * np.abs(self.raw_squares) + 1e-300
        if np.any(result.squares < -allowance):
            raise ForgetError("a variance would turn negative; these numbers were never learned")
        return result


def refuse_overflow(block: Block, sums: AnyArray) -> None:
    """Name the first column whose sum, classes × columns, is too large for a float64."""
    wrong = ~np.isfinite(sums)
    for j in np.flatnonzero(wrong.any(axis=0)).tolist():
        raise InputError(
            f"The sums of column {block.columns[j]!r} overflow: its numbers, or their squares, "
            "times sample_weight add up to more than 1e308. Rescale the column or the weights."
        )


def divisor(n: DoubleDouble) -> DoubleDouble:
    """Give n, with 1 where nothing was seen, to divide by."""
    some = n.hi > 0
    return DoubleDouble(np.where(some, n.hi, 1.0), np.where(some, n.lo, 0.0))


def _along(mask: BoolArray, array: Any) -> BoolArray:
    """Shape a mask over the first axes of an array, to be spread over the others."""
    return mask.reshape(mask.shape + (1,) * (array.ndim - mask.ndim))
