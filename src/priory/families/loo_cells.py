"""A column's cells with one number left out, for many numbers at once.

The cells are few, so that rows of one cell, class and weight leave the same cells behind; what
follows from the cells alone (ranks, medians, cuts, bandwidths) is taken anew for each such pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.families.base import Lookup
from priory.families.loo import LooRows, distinct
from priory.families.moments import ClassMoments
from priory.statistics.cells import key_of
from priory.statistics.tables import CellsTable

__all__ = [
    "LooCellTables",
    "LooCells",
    "cells_of",
    "log_transforms",
    "loo_cell_table",
    "rank_transforms",
]

LooTransform: TypeAlias = Callable[[IntArray, FloatArray], FloatArray]
"""Transform numbers, each by one of the tables that are left."""

BATCH = 1024
"""So many tables of cells, each with a number left out, are looked at together."""


@dataclass(frozen=True, eq=False)
class LooCells:
    """Hold the distinct cells, classes and weights of the rows of a column, and each row's."""

    cells: CellsTable
    rows: IntArray
    """The rows that have a number which was learned."""
    pair: IntArray
    """Which of the pairs each of those rows is."""
    at: IntArray
    y: IntArray
    amount: FloatArray
    never: IntArray
    """The rows that have a number which was never learned."""

    @classmethod
    def of(cls, cells: CellsTable, x: FloatArray, loo: LooRows) -> LooCells:
        """Find the pairs of a column's rows."""
        amounts, which = loo.ways
        shape = (len(cells.keys), len(amounts), len(cells.weight))
        cell = cells_of(cells, x)
        learned = cell >= 0
        if len(cells.keys):
            learned &= cells.rows[loo.y, cell] > 0
        rows = np.flatnonzero(learned)
        combined = (cell * shape[1] + which) * shape[2] + loo.y
        size = int(np.prod(shape))
        pairs, pair = distinct(combined[rows], max(size, 1))
        at, way, y = np.unravel_index(pairs, shape) if size else (pairs, pairs, pairs)
        never = np.flatnonzero(~learned & (cell != -1))
        return cls(cells, rows, pair, at, y, amounts[way], never)

    def batches(self) -> Iterator[tuple[LooCellTables, IntArray, IntArray]]:
        """Yield some tables at a time, the rows they are for, and which is each row's."""
        order = np.argsort(self.pair, kind="stable")
        sorted_pairs = self.pair[order]
        for first in range(0, len(self.at), BATCH):
            some = slice(first, first + BATCH)
            ends = np.searchsorted(sorted_pairs, [first, first + BATCH])
            mine = order[ends[0] : ends[1]]
            left = LooCellTables(self.cells, self.at[some], self.y[some], self.amount[some])
            yield left, self.rows[mine], self.pair[mine] - first

    def tables(self) -> Iterator[tuple[CellsTable, IntArray]]:
        """Yield the cells that each pair leaves, and the rows they are for."""
        order = np.argsort(self.pair, kind="stable")
        ends = np.searchsorted(self.pair[order], np.arange(len(self.at) + 1))
        for i in range(len(self.at)):
            yield loo_cell_table(self.cells, *self.one(i)), self.rows[order[ends[i] : ends[i + 1]]]

    def one(self, i: int) -> tuple[int, int, float]:
        """Look up the cell, the class and the weight of one pair."""
        return int(self.at[i]), int(self.y[i]), float(self.amount[i])

    def lookup(self, n_rows: int, scores: FloatArray) -> Lookup:
        """Look the scores of the pairs up for the rows."""
        codes = np.full(n_rows, -1, dtype=np.int32)
        codes[self.rows], codes[self.never] = self.pair, len(self.at)
        table = np.concatenate([scores, np.full((1, scores.shape[1]), np.nan)])
        return Lookup(codes, np.arange(len(table), dtype=np.int32), table)


