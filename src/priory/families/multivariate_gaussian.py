"""Multivariate Gaussian: several columns of numbers with all their covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng
from priory.families.loo import LooRows
from priory.families.moments import ROUNDED, VARIANCE_FLOOR, variance_floor
from priory.families.priors import Prior
from priory.families.protocols import ClosedFormLoo, Floored, Linear, LinearFamily, Parametric
from priory.statistics.tables import ScatterTable

__all__ = ["MultivariateGaussian", "MultivariateGaussianParameters"]

TOGETHER = 1 << 18
"""So many entries of covariances, one for each row left out, are held together."""


@dataclass(frozen=True)
class MultivariateGaussian(ClosedFormLoo, Parametric, LinearFamily, Floored):
    """Give p(x | k) = exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / √|2πΣ| with Σ = (1/n) Σ (x − μ)(x − μ)ᵀ.

    `shrinkage` draws correlations towards 0: "auto" by the oracle approximating rule (Chen et
    al. 2010), strongly where rows are few and hardly where they are many; a number from 0 to 1
    fixes it. None goes with the smoothing: "auto" where that is "auto", else 0, so that the
    textbook's covariance is the maximum-likelihood one. `shared` gives all classes the covariance
    within classes, and a linear form. A missing value is summed out: the other columns keep their
    joint density.

    >>> import numpy as np
    >>> from priory.data.schema import Block
    >>> X, y = np.array([[0.0, 0], [2, 2], [0, 2], [2, 0]]), np.zeros(4, dtype=np.int32)
    >>> block = Block("a, b", ("a", "b"), Kind.SCATTER)
    >>> table = ScatterTable.count(block, Numbers(X), y, None, 1)
    >>> MultivariateGaussian().parameters(table, None).covariance.tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """

    name: ClassVar[str] = "multivariate-gaussian"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SCATTER,)
    priors: ClassVar[tuple[type[Prior], ...]] = ()
    default_prior: ClassVar[Prior | None] = None

    shrinkage: float | Literal["auto"] | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        if self.shrinkage not in (None, "auto") and not 0 <= float(self.shrinkage) <= 1:
            raise SettingError(
                f"shrinkage must be None, 'auto' or a number from 0 to 1, not {self.shrinkage!r}."
            )

    def parameters(self, table: ScatterTable, prior: None) -> MultivariateGaussianParameters:
        """Estimate the mean and the covariance of each class."""
        mean = np.where(table.rows[:, None] > 0, table.mean, table.pooled().mean)
        covariance, _, floor = self._covariances(table)
        return MultivariateGaussianParameters(mean, _at_least(covariance, floor))

    def vanishing(
        self, table: ScatterTable, parameters: MultivariateGaussianParameters
    ) -> BoolArray:
        """Tell which classes have rows but no covariance that can be inverted."""
        covariance, is_own, floor = self._covariances(table)
        least = _least(covariance, floor) <= VARIANCE_FLOOR
        return ((table.rows > 0) & (least | ~(is_own | self.shared)))[:, None]

    def _covariances(self, table: ScatterTable) -> tuple[FloatArray, BoolArray, FloatArray]:
        """Estimate the covariance of each class, whether it is its own, and the least variances."""
        scatter, n = table.scatter, table.weight
        total = max(float(n.sum()), np.finfo(float).tiny)
        floor = variance_floor(_diagonal(table.pooled().scatter)[0] / total)
        is_own = (table.rows > 1) & (not self.shared)  # one row has no covariance of its own
        safe = np.where(is_own, n, 1.0)
        own = self._shrunk(scatter / safe[:, None, None], safe)
        within = self._shrunk(scatter.sum(axis=0) / total, total)
        return np.where(is_own[:, None, None], own, within), is_own, floor

    def n_free(self, table: ScatterTable, prior: None) -> int:
        """Count d means for each class, and d(d + 1)/2 covariances, once if they are shared."""
        n_classes, d = table.mean.shape
        return n_classes * d + (1 if self.shared else n_classes) * d * (d + 1) // 2

    def log_likelihood_of(
        self, table: ScatterTable, parameters: MultivariateGaussianParameters
    ) -> float:
        """Sum −½ (n log|2πΣ| + tr Σ⁻¹S + n (x̄ − μ)ᵀΣ⁻¹(x̄ − μ)) over the classes, of whole rows."""
        total, d = 0.0, table.mean.shape[1]
        for k in np.flatnonzero(table.weight > 0):
            n, covariance = float(table.weight[k]), parameters.covariance[k]
            away = table.mean[k] - parameters.mean[k]
            spread = table.scatter[k] + n * np.outer(away, away)
            log_det = np.linalg.slogdet(covariance)[1] + d * np.log(2 * np.pi)
            total -= 0.5 * (n * log_det + np.trace(np.linalg.solve(covariance, spread)))
        return float(total)

    def _shrunk(self, covariance: FloatArray, n: FloatArray | float) -> FloatArray:
        """Draw the correlations of covariances towards 0."""
        scale = np.sqrt(np.maximum(_diagonal(covariance), 0.0))
        safe = np.where(scale > 0, scale, 1.0)
        correlation = covariance / _outer(safe)
        strength = (
            _oracle_approximating(correlation, n)
            if isinstance(self.shrinkage, str)
            else np.asarray(float(self.shrinkage or 0.0))
        )[..., None, None]
        diagonal = covariance * np.eye(covariance.shape[-1])
        return (1 - strength) * covariance + strength * diagonal

    def log_likelihood(
        self, column: Numbers, parameters: MultivariateGaussianParameters
    ) -> FloatArray:
        """Give the log density of the columns that are there, by pattern of missing values."""
        out = np.zeros((len(column), len(parameters.mean)))
        values = np.asarray(column.values, dtype=np.float64)
        there = ~np.isnan(values)
        patterns, where = np.unique(there, axis=0, return_inverse=True)
        where = where.ravel()
        for i, pattern in enumerate(patterns):
            if pattern.any():
                rows = where == i
                part = parameters.marginal(pattern)
                out[rows] = part.log_density(values[np.ix_(rows, pattern)])
        return out

    def parts(self, block: Block, row: Numbers, parameters: MultivariateGaussianParameters) -> None:
        """List none: the columns are not independent."""

    def loo_adder(self, column: Numbers, loo: LooRows, table: ScatterTable, prior: None) -> Adder:
        """Take the row from the mean and the scatter of its own class.

            μ⁻ = μ − (x − μ)/(n − 1),   S⁻ = S − (x − μ)(x − μ)ᵀ n/(n − 1)

        A row with a missing value was never counted, and is scored by all the others.
        """
        parameters = self.parameters(table, prior)

        def add(rows: slice, out: FloatArray) -> None:
            part, some = column.take(rows), loo.take(rows)
            whole = ~part.missing
            if not whole.all():
                out[~whole] += self.log_likelihood(part.take(~whole), parameters)
            places = np.flatnonzero(whole)
            height = max(1, TOGETHER // part.values.shape[1] ** 2)
            for first in range(0, len(places), height):
                here = places[first : first + height]
                x = np.asarray(part.values[here], dtype=np.float64)
                out[here] += self._loo(x, some.take(here), table)

        return add

    def _loo(self, x: FloatArray, loo: LooRows, table: ScatterTable) -> FloatArray:
        """Score whole rows, log p(x | k), rows × classes, each taken out of the table."""
        y, amount = loo.y, loo.amount
        own = _loo_scatter(table, x, loo, y)
        pooled = _loo_scatter(table.pooled(), x, loo, y * 0)
        n, rows = table.weight, table.rows
        total = np.maximum(n.sum() - amount, np.finfo(float).tiny)
        floor = variance_floor(_diagonal(pooled.scatter) / total[:, None])
        result = np.empty((len(x), len(n)))
        fewer = self.shared | (own.rows < 2)  # one row has no covariance of its own
        within = None
        if self.shared or fewer.any() or (rows < 2).any():
            every = range(len(n))
            rest = np.stack([np.delete(table.scatter, k, axis=0).sum(axis=0) for k in every])
            pooled_scatter = (rest[y] + own.scatter) / total[:, None, None]
            within = _at_least(self._shrunk(pooled_scatter, total), floor)
        for k in range(len(n)):
            mine = y == k
            mean = np.where((rows[k] > 0) | mine[:, None], table.mean[k], pooled.mean)
            mean[mine] = np.where((own.rows > 0)[:, None], own.mean, pooled.mean)[mine]
            if self.shared or rows[k] < 2:
                assert within is not None
                result[:, k] = _log_densities(x, mean, within)
                continue
            covariance = self._shrunk(table.scatter[k] / n[k], float(n[k]))
            result[:, k] = _unchanged(x, mean, covariance, floor, mine, table, loo)
            some = np.flatnonzero(mine)
            left = own.scatter[some] / np.maximum(own.n[some], np.finfo(float).tiny)[:, None, None]
            covariances = _at_least(self._shrunk(left, own.n[some]), floor[some])
            if within is not None:
                covariances = np.where(fewer[some, None, None], within[some], covariances)
            result[some, k] = _log_densities(x[some], mean[some], covariances)
        return result

    def sample(
        self, parameters: MultivariateGaussianParameters, y: CodeArray, rng: Rng
    ) -> AnyArray:
        """Draw from the normal of each row's class."""
        roots = np.linalg.cholesky(parameters.covariance)
        noise = rng.standard_normal((len(y), roots.shape[1]))
        return parameters.mean[y] + np.einsum("nij,nj->ni", roots[y], noise)

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield μ and Σ."""
        from priory.families.estimates import Estimates

        columns, n = block.columns, table.weight[None]
        none = (None,) * len(columns)
        yield Estimates("mean", none, parameters.mean.T, total=n, columns=columns)
        for j, name in enumerate(columns):
            beside = parameters.covariance[:, j].T
            parameter = f"covariance with {name}"
            yield Estimates(parameter, none, beside, total=n, columns=columns)

    @property
    def is_linear(self) -> bool:
        """Whether the squares are the same for every class."""
        return self.shared

    def linear(self, block: Block, parameters: MultivariateGaussianParameters) -> Linear:
        """Take w = Σ⁻¹μ and b = −½ μᵀΣ⁻¹μ, for a shared covariance."""
        weights = np.linalg.solve(parameters.covariance[0], parameters.mean.T)
        return Linear(block.columns, weights, -0.5 * (weights.T * parameters.mean).sum(axis=1))


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters:
    """Hold the means, classes × columns, and covariances, classes × columns × columns."""

    mean: FloatArray
    covariance: FloatArray

    def marginal(self, columns: AnyArray) -> MultivariateGaussianParameters:
        """Sum out all but some of the columns."""
        covariance = self.covariance[:, columns][:, :, columns]
        return MultivariateGaussianParameters(self.mean[:, columns], covariance)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Score rows: log p(x | k), rows × classes."""
        result = np.empty((len(x), len(self.mean)))
        for k, (mean, covariance) in enumerate(zip(self.mean, self.covariance, strict=True)):
            root = np.linalg.cholesky(covariance)
            z = np.linalg.solve(root, (x - mean).T)
            log_det = 2 * np.log(np.diagonal(root)).sum()
            result[:, k] = -0.5 * ((z**2).sum(axis=0) + log_det + len(mean) * np.log(2 * np.pi))
        return result


