"""A column as codes: the places of its labels, or the bins of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import CodeArray, IntArray
from priory.data.columns import Frame, Labels, Numbers
from priory.data.pairing import Pairing
from priory.data.schema import Block
from priory.families.cuts import between_cells, equal_frequency
from priory.statistics.tables import CellsTable, LabelsTable, NumbersTable, Table

__all__ = ["CodedColumn"]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column, and what its codes mean: its labels, or the ends of its bins."""

    block: Block
    labels: tuple[Any, ...] | None
    edges: tuple[float, ...] | None

    @classmethod
    def of(cls, block: Block, table: Table, bins: int, most_labels: int | None = None) -> Any:
        """Code a column by its labels, the commonest if they are too many, or by so many bins."""
        if isinstance(table, LabelsTable):
            labels = table.labels
            if most_labels is not None and len(labels) > most_labels:
                order = np.argsort(-table.weight.sum(axis=0), kind="stable")[:most_labels]
                labels = tuple(labels[i] for i in np.sort(order).tolist())
            return cls(block, labels, None)
        assert isinstance(table, NumbersTable)
        return cls(block, None, bin_ends(table.cells, bins))

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels) if self.labels is not None else len(self.edges or ()) - 1

    @property
    def values(self) -> tuple[Any, ...]:
        """What the codes stand for: labels, or the places of bins."""
        return self.labels if self.labels is not None else tuple(range(self.size))

    def within(self, finer: CodedColumn) -> IntArray:
        """Find the code of each code of the same column that is cut into more bins."""
        if self.edges is None or finer.edges is None:
            return np.arange(self.size)
        return np.searchsorted(self.edges[1:-1], (*finer.edges[1:-1], np.inf))

    def codes(self, frame: Frame) -> CodeArray:
        """Find the code of each row, −1 where it has none."""
        column = frame[self.block.name]
        if self.labels is not None:
            assert isinstance(column, Labels)
            place = {label_key(label): i for i, label in enumerate(self.labels)}
            where = [place.get(label_key(label), -1) for label in column.labels]
            return np.array([*where, -1], dtype=np.int32)[column.codes]
        assert isinstance(column, Numbers)
        return Pairing("joint", (self.edges,), ()).bins(0, column.values[:, 0])


def bin_ends(cells: CellsTable, bins: int) -> tuple[float, ...]:
    """Find the ends of bins of about equal frequency."""
    if not len(cells.keys):
        return (0.0, 0.0)
    cuts = between_cells(cells, equal_frequency(cells, bins))
    return (float(cells.lower[0]), *map(float, cuts), float(cells.upper[-1]))
