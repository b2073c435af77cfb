"""Add up what many factors say of many rows, stretch by stretch and in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from priory.base.parallel import in_parallel, stretches
from priory.base.typing import FloatArray
from priory.families.base import Adder, Lookup
from priory.kernels.score import Lookups

__all__ = ["add_up", "times", "weighted_adder"]

STRETCH = 131_072
"""So many scores are worked out together: a megabyte, which stays in the cache."""


def add_up(
    adders: Sequence[Adder],
    start: FloatArray,
    out: FloatArray,
    n_columns: int,
    finish: Callable[[slice], None] | None = None,
) -> None:
    """Write a start, the same for all rows or one for each, and what the adders add to it.

    Threads share the rows, and work on them stretch by stretch; `finish` follows each.
    """
    n_rows, n_classes = out.shape
    together = _together(adders)
    height = max(1, STRETCH // max(n_classes, 1))

    def add(rows: slice) -> None:
        for first in range(rows.start, rows.stop, height):
            some = slice(first, min(first + height, rows.stop))
            part = out[some]
            part[...] = start if start.ndim == 1 else start[some]
            for adder in together:
                adder(some, part)
            if finish is not None:
                finish(some)

    parts = stretches(n_rows, n_classes * n_columns)
    if len(parts) == 1:
        add(parts[0])
    else:
        in_parallel([partial(add, rows) for rows in parts], len(parts))


def weighted_adder(adder: Adder, weight: float, offset: FloatArray | float) -> Adder:
    """Add weight times as much, and an offset where that is anything at all."""

    def add(rows: slice, out: FloatArray) -> None:
        part = np.zeros_like(out)
        adder(rows, part)
        says = part.any(axis=1, keepdims=True)
        part = times(weight, part)
        part += says * offset
        out += part

    return add


def times(weight: float, scores: FloatArray) -> FloatArray:
    """Multiply scores by a weight; 0 · (−∞) = 0."""
    return weight * scores if weight else np.zeros_like(scores)


def _together(adders: Sequence[Adder]) -> list[Adder]:
    """Join all the look-up tables into one, so that rows are read once."""
    lookups = [adder for adder in adders if isinstance(adder, Lookup)]
    others = [adder for adder in adders if not isinstance(adder, Lookup)]
    if not lookups:
        return others
    tables = Lookups([one.parts for one in lookups])
    return [*others, lambda rows, out: tables.add(rows.start, out)]
