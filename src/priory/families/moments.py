"""Means and variances of numbers by class, as they were counted and with a row left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray, Label
from priory.families.evidence import log_normal_inverse_gamma_evidence
from priory.families.priors import NormalInverseGamma, PosteriorNIG
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.tables import MomentsTable, NumbersTable
from priory.statistics.tables.sums import divisor

if TYPE_CHECKING:
    from priory.families.loo import LooRows
    from priory.families.posteriors import NormalInverseGammaPosterior

__all__ = [
    "PRECISE",
    "ROUNDED",
    "VARIANCE_FLOOR",
    "ClassMoments",
    "LooMoments",
    "NumericTable",
    "class_moments",
    "loo_moments",
    "loo_sums",
    "variance_floor",
    "variance_of",
    "weighted_moments",
]

NumericTable: TypeAlias = MomentsTable | NumbersTable
"""What has the moments of numbers, with their cells or without."""

VARIANCE_FLOOR = 1e-9
"""The least variance of a class, as a share of its own column's variance."""

ROUNDED = 1e-14
"""What is left of a scatter below this share of all that passed through is what rounding left."""

PRECISE = 1e-3
"""Down to this share of a scatter, what is left of it has lost no digits that matter."""


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Hold n, mean and 1/n variance, classes × columns, and those of the column as a whole.

    With a row left out of one column, rows × classes, and rows × 1 for the column as a whole.
    """

    n: FloatArray
    mean: FloatArray
    variance: FloatArray
    pooled_mean: FloatArray
    pooled_variance: FloatArray

    @classmethod
    def filled(
        cls,
        n: FloatArray,
        mean: FloatArray,
        variance: FloatArray,
        nothing: BoolArray,
        pooled: tuple[FloatArray, FloatArray],
    ) -> ClassMoments:
        """Let a class that saw nothing take the mean and the variance of the column."""
        mean, variance = (
            np.where(nothing, whole, own)
            for whole, own in zip(pooled, (mean, variance), strict=True)
        )
        return cls(n, mean, variance, *pooled)

    @property
    def floor(self) -> FloatArray:
        """The least variance of each column."""
        return variance_floor(self.pooled_variance)

    def posterior(self, prior: NormalInverseGamma) -> PosteriorNIG:
        """Give the Normal-Inverse-Gamma parameters after the data."""
        return prior.updated(
            self.n,
            self.mean,
            self.n * self.variance,
            self.pooled_mean,
            np.maximum(self.pooled_variance, self.floor),
        )

    def log_evidence(self, prior: NormalInverseGamma) -> float:
        """Give the log evidence of the numbers of all classes and columns."""
        nothing = np.zeros_like(self.n)
        spread = np.maximum(self.pooled_variance, self.floor)
        before = prior.updated(nothing, self.mean, nothing, self.pooled_mean, spread)
        return log_normal_inverse_gamma_evidence(self.n, before, self.posterior(prior))

    def belief(
        self, prior: NormalInverseGamma, column: int, classes: tuple[Label, ...]
    ) -> NormalInverseGammaPosterior:
        """Give what is believed of one column's mean and variance in each class."""
        from priory.families.posteriors import NormalInverseGammaPosterior

        after = self.posterior(prior)
        parameters = (after.mean, after.kappa, after.alpha, after.beta)
        return NormalInverseGammaPosterior(classes, *(p[:, column] for p in parameters))


def class_moments(table: MomentsTable) -> ClassMoments:
    """Give the moments of each class; one that saw nothing takes those of the column."""
    pooled = table.pooled()
    whole, nothing = (pooled.mean[0], variance_of(pooled)[0]), table.rows == 0
    return ClassMoments.filled(table.weight, table.mean, variance_of(table), nothing, whole)


def variance_of(table: MomentsTable) -> FloatArray:
    """Give the 1/n variance: 0 for a single row, and where forgetting left but rounding."""
    scatter = table.scatter
    left = (table.rows > 1) & (scatter > ROUNDED * table.passed)
    return np.where(left, scatter / divisor(table.n).hi, 0.0)


def weighted_moments(x: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the mean and the 1/n variance of numbers with the weights of each class, classes × 1."""
    n = np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    mean = (weight * x).sum(axis=1, keepdims=True) / n
    return mean, (weight * (x - mean) ** 2).sum(axis=1, keepdims=True) / n


def variance_floor(spread: FloatArray) -> FloatArray:
    """Give the least variance of columns whose values spread so much in all."""
    # A constant column has no variance of its own; any positive one makes it say nothing.
    return VARIANCE_FLOOR * np.where(spread > 0, spread, 1.0)


@dataclass(frozen=True, eq=False)
class LooMoments:
    """Hold n, mean and 1/n variance of one class for each row, that row left out."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray
    nothing: BoolArray


def loo_sums(
    table: MomentsTable, column: int, x: FloatArray, loo: LooRows, k: AnyArray
) -> LooMoments:
    """Give the moments of class k[i] of a column with row i taken out of it."""
    amount = loo.amount
    before, mean, scatter = (
        sums[:, column][k] for sums in (table.weight, table.mean, table.scatter)
    )
    left = table.rows[:, column][k] - 1
    n = np.where(left > 0, before - amount, 1.0)
    away = x - mean
    mean = mean - amount * away / n
    squares = scatter - amount * away * away * (before / n)
    rounding = np.maximum(scatter, table.passed[:, column][k])
    lossy = np.flatnonzero((left > 1) & (squares <= PRECISE * rounding))
    if len(lossy):  # the sums themselves still have the digits
        rest = _rest(table, column, x[lossy], amount[lossy], left[lossy], k[lossy])
        mean[lossy], squares[lossy] = rest.mean[:, 0], rest.scatter[:, 0]
    squares = np.where((left == 1) | (squares <= ROUNDED * rounding), 0.0, squares)
    nothing = left <= 0
    n, mean, variance = (np.where(nothing, 0.0, found) for found in (n, mean, squares / n))
    return LooMoments(n, mean, variance, nothing)


def _rest(
    table: MomentsTable, column: int, x: FloatArray, amount: FloatArray, left: IntArray, k: AnyArray
) -> MomentsTable:
    """Give the sums of class k[i] of a column without row i, as a table of one class per row."""
    s1 = DoubleDouble.of(x) * amount
    taken = (DoubleDouble.of(amount), s1, s1 * x)
    n, s1, s2 = (
        DoubleDouble(sums.hi[k, column], sums.lo[k, column]) - own
        for sums, own in zip((table.n, table.s1, table.s2), taken, strict=True)
    )
    n, s1, s2 = (DoubleDouble(sums.hi[:, None], sums.lo[:, None]) for sums in (n, s1, s2))
    return MomentsTable(left[:, None], n, s1, s2, table.passed[k, column][:, None])


def loo_moments(table: MomentsTable, column: int, x: FloatArray, loo: LooRows) -> ClassMoments:
    """Give the moments of all classes of a column, rows × classes, each row taken out."""
    pooled = loo_sums(table.pooled(), column, x, loo, loo.y * 0)
    own = loo_sums(table, column, x, loo, loo.y)
    nothing = np.tile(table.rows[:, column] == 0, (len(x), 1))
    n, mean, variance = (
        np.tile(sums[:, column], (len(x), 1))
        for sums in (table.weight, table.mean, variance_of(table))
    )
    here = np.arange(len(x)), loo.y
    n[here], mean[here], variance[here] = own.n, own.mean, own.variance
    nothing[here] = own.nothing
    whole = pooled.mean[:, None], pooled.variance[:, None]
    return ClassMoments.filled(n, mean, variance, nothing, whole)
