"""Keep the moments and the cells of a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from priory.base.typing import CodeArray, FloatArray
from priory.data.columns import Numbers
from priory.data.schema import Block
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.base import Table
from priory.statistics.tables.cells import CellsTable
from priory.statistics.tables.labels import LabelsTable
from priory.statistics.tables.moments import MomentsTable

__all__ = ["NumbersTable"]


@dataclass(frozen=True, eq=False)
class NumbersTable(Table):
    """Both the moments and the cells of a column of numbers."""

    per_class: ClassVar[tuple[str, ...]] = ("moments", "cells")

    moments: MomentsTable
    cells: CellsTable

    @classmethod
    def count(
        cls, block: Block, column: Numbers, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> NumbersTable:
        """Sum and count the values that are not missing."""
        given = (block, column, y, weight, n_classes)
        return cls(MomentsTable.count(*given), CellsTable.count(*given))

    @property
    def present(self) -> FloatArray:
        """The weight of the rows of each class that have a value."""
        return self.moments.weight[:, 0]

    def as_labels(self) -> LabelsTable:
        """Count by value, while there are few distinct ones."""
        return self.cells.as_labels()

    def __sub__(self, other: NumbersTable) -> NumbersTable:
        cells = self.cells - other.cells  # they know best which numbers were learned
        return NumbersTable(self.moments - other.moments, cells)

    def without_rare(self, min_count: int) -> NumbersTable:
        """Leave out rare cells; the moments stay whole."""
        return replace(self, cells=self.cells.without_rare(min_count))

    def parts(self, block: Block) -> list[Part]:
        """Write the rows of moments and cells."""
        return self.moments.parts(block) + self.cells.parts(block)

    def header(self) -> dict[str, Any]:
        """Say the level of the cells."""
        return self.cells.header()

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> NumbersTable:
        """Make the table of such rows."""
        given = (block, n_classes, parts)
        return cls(MomentsTable.from_parts(*given), CellsTable.from_parts(*given))
