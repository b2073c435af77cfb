"""Texts of a sample as rows of words, and their evidence under sums without their folds.

    S_k = Σ_w x_w log(1 + n_wk / (α π_k)),  x = log(1 + tf) / ‖log(1 + tf)‖₂

with the row's group of folds taken out of n, and words that are known from there alone left out.
Taking out the row alone would not do: a word's total would then give the row's class away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Texts
from priory.kernels.adagrad import add_pairs_csr, known_words, take_groups
from priory.kernels.pairs import take_pairs
from priory.kernels.words import count_matrix
from priory.statistics.tables import WordsTable

__all__ = ["GROUPS", "WordRows", "entries_per_text"]

GROUPS = 5
"""Folds are put together to so many groups, which are left out in turn."""

TINY, TINIEST = np.finfo(np.float64).tiny, np.finfo(np.float32).tiny

FULL_SHARE, MOST_FULL = 4, 64
"""A word seen in one class of so many has a number for each, unless there are too many classes."""

LOOKED_AT = 200
"""So many texts say how many words a text has."""


@dataclass(frozen=True, eq=False)
class WordRows:
    """Rows of words, with what each text has of them; a word below 0 is not known elsewhere.

    The words are those of the sample alone. The pairs of word w with classes are those from
    starts[w] to starts[w + 1]; `n` is the sum of each pair, `left` that without each group.
    """

    indptr: IntArray
    words: CodeArray
    x: AnyArray
    y: CodeArray
    group: CodeArray
    starts: IntArray
    labels: CodeArray
    n: FloatArray
    left: FloatArray
    codes: IntArray
    """Of each word, its code in the table."""
    n_classes: int

    @classmethod
    def of(
        cls,
        table: WordsTable,
        texts: Texts,
        y: CodeArray,
        own: FloatArray,
        group: CodeArray,
    ) -> WordRows:
        """Count the words of texts that are part of a table, each with its own weight there."""
        indptr, found, tf = _counted(texts, table)
        used = np.zeros(table.n_words, dtype=np.bool_)
        used[found] = True
        used &= table.per_word(table.pairs.rows) > 1.5  # others are known to no other text
        codes = np.flatnonzero(used)
        place = np.full(table.n_words, -1, dtype=np.int32)
        place[codes] = np.arange(len(codes), dtype=np.int32)
        words = place[found]
        some = used[table.pairs.word]
        pairs = take_pairs(table.pairs, some)
        starts, labels, n = _spread(
            place[pairs.word], pairs.label, pairs.log_tf, len(codes), table.n_classes
        )
        left = np.empty((GROUPS, len(n)))
        total = table.per_word(table.weight)[codes]
        having = np.empty((GROUPS, len(total)))
        given = (indptr, words, tf)

        def take(g: int) -> None:
            left[g], having[g] = n, total
            take_groups(*given, y, own, group, starts, labels, left, having, g, g + 1)
            left[g][left[g] <= 1e-9 * n] = 0.0

        in_parallel([partial(take, g) for g in range(GROUPS)], thread_count())
        x = np.empty(len(words), dtype=np.float32)
        known_words(*given, group, (having > 1e-9 * total).view(np.uint8), x)
        return cls(indptr, words, x, y, group, starts, labels, n, left, codes, table.n_classes)

    def __len__(self) -> int:
        return len(self.y)

    def first(self, n: int) -> WordRows:
        """Take the first rows; the sums stay those of all."""
        if n >= len(self):
            return self
        end = int(self.indptr[n])
        return replace(
            self,
            indptr=self.indptr[: n + 1],
            words=self.words[:end],
            x=self.x[:end],
            y=self.y[:n],
            group=self.group[:n],
        )

    @cached_property
    def says(self) -> AnyArray:
        """Which rows have a word that is known elsewhere."""
        known = np.concatenate([[0], np.cumsum(self.words >= 0)])
        return np.asarray(known[self.indptr[1:]] > known[self.indptr[:-1]])

    def evidence(self, alpha: float, without: int | None = None) -> AnyArray:
        """Score the rows without their groups, rows × classes; the log-odds of two.

        With `without`, the sums lack that group for all rows: whoever learns from the others must
        not see what is in it, for what raises their scores there is then learned as a mistake.
        """
        values = np.empty(self.left.shape, dtype=np.float32)

        def fill(g: int) -> None:
            left = self.left[g]
            if without is not None and g != without:
                left = left + self.left[without] - self.n
                left[left <= 1e-9 * self.n] = 0.0
            size = np.bincount(self.labels, left, self.n_classes)
            smooth = (size / max(float(size.sum()), TINY) * alpha).astype(np.float32)
            of_group = np.divide(left, np.maximum(smooth, TINIEST)[self.labels], out=values[g])
            of_group += 1.0
            np.log(of_group, out=of_group)

        in_parallel([partial(fill, g) for g in range(GROUPS)], thread_count())
        out = self.added(values, self.group)
        if self.n_classes == 2:
            return np.ascontiguousarray(out[:, 1:] - out[:, :1])
        return out - out.max(axis=1, keepdims=True)

    def added(
        self,
        values: AnyArray,
        group: CodeArray,
        starts: IntArray | None = None,
        labels: CodeArray | None = None,
        words: CodeArray | None = None,
    ) -> AnyArray:
        """Sum x · values over the pairs of each row's words, rows × classes."""
        out = np.zeros((len(self), self.n_classes), dtype=np.float32)
        starts = self.starts if starts is None else starts
        labels = self.labels if labels is None else labels
        words = self.words if words is None else words
        values = np.ascontiguousarray(values)

        def add(rows: slice) -> None:
            some = (self.indptr[rows.start : rows.stop + 1], words, self.x, group[rows])
            add_pairs_csr(*some, starts, labels, values, out[rows])

        in_parallel([partial(add, rows) for rows in self.stretches()], thread_count())
        return out

    def stretches(self) -> list[slice]:
        """Part the rows for threads, by how many words they have."""
        n = thread_count()
        aims = np.linspace(0, int(self.indptr[-1]), n + 1)[1:-1]
        cuts = [0, *np.searchsorted(self.indptr, aims).tolist(), len(self)]
        return [slice(a, b) for a, b in pairwise(cuts) if a < b]