@dataclass(frozen=True, eq=False)
class _LooScatter:
    """Hold rows, n, mean and scatter of one class for each row, that row left out."""

    rows: IntArray
    n: FloatArray
    mean: FloatArray
    scatter: FloatArray


def _loo_scatter(table: ScatterTable, x: FloatArray, loo: LooRows, k: AnyArray) -> _LooScatter:
    """Take row i out of the sums of class k[i]."""
    before, scatter, amount = table.weight[k], table.scatter[k], loo.amount
    rows = table.rows[k] - 1
    n = np.where(rows > 0, before - amount, 1.0)
    away = x - table.mean[k]
    mean = np.where((rows > 0)[:, None], table.mean[k] - (amount / n)[:, None] * away, 0.0)
    left = scatter - (amount * before / n)[:, None, None] * _outer(away)
    # Of a column that is constant without the row, only rounding would be left.
    varies = (rows > 1)[:, None] & (_diagonal(left) > ROUNDED * _diagonal(scatter))
    return _LooScatter(rows, np.where(rows > 0, n, 0.0), mean, left * _outer(varies.astype(float)))


def _unchanged(
    x: FloatArray,
    mean: FloatArray,
    covariance: FloatArray,
    floor: FloatArray,
    mine: BoolArray,
    table: ScatterTable,
    loo: LooRows,
) -> FloatArray:
    """Score rows in a class that they were not in; others get 0.

    The covariance stays, but for what the floor adds, which follows the column as a whole.
    """
    result, others = np.zeros(len(x)), np.flatnonzero(~mine)
    n = float(table.weight.sum())
    pooled = table.pooled()
    before = variance_floor(_diagonal(pooled.scatter)[0] / n)
    # Without a row the variance of a column grows by n/(n − amount) at most.
    grown = n - float(loo.amount.max(initial=0.0))
    if _least(covariance, before) * grown > 1.001 * VARIANCE_FLOOR * n:
        same = MultivariateGaussianParameters(mean[others[:1]], covariance[None])
        if len(others):
            result[others] = same.log_density(x[others])[:, 0]
    else:
        covariances = np.broadcast_to(covariance, (len(others), *covariance.shape))
        result[others] = _log_densities(
            x[others], mean[others], _at_least(covariances, floor[others])
        )
    return result


