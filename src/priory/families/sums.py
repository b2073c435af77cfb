"""The sums n_wk of words and classes: what multinomial, Bernoulli and complement derive from.

A column of counts is a word, and so is whatever an analyzer finds in a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.families.priors import DiscretePrior
from priory.kernels.pairs import sum_by

__all__ = ["CHUNK", "PairSums", "Sums"]

CHUNK = 4_000_000
"""So many weights at most are written out at once."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Hold n of every class and word, classes × words."""

    n: FloatArray

    @property
    def kept(self) -> BoolArray:
        """Which words are kept; the others have no sums."""
        return np.ones(self.n.shape[1], dtype=np.bool_)

    @cached_property
    def total(self) -> FloatArray:
        """The sum of each word over the classes."""
        return np.asarray(self.n.sum(axis=0))

    @cached_property
    def size(self) -> FloatArray:
        """The sum of each class over the words."""
        return np.asarray(self.n.sum(axis=1))

    @property
    def grid(self) -> FloatArray:
        """The sums as classes × words."""
        return self.n

    def of_class(self, k: int) -> tuple[Any, FloatArray]:
        """Look up the words that a class has, as an index, and n of these."""
        return slice(None), self.n[k]

    def of_words(self, words: AnyArray) -> FloatArray:
        """Look up n of some words, words × classes."""
        return self.n.T[words]

    def stretches(self) -> Iterator[tuple[AnyArray, CodeArray | None, FloatArray]]:
        """Yield words, their classes and n, some at a time; n of all classes, words × classes."""
        yield np.arange(self.n.shape[1]), None, self.n.T

    def names(self) -> Sequence[Label]:
        """Name the words as a prior does that speaks of each."""
        return range(self.n.shape[1])

    def pseudo_counts(self, prior: DiscretePrior) -> FloatArray:
        """Ask a prior for the pseudo-count of each word; words that are left out have none."""
        kept = self.kept
        if kept.all() and not prior.values():
            pseudo = prior.pseudo_counts(range(len(kept)), self.total)
            return np.broadcast_to(np.asarray(pseudo, dtype=np.float64), kept.shape)
        values: Sequence[Label] = range(int(kept.sum()))
        if prior.values():
            names = self.names()
            values = [names[w] for w in np.flatnonzero(kept).tolist()]
        pseudo = np.zeros(len(kept))
        pseudo[kept] = prior.pseudo_counts(values, self.total[kept])
        return pseudo


@dataclass(frozen=True, eq=False)
class PairSums(Sums):
    """Hold n of the words and classes that were seen together, in the order of word and label.

    A vocabulary is large, and most of its words are in few classes.
    """

    word: CodeArray
    label: CodeArray
    is_kept: BoolArray
    n_classes: int
    words: Callable[[], Sequence[Label]]

    @property
    def kept(self) -> BoolArray:
        """Which words are kept; the others have no sums."""
        return self.is_kept

    def names(self) -> Sequence[Label]:
        """Name the words as a prior does that speaks of each."""
        return self.words()

    @cached_property
    def total(self) -> FloatArray:
        """The sum of each word over the classes."""
        return sum_by(self.word, self.n, len(self.kept))

    @cached_property
    def size(self) -> FloatArray:
        """The sum of each class over the words."""
        return sum_by(self.label, self.n, self.n_classes)

    @property
    def grid(self) -> FloatArray:
        """The sums as classes × words."""
        grid = np.zeros((self.n_classes, len(self.kept)))
        grid[self.label, self.word] = self.n
        return grid

    def of_class(self, k: int) -> tuple[Any, FloatArray]:
        """Look up the words that a class has, as an index, and n of these."""
        some = self.label == k
        return self.word[some], self.n[some]

    def of_words(self, words: AnyArray) -> FloatArray:
        """Look up n of some words, words × classes."""
        found = np.zeros((len(words), self.n_classes))
        first, last = (np.searchsorted(self.word, words, side=side) for side in ("left", "right"))
        for i, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            found[i, self.label[a:b]] = self.n[a:b]
        return found

    def stretches(self) -> Iterator[tuple[AnyArray, CodeArray | None, FloatArray]]:
        """Yield words, their classes and n, some at a time."""
        height = max(1, CHUNK // self.n_classes)
        for first in range(0, len(self.word), height):
            some = slice(first, first + height)
            yield self.word[some], self.label[some], self.n[some]

    def pooled(self, unknown: BoolArray) -> PairSums:
        """Give the classes that nothing is known of the sums of all: they must not decide."""
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
