"""Folds of rows: which part of each is in which fold."""

from __future__ import annotations

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["deal", "fold_count", "folds_of"]

FEWEST, MOST = 10, 40
"""There are so many folds at least, and at most."""

ENTRIES = 1_600_000
"""Rows, columns and folds multiplied: small tables can afford more folds than large ones."""


def fold_count(n_rows: int, n_columns: int) -> int:
    """Count the folds to deal rows out to: 10, 20, or 40 of a small table.

    What is learned without a fold is learned from fewer rows than there are. That makes figures
    worse than they should be, the more so the fewer the rows and the larger the fold.

    >>> [fold_count(n, 10) for n in (100, 6_000, 100_000)]
    [40, 20, 10]
    """
    folds = MOST
    while folds > FEWEST and n_rows * n_columns * folds > ENTRIES:
        folds //= 2
    return folds


def deal(
    hashes: AnyArray, rows: IntArray, copied: BoolArray, n_folds: int = FEWEST
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Deal rows out to folds, each with how many there are of it.

    The copies of a row go to one fold after the other, beginning with the one that its hash says;
    where it was `copied` they stay together. Given are, for each part of a row, the row, the fold,
    how many copies it is and which share of them.

    >>> hashes, rows = np.array([7, 9], dtype=np.uint64), np.array([1, 25])
    >>> row, fold, copies, share = deal(hashes, rows, np.array([False, False]))
    >>> fold.tolist(), copies.tolist()
    ([7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 3, 3, 3, 3, 2, 2, 2, 2, 2, 3])
    >>> deal(hashes, rows, np.array([False, True]))[2].tolist()
    [1, 25]
    """
    first = (hashes % np.uint64(n_folds)).astype(np.int64)
    if (copied | (rows == 1)).all():
        return np.arange(len(rows)), first, rows, np.ones(len(rows))
    place = (np.arange(n_folds) - first[:, None]) % n_folds
    copies = rows[:, None] // n_folds + (place < rows[:, None] % n_folds)
    copies[copied] = np.where(place[copied] == 0, rows[copied][:, None], 0)
    row, fold = np.nonzero(copies)
    found = copies[row, fold]
    return row, fold, found, found / rows[row]


def folds_of(hashes: AnyArray, n_folds: int = FEWEST) -> IntArray:
    """Find the fold of each of some rows, their copies dealt out as `deal` does.

    >>> folds_of(np.array([7, 7, 9], dtype=np.uint64)).tolist()
    [7, 8, 9]
    """
    first = (hashes % np.uint64(n_folds)).astype(np.int64)
    order = np.argsort(hashes, kind="stable")
    same = np.r_[False, hashes[order][1:] == hashes[order][:-1]]
    starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    copy = np.empty(len(order), dtype=np.int64)
    copy[order] = np.arange(len(order)) - starts
    return (first + copy) % n_folds
