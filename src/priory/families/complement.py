"""Complement: a score from the counts of all the other classes (Rennie et al. 2003)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from priory.base.errors import NoLikelihoodError
from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.data.columns import Counts
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Linear
from priory.families.counted import add_counts, row_adder, share_parts, sparse_rows
from priory.families.counts_without import CountedPairs, shares_without
from priory.families.left_out import LeftOut
from priory.families.parts import Parts
from priory.families.priors import DiscretePrior
from priory.families.readouts import complement
from priory.families.sums import Grid
from priory.statistics.tables import CountsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates

__all__ = ["Complement", "ComplementParameters"]


@dataclass(frozen=True)
class Complement(Family):
    """Score a class by how unlike the other classes a row is: −Σ_j x_j log P(j | not k).

        P(j | not k) = (N_j − n_jk + α) / Σ_j (N_j − n_jk + α)

    All classes but one hold more rows than the one, and more evenly, so these estimates suffer
    less where classes differ in size. The score is not a likelihood: probabilities made of it
    only rank the classes, and nothing can be sampled. With `norm` each class's weights are
    divided by their sum.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = CountsTable(np.array([1, 1]), np.ones(2), np.ones((2, 2), dtype=np.int64),
    ...                     np.ones((2, 2)), np.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> Complement().parameters(table, Laplace(1.0)).weights.round(3).tolist()
    [[1.386, 0.405], [0.288, 1.099]]
    """

    name: ClassVar[str] = "complement"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.COUNTS,)

    norm: bool = False

    def parameters(self, table: CountsTable, prior: DiscretePrior) -> ComplementParameters:
        """Estimate −log P(j | not k) of each column."""
        sums = Grid(table.s1)
        weights = complement(sums, sums.pseudo_counts(prior), norm=self.norm)
        return ComplementParameters(weights.rows)

    def add_log_likelihood(
        self, column: Counts, parameters: ComplementParameters, out: FloatArray
    ) -> None:
        """Add the score Σ_j x_j w_jk."""
        add_counts(column, parameters.weights, out)

    def adder_without(
        self, column: Counts, left_out: LeftOut, table: CountsTable, prior: DiscretePrior
    ) -> Adder:
        """Take the row's counts from the complements of the classes that are not its own."""
        pairs = CountedPairs.of_columns(table)
        scores = shares_without(pairs, Grid(table.s1), "complement", prior, norm=self.norm)
        if scores is None:  # every weight of every column changes
            return super().adder_without(column, left_out, table, prior)
        return row_adder(column, left_out, scores)

    @property
    def is_likelihood(self) -> bool:
        """Return False: it is a score."""
        return False

    def parts(
        self, block: Block, row: Counts, parameters: ComplementParameters, n_classes: int
    ) -> Parts:
        """Write P(j | not k)^−x_j of each column that is not 0, or with `norm` its weight."""
        some = sparse_rows(row)
        names = [block.columns[j] for j in some.indices.tolist()]
        weights = parameters.weights[some.indices]
        return share_parts(names, some.data, weights, "weight" if self.norm else "not class")

    def log_base_measure(self, column: Counts, parameters: ComplementParameters) -> FloatArray:
        """Refuse: there is no likelihood to complete."""
        raise NoLikelihoodError(_REASON)

    def n_free(self, table: CountsTable, prior: DiscretePrior) -> int:
        """Refuse: without a likelihood there is nothing to describe data by."""
        raise NoLikelihoodError(_REASON)

    def log_likelihood_of(self, table: CountsTable, parameters: ComplementParameters) -> float:
        """Refuse likewise."""
        raise NoLikelihoodError(_REASON)

    def sample(
        self, parameters: ComplementParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Refuse: there is no distribution to draw from."""
        raise NoLikelihoodError(_REASON)

    def linear(self, block: Block, parameters: ComplementParameters) -> Linear:
        """Return the weights, with no bias."""
        return Linear(block.columns, parameters.weights, np.zeros(parameters.weights.shape[1]))

    def estimates(
        self,
        block: Block,
        table: CountsTable,
        prior: DiscretePrior,
        parameters: ComplementParameters,
    ) -> Iterator[Estimates]:
        """Yield P(j | not k) of every column."""
        from priory.families.estimates import complement_shares

        none = (None,) * len(block.columns)
        found = complement_shares("P(column | not class)", none, table.s1.T, prior)
        yield replace(found, columns=block.columns)

    def feature_counts(self, table: CountsTable, parameters: ComplementParameters) -> FloatArray:
        """Return the sum of each column in each class."""
        return table.s1.T


@dataclass(frozen=True, eq=False)
class ComplementParameters:
    """Hold the weights, columns × classes."""

    weights: FloatArray


_REASON = (
    "complement scores a class by the counts of the other classes; that is no probability of the "
    "data, so there is no evidence and nothing to sample. Use 'multinomial' for those."
)
