"""Multinomial: counts over many columns, such as the words of a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Counts
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Linear, times
from priory.families.counted import (
    add_counts,
    log_evidence,
    log_orders,
    orders_left_out,
    posterior,
    row_adder,
    share_parts,
    sparse_rows,
)
from priory.families.counts_without import CountedPairs, shares_without
from priory.families.left_out import LeftOut
from priory.families.parts import Parts
from priory.families.priors import DiscretePrior
from priory.families.readouts import multinomial
from priory.families.sums import Grid
from priory.statistics.tables import CountsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import DirichletPosterior

__all__ = ["Multinomial", "MultinomialParameters"]


@dataclass(frozen=True)
class Multinomial(Family):
    """Give each column its share of a class's counts: P(j | k) = (n_jk + α) / (n_k + α|V|).

        log P(x | k) = log(n! / Π x_j!) + Σ_j x_j log P(j | k)

    The coefficient is the same for every class and belongs to the evidence only: the log joint and
    the worked sum are those of the words (or whatever is counted) in their order.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = CountsTable(np.array([2]), np.array([2.0]), np.array([[2, 1]]),
    ...                     np.array([[2.0, 1.0]]), np.array([[3.0, 1.0]]))
    >>> np.exp(Multinomial().parameters(table, Laplace(1.0)).log_p).round(3).tolist()
    [[0.667], [0.333]]
    """

    name: ClassVar[str] = "multinomial"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.COUNTS,)

    def parameters(self, table: CountsTable, prior: DiscretePrior) -> MultinomialParameters:
        """Estimate log P(j | k) of each column."""
        sums = Grid(table.s1)
        length = sums.size / np.maximum(table.documents_weight, np.finfo(float).tiny)
        return MultinomialParameters(multinomial(sums, sums.pseudo_counts(prior)).rows, length)

    def n_free(self, table: CountsTable, prior: DiscretePrior) -> int:
        """Count V − 1 for each class."""
        return table.s1.shape[0] * max(table.s1.shape[1] - 1, 0)

    def log_likelihood_of(self, table: CountsTable, parameters: MultinomialParameters) -> float:
        """Sum n_jk log P(j | k), that of what was counted in its order."""
        return times(table.s1.T, parameters.log_p)

    def log_evidence(self, table: CountsTable, prior: DiscretePrior) -> float:
        """Take the evidence of what was counted, in its order, under a Dirichlet of each class."""
        return log_evidence(Grid(table.s1), prior)

    def posterior(
        self,
        table: CountsTable,
        prior: DiscretePrior,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> DirichletPosterior:
        """Give the Dirichlet over the shares of all the block's columns."""
        return posterior(Grid(table.s1), prior, classes, block.columns)

    def add_log_likelihood(
        self, column: Counts, parameters: MultinomialParameters, out: FloatArray
    ) -> None:
        """Add Σ_j x_j log P(j | k), with 0 · (−∞) = 0."""
        add_counts(column, parameters.log_p, out)

    def adder_without(
        self, column: Counts, left_out: LeftOut, table: CountsTable, prior: DiscretePrior
    ) -> Adder:
        """Take the row's counts from those of its own class."""
        pairs = CountedPairs.of_columns(table)
        scores = shares_without(pairs, Grid(table.s1), "multinomial", prior)
        if scores is None:
            return super().adder_without(column, left_out, table, prior)
        return row_adder(column, left_out, scores)

    def log_base_measure(self, column: Counts, parameters: MultinomialParameters) -> FloatArray:
        """Take the log of the multinomial coefficient."""
        return log_orders(sparse_rows(column))

    def parts(
        self, block: Block, row: Counts, parameters: MultinomialParameters, n_classes: int
    ) -> Parts:
        """Write P(j | k)^x_j of each column that is not 0."""
        some = sparse_rows(row)
        names = [block.columns[j] for j in some.indices.tolist()]
        notes = orders_left_out(log_orders(some)[0])
        return share_parts(names, some.data, parameters.log_p[some.indices], "class", notes)

    def sample(
        self, parameters: MultinomialParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw counts; the length, which the model does not speak of, is Poisson about its mean."""
        p = np.exp(parameters.log_p).T
        return rng.multinomial(rng.poisson(parameters.length[y]), p[y]).astype(np.float64)

    def linear(self, block: Block, parameters: MultinomialParameters) -> Linear:
        """Take w = log P(j | k), with no bias."""
        return Linear(block.columns, parameters.log_p, np.zeros(parameters.log_p.shape[1]))

    def estimates(
        self,
        block: Block,
        table: CountsTable,
        prior: DiscretePrior,
        parameters: MultinomialParameters,
    ) -> Iterator[Estimates]:
        """Yield P(j | k) of every column."""
        from priory.families.estimates import shares

        columns = block.columns
        counted = (table.s1.T, prior, range(len(columns)), columns)
        yield shares("P(column | class)", (None,) * len(columns), parameters.log_p, *counted)

    def feature_counts(self, table: CountsTable, parameters: MultinomialParameters) -> FloatArray:
        """Take the sum of each column in each class."""
        return table.s1.T


@dataclass(frozen=True, eq=False)
class MultinomialParameters:
    """Hold log P(j | k), columns × classes, and the mean length of a row of each class."""

    log_p: FloatArray
    length: FloatArray