def entries_per_text(table: WordsTable, texts: Texts) -> float:
    """Find how many different words a text has, by looking at the first."""
    some = texts.take(slice(0, LOOKED_AT))
    indptr, *_ = count_matrix(*some.buffers, table.vocabulary, some.splitter)
    return float(indptr[-1]) / max(len(some), 1)


def _counted(texts: Texts, table: WordsTable) -> tuple[IntArray, CodeArray, CodeArray]:
    """Count the words of each text, in threads."""

    def count(rows: slice) -> Any:
        some = texts.take(rows)
        return count_matrix(*some.buffers, table.vocabulary, some.splitter)

    threads = thread_count()
    parts = texts.stretches(max(texts.n_bytes // threads + 1, 1 << 16))
    found = in_parallel([partial(count, rows) for rows in parts], threads)
    sizes = [np.diff(indptr) for indptr, _, _ in found]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    words, tf = (np.concatenate([part[i] for part in found]) for i in (1, 2))
    return indptr, words, tf


def _spread(
    word: CodeArray, label: CodeArray, n: FloatArray, n_words: int, K: int
) -> tuple[IntArray, CodeArray, FloatArray]:
    """Give (starts, labels, n) of pairs; a word of many classes gets all of them, in order."""
    n_pairs = np.bincount(word, minlength=n_words)
    full = (n_pairs * FULL_SHARE >= K) & (K <= MOST_FULL)
    starts = np.concatenate([[0], np.cumsum(np.where(full, K, n_pairs))]).astype(np.int64)
    before = np.cumsum(n_pairs) - n_pairs
    at = starts[word] + np.where(full[word], label, np.arange(len(word)) - before[word])
    labels, sums = np.zeros(int(starts[-1]), dtype=np.int32), np.zeros(int(starts[-1]))
    every = starts[:-1][full, None] + np.arange(K)
    labels[every] = np.arange(K, dtype=np.int32)
    labels[at], sums[at] = label, n
    return starts, labels, sums
