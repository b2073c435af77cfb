"""Multivariate Gaussian: several columns of numbers with all their covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from priory.columns import Numbers
from priory.errors import SettingError
from priory.families.base import Family, Linear
from priory.families.gaussian import VARIANCE_FLOOR
from priory.priors import Prior
from priory.schema import Block, Kind
from priory.tables import ScatterTable
from priory.typing import AnyArray, CodeArray, FloatArray

__all__ = ["MultivariateGaussian", "MultivariateGaussianParameters"]


@dataclass(frozen=True)
class MultivariateGaussian(Family):
    """Give p(x | k) = exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / √|2πΣ| with Σ = (1/n) Σ (x − μ)(x − μ)ᵀ.

    `shrinkage` draws correlations towards 0: "auto" by the oracle approximating rule (Chen et
    al. 2010), strongly where rows are few and hardly where they are many; a number from 0 to 1
    fixes it. `shared` gives all classes the covariance within classes, and a linear form. A gap
    is summed out: the other columns keep their joint density.

    >>> import numpy as np
    >>> from priory.schema import Block
    >>> X, y = np.array([[0.0, 0], [2, 2], [0, 2], [2, 0]]), np.zeros(4, dtype=np.int32)
    >>> block = Block("a, b", ("a", "b"), Kind.SCATTER)
    >>> table = ScatterTable.count(block, Numbers(X), y, None, 1)
    >>> MultivariateGaussian(shrinkage=0).parameters(table, None).covariance.tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """

    name: ClassVar[str] = "multivariate-gaussian"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SCATTER,)
    priors: ClassVar[tuple[type[Prior], ...]] = ()
    default_prior: ClassVar[Prior | None] = None

    shrinkage: float | Literal["auto"] = "auto"
    shared: bool = False

    def __post_init__(self) -> None:
        if self.shrinkage != "auto" and not 0 <= float(self.shrinkage) <= 1:
            raise SettingError(
                f"shrinkage must be 'auto' or a number from 0 to 1, not {self.shrinkage!r}."
            )

    def parameters(self, table: ScatterTable, prior: None) -> MultivariateGaussianParameters:
        """Return the mean and the covariance of each class."""
        pooled = table.pooled()
        seen = table.rows > 0
        mean = np.where(seen[:, None], table.mean, pooled.mean)
        scatter, n = table.scatter, table.weight
        total = max(float(n.sum()), np.finfo(float).tiny)
        variance = np.diagonal(pooled.scatter[0]) / total
        floor = np.diag(VARIANCE_FLOOR * np.where(variance > 0, variance, 1.0))
        shared = _at_least(self._shrunk(scatter.sum(axis=0) / total, total), floor)
        covariance = np.empty_like(scatter)
        for k in range(len(n)):
            if self.shared or table.rows[k] < 2:  # one row has no covariance of its own
                covariance[k] = shared
            else:
                covariance[k] = _at_least(self._shrunk(scatter[k] / n[k], float(n[k])), floor)
        return MultivariateGaussianParameters(mean, covariance)

    def _shrunk(self, covariance: FloatArray, n: float) -> FloatArray:
        """Return the covariance with its correlations drawn towards 0."""
        scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        safe = np.where(scale > 0, scale, 1.0)
        correlation = covariance / np.outer(safe, safe)
        strength = (
            _oracle_approximating(correlation, n)
            if isinstance(self.shrinkage, str)
            else float(self.shrinkage)
        )
        diagonal = np.diag(np.diagonal(covariance))
        return (1 - strength) * covariance + strength * diagonal

    def add_log_likelihood(
        self, column: Numbers, parameters: MultivariateGaussianParameters, out: FloatArray
    ) -> None:
        """Add the log density of the columns that are there, for each pattern of gaps."""
        values = np.asarray(column.values, dtype=np.float64)
        there = ~np.isnan(values)
        patterns, where = np.unique(there, axis=0, return_inverse=True)
        where = where.ravel()
        for i, pattern in enumerate(patterns):
            if pattern.any():
                rows = where == i
                part = parameters.marginal(pattern)
                out[rows] += part.log_density(values[np.ix_(rows, pattern)])

    def sample(
        self, parameters: MultivariateGaussianParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw from the normal of each row's class."""
        roots = np.linalg.cholesky(parameters.covariance)
        noise = rng.standard_normal((len(y), roots.shape[1]))
        return parameters.mean[y] + np.einsum("nij,nj->ni", roots[y], noise)

    def linear(self, block: Block, parameters: MultivariateGaussianParameters) -> Linear:
        """Return w = Σ⁻¹μ and b = −½ μᵀΣ⁻¹μ, for a shared covariance."""
        if not self.shared:
            return super().linear(block, parameters)
        weights = np.linalg.solve(parameters.covariance[0], parameters.mean.T)
        return Linear(block.columns, weights, -0.5 * (weights.T * parameters.mean).sum(axis=1))


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters:
    """Hold the means, classes × columns, and covariances, classes × columns × columns."""

    mean: FloatArray
    covariance: FloatArray

    def marginal(self, columns: AnyArray) -> MultivariateGaussianParameters:
        """Return the parameters of some of the columns, the others summed out."""
        covariance = self.covariance[:, columns][:, :, columns]
        return MultivariateGaussianParameters(self.mean[:, columns], covariance)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return log p(x | k), rows × classes."""
        result = np.empty((len(x), len(self.mean)))
        for k, (mean, covariance) in enumerate(zip(self.mean, self.covariance, strict=True)):
            root = np.linalg.cholesky(covariance)
            z = np.linalg.solve(root, (x - mean).T)
            log_det = 2 * np.log(np.diagonal(root)).sum()
            result[:, k] = -0.5 * ((z**2).sum(axis=0) + log_det + len(mean) * np.log(2 * np.pi))
        return result


def _oracle_approximating(correlation: FloatArray, n: float) -> float:
    """Return how far to shrink a d × d correlation matrix estimated from n rows."""
    d = len(correlation)
    trace, trace2 = float(np.trace(correlation)), float((correlation**2).sum())
    denominator = (n + 1 - 2 / d) * (trace2 - trace**2 / d)
    if denominator <= 0:  # nothing is correlated: there is nothing to shrink
        return 1.0
    return min(1.0, ((1 - 2 / d) * trace2 + trace**2) / denominator)


def _at_least(covariance: FloatArray, floor: FloatArray) -> FloatArray:
    """Return a covariance that can be inverted, as it was if it already could."""
    scale = np.sqrt(np.diagonal(floor) / VARIANCE_FLOOR)
    least = np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0]
    return covariance if least > VARIANCE_FLOOR else covariance + floor * (1.0 + max(-least, 0.0))
