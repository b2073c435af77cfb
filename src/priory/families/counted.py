"""What families of counts share, be the counts those of columns or of the words of texts.

A row is sparse here: the words (or columns) that it has, and how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from priory.base.errors import NoLikelihoodError
from priory.base.formatting import number
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Counts, SparseRows
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng, draw_counts, log_gamma
from priory.families.described import FactorPart, FactorParts, Support, listed
from priory.families.evidence import log_dirichlet_evidence
from priory.families.loo import LooRows, brute_force_loo, loo_table
from priory.families.loo_counts import CountedPairs, Scores, loo_shares
from priory.families.loo_evidence import loo_evidence
from priory.families.priors import DiscretePrior
from priory.families.protocols import (
    ClosedFormLoo,
    Conjugate,
    InPlace,
    Linear,
    LinearFamily,
    Parametric,
)
from priory.families.readouts import complement, evidence, multinomial
from priory.families.sums import Sums
from priory.families.weights import Weights
from priory.kernels.score import add_counts_csr, add_counts_dense

if TYPE_CHECKING:
    from priory.families.posteriors import DirichletPosterior

__all__ = ["Counted", "CountedParameters", "add_counts", "presence_parts", "sparse_rows"]


@dataclass(frozen=True, eq=False)
class CountedParameters:
    """Hold a weight for each word and class, and the mean length of a row of each class."""

    weights: Weights
    length: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.weights.n_classes

    @property
    def table(self) -> FloatArray:
        """The weights of the words that are kept, words × classes."""
        return self.weights.table


class Counted(InPlace, ClosedFormLoo, Parametric, Conjugate, LinearFamily):
    """Score a row by what it has of each word, Σ_w x_w · weight; here the words are columns."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.COUNTS,)
    noun: ClassVar[str] = "columns"

    readout: Any
    """Which weights: multinomial or complement; of words also bernoulli and evidence."""
    term: Any = "count"
    idf: bool = False
    norm: bool = False

    def parameters(self, table: Any, prior: DiscretePrior) -> CountedParameters:
        """Weigh each word and class."""
        sums = self.sums(table)
        length = sums.size / np.maximum(table.documents_weight, np.finfo(float).tiny)
        return CountedParameters(self.weigh(sums, prior), length)

    def weigh(self, sums: Sums, prior: DiscretePrior, idf: FloatArray | None = None) -> Weights:
        """Take log P(w | k), −log P(w | not k) or log(1 + n_wk / (α π_k)) from n_wk."""
        pseudo = sums.pseudo_counts(prior)
        if self.readout == "evidence":
            return evidence(sums, pseudo, idf)
        if self.readout == "complement":
            return complement(sums, pseudo, idf, self.norm)
        return multinomial(sums, pseudo, idf)

    def sums(self, table: Any) -> Sums:
        """Take n_wk, as the readout counts words."""
        return Sums(table.s1)

    def pairs(self, table: Any) -> CountedPairs:
        """Take what leaving a row out needs to know of the words and classes seen together."""
        return CountedPairs.of_columns(table)

    def rows(self, column: Any, known: Any) -> SparseRows:
        """Take the words that each row has, of those that the parameters (or a table) know."""
        return sparse_rows(column)

    def names(self, block: Block, known: Any, words: AnyArray | None = None) -> Sequence[str]:
        """Name all words that the parameters (or a table) know, or some of them."""
        return block.columns if words is None else [block.columns[w] for w in words.tolist()]

    def unknown(self, row: Any, names: Sequence[str]) -> list[str]:
        """List what a row has beside the words of these names."""
        return []

    def adder(self, column: Any, parameters: Any) -> Adder:
        """Add Σ_w x_w · weight, with 0 · (−∞) = 0."""
        weights = parameters.weights.rows
        return lambda rows, out: add_counts(column.take(rows), weights, out)

    def loo_adder(self, column: Any, loo: LooRows, table: Any, prior: Any) -> Adder:
        """Take what the row has of each word from the sums of its class.

        Where that changes the weights of all words, they are estimated anew for each row.
        """
        scores = self.loo_scores(loo, table, prior)
        if scores is None:
            return brute_force_loo(self.of_rest, column, loo, table, prior, self.loo_table)

        def add(rows: slice, out: FloatArray) -> None:
            some = column.take(rows)
            found = scores(self.rows(some, table), loo.take(rows))
            found[some.missing] = 0.0
            out += found

        return add

    @property
    def of_rest(self) -> Self:
        """The family that reads what `loo_table` leaves."""
        return self

    def loo_table(self, table: Any, row: Any, loo: LooRows) -> Any:
        """Take one row out of the table."""
        return loo_table(table, row, loo)

    def loo_scores(self, loo: LooRows, table: Any, prior: Any) -> Scores | None:
        """Give the scores of rows that are left out in closed form, where there is one."""
        if self.readout == "evidence":
            return None if self.idf else loo_evidence(self.pairs(table), self.sums(table), prior)
        given = (self.pairs(table), self.sums(table), self.readout, prior)
        return loo_shares(*given, self.idf, self.norm)

    @property
    def is_likelihood(self) -> bool:
        """Whether the score is a probability of the row."""
        is_share = self.readout not in ("complement", "evidence")
        return is_share and self.term == "count" and not self.idf

    @property
    def weighs_by_shares(self) -> bool:
        """Whether a word's weight is the logarithm of a probability, or of its inverse."""
        return not (self.idf or self.norm or self.readout == "evidence")

    def check_likelihood(self) -> None:
        """Refuse what needs a probability of the row."""
        if self.readout == "complement":
            raise NoLikelihoodError(
                "complement scores a class by the counts of the other classes: that is no "
                "probability of a row, so there is no evidence and nothing to sample. Use "
                "'multinomial' for those."
            )
        if self.readout == "evidence":
            raise NoLikelihoodError(
                "evidence scores a class by how much likelier its words are than unseen ones: that "
                "is no probability of a text, so there is nothing to sample. Use 'multinomial' "
                "for that."
            )
        if not self.is_likelihood:
            raise NoLikelihoodError(
                "With term='log' or idf a text's words are weighted: their score is no probability "
                "of a text. Use term='count' and idf=False."
            )

    def log_base_measure(self, column: Any, parameters: Any) -> FloatArray:
        """Take the log of the multinomial coefficient of the words that are known."""
        self.check_likelihood()
        if self.readout == "bernoulli":
            return np.zeros(len(column))
        return _log_orders(self.rows(column, parameters))

    def sample(self, parameters: Any, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw counts; the length, which the model does not speak of, is Poisson about its mean."""
        self.check_likelihood()
        p = np.exp(parameters.table).T
        return rng.multinomial(draw_counts(rng, parameters.length[y]), p[y]).astype(np.float64)

    def n_free(self, table: Any, prior: DiscretePrior) -> int:
        """Count V − 1 shares for each class, or for the bernoulli readout V of them."""
        sums = self.sums(table)
        n_words = int(sums.kept.sum())
        return len(sums.size) * (n_words if self.readout == "bernoulli" else max(n_words - 1, 0))

    def log_likelihood_of(self, table: Any, parameters: Any) -> float:
        """Sum that of all rows, of the multinomial with their words in order."""
        rows: FloatArray = table.documents_weight
        return parameters.weights.log_likelihood_of(self.sums(table), rows)

    @property
    def is_conjugate(self) -> bool:
        """Whether it is the multinomial of counts."""
        return self.readout == "multinomial" and self.is_likelihood

    def log_evidence(self, table: Any, prior: DiscretePrior) -> float:
        """Take that of the words in their order, under a Dirichlet of each class."""
        sums = self.sums(table)
        pseudo, evidence = sums.pseudo_counts(prior), 0.0
        for k in np.flatnonzero(sums.size).tolist():
            words, n = sums.of_class(k)  # those it never had add nothing but to A
            evidence += log_dirichlet_evidence(n, pseudo[words], float(pseudo.sum()))
        return evidence

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> DirichletPosterior:
        """Give the Dirichlet over the words of each class, for the multinomial of counts."""
        from priory.families.posteriors import DirichletPosterior

        sums = self.sums(table)
        after = (sums.grid + sums.pseudo_counts(prior))[:, sums.kept]
        return DirichletPosterior(classes, self.names(block, table), after)

    def linear(self, block: Block, parameters: Any) -> Linear:
        """Take the weight of each word; a feature is how often (or whether) it is there."""
        weights = parameters.weights
        bias = np.zeros(weights.n_classes) if weights.bias is None else weights.bias
        return Linear(self.names(block, parameters), parameters.table, bias)

    def feature_counts(self, table: Any, parameters: Any) -> FloatArray:
        """Take the sums of each word and class."""
        sums = self.sums(table)
        return sums.grid[:, sums.kept].T

    def parts(self, block: Block, row: Any, parameters: Any) -> FactorParts:
        """Write a line for each word that one row has."""
        some, weights = self.rows(row, parameters), parameters.weights
        names = self.names(block, parameters, some.indices)
        unknown = self.unknown(row, names)
        notes = [f"not in the vocabulary, skipped: {listed(unknown)}"] if unknown else []
        if self.readout == "bernoulli":
            parts = presence_parts(weights, some.indices, names, notes, self.noun)
            return parts._replace(unknown=unknown)
        x = np.log1p(some.data) if self.term == "log" else some.data
        if self.term == "log":
            x = x / max(float(np.sqrt((x**2).sum())), np.finfo(float).tiny)
        if self.is_likelihood:
            notes += orders_left_out(_log_orders(some)[0])
        title, sign = "P({} | class)", 1.0
        if self.readout == "complement":
            title, sign = "P({} | not class)", -1.0
        if not self.weighs_by_shares:
            title, sign = "e^weight of {}", 1.0
        each = [
            FactorPart(title.format(name), times * weight, sign * times, name)
            for name, times, weight in zip(names, x, weights.of(some.indices), strict=True)
        ]
        return FactorParts(each, notes=notes, noun=self.noun, unknown=unknown)

    def support(self, column: Any, table: Any, parameters: Any) -> Support | None:
        """Count nothing for a row as a whole: each of its words has counts."""
        return None

    def part_support(self, row: Any, table: Any, parameters: Any) -> Support:
        """Count how often each word of a row came with each class, among all its words."""
        sums, words = self.sums(table), self.rows(row, parameters).indices
        counts = sums.of_words(words)
        return Support(counts, np.broadcast_to(sums.size, counts.shape))

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(word | k), P(word is there | k), P(word | not k), or weights that are no P."""
        from priory.families.estimates import Estimates, complement_shares, shares, there_or_not

        sums, words, unit = self.sums(table), self.names(block, parameters), self.noun[:-1]
        counts, of_words = sums.grid[:, sums.kept].T, self.noun == "words"
        values = words if of_words else (None,) * len(words)
        columns = None if of_words else words
        domain = words if of_words and prior.values() else range(len(words))
        if self.readout == "bernoulli":
            on = counts.T
            both = np.stack([np.maximum(table.documents_weight[:, None] - on, 0.0), on], axis=2)
            log_on, _ = parameters.weights.log_presence(np.flatnonzero(sums.kept))
            yield there_or_not(f"P({unit} is there | class)", values, log_on, both, prior, columns)
        elif not self.weighs_by_shares:
            total = np.broadcast_to(counts.sum(axis=0), counts.shape)
            table_of = (parameters.table, counts, total, columns)
            yield Estimates(f"weight of a {unit}", values, *table_of)
        elif self.readout == "complement":
            title = f"P({unit} | not class)"
            yield replace(complement_shares(title, values, counts, prior, domain), columns=columns)
        else:
            title = f"P({unit} | class)"
            yield shares(title, values, parameters.table, counts, prior, domain, columns)


def sparse_rows(column: Counts) -> SparseRows:
    """Keep what is not 0 of dense or sparse rows; above a threshold, that is 1."""
    matrix = column.matrix
    if isinstance(matrix, SparseRows):
        some = slice(int(matrix.indptr[0]), int(matrix.indptr[-1]))
        places, x, indptr = matrix.indices[some], matrix.data[some], matrix.indptr - some.start
        if not x.all():
            ends = np.concatenate([[0], np.cumsum(x != 0)])
            places, x, indptr = places[x != 0], x[x != 0], ends[indptr]
    else:
        there = matrix if column.threshold is None else matrix > column.threshold
        rows, places = np.nonzero(there)
        x = np.asarray(there[rows, places])
        indptr = np.searchsorted(rows, np.arange(len(matrix) + 1))
    return SparseRows(x.astype(np.float64), places, indptr, matrix.shape[1])


def add_counts(column: Counts, weights: FloatArray, out: FloatArray) -> None:
    """Add Σ_j x_j weights[j, k] to `out`, with 0 · (−∞) = 0."""
    matrix = column.matrix
    if isinstance(matrix, SparseRows):
        add_counts_csr(matrix.data, matrix.indices, matrix.indptr, weights, out)
    else:
        add_counts_dense(matrix, weights, out)


def presence_parts(
    weights: Weights,
    words: AnyArray,
    names: Sequence[str],
    notes: Sequence[str] = (),
    noun: str = "columns",
) -> FactorParts:
    """Write p of each word that is there, and Π (1 − p) of the others together."""
    log_on, log_off = weights.log_presence(words)
    absent = np.zeros(weights.n_classes) if weights.bias is None else weights.bias
    if weights.certain is None:
        absent = absent - log_off.sum(axis=0)
    else:  # of a word that cannot be absent the bias has what its weight takes back
        always = np.isneginf(log_off)
        absent = absent - np.where(always, -weights.of(words), log_off).sum(axis=0)
        absent[always.sum(axis=0) < weights.certain.words_of_class] = -np.inf
    each = [
        FactorPart(f"P({name} is there | class)", p, name=name)
        for name, p in zip(names, log_on, strict=True)
    ]
    n = int(weights.kept.sum()) - len(words)
    title = f"1 {noun[:-1]} that is not there" if n == 1 else f"{n} {noun} that are not there"
    return FactorParts(each, [FactorPart(title, absent)] if n else [], notes, noun)


def orders_left_out(log_coefficient: float) -> list[str]:
    """Remark that what was counted could have come in other orders.

    >>> orders_left_out(np.log(12.0)), orders_left_out(0.0)
    (['left out: n! / Π x! = 12 orders, the same for every class'], [])
    """
    orders = number(float(log_coefficient))
    note = f"left out: n! / Π x! = {orders} orders, the same for every class"
    return [note] if log_coefficient >= 1e-9 else []


def _log_orders(rows: SparseRows) -> FloatArray:
    """Take the log of the multinomial coefficient n! / Π x! of each row."""
    return log_gamma(rows.row_sums(np.asarray) + 1.0) - rows.row_sums(lambda x: log_gamma(x + 1.0))
