"""A pair of columns, the cells of their values, and in which of them each row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.tuning.coded import CodedColumn

__all__ = ["MOST_CLASSES", "MOST_LOOKED_AT", "Pair", "fits", "pair_of", "together"]

MOST_CELLS = 400
"""So many cells a pair of columns may have, when pairs are looked for."""

MOST_CLASSES = 100
"""Of more classes the rows are too few for all but counts of pairs."""

MOST_LOOKED_AT = 20_000
"""So many rows are looked at to find pairs."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two columns, the cell of each row, and which of all columns they are."""

    columns: tuple[CodedColumn, CodedColumn]
    codes: CodeArray
    places: tuple[int, int]
    share: float
    """What the pair is thought to tell: nats a row given the class, or of what is left over."""

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.columns[0].size * self.columns[1].size

    def scores_in(self, finer: tuple[CodedColumn, CodedColumn], scores: FloatArray) -> FloatArray:
        """Give the scores of its cells, cells × classes, to those of the same columns cut finer."""
        a, b = (own.within(column) for own, column in zip(self.columns, finer, strict=True))
        every = scores.reshape(*(column.size for column in self.columns), -1)
        return np.asarray(every[np.ix_(a, b)]).reshape(-1, every.shape[-1])


def fits(columns: Sequence[CodedColumn], places: tuple[int, int]) -> bool:
    """Tell whether two of the columns have so few cells that they may be a pair."""
    return columns[places[0]].size * columns[places[1]].size <= MOST_CELLS


def pair_of(
    columns: Sequence[CodedColumn],
    codes: Sequence[CodeArray],
    places: tuple[int, int],
    share: float,
) -> Pair:
    """Make a pair of two of the columns, with their codes."""
    i, j = places
    code = together(codes[i], codes[j], columns[j].size)
    return Pair((columns[i], columns[j]), code, places, float(share))


def together(a: AnyArray, b: AnyArray, size: int) -> CodeArray:
    """Give each pair of codes a number, −1 where either has none; b has so many codes.

    >>> together(np.array([0, 1, -1]), np.array([2, 0, 1]), 3).tolist()
    [2, 3, -1]
    """
    return np.where((a >= 0) & (b >= 0), a * np.int32(size) + b, -1).astype(np.int32)
