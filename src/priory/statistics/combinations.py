"""Columns of codes taken together: one code for each combination, and how often each came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.kernels.labels import count_joint, encode_integers

__all__ = ["count_combinations", "joined_codes"]

LARGEST_KEY = 2**62


def count_combinations(
    columns: Sequence[AnyArray], sizes: Sequence[int], weight: FloatArray | None = None
) -> AnyArray:
    """Count how often each combination of codes came, an axis for each column.

    A row with a gap, a negative code, in one of them is not counted. The counts are whole numbers,
    or with weights sums of them.

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


def joined_codes(columns: Iterable[AnyArray], sizes: Iterable[int], n_rows: int) -> IntArray:
    """Return one code for each combination of codes, −1 where any is a gap.

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
    gaps: AnyArray | None = None
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * max(size, 1) >= LARGEST_KEY:
            codes, distinct = encode_integers(keys)
            keys, span = codes.astype(np.int64), len(distinct)
        if column.min(initial=0) < 0:
            gaps = column < 0 if gaps is None else gaps | (column < 0)
        if span == 1:
            keys = column.astype(keys.dtype)
        else:
            keys *= size
            keys += column
        span *= max(size, 1)
    if gaps is not None:
        keys[gaps] = -1
    return keys
