"""Words: the multinomial, Bernoulli and complement models of the words of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray
from priory.data.columns import SparseRows, Texts
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Rng, draw_counts
from priory.families.counted import Counted, CountedParameters
from priory.families.described import Support
from priory.families.document_frequency import check_document_frequencies, most_texts
from priory.families.loo import LooRows
from priory.families.loo_counts import CountedPairs, Scores, loo_presence
from priory.families.priors import DiscretePrior
from priory.families.protocols import Linear
from priory.families.readouts import bernoulli
from priory.families.sums import CHUNK, PairSums
from priory.families.weights import Weights
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.word_scores import score_words
from priory.kernels.words import count_matrix
from priory.statistics.tables import WordsTable

__all__ = ["READOUTS", "Words", "WordsParameters"]

NO_CLASS = np.zeros(1, dtype=np.int32)

LONGEST = 1e7
"""The number of words that are drawn for a text, at most, on average."""

READOUTS = ("multinomial", "bernoulli", "complement", "evidence")


@dataclass(frozen=True)
class Words(Counted):
    """Model the words of a text, each given the class alone; words never learned are dropped.

    | readout | a text's score |
    |---|---|
    | multinomial | Σ_w x_w log P(w ∣ k), P(w ∣ k) = (n_wk + α) / (n_k + α∣V∣) |
    | bernoulli | Σ_w log p_wk or log(1 − p_wk), p_wk = (texts with w + α) / (texts + 2α) |
    | complement | −Σ_w x_w log P(w ∣ not k), from the words of all other classes |
    | evidence | Σ_w x_w log(1 + n_wk / (α π_k)), π_k the share of class k in all n |

    `term` says what x_w and n_wk count: "count" takes every occurrence; "log" takes
    log(1 + tf) / ‖log(1 + tf)‖₂, so that long texts and repeated words weigh less. With `idf` each
    is multiplied by 1 + log((1 + texts) / (1 + texts with w)). Words in fewer than `min_df` texts
    or more than `max_df` are left out; a `max_df` that is no integer is a share of all texts. With
    `norm` each class's complement weights are divided by their sum.

    All of them are derived from the same sums. The evidence of a word is by how much it is
    likelier in a class than a word never seen there: 0 for most classes, so that few numbers say
    it all.

    >>> Words("complement", term="log")
    Words(readout='complement', term='log', idf=False, min_df=1, norm=False, max_df=1.0)
    """

    name: ClassVar[str] = "words"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.WORDS,)
    noun: ClassVar[str] = "words"

    readout: Literal["multinomial", "bernoulli", "complement", "evidence"] = "multinomial"
    term: Literal["count", "log"] = "count"
    idf: bool = False
    min_df: int = 1
    norm: bool = False
    max_df: float = 1.0

    def __post_init__(self) -> None:
        if self.readout not in READOUTS:
            raise SettingError(
                f"readout must be one of {', '.join(map(repr, READOUTS))}, not {self.readout!r}."
            )
        if self.term not in ("count", "log"):
            raise SettingError(f"term must be 'count' or 'log', not {self.term!r}.")
        check_document_frequencies(self.min_df, self.max_df)
        if not isinstance(self.idf, bool | np.bool_):
            raise SettingError(f"idf must be True or False, not {self.idf!r}.")
        if self.readout == "bernoulli" and (self.idf or self.term != "count"):
            raise SettingError(
                "The bernoulli readout asks only whether a word is there: idf and term='log' have "
                "no meaning for it."
            )
        if self.norm and self.readout != "complement":
            raise SettingError("norm is for the complement readout alone.")

    @property
    def title(self) -> str:
        """How the family is shown: with its readout."""
        return f"{self.readout} words"

    def parameters(self, table: WordsTable, prior: DiscretePrior) -> WordsParameters:
        """Weigh each word and class."""
        kept, n, idf = self._kept(table), self._counted(table), self._idf(table)
        sums = _sums(table, kept, n)
        counts = sums if n is table.pairs.count else _sums(table, kept, table.pairs.count)
        length = counts.size / np.maximum(table.present, np.finfo(float).tiny)
        if self.readout == "bernoulli":
            texts = table.documents_weight
            both = np.stack([np.maximum(texts.sum() - sums.total, 0.0), sums.total], axis=1)
            weights = bernoulli(sums, prior.pseudo_counts([False, True], both), texts)
        else:
            if idf is not None:
                sums = replace(sums, n=sums.n * idf[sums.word])
            weights = self.weigh(sums, prior, idf)
        return WordsParameters(weights, length, table.vocabulary)

    def sums(self, table: WordsTable) -> PairSums:
        """Take n_wk: texts that have the word, or how often they do."""
        return _sums(table, self._kept(table), self._counted(table))

    def pairs(self, table: WordsTable) -> CountedPairs:
        """Take what leaving a text out needs to know of the words and classes seen together."""
        pairs = table.pairs
        having = np.where(self._kept(table), table.per_word(pairs.rows), 0.0)
        given = (pairs.word, pairs.label, pairs.rows, table.weight, self._counted(table))
        rest = (having.astype(np.int64), table.documents_weight, self.min_df, self.term)
        return CountedPairs(*given, *rest, is_exact=not table.is_approximate)

    def rows(self, column: Texts, known: WordsTable | WordsParameters) -> SparseRows:
        """Count the words of each text that the parameters (or a table) know."""
        indptr, codes, tf = count_matrix(*column.buffers, known.vocabulary, column.splitter)
        if isinstance(known, WordsParameters):
            some = known.weights.kept[codes]
            if not some.all():
                ends = np.concatenate([[0], np.cumsum(some)])
                indptr, codes, tf = ends[indptr], codes[some], tf[some]
        return SparseRows(tf.astype(np.float64), codes, indptr, len(known.vocabulary))

    def names(
        self, block: Block, known: WordsTable | WordsParameters, words: AnyArray | None = None
    ) -> Sequence[str]:
        """Name all words that the parameters (or a table) know, or some of them."""
        if words is not None:
            return known.vocabulary.take(words).words()
        if isinstance(known, WordsParameters):
            return known.words.tolist()
        return _taken(known, self._kept(known)).words()

    def unknown(self, row: Texts, names: Sequence[str]) -> list[str]:
        """List the words of a text that are not kept, then n-grams, as they come."""
        counted = WordsTable.count(Block("", ("",), Kind.EMPTY), row, NO_CLASS, None, 1)
        known = set(names)
        unknown = [word for word in counted.vocabulary.words() if word not in known]
        return sorted(unknown, key=lambda word: word.count(" "))

    def part_support(self, row: Texts, table: WordsTable, parameters: WordsParameters) -> Support:
        """Count how often each word came; in how many texts, where its counts are weighted."""
        if self.term == "count" and self.readout != "bernoulli":
            return super().part_support(row, table, parameters)
        texts = _sums(table, self._kept(table), table.weight)
        counts = texts.of_words(self.rows(row, parameters).indices)
        return Support(counts, np.broadcast_to(table.documents_weight, counts.shape))

    def _counted(self, table: WordsTable) -> FloatArray:
        """Take what the readout counts of each pair."""
        if self.readout == "bernoulli":
            return table.weight
        return table.pairs.count if self.term == "count" else table.pairs.log_tf

    def _kept(self, table: WordsTable) -> BoolArray:
        """Tell which words are kept: frequent enough, and within the limit."""
        kept = self._limited(table)
        if self.min_df > 1:
            kept &= table.per_word(table.pairs.rows) >= self.min_df
        return kept

    def _limited(self, table: WordsTable) -> BoolArray:
        """Tell which words are in few enough texts, and the most frequent of them, if limited."""
        kept = np.ones(table.n_words, dtype=np.bool_)
        if self._has_most:
            most = most_texts(self.max_df, int(table.documents.sum()))
            kept = table.per_word(table.pairs.rows) <= most
        if table.limit is not None and table.n_words > table.limit:
            return table.most_frequent(table.limit, kept)
        return kept

    @property
    def _has_most(self) -> bool:
        """Whether a word can be in too many texts."""
        return isinstance(self.max_df, int | np.integer) or self.max_df < 1

    def _idf(self, table: WordsTable) -> FloatArray | None:
        if not self.idf:
            return None
        texts = table.documents_weight.sum()
        return 1.0 + np.log((1.0 + texts) / (1.0 + table.per_word(table.weight)))

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

    @property
    def of_rest(self) -> Self:
        """The family without `max_df`, of which `loo_table` has left the words already."""
        return replace(self, max_df=1.0)

    def loo_scores(self, loo: LooRows, table: WordsTable, prior: DiscretePrior) -> Scores | None:
        """Take the text's words from the sums of its class; those in too few texts then leave.

        Which words a limit of the vocabulary or `max_df` keeps stays as it is.
        """
        if self.readout == "bernoulli":
            return loo_presence(self.pairs(table), prior, loo)
        return super().loo_scores(loo, table, prior)

    def loo_table(self, table: WordsTable, row: Texts, loo: LooRows) -> WordsTable:
        """Take a text out; what a limit of the vocabulary or `max_df` kept stays as it was."""
        rest: WordsTable = super().loo_table(table, row, loo)
        if not self._has_most and (table.limit is None or table.n_words <= table.limit):
            return rest
        return rest.only_words(_taken(table, self._limited(table)))

    def sample(self, parameters: WordsParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw texts of words in any order; a multinomial's length is Poisson about its mean."""
        self.check_likelihood()
        words, weights = parameters.words, parameters.table
        texts = np.empty(len(y), dtype=object)
        for k in np.unique(y):
            of_class = np.flatnonzero(y == k)
            if self.readout == "bernoulli":
                p = 1.0 / (1.0 + np.exp(-weights[:, k]))
                drawn = [words[rng.random(len(p)) < p] for _ in of_class]
            else:
                lengths = draw_counts(rng, np.repeat(parameters.length[k], len(of_class)), LONGEST)
                drawn = [rng.choice(words, size=n, p=np.exp(weights[:, k])) for n in lengths]
            texts[of_class] = [" ".join(some) for some in drawn]
        return texts

    def linear(self, block: Block, parameters: WordsParameters) -> Linear:
        """Take the weight of each word, which is named after its column."""
        form = super().linear(block, parameters)
        return replace(form, features=[f"{block.name}: {word}" for word in form.features])

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
class WordsParameters(CountedParameters):
    """Hold the words beside their weights; the length of a text is in words."""

    vocabulary: Vocabulary

    @cached_property
    def words(self) -> AnyArray:
        """The words that have weights."""
        kept = self.weights.kept
        words = self.vocabulary.words()[: len(kept)]
        return np.array(words, dtype=object)[kept]


def _sums(table: WordsTable, kept: BoolArray, n: FloatArray) -> PairSums:
    """Take the sums of the words that are kept."""
    word, label = table.pairs.word, table.pairs.label
    if not kept.all():
        some = kept[word]
        word, label, n = word[some], label[some], n[some]
    return PairSums(n, word, label, kept, table.n_classes, table.vocabulary.words)


def _taken(table: WordsTable, kept: BoolArray) -> Vocabulary:
    return table.vocabulary.take(np.flatnonzero(kept).astype(np.int32))
