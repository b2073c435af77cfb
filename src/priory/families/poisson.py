"""Poisson: how often something happens, for one column of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from priory.columns import Numbers
from priory.errors import InputError
from priory.families.base import Family, Linear, log, log_gamma
from priory.families.gaussian import class_moments
from priory.posteriors import GammaPosterior
from priory.priors import Laplace, MEstimate, Prior
from priory.schema import Block, Kind
from priory.tables import MomentsTable, NumbersTable
from priory.typing import AnyArray, CodeArray, FloatArray, Label

__all__ = ["Poisson", "PoissonParameters"]


@dataclass(frozen=True)
class Poisson(Family):
    """Give P(x | k) = λ_k^x e^(−λ_k) / x! with λ_k = (Σx + α·λ) / (n_k + α).

    λ is the rate over all classes, so α (or the m of an m-estimate) is how many rows of it each
    class is lent: a Gamma prior.

    >>> import numpy as np
    >>> from priory.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [4.0]])), np.zeros(2, dtype=np.int32)
    >>> table = MomentsTable.count(Block("x", ("x",), Kind.MOMENTS), column, y, None, 1)
    >>> Poisson().parameters(table, Laplace(1.0)).rate.tolist()
    [[3.0]]
    """

    name: ClassVar[str] = "poisson"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS, Kind.MOMENTS)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    def parameters(
        self, table: MomentsTable | NumbersTable, prior: Laplace | MEstimate
    ) -> PoissonParameters:
        """Return the rate of each class and column."""
        if isinstance(table, NumbersTable):
            self._check_counts(table)
        shape, weight, pooled = self._after(table, prior)
        known = weight > 0
        return PoissonParameters(np.where(known, shape / np.where(known, weight, 1.0), pooled))

    def _after(
        self, table: MomentsTable | NumbersTable, prior: Laplace | MEstimate
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return Σx and n with what the prior lends, and the rate over all classes."""
        moments = class_moments(table.moments)
        strength = np.asarray(prior.alpha if isinstance(prior, Laplace) else prior.m)
        shape = moments.n * moments.mean + strength * moments.pooled_mean
        return shape, moments.n + strength, moments.pooled_mean

    def posterior(
        self,
        table: MomentsTable | NumbersTable,
        prior: Laplace | MEstimate,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> GammaPosterior:
        """Return the Gamma over the rate of each class."""
        shape, weight, _ = self._after(table, prior)
        j = block.columns.index(column)
        return GammaPosterior(classes, shape[:, j], weight[:, j])

    def _check_counts(self, table: NumbersTable) -> None:
        values = table.cells.values
        wrong = values[(values < 0) | ((table.cells.level == 0) & (values != np.floor(values)))]
        if len(wrong):
            raise InputError(f"poisson takes whole numbers of at least 0, not {float(wrong[0])!r}")

    def add_log_likelihood(
        self, column: Numbers, parameters: PoissonParameters, out: FloatArray
    ) -> None:
        """Add x log λ − λ; what is no count is impossible."""
        log_rate = log(parameters.rate)
        for j in range(column.values.shape[1]):
            x = column.values[:, j].astype(np.float64)[:, None]
            with np.errstate(invalid="ignore"):
                terms = np.where(x == 0, 0.0, x * log_rate[:, j]) - parameters.rate[:, j]
                terms = np.where((x < 0) | (x != np.floor(x)) | np.isinf(x), -np.inf, terms)
            out += np.where(np.isnan(x), 0.0, terms)

    def log_base_measure(self, column: Numbers, parameters: PoissonParameters) -> FloatArray:
        """Return −log x!."""
        x = column.values.astype(np.float64)
        counts = np.where(np.isfinite(x) & (x >= 0), x, 0.0)
        result: FloatArray = -log_gamma(counts + 1.0).sum(axis=1) if len(x) else np.zeros(0)
        return result

    def sample(
        self, parameters: PoissonParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw a count at the rate of each row's class."""
        drawn = rng.poisson(parameters.rate[y]).astype(np.float64)
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

    def linear(self, block: Block, parameters: PoissonParameters) -> Linear:
        """Return w = log λ and b = −λ."""
        return Linear(block.columns, log(parameters.rate).T, -parameters.rate.sum(axis=1))


@dataclass(frozen=True, eq=False)
class PoissonParameters:
    """Hold the rate, classes × columns."""

    rate: FloatArray
