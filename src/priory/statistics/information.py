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
    "log_likelihood",
    "mutual_information",
    "pairwise_information",
    "shared",
]

HEIGHT = 4096
"""So many rows are multiplied at once."""


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


def by_chance(freedom: AnyArray | float, deviations: float = 0.0) -> AnyArray:
    """Work out N · I of independent columns: half the degrees of freedom.

    So many standard deviations, √(f / 2) each, are added.

    >>> float(by_chance(8.0)), float(by_chance(8.0, deviations=2.0))
    (4.0, 8.0)
    """
    return np.asarray(0.5 * freedom + deviations * np.sqrt(0.5 * freedom))


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


def beyond_chance(told: FloatArray, sizes: Sequence[int], n_classes: int) -> FloatArray:
    """Take off `pairwise_information` what independent columns show by chance, and then some.

    A pair has K (V_a − 1) (V_b − 1) degrees of freedom; two standard deviations are added.
    """
    free = np.array(sizes, dtype=np.float64) - 1.0
    result = told - by_chance(n_classes * np.outer(free, free), deviations=2.0)
    np.fill_diagonal(result, 0.0)
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
