"""Count numbers by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError, SettingError
from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.data.columns import Numbers
from priory.data.schema import Block
from priory.kernels.numbers import count_cells
from priory.statistics.cells import CELL_LIMIT, coarser_keys, coarsest_needed, interval_of, value_of
from priory.statistics.longtable import Entries
from priory.statistics.tables.base import Table, difference, spread_keys
from priory.statistics.tables.labels import LabelsTable

__all__ = ["CellsTable"]

HIGHEST = 52
"""At this level a cell is all the numbers between two powers of two; larger ones tell nothing."""


@dataclass(frozen=True, eq=False)
class CellsTable(Table):
    """Count how many numbers fall into each cell, per class.

    A cell is the leading bits of a float64 (see `statistics.cells`). At level 0 every distinct
    value is a cell; with more than 1,024 of them trailing bits are dropped until they fit.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "weight")

    level: int
    keys: IntArray
    rows: IntArray
    weight: FloatArray

    @classmethod
    def count(
        cls,
        block: Block,
        column: Numbers,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> CellsTable:
        """Count the values of a single column."""
        return cls(*count_cells(column.values[:, 0], y, weight, n_classes, 0, CELL_LIMIT))

    @cached_property
    def lower(self) -> FloatArray:
        """Return the least number of each cell."""
        return interval_of(self.keys, self.level)[0]

    @cached_property
    def upper(self) -> FloatArray:
        """Return the greatest number of each cell."""
        return interval_of(self.keys, self.level)[1]

    @cached_property
    def values(self) -> FloatArray:
        """Return a number inside each cell; at level 0 the very values counted."""
        return value_of(self.keys, self.level)

    def coarsened(self, level: int) -> CellsTable:
        """Return the same counts in the larger cells of a higher level."""
        if level == self.level:
            return self
        keys, where = np.unique(coarser_keys(self.keys, level - self.level), return_inverse=True)
        if not len(keys):
            return CellsTable(level, keys, self.rows, self.weight)
        # Keys are in order, so the cells that fall together stand side by side.
        starts = np.searchsorted(where, np.arange(len(keys)))
        rows = np.add.reduceat(self.rows, starts, axis=1)
        return CellsTable(level, keys, rows, np.add.reduceat(self.weight, starts, axis=1))

    def as_labels(self) -> LabelsTable:
        """Return the counts by value, which level 0 alone still knows."""
        if self.level > 0:
            raise SettingError(
                f"this column has more than {CELL_LIMIT:,} distinct numbers, so their exact values "
                "were not kept; to treat it as categories say so before learning: "
                "families={column: 'categorical'}"
            )
        labels = tuple(int(x) if x == int(x) else x for x in self.values.tolist())
        return LabelsTable(labels, self.rows, self.weight)

    def __add__(self, other: CellsTable) -> CellsTable:
        level = max(self.level, other.level)
        a, b = self.coarsened(level), other.coarsened(level)
        if np.array_equal(a.keys, b.keys):
            return CellsTable(level, a.keys, a.rows + b.rows, a.weight + b.weight)
        keys = np.union1d(a.keys, b.keys)
        here, there = np.searchsorted(keys, a.keys), np.searchsorted(keys, b.keys)
        rows = spread_keys(a.rows, here, len(keys)) + spread_keys(b.rows, there, len(keys))
        weight = spread_keys(a.weight, here, len(keys)) + spread_keys(b.weight, there, len(keys))
        result = CellsTable(level, keys, rows, weight)
        return result.coarsened(level + coarsest_needed(keys, CELL_LIMIT))

    def __sub__(self, other: CellsTable) -> CellsTable:
        # A level never goes down again: what was dropped cannot be known.
        taken = other.coarsened(max(self.level, other.level))
        keys = np.union1d(self.keys, taken.keys)
        if taken.level > self.level or len(keys) > len(self.keys):
            raise ForgetError("a number was never learned")
        there = np.searchsorted(keys, taken.keys)
        taken_rows = spread_keys(taken.rows, there, len(keys))
        taken_weight = spread_keys(taken.weight, there, len(keys))
        rows, weight = difference(self.rows, taken_rows, self.weight, taken_weight)
        seen = rows.any(axis=0)
        return CellsTable(self.level, keys[seen], rows[:, seen], weight[:, seen])

    def __mul__(self, factor: float) -> CellsTable:
        return CellsTable(self.level, self.keys, self.rows, self.weight * factor)

    def without_rare(self, min_count: int) -> CellsTable:
        """Return the table without the cells that fewer rows fall into, over all classes.

        Numbers are often all different, so cells are made larger first, until at most one row
        in ten is in such a cell.
        """
        table = self
        while table.level < HIGHEST:
            of_cell = table.rows.sum(axis=0)
            if of_cell[of_cell < min_count].sum() * 10 <= of_cell.sum():
                break
            table = table.coarsened(table.level + 1)
        kept = table.rows.sum(axis=0) >= min_count
        return CellsTable(table.level, table.keys[kept], table.rows[:, kept], table.weight[:, kept])

    def entries(self, block: Block) -> list[Entries]:
        """Return a row for each cell and class."""
        tokens = tuple(map(str, self.keys.tolist()))
        return [Entries.of_grid("cells", tokens, self.rows, self.weight)]

    def header(self) -> dict[str, Any]:
        """Return the level, without which the keys mean nothing."""
        return {"level": self.level}

    @classmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> CellsTable:
        """Return the table of such rows."""
        entries = parts.get("cells", Entries.none("cells"))
        keys = np.array([int(token) for token in entries.tokens], dtype=np.int64)
        rows, weight = entries.grid(n_classes, len(keys))
        order = np.argsort(keys)
        return cls(int(header.get("level", 0)), keys[order], rows[:, order], weight[:, order])
