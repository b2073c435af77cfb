"""Gaussian: a mean and a variance for each column and class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from priory.columns import Numbers
from priory.errors import check_number
from priory.families.base import Family, Linear
from priory.kernels.score import add_gaussian
from priory.posteriors import NormalInverseGammaPosterior
from priory.priors import NormalInverseGamma, PosteriorNIG, Prior
from priory.schema import Block, Kind
from priory.tables import MomentsTable, NumbersTable
from priory.typing import AnyArray, CodeArray, FloatArray, Label

__all__ = ["ClassMoments", "Gaussian", "GaussianParameters", "class_moments"]

VARIANCE_FLOOR = 1e-9
"""The least variance of a class, as a share of its own column's variance."""


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
    >>> from priory.schema import Block
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
        mean, variance = moments.mean, moments.variance
        if prior is not None:
            after = moments.posterior(prior)
            mean, variance = after.mean, after.beta / (after.alpha + 1.5)
        if self.shared:
            n = moments.n.sum(axis=0)
            within = (moments.n * variance).sum(axis=0) / np.where(n > 0, n, 1.0)
            variance = np.broadcast_to(within, variance.shape)
        variance = variance + self.epsilon(moments)
        floor = 0.0 if self.var_smoothing else moments.floor
        variance = np.maximum(variance, floor)
        return GaussianParameters(mean, np.where(variance > 0, variance, moments.floor))

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

    def sample(
        self, parameters: GaussianParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw from the normal of each row's class."""
        drawn = rng.normal(parameters.mean[y], np.sqrt(parameters.variance[y]))
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

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


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Hold n, mean and 1/n variance, classes × columns, and those of the column as a whole."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray
    pooled_mean: FloatArray
    pooled_variance: FloatArray

    @property
    def floor(self) -> FloatArray:
        """Return the least variance of each column."""
        # A constant column has no variance of its own; any positive one makes it say nothing.
        spread = np.where(self.pooled_variance > 0, self.pooled_variance, 1.0)
        return VARIANCE_FLOOR * spread

    def posterior(self, prior: NormalInverseGamma) -> PosteriorNIG:
        """Return the Normal-Inverse-Gamma parameters after the data."""
        return prior.updated(
            self.n,
            self.mean,
            self.n * self.variance,
            self.pooled_mean,
            np.maximum(self.pooled_variance, self.floor),
        )

    def belief(
        self, prior: NormalInverseGamma, column: int, classes: tuple[Label, ...]
    ) -> NormalInverseGammaPosterior:
        """Return what is believed of one column's mean and variance in each class."""
        after = self.posterior(prior)
        parameters = (after.mean, after.kappa, after.alpha, after.beta)
        return NormalInverseGammaPosterior(classes, *(p[:, column] for p in parameters))


def class_moments(table: MomentsTable) -> ClassMoments:
    """Return the moments of each class; one that saw nothing takes those of the column."""
    pooled = table.pooled()
    mean, variance = table.mean, table.variance
    nothing = table.rows == 0
    return ClassMoments(
        table.weight,
        np.where(nothing, pooled.mean, mean),
        np.where(nothing, pooled.variance, variance),
        pooled.mean[0],
        pooled.variance[0],
    )
