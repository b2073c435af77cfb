"""Numbers of twice the precision: an unevaluated sum of two float64.

Raw sums Σx and Σx² are kept this way, so that sums from anywhere can be added and
subtracted with no common origin and still give the variance: n·Σx² − (Σx)² cancels about
as many digits as a float64 has, and a double-double has twice as many (about 1e-32).

The error-free steps are those of Knuth (two_sum) and Dekker (two_product).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.kernels.numbers import add_up

__all__ = ["DoubleDouble"]

_SPLIT = 2.0**27 + 1.0


@dataclass(frozen=True, eq=False)
class DoubleDouble:
    """Arrays of numbers as hi + lo, with |lo| at most half a unit in the last place of hi.

    >>> big, small = DoubleDouble.of(1e16), DoubleDouble.of(1.0)
    >>> float(((big + small) - big).value)
    1.0
    """

    hi: FloatArray
    lo: FloatArray

    @classmethod
    def of(cls, values: DoubleDouble | AnyArray | float) -> DoubleDouble:
        """Take float64 values as double-doubles; double-doubles stay what they are."""
        if isinstance(values, DoubleDouble):
            return values
        hi = np.asarray(values, dtype=np.float64)
        return cls(hi, np.zeros_like(hi))

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> DoubleDouble:
        """Make zeros, in arrays that may be written to."""
        return cls(np.zeros(shape), np.zeros(shape))

    @property
    def value(self) -> FloatArray:
        """The nearest float64."""
        return self.hi + self.lo

    def __getitem__(self, place: Any) -> DoubleDouble:
        return DoubleDouble(self.hi[place], self.lo[place])

    def __setitem__(self, place: Any, numbers: DoubleDouble) -> None:
        self.hi[place], self.lo[place] = numbers.hi, numbers.lo

    def reshape(self, *shape: int) -> DoubleDouble:
        """Arrange the same numbers in another shape."""
        return DoubleDouble(self.hi.reshape(shape), self.lo.reshape(shape))

    def copy(self) -> DoubleDouble:
        """Copy the numbers into arrays of their own."""
        return DoubleDouble(self.hi.copy(), self.lo.copy())

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        hi, error = _two_sum(self.hi, other.hi)
        lo, error_lo = _two_sum(self.lo, other.lo)
        # Not the fast step: where the high parts cancel, what is added to them is the larger.
        hi, error = _two_sum(hi, error + lo)
        return DoubleDouble(*_two_sum(hi, error + error_lo))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self + (-other)

    def __mul__(self, other: DoubleDouble | FloatArray | float) -> DoubleDouble:
        other = DoubleDouble.of(other)
        hi, error = _two_product(self.hi, other.hi)
        return DoubleDouble(*_fast_two_sum(hi, error + (self.hi * other.lo + self.lo * other.hi)))

    def __truediv__(self, divisor: DoubleDouble) -> DoubleDouble:
        first = self.hi / divisor.hi
        rest = self - divisor * first
        second = rest.hi / divisor.hi
        rest = rest - divisor * second
        hi, lo = _fast_two_sum(first, second)
        return DoubleDouble(*_fast_two_sum(hi, lo + rest.hi / divisor.hi))

    def total(self) -> DoubleDouble:
        """Sum over the first axis, which stays with length one.

        >>> float(DoubleDouble.of(np.array([1e16, 1.0, -1e16])).total().value[0])
        1.0
        """
        result = DoubleDouble.zeros((1, *self.hi.shape[1:]))
        flat = (len(self.hi), result.hi.size)
        add_up(self.hi.reshape(flat), self.lo.reshape(flat), result.hi.ravel(), result.lo.ravel())
        return result

    def where(self, mask: BoolArray) -> DoubleDouble:
        """Keep the numbers where the mask holds, exact zeros elsewhere."""
        return DoubleDouble(np.where(mask, self.hi, 0.0), np.where(mask, self.lo, 0.0))

    def spread(self, where: IntArray, size: int) -> DoubleDouble:
        """Spread the first axis over `size` places: entry i goes to where[i], zeros elsewhere."""
        result = DoubleDouble.zeros((size, *self.hi.shape[1:]))
        result[where] = self
        return result


def _two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _fast_two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = a + b
    return total, b - (total - a)


def _two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    product = a * b
    a_hi, a_lo = _halves(a)
    b_hi, b_lo = _halves(b)
    return product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    # Values stay far below 1e300 (columns are limited to 1e150), so the product cannot overflow.
    # Squares of 1e150 are 1e300, whose split would: they are scaled down first.
    scale = np.where(np.abs(a) > 1e290, 2.0**-30, 1.0)
    spread = _SPLIT * (a * scale)
    hi = (spread - (spread - a * scale)) / scale
    return hi, a - hi
