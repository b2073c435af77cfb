"""Binomial: how many of a fixed number of trials succeeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng, counted_values, log_gamma, times
from priory.families.bernoulli import BernoulliParameters
from priory.families.loo import LooRows, loo_columns
from priory.families.moments import NumericTable
from priory.families.priors import DiscretePrior, one_column
from priory.families.protocols import ClosedFormLoo, DirichletFamily, Linear, LinearFamily
from priory.families.readouts import log_presence
from priory.statistics.tables import NumbersTable

__all__ = ["Binomial"]


@dataclass(frozen=True)
class Binomial(ClosedFormLoo, DirichletFamily, LinearFamily):
    """Give P(x | k) = C(t, x) p_k^x (1 − p_k)^(t − x), x from 0 to t trials.

        p_k = (Σx + α) / (t·n_k + 2α)

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> from priory.data.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [4.0]])), np.zeros(2, dtype=np.int32)
    >>> from priory.statistics.tables import MomentsTable
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
            raise SettingError(f"trials must be an integer of at least 1, not {self.trials!r}.")

    def parameters(self, table: NumericTable, prior: DiscretePrior) -> BernoulliParameters:
        """Estimate log p and log(1 − p) of each column and class."""
        return BernoulliParameters(*log_presence(*self.counted(table, prior)[1:]))

    def counted(
        self, table: NumericTable, prior: DiscretePrior
    ) -> tuple[tuple[str, str], FloatArray, FloatArray]:
        """Count failures and successes, classes × columns × 2."""
        if isinstance(table, NumbersTable):
            wrong = table.cells.values[~self._possible(table.cells.values)]
            if len(wrong):
                number = float(wrong[0])
                raise InputError(f"binomial takes integers from 0 to {self.trials}, not {number!r}")
        moments = table.moments
        successes = moments.s1.value
        counts = np.stack([self.trials * moments.weight - successes, successes], axis=2)
        pseudo = prior.pseudo_counts([False, True], counts.sum(axis=0))
        return ("failure", "success"), counts, pseudo

    def log_evidence(self, table: NumericTable, prior: DiscretePrior) -> float:
        """Give that of successes and failures under the Beta, with log C(t, x) of each row."""
        column, weight = counted_values(table)
        choose = self.log_base_measure(column, None)
        return super().log_evidence(table, prior) + times(weight, choose)

    def _possible(self, x: FloatArray) -> AnyArray:
        return (x >= 0) & (x <= self.trials) & (x == np.floor(x))

    def log_likelihood(self, column: Numbers, parameters: BernoulliParameters) -> FloatArray:
        """Give Σ_j x log p + (t − x) log(1 − p); what is no number of successes is impossible."""
        out = np.zeros((len(column), parameters.log_on.shape[1]))
        for j in range(column.values.shape[1]):
            x = column.values[:, j].astype(np.float64)[:, None]
            terms = self._terms(x, parameters.log_off[j], parameters.log_on[j])
            out += np.where(np.isnan(x), 0.0, terms)
        return out

    def _terms(self, x: FloatArray, log_off: FloatArray, log_on: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            on = np.where(x == 0, 0.0, x * log_on)
            off = np.where(x == self.trials, 0.0, (self.trials - x) * log_off)
            return np.where(self._possible(x), on + off, -np.inf)

    def loo_adder(self, column: Numbers, loo: LooRows, table: NumericTable, prior: Any) -> Adder:
        """Take x successes and t − x failures from the row's own class.

        p_y = (Σx − x + α) / (t·(n_y − 1) + 2α)
        """
        _, counts, _ = self.counted(table, prior)
        seen = table.moments.rows

        def score(j: int, x: FloatArray, some: LooRows) -> FloatArray:
            left = np.tile(counts[:, j], (len(x), 1, 1))
            taken = some.amount[:, None] * np.stack([self.trials - x, x], axis=1)
            gone, here = seen[some.y, j] == 1, (np.arange(len(x)), some.y)
            left[here] = np.where(gone[:, None], 0.0, np.maximum(left[here] - taken, 0.0))
            pseudo = one_column(prior, j).pseudo_counts([False, True], left.sum(axis=1))
            return self._terms(x[:, None], *log_presence(left.transpose(1, 0, 2), pseudo))

        return loo_columns(column, loo, score)

    def log_base_measure(
        self, column: Numbers, parameters: BernoulliParameters | None
    ) -> FloatArray:
        """Give log C(t, x)."""
        x = column.values.astype(np.float64)
        x = np.where(self._possible(x), x, 0.0)
        choose = log_gamma(np.array(self.trials + 1.0)) - log_gamma(x + 1.0)
        return np.asarray((choose - log_gamma(self.trials - x + 1.0)).sum(axis=1))

    def sample(self, parameters: BernoulliParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a number of successes with the probability of each row's class."""
        drawn = rng.binomial(self.trials, np.exp(parameters.log_on).T[y]).astype(np.float64)
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(success | k) of each column."""
        from priory.families.estimates import there_or_not

        _, counts, _ = self.counted(table, prior)
        none, columns = (None,) * counts.shape[1], block.columns
        yield there_or_not("P(success | class)", none, parameters.log_on, counts, prior, columns)

    def linear(self, block: Block, parameters: BernoulliParameters) -> Linear:
        """Take w = log p/(1 − p) and b = t log(1 − p)."""
        weights = parameters.log_on - parameters.log_off
        return Linear(block.columns, weights, self.trials * parameters.log_off.sum(axis=0))
