"""Keep the moments and the cells of a column of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from priory.base.typing import CodeArray, FloatArray
from priory.data.columns import Numbers
from priory.data.schema import Block
from priory.statistics.longtable import Entries
from priory.statistics.tables.base import Table
from priory.statistics.tables.cells import CellsTable
from priory.statistics.tables.labels import LabelsTable
from priory.statistics.tables.moments import MomentsTable

__all__ = ["NumbersTable"]


@dataclass(frozen=True, eq=False)
class NumbersTable(Table):
    """Keep both the moments and the cells of a column of numbers."""

    per_class: ClassVar[tuple[str, ...]] = ("moments", "cells")

    moments: MomentsTable
    cells: CellsTable

    @classmethod
    def count(
        cls,
        block: Block,
        column: Numbers,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> NumbersTable:
        """Sum and count the values that are not missing."""
        return cls(
            MomentsTable.count(block, column, y, weight, n_classes),
            CellsTable.count(block, column, y, weight, n_classes),
        )

    @property
    def present(self) -> FloatArray:
        """Return the weight of the rows of each class that have a value."""
        return self.moments.weight[:, 0]

    def as_labels(self) -> LabelsTable:
        """Return the counts by value, while there are few distinct ones."""
        return self.cells.as_labels()

    def __add__(self, other: NumbersTable) -> NumbersTable:
        return NumbersTable(self.moments + other.moments, self.cells + other.cells)

    def __sub__(self, other: NumbersTable) -> NumbersTable:
        cells = self.cells - other.cells  # they know best which numbers were learned
        return NumbersTable(self.moments - other.moments, cells)

    def __mul__(self, factor: float) -> NumbersTable:
        return NumbersTable(self.moments * factor, self.cells * factor)

    def without_rare(self, min_count: int) -> NumbersTable:
        """Return the table without rare cells; the moments stay whole."""
        return NumbersTable(self.moments, self.cells.without_rare(min_count))

    def entries(self, block: Block) -> list[Entries]:
        """Return the rows of both parts."""
        return self.moments.entries(block) + self.cells.entries(block)

    def header(self) -> dict[str, Any]:
        """Return the level of the cells."""
        return self.cells.header()

    @classmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> NumbersTable:
        """Return the table of such rows."""
        return cls(
            MomentsTable.from_entries(block, n_classes, header, parts),
            CellsTable.from_entries(block, n_classes, header, parts),
        )
