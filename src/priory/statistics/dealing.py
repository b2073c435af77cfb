"""Folds of rows: which part of each is in which fold."""

from __future__ import annotations

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["FOLDS", "deal", "folds_of"]

FOLDS = 10
"""Rows fall into so many folds: 20 or 40 predict no better, and take longer."""


def deal(
    hashes: AnyArray, rows: IntArray, copied: BoolArray
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
    first = (hashes % np.uint64(FOLDS)).astype(np.int64)
    if (copied | (rows == 1)).all():
        return np.arange(len(rows)), first, rows, np.ones(len(rows))
    place = (np.arange(FOLDS) - first[:, None]) % FOLDS
    copies = rows[:, None] // FOLDS + (place < rows[:, None] % FOLDS)
    copies[copied] = np.where(place[copied] == 0, rows[copied][:, None], 0)
    row, fold = np.nonzero(copies)
    found = copies[row, fold]
    return row, fold, found, found / rows[row]


def folds_of(hashes: AnyArray) -> IntArray:
    """Find the fold of each of some rows, their copies dealt out as `deal` does.

    >>> folds_of(np.array([7, 7, 9], dtype=np.uint64)).tolist()
    [7, 8, 9]
    """
    first = (hashes % np.uint64(FOLDS)).astype(np.int64)
    order = np.argsort(hashes, kind="stable")
    same = np.r_[False, hashes[order][1:] == hashes[order][:-1]]
    starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    copy = np.empty(len(order), dtype=np.int64)
    copy[order] = np.arange(len(order)) - starts
    return (first + copy) % FOLDS