@dataclass(frozen=True, eq=False)
class LooCellTables:
    """Hold some tables of cells, each the same one with a number of one cell and class left out."""

    cells: CellsTable
    at: IntArray
    y: IntArray
    amount: FloatArray

    @cached_property
    def here(self) -> tuple[IntArray, IntArray]:
        """The place of the cell that the number is taken from, in each table."""
        return np.arange(len(self.at)), self.at

    @cached_property
    def gone(self) -> BoolArray:
        """In which tables the cell is gone."""
        return np.asarray(self.cells.rows.sum(axis=0)[self.at] == 1)

    @cached_property
    def taken(self) -> FloatArray:
        """The weight that is taken: all that the class had, where no row is left."""
        weight, rows = self.cells.weight[self.y, self.at], self.cells.rows[self.y, self.at]
        return np.where(rows == 1, weight, self.amount)

    @cached_property
    def weight(self) -> FloatArray:
        """The weight of each cell over all classes, tables × cells."""
        weight = np.tile(self.cells.weight.sum(axis=0), (len(self.at), 1))
        left = np.maximum(weight[self.here] - self.taken, 0.0)
        weight[self.here] = np.where(self.gone, 0.0, left)
        return weight

    def moments(self, t: FloatArray) -> ClassMoments:
        """Find the moments of all classes, tables × classes, of numbers t that stand for cells.

        `t` is tables × cells.
        """
        here = np.arange(len(self.at)), self.y
        tiny = np.finfo(float).tiny
        n = self.cells.weight.sum(axis=1)
        mean = t @ self.cells.weight.T / np.maximum(n, tiny)
        scatter = np.stack(
            [(t - mean[:, k, None]) ** 2 @ weight for k, weight in enumerate(self.cells.weight)],
            axis=1,
        )
        rows = self.cells.rows.sum(axis=1)
        nothing = np.tile(rows == 0, (len(self.at), 1))
        nothing[here] = rows[self.y] == 1
        before, away = n[self.y], t[self.here] - mean[here]
        n = np.tile(n, (len(self.at), 1))
        n[here] = np.where(nothing[here], 0.0, before - self.taken)
        left = np.where(nothing[here], 1.0, n[here])
        mean[here] -= self.taken * away / left
        scatter[here] -= self.taken * away * away * (before / left)
        alone = rows[self.y] == 2  # what is left of it is rounding
        scatter[here] = np.where(alone, 0.0, scatter[here])
        total = np.maximum(self.weight.sum(axis=1, keepdims=True), tiny)
        pooled_mean = (self.weight * t).sum(axis=1, keepdims=True) / total
        squares = self.weight * (t - pooled_mean) ** 2
        pooled_variance = squares.sum(axis=1, keepdims=True) / total
        variance = np.maximum(scatter, 0.0) / np.maximum(n, tiny)
        return ClassMoments.filled(n, mean, variance, nothing, (pooled_mean, pooled_variance))


def log_transforms(left: LooCellTables) -> tuple[FloatArray, LooTransform]:
    """Find what `transforms.log_transform` makes of each table: of its cells, and of numbers."""
    values, lower, last = left.cells.values, left.cells.lower, len(left.cells.keys) - 1
    first_gone = left.gone & (left.at == 0)
    second = lower[1] if last else 0.0  # with the only cell gone there is nothing to start from
    least = np.where(first_gone, second, lower[0])
    total = left.weight.sum(axis=1)
    half = (np.cumsum(left.weight, axis=1) < total[:, None] / 2 * (1 - 1e-12)).sum(axis=1)
    half = np.minimum(half, np.where(left.gone & (left.at == last), last - 1, last))
    typical = values[half] - least
    excess = values - least[:, None]
    mean = (excess * left.weight).sum(axis=1) / np.maximum(total, np.finfo(float).tiny)
    typical = np.where(typical == 0, mean, typical)
    typical = np.where(left.gone & (last == 0), 0.0, typical)
    scale = np.where(typical > 0, typical / 4, 1.0)

    def transformed(table: IntArray, x: FloatArray) -> FloatArray:
        return np.log1p(np.maximum(x - least[table], 0.0) / scale[table])

    return np.log1p(np.maximum(excess, 0.0) / scale[:, None]), transformed


def rank_transforms(left: LooCellTables) -> tuple[FloatArray, LooTransform]:
    """Find what `transforms.rank_transform` makes of each table: of its cells, and of numbers."""
    from scipy.special import ndtri  # a thousand tables are too many for the standard library's

    total = np.maximum(left.weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    ranks = (np.cumsum(left.weight, axis=1) - left.weight / 2) / total
    ranks[left.here] = np.where(left.gone, 0.5, ranks[left.here])  # nobody asks for these
    t, points = ndtri(ranks), left.cells.values
    last = len(points) - 1

    def transformed(table: IntArray, x: FloatArray) -> FloatArray:
        at, gone = left.at[table], left.gone[table]
        below = x < points[at]
        low, high = np.where(gone | below, at - 1, at), np.where(gone | ~below, at + 1, at)
        low, high = np.where(low < 0, high, low), np.where(high > last, low, high)
        low, high = np.clip(low, 0, last), np.clip(high, 0, last)
        width = points[high] - points[low]
        slope = (t[table, high] - t[table, low]) / np.where(width > 0, width, 1.0)
        return np.asarray(t[table, low] + slope * (x - points[low]) * (width > 0))

    return t, transformed


def cells_of(cells: CellsTable, x: AnyArray) -> IntArray:
    """Find the cell of each number: −1 for a missing value, −2 for one that was never learned."""
    gap = np.isnan(x)
    if not len(cells.keys):
        return np.where(gap, -1, -2)
    keys = key_of(x, cells.level)
    places = np.minimum(np.searchsorted(cells.keys, keys), len(cells.keys) - 1)
    return np.where(gap, -1, np.where(cells.keys[places] == keys, places, -2))


def loo_cell_table(cells: CellsTable, at: int, y: int, amount: float) -> CellsTable:
    """Take one number out of the cells."""
    rows, weight = cells.rows.copy(), cells.weight.copy()
    rows[y, at] -= 1
    weight[y, at] = max(weight[y, at] - amount, 0.0) if rows[y, at] else 0.0
    if rows[:, at].any():
        return CellsTable(cells.level, cells.keys, rows, weight)
    others = np.arange(len(cells.keys)) != at
    return CellsTable(cells.level, cells.keys[others], rows[:, others], weight[:, others])
