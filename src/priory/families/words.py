"""Words: the multinomial, Bernoulli and complement read-outs of the words of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from priory.base.errors import NoLikelihoodError, SettingError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.data.columns import SparseRows, Texts
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Linear
from priory.families.counted import (
    log_evidence,
    log_orders,
    orders_left_out,
    posterior,
    presence_parts,
    share_parts,
    word_counts,
)
from priory.families.counts_without import CountedPairs, Scores, presence_without, shares_without
from priory.families.left_out import LeftOut
from priory.families.parts import Parts, listed
from priory.families.priors import DiscretePrior
from priory.families.readouts import bernoulli, complement, multinomial
from priory.families.sums import CHUNK, PairSums
from priory.families.weights import Weights
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.word_scores import score_words
from priory.statistics.tables import WordsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import DirichletPosterior

__all__ = ["READOUTS", "Words", "WordsParameters"]

NO_CLASS = np.zeros(1, dtype=np.int32)

READOUTS = ("multinomial", "bernoulli", "complement")


@dataclass(frozen=True)
class Words(Family):
    """Model the words of a text, each given the class alone; words never learned are dropped.

    | readout | a text's score |
    |---|---|
    | multinomial | Σ_w x_w log P(w ∣ k), P(w ∣ k) = (n_wk + α) / (n_k + α∣V∣) |
    | bernoulli | Σ_w log p_wk or log(1 − p_wk), p_wk = (texts with w + α) / (texts + 2α) |
    | complement | −Σ_w x_w log P(w ∣ not k), from the words of all other classes |

    `term` says what x_w and n_wk count: "count" takes every occurrence; "log" takes
    log(1 + tf) / ‖log(1 + tf)‖₂, so that long texts and repeated words weigh less. With `idf` each
    is multiplied by 1 + log((1 + texts) / (1 + texts with w)). Words in fewer than `min_documents`
    texts are left out. With `norm` each class's complement weights are divided by their sum.

    All of them are read out of the same sums.

    >>> Words("complement", term="log")
    Words(readout='complement', term='log', idf=False, min_documents=1, norm=False)
    """

    name: ClassVar[str] = "words"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.WORDS,)

    readout: Literal["multinomial", "bernoulli", "complement"] = "multinomial"
    term: Literal["count", "log"] = "count"
    idf: bool = False
    min_documents: int = 1
    norm: bool = False

    def __post_init__(self) -> None:
        if self.readout not in READOUTS:
            raise SettingError(
                f"readout must be one of {', '.join(map(repr, READOUTS))}, not {self.readout!r}."
            )
        if self.term not in ("count", "log"):
            raise SettingError(f"term must be 'count' or 'log', not {self.term!r}.")
        least = self.min_documents
        if isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 1:
            raise SettingError(
                f"min_documents must be a whole number of at least 1, not {least!r}."
            )
        if self.readout == "bernoulli" and (self.idf or self.term != "count"):
            raise SettingError(
                "The bernoulli read-out asks only whether a word is there: idf and term='log' have "
                "no meaning for it."
            )
        if self.norm and self.readout != "complement":
            raise SettingError("norm is for the complement read-out alone.")

    @property
    def title(self) -> str:
        """Return the name with its read-out."""
        return f"{self.readout} words"

    def parameters(self, table: WordsTable, prior: DiscretePrior) -> WordsParameters:
        """Weigh each word and class."""
        kept = self._kept(table)
        counts = sums = _sums(table, kept, table.pairs.count)
        if self.readout == "bernoulli":
            texts, sums = table.documents_weight, _sums(table, kept, table.weight)
            both = np.stack([np.maximum(texts.sum() - sums.total, 0.0), sums.total], axis=1)
            weights = bernoulli(sums, prior.pseudo_counts([False, True], both), texts)
        else:
            idf = self._idf(table)
            if self.term == "log":
                sums = _sums(table, kept, table.pairs.log_tf)
            if idf is not None:
                sums = replace(sums, n=sums.n * idf[sums.word])
            pseudo = sums.pseudo_counts(prior)
            if self.readout == "complement":
                weights = complement(sums, pseudo, idf, self.norm)
            else:
                weights = multinomial(sums, pseudo, idf)
        length = counts.size / np.maximum(table.present, np.finfo(float).tiny)
        return WordsParameters(table.vocabulary, weights, length)

    def _sums(self, table: WordsTable, n: FloatArray) -> PairSums:
        return _sums(table, self._kept(table), n)

    def _kept(self, table: WordsTable) -> BoolArray:
        """Tell which words are read out: frequent enough, and within the limit."""
        kept = np.ones(table.n_words, dtype=np.bool_)
        if table.limit is not None and table.n_words > table.limit:
            kept = table.most_frequent(table.limit)
        if self.min_documents > 1:
            kept &= table.per_word(table.pairs.rows) >= self.min_documents
        return kept

    def _idf(self, table: WordsTable) -> FloatArray | None:
        if not self.idf:
            return None
        texts = table.documents_weight.sum()
        return 1.0 + np.log((1.0 + texts) / (1.0 + table.per_word(table.weight)))

    def add_log_likelihood(
        self, column: Texts, parameters: WordsParameters, out: FloatArray
    ) -> None:
        """Add the weights of each text's words, in one pass over its bytes."""
        self.adder(column, parameters)(slice(0, len(column)), out)

    def adder(self, column: Texts, parameters: WordsParameters) -> Adder:
        """Split, look up and add the words of a stretch of texts."""
        tf = "binary" if self.readout == "bernoulli" else self.term

        def add(rows: slice, out: FloatArray) -> None:
            some = column.take(rows)
            texts = (*some.buffers, parameters.vocabulary)

            def score(weights: Weights, out: FloatArray) -> None:
                score_words(*texts, weights.scores, out, tf, column.splitter)

            parameters.weights.add(score, some.missing, out)

        return add

    def adder_without(
        self, column: Texts, left_out: LeftOut, table: WordsTable, prior: DiscretePrior
    ) -> Adder:
        """Take the text's words from the sums of its class; those in too few texts then leave.

        Which words a limit of the vocabulary keeps stays as it is. There is no closed form for
        `norm`, for the marginal m-estimate with idf or the bernoulli read-out, and for that without
        a prior: those are read anew for each text.
        """
        scores = self.scores_without(left_out, table, prior)
        if scores is None:
            return super().adder_without(column, left_out, table, prior)

        def add(rows: slice, out: FloatArray) -> None:
            some = column.take(rows)
            found = scores(word_counts(some, table.vocabulary), left_out.take(rows))
            out += np.where(some.missing[:, None], 0.0, found)

        return add

    def scores_without(
        self, left_out: LeftOut, table: WordsTable, prior: DiscretePrior
    ) -> Scores | None:
        pairs, kept = table.pairs, self._kept(table)
        n = pairs.log_tf if self.term == "log" else pairs.count
        counted = CountedPairs(
            pairs.word,
            pairs.label,
            pairs.rows,
            table.weight,
            n,
            np.where(kept, table.per_word(pairs.rows), 0.0).astype(np.int64),
            table.documents_weight,
            self.min_documents,
            self.term,
            not table.is_approximate,
        )
        if self.readout == "bernoulli":
            return presence_without(counted, prior, left_out)
        sums = _sums(table, kept, n)
        return shares_without(counted, sums, self.readout, prior, self.idf, self.norm)

    def table_without(self, table: WordsTable, row: Texts, left_out: LeftOut) -> WordsTable:
        """Return the table without a text; what a limit of the vocabulary kept stays as it was."""
        rest: WordsTable = super().table_without(table, row, left_out)
        if table.limit is None or table.n_words <= table.limit:
            return rest
        return rest.only_words(
            table.vocabulary.take(np.flatnonzero(table.most_frequent(table.limit)))
        )

    def log_base_measure(self, column: Texts, parameters: WordsParameters) -> FloatArray:
        """Take the log of the multinomial coefficient of the words that are known."""
        if self.readout == "bernoulli":
            return np.zeros(len(column))
        self._check_likelihood()
        return log_orders(parameters.counts(column))

    @property
    def is_likelihood(self) -> bool:
        """Return whether the score is a probability of the words."""
        return self.readout != "complement" and self.term == "count" and not self.idf

    def _check_likelihood(self) -> None:
        if self.readout == "complement":
            raise NoLikelihoodError(
                "The complement read-out scores a text by the other classes' words: it gives no "
                "probability of a text. Use readout='multinomial' or 'bernoulli'."
            )
        if self.term != "count" or self.idf:
            raise NoLikelihoodError(
                "With term='log' or idf a text's words are weighted: their score is no probability "
                "of a text. Use term='count' and idf=False."
            )

    def sample(
        self, parameters: WordsParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw texts of words in any order; a multinomial's length is Poisson about its mean."""
        self._check_likelihood()
        words, weights = parameters.words, parameters.table
        texts = np.empty(len(y), dtype=object)
        for k in np.unique(y):
            of_class = np.flatnonzero(y == k)
            if self.readout == "bernoulli":
                p = 1.0 / (1.0 + np.exp(-weights[:, k]))
                drawn = [words[rng.random(len(p)) < p] for _ in of_class]
            else:
                lengths = rng.poisson(parameters.length[k], size=len(of_class))
                drawn = [rng.choice(words, size=n, p=np.exp(weights[:, k])) for n in lengths]
            texts[of_class] = [" ".join(some) for some in drawn]
        return texts

    def n_free(self, table: WordsTable, prior: DiscretePrior) -> int:
        """Return V − 1 shares for each class, or for the bernoulli read-out V of them."""
        self._check_likelihood()
        n_words = int(self._kept(table).sum())
        return table.n_classes * (n_words if self.readout == "bernoulli" else max(n_words - 1, 0))

    def log_likelihood_of(self, table: WordsTable, parameters: WordsParameters) -> float:
        """Sum that of all texts, of the multinomial read-out with their words in order."""
        self._check_likelihood()
        seen = table.weight if self.readout == "bernoulli" else table.pairs.count
        return parameters.weights.log_likelihood_of(self._sums(table, seen), table.present)

    def log_evidence(self, table: WordsTable, prior: DiscretePrior) -> float:
        """Take the evidence of the words, in their order, for the multinomial of counts."""
        if (self.readout, self.term, self.idf) != ("multinomial", "count", False):
            return super().log_evidence(table, prior)
        return log_evidence(self._sums(table, table.pairs.count), prior)

    def posterior(
        self,
        table: WordsTable,
        prior: DiscretePrior,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> DirichletPosterior:
        """Give the Dirichlet over the words of each class, for the multinomial of counts."""
        if (self.readout, self.term, self.idf) != ("multinomial", "count", False):
            super().posterior(table, prior, block, column, classes)
        sums = self._sums(table, table.pairs.count)
        words = np.array(table.vocabulary.words(), dtype=object)
        return posterior(sums, prior, classes, tuple(words[sums.kept]))

    def linear(self, block: Block, parameters: WordsParameters) -> Linear:
        """Return the weight of each word; a feature is how often (or whether) it is there."""
        features = [f"{block.name}: {word}" for word in parameters.words]
        bias = parameters.weights.bias
        none = np.zeros(parameters.weights.n_classes)
        return Linear(features, parameters.table, none if bias is None else bias)

    def parts(self, block: Block, row: Texts, parameters: WordsParameters, n_classes: int) -> Parts:
        """Write a line for each known word of one text; the others are named."""
        some, weights = parameters.counts(row), parameters.weights
        words = parameters.vocabulary.take(some.indices).words()
        notes = self._skipped(row, words)
        if self.readout == "bernoulli":
            return presence_parts(weights, some.indices, words, notes, "words")
        x = some.data
        if self.term == "log":
            x = np.log1p(x)
            x = x / max(float(np.sqrt((x**2).sum())), np.finfo(float).tiny)
        if self.readout == "multinomial" and self.is_likelihood:
            notes += orders_left_out(log_orders(some)[0])
        meaning = "not class" if self.readout == "complement" else "class"
        if self.idf or self.norm:  # then a word's weight is no logarithm of a probability
            meaning = "weight"
        return share_parts(words, x, weights.of(some.indices), meaning, notes, "words")

    def _skipped(self, row: Texts, known: list[str]) -> list[str]:
        """Return the remark that names the words of a text that are not read out."""
        counted = WordsTable.count(Block("", ("",), Kind.EMPTY), row, NO_CLASS, None, 1)
        unknown = sorted(set(counted.vocabulary.words()) - set(known))
        return [f"not in the vocabulary, skipped: {listed(unknown)}"] if unknown else []

    def estimates(
        self, block: Block, table: WordsTable, prior: DiscretePrior, parameters: WordsParameters
    ) -> Iterator[Estimates]:
        """Yield P(word | k), P(word is there | k), P(word | not k), or weights that are no P."""
        from priory.families.estimates import (
            Estimates,
            complement_shares,
            shares,
            there_or_not,
        )

        kept = np.flatnonzero(parameters.weights.kept)
        words, weights = parameters.words.tolist(), parameters.table
        if self.readout == "bernoulli":
            on = self._sums(table, table.weight).grid[:, kept]
            off = np.maximum(table.documents_weight[:, None] - on, 0.0)
            counts = np.stack([off, on], axis=2)
            log_on, _ = parameters.weights.log_presence(kept)
            yield there_or_not("P(word is there | class)", words, log_on, counts, prior)
            return
        amounts = table.pairs.count if self.term == "count" else table.pairs.log_tf
        counts = self._sums(table, amounts).grid[:, kept].T
        domain: Sequence[Label] = words if prior.values() else range(len(words))
        if self.idf or self.norm:
            total = np.broadcast_to(counts.sum(axis=0), counts.shape)
            yield Estimates("weight of a word", words, weights, counts, total)
        elif self.readout == "complement":
            yield complement_shares("P(word | not class)", words, counts, prior, domain)
        else:
            yield shares("P(word | class)", words, weights, counts, prior, domain)

    def features(
        self, block: Block, table: WordsTable, parameters: WordsParameters
    ) -> Iterator[tuple[Sequence[str], FloatArray, FloatArray]]:
        """Yield the words, some at a time: a table of all weights might be too large."""
        words = table.vocabulary.words()
        pairs = table.pairs
        height = max(1, CHUNK // table.n_classes)
        for first in range(0, table.n_words, height):
            some = np.arange(first, min(first + height, table.n_words))
            some = some[parameters.weights.kept[some]]
            if not len(some):
                continue
            counts = np.zeros((min(height, table.n_words - first), table.n_classes))
            low, high = np.searchsorted(pairs.word, [first, first + len(counts)])
            place = pairs.word[low:high] - first, pairs.label[low:high]
            seen = table.weight if self.readout == "bernoulli" else pairs.count
            counts[place] = seen[low:high]
            yield [words[w] for w in some], parameters.weights.of(some), counts[some - first]


@dataclass(frozen=True, eq=False)
class WordsParameters:
    """Hold the words, their weights, and the mean number of words in a text of each class."""

    vocabulary: Vocabulary
    weights: Weights
    length: FloatArray

    @cached_property
    def words(self) -> AnyArray:
        """Return the words that have weights."""
        kept = self.weights.kept
        words = self.vocabulary.words()[: len(kept)]
        return np.array(words, dtype=object)[kept]

    @property
    def table(self) -> FloatArray:
        """Return their weights, words × classes."""
        return self.weights.of(np.flatnonzero(self.weights.kept))

    def counts(self, column: Texts) -> SparseRows:
        """Count the words of each text that have weights."""
        return word_counts(column, self.vocabulary, self.weights.kept)


def _sums(table: WordsTable, kept: BoolArray, n: FloatArray) -> PairSums:
    """Take the sums of the words that are kept."""
    word, label = table.pairs.word, table.pairs.label
    if not kept.all():
        some = kept[word]
        word, label, n = word[some], label[some], n[some]
    return PairSums(word, label, n, kept, table.n_classes, table.vocabulary.words)
