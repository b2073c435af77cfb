"""Probabilities of many rows as counts: how many rows are about so sure of each class.

A row's cell is how far each class lies below its likeliest one, in steps on the logarithmic scale:

    c_k = round(log(P(k | x) / max_j P(j | x)) / step)

The step is a quarter, and twice that again and again where there are more cells than may be kept.
It depends on the cells of all rows alone, so any pieces, in any order, are counted alike.
"""

from __future__ import annotations

import numpy as np

from priory.base.typing import AnyArray, FloatArray

__all__ = ["ProbabilityCells"]

STEP, LOWEST = 0.25, -100
"""What is e^−25 times as likely as another class is as good as impossible."""

CELL_LIMIT = 4_096


class ProbabilityCells:
    """Counts of rows by their probabilities, about.

    >>> cells = ProbabilityCells(2)
    >>> cells.add(np.array([[0.5, 0.5], [0.51, 0.49], [0.9, 0.1]]))
    >>> p, counts = cells.table()
    >>> p.round(2).tolist(), counts.tolist()
    ([[0.5, 0.5], [0.9, 0.1]], [2.0, 1.0])
    """

    def __init__(self, n_classes: int, limit: int = CELL_LIMIT) -> None:
        self._n_classes, self._limit, self._level = n_classes, limit, 0
        self._counts: dict[bytes, int] = {}

    def add(self, p: FloatArray) -> None:
        """Count rows by P(k | x), rows × classes."""
        with np.errstate(divide="ignore"):
            below = np.log(p / p.max(axis=1, keepdims=True)) / STEP
        cells = np.rint(np.maximum(below, LOWEST)).astype(np.int8)
        self._merge(_coarser(cells, self._level), np.ones(len(p), dtype=np.int64))

    def empty(self) -> ProbabilityCells:
        """Make counts of no rows."""
        return ProbabilityCells(self._n_classes, self._limit)

    def __add__(self, other: ProbabilityCells) -> ProbabilityCells:
        found = self.empty()
        found._level = max(self._level, other._level)
        for one in (self, other):
            cells, counts = one._arrays()
            found._merge(_coarser(cells, found._level - one._level), counts)
        return found

    def table(self) -> tuple[FloatArray, FloatArray]:
        """List the probabilities of each cell, and how many rows are in it."""
        cells, counts = self._arrays()
        p = np.exp(cells * (STEP * 2.0**self._level))
        return p / p.sum(axis=1, keepdims=True), counts.astype(np.float64)

    def _arrays(self) -> tuple[AnyArray, AnyArray]:
        keys = sorted(self._counts)
        cells = np.frombuffer(b"".join(keys), dtype=np.int8).reshape(len(keys), self._n_classes)
        return cells, np.array([self._counts[key] for key in keys], dtype=np.int64)

    def _merge(self, cells: AnyArray, counts: AnyArray) -> None:
        for cell, n in zip(cells, counts.tolist(), strict=True):
            key = cell.tobytes()
            self._counts[key] = self._counts.get(key, 0) + n
        if len(self._counts) > self._limit:
            cells, counts = self._arrays()
            self._counts, self._level = {}, self._level + 1
            self._merge(_coarser(cells, 1), counts)


def _coarser(cells: AnyArray, levels: int) -> AnyArray:
    """Halve the cells so many times."""
    for _ in range(levels):
        cells = np.rint(cells / 2).astype(np.int8)
    return cells
