"""Sum numbers and the products of all pairs of columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from priory.base.labels import label_token
from priory.base.typing import CodeArray, FloatArray
from priory.data.columns import Numbers
from priory.data.finite import refuse_large
from priory.data.schema import Block
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.sums import SumsTable, divisor, refuse_overflow

__all__ = ["ScatterTable"]


@dataclass(frozen=True, eq=False)
class ScatterTable(SumsTable):
    """Sums of the numbers of several columns and of their products, per class: n, Σx and Σxxᵀ.

    A row with a missing value in any of the columns is not counted.
    """

    @classmethod
    def count(
        cls, block: Block, column: Numbers, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> ScatterTable:
        """Sum the rows that have no missing value."""
        d = len(block.columns)
        values = np.asarray(column.values, dtype=np.float64)
        refuse_large(block, values)
        complete = ~np.isnan(values).any(axis=1)
        w = np.ones(len(values)) if weight is None else weight
        rows = np.zeros(n_classes, dtype=np.int64)
        zeros = DoubleDouble.zeros
        n, s1, s2 = zeros((n_classes,)), zeros((n_classes, d)), zeros((n_classes, d, d))
        for k in range(n_classes):
            mine = complete & (y == k)
            x, of_row = values[mine], w[mine]
            if not len(x):
                continue
            # About the mean nothing cancels; the raw sums follow in double-double. Integers about
            # an integer are integers, and so are their products.
            mean = x.mean(axis=0)
            are_integers = (np.rint(x) == x).all(axis=0)
            origin = DoubleDouble.of(np.where(are_integers, np.rint(mean), mean))
            about = x - origin.hi
            weighted = about * of_row[:, None]
            total = DoubleDouble.of(of_row).total()
            first = DoubleDouble.of(weighted.sum(axis=0))
            second = DoubleDouble.of(weighted.T @ about)
            shift = origin * total
            mixed = origin[:, None] * first
            transposed = DoubleDouble(mixed.hi.T, mixed.lo.T)
            rows[k] = len(x)
            n[k] = total[0]
            s1[k] = first + shift
            s2[k] = second + mixed + transposed + origin[:, None] * shift
        table = cls(rows, n, s1, s2, np.zeros((n_classes, d)))
        refuse_overflow(block, table.raw_squares)
        table.passed[...] = table.squares
        return table

    @property
    def squares(self) -> FloatArray:
        """Σ(x − mean)² of each column, classes × columns."""
        return np.diagonal(self.scatter, axis1=1, axis2=2)

    @property
    def raw_squares(self) -> FloatArray:
        """Σx² of each column."""
        return np.diagonal(self.s2.hi, axis1=1, axis2=2)

    @property
    def mean(self) -> FloatArray:
        """Σx / n, classes × columns, zero where nothing was seen."""
        return (self.s1 / divisor(self.n)[:, None]).value

    @property
    def scatter(self) -> FloatArray:
        """Σ(x − mean)(x − mean)ᵀ, classes × columns × columns."""
        mean = self.s1 / divisor(self.n)[:, None]
        return (self.s2 - mean[:, :, None] * self.s1[:, None, :]).value

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each class, each column and each pair of columns."""
        names = list(map(label_token, block.columns))
        pairs = list(map(label_token, product(block.columns, repeat=2)))

        def part(name: str, tokens: list[str], sums: DoubleDouble | FloatArray) -> Part:
            rows = np.repeat(self.rows[:, None], len(tokens), axis=1)
            return Part.of_grid(name, tokens, rows, None, sums)

        return [
            Part.of_classes("documents", self.rows, self.n),
            part("sums", names, self.s1),
            part("products", pairs, self.s2.reshape(len(self.rows), len(pairs))),
            part("passed", names, self.passed),
        ]

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> ScatterTable:
        """Make the table of such rows."""
        columns, d = block.columns, len(block.columns)
        pairs = list(product(columns, repeat=2))
        rows, _ = parts["documents"].by_class(n_classes)
        n, _, _ = parts["documents"].sums(n_classes, 1)
        _, s1, _ = parts["sums"].keyed(columns).sums(n_classes, d)
        _, s2, _ = parts["products"].keyed(pairs).sums(n_classes, d * d)
        _, passed, _ = parts["passed"].keyed(columns).sums(n_classes, d)
        return cls(rows, n[:, 0], s1, s2.reshape(n_classes, d, d), passed.value)
