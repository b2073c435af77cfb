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
from priory.families.base import Adder, Family, Linear, log
from priory.families.left_out import LeftOut
from priory.families.multinomial import Entries, add_counts, rest
from priory.families.parts import Part, Parts
from priory.families.priors import DiscretePrior, MEstimate
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
        """Return −log P(j | not k) for each column."""
        total = table.s1.sum(axis=0)
        pseudo = prior.pseudo_counts(range(len(total)), total)
        others = _of_others(table.s1) + pseudo
        weights = log(others / others.sum(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True) if self.norm else -weights
        return ComplementParameters(np.ascontiguousarray(weights.T))

    def add_log_likelihood(
        self, column: Counts, parameters: ComplementParameters, out: FloatArray
    ) -> None:
        """Add the score Σ_j x_j w_jk."""
        add_counts(column, parameters.weights, out)

    def adder_without(
        self, column: Counts, left_out: LeftOut, table: CountsTable, prior: DiscretePrior
    ) -> Adder:
        """Take the row's counts from the complements of the classes that are not its own.

        P(j | not k) = (N_j − n_jk − x_j + α) / Σ_j (N_j − n_jk − x_j + α)   for k ≠ y
        """
        looks_at_counts = isinstance(prior, MEstimate) and prior.p == "marginal"
        if looks_at_counts and self.norm:  # then every weight of every column changes
            return super().adder_without(column, left_out, table, prior)
        total = table.s1.sum(axis=0)
        pseudo = prior.pseudo_counts(range(len(total)), total)
        before = total + pseudo - table.s1
        counted = total - table.s1
        logs_before = log(before).sum(axis=1)

        def add(rows: slice, out: FloatArray) -> None:
            part, left = column.take(rows), left_out.take(rows)
            some = Entries.of(part)
            taken = left.amount[some.row] * some.x
            a, a_sum = pseudo[some.column], pseudo.sum()
            if looks_at_counts:
                m = float(prior.m)  # type: ignore[attr-defined]
                everything = rest(total.sum(), left.amount * some.total) + len(total)
                a, a_sum = m * (total[some.column] - taken + 1.0) / everything[some.row], m
            for k in range(len(before)):
                other = left.y != k
                mine = np.maximum(counted[k, some.column] - taken * other[some.row], 0.0) + a
                n = rest(counted[k].sum(), left.amount * some.total * other) + a_sum
                log_n, log_mine = log(n), log(mine)
                weights = log_mine - log_n[some.row]
                score = np.bincount(some.row, weights=some.x * weights, minlength=len(left))
                if self.norm:
                    change = log_mine - log(before[k, some.column])
                    logs = logs_before[k] + np.bincount(
                        some.row, weights=change, minlength=len(left)
                    )
                    out[:, k] += score / (logs - len(total) * log_n)
                else:
                    out[:, k] -= score

        return add

    @property
    def is_likelihood(self) -> bool:
        """Return False: it is a score."""
        return False

    def parts(
        self, block: Block, row: Counts, parameters: ComplementParameters, n_classes: int
    ) -> Parts:
        """Return P(j | not k)^−x_j of each column that is not 0, or with `norm` its weight."""
        some = Entries.of(row)
        title, sign = ("e^weight of {}", 1.0) if self.norm else ("P({} | not class)", -1.0)
        return Parts(
            [
                Part(title.format(block.columns[j]), x * parameters.weights[j], sign * x)
                for j, x in zip(some.column.tolist(), some.x.tolist(), strict=True)
            ]
        )

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


def _of_others(s1: FloatArray) -> FloatArray:
    """Return the sums of all classes but each, with no difference that a heavy class would drown.

    >>> _of_others(np.array([[1e100], [1.0], [2.0]])).tolist()
    [[3.0], [1e+100], [1e+100]]
    """
    before, after = np.zeros_like(s1), np.zeros_like(s1)
    np.cumsum(s1[:-1], axis=0, out=before[1:])
    np.cumsum(s1[:0:-1], axis=0, out=after[-2::-1])
    return before + after
