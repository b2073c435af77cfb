"""Mutual information of columns, and the likelihood of counts, derived from counts alone.

    I(A; B | C) = Σ P(a, b, c) log( P(a, b | c) / (P(a | c) P(b | c)) )

Everything is in nats. What chance alone shows is about half a nat for each degree of freedom
(Miller 1955), for 2 n I of independent columns is about χ².
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from priory.base.typing import AnyArray, FloatArray

__all__ = [
    "beyond_chance",
    "bic",
    "by_chance",
    "by_chance_of_many",
    "log_likelihood",
    "mutual_information",
    "pairwise_information",
    "shared",
]

HEIGHT = 4096
"""So many rows are multiplied at once."""

FALSE = 0.25
"""The share of pairs found to depend on each other that may do so by chance."""


def shared(
    n: FloatArray, of_a: FloatArray, of_b: FloatArray, total: FloatArray | float
) -> FloatArray:
    """Work out n · log( n N / (n_a n_b) ) of each cell, whose sum is N · I(A; B).

    >>> shared(np.array([2.0, 0.0]), np.array([2.0, 2.0]), np.array([2.0, 2.0]), 4.0).round(4)
    array([1.3863, 0.    ])
    """
    seen = n > 0
    ratio = np.divide(n * total, of_a * of_b, out=np.ones(np.shape(n)), where=seen)
    return n * np.log(ratio)


def mutual_information(counts: FloatArray) -> float:
    """Work out I(A; B | C) of counts or probabilities; the last axes are A and B, others C.

    >>> round(mutual_information(np.array([[2.0, 0.0], [0.0, 2.0]])), 6)
    0.693147
    """
    of_a, of_b = counts.sum(axis=-1, keepdims=True), counts.sum(axis=-2, keepdims=True)
    total = of_a.sum(axis=-2, keepdims=True)
    found = float(shared(counts, of_a, of_b, total).sum())
    return max(found / float(counts.sum()), 0.0) if found else 0.0


def by_chance(freedom: AnyArray | float) -> AnyArray:
    """Work out N · I of independent columns in the mean: half the degrees of freedom.

    >>> float(by_chance(8.0))
    4.0
    """
    return np.asarray(0.5 * freedom)


def pairwise_information(
    codes: Sequence[AnyArray], sizes: Sequence[int], y: AnyArray, weight: FloatArray | None = None
) -> FloatArray:
    """Work out n · I(A; B | class) of all pairs of columns.

    Missing values, negative codes, leave a row out of the pairs they are in.

    >>> a, y = np.tile([0, 1], 50), np.zeros(100, dtype=int)
    >>> pairwise_information([a, a, np.repeat([0, 1], 50)], [2, 2, 2], y).round(2).tolist()
    [[0.0, 69.31, 0.0], [69.31, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    starts = np.concatenate([[0], np.cumsum(sizes)])
    total = np.zeros((len(codes), len(codes)))
    for k in np.unique(y):
        rows = np.flatnonzero(y == k)
        together = _together(
            [c[rows] for c in codes], starts, None if weight is None else weight[rows]
        )
        by_value = np.add.reduceat(together, starts[:-1], axis=1)  # n_a among those that have b
        both = np.add.reduceat(by_value, starts[:-1], axis=0)
        of_a = np.repeat(by_value, sizes, axis=1)
        told = shared(together, of_a, of_a.T, both.repeat(sizes, axis=0).repeat(sizes, axis=1))
        total += np.add.reduceat(np.add.reduceat(told, starts[:-1], axis=0), starts[:-1], axis=1)
    np.fill_diagonal(total, 0.0)
    return total


def by_chance_of_many(told: FloatArray, freedom: FloatArray) -> FloatArray:
    """Work out how large N · I of many pairs must be, so that few above it are so by chance.

    By chance a pair of f degrees of freedom is above f / 2 + √(f x) + x with a probability of e^−x
    at most (Laurent & Massart 2000). Of m pairs the k largest are above what is returned if e^−x of
    each is at most k / 4m: then a quarter of them are by chance (Benjamini & Hochberg 1995).

    >>> by_chance_of_many(np.array([9.0, 3.0, 3.0]), np.full(3, 2.0)).round(2).tolist()
    [5.71, 5.71, 5.71]
    """
    above = np.maximum(told - by_chance(freedom), 0.0)
    x = np.sort(np.square(0.5 * (np.sqrt(freedom + 4.0 * above) - np.sqrt(freedom))))[::-1]
    needed = np.log(len(x) / (FALSE * np.arange(1.0, len(x) + 1.0)))
    least = needed[np.flatnonzero(x >= needed).max(initial=0)] if len(x) else 0.0
    return np.asarray(by_chance(freedom) + np.sqrt(freedom * least) + least)


def beyond_chance(told: FloatArray, sizes: Sequence[int], n_classes: int) -> FloatArray:
    """Take off `pairwise_information` what pairs must share, so that few are above 0 by chance.

    A pair has K (V_a − 1) (V_b − 1) degrees of freedom; one of −∞ is not compared.
    """
    free = n_classes * np.outer(*2 * [np.asarray(sizes, dtype=np.float64) - 1.0])
    a, b = np.nonzero(np.triu(np.isfinite(told), 1))
    result = np.where(np.eye(len(told), dtype=np.bool_), 0.0, -np.inf)
    result[a, b] = result[b, a] = told[a, b] - by_chance_of_many(told[a, b], free[a, b])
    return result


def log_likelihood(counts: FloatArray) -> float:
    """Work out Σ n log(n / N), the most that values can be likely; contexts × values.

    >>> round(log_likelihood(np.array([[2.0, 2.0], [0.0, 4.0]])), 4)
    -2.7726
    """
    return _n_log_n(counts) - _n_log_n(counts.sum(axis=-1))


def bic(counts: FloatArray, n_rows: float) -> float:
    """Work out the log-likelihood less ½ log n for each of the q(r − 1) free parameters.

    Negated and in bits it is the description length (Rissanen 1978; Schwarz 1978).

    >>> round(bic(np.array([[2.0, 2.0], [0.0, 4.0]]), 8.0), 4)
    -4.852
    """
    r = counts.shape[-1]
    free = counts.size // r * (r - 1)
    return log_likelihood(counts) - 0.5 * log(max(n_rows, 1.0)) * free


def _n_log_n(counts: FloatArray) -> float:
    seen = counts[counts > 0]
    return float((seen * np.log(seen)).sum())


def _together(codes: Sequence[AnyArray], starts: AnyArray, weight: FloatArray | None) -> FloatArray:
    """Count how often any two values come together, values × values, as a product of matrices."""
    size, n = int(starts[-1]), len(codes[0])
    result = np.zeros((size, size))
    for first in range(0, n, HEIGHT):
        some = slice(first, min(first + HEIGHT, n))
        # Up to 2^24 float32 counts exactly; weights need more digits.
        there = np.zeros((some.stop - first, size), dtype=np.float32 if weight is None else None)
        for c, start in zip(codes, starts.tolist(), strict=False):
            known = np.flatnonzero(c[some] >= 0)
            there[known, c[some][known] + start] = 1.0
        weighted = there if weight is None else there * weight[some, None]
        with np.errstate(invalid="ignore"):  # of what BLAS reads beside the numbers
            result += weighted.T @ there
    return result
