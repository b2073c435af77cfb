"""The weights of words: a row for each word seen in many classes, a few entries for the rest.

A class that never had a word differs from another such class only in its size. So the weight of
a word and a class that were never seen together is separable, and only pairs need an entry:

    weight[w, k] = constant[w] + scale[w] · of_class[k] + delta[w, k]

A million words of a thousand classes take the memory of the pairs that were seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.families.base import times
from priory.families.sums import PairSums, Sums
from priory.kernels.word_scores import WordScores, place_pairs

__all__ = ["Weights"]

FEW_CLASSES = 4
ROW_SHARE = 4
"""A word seen in at least one class of so many gets a whole row of weights."""

BLOCK = 1 << 16
DROPPED, NO_ROW = -2, -1


@dataclass(frozen=True, eq=False)
class Weights:
    """Hold a weight for each word and class; `place` is a word's row, −1 for none, −2 if dropped.

    With `is_zero` a class without an entry for a word is impossible. `bias` belongs to every row.
    `certain` marks the words that all rows of a class had, where no prior lets one be absent.
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
    certain: Weights | None = None

    @classmethod
    def of_table(
        cls, table: FloatArray, kept: BoolArray, bias: FloatArray | None = None
    ) -> Weights:
        """Hold weights that are given as words × classes."""
        place = np.where(kept, np.cumsum(kept) - 1, DROPPED).astype(np.int32)
        nothing = np.zeros(len(kept))
        rows = np.ascontiguousarray(table if kept.all() else table[kept])
        starts, none = np.zeros(len(kept) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        of_class = np.zeros(table.shape[1])
        return cls(place, rows, starts, none, np.zeros(0), nothing, nothing, of_class, bias=bias)

    @classmethod
    def of_pairs(
        cls,
        sums: PairSums,
        deltas: FloatArray | Callable[[slice], FloatArray],
        constant: FloatArray,
        of_class: FloatArray,
        scale: FloatArray | None = None,
        is_zero: bool = False,
        bias: FloatArray | None = None,
    ) -> Weights:
        """Hold an entry for each pair, all of them multiplied by `scale`.

        Pairs are many: `deltas` may be a function that gives those of some pairs.
        """
        word, label, kept = sums.word, sums.label, sums.kept
        factor = scale
        if scale is None:
            scale = np.ones(len(kept))
        else:
            constant = constant * scale
        enough = -(-sums.n_classes // ROW_SHARE) if sums.n_classes > FEW_CLASSES else 0
        place, starts = _places(word, kept, enough)
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
        """The weights as the kernel of texts reads them."""
        few = (self.starts, self.labels, self.deltas, self.scale, self.constant)
        return WordScores(self.place, self.rows, *few, self.of_class, self.is_zero)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.of_class)

    @property
    def kept(self) -> BoolArray:
        """Which words have weights."""
        return np.asarray(self.place != DROPPED)

    @property
    def table(self) -> FloatArray:
        """The weights of the words that are kept, words × classes."""
        return self.of(np.flatnonzero(self.kept)) if (self.place == NO_ROW).any() else self.rows

    @cached_property
    def words_of_class(self) -> FloatArray:
        """The sum of the weights of each class: of `certain`, how many words there are."""
        return self.table.sum(axis=0)

    def of(self, words: AnyArray) -> FloatArray:
        """Look up some words, words × classes; a dropped word has no weights."""
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

    def add(
        self, score: Callable[[Weights, FloatArray], None], missing: BoolArray, out: FloatArray
    ) -> None:
        """Add the scores of some rows; `score` adds x_w · weight over the words of each."""
        score(self, out)
        if self.bias is not None:
            out += np.where(missing[:, None], 0.0, self.bias) if missing.any() else self.bias
        if self.certain is not None:  # a row without a word that all of a class have
            there = np.zeros_like(out)
            score(self.certain, there)
            out[(there < self.certain.words_of_class) & ~missing[:, None]] = -np.inf

    def log_presence(self, words: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Take log p and log(1 − p) of some words from the log-odds, Bernoulli's weights."""
        log_odds = self.of(words)
        log_on, log_off = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
        if self.certain is None:
            return log_on, log_off
        always = self.certain.of(words) > 0
        return np.where(always, 0.0, log_on), np.where(always, -np.inf, log_off)

    def log_likelihood_of(self, sums: Sums, rows: FloatArray) -> float:
        """Sum n_wk · weight over the sums, and the bias of so many rows of each class."""
        total = 0.0 if self.bias is None else times(rows, self.bias)
        for word, label, n in sums.stretches():
            weights = self.of(word)
            total += times(n, weights if label is None else weights[np.arange(len(n)), label])
        return total


def _places(word: CodeArray, kept: BoolArray, n_row: int) -> tuple[AnyArray, IntArray]:
    """Give (place, starts) as WordScores has them, of the word of each pair.

    A kept word with at least `n_row` pairs gets a row, the next one; the pairs of the others that
    are kept get entries.
    """
    n_pairs = np.bincount(word, minlength=len(kept))
    whole = kept & (n_pairs >= n_row)
    place = np.where(kept, -1, -2).astype(np.int32)
    place[whole] = np.arange(np.count_nonzero(whole), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(np.where(kept & ~whole, n_pairs, 0))])
    return place, starts
