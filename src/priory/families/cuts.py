"""Where to cut a column of numbers into bins, from its cells alone."""

from __future__ import annotations

import numpy as np

from priory.base.typing import FloatArray, IntArray
from priory.kernels.cuts import mdl_cuts
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
    upto = np.zeros((len(counts) + 1, counts.shape[1]))
    np.cumsum(counts, axis=0, out=upto[1:])
    return mdl_cuts(upto)


def between_cells(cells: CellsTable, after: IntArray) -> FloatArray:
    """Find the numbers at which to cut: half way from a cell's end to the next one's start.

    A number belongs to the left of a cut if it is at most the cut.
    """
    left, right = cells.upper[after], cells.lower[after + 1]
    middle = left + (right - left) / 2
    return np.where(middle < right, middle, left)
