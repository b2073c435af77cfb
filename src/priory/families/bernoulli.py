"""Bernoulli: present or absent, for one boolean column or for many columns at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from priory.base.errors import InputError
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Column, Counts, Labels, SparseRows
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Lookup, Rng, looked_up, times
from priory.families.counted import add_counts, presence_parts, sparse_rows
from priory.families.described import FactorParts, Support
from priory.families.loo import LooRows, log_share, tabulate
from priory.families.priors import DiscretePrior, Laplace, one_column
from priory.families.protocols import ClosedFormLoo, DirichletFamily, InPlace, Linear, LinearFamily
from priory.families.readouts import log_presence, presence_weights
from priory.families.weights import Weights
from priory.kernels.score import add_present_dense
from priory.statistics.tables import CountsTable, LabelsTable, NumbersTable

__all__ = ["Bernoulli", "BernoulliParameters"]

BooleanTable: TypeAlias = LabelsTable | NumbersTable | CountsTable
"""One boolean column, or counts of which it is asked whether there are any."""


@dataclass(frozen=True)
class Bernoulli(InPlace, ClosedFormLoo, DirichletFamily, LinearFamily):
    """Give P(x = 1 | k) = (n_1k + α) / (n_k + 2α); an absent column speaks too.

        log P(x | k) = Σ_j x_j log p_jk + (1 − x_j) log(1 − p_jk)

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = LabelsTable((False, True), np.array([[1, 2]]), np.array([[1.0, 2.0]]))
    >>> np.exp(Bernoulli().parameters(table, Laplace(1.0)).log_on).round(3).tolist()
    [[0.6]]
    """

    name: ClassVar[str] = "bernoulli"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.LABELS, Kind.NUMBERS, Kind.COUNTS)

    def parameters(self, table: BooleanTable, prior: DiscretePrior) -> BernoulliParameters:
        """Estimate log p and log(1 − p) of each column and class."""
        return BernoulliParameters(*log_presence(*self.counted(table, prior)[1:]))

    def counted(
        self, table: BooleanTable, prior: DiscretePrior
    ) -> tuple[tuple[bool, bool], FloatArray, FloatArray]:
        """Count absences and presences, classes × columns × 2."""
        if isinstance(table, CountsTable):
            on, n = table.weight, table.documents_weight[:, None]
            counts = np.stack([np.maximum(n - on, 0.0), on], axis=2)
        else:
            table = table.as_labels()
            _check_booleans(table.labels)
            counts = np.zeros((len(table.weight), 1, 2))
            for v, label in enumerate(table.labels):
                counts[:, 0, int(label)] += table.weight[:, v]
        pseudo = prior.pseudo_counts([False, True], counts.sum(axis=0))
        return (False, True), counts, pseudo

    def log_likelihood_of(self, table: BooleanTable, parameters: BernoulliParameters) -> float:
        """Sum n_1 log p + n_0 log(1 − p)."""
        _, counts, _ = self.counted(table, Laplace(0.0))
        log_p = np.stack([parameters.log_off, parameters.log_on])
        return times(counts.transpose(2, 1, 0), log_p)

    def adder(self, column: Column, parameters: BernoulliParameters) -> Adder:
        """Turn the booleans of a column of labels into places once; counts need no more."""
        if isinstance(column, Counts):
            present = _present(column)
            return lambda rows, out: _add_present(present.take(rows), parameters, out)
        coded = column.as_labels()
        table = np.ascontiguousarray([parameters.log_off[0], parameters.log_on[0]])
        return Lookup(coded.codes, _booleans(coded), table)

    def loo_adder(self, column: Column, loo: LooRows, table: BooleanTable, prior: Any) -> Adder:
        """Take one from the presences or the absences of the row's own class.

        p = (n_1k − [k=y] + a_1) / (n_k − [k=y] + Σa) where present, and alike where absent
        """
        _, counts, _ = self.counted(table, prior)
        if isinstance(column, Counts):
            return self._loo_counts(_present(column), loo, counts, prior)
        coded = column.as_labels()

        def scores(v: IntArray, y: IntArray, amount: FloatArray) -> FloatArray:
            left = np.tile(counts[:, 0], (len(v), 1, 1))
            here = np.arange(len(v)), y, v
            learned = left[here] > 0
            left[here] = np.maximum(left[here] - amount, 0.0)
            pseudo = one_column(prior, 0).pseudo_counts([False, True], left.sum(axis=1))
            shares = np.stack(log_presence(left.transpose(1, 0, 2), pseudo))
            result = shares[v, np.arange(len(v))]
            result[~learned] = np.nan
            return result

        values = _booleans(coded)[:-1]
        return Lookup(*tabulate(coded.codes, values, 2, len(counts), loo, scores))

    def _loo_counts(
        self, column: Counts, loo: LooRows, counts: FloatArray, prior: DiscretePrior
    ) -> Adder:
        """Score the rows twice: as any class but their own, and as their own."""
        amounts, which = loo.ways
        tables = [_loo_parameters(counts, prior, amount) for amount in amounts.tolist()]

        def score(rows: Any, others: BernoulliParameters, own: BernoulliParameters) -> FloatArray:
            part, y = column.take(rows), loo.y[rows]
            result, mine = np.zeros((2, len(y), len(counts)))
            _add_present(part, others, result)
            _add_present(part, own, mine)
            here = np.arange(len(y)), y
            result[here] = mine[here]
            return result

        def add(rows: slice, out: FloatArray) -> None:
            if len(tables) == 1:
                out += score(rows, *tables[0])
                return
            ways = np.asarray(which)[rows]
            for way in np.unique(ways):
                some = np.flatnonzero(ways == way)
                out[some] += score(rows.start + some, *tables[way])

        return add

    def parts(
        self, block: Block, row: Column, parameters: BernoulliParameters
    ) -> FactorParts | None:
        """Write p of each column that is there, and Π (1 − p) of the others together."""
        if not isinstance(row, Counts):
            return None
        there = self._there(row)
        return presence_parts(parameters.weights, there, [block.columns[j] for j in there])

    def support(
        self, column: Column, table: BooleanTable, parameters: BernoulliParameters
    ) -> Support | None:
        """Count how often each row's boolean was seen with each class."""
        lookup = self.adder(column, parameters)
        if not isinstance(lookup, Lookup):
            return None  # of many columns each part has its own
        return looked_up(lookup, self.counted(table, Laplace(0.0))[1][:, 0].T)

    def part_support(
        self, row: Column, table: BooleanTable, parameters: BernoulliParameters
    ) -> Support | None:
        """Count the rows of each class that have each column that is there."""
        if not isinstance(table, CountsTable):
            return None
        there = self._there(row)
        counts = table.weight.T[there]
        return Support(counts, np.broadcast_to(table.documents_weight, counts.shape))

    def _there(self, row: Any) -> IntArray:
        """Find the columns that one row has."""
        present = replace(_present(row), threshold=row.threshold or 0.0)
        return np.sort(sparse_rows(present).indices)

    def sample(self, parameters: BernoulliParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw each column by its probability."""
        p = np.exp(parameters.log_on).T[y]
        drawn = rng.random(p.shape) < p
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn.astype(np.float64)

    def linear(self, block: Block, parameters: BernoulliParameters) -> Linear:
        """Take w = log p/(1 − p) for each column and b = Σ log(1 − p)."""
        weights = parameters.log_on - parameters.log_off
        return Linear(block.columns, weights, parameters.log_off.sum(axis=0))

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(v | k) of a boolean column, P(there | k) of each of many columns."""
        from priory.families.estimates import shares, there_or_not

        _, counts, _ = self.counted(table, prior)
        if isinstance(table, CountsTable):
            values, columns = (True,) * counts.shape[1], block.columns
            log_on = parameters.log_on
            yield there_or_not("P(there | class)", values, log_on, counts, prior, columns)
            return
        values_of = (False, True)
        log_p = np.concatenate([parameters.log_off, parameters.log_on])
        counted = (counts[:, 0].T, one_column(prior, 0), values_of)
        yield shares("P(value | class)", values_of, log_p, *counted)

    def feature_counts(self, table: BooleanTable, parameters: BernoulliParameters) -> FloatArray:
        """Count how often each column was present with each class."""
        if isinstance(table, CountsTable):
            return table.weight.T
        return self.counted(table, Laplace(0.0))[1][:, :, 1].T


@dataclass(frozen=True, eq=False)
class BernoulliParameters:
    """Hold log(1 − p) and log p, columns × classes."""

    log_off: FloatArray
    log_on: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.log_on.shape[1]

    @cached_property
    def weights(self) -> Weights:
        """What columns that are there add, beside all of them absent."""
        return presence_weights(self.log_off, self.log_on)


def _present(column: Counts) -> Counts:
    """Turn sparse counts into ones; dense ones meet the threshold as they are read."""
    if not isinstance(column.matrix, SparseRows):
        return column
    ones = (column.matrix.data > 0).astype(np.float64)
    return Counts(replace(column.matrix, data=ones))


def _add_present(column: Counts, parameters: BernoulliParameters, out: FloatArray) -> None:
    """Add the weights of the columns that are present in each row."""
    matrix, threshold = column.matrix, column.threshold or 0.0

    def score(weights: Weights, out: FloatArray) -> None:
        if isinstance(matrix, SparseRows):
            add_counts(column, weights.rows, out)
        else:
            add_present_dense(matrix, threshold, weights.rows, out)

    parameters.weights.add(score, column.missing, out)


def _loo_parameters(
    counts: FloatArray, prior: DiscretePrior, amount: float
) -> tuple[BernoulliParameters, BernoulliParameters]:
    """Estimate what a row of that weight meets, as any class but its own and as its own.

    Its own absence or presence is taken off wherever it may be: where the row is absent only the
    absences are looked at, and where it is present only the presences.
    """
    n = counts.sum(axis=2)
    pooled, everything = counts.sum(axis=0), n.sum(axis=0)
    found = []
    for own in (0.0, amount):
        log_p = []
        for v in (0, 1):
            left = pooled - amount * (np.arange(2) == v)
            pseudo = prior.pseudo_counts([False, True], np.maximum(left, 0.0))
            count, total = np.maximum(counts[:, :, v] - own, 0.0), np.maximum(n - own, 0.0)
            shared = (pseudo[:, v], pseudo.sum(axis=1), np.maximum(left[:, v], 0.0))
            log_p.append(log_share(count, total, *shared, everything - amount).T)
        found.append(BernoulliParameters(log_p[0], log_p[1]))
    return found[0], found[1]


def _booleans(column: Labels) -> CodeArray:
    """Give 0 or 1 for each label that is a boolean, −1 for others, which no row may have; −1."""
    _check_booleans(tuple(column.labels[c] for c in np.unique(column.codes[column.codes >= 0])))
    places = [int(v) if not isinstance(v, str) and v in (0, 1) else -1 for v in column.labels]
    return np.array([*places, -1], dtype=np.int32)


def _check_booleans(labels: tuple[object, ...]) -> None:
    wrong = [label for label in labels if isinstance(label, str) or label not in (0, 1)]
    if wrong:
        raise InputError(
            f"bernoulli takes booleans (True, False, 1, 0), not {wrong[0]!r}; use 'categorical'"
        )
