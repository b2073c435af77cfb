"""Pairs of columns: which of them say more together than alone, and what.

Two kinds are looked for. Columns that *depend* on each other given the class are counted twice by
naive Bayes: those that share most are found as for a tree (Chow & Liu 1968), and the ratio

    log (n_abk + m) / (n_ak n_bk / n_k + m)

of how often values come together to how often they would if they were independent is a term of its
own. And columns that *interact* leave something of the classes unexplained: what is left over of
each row is summed by the cells of two columns, beyond what each of them alone explains. A pair of
either kind is let in where that is more than chance would show in any of all pairs: a χ² of f
degrees of freedom is above f + 2 √(f x) + 2 x with a probability of e^−x at most (Laurent & Massart
2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray
from priory.kernels.additive import log_loss_residuals
from priory.kernels.screening import left_over, shared_without
from priory.statistics.dealing import FOLDS
from priory.statistics.information import beyond_chance
from priory.tuning.additive import softmax
from priory.tuning.coded import CodedColumn
from priory.tuning.trees import worthy_edges

__all__ = ["Pair", "dependent_pairs", "interacting_pairs"]

IMAGINED = 2.0
"""So many imagined rows, as many as independence expects, are in each cell of two columns."""

MOST_CELLS = 400
"""So many cells a pair of columns may have."""

CONTRAST = 4.0
"""How strongly the left-over of a cell is held to 0 when pairs are compared."""

CHANCE = 0.05
"""How probable it may be that any of all pairs is let in by chance."""

MOST_LOOKED_AT = 20_000
"""So many rows are looked at to find pairs that interact."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two columns, the cell of each row, and which of them the pair is of."""

    columns: tuple[CodedColumn, CodedColumn]
    codes: CodeArray
    places: tuple[int, int]
    share: float
    """What the pair is thought to tell: nats a row given the class, or of what is left over."""
    without: BoolArray | None = None
    """Whether it was chosen without each fold."""

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.columns[0].size * self.columns[1].size

    def ratios(
        self, place: CodeArray, own: FloatArray, n_classes: int
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the log ratio of each cell, without each fold, and of all rows.

        They are cells × folds × classes, and cells × classes. `place` is the fold and the class of
        each row as one number.
        """
        a, b = (column.size for column in self.columns)
        known, n_places = self.codes >= 0, FOLDS * n_classes
        at = self.codes[known].astype(np.int64) * n_places + place[known]
        counted = np.bincount(at, own[known], a * b * n_places)
        taken = counted.reshape(a, b, FOLDS, n_classes)
        total = taken.sum(axis=2)
        left = _log_ratio(np.maximum(total[:, :, None] - taken, 0.0))
        if self.without is not None:
            left = left * self.without[:, None]
        return left.reshape(a * b, FOLDS, n_classes), _log_ratio(total).reshape(a * b, n_classes)


def _log_ratio(n: FloatArray) -> FloatArray:
    """Compare counts with those of independent columns; the first two axes are the columns."""
    of_a, of_b = n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True)
    every = of_a.sum(axis=0, keepdims=True)
    expected = of_a * of_b / np.where(every > 0, every, 1.0)
    return np.log((n + IMAGINED) / (expected + IMAGINED))


def dependent_pairs(
    columns: Sequence[CodedColumn],
    codes: Sequence[CodeArray],
    y: CodeArray,
    fold: CodeArray,
    own: FloatArray,
    n_classes: int,
) -> list[Pair]:
    """Find the pairs that share most given the class: those of a tree, and as many more.

    They are chosen on all rows, and again without each fold: rows are told only of pairs
    that were chosen without them.
    """
    if len(columns) < 2:
        return []
    some = slice(None) if len(y) <= MOST_LOOKED_AT else slice(0, MOST_LOOKED_AT)
    sizes = [column.size for column in columns]
    told = np.full((FOLDS + 1, len(sizes), len(sizes)), -np.inf)
    pairs = [p for p in combinations(range(len(sizes)), 2) if _fits(columns, p)]
    place = (fold[some] * n_classes + y[some]).astype(np.int32)
    given = place, own[some], FOLDS, n_classes
    looked_at = [code[some] for code in codes]

    def share(pair: tuple[int, int]) -> FloatArray:
        i, j = pair
        return shared_without(looked_at[i], looked_at[j], sizes[i], sizes[j], *given)

    every = in_parallel([partial(share, pair) for pair in pairs], thread_count())
    for (i, j), shares in zip(pairs, every, strict=True):
        told[:, i, j] = told[:, j, i] = shares
    n_rows = float(own[some].sum())
    found = [_chosen(beyond_chance(of_fold, sizes, n_classes)) for of_fold in told]
    return [
        replace(
            _pair(columns, codes, p, told[-1][p] / n_rows),
            without=np.array([p in of_fold for of_fold in found[:-1]]),
        )
        for p in found[-1]
    ]


def _chosen(told: FloatArray) -> list[tuple[int, int]]:
    """Choose the pairs of the heaviest tree, and as many more as there are columns."""
    tree = [(min(pair), max(pair)) for pair in worthy_edges(told)]
    more = [p for p in combinations(range(len(told)), 2) if told[p] > 0 and p not in set(tree)]
    return [*tree, *sorted(more, key=lambda pair: -told[pair])[: len(told)]]


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
    some = slice(None) if len(y) <= MOST_LOOKED_AT else slice(0, MOST_LOOKED_AT)
    p = softmax(scores[some])
    bend = np.ascontiguousarray(weight[some][:, None] * p * (1.0 - p))
    wrong = np.ascontiguousarray(scores[some], dtype=np.float64).copy()
    log_loss_residuals(wrong, np.ascontiguousarray(y[some], np.int32), weight[some].copy())
    pairs = [p for p in combinations(range(len(columns)), 2) if _fits(columns, p)]
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
    return [_pair(columns, codes, p, gain / n) for _, p, gain in found[: len(columns)]]


def _fits(columns: Sequence[CodedColumn], pair: tuple[int, int]) -> bool:
    return columns[pair[0]].size * columns[pair[1]].size <= MOST_CELLS


def _pair(
    columns: Sequence[CodedColumn], codes: Sequence[CodeArray], pair: tuple[int, int], share: float
) -> Pair:
    i, j = pair
    code = _together(codes[i], codes[j], columns[j].size)
    return Pair((columns[i], columns[j]), code, pair, float(share))


def _together(a: AnyArray, b: AnyArray, size: int) -> CodeArray:
    """Give each pair of codes a number, −1 where either has none."""
    return np.where((a >= 0) & (b >= 0), a * np.int32(size) + b, -1).astype(np.int32)
