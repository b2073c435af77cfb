"""Kernel density: a small normal on every number seen, added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import check_number
from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng, adder_of
from priory.families.categorical import draw
from priory.families.loo import LooRows
from priory.families.loo_cells import LooCells
from priory.families.moments import weighted_moments
from priory.families.priors import Laplace, MEstimate, Prior, RowsPrior
from priory.families.protocols import ClosedFormLoo, Parametric
from priory.statistics.tables import CellsTable, NumbersTable

__all__ = ["KernelDensity", "KernelDensityParameters"]

BATCH = 4096


@dataclass(frozen=True)
class KernelDensity(ClosedFormLoo, Parametric):
    """Give p(x | k) = Σ_c n_ck/n_k · Normal(x; c, h_k²), over the cells c of the column.

    The bandwidth is Silverman's 0.9 σ_k n_k^(−1/5), not below a third of the mean distance of
    neighbouring values, or the one given. Densities are summed in log space, so that tails
    are those of the normal however far away. The prior lends each class α (or m) rows of the
    density over all classes; 0 is the plain estimate.

    >>> import numpy as np
    >>> from priory.data.schema import Block
    >>> column, y = Numbers(np.array([[0.0], [1.0]])), np.zeros(2, dtype=np.int32)
    >>> table = NumbersTable.count(Block("x", ("x",), Kind.NUMBERS), column, y, None, 1)
    >>> family = KernelDensity(bandwidth=1.0)
    >>> found = family.parameters(table, Laplace(0.0))
    >>> family.log_likelihood(Numbers(np.array([[100.0]])), found).round(1).tolist()
    [[-4902.1]]
    """

    name: ClassVar[str] = "kernel-density"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS,)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    bandwidth: float | None = None

    def __post_init__(self) -> None:
        if self.bandwidth is not None:
            check_number("bandwidth", self.bandwidth, above=0)

    def parameters(self, table: NumbersTable, prior: RowsPrior) -> KernelDensityParameters:
        """Find the centres, their shares in each class, and the bandwidths."""
        cells = table.cells
        n = cells.weight.sum(axis=1)
        total = np.maximum(n.sum(), np.finfo(float).tiny)
        weight = n + float(np.max(prior.strength))
        known = weight > 0
        own = np.where(known, n / np.where(known, weight, 1.0), 0.0)
        shares = cells.weight / np.where(n > 0, n, 1.0)[:, None]
        return KernelDensityParameters(
            cells.values, shares, own, n / total, self._bandwidths(cells, n)
        )

    def _bandwidths(self, cells: CellsTable, n: FloatArray) -> FloatArray:
        if self.bandwidth is not None:
            return np.full(len(n), float(self.bandwidth))
        values = cells.values
        spread = float(values[-1] - values[0]) if len(values) else 0.0
        if spread == 0:  # one value: any bandwidth says the same of every class
            return np.ones(len(n))
        nearest = spread / (len(values) - 1) / 3
        weight, pooled = cells.weight, cells.weight.sum(axis=0, keepdims=True)
        deviation = np.sqrt(weighted_moments(values, weight)[1][:, 0])
        overall = float(np.sqrt(weighted_moments(values, pooled)[1].item()))
        silverman = 0.9 * deviation * np.maximum(n, 1.0) ** -0.2
        return np.minimum(np.maximum(silverman, nearest), max(0.9 * overall, nearest))

    def n_free(self, table: NumbersTable, prior: RowsPrior) -> int:
        """Count the place of each cell, its share in each class, and a bandwidth for each."""
        n_classes, n_cells = table.cells.weight.shape
        bandwidths = n_classes if self.bandwidth is None else 0
        return n_cells + n_classes * max(n_cells - 1, 0) + bandwidths

    def log_likelihood(self, column: Numbers, parameters: KernelDensityParameters) -> FloatArray:
        """Give the log density of every number, worked out once for equal numbers."""
        x = column.values[:, 0].astype(np.float64)
        out = np.zeros((len(x), len(parameters.own)))
        there = ~np.isnan(x)
        distinct, where = np.unique(x[there], return_inverse=True)
        if not len(distinct) or not len(parameters.centres):
            return out
        batches = range(0, len(distinct), BATCH)
        density = np.concatenate([parameters.log_density(distinct[i : i + BATCH]) for i in batches])
        out[there] = density[where]
        return out

    def loo_adder(self, column: Numbers, loo: LooRows, table: NumbersTable, prior: Any) -> Adder:
        """Take the number's kernel away, and the bandwidths from the cells that are left.

        No sum of kernels is a closed form, so each cell and class is estimated anew.
        """
        x = column.values[:, 0].astype(np.float64)
        pairs = LooCells.of(table.cells, x, loo)
        scores = np.zeros((len(x), len(table.cells.weight)))
        scores[pairs.never] = np.nan
        for left, rows in pairs.tables():
            parameters = self.parameters(NumbersTable(table.moments, left), prior)
            scores[rows] = self.log_likelihood(Numbers(x[rows, None]), parameters)
        return adder_of(scores)

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield the bandwidths; the density itself is a sum of kernels, which no table shows."""
        from priory.families.estimates import Estimates, remark

        yield remark("a sum of kernels, no table", f"{len(parameters.centres)} centres")
        n = table.cells.weight.sum(axis=1)[None]
        yield Estimates("bandwidth", (None,), parameters.bandwidths[None], total=n)

    def sample(self, parameters: KernelDensityParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a class to take the kernel from (the own one or any), a centre, and a normal."""
        lent = rng.random(len(y)) >= parameters.own[y]
        any_class = rng.choice(len(parameters.own), size=len(y), p=parameters.pool)
        source = np.where(lent, any_class, y)
        centre = parameters.centres[draw(parameters.shares, source, rng)]
        return centre + parameters.bandwidths[source] * rng.standard_normal(len(y))


@dataclass(frozen=True, eq=False)
class KernelDensityParameters:
    """Hold the centres, their shares, classes × centres, and the bandwidth of each class.

    `own` is how much of a class's density is its own; the rest is lent by all classes, each
    with its part in the `pool`.
    """

    centres: FloatArray
    shares: FloatArray
    own: FloatArray
    pool: FloatArray
    bandwidths: FloatArray

    def log_density(self, x: FloatArray) -> FloatArray:
        """Sum the kernels: log p(x | k), numbers × classes."""
        with np.errstate(divide="ignore"):
            log_shares, log_own = np.log(self.shares), np.log(self.own)
            log_pool, log_lent = np.log(self.pool), np.log1p(-self.own)
        distance = (x[:, None] - self.centres) ** 2
        plain = np.empty((len(x), len(self.own)))
        for k, h in enumerate(self.bandwidths):
            terms = log_shares[k] - distance / (2 * h**2)
            plain[:, k] = _log_sum_exp(terms) - 0.5 * np.log(2 * np.pi * h**2)
        pooled = _log_sum_exp(plain + log_pool)
        return np.logaddexp(plain + log_own, pooled[:, None] + log_lent)


def _log_sum_exp(terms: FloatArray) -> FloatArray:
    top = terms.max(axis=1)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(terms - safe[:, None]).sum(axis=1))
