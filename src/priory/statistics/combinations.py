"""How often each combination of codes came: what pairs, structures and networks are counted by."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from priory.base.typing import AnyArray, FloatArray
from priory.data.combinations import joined_codes
from priory.kernels.labels import count_joint

__all__ = ["count_combinations"]


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
