"""Count each value of a column of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError
from priory.base.labels import label_key, label_token, token_label, union
from priory.base.typing import CodeArray, FloatArray, IntArray, Key
from priory.data.columns import Column
from priory.data.schema import Block
from priory.kernels.labels import count_labels
from priory.statistics.longtable import Entries
from priory.statistics.tables.base import Table, difference, spread_keys

__all__ = ["LabelsTable"]


@dataclass(frozen=True, eq=False)
class LabelsTable(Table):
    """Count each value of a column of labels, per class.

    Only values that were seen are here; a declared domain belongs to the read-out.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "weight")

    labels: tuple[Any, ...]
    rows: IntArray
    weight: FloatArray

    @classmethod
    def count(
        cls,
        block: Block,
        column: Column,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> LabelsTable:
        """Count the values of a column."""
        coded = column.as_labels()
        shape = (n_classes, len(coded.labels))
        rows, total = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        count_labels(coded.codes, y, weight, rows, total)
        return cls(coded.labels, rows, total)._tidy()

    def _tidy(self) -> LabelsTable:
        """Return the labels that have rows, in their order."""
        seen = np.flatnonzero(self.rows.any(axis=0))
        order = sorted(seen.tolist(), key=lambda v: label_key(self.labels[v]))
        if order == list(range(len(self.labels))):
            return self
        labels = tuple(self.labels[v] for v in order)
        return LabelsTable(labels, self.rows[:, order], self.weight[:, order])

    def __add__(self, other: LabelsTable) -> LabelsTable:
        if _same(self.labels, other.labels):
            return LabelsTable(self.labels, self.rows + other.rows, self.weight + other.weight)
        labels, here, there = union(self.labels, other.labels)
        return LabelsTable(
            labels,
            spread_keys(self.rows, here, len(labels)) + spread_keys(other.rows, there, len(labels)),
            spread_keys(self.weight, here, len(labels))
            + spread_keys(other.weight, there, len(labels)),
        )

    def __sub__(self, other: LabelsTable) -> LabelsTable:
        labels, _, there = union(self.labels, other.labels)
        if len(labels) > len(self.labels):
            known = set(map(label_key, self.labels))
            never = [label for label in other.labels if label_key(label) not in known]
            raise ForgetError(f"value {never[0]!r} was never learned")
        taken = spread_keys(other.rows, there, len(labels))
        taken_weight = spread_keys(other.weight, there, len(labels))
        rows, weight = difference(self.rows, taken, self.weight, taken_weight, labels)
        return LabelsTable(labels, rows, weight)._tidy()

    def __mul__(self, factor: float) -> LabelsTable:
        return LabelsTable(self.labels, self.rows, self.weight * factor)

    def without_rare(self, min_count: int) -> LabelsTable:
        """Return the table without the values that fewer rows have, over all classes."""
        kept = np.flatnonzero(self.rows.sum(axis=0) >= min_count)
        labels = tuple(self.labels[v] for v in kept)
        return LabelsTable(labels, self.rows[:, kept], self.weight[:, kept])

    @property
    def present(self) -> FloatArray:
        """Return the weight of the rows of each class that have a value."""
        return np.asarray(self.weight.sum(axis=1))

    def as_labels(self) -> LabelsTable:
        """Return the table itself."""
        return self

    def entries(self, block: Block) -> list[Entries]:
        """Return a row for each value and class."""
        tokens = tuple(map(label_token, self.labels))
        return [Entries.of_grid("labels", tokens, self.rows, self.weight)]

    @classmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> LabelsTable:
        """Return the table of such rows."""
        entries = parts.get("labels", Entries.none("labels"))
        labels = tuple(map(token_label, entries.tokens))
        rows, weight = entries.grid(n_classes, len(labels))
        return cls(labels, rows, weight)._tidy()


def _same(a: Sequence[Key], b: Sequence[Key]) -> bool:
    """Compare labels by their keys, which tell 1 from True."""
    return a is b or (len(a) == len(b) and all(map(eq, map(label_key, a), map(label_key, b))))
