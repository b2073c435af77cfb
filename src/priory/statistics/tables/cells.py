"""Count numbers by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError, SettingError
from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.data.columns import Numbers
from priory.data.schema import Block
from priory.kernels.numbers import count_cells
from priory.statistics.cells import CELL_LIMIT, coarser_keys, coarsest_needed, interval_of, value_of
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.base import Table, add_keys, difference
from priory.statistics.tables.labels import LabelsTable

__all__ = ["CellsTable"]

HIGHEST = 52
"""At this level a cell is all the numbers between two powers of two; larger ones tell nothing."""


@dataclass(frozen=True, eq=False)
class CellsTable(Table):
    """Counts of the numbers that fall into each cell, per class.

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
        cls, block: Block, column: Numbers, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> CellsTable:
        """Count the values of a single column."""
        return cls(*count_cells(column.values[:, 0], y, weight, n_classes, 0, CELL_LIMIT))

    @cached_property
    def lower(self) -> FloatArray:
        """The least number of each cell."""
        return interval_of(self.keys, self.level)[0]

    @cached_property
    def upper(self) -> FloatArray:
        """The greatest number of each cell."""
        return interval_of(self.keys, self.level)[1] if self.level else self.lower

    @cached_property
    def values(self) -> FloatArray:
        """A number inside each cell; at level 0 the very values counted."""
        return value_of(self.keys, self.level) if self.level else self.lower

    def coarsened(self, level: int) -> CellsTable:
        """Count in the larger cells of a higher level."""
        if level == self.level:
            return self
        keys, where = np.unique(coarser_keys(self.keys, level - self.level), return_inverse=True)
        if not len(keys):
            return replace(self, level=level, keys=keys)
        # Keys are in order, so the cells that fall together stand side by side.
        starts = np.searchsorted(where, np.arange(len(keys)))
        rows, weight = (np.add.reduceat(sums, starts, axis=1) for sums in (self.rows, self.weight))
        return CellsTable(level, keys, rows, weight)

    def as_labels(self) -> LabelsTable:
        """Count by value, which level 0 alone still knows."""
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
        total = CellsTable(level, keys, *add_keys(a, here, b, there, len(keys)))
        return total.coarsened(level + coarsest_needed(keys, CELL_LIMIT))

    def __sub__(self, other: CellsTable) -> CellsTable:
        # A level never goes down again: what was dropped cannot be known.
        taken = other.coarsened(max(self.level, other.level))
        keys = np.union1d(self.keys, taken.keys)
        if taken.level > self.level or len(keys) > len(self.keys):
            raise ForgetError("a number was never learned")
        rows, weight = difference(self, taken, there=np.searchsorted(keys, taken.keys))
        return CellsTable(self.level, keys, rows, weight)._only(rows.any(axis=0))

    def without_rare(self, min_count: int) -> CellsTable:
        """Leave out the cells that fewer rows fall into, over all classes.

        Numbers are often all different, so cells are made larger first, until at most one row
        in ten is in such a cell.
        """
        table, per_cell = self, self.rows.sum(axis=0)
        while table.level < HIGHEST:
            if per_cell[per_cell < min_count].sum() * 10 <= per_cell.sum():
                break
            table = table.coarsened(table.level + 1)
            per_cell = table.rows.sum(axis=0)
        return table._only(per_cell >= min_count)

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each cell and class."""
        return [Part.of_grid("cells", list(map(str, self.keys.tolist())), self.rows, self.weight)]

    def header(self) -> dict[str, Any]:
        """Say the level, without which the keys mean nothing."""
        return {"level": self.level}

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> CellsTable:
        """Make the table of such rows."""
        keys = np.array([int(token) for token in parts["cells"].tokens], dtype=np.int64)
        rows, weight = parts["cells"].grid(n_classes, len(keys))
        return cls(int(parts.header.get("level", 0)), keys, rows, weight)._only(np.argsort(keys))

    def _only(self, places: Any) -> CellsTable:
        return CellsTable(
            self.level, self.keys[places], self.rows[:, places], self.weight[:, places]
        )
