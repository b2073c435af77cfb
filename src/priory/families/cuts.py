"""Where to cut a column of numbers into bins, from its cells alone."""

from __future__ import annotations

import numpy as np

from priory.base.typing import FloatArray, IntArray
from priory.statistics.tables import CellsTable

__all__ = ["between_cells", "equal_frequency", "even_bins", "even_cuts", "mdl", "mdl_of_counts"]

FEWEST_BINS, MOST_BINS = 5, 8
"""A column of numbers has about n^¼ bins of equal frequency, but not fewer and not more."""


def even_cuts(cells: CellsTable) -> FloatArray:
    """Find the numbers at which to cut a column that is counted together with others.

    About n^¼ bins of equal frequency, at least five and at most eight.
    """
    return between_cells(cells, equal_frequency(cells, even_bins(float(cells.weight.sum()))))


def even_bins(n: float) -> int:
    """Find how many bins a column of n numbers has that is counted together with others."""
    return int(np.clip(round(n**0.25), FEWEST_BINS, MOST_BINS))


def equal_frequency(cells: CellsTable, bins: int) -> IntArray:
    """Find after which cells to cut so that each bin holds about the same weight."""
    n_cells = len(cells.keys)
    if n_cells <= bins:
        return np.arange(n_cells - 1)
    cumulative = np.cumsum(cells.weight.sum(axis=0))
    wanted = cumulative[-1] * np.arange(1, bins) / bins
    after = np.unique(np.searchsorted(cumulative, wanted * (1 - 1e-12), side="left"))
    return after[after < n_cells - 1]


def mdl(cells: CellsTable) -> IntArray:
    """Find after which cells to cut by minimum description length (Fayyad & Irani 1993).

    A cut of a set S of n rows into S1 and S2 is taken, recursively, when its gain in bits
    pays for telling where it is and what the classes are on both sides:

        Ent(S) − Σ |Si|/n Ent(Si)  >  (log2(n − 1) + Δ) / n
        Δ = log2(3^k − 2) − (k Ent(S) − k1 Ent(S1) − k2 Ent(S2))
    """
    return mdl_of_counts(cells.weight.T)


def mdl_of_counts(counts: FloatArray) -> IntArray:
    """Find after which of some cells to cut, by `mdl`; the counts are cells × classes."""
    # A difference of two rows of these counts a stretch.
    cumulative = np.concatenate([np.zeros((1, counts.shape[1])), counts.cumsum(axis=0)])
    found: list[int] = []
    stretches = [(0, len(counts))]
    while stretches:
        low, high = stretches.pop()
        cut = _best_cut(cumulative, low, high)
        if cut is not None:
            found.append(cut - 1)
            stretches += [(low, cut), (cut, high)]
    return np.array(sorted(found), dtype=np.int64)


def between_cells(cells: CellsTable, after: IntArray) -> FloatArray:
    """Find the numbers at which to cut: half way from a cell's end to the next one's start.

    A number belongs to the left of a cut if it is at most the cut.
    """
    left, right = cells.upper[after], cells.lower[after + 1]
    middle = left + (right - left) / 2
    return np.where(middle < right, middle, left)


def _best_cut(cumulative: FloatArray, low: int, high: int) -> int | None:
    if high - low < 2:
        return None
    total = cumulative[high] - cumulative[low]
    left = cumulative[low + 1 : high] - cumulative[low]
    right = total - left
    bits_left, bits_right = _bits(left), _bits(right)
    best = int(np.argmin(bits_left + bits_right))
    n, bits = total.sum(), float(_bits(total))
    n_left, n_right = left[best].sum(), right[best].sum()
    if n <= 1 or n_left <= 0 or n_right <= 0:
        return None
    gain = (bits - bits_left[best] - bits_right[best]) / n
    k, k_left, k_right = ((counts > 0).sum() for counts in (total, left[best], right[best]))
    entropies = (
        k * bits / n - k_left * bits_left[best] / n_left - k_right * bits_right[best] / n_right
    )
    # log2(3^k − 2) ≈ k log2 3 for large k, where 3^k would overflow.
    classes = np.log2(3.0**k - 2) if k < 600 else k * np.log2(3.0)
    return low + 1 + best if gain > (np.log2(n - 1) + classes - entropies) / n else None


def _bits(counts: FloatArray) -> FloatArray:
    """Give n · Ent in bits: n log2 n − Σ n_k log2 n_k."""
    return _x_log2_x(counts.sum(axis=-1)) - _x_log2_x(counts).sum(axis=-1)


def _x_log2_x(x: FloatArray) -> FloatArray:
    return np.where(x > 0, x * np.log2(np.where(x > 0, x, 1.0)), 0.0)
