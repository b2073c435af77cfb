"""Numbers that can be summed: finite, and with squares that are."""

from __future__ import annotations

from functools import partial

import numpy as np

from priory.base.errors import InputError
from priory.base.parallel import in_parallel, stretches
from priory.base.typing import AnyArray
from priory.data.schema import Block, unit_of

__all__ = ["LARGEST", "all_finite", "refuse_large"]

LARGEST = 1e150
"""Beyond it a square overflows."""

SMALL = 4096
"""Fewer entries are looked at one by one: a look at their sum first saves nothing."""


def refuse_large(block: Block, values: AnyArray, name_row: bool = False) -> None:
    """Name the first column of numbers with one that is infinite or too large, if there is one.

    The row can be named by whoever has all of them: a thread has a stretch.
    """
    with np.errstate(invalid="ignore"):
        wrong = np.abs(values) > np.float64(LARGEST)  # float32 has no such number
    for j in np.flatnonzero(wrong.any(axis=0)).tolist():
        row = int(np.argmax(wrong[:, j]))
        where = f" in row {row}" if name_row else ""
        if unit_of(block.why) == "date":
            raise InputError(
                f"Column {block.columns[j]!r} holds an infinite date{where}. Dates must be finite: "
                "leave them empty, by NULLIF(…, 'infinity') in a query, or drop the column."
            )
        raise InputError(
            f"Column {block.columns[j]!r} holds {float(values[row, j])!r}{where}. Numbers must be "
            "finite and at most 1e150 in size; use NaN for a missing value, or rescale the column."
        )


def all_finite(X: AnyArray) -> bool:
    """Whether no entry of an array of numbers is infinite or NaN.

    >>> all_finite(np.ones((2, 2))), all_finite(np.array([[1.0, np.nan]]))
    (True, False)
    """
    if X.size < SMALL:
        return bool(np.isfinite(X).all())
    parts = stretches(len(X), X.size // max(len(X), 1))
    with np.errstate(invalid="ignore", over="ignore"):
        sums = in_parallel([partial(np.sum, X[rows]) for rows in parts], len(parts))
    # A sum can overflow though every entry is finite: then look at each.
    return bool(np.isfinite(sums).all()) or bool(np.isfinite(X).all())
