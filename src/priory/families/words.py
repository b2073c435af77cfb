"""Words: the multinomial, Bernoulli and complement read-outs of the words of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from priory.base.errors import NoLikelihoodError, SettingError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.data.columns import Texts
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Linear, log_gamma, times
from priory.families.evidence import log_dirichlet_evidence
from priory.families.left_out import LeftOut
from priory.families.multinomial import orders_left_out
from priory.families.parts import Part, Parts, listed
from priory.families.priors import DiscretePrior
from priory.families.words_without import closed_form
from priory.families.wordweights import Sums, WordWeights, bernoulli, complement, multinomial
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.word_scores import score_words
from priory.kernels.words import count_matrix
from priory.statistics.tables import WordsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import DirichletPosterior

__all__ = ["READOUTS", "Words", "WordsParameters"]

CHUNK = 4_000_000
"""So many weights at most are written out at once."""

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
        """Return the weight of each word and class."""
        kept = self._kept(table)
        counts = _sums(table, kept, table.pairs.count)
        if self.readout == "bernoulli":
            weights = self._bernoulli(table, kept, prior)
        else:
            sums = counts if self.term == "count" else _sums(table, kept, table.pairs.log_tf)
            weights = self._counted(table, sums, prior)
        length = counts.size / np.maximum(table.present, np.finfo(float).tiny)
        return WordsParameters(table.vocabulary, weights, length)

    def _kept(self, table: WordsTable) -> BoolArray:
        """Return which words are read out: frequent enough, and within the limit."""
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

    def _counted(self, table: WordsTable, sums: Sums, prior: DiscretePrior) -> WordWeights:
        """Return log P(w | k), or −log P(w | not k), for the words that are kept."""
        idf = self._idf(table)
        if idf is not None:
            sums = replace(sums, n=sums.n * idf[sums.word])
        pseudo = _pseudo_counts(table, sums.kept, prior, sums.total)
        if self.readout == "complement":
            return complement(sums, pseudo, idf, self.norm)
        return multinomial(sums, pseudo, idf)

    def _bernoulli(self, table: WordsTable, kept: BoolArray, prior: DiscretePrior) -> WordWeights:
        """Return the weights of words that are there, and the bias of all that are not."""
        texts = table.documents_weight
        sums = _sums(table, kept, table.weight)
        both = np.stack([np.maximum(texts.sum() - sums.total, 0.0), sums.total], axis=1)
        return bernoulli(sums, prior.pseudo_counts([False, True], both), texts)

    def add_log_likelihood(
        self, column: Texts, parameters: WordsParameters, out: FloatArray
    ) -> None:
        """Add the weights of each text's words, in one pass over its bytes."""
        self.adder(column, parameters)(slice(0, len(column)), out)

    def adder(self, column: Texts, parameters: WordsParameters) -> Adder:
        """Return a function that splits, looks up and adds the words of a stretch of texts."""
        weights, vocabulary = parameters.weights, parameters.vocabulary
        tf = "binary" if self.readout == "bernoulli" else self.term

        def add(rows: slice, out: FloatArray) -> None:
            some = column.take(rows)
            texts = (*some.buffers, vocabulary)
            score_words(*texts, weights.scores, out, tf, column.splitter)
            if weights.bias is not None:
                out += np.where(some.missing[:, None], 0.0, weights.bias)
            if weights.certain is not None:  # a text without a word that all of a class have
                there = np.zeros_like(out)
                score_words(*texts, weights.certain.scores, there, "binary", column.splitter)
                lacks = there < weights.certain.words_of_class
                out[lacks & ~some.missing[:, None]] = -np.inf

        return add

    def adder_without(
        self, column: Texts, left_out: LeftOut, table: WordsTable, prior: DiscretePrior
    ) -> Adder:
        """Take the text's words from the sums of its class; those in too few texts then leave.

        Which words a limit of the vocabulary keeps stays as it is. There is no closed form for
        `norm`, pseudo-counts of 0, priors that name words, and the marginal m-estimate with idf or
        the bernoulli read-out: those are read anew for each text.
        """
        found = closed_form(self, column, left_out, table, prior, self._kept(table))
        return found or super().adder_without(column, left_out, table, prior)

    def table_without(self, table: WordsTable, row: Texts, left_out: LeftOut) -> WordsTable:
        """Return the table without a text; what a limit of the vocabulary kept stays as it was."""
        rest: WordsTable = super().table_without(table, row, left_out)
        if table.limit is None or table.n_words <= table.limit:
            return rest
        return rest.only_words(
            table.vocabulary.take(np.flatnonzero(table.most_frequent(table.limit)))
        )

    def log_base_measure(self, column: Texts, parameters: WordsParameters) -> FloatArray:
        """Return the log of the multinomial coefficient of the words that are known."""
        if self.readout == "bernoulli":
            return np.zeros(len(column))
        self._check_likelihood()
        indptr, codes, tf = parameters.matrix(column)
        rows = np.repeat(np.arange(len(column)), np.diff(indptr))
        tf = np.where(parameters.weights.kept[codes], tf, 0)
        length = np.bincount(rows, weights=tf, minlength=len(column))
        factorials = np.bincount(rows, weights=log_gamma(tf + 1.0), minlength=len(column))
        return np.asarray(log_gamma(length + 1.0) - factorials)

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
        """Return that of all texts, of the multinomial read-out with their words in order."""
        self._check_likelihood()
        weights, pairs = parameters.weights, table.pairs
        some = weights.kept[pairs.word]
        seen = table.weight if self.readout == "bernoulli" else pairs.count
        word, label, seen = pairs.word[some], pairs.label[some], seen[some]
        total = 0.0 if weights.bias is None else times(table.present, weights.bias)
        height = max(1, CHUNK // table.n_classes)
        for first in range(0, len(word), height):
            part = slice(first, first + height)
            scores = weights.of(word[part])
            total += times(seen[part], scores[np.arange(len(scores)), label[part]])
        return total

    def log_evidence(self, table: WordsTable, prior: DiscretePrior) -> float:
        """Return that of the words, in their order, for the multinomial of counts."""
        if (self.readout, self.term, self.idf) != ("multinomial", "count", False):
            return super().log_evidence(table, prior)
        sums = _sums(table, self._kept(table), table.pairs.count)
        pseudo = _pseudo_counts(table, sums.kept, prior, sums.total)
        # Words of a class are few among all: those it never had add nothing but to A.
        return sum(
            log_dirichlet_evidence(
                sums.n[sums.label == k], pseudo[sums.word[sums.label == k]], float(pseudo.sum())
            )
            for k in np.flatnonzero(sums.size)
        )

    def posterior(
        self,
        table: WordsTable,
        prior: DiscretePrior,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> DirichletPosterior:
        """Return the Dirichlet over the words of each class, for the multinomial of counts."""
        from priory.families.posteriors import DirichletPosterior

        if (self.readout, self.term, self.idf) != ("multinomial", "count", False):
            super().posterior(table, prior, block, column, classes)
        kept = self._kept(table)
        counts = np.zeros((table.n_classes, table.n_words))
        counts[table.pairs.label, table.pairs.word] = table.pairs.count
        counts += _pseudo_counts(table, kept, prior, counts.sum(axis=0))
        words = np.array(table.vocabulary.words(), dtype=object)
        return DirichletPosterior(classes, tuple(words[kept]), counts[:, kept])

    def linear(self, block: Block, parameters: WordsParameters) -> Linear:
        """Return the weight of each word; a feature is how often (or whether) it is there."""
        features = [f"{block.name}: {word}" for word in parameters.words]
        bias = parameters.weights.bias
        none = np.zeros(parameters.weights.n_classes)
        return Linear(features, parameters.table, none if bias is None else bias)

    def parts(self, block: Block, row: Texts, parameters: WordsParameters, n_classes: int) -> Parts:
        """Return a line for each known word of one text; the others are named."""
        _, codes, tf = parameters.matrix(row)
        weights = parameters.weights
        some = weights.kept[codes]
        codes, tf = codes[some], tf[some].astype(np.float64)
        words = parameters.vocabulary.take(codes).words()
        notes = self._skipped(row, words)
        if self.readout == "bernoulli":
            return self._there_or_not(words, codes, parameters, notes)
        x = np.log1p(tf) if self.term == "log" else tf
        if self.term == "log":
            x = x / max(float(np.sqrt((x**2).sum())), np.finfo(float).tiny)
        adds = x[:, None] * weights.of(codes)
        if self.readout == "multinomial" and self.is_likelihood:
            notes += orders_left_out(self.log_base_measure(row, parameters)[0])
        title, sign = "P({} | class)", 1.0
        if self.readout == "complement":
            title, sign = "P({} | not class)", -1.0
        if self.idf or self.norm:  # then a word's weight is no logarithm of a probability
            title, sign = "e^weight of {}", 1.0
        each = [
            Part(title.format(word), add, sign * times)
            for word, add, times in zip(words, adds, x.tolist(), strict=True)
        ]
        return Parts(each, notes=notes, noun="words")

    def log_presence(
        self, parameters: WordsParameters, codes: AnyArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return log p and log(1 − p) of some words or all, from the log-odds that are weights."""
        weights = parameters.weights
        codes = np.flatnonzero(weights.kept) if codes is None else codes
        log_odds = weights.of(codes)
        log_on, log_off = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
        if weights.certain is None:
            return log_on, log_off
        always = weights.certain.of(codes) > 0
        return np.where(always, 0.0, log_on), np.where(always, -np.inf, log_off)

    def _there_or_not(
        self, words: list[str], codes: AnyArray, parameters: WordsParameters, notes: list[str]
    ) -> Parts:
        """Return p of each word that is there, and Π (1 − p) of the others together."""
        weights = parameters.weights
        log_on, log_off = self.log_presence(parameters, codes)
        absent = np.zeros(weights.n_classes) if weights.bias is None else weights.bias
        if weights.certain is None:
            absent = absent - log_off.sum(axis=0)
        else:  # of a word that cannot be absent the bias has what its weight takes back
            always = np.isneginf(log_off)
            taken = np.where(always, -weights.of(codes), log_off)
            absent = absent - taken.sum(axis=0)
            absent[always.sum(axis=0) < weights.certain.words_of_class] = -np.inf
        each = [
            Part(f"P({word} is there | class)", p) for word, p in zip(words, log_on, strict=True)
        ]
        n = int(weights.kept.sum()) - len(codes)
        rest = Part(f"{n} word{' that is' if n == 1 else 's that are'} not there", absent)
        return Parts(each, [rest] if n else [], notes, "words")

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
            on = _sums(table, self._kept(table), table.weight).table()[kept]
            counts = np.stack([np.maximum(table.documents_weight - on, 0.0), on], axis=2)
            log_on, _ = self.log_presence(parameters)
            counts = counts.transpose(1, 0, 2)
            yield there_or_not("P(word is there | class)", words, log_on, counts, prior)
            return
        amounts = table.pairs.count if self.term == "count" else table.pairs.log_tf
        counts = _sums(table, self._kept(table), amounts).table()[kept]
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
    weights: WordWeights
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

    def matrix(self, column: Texts) -> tuple[AnyArray, CodeArray, AnyArray]:
        """Return the known words of each text: where each text starts, word codes, how often."""
        return count_matrix(*column.buffers, self.vocabulary, column.splitter)


def _sums(table: WordsTable, kept: BoolArray, n: FloatArray) -> Sums:
    """Return sums of the words that are kept."""
    word, label = table.pairs.word, table.pairs.label
    if not kept.all():
        some = kept[word]
        word, label, n = word[some], label[some], n[some]
    return Sums(word, label, n, kept, table.n_classes)


def _pseudo_counts(
    table: WordsTable, kept: BoolArray, prior: DiscretePrior, total: FloatArray
) -> FloatArray:
    """Return the pseudo-count of each word; words that are left out have none."""
    if kept.all() and not prior.values():
        pseudo = prior.pseudo_counts(range(table.n_words), total)
        return np.broadcast_to(np.asarray(pseudo, dtype=np.float64), total.shape)
    pseudo = np.zeros(table.n_words)
    values: list[Label | None] | range = range(int(kept.sum()))
    if prior.values():  # the prior speaks of words by name
        words = table.vocabulary.words()
        values = [words[w] for w in np.flatnonzero(kept)]
    pseudo[kept] = prior.pseudo_counts(values, total[kept])
    return pseudo
