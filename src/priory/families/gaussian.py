"""Gaussian: a mean and a variance for each column and class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from priory.base.errors import NoPosteriorError, SettingError, check_number
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng, times
from priory.families.loo import LooRows
from priory.families.moments import (
    PRECISE,
    VARIANCE_FLOOR,
    ClassMoments,
    NumericTable,
    class_moments,
    loo_moments,
    loo_sums,
    variance_of,
)
from priory.families.priors import NormalInverseGamma, Prior
from priory.families.protocols import (
    ClosedFormLoo,
    Conjugate,
    Floored,
    InPlace,
    Linear,
    LinearFamily,
    Parametric,
)
from priory.kernels.loo_rows import GaussianSums
from priory.kernels.score import add_gaussian
from priory.statistics.tables import MomentsTable

if TYPE_CHECKING:
    from priory.families.posteriors import NormalInverseGammaPosterior

__all__ = ["Gaussian", "GaussianParameters"]

SAME = 1e-11
"""A change of all log densities together below this is none."""


@dataclass(frozen=True)
class Gaussian(InPlace, ClosedFormLoo, Parametric, Conjugate, LinearFamily, Floored):
    """Give p(x | k) = exp(−(x − μ_k)² / 2σ_k²) / √(2πσ_k²) with the 1/n variance.

    With `shared` all classes have the variance within classes, and the log-odds are linear.
    With a Normal-Inverse-Gamma prior the most probable mean and variance are taken instead.
    `var_smoothing` adds that share of the largest variance of any column to all of them, which
    is scikit-learn's rule; by default it is 0 and each column stands alone.
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
        self, table: NumericTable, prior: NormalInverseGamma | None
    ) -> GaussianParameters:
        """Estimate μ and σ² of each class and column."""
        moments = class_moments(table.moments)
        return self._read(moments, prior, self.epsilon(moments))

    def _read(
        self,
        moments: ClassMoments,
        prior: NormalInverseGamma | None,
        epsilon: FloatArray | float,
        axis: int = 0,
    ) -> GaussianParameters:
        """Estimate μ and σ² from moments, the classes along an axis."""
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

    def vanishing(self, table: NumericTable, parameters: GaussianParameters) -> BoolArray | None:
        """Tell where a class has rows but no variance, while the column has."""
        mean, variance = parameters.mean, parameters.variance
        # A column varies at most as its widest class does, and as the means are apart.
        most = variance.max(axis=0) + np.ptp(mean, axis=0) ** 2
        if (variance > 2 * VARIANCE_FLOOR * most).all():
            return None
        spread = variance_of(table.moments.pooled())
        least = variance <= VARIANCE_FLOOR * spread * (1 + 1e-9)
        return least & (spread > 0) & (table.moments.rows > 0)

    def n_free(self, table: NumericTable, prior: NormalInverseGamma | None) -> int:
        """Count a mean and a variance for each class and column; a shared variance is one."""
        n_classes, n_columns = table.moments.weight.shape
        return n_columns * (n_classes + (1 if self.shared else n_classes))

    def log_likelihood_of(self, table: NumericTable, parameters: GaussianParameters) -> float:
        """Sum −n/2 log 2πσ² − (S + n(x̄ − μ)²) / 2σ², which needs the moments alone."""
        moments = class_moments(table.moments)
        away = moments.variance + (moments.mean - parameters.mean) ** 2
        return times(moments.n, parameters.log_norm - away * parameters.half_precision)

    def log_evidence(self, table: NumericTable, prior: NormalInverseGamma | None) -> float:
        """Give that of the numbers under the Normal-Inverse-Gamma, where there is one."""
        if prior is None:
            raise SettingError(
                "gaussian has no prior here, so it has no evidence: give it one, "
                "smoothing={column: NormalInverseGamma()}."
            )
        if self.shared:
            raise NoPosteriorError(
                "A variance that all classes share has no conjugate prior; gaussian has one."
            )
        return class_moments(table.moments).log_evidence(prior)

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> NormalInverseGammaPosterior:
        """Give what is believed of mean and variance; with no prior, a weak one is taken."""
        moments = class_moments(table.moments)
        return moments.belief(prior or NormalInverseGamma(), block.columns.index(column), classes)

    def epsilon(self, moments: ClassMoments) -> float:
        """Derive what is added to every variance."""
        return self.var_smoothing * float(moments.pooled_variance.max(initial=0.0))

    def adder(self, column: Numbers, parameters: GaussianParameters) -> Adder:
        """Add the log density of every column that is not missing."""
        values, mean = column.values, parameters.mean
        half_precision, log_norm = parameters.half_precision, parameters.log_norm
        return lambda rows, out: add_gaussian(values[rows], mean, half_precision, log_norm, out)

    def loo_adder(self, column: Numbers, loo: LooRows, table: NumericTable, prior: Any) -> Adder:
        """Take x from the sums of the row's own class, and of the column as a whole.

            μ⁻ = μ − (x − μ)/(n − 1),   S⁻ = S − (x − μ)² n/(n − 1),   S = Σ(x − μ)²

        The column as a whole is behind var_smoothing, the floor of variances and priors.
        """
        moments = table.moments
        steady = _Steady.of(self, moments, loo) if not (self.shared or prior) else None
        everywhere = np.arange(moments.rows.shape[1])
        others = everywhere if steady is None else everywhere[~steady.columns]

        def add(rows: slice, out: FloatArray) -> None:
            values, some = column.values[rows], loo.take(rows)
            if len(others):
                self._add_loo(values, some, moments, prior, others, out)
            if steady is not None:
                inexact = steady.add(values, some, out)
                if len(inexact):
                    scores, mine = np.zeros((len(inexact), out.shape[1])), some.take(inexact)
                    columns = np.flatnonzero(steady.columns)
                    self._add_loo(values[inexact], mine, moments, prior, columns, scores)
                    out[inexact] += scores

        return add

    def _add_loo(
        self,
        values: AnyArray,
        loo: LooRows,
        table: MomentsTable,
        prior: NormalInverseGamma | None,
        columns: IntArray,
        out: FloatArray,
    ) -> None:
        """Add the log densities of some columns for rows left out, whatever depends on what."""
        epsilon = self._loo_epsilon(values, loo, table)
        for j in columns.tolist():
            x = values[:, j].astype(np.float64)
            there = ~np.isnan(x)
            moments = loo_moments(table, j, x[there], loo.take(there))
            found = self._read(moments, prior, epsilon[there, None], axis=1)
            squares = (x[there, None] - found.mean) ** 2
            out[there] += found.log_norm - squares * found.half_precision

    def _loo_epsilon(self, values: AnyArray, loo: LooRows, table: MomentsTable) -> FloatArray:
        """Derive what is added to every variance when each of the rows is left out."""
        if not self.var_smoothing:
            return np.zeros(len(values))
        pooled = table.pooled()
        largest = np.zeros(len(values))
        for j in range(values.shape[1]):
            x = values[:, j].astype(np.float64)
            there = ~np.isnan(x)
            variance = np.full(len(x), variance_of(pooled)[0, j])
            rows = loo.take(there)
            variance[there] = loo_sums(pooled, j, x[there], rows, rows.y * 0).variance
            largest = np.maximum(largest, variance)
        return self.var_smoothing * largest

    def sample(self, parameters: GaussianParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw from the normal of each row's class."""
        drawn = rng.normal(parameters.mean[y], np.sqrt(parameters.variance[y]))
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield μ and σ² of each column."""
        from priory.families.estimates import Estimates

        n, columns = table.moments.weight.T, block.columns
        none = (None,) * len(columns)
        yield Estimates("mean", none, parameters.mean.T, total=n, columns=columns)
        yield Estimates("variance", none, parameters.variance.T, total=n, columns=columns)

    @property
    def is_linear(self) -> bool:
        """Whether the squares of x are the same for every class."""
        return self.shared

    def linear(self, block: Block, parameters: GaussianParameters) -> Linear:
        """Take w = μ/σ² and b = −Σ μ²/2σ²; x²/2σ² is common to all classes and drops out."""
        weights = parameters.mean / parameters.variance
        return Linear(block.columns, weights.T, -0.5 * (weights * parameters.mean).sum(axis=1))


@dataclass(frozen=True, eq=False)
class GaussianParameters:
    """Hold the mean and the variance, classes × columns."""

    mean: FloatArray
    variance: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.mean)

    @cached_property
    def half_precision(self) -> FloatArray:
        """1 / 2σ²."""
        return 0.5 / self.variance

    @cached_property
    def log_norm(self) -> FloatArray:
        """−½ log 2πσ²."""
        return -0.5 * np.log(2 * np.pi * self.variance)


@dataclass(frozen=True, eq=False)
class _Steady:
    """Score rows that are left out in columns where only their own class changes with them.

    In the other classes only what smoothing adds may change, and this shifts all variances alike.
    """

    columns: BoolArray
    sums: GaussianSums

    @classmethod
    def of(cls, family: Gaussian, table: MomentsTable, loo: LooRows) -> _Steady | None:
        """Find the columns of a block that are steady; None where none is."""
        moments = class_moments(table)
        n, scatter = moments.n, table.scatter
        pooled_n, spread = n.sum(axis=0), moments.pooled_variance
        epsilon = family.epsilon(moments)
        most = float(loo.amount.max(initial=0.0))
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

    def add(self, values: AnyArray, loo: LooRows, out: FloatArray) -> IntArray:
        """Add the log densities; list the rows for which this would lose digits."""
        X = values if self.columns.all() else np.ascontiguousarray(values[:, self.columns])
        y, amount = np.ascontiguousarray(loo.y), np.ascontiguousarray(loo.amount)
        return np.flatnonzero(self.sums.add(X, y, amount, out))
