"""Binomial: how many of a fixed number of trials succeeded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import (
    Adder,
    Family,
    Linear,
    counted_values,
    log_gamma,
    log_shares,
    times,
)
from priory.families.evidence import log_dirichlet_evidence
from priory.families.left_out import LeftOut, one_column
from priory.families.parts import Parts, column_parts
from priory.families.priors import DiscretePrior
from priory.statistics.tables import MomentsTable, NumbersTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import DirichletPosterior

__all__ = ["Binomial", "BinomialParameters"]


@dataclass(frozen=True)
class Binomial(Family):
    """Give P(x | k) = C(t, x) p_k^x (1 − p_k)^(t − x), x from 0 to t trials.

        p_k = (Σx + α) / (t·n_k + 2α)

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> from priory.data.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [4.0]])), np.zeros(2, dtype=np.int32)
    >>> table = MomentsTable.count(Block("x", ("x",), Kind.MOMENTS), column, y, None, 1)
    >>> np.exp(Binomial(trials=5).parameters(table, Laplace(0.0)).log_on).round(3).tolist()
    [[0.6]]
    """

    name: ClassVar[str] = "binomial"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS, Kind.MOMENTS)
    base_measure_in_joint: ClassVar[bool] = True

    trials: int

    def __post_init__(self) -> None:
        whole = isinstance(self.trials, int | np.integer) and not isinstance(self.trials, bool)
        if not whole or self.trials < 1:
            raise SettingError(f"trials must be a whole number of at least 1, not {self.trials!r}.")

    def parameters(
        self, table: MomentsTable | NumbersTable, prior: DiscretePrior
    ) -> BinomialParameters:
        """Return log p and log(1 − p) of each column and class."""
        counts, pseudo = self._counts(table, prior)
        log_p = log_shares(counts.transpose(2, 1, 0), pseudo.T[:, :, None])
        return BinomialParameters(log_p[0], log_p[1])

    def _counts(
        self, table: MomentsTable | NumbersTable, prior: DiscretePrior
    ) -> tuple[FloatArray, FloatArray]:
        """Return failures and successes, classes × columns × 2, and their pseudo-counts."""
        if isinstance(table, NumbersTable):
            self._check_counts(table.cells.values)
        moments = table.moments
        successes = moments.s1.value
        counts = np.stack([self.trials * moments.weight - successes, successes], axis=2)
        return counts, prior.pseudo_counts([False, True], counts.sum(axis=0))

    def n_free(self, table: MomentsTable | NumbersTable, prior: DiscretePrior) -> int:
        """Return one for each class and column."""
        return table.moments.weight.size

    def log_evidence(self, table: MomentsTable | NumbersTable, prior: DiscretePrior) -> float:
        """Return that of successes and failures under the Beta, with log C(t, x) of each row."""
        column, weight = counted_values(table)
        choose = self.log_base_measure(column, None)
        return log_dirichlet_evidence(*self._counts(table, prior)) + times(weight, choose)

    def posterior(
        self,
        table: MomentsTable | NumbersTable,
        prior: DiscretePrior,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> DirichletPosterior:
        """Return the Beta over p_k, as a Dirichlet over failure and success."""
        from priory.families.posteriors import DirichletPosterior

        counts, pseudo = self._counts(table, prior)
        after = (counts + pseudo)[:, block.columns.index(column)]
        return DirichletPosterior(classes, ("failure", "success"), after)

    def _check_counts(self, values: FloatArray) -> None:
        wrong = values[~self._possible(values)]
        if len(wrong):
            raise InputError(
                f"binomial takes whole numbers from 0 to {self.trials}, not {float(wrong[0])!r}"
            )

    def _possible(self, x: FloatArray) -> AnyArray:
        return (x >= 0) & (x <= self.trials) & (x == np.floor(x))

    def add_log_likelihood(
        self, column: Numbers, parameters: BinomialParameters, out: FloatArray
    ) -> None:
        """Add x log p + (t − x) log(1 − p); what is no number of successes is impossible."""
        for j in range(column.values.shape[1]):
            x = column.values[:, j].astype(np.float64)[:, None]
            terms = self._terms(x, parameters.log_off[j], parameters.log_on[j])
            out += np.where(np.isnan(x), 0.0, terms)

    def _terms(self, x: FloatArray, log_off: FloatArray, log_on: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            on = np.where(x == 0, 0.0, x * log_on)
            off = np.where(x == self.trials, 0.0, (self.trials - x) * log_off)
            return np.where(self._possible(x), on + off, -np.inf)

    def adder_without(
        self,
        column: Numbers,
        left_out: LeftOut,
        table: MomentsTable | NumbersTable,
        prior: DiscretePrior,
    ) -> Adder:
        """Take x successes and t − x failures from the row's own class.

        p_y = (Σx − x + α) / (t·(n_y − 1) + 2α)
        """
        counts, _ = self._counts(table, prior)
        rows_of = table.moments.rows

        def add(rows: slice, out: FloatArray) -> None:
            part, some = column.take(rows), left_out.take(rows)
            for j in range(part.values.shape[1]):
                x = part.values[:, j].astype(np.float64)
                there = ~np.isnan(x)
                x, y, amount = x[there], some.y[there], some.amount[there]
                left = np.tile(counts[:, j], (len(x), 1, 1))
                taken = amount[:, None] * np.stack([self.trials - x, x], axis=1)
                gone = rows_of[y, j] == 1
                here = np.arange(len(x)), y
                left[here] = np.where(gone[:, None], 0.0, np.maximum(left[here] - taken, 0.0))
                pseudo = one_column(prior, j).pseudo_counts([False, True], left.sum(axis=1))
                log_p = log_shares(left.transpose(2, 0, 1), pseudo.T[:, :, None])
                out[there] += self._terms(x[:, None], log_p[0], log_p[1])

        return add

    def log_base_measure(
        self, column: Numbers, parameters: BinomialParameters | None
    ) -> FloatArray:
        """Return log C(t, x)."""
        x = column.values.astype(np.float64)
        x = np.where(self._possible(x), x, 0.0)
        choose = log_gamma(np.array(self.trials + 1.0)) - log_gamma(x + 1.0)
        return np.asarray((choose - log_gamma(self.trials - x + 1.0)).sum(axis=1))

    def parts(
        self, block: Block, row: Numbers, parameters: BinomialParameters, n_classes: int
    ) -> Parts | None:
        """Return a line for each of several columns."""
        return column_parts(self, block, row, parameters, n_classes)

    def sample(
        self, parameters: BinomialParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw a number of successes with the probability of each row's class."""
        drawn = rng.binomial(self.trials, np.exp(parameters.log_on).T[y]).astype(np.float64)
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

    def estimates(
        self,
        block: Block,
        table: MomentsTable | NumbersTable,
        prior: DiscretePrior,
        parameters: BinomialParameters,
    ) -> Iterator[Estimates]:
        """Yield P(success | k) of each column."""
        from priory.families.estimates import there_or_not

        counts, _ = self._counts(table, prior)
        none, columns = (None,) * counts.shape[1], block.columns
        yield there_or_not("P(success | class)", none, parameters.log_on, counts, prior, columns)

    def linear(self, block: Block, parameters: BinomialParameters) -> Linear:
        """Return w = log p/(1 − p) and b = t log(1 − p)."""
        weights = parameters.log_on - parameters.log_off
        return Linear(block.columns, weights, self.trials * parameters.log_off.sum(axis=0))


@dataclass(frozen=True, eq=False)
class BinomialParameters:
    """Hold log(1 − p) and log p, columns × classes."""

    log_off: FloatArray
    log_on: FloatArray
