"""Cells: a number's leading bits, so that a column of any length has a small exact table.

The bits of a float64, read as an integer with the negative half flipped, are in the order
of the numbers. Dropping `level` trailing bits groups neighbouring numbers into a cell. The
level is the least at which all the values of a column fall into at most `CELL_LIMIT` cells; as
it depends on the set of the values alone, any chunking and any order give the same cells.
"""

from __future__ import annotations

import numpy as np

from priory.base.typing import AnyArray, FloatArray, IntArray

__all__ = ["CELL_LIMIT", "coarser_keys", "coarsest_needed", "interval_of", "key_of", "value_of"]

CELL_LIMIT = 1024
_FLIP = np.int64(0x7FFF_FFFF_FFFF_FFFF)


def key_of(values: AnyArray, level: int) -> IntArray:
    """Find the cell of each number.

    >>> key_of(np.array([-1.0, 0.0, 1.0]), 62).tolist()
    [-1, 0, 0]
    """
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _FLIP) >> level


def interval_of(keys: IntArray, level: int) -> tuple[FloatArray, FloatArray]:
    """Find the least and the greatest number of each cell.

    >>> interval_of(key_of(np.array([1.0]), 52), 52)
    (array([1.]), array([2.]))
    """
    lowest = keys << level
    return _number(lowest), _number(lowest | ~(np.int64(-1) << np.int64(level)))


def value_of(keys: IntArray, level: int) -> FloatArray:
    """Find a number in the middle of each cell, the number itself at level 0."""
    lower, upper = interval_of(keys, level)
    return lower if level == 0 else lower + (upper - lower) / 2


def coarser_keys(keys: IntArray, levels: int) -> IntArray:
    """Find the cells `levels` higher that hold these cells."""
    return keys >> levels


def coarsest_needed(keys: IntArray, limit: int) -> int:
    """Count the further bits that must go so that at most `limit` cells are left.

    >>> coarsest_needed(np.arange(4096), 1024)
    2
    """
    levels = 0
    while len(keys) > limit:
        levels += 1
        keys = np.unique(keys >> 1)
    return levels


def _number(keys: IntArray) -> FloatArray:
    # The inverse of the flip. Cells at the very ends may reach infinity and NaN: cut them off.
    bits = np.where(keys >= 0, keys, keys ^ _FLIP)
    numbers: FloatArray = np.ascontiguousarray(bits).view(np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(numbers), numbers, np.where(keys >= 0, 1.0, -1.0) * 1e308)
