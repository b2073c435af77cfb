"""Whether rows are equal by chance or by copying.

Rows that come by chance do not all come equally often. And of u different rows u · Π_j c_j would be
equal to a given one, where c_j is the share of the other rows that are equal to it in column j.
Labels depend on each other: of what they say the root is taken. Of texts and of blocks of counts, j
are the words that a row has; they depend on each other too, but an equal row would have no other
words either.
"""

from __future__ import annotations

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.data.columns import Counts, Frame, Labels, Numbers, SparseRows
from priory.data.texts import Texts
from priory.kernels.text import Splitter
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import count_matrix, count_words

__all__ = ["equal_by_chance", "too_even_for_chance"]

MOST_TIMES = 10
"""Rows that came more often are too few to tell by how often they came."""


def equal_by_chance(frame: Frame, y: Labels, rows: IntArray, asked: BoolArray) -> FloatArray:
    """Find how many rows would be equal to each of different ones that is asked for.

    `rows` is how often each came.

    >>> days = Frame(4, {"wind": Labels(np.array([0, 1, 0, 0]), ("weak", "strong"))})
    >>> y = Labels(np.array([0, 0, 1, 1]), ("Y", "N"))
    >>> equal_by_chance(days, y, np.array([9, 1, 1, 1]), np.ones(4, bool)).round(1).tolist()
    [3.8, 0.0, 4.0, 4.0]
    """
    u, codes, K = len(rows), y.codes.astype(np.int64), len(y.labels)
    expected, of_labels = np.full(u, float(u)), np.ones(u)
    for column in frame.columns.values():
        if isinstance(column, Numbers):
            for values in column.values.T:
                expected *= _shared(values, np.ones(u), np.full(u, float(u)))
        elif isinstance(column, Labels):
            of_class = np.bincount(codes, rows, K)[codes]
            of_labels *= _shared(column.codes * np.int64(K) + codes, rows, of_class)
        elif isinstance(column, Texts):
            expected *= _of_words(*_words(column, asked), u)
        elif isinstance(column, Counts):
            expected *= _of_words(*_present(column.matrix), u)
    return np.asarray(expected * np.sqrt(of_labels))


def too_even_for_chance(rows: IntArray) -> BoolArray:
    """Tell by how often different rows came which were copied, whatever is in them.

    Of rows that come by chance, each at its own rate, f_k come k times, and k! f_k is log-convex:
    k · f_k² ≤ (k + 1) · f_{k−1} · f_{k+1}. Where every row is there twice, none comes once or three
    times. Each f may be two deviations off.

    >>> too_even_for_chance(np.array([2] * 50 + [99])).sum()  # what comes 99 times is so by chance
    np.int64(50)
    >>> too_even_for_chance(np.repeat([1, 2, 3], [90, 20, 4])).any()
    np.False_
    """
    f = np.bincount(np.minimum(rows, MOST_TIMES + 2), minlength=MOST_TIMES + 2)
    k, off = np.arange(2, MOST_TIMES + 1), 2 * np.sqrt(f)
    least, most = np.maximum(f - off, 0.0), f + off + 3.0  # none may be three by chance
    even = (k * least[k] ** 2 > (k + 1) * most[k - 1] * most[k + 1]).any()
    return np.asarray((rows > 1) & (rows <= MOST_TIMES) & even)


def _shared(values: AnyArray, rows: AnyArray, of: AnyArray) -> FloatArray:
    """Find the share of the other rows that have the value of each row, of so many."""
    _, which = np.unique(values, return_inverse=True, equal_nan=True)
    n = np.bincount(which.ravel(), rows)
    return np.asarray((n[which.ravel()] - 1.0) / np.maximum(of - 1.0, 1.0))


def _of_words(indptr: AnyArray, words: AnyArray, n_rows: int) -> FloatArray:
    """Multiply the shares of the other rows that have each word of a row."""
    having = np.bincount(words)
    with np.errstate(divide="ignore"):  # of a word that no other row has
        share = np.log(np.maximum(having - 1.0, 0.0) / max(n_rows - 1.0, 1.0))
    row = np.repeat(np.arange(n_rows), np.diff(indptr))
    return np.exp(np.bincount(row, share[words], n_rows))


def _words(texts: Texts, asked: BoolArray) -> tuple[AnyArray, AnyArray]:
    """Find the words of each text that texts asked for have too; never n-grams, which overlap."""
    splitter = texts.splitter
    plain = Splitter() if splitter.unit.startswith("char") else Splitter(splitter.unit)
    some, vocabulary = texts.take(np.flatnonzero(asked)), Vocabulary()
    count_words(*some.buffers, np.zeros(len(some), np.int32), None, vocabulary, 1, plain)
    indptr, words, _ = count_matrix(*texts.buffers, vocabulary, plain)
    return indptr, words


def _present(matrix: AnyArray | SparseRows) -> tuple[AnyArray, AnyArray]:
    """Find the columns in which each row has a count."""
    if isinstance(matrix, SparseRows):
        first, last = matrix.indptr[0], matrix.indptr[-1]
        there = matrix.data[first:last] != 0
        before = np.concatenate([[0], np.cumsum(there)])
        return before[matrix.indptr - first], matrix.indices[first:last][there]
    row, column = np.nonzero(matrix)
    return np.searchsorted(row, np.arange(len(matrix) + 1)), column
