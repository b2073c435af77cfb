"""Gaussian: a mean and a variance for each column and class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from priory.base.errors import SettingError, check_number
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Linear, times
from priory.families.evidence import log_normal_inverse_gamma_evidence
from priory.families.left_out import LeftOut
from priory.families.parts import Parts, column_parts
from priory.families.priors import NormalInverseGamma, PosteriorNIG, Prior
from priory.kernels.rows_without import GaussianSums
from priory.kernels.score import add_gaussian
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.tables import MomentsTable, NumbersTable
from priory.statistics.tables.sums import divisor

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import NormalInverseGammaPosterior

__all__ = [
    "ClassMoments",
    "Gaussian",
    "GaussianParameters",
    "class_moments",
    "moments_without",
    "sums_without",
    "variance_floor",
]

VARIANCE_FLOOR = 1e-9
"""The least variance of a class, as a share of its own column's variance."""

ROUNDED = 1e-14
"""What is left of a scatter below this share of all that passed through is what rounding left."""

PRECISE = 1e-3
"""Down to this share of a scatter, what is left of it has lost no digits that matter."""

SAME = 1e-11
"""A change of all log densities together below this is none."""


@dataclass(frozen=True)
class Gaussian(Family):
    """Give p(x | k) = exp(−(x − μ_k)² / 2σ_k²) / √(2πσ_k²) with the 1/n variance.

    With `shared` all classes have the variance within classes, and the log-odds are linear.
    With a Normal-Inverse-Gamma prior the most probable mean and variance are taken instead.
    `var_smoothing` adds that share of the largest variance of any column to all of them, which
    is scikit-learn's rule; by default it is 0 and each column stands on its own feet.
    A variance below 1e-9 of its own column's is raised to it, so that a class with a single
    value does not divide by zero; no other column has a say in this.

    >>> import numpy as np
    >>> from priory.data.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [-1.2], [2.2]])), np.zeros(3, dtype=np.int32)
    >>> table = MomentsTable.count(Block("x", ("x",), Kind.MOMENTS), column, y, None, 1)
    >>> found = Gaussian().parameters(table, None)
    >>> found.mean.round(4).tolist(), found.variance.round(4).tolist()
    ([[1.0]], [[2.4267]])
    """

    name: ClassVar[str] = "gaussian"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS, Kind.MOMENTS)
    priors: ClassVar[tuple[type[Prior], ...]] = (NormalInverseGamma,)
    default_prior: ClassVar[Prior | None] = None

    shared: bool = False
    var_smoothing: float = 0.0

    def __post_init__(self) -> None:
        check_number("var_smoothing", self.var_smoothing)

    def parameters(
        self, table: MomentsTable | NumbersTable, prior: NormalInverseGamma | None
    ) -> GaussianParameters:
        """Return μ and σ² of each class and column."""
        moments = class_moments(table.moments)
        return self._read(moments, prior, self.epsilon(moments))

    def _read(
        self,
        moments: ClassMoments,
        prior: NormalInverseGamma | None,
        epsilon: FloatArray | float,
        axis: int = 0,
    ) -> GaussianParameters:
        """Return μ and σ² that some moments give, the classes along an axis."""
        mean, variance = moments.mean, moments.variance
        if prior is not None:
            after = moments.posterior(prior)
            mean, variance = after.mean, after.beta / (after.alpha + 1.5)
        if self.shared:
            n = moments.n.sum(axis=axis, keepdims=True)
            within = (moments.n * variance).sum(axis=axis, keepdims=True) / np.where(n > 0, n, 1.0)
            variance = np.broadcast_to(within, variance.shape)
        variance = variance + epsilon
        floor = 0.0 if self.var_smoothing else moments.floor
        variance = np.maximum(variance, floor)
        return GaussianParameters(mean, np.where(variance > 0, variance, moments.floor))

    def vanishing(
        self, table: MomentsTable | NumbersTable, parameters: GaussianParameters
    ) -> BoolArray | None:
        """Return where a class has rows but no variance, while the column has."""
        mean, variance = parameters.mean, parameters.variance
        # A column varies at most as its widest class does, and as the means are apart.
        most = variance.max(axis=0) + np.ptp(mean, axis=0) ** 2
        if (variance > 2 * VARIANCE_FLOOR * most).all():
            return None
        spread = _variance(table.moments.pooled())
        least = variance <= VARIANCE_FLOOR * spread * (1 + 1e-9)
        return least & (spread > 0) & (table.moments.rows > 0)

    def n_free(self, table: MomentsTable | NumbersTable, prior: NormalInverseGamma | None) -> int:
        """Return a mean and a variance for each class and column; a shared variance is one."""
        n_classes, n_columns = table.moments.weight.shape
        return n_columns * (n_classes + (1 if self.shared else n_classes))

    def log_likelihood_of(
        self, table: MomentsTable | NumbersTable, parameters: GaussianParameters
    ) -> float:
        """Return Σ −n/2 log 2πσ² − (S + n(x̄ − μ)²) / 2σ², which needs the moments alone."""
        moments = class_moments(table.moments)
        away = moments.variance + (moments.mean - parameters.mean) ** 2
        return times(moments.n, parameters.log_norm - away * parameters.half_precision)

    def log_evidence(
        self, table: MomentsTable | NumbersTable, prior: NormalInverseGamma | None
    ) -> float:
        """Return that of the numbers under the Normal-Inverse-Gamma, where there is one."""
        if prior is None:
            raise SettingError(
                "gaussian has no prior here, so it has no evidence: give it one, "
                "smoothing={column: NormalInverseGamma()}."
            )
        if self.shared:
            return super().log_evidence(table, prior)
        return class_moments(table.moments).log_evidence(prior)

    def posterior(
        self,
        table: MomentsTable | NumbersTable,
        prior: NormalInverseGamma | None,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> NormalInverseGammaPosterior:
        """Return what is believed of mean and variance; with no prior, a weak one is taken."""
        moments = class_moments(table.moments)
        return moments.belief(prior or NormalInverseGamma(), block.columns.index(column), classes)

    def epsilon(self, moments: ClassMoments) -> float:
        """Return what is added to every variance."""
        return self.var_smoothing * float(moments.pooled_variance.max(initial=0.0))

    def add_log_likelihood(
        self, column: Numbers, parameters: GaussianParameters, out: FloatArray
    ) -> None:
        """Add the log density of every column that is not missing."""
        add_gaussian(
            column.values, parameters.mean, parameters.half_precision, parameters.log_norm, out
        )

    def adder_without(
        self,
        column: Numbers,
        left_out: LeftOut,
        table: MomentsTable | NumbersTable,
        prior: NormalInverseGamma | None,
    ) -> Adder:
        """Take x from the sums of the row's own class, and of the column as a whole.

            μ⁻ = μ − (x − μ)/(n − 1),   S⁻ = S − (x − μ)² n/(n − 1),   S = Σ(x − μ)²

        The column as a whole is behind var_smoothing, the floor of variances and priors.
        """
        moments = table.moments
        steady = _Steady.of(self, moments, left_out) if not (self.shared or prior) else None
        everywhere = np.arange(moments.rows.shape[1])
        others = everywhere if steady is None else everywhere[~steady.columns]

        def add(rows: slice, out: FloatArray) -> None:
            values, some = column.values[rows], left_out.take(rows)
            if len(others):
                self._add_without(values, some, moments, prior, others, out)
            if steady is not None:
                inexact = steady.add(values, some, out)
                if len(inexact):
                    scores, mine = np.zeros((len(inexact), out.shape[1])), some.take(inexact)
                    columns = np.flatnonzero(steady.columns)
                    self._add_without(values[inexact], mine, moments, prior, columns, scores)
                    out[inexact] += scores

        return add

    def _add_without(
        self,
        values: AnyArray,
        left_out: LeftOut,
        table: MomentsTable,
        prior: NormalInverseGamma | None,
        columns: IntArray,
        out: FloatArray,
    ) -> None:
        """Add the log densities of some columns for rows left out, whatever depends on what."""
        epsilon = self._epsilon_without(values, left_out, table)
        for j in columns.tolist():
            x = values[:, j].astype(np.float64)
            there = ~np.isnan(x)
            moments = moments_without(table, j, x[there], left_out.take(there))
            found = self._read(moments, prior, epsilon[there, None], axis=1)
            squares = (x[there, None] - found.mean) ** 2
            out[there] += found.log_norm - squares * found.half_precision

    def _epsilon_without(
        self, values: AnyArray, left_out: LeftOut, table: MomentsTable
    ) -> FloatArray:
        """Return what is added to every variance when each of the rows is left out."""
        if not self.var_smoothing:
            return np.zeros(len(values))
        pooled = table.pooled()
        largest = np.zeros(len(values))
        for j in range(values.shape[1]):
            x = values[:, j].astype(np.float64)
            there = ~np.isnan(x)
            variance = np.full(len(x), _variance(pooled)[0, j])
            rows = left_out.take(there)
            variance[there] = sums_without(pooled, j, x[there], rows, rows.y * 0).variance
            largest = np.maximum(largest, variance)
        return self.var_smoothing * largest

    def parts(
        self, block: Block, row: Numbers, parameters: GaussianParameters, n_classes: int
    ) -> Parts | None:
        """Return a line for each of several columns."""
        return column_parts(self, block, row, parameters, n_classes)

    def sample(
        self, parameters: GaussianParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw from the normal of each row's class."""
        drawn = rng.normal(parameters.mean[y], np.sqrt(parameters.variance[y]))
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

    def estimates(
        self,
        block: Block,
        table: MomentsTable | NumbersTable,
        prior: NormalInverseGamma | None,
        parameters: GaussianParameters,
    ) -> Iterator[Estimates]:
        """Yield μ and σ² of each column."""
        from priory.families.estimates import Estimates

        n, columns = table.moments.weight.T, block.columns
        none = (None,) * len(columns)
        yield Estimates("mean", none, parameters.mean.T, total=n, columns=columns)
        yield Estimates("variance", none, parameters.variance.T, total=n, columns=columns)

    def linear(self, block: Block, parameters: GaussianParameters) -> Linear:
        """Return w = μ/σ² and b = −Σ μ²/2σ²; x²/2σ² is common to all classes and drops out."""
        if not self.shared:
            return super().linear(block, parameters)
        weights = parameters.mean / parameters.variance
        return Linear(block.columns, weights.T, -0.5 * (weights * parameters.mean).sum(axis=1))


@dataclass(frozen=True, eq=False)
class GaussianParameters:
    """Hold the mean and the variance, classes × columns."""

    mean: FloatArray
    variance: FloatArray

    @cached_property
    def half_precision(self) -> FloatArray:
        """Return 1 / 2σ²."""
        return 0.5 / self.variance

    @cached_property
    def log_norm(self) -> FloatArray:
        """Return −½ log 2πσ²."""
        return -0.5 * np.log(2 * np.pi * self.variance)


def variance_floor(spread: FloatArray) -> FloatArray:
    """Return the least variance of columns whose values spread so much in all."""
    # A constant column has no variance of its own; any positive one makes it say nothing.
    return VARIANCE_FLOOR * np.where(spread > 0, spread, 1.0)


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

    @property
    def floor(self) -> FloatArray:
        """Return the least variance of each column."""
        return variance_floor(self.pooled_variance)

    def posterior(self, prior: NormalInverseGamma) -> PosteriorNIG:
        """Return the Normal-Inverse-Gamma parameters after the data."""
        return prior.updated(
            self.n,
            self.mean,
            self.n * self.variance,
            self.pooled_mean,
            np.maximum(self.pooled_variance, self.floor),
        )

    def log_evidence(self, prior: NormalInverseGamma) -> float:
        """Return the log evidence of the numbers of all classes and columns."""
        nothing = np.zeros_like(self.n)
        spread = np.maximum(self.pooled_variance, self.floor)
        before = prior.updated(nothing, self.mean, nothing, self.pooled_mean, spread)
        return log_normal_inverse_gamma_evidence(self.n, before, self.posterior(prior))

    def belief(
        self, prior: NormalInverseGamma, column: int, classes: tuple[Label, ...]
    ) -> NormalInverseGammaPosterior:
        """Return what is believed of one column's mean and variance in each class."""
        from priory.families.posteriors import NormalInverseGammaPosterior

        after = self.posterior(prior)
        parameters = (after.mean, after.kappa, after.alpha, after.beta)
        return NormalInverseGammaPosterior(classes, *(p[:, column] for p in parameters))


@dataclass(frozen=True, eq=False)
class _Steady:
    """Score rows that are left out in columns where only their own class changes with them.

    In the other classes only what smoothing adds may change, and this shifts all variances alike.
    """

    columns: BoolArray
    sums: GaussianSums

    @classmethod
    def of(cls, family: Gaussian, table: MomentsTable, left_out: LeftOut) -> _Steady | None:
        """Return the columns of a block that are steady, or None where none is."""
        moments = class_moments(table)
        n, scatter = moments.n, table.scatter
        pooled_n, spread = n.sum(axis=0), moments.pooled_variance
        epsilon = family.epsilon(moments)
        most = float(left_out.amount.max(initial=0.0))
        columns = (table.rows > 0).all(axis=0) & (pooled_n >= 2 * most)
        if family.var_smoothing:
            columns &= (epsilon > 0) & columns.all()
        else:  # without a row the floor rises by n/(n − amount) at most
            columns &= (moments.variance > 2.5 * moments.floor).all(axis=0)
        if not columns.any():
            return None
        found = family._read(moments, None, epsilon)
        least = np.maximum(PRECISE * np.maximum(scatter, table.passed), 4 * moments.floor * n)
        room = np.where(n > most * (1 + 1e-9), scatter - least, -np.inf)  # else nothing may be left
        own = (n, moments.mean, scatter, room, 1 / found.variance, found.log_norm)
        pooled = (pooled_n, moments.pooled_mean, pooled_n * spread, spread)
        sums = GaussianSums(
            np.stack(own, axis=-1)[:, columns],
            np.stack(pooled, axis=-1)[columns],
            family.var_smoothing,
            epsilon,
            SAME * float(found.variance[:, columns].min()) / int(columns.sum()),
            PRECISE,
            most,
        )
        return cls(columns, sums)

    def add(self, values: AnyArray, left_out: LeftOut, out: FloatArray) -> IntArray:
        """Add the log densities, and return the rows for which this would lose digits."""
        X = values if self.columns.all() else np.ascontiguousarray(values[:, self.columns])
        y, amount = np.ascontiguousarray(left_out.y), np.ascontiguousarray(left_out.amount)
        return np.flatnonzero(self.sums.add(X, y, amount, out))


@dataclass(frozen=True, eq=False)
class SumsWithout:
    """Hold n, mean and 1/n variance of one class for each row, without that row."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray
    nothing: BoolArray


def sums_without(
    table: MomentsTable, column: int, x: FloatArray, left_out: LeftOut, k: AnyArray
) -> SumsWithout:
    """Return the moments of class k[i] of a column with row i taken out of it."""
    amount = left_out.amount
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
    variance = squares / n
    return SumsWithout(
        np.where(nothing, 0.0, n),
        np.where(nothing, 0.0, mean),
        np.where(nothing, 0.0, variance),
        nothing,
    )


def _rest(
    table: MomentsTable, column: int, x: FloatArray, amount: FloatArray, left: IntArray, k: AnyArray
) -> MomentsTable:
    """Return the sums of class k[i] of a column without row i, as a table of one class per row."""
    s1 = DoubleDouble.of(x) * amount
    taken = (DoubleDouble.of(amount), s1, s1 * x)
    n, s1, s2 = (
        DoubleDouble(sums.hi[k, column], sums.lo[k, column]) - own
        for sums, own in zip((table.n, table.s1, table.s2), taken, strict=True)
    )
    n, s1, s2 = (DoubleDouble(sums.hi[:, None], sums.lo[:, None]) for sums in (n, s1, s2))
    return MomentsTable(left[:, None], n, s1, s2, table.passed[k, column][:, None])


def moments_without(
    table: MomentsTable, column: int, x: FloatArray, left_out: LeftOut
) -> ClassMoments:
    """Return the moments of all classes of a column, rows × classes, each row taken out."""
    pooled = sums_without(table.pooled(), column, x, left_out, left_out.y * 0)
    own = sums_without(table, column, x, left_out, left_out.y)
    nothing = np.tile(table.rows[:, column] == 0, (len(x), 1))
    n, mean, variance = (
        np.tile(sums[:, column], (len(x), 1))
        for sums in (table.weight, table.mean, _variance(table))
    )
    here = np.arange(len(x)), left_out.y
    n[here], mean[here], variance[here] = own.n, own.mean, own.variance
    nothing[here] = own.nothing
    pooled_mean, pooled_variance = pooled.mean[:, None], pooled.variance[:, None]
    return ClassMoments(
        n,
        np.where(nothing, pooled_mean, mean),
        np.where(nothing, pooled_variance, variance),
        pooled_mean,
        pooled_variance,
    )


def class_moments(table: MomentsTable) -> ClassMoments:
    """Return the moments of each class; one that saw nothing takes those of the column."""
    pooled = table.pooled()
    pooled_mean, pooled_variance = pooled.mean, _variance(pooled)
    nothing = table.rows == 0
    return ClassMoments(
        table.weight,
        np.where(nothing, pooled_mean, table.mean),
        np.where(nothing, pooled_variance, _variance(table)),
        pooled_mean[0],
        pooled_variance[0],
    )


def _variance(table: MomentsTable) -> FloatArray:
    """Return the 1/n variance: 0 for a single row, and where forgetting left but rounding."""
    scatter = table.scatter
    left = (table.rows > 1) & (scatter > ROUNDED * table.passed)
    return np.where(left, scatter / divisor(table.n).hi, 0.0)
