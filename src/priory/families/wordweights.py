"""The weights of words: a row for each word seen in many classes, a few entries for the rest.

A class that never had a word differs from another such class only in its size. So the weight of
a word and a class that were never seen together is separable, and only pairs need an entry:

    weight[w, k] = constant[w] + scale[w] · of_class[k] + delta[w, k]

A million words of a thousand classes take the memory of the pairs that were seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.kernels.pairs import log_plus, sum_by
from priory.kernels.word_scores import WordScores, place_pairs, place_words

__all__ = ["Sums", "WordWeights", "bernoulli", "complement", "multinomial"]

FEW_CLASSES = 4
ROW_SHARE = 4
"""A word seen in at least one class of so many gets a whole row of weights."""

BLOCK = 1 << 16
DROPPED, NO_ROW = -2, -1


@dataclass(frozen=True, eq=False)
class Sums:
    """Hold n_wk of the words that are read out, in the order of word and label."""

    word: CodeArray
    label: CodeArray
    n: FloatArray
    kept: BoolArray
    n_classes: int

    @cached_property
    def total(self) -> FloatArray:
        """Return the sum of each word over the classes."""
        return sum_by(self.word, self.n, len(self.kept))

    @cached_property
    def size(self) -> FloatArray:
        """Return the sum of each class over the words."""
        return sum_by(self.label, self.n, self.n_classes)

    def table(self) -> FloatArray:
        """Return the sums as words × classes."""
        table = np.zeros((len(self.kept), self.n_classes))
        table[self.word, self.label] = self.n
        return table

    def pooled(self, unknown: BoolArray) -> Sums:
        """Return the sums with those of all classes for the classes that nothing is known of.

        What is not known must not decide.
        """
        if not unknown.any():
            return self
        words = np.flatnonzero(self.kept & (self.total > 0)).astype(np.int32)
        some = ~unknown[self.label]
        labels = np.flatnonzero(unknown).astype(np.int32)
        word = np.concatenate([self.word[some], np.tile(words, len(labels))])
        label = np.concatenate([self.label[some], np.repeat(labels, len(words))])
        n = np.concatenate([self.n[some], np.tile(self.total[words], len(labels))])
        order = np.lexsort((label, word))
        return replace(self, word=word[order], label=label[order], n=n[order])


@dataclass(frozen=True, eq=False)
class WordWeights:
    """Hold a weight for each word and class; `place` is a word's row, −1 for none, −2 if dropped.

    With `is_zero` a class without an entry for a word is impossible. `bias` belongs to every text.
    `certain` marks the words that all texts of a class had, where no prior lets one be absent.
    """

    place: CodeArray
    rows: FloatArray
    starts: IntArray
    labels: CodeArray
    deltas: FloatArray
    scale: FloatArray
    constant: FloatArray
    of_class: FloatArray
    is_zero: bool = False
    bias: FloatArray | None = None
    certain: WordWeights | None = None

    @classmethod
    def of_table(
        cls, table: FloatArray, kept: BoolArray, bias: FloatArray | None = None
    ) -> WordWeights:
        """Return weights given as words × classes."""
        place = np.where(kept, np.cumsum(kept) - 1, DROPPED).astype(np.int32)
        nothing = np.zeros(len(kept))
        rows = np.ascontiguousarray(table[kept])
        starts, none = np.zeros(len(kept) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        of_class = np.zeros(table.shape[1])
        return cls(place, rows, starts, none, np.zeros(0), nothing, nothing, of_class, bias=bias)

    @classmethod
    def of_pairs(
        cls,
        sums: Sums,
        deltas: FloatArray | Callable[[slice], FloatArray],
        constant: FloatArray,
        of_class: FloatArray,
        scale: FloatArray | None = None,
        is_zero: bool = False,
        bias: FloatArray | None = None,
    ) -> WordWeights:
        """Return weights with an entry for each pair, all of them multiplied by `scale`.

        Pairs are many: `deltas` may be a function that gives those of some pairs.
        """
        word, label, kept = sums.word, sums.label, sums.kept
        factor = scale
        if scale is None:
            scale = np.ones(len(kept))
        else:
            constant = constant * scale
        enough = -(-sums.n_classes // ROW_SHARE) if sums.n_classes > FEW_CLASSES else 0
        place, starts = place_words(word, kept, enough)
        whole = place >= 0
        if is_zero:
            rows = np.full((int(whole.sum()), sums.n_classes), -np.inf)
        else:
            rows = np.multiply.outer(scale[whole], of_class) if factor is not None else of_class
            rows = rows + constant[whole, None]
        few, few_labels = np.empty(starts[-1]), np.empty(starts[-1], dtype=np.int32)
        at = 0
        for first in range(0, len(word), BLOCK):
            some = slice(first, first + BLOCK)
            part = deltas(some) if callable(deltas) else deltas[some]
            if factor is not None:
                part = part * factor[word[some]]
            shares = (place, scale, constant, of_class, rows)
            at += place_pairs(word[some], label[some], part, *shares, few_labels[at:], few[at:])
        rest = (starts, few_labels, few, scale, constant)
        return cls(place, rows, *rest, of_class, is_zero, bias)

    @cached_property
    def scores(self) -> WordScores:
        """Return the weights as the kernel reads them."""
        return WordScores(
            self.place,
            self.rows,
            self.starts,
            self.labels,
            self.deltas,
            self.scale,
            self.constant,
            self.of_class,
            self.is_zero,
        )

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.of_class)

    @property
    def kept(self) -> BoolArray:
        """Return which words have weights."""
        return np.asarray(self.place != DROPPED)

    @cached_property
    def words_of_class(self) -> FloatArray:
        """Return the sum of the weights of each class: of `certain`, how many words there are."""
        return self.of(np.flatnonzero(self.kept)).sum(axis=0)

    def of(self, words: AnyArray) -> FloatArray:
        """Return the weights of some words, words × classes; a dropped word has none."""
        place = self.place[words]
        weights = np.zeros((len(words), self.n_classes))
        weights[place >= 0] = self.rows[place[place >= 0]]
        few = np.flatnonzero(place == NO_ROW)
        codes = np.asarray(words)[few]
        if self.is_zero:
            weights[few] = -np.inf
        else:
            weights[few] = self.constant[codes, None] + self.scale[codes, None] * self.of_class
        lengths = self.starts[codes + 1] - self.starts[codes]
        at = np.repeat(few, lengths)
        within = np.arange(len(at)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entry = np.repeat(self.starts[codes], lengths) + within
        label, w = self.labels[entry], np.repeat(codes, lengths)
        base = self.constant[w] + self.scale[w] * self.of_class[label]
        weights[at, label] = base + self.deltas[entry]
        return weights


def multinomial(sums: Sums, pseudo: FloatArray, idf: FloatArray | None = None) -> WordWeights:
    """Return log P(w | k) = log (n_wk + a_w) / (n_k + Σa), times idf."""
    sums = sums.pooled(sums.size + pseudo.sum() <= 0)
    of_class = -np.log(sums.size + pseudo.sum()) if sums.kept.any() else np.zeros(sums.n_classes)
    positive = pseudo[sums.kept] > 0
    if positive.all() or not positive.any():
        is_zero = not positive.all()
        same = len(pseudo) and (pseudo == pseudo[0]).all()
        if same:
            constant = np.full(len(pseudo), np.log(pseudo[0]) if pseudo[0] > 0 else 0.0)
        else:
            constant = np.log(np.where(pseudo > 0, pseudo, 1.0))

        def deltas(some: slice) -> FloatArray:
            if same:
                return log_plus(sums.n[some], pseudo[0]) - constant[0]
            word = sums.word[some]
            return np.log(sums.n[some] + pseudo[word]) - constant[word]

        return WordWeights.of_pairs(sums, deltas, constant, of_class, idf, is_zero)
    with np.errstate(divide="ignore"):  # some words have a prior, some have none
        table = np.log(sums.table() + pseudo[:, None]) + of_class
    return WordWeights.of_table(table if idf is None else table * idf[:, None], sums.kept)


def complement(
    sums: Sums, pseudo: FloatArray, idf: FloatArray | None = None, norm: bool = False
) -> WordWeights:
    """Return −log P(w | not k) = −log (N_w − n_wk + a_w) / Σ_w (N_w − n_wk + a_w), times idf."""
    tiny = np.finfo(float).tiny  # a word of one class alone, without a prior: far, not infinite
    of_class = np.log(np.maximum(sums.total.sum() - sums.size + pseudo.sum(), tiny))
    constant = -np.log(np.maximum(sums.total + pseudo, tiny))
    others = np.maximum(sums.total[sums.word] - sums.n + pseudo[sums.word], tiny)
    deltas = -np.log(others) - constant[sums.word]
    if not norm:
        return WordWeights.of_pairs(sums, deltas, constant, of_class, idf)
    table = constant[:, None] + of_class
    table[sums.word, sums.label] += deltas
    total = table[sums.kept].sum(axis=0)
    table = table / np.where(total != 0, total, 1.0)  # of a single word all weights are 0
    return WordWeights.of_table(table if idf is None else table * idf[:, None], sums.kept)


def bernoulli(sums: Sums, pseudo: FloatArray, texts: FloatArray) -> WordWeights:
    """Return log p_wk / (1 − p_wk) for words that are there; the bias is Σ_w log(1 − p_wk).

    p_wk = (texts of k with w + a_1) / (texts of k + a_0 + a_1); `pseudo` is words × (a_0, a_1).
    """
    kept = sums.kept
    if not kept.any():
        return WordWeights.of_table(np.zeros((len(kept), len(texts))), kept)
    absent, present = pseudo.T
    unknown = texts + (absent + present)[kept].min() <= 0
    sums = sums.pooled(unknown)
    texts = np.where(unknown, texts.sum(), texts)
    w, k = sums.word, sums.label
    off = np.maximum(texts[k] - sums.n + absent[w], 0.0)
    is_certain = off <= 0
    certain = _marks(sums, is_certain) if is_certain.any() else None
    log_off = np.log(np.where(off > 0, off, 1.0))
    one_absent, one_present = absent[kept][0], present[kept][0]
    same = (absent[kept] == one_absent).all() and (present[kept] == one_present).all()
    if same:
        of_class = np.log(np.where(texts + one_absent > 0, texts + one_absent, 1.0))
        all_absent = of_class - np.log(texts + one_absent + one_present)
        correction = _class_sums(log_off - of_class[k], k, len(texts))
        bias = kept.sum() * all_absent + correction
        is_zero = one_present == 0
        constant = np.full(len(kept), 0.0 if is_zero else np.log(one_present))
        deltas = np.log(sums.n + one_present) - log_off - constant[w] + of_class[k]
        weights = WordWeights.of_pairs(
            sums, deltas, constant, -of_class, is_zero=bool(is_zero), bias=bias
        )
        return replace(weights, certain=certain)
    on = sums.table()
    off_table = np.maximum(texts - on + absent[:, None], 0.0)
    all_texts = np.log(np.where(kept[:, None], texts + (absent + present)[:, None], 1.0))
    log_off_table = np.log(np.where(off_table > 0, off_table, 1.0))
    with np.errstate(divide="ignore"):
        table = np.log(on + present[:, None]) - log_off_table
    bias = (log_off_table - all_texts)[kept].sum(axis=0)
    return replace(WordWeights.of_table(table, kept, bias), certain=certain)


def _class_sums(values: FloatArray, label: CodeArray, n_classes: int) -> FloatArray:
    """Return the sum of the values of each class, in pairs of pairs: very many are added."""
    order = np.argsort(label, kind="stable")
    n = np.bincount(label, minlength=n_classes)
    sums = np.zeros(n_classes)
    if len(order):
        starts = np.cumsum(n) - n
        sums[n > 0] = np.add.reduceat(values[order], starts[n > 0])
    return sums


def _marks(sums: Sums, marked: BoolArray) -> WordWeights:
    """Return weights of 1 for the pairs that are marked, 0 for all others."""
    kept = np.zeros(len(sums.kept), dtype=np.bool_)
    kept[sums.word[marked]] = True
    some = Sums(sums.word[marked], sums.label[marked], sums.n[marked], kept, sums.n_classes)
    nothing = np.zeros(len(kept))
    return WordWeights.of_pairs(some, np.ones(len(some.n)), nothing, np.zeros(sums.n_classes))
