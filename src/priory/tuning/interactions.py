"""Pairs of columns that interact: together they tell of the class what neither tells alone.

What is left over of each row, under the scores of all other rows, is summed by the cells of two
columns, beyond what each of them alone explains. A pair is let in where that is more than chance
would show in any of all pairs: a χ² of f degrees of freedom is above f + 2 √(f x) + 2 x with a
probability of e^−x at most (Laurent & Massart 2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np

from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import CodeArray, FloatArray
from priory.kernels.additive import log_loss_residuals
from priory.kernels.screening import left_over
from priory.tuning.additive import softmax
from priory.tuning.coded import CodedColumn
from priory.tuning.pairs import MOST_LOOKED_AT, Pair, fits, pair_of

__all__ = ["interacting_pairs"]

CONTRAST = 4.0
"""How strongly the left-over of a cell is held to 0 when pairs are compared."""

CHANCE = 0.05
"""How probable it may be that any of all pairs is let in by chance."""


def interacting_pairs(
    columns: Sequence[CodedColumn],
    codes: Sequence[CodeArray],
    scores: FloatArray,
    y: CodeArray,
    weight: FloatArray,
) -> list[Pair]:
    """Find the pairs whose cells leave more unexplained than chance allows, the most first.

    `scores` are those of each row without its own say. There are at most as many as columns.
    """
    some = slice(0, MOST_LOOKED_AT)
    p = softmax(scores[some])
    bend = np.ascontiguousarray(weight[some][:, None] * p * (1.0 - p))
    wrong = np.ascontiguousarray(scores[some], dtype=np.float64).copy()
    log_loss_residuals(wrong, np.ascontiguousarray(y[some], np.int32), weight[some].copy())
    pairs = [p for p in combinations(range(len(columns)), 2) if fits(columns, p)]
    needed = np.log(max(len(pairs), 1) / CHANCE)
    looked_at = [code[some] for code in codes]

    def left(pair: tuple[int, int]) -> tuple[float, float]:
        i, j = pair
        sizes = columns[i].size, columns[j].size
        return left_over(looked_at[i], looked_at[j], *sizes, wrong, bend, CONTRAST)

    found = []
    every = in_parallel([partial(left, pair) for pair in pairs], thread_count())
    for pair, (gain, freedom) in zip(pairs, every, strict=True):
        beyond = gain - np.sqrt(freedom * needed) - needed
        if beyond > 0:
            found.append((beyond, pair, gain))
    found.sort(key=lambda one: -one[0])
    n = float(weight[some].sum())
    return [pair_of(columns, codes, p, gain / n) for _, p, gain in found[: len(columns)]]
