"""Poisson: how often something happens, for columns of integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from priory.base.errors import InputError
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import (
    Adder,
    EstimateTables,
    Rng,
    counted_values,
    draw_counts,
    log,
    log_gamma,
    times,
)
from priory.families.evidence import log_gamma_evidence
from priory.families.loo import LooRows, loo_columns, reduced
from priory.families.moments import NumericTable, class_moments
from priory.families.priors import Laplace, MEstimate, Prior, RowsPrior
from priory.families.protocols import ClosedFormLoo, Conjugate, Linear, LinearFamily, Parametric
from priory.statistics.tables import NumbersTable

if TYPE_CHECKING:
    from priory.families.posteriors import GammaPosterior

__all__ = ["Poisson", "PoissonParameters"]


@dataclass(frozen=True)
class Poisson(ClosedFormLoo, Parametric, Conjugate, LinearFamily):
    """Give P(x | k) = λ_k^x e^(−λ_k) / x! with λ_k = (Σx + α·λ) / (n_k + α).

    λ is the rate over all classes, so α (or the m of an m-estimate) is how many rows of it each
    class is lent: a Gamma prior.

    >>> import numpy as np
    >>> from priory.data.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [4.0]])), np.zeros(2, dtype=np.int32)
    >>> from priory.statistics.tables import MomentsTable
    >>> table = MomentsTable.count(Block("x", ("x",), Kind.MOMENTS), column, y, None, 1)
    >>> Poisson().parameters(table, Laplace(1.0)).rate.tolist()
    [[3.0]]
    """

    name: ClassVar[str] = "poisson"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS, Kind.MOMENTS)
    base_measure_in_joint: ClassVar[bool] = True
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    def parameters(self, table: NumericTable, prior: RowsPrior) -> PoissonParameters:
        """Estimate the rate of each class and column."""
        if isinstance(table, NumbersTable):
            values = table.cells.values
            wrong = values[(values < 0) | ((table.cells.level == 0) & (values != np.floor(values)))]
            if len(wrong):
                raise InputError(f"poisson takes integers of at least 0, not {float(wrong[0])!r}")
        shape, weight, pooled = self._after(table, prior)
        known = weight > 0
        if (shape < 0).any():  # as a file may say, whose cells say otherwise
            raise InputError("poisson takes integers of at least 0, not a negative sum of them")
        return PoissonParameters(np.where(known, shape / np.where(known, weight, 1.0), pooled))

    def _after(
        self, table: NumericTable, prior: RowsPrior
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Find Σx and n with what the prior lends, and the rate over all classes."""
        moments = class_moments(table.moments)
        strength = np.asarray(prior.strength)
        shape = moments.n * moments.mean + strength * moments.pooled_mean
        return shape, moments.n + strength, moments.pooled_mean

    def n_free(self, table: NumericTable, prior: RowsPrior) -> int:
        """Count a rate for each class and column."""
        return table.moments.weight.size

    def log_evidence(self, table: NumericTable, prior: RowsPrior) -> float:
        """Give that of the counts under the Gamma, whose mean is the rate over all classes."""
        column, weight = counted_values(table)
        moments = class_moments(table.moments)
        shape, rate, _ = self._after(table, prior)
        total = moments.n * moments.mean
        factorials = times(weight, self.log_base_measure(column, None))
        return factorials + log_gamma_evidence(total, moments.n, shape - total, rate - moments.n)

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> GammaPosterior:
        """Give the Gamma over the rate of each class."""
        from priory.families.posteriors import GammaPosterior

        shape, weight, _ = self._after(table, prior)
        j = block.columns.index(column)
        return GammaPosterior(classes, shape[:, j], weight[:, j])

    def log_likelihood(self, column: Numbers, parameters: PoissonParameters) -> FloatArray:
        """Give Σ_j x log λ − λ; what is no count is impossible."""
        out = np.zeros((len(column), len(parameters.rate)))
        for j in range(column.values.shape[1]):
            x = column.values[:, j].astype(np.float64)[:, None]
            out += np.where(np.isnan(x), 0.0, _terms(x, parameters.rate[:, j]))
        return out

    def loo_adder(self, column: Numbers, loo: LooRows, table: NumericTable, prior: Any) -> Adder:
        """Take x and one row from the own class, and from the rate over all classes.

        λ_k = (Σx − [k=y]·x + α·λ) / (n_k − [k=y] + α),   λ = (Σx − x) / (n − 1)
        """
        moments = table.moments
        seen, n, sums = moments.rows, moments.weight, moments.s1.value
        strengths = np.broadcast_to(np.asarray(prior.strength, dtype=np.float64), seen.shape[1:])

        def score(j: int, x: FloatArray, some: LooRows) -> FloatArray:
            gone, lent = seen[some.y, j] == 1, strengths[j]
            weight = reduced(np.tile(n[:, j], (len(x), 1)), some.y, some.amount, gone)
            total = reduced(np.tile(sums[:, j], (len(x), 1)), some.y, some.amount * x, gone)
            everything = weight.sum(axis=1, keepdims=True)
            mean = total.sum(axis=1, keepdims=True) / np.where(everything > 0, everything, 1.0)
            shape, weight = total + lent * mean, weight + lent
            known = weight > 0
            return _terms(x[:, None], np.where(known, shape / np.where(known, weight, 1.0), mean))

        return loo_columns(column, loo, score)

    def log_base_measure(self, column: Numbers, parameters: PoissonParameters | None) -> FloatArray:
        """Give −log x!."""
        x = column.values.astype(np.float64)
        counts = np.where(np.isfinite(x) & (x >= 0), x, 0.0)
        return np.asarray(-log_gamma(counts + 1.0).sum(axis=1))

    def sample(self, parameters: PoissonParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a count at the rate of each row's class."""
        drawn = draw_counts(rng, parameters.rate[y]).astype(np.float64)
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield the rate of each column, Σx (the count) over the rows (the total)."""
        from priory.families.estimates import Estimates, exact_rates

        moments = table.moments
        sums, n, columns = moments.s1.value.T, moments.weight.T, block.columns
        strengths = np.broadcast_to(prior.strength, len(columns))
        none, fractions = (None,) * len(columns), partial(exact_rates, sums, n, strengths)
        yield Estimates("rate", none, parameters.rate.T, sums, n, columns, fractions)

    def linear(self, block: Block, parameters: PoissonParameters) -> Linear:
        """Take w = log λ and b = −λ."""
        return Linear(block.columns, log(parameters.rate).T, -parameters.rate.sum(axis=1))


def _terms(x: FloatArray, rate: FloatArray) -> FloatArray:
    """Give x log λ − λ, −∞ for what is no count."""
    with np.errstate(invalid="ignore"):
        terms = np.where(x == 0, 0.0, x * log(rate)) - rate
        return np.where((x < 0) | (x != np.floor(x)) | np.isinf(x), -np.inf, terms)


@dataclass(frozen=True, eq=False)
class PoissonParameters:
    """Hold the rate, classes × columns."""

    rate: FloatArray
