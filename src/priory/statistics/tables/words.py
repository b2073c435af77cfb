"""Count the words of a column of texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError
from priory.base.labels import label_tokens, token_labels
from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Texts
from priory.data.schema import Block
from priory.kernels.pairs import Pairs, add_pairs, sort_pairs, subtract_pairs, sum_by, take_pairs
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import WordCounter
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.base import DOCUMENTS, Table, difference

__all__ = ["WordsTable"]

STRETCH = 32 << 20
"""With a limit, so many bytes are counted before rare words are dropped."""

PIECE = 16 << 20
"""So many bytes are counted at once: strings that are not ASCII have a copy so long, and texts of a
class follow each other."""

FEW_BYTES = 1 << 20
"""Fewer are counted sooner than a thread starts and what it counted is merged."""


@dataclass(frozen=True, eq=False)
class WordsTable(Table):
    """Count each word of a column of texts, per class; most words are in few classes.

    `pairs` has an entry for each word and class that occur together, in the order of both: the
    texts that have the word (`rows`, `weight`), how often they have it (`count`), and Σ of
    log(1 + tf) / ‖log(1 + tf)‖₂ (`log_tf`). `documents` are the texts of each class.

    The words are numbered as they came, so equal sums may have them in different orders. With a
    `limit`, words that are rare so far are dropped when there are twice as many; `dropped` is how
    many words of each class were lost that way, and the sums are then approximate.
    """

    per_class: ClassVar[tuple[str, ...]] = (*DOCUMENTS, "dropped")

    vocabulary: Vocabulary
    pairs: Pairs
    documents: IntArray
    documents_weight: FloatArray
    dropped: FloatArray
    limit: int | None = None

    @classmethod
    def count(
        cls, block: Block, column: Texts, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> WordsTable:
        """Count the words of every text; threads share the texts."""
        table = cls.none(n_classes, _limit(block))
        if table.limit is None:
            return table._of(column, y, weight)
        for rows in column.stretches(STRETCH):
            weights = None if weight is None else weight[rows]
            counted = table._of(column.take(rows), y[rows], weights)
            table = table + counted if rows.start else counted._within_limit()
        return table

    @classmethod
    def shares_threads(cls, column: Texts) -> bool:
        """Yes: the words that threads counted are numbered together in the end."""
        return True

    def _of(self, column: Texts, y: CodeArray, weight: FloatArray | None) -> WordsTable:
        """Count some texts, with the classes and the limit of this table."""
        threads = thread_count()
        many = column.n_bytes >= FEW_BYTES

        def count(share: slice) -> WordCounter:
            classes = self.n_classes
            counter = WordCounter.start(classes) if many else WordCounter(Vocabulary(), classes)
            texts, codes = column.take(share), y[share]
            weights = None if weight is None else weight[share]
            for rows in texts.stretches(PIECE):
                some, given = texts.take(rows), None if weights is None else weights[rows]
                counter.add(*some.buffers, codes[rows], given, column.splitter)
            return counter

        shares = column.stretches(max(column.n_bytes // threads + 1, FEW_BYTES))
        total, *others = in_parallel([partial(count, share) for share in shares], threads)
        for other in others:
            total.merge(other, threads)
            if many:
                other.rest()
        found, vocabulary = total.result(threads), total.vocabulary
        if many:
            total.rest()
        documents = found.class_rows, found.class_weight
        return WordsTable(vocabulary, found.pairs, *documents, np.zeros(self.n_classes), self.limit)

    @classmethod
    def none(cls, n_classes: int, limit: int | None = None) -> WordsTable:
        """Make the table of no texts."""
        nothing = np.zeros(n_classes)
        documents = np.zeros(n_classes, dtype=np.int64)
        return cls(Vocabulary(), _no_pairs(), documents, nothing, nothing, limit)

    @property
    def n_words(self) -> int:
        """The number of distinct words."""
        return len(self.vocabulary)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.documents)

    @property
    def present(self) -> FloatArray:
        """The weight of the rows of each class that have a text."""
        return self.documents_weight

    @property
    def is_approximate(self) -> bool:
        """Whether words were dropped to keep the vocabulary within its limit."""
        return bool(self.dropped.any())

    @property
    def weight(self) -> FloatArray:
        """The weight of the texts of each pair."""
        return self.pairs.weight.astype(np.float64, copy=False)

    def per_word(self, sums: AnyArray) -> FloatArray:
        """Sum one of the sums of the pairs over the classes."""
        return sum_by(self.pairs.word, sums.astype(np.float64, copy=False), self.n_words)

    def per_label(self, sums: AnyArray) -> FloatArray:
        """Sum one of the sums of the pairs over the words."""
        return sum_by(self.pairs.label, sums.astype(np.float64, copy=False), self.n_classes)

    def most_frequent(self, n: int, among: BoolArray | None = None) -> BoolArray:
        """Find the n most frequent words, among some; of equal ones, the first by bytes."""
        rank = np.empty(self.n_words, dtype=np.int64)
        rank[self.vocabulary.order()] = np.arange(self.n_words)
        kept = np.zeros(self.n_words, dtype=np.bool_)
        order = np.lexsort((rank, -self.per_word(self.pairs.count)))
        kept[(order if among is None else order[among[order]])[:n]] = True
        return kept

    def __add__(self, other: WordsTable) -> WordsTable:
        vocabulary = self.vocabulary.copy()
        there = _renumbered(other.pairs, vocabulary.extend(other.vocabulary), len(vocabulary))
        return WordsTable(
            vocabulary,
            add_pairs(self.pairs, there),
            self.documents + other.documents,
            self.documents_weight + other.documents_weight,
            self.dropped + other.dropped,
            self.limit,
        )._within_limit()

    def __sub__(self, other: WordsTable) -> WordsTable:
        if self.is_approximate or other.is_approximate:
            raise ForgetError(
                "the limit of the vocabulary dropped words that these rows may have had, so the "
                "sums are approximate and cannot be undone; learn without max_features to forget"
            )
        vocabulary = self.vocabulary.copy()
        where = vocabulary.extend(other.vocabulary)
        if len(vocabulary) > self.n_words:
            never = other.vocabulary.take(np.flatnonzero(where >= self.n_words)[:1]).words()
            raise ForgetError(f"the word {never[0]!r} was never learned")
        documents, documents_weight = difference(self, other, DOCUMENTS)
        try:
            pairs = subtract_pairs(self.pairs, _renumbered(other.pairs, where, self.n_words))
        except ValueError as error:
            word = self.vocabulary.take(np.array(error.args[:1], dtype=np.int32)).words()[0]
            raise ForgetError(f"the word {word!r} was learned less often than that") from None
        left = replace(self, pairs=pairs, documents=documents, documents_weight=documents_weight)
        used = np.zeros(self.n_words, dtype=np.bool_)
        used[pairs.word] = True
        return left if used.all() else left._only_words(used)

    def __mul__(self, factor: float) -> WordsTable:
        pairs = self.pairs._replace(
            weight=self.weight * factor,
            count=self.pairs.count * factor,
            log_tf=self.pairs.log_tf * factor,
        )
        return replace(super().__mul__(factor), pairs=pairs)

    def copy(self) -> WordsTable:
        """Share the sums: none is ever changed in place."""
        return self

    def with_classes(self, where: IntArray, n_classes: int) -> WordsTable:
        """Place the sums among `n_classes` classes, class i at where[i]."""
        place = np.asarray(where, dtype=np.int32)  # it keeps the order of the classes
        pairs = self.pairs._replace(label=place[self.pairs.label])
        return replace(super().with_classes(where, n_classes), pairs=pairs)

    def only_classes(self, kept: IntArray) -> WordsTable:
        """Keep some of the classes."""
        place = np.full(self.n_classes, -1, dtype=np.int32)
        place[kept] = np.arange(len(kept))
        pairs = take_pairs(self.pairs, place[self.pairs.label] >= 0)
        pairs = pairs._replace(label=place[pairs.label])
        return replace(super().only_classes(kept), pairs=pairs)

    def only_words(self, vocabulary: Vocabulary) -> WordsTable:
        """Keep the words of a vocabulary, without a limit."""
        where = vocabulary.copy().extend(self.vocabulary)
        return replace(self, limit=None)._only_words(where < len(vocabulary))

    def without_rare(self, min_count: int) -> WordsTable:
        """Leave out the words that fewer texts have, over all classes."""
        return self._only_words(self.per_word(self.pairs.rows) >= min_count)

    def in_order(self) -> WordsTable:
        """Put the words in the order of their bytes."""
        return self._numbered(self.vocabulary.order())

    def __eq__(self, other: object) -> bool:
        """Compare to the last bit, however the words are numbered."""
        if not isinstance(other, WordsTable):
            return NotImplemented
        if self.n_words != other.n_words or len(self.pairs.word) != len(other.pairs.word):
            return False
        a, b = self.in_order(), other.in_order()
        ours, theirs = ((*t.pairs, *(getattr(t, name) for name in t.per_class)) for t in (a, b))
        same_words = a.vocabulary.words() == b.vocabulary.words()
        return same_words and all(map(np.array_equal, ours, theirs))

    __hash__ = None

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each word and class: s1 is how often, s2 the sum of log(1 + tf)."""
        table = self.in_order()
        pairs = table.pairs
        words = Part(
            "words",
            tuple(label_tokens(table.vocabulary.words())),
            pairs.label,
            pairs.word,
            pairs.rows,
            DoubleDouble.of(table.weight),
            DoubleDouble.of(pairs.count),
            DoubleDouble.of(pairs.log_tf),
        )
        documents = Part.of_classes("documents", self.documents, self.documents_weight)
        return [documents, words]

    def header(self) -> dict[str, Any]:
        """Say how many words were dropped, by class."""
        return {"dropped": self.dropped.tolist()} if self.is_approximate else {}

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> WordsTable:
        """Make the table of such rows."""
        words = parts["words"]
        vocabulary = Vocabulary(token_labels(words.tokens))
        place = words.keys.astype(np.int64) * max(n_classes, 1) + words.classes
        where = None
        distinct = place
        if (place[1:] <= place[:-1]).any():  # of several tables; a file is in order
            distinct, where = np.unique(place, return_inverse=True)

        def added(values: AnyArray) -> FloatArray:
            if where is None:
                return values.astype(np.float64)
            return np.bincount(where, values, len(distinct)).astype(np.float64)

        pairs = Pairs(
            (distinct // max(n_classes, 1)).astype(np.int32),
            (distinct % max(n_classes, 1)).astype(np.int32),
            added(words.rows).astype(np.int64),
            added(words.weight.value),
            added(words.s1.value),
            added(words.s2.value),
        )
        dropped = np.asarray(parts.header.get("dropped", np.zeros(n_classes)), dtype=np.float64)
        documents, weight = parts["documents"].by_class(n_classes)
        return cls(vocabulary, pairs, documents, weight, dropped, _limit(block))

    def _within_limit(self) -> WordsTable:
        """Drop the rarest words when there are twice as many as the limit allows."""
        if self.limit is None or self.n_words <= 2 * self.limit:
            return self
        kept = self.most_frequent(self.limit)
        lost = ~kept[self.pairs.word]
        gone = np.bincount(
            self.pairs.label[lost], weights=self.pairs.count[lost], minlength=self.n_classes
        )
        return replace(self._only_words(kept), dropped=self.dropped + gone)

    def _only_words(self, kept: BoolArray) -> WordsTable:
        left = replace(self, pairs=take_pairs(self.pairs, kept[self.pairs.word]))
        return left._numbered(np.flatnonzero(kept).astype(np.int32))

    def _numbered(self, codes: CodeArray) -> WordsTable:
        """Renumber the words, codes[i] as i; others have no sums."""
        place = np.full(self.n_words, -1, dtype=np.int32)
        place[codes] = np.arange(len(codes), dtype=np.int32)
        pairs = _renumbered(self.pairs, place, len(codes))
        return replace(self, vocabulary=self.vocabulary.take(codes), pairs=pairs)


def _no_pairs() -> Pairs:
    codes, rows, nothing = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0)
    return Pairs(codes, codes, rows, rows, nothing, nothing)


def _renumbered(pairs: Pairs, place: CodeArray, n_words: int) -> Pairs:
    if not len(pairs.word):
        return pairs
    return sort_pairs(pairs._replace(word=place[pairs.word]), n_words)


def _limit(block: Block) -> int | None:
    return None if block.analyzer is None else block.analyzer.max_features