def _log_densities(x: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Score rows, log p(x), each with a mean and a covariance of its own."""
    root = np.linalg.cholesky(covariance)
    z = np.linalg.solve(root, (x - mean)[..., None])[..., 0]
    log_det = 2 * np.log(_diagonal(root)).sum(axis=-1)
    return np.asarray(-0.5 * ((z**2).sum(axis=-1) + log_det + x.shape[1] * np.log(2 * np.pi)))


def _oracle_approximating(correlation: FloatArray, n: FloatArray | float) -> FloatArray:
    """Find how far to shrink d × d correlation matrices estimated from n rows."""
    d = correlation.shape[-1]
    trace, trace2 = _diagonal(correlation).sum(axis=-1), (correlation**2).sum(axis=(-2, -1))
    denominator = (n + 1 - 2 / d) * (trace2 - trace**2 / d)
    some = denominator > 0  # else nothing is correlated: there is nothing to shrink
    wanted = ((1 - 2 / d) * trace2 + trace**2) / np.where(some, denominator, 1.0)
    return np.where(some, np.minimum(wanted, 1.0), 1.0)


def _at_least(covariance: FloatArray, floor: FloatArray) -> FloatArray:
    """Raise covariances that cannot be inverted; `floor` is the least variance of each column."""
    least = _least(covariance, floor)[..., None, None]
    added = floor[..., None] * np.eye(covariance.shape[-1]) * (1.0 + np.maximum(-least, 0.0))
    return np.where(least > VARIANCE_FLOOR, covariance, covariance + added)


def _least(covariance: FloatArray, floor: FloatArray) -> FloatArray:
    """Find the least eigenvalue of covariances, in units of the columns' own variances."""
    scale = np.sqrt(floor / VARIANCE_FLOOR)
    return np.asarray(np.linalg.eigvalsh(covariance / _outer(scale))[..., 0])


def _diagonal(matrices: Any) -> FloatArray:
    return np.diagonal(matrices, axis1=-2, axis2=-1)


def _outer(vectors: FloatArray) -> FloatArray:
    return vectors[..., :, None] * vectors[..., None, :]
