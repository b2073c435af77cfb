"""Count each value of a column of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError
from priory.base.labels import are_in_order, label_key, label_keys, label_token, token_labels, union
from priory.base.typing import CodeArray, FloatArray, IntArray, Key
from priory.data.columns import Column
from priory.data.schema import Block
from priory.kernels.labels import count_labels
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.base import Table, add_keys, difference

__all__ = ["LabelsTable"]


@dataclass(frozen=True, eq=False)
class LabelsTable(Table):
    """Counts of each value of a column of labels, per class.

    Only values that were seen are here; declared values belong to the schema.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "weight")

    labels: tuple[Any, ...]
    rows: IntArray
    weight: FloatArray

    @classmethod
    def count(
        cls, block: Block, column: Column, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> LabelsTable:
        """Count the values of a column."""
        coded = column.as_labels()
        shape = (n_classes, len(coded.labels))
        rows, total = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        count_labels(coded.codes, y, weight, rows, total)
        return cls(coded.labels, rows, total)._tidy()

    @classmethod
    def of(cls, labels: Sequence[Any], rows: IntArray, weight: FloatArray) -> LabelsTable:
        """Make a table of counts, classes × labels; labels may come in any order."""
        return cls(tuple(labels), rows, weight)._tidy()

    @property
    def present(self) -> FloatArray:
        """The weight of the rows of each class that have a value."""
        return np.asarray(self.weight.sum(axis=1))

    def as_labels(self) -> LabelsTable:
        """Give the table itself."""
        return self

    def __add__(self, other: LabelsTable) -> LabelsTable:
        if _same(self.labels, other.labels):
            return LabelsTable(self.labels, self.rows + other.rows, self.weight + other.weight)
        labels, here, there = union(self.labels, other.labels)
        return LabelsTable(labels, *add_keys(self, here, other, there, len(labels)))

    def __sub__(self, other: LabelsTable) -> LabelsTable:
        labels, _, there = union(self.labels, other.labels)
        if len(labels) > len(self.labels):
            known = set(map(label_key, self.labels))
            never = [label for label in other.labels if label_key(label) not in known]
            raise ForgetError(f"value {never[0]!r} was never learned")
        return LabelsTable(labels, *difference(self, other, there=there, names=labels))._tidy()

    def without_rare(self, min_count: int) -> LabelsTable:
        """Leave out the values that fewer rows have, over all classes."""
        return self._only(np.flatnonzero(self.rows.sum(axis=0) >= min_count).tolist())

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each value and class."""
        return [Part.of_grid("labels", list(map(label_token, self.labels)), self.rows, self.weight)]

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> LabelsTable:
        """Make the table of such rows."""
        labels = tuple(token_labels(parts["labels"].tokens))
        return cls(labels, *parts["labels"].grid(n_classes, len(labels)))._tidy()

    def _tidy(self) -> LabelsTable:
        """Keep the labels that have rows, in their order."""
        seen = np.flatnonzero(self.rows.any(axis=0))
        if len(seen) == len(self.labels) and are_in_order(self.labels):
            return self
        return self._only(sorted(seen.tolist(), key=label_keys(self.labels).__getitem__))

    def _only(self, places: list[int]) -> LabelsTable:
        labels = tuple(self.labels[v] for v in places)
        return LabelsTable(labels, self.rows[:, places], self.weight[:, places])


def _same(a: Sequence[Key], b: Sequence[Key]) -> bool:
    """Compare labels by their keys, which tell 1 from True."""
    return a is b or (len(a) == len(b) and all(map(eq, map(label_key, a), map(label_key, b))))
