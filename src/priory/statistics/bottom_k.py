"""Bottom-k sampling: keep the rows with the least hashes (Cohen 1997).

Three quarters of the places go to the least hashes of all, the last quarter is shared by the
classes, so that a rare class is there too.
"""

from __future__ import annotations

import numpy as np

from priory.base.typing import AnyArray, IntArray
from priory.data.columns import Frame, Labels
from priory.statistics.hashing import row_hashes

__all__ = ["EVERYTHING", "bottom_rows", "least_hashes"]

EVERYTHING = np.uint64(2**64 - 1)
"""The bound of a class all of whose rows are in the sample."""

AT_ONCE = 4
"""So many times the sample's size, rows are looked at before most of the rest is passed over."""


def bottom_rows(frame: Frame, y: Labels, size: int) -> IntArray | None:
    """Find the rows of a sample of this size, in their order, or None where all are in it.

    >>> from priory.data.columns import Numbers
    >>> y = Labels(np.zeros(5, dtype=np.int32), ("a",))
    >>> frame = Frame(5, {"x": Numbers(np.arange(5.0)[:, None])})
    >>> backwards = Frame(5, {"x": Numbers(np.arange(5.0)[::-1, None])})
    >>> there, back = bottom_rows(frame, y, 4), bottom_rows(backwards, y, 4)
    >>> sorted(there) == sorted(4 - back)
    True
    """
    if len(frame) <= size:
        return None
    rows, _ = least_hashes(row_hashes(frame, y), y, size)
    return rows


def least_hashes(
    hashes: AnyArray,
    y: Labels,
    size: int,
    some: AnyArray | None = None,
    before: AnyArray | None = None,
) -> tuple[IntArray, AnyArray]:
    """Find the rows of the sample, in their order, and the largest hash of each class in it.

    `some` are the rows to choose from, `before` the bounds that they were held to already.
    """
    rows = np.arange(len(hashes)) if some is None else np.flatnonzero(some)
    bounds = np.full(len(y.labels), EVERYTHING) if before is None else before
    kept, first, step = rows[:0], 0, AT_ONCE * size
    while first < len(rows):
        new = rows[first : first + step]
        kept = np.concatenate([kept, new[hashes[new] <= bounds[y.codes[new]]]])
        bounds = np.minimum(bounds, _bounds(hashes[kept], y.codes[kept], bounds, size))
        kept = kept[hashes[kept] <= bounds[y.codes[kept]]]
        first, step = first + step, 4 * step
    return kept, bounds


def _bounds(hashes: AnyArray, y: AnyArray, before: AnyArray, size: int) -> AnyArray:
    """Find the largest hash that each class has in the sample; all are in it where few came."""
    bounds = np.full(len(before), EVERYTHING)
    distinct, first = np.unique(hashes, return_index=True)
    quarter = max(1, size // 4)
    most = max(1, size - quarter)
    if len(distinct) < most or (len(distinct) <= size and (before == EVERYTHING).all()):
        return bounds
    codes = y[first]
    order = np.argsort(codes, kind="stable")  # within a class the least hashes first
    seen, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    share = max(1, quarter // len(seen))
    many = counts > share
    last = distinct[order[starts[many] + share - 1]]
    bounds[seen[many]] = np.maximum(last, distinct[most - 1])
    return bounds
