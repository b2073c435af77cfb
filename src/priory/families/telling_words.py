"""Telling words: a text judged by its few most telling words, so that padding cannot drown them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from priory.base.errors import NoLikelihoodError, SettingError, check_number
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Texts
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng
from priory.families.described import FactorPart, FactorParts, Support, listed
from priory.families.document_frequency import check_document_frequencies, most_texts
from priory.families.priors import DiscretePrior
from priory.families.protocols import InPlace
from priory.kernels.telling import most_telling
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import count_matrix
from priory.statistics.tables import WordsTable

__all__ = ["GROUPS", "TellingParameters", "TellingWords", "chosen", "tagged_words"]

GROUPS = 4
"""Words of the text for the first class and for the second, then tagged words for each."""

COLON = ord(":")


@dataclass(frozen=True)
class TellingWords(InPlace):
    """Judge a text by its `most` telling words for each of two classes, of text and of tags apart.

        score_k = Σ_w f_w log P(w is there | k),  P = (texts of k with w + α) / (texts of k + 2α)

    The words w are, of the text, the `most` that speak most for the first class and the `most`
    that speak most for the second, by log P(w | second) − log P(w | first); and as many again of
    the words that have a tag, such as `subject:free` (see `priory.text.email_words`). So two
    hundred words appended to a text can replace at most `most` of its own, and none of its tagged
    ones. Each of the four groups has a factor f, `text_first` to `tagged_second`: what is easily
    forged may count for less. Words in fewer than `min_df` texts or more than `max_df` (an integer,
    or a share of them), and those that differ by less than `least`, are not telling. A word counts
    once, however often it comes.

    The score is no probability of a text, but its words add up to it, as any explanation shows.

    >>> TellingWords(most=20).min_df
    1
    """

    name: ClassVar[str] = "telling-words"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.WORDS,)

    most: int = 10
    least: float = 0.1
    min_df: int = 1
    text_first: float = 1.0
    text_second: float = 1.0
    tagged_first: float = 1.0
    tagged_second: float = 1.0
    max_df: float = 1.0

    def __post_init__(self) -> None:
        most = self.most
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
            raise SettingError(f"most must be an integer of at least 1, not {most!r}.")
        check_document_frequencies(self.min_df, self.max_df)
        check_number("least", self.least)
        for name in ("text_first", "text_second", "tagged_first", "tagged_second"):
            check_number(name, getattr(self, name))

    @property
    def factors(self) -> FloatArray:
        """The factor of each group."""
        return np.array([self.text_first, self.text_second, self.tagged_first, self.tagged_second])

    @property
    def is_likelihood(self) -> bool:
        """Not: a text that was padded has the score that it had."""
        return False

    @property
    def title(self) -> str:
        """How the family is shown."""
        return "telling words"

    def parameters(self, table: WordsTable, prior: DiscretePrior) -> TellingParameters:
        """Estimate P(w is there | k), and tell which words are telling."""
        if table.n_classes != 2:
            raise SettingError(
                f"telling words are of two classes, such as ham and spam, not of {table.n_classes}."
            )
        having = np.zeros((table.n_words, 2))
        having[table.pairs.word, table.pairs.label] = table.weight
        rows = table.per_word(table.pairs.rows)
        given = (table.vocabulary, having, table.documents_weight, prior)
        return self.of_counts(*given, rows=rows, n_texts=float(table.documents.sum()))

    def of_counts(
        self,
        vocabulary: Vocabulary,
        having: FloatArray,
        texts: FloatArray,
        prior: DiscretePrior,
        is_tagged: BoolArray | None = None,
        rows: FloatArray | None = None,
        n_texts: float | None = None,
    ) -> TellingParameters:
        """Estimate from how many of the texts of each class have each word, words × 2."""
        total = having[:, 0] + having[:, 1]
        both = np.stack([np.maximum(texts.sum() - total, 0.0), total], axis=1)
        pseudo = prior.pseudo_counts([False, True], both)
        absent, present = np.broadcast_to(pseudo, both.shape).T
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (having + present[:, None]) / (texts + (absent + present)[:, None])
            log_p = np.log(np.where(share > 0, share, np.nan))
        there = total if rows is None else rows
        n = float(texts.sum()) if n_texts is None else n_texts
        known = (there >= self.min_df) & (there <= most_texts(self.max_df, n))
        known &= np.isfinite(log_p[:, 0]) & np.isfinite(log_p[:, 1])
        log_p = np.where(known[:, None], log_p, 0.0)
        is_tagged = tagged_words(vocabulary) if is_tagged is None else is_tagged
        return TellingParameters(vocabulary, log_p, known, is_tagged, self.least)

    def adder(self, column: Texts, parameters: TellingParameters) -> Adder:
        """Add the factors of the most telling words of a stretch of texts."""
        vocabulary, p = parameters.vocabulary, parameters

        def add(rows: slice, out: FloatArray) -> None:
            some = column.take(rows)
            indptr, codes, _ = count_matrix(*some.buffers, vocabulary, some.splitter)
            found = chosen(indptr, codes, p.evidence, p.group, self.most)
            scores = self.factors[p.group[found.codes], None] * p.log_p[found.codes]
            for k in range(2):
                out[:, k] += np.bincount(found.rows, scores[:, k], len(out))

        return add

    def parts(self, block: Block, row: Texts, parameters: TellingParameters) -> FactorParts:
        """Write a line for each word that was chosen."""
        p = parameters
        found, codes = self._of_row(row, parameters)
        names = p.vocabulary.take(found.codes.astype(np.int32)).words()
        factors = self.factors[p.group[found.codes]]
        each = [
            FactorPart(f"P({name} is there | class)", factor * p.log_p[w], factor, name)
            for name, factor, w in zip(names, factors.tolist(), found.codes.tolist(), strict=True)
        ]
        rest = np.setdiff1d(codes, found.codes)
        notes = []
        if len(rest):
            words = sorted(p.vocabulary.take(rest.astype(np.int32)).words())
            notes = [f"not among the most telling: {listed(words)}"]
        return FactorParts(each, notes=notes, noun="words")

    def part_support(self, row: Texts, table: WordsTable, parameters: TellingParameters) -> Support:
        """Count in how many texts of each class each chosen word was."""
        found, _ = self._of_row(row, parameters)
        having = np.zeros((table.n_words, 2))
        having[table.pairs.word, table.pairs.label] = table.weight
        counts = having[found.codes]
        return Support(counts, np.broadcast_to(table.documents_weight, counts.shape))

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(word is there | k) of the words that are known."""
        from priory.families.estimates import there_or_not

        known = np.flatnonzero(parameters.known)
        on = np.zeros((2, table.n_words))
        on[table.pairs.label, table.pairs.word] = table.weight
        on = on[:, known]
        both = np.stack([np.maximum(table.documents_weight[:, None] - on, 0.0), on], axis=2)
        words = parameters.vocabulary.take(known.astype(np.int32)).words()
        log_on = parameters.log_p[known]
        yield there_or_not("P(word is there | class)", words, log_on, both, prior, None)

    def _of_row(self, row: Texts, parameters: TellingParameters) -> tuple[Chosen, CodeArray]:
        """Choose among the words of one text, and list all that it has and are known."""
        p = parameters
        indptr, codes, _ = count_matrix(*row.buffers, p.vocabulary, row.splitter)
        return chosen(indptr, codes, p.evidence, p.group, self.most), codes

    def log_base_measure(self, column: Texts, parameters: TellingParameters) -> FloatArray:
        """Refuse: there is no probability of a text."""
        raise _no_likelihood()

    def sample(self, parameters: TellingParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Refuse: there is no probability of a text."""
        raise _no_likelihood()


def _no_likelihood() -> NoLikelihoodError:
    return NoLikelihoodError(
        "telling words choose among the words of a text that is there: their score is no "
        "probability of a text, so there is no evidence and nothing to sample. Use Words for those."
    )


@dataclass(frozen=True, eq=False)
class TellingParameters:
    """Hold log P(w is there | k) of each word, and to which group it belongs."""

    vocabulary: Vocabulary
    log_p: FloatArray
    known: BoolArray
    is_tagged: BoolArray
    least: float

    n_classes: ClassVar[int] = 2

    @cached_property
    def evidence(self) -> FloatArray:
        """How far each word speaks for the second class; 0 where it is not telling."""
        difference = self.log_p[:, 1] - self.log_p[:, 0]
        return np.where(self.known & (np.abs(difference) >= self.least), difference, 0.0)

    @cached_property
    def group(self) -> IntArray:
        """The group of each word."""
        return 2 * self.is_tagged.astype(np.int64) + (self.evidence > 0)


class Chosen(NamedTuple):
    """Hold the words that were chosen, in the order of rows, and the row of each."""

    rows: IntArray
    codes: IntArray


def chosen(
    indptr: AnyArray, codes: AnyArray, evidence: FloatArray, group: IntArray, most: int
) -> Chosen:
    """Choose the most telling words of each row and group.

    >>> evidence, group = np.array([3.0, -1.0, 2.0, 0.0]), np.array([1, 0, 1, 0])
    >>> chosen(np.array([0, 4]), np.arange(4), evidence, group, most=1).codes.tolist()
    [1, 0]
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    return Chosen(*most_telling(indptr, codes, evidence, group, most))


def tagged_words(vocabulary: Vocabulary) -> BoolArray:
    """Tell which words have a tag: they contain a colon.

    >>> tagged_words(Vocabulary(["free", "subject:free"])).tolist()
    [False, True]
    """
    data, offsets = vocabulary.buffers()
    is_tagged = np.zeros(len(vocabulary), dtype=np.bool_)
    colons = np.flatnonzero(np.asarray(data) == COLON)
    is_tagged[np.searchsorted(offsets, colons, side="right") - 1] = True
    return is_tagged
