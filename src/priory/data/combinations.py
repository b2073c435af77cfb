"""Columns of codes taken together: one code for each combination, and how often each came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.kernels.labels import count_joint, encode_integers

__all__ = ["count_combinations", "distinct_combinations", "joined_codes"]

LARGEST_KEY = 2**62


def distinct_combinations(
    columns: Sequence[AnyArray], sizes: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Find the distinct rows of some codes, in their order, and where each row is among them.

    A row with a missing value, a negative code, is none of them: its place is −1.

    >>> columns = [np.array([1, 0, 1, -1]), np.array([0, 2, 0, 1])]
    >>> codes, places = distinct_combinations(columns, [2, 3])
    >>> codes.tolist(), places.tolist()
    ([[0, 2], [1, 0]], [1, 0, 1, -1])
    """
    keys = joined_codes(columns, sizes, len(columns[0])).astype(np.int64, copy=False)
    groups, found = encode_integers(keys)
    first = np.zeros(len(found), dtype=np.int64)
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)  # from the back, so the first stays
    codes = np.stack([column[first] for column in columns], axis=1).astype(np.int64)
    order = np.lexsort(codes.T[::-1])
    order = order[np.asarray(found)[order] >= 0]
    places = np.full(len(found), -1, dtype=np.int64)
    places[order] = np.arange(len(order))
    return codes[order], places[groups]


def joined_codes(columns: Iterable[AnyArray], sizes: Iterable[int], n_rows: int) -> IntArray:
    """Join codes to one for each combination, −1 where any is missing.

    Codes are joined in mixed radix; where that would overflow, what was joined so far is numbered
    anew by first appearance, so that rows are told apart however many columns there are.

    >>> joined_codes([np.array([0, 1, 1]), np.array([2, 0, -1])], [2, 3], 3).tolist()
    [2, 3, -1]
    """
    columns, sizes = list(columns), list(sizes)
    # The narrowest integers that hold every code: less memory to go through is what saves time.
    kinds = ((2**7, np.int8), (2**15, np.int16), (2**31, np.int32))
    kind = next((kind for bound, kind in kinds if prod(sizes) < bound), np.int64)
    keys: AnyArray = np.zeros(n_rows, dtype=kind)
    missing: AnyArray | None = None
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * max(size, 1) >= LARGEST_KEY:
            codes, distinct = encode_integers(keys)
            keys, span = codes.astype(np.int64), len(distinct)
        if column.min(initial=0) < 0:
            missing = column < 0 if missing is None else missing | (column < 0)
        if span == 1:
            keys = column.astype(keys.dtype)
        else:
            keys *= size
            keys += column
        span *= max(size, 1)
    if missing is not None:
        keys[missing] = -1
    return keys


def count_combinations(
    columns: Sequence[AnyArray], sizes: Sequence[int], weight: FloatArray | None = None
) -> AnyArray:
    """Count how often each combination of codes came, an axis for each column.

    A row with a missing value, a negative code, is not counted. With weights they are summed.

    >>> count_combinations([np.array([0, 1, 1]), np.array([1, 0, -1])], [2, 2]).tolist()
    [[0, 1], [1, 0]]
    """
    if weight is None:
        rows = np.zeros(prod(sizes), dtype=np.int64)
        count_joint(columns, sizes, rows)
        return rows.reshape(sizes)
    keys = joined_codes(columns, sizes, len(columns[0]))
    there = keys >= 0
    total = np.bincount(keys[there], weights=weight[there], minlength=prod(sizes))
    return total.astype(np.float64).reshape(sizes)
