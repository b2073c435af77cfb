"""Sum many columns of counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np

from priory.base.errors import ForgetError, InputError
from priory.base.labels import label_token
from priory.base.parallel import in_parallel, thread_count, worthwhile
from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.data.columns import Counts, SparseRows
from priory.data.schema import Block
from priory.kernels.counts import count_csr, count_dense, count_present_dense
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.base import DOCUMENTS, Table, difference
from priory.statistics.tables.sums import refuse_overflow

__all__ = ["CountsTable"]


@dataclass(frozen=True, eq=False)
class CountsTable(Table):
    """Sum many columns of counts, and count the rows in which each is present, per class.

    `documents` and `documents_weight` are the rows of each class, present or not.
    """

    per_class: ClassVar[tuple[str, ...]] = (*DOCUMENTS, "rows", "weight", "s1")

    documents: IntArray
    documents_weight: FloatArray
    rows: IntArray
    weight: FloatArray
    s1: FloatArray

    @classmethod
    def count(
        cls, block: Block, column: Counts, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> CountsTable:
        """Sum the counts of every column; of sparse rows, threads share the classes."""
        shape = (n_classes, len(block.columns))
        rows, total, s1 = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
        matrix = column.matrix
        if isinstance(matrix, SparseRows):
            bad = _count_sparse(matrix, y, weight, rows, total, s1)
        elif column.threshold is not None:
            bad = count_present_dense(matrix, y, weight, column.threshold, rows, total)
            s1 += total
        else:
            bad = count_dense(matrix, y, weight, rows, total, s1)
        if bad >= 0:
            raise InputError(
                f"Column {block.columns[bad]!r} holds a count that is negative, missing or "
                "infinite. Counts must be finite numbers of at least 0."
            )
        refuse_overflow(block, s1)
        documents = np.bincount(y, minlength=n_classes).astype(np.int64)
        documents_weight = np.bincount(y, weights=weight, minlength=n_classes).astype(np.float64)
        return cls(documents, documents_weight, rows, total, s1)

    @classmethod
    def shares_threads(cls, column: Counts) -> bool:
        """Whether the rows are sparse: threads then share the classes."""
        return isinstance(column.matrix, SparseRows)

    def __sub__(self, other: CountsTable) -> CountsTable:
        documents, documents_weight = difference(self, other, DOCUMENTS)
        rows, weight = difference(self, other)
        s1 = np.where(rows > 0, self.s1 - other.s1, 0.0)
        if np.any(s1 < -1e-9 * self.s1):
            raise ForgetError("a sum of counts would turn negative; it was never learned")
        return CountsTable(documents, documents_weight, rows, weight, np.maximum(s1, 0.0))

    def without_rare(self, min_count: int) -> CountsTable:
        """Leave out the sums of columns that are present in fewer rows."""
        kept = self.rows.sum(axis=0) >= min_count
        return replace(self, rows=self.rows * kept, weight=self.weight * kept, s1=self.s1 * kept)

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each column and class, and one for each class."""
        tokens = list(map(label_token, block.columns))
        return [
            Part.of_classes("documents", self.documents, self.documents_weight),
            Part.of_grid("counts", tokens, self.rows, self.weight, self.s1),
        ]

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> CountsTable:
        """Make the table of such rows."""
        shape = (n_classes, len(block.columns))
        counts = parts["counts"].keyed(block.columns)
        _, s1, _ = counts.sums(*shape)
        return cls(*parts["documents"].by_class(n_classes), *counts.grid(*shape), s1.value)


def _count_sparse(
    matrix: SparseRows,
    y: CodeArray,
    weight: FloatArray | None,
    rows: IntArray,
    total: FloatArray,
    s1: FloatArray,
) -> int:
    """Count sparse rows, the classes shared among the threads: each place then has one writer."""
    sparse = (matrix.data, matrix.indices, matrix.indptr)
    n_entries = int(matrix.indptr[-1] - matrix.indptr[0])
    parts = worthwhile(n_entries, thread_count())
    ends = [len(rows) * i // parts for i in range(parts + 1)]
    tasks = [
        partial(count_csr, *sparse, y, weight, rows, total, s1, low, high)
        for low, high in pairwise(ends)
    ]
    found = [bad for bad in in_parallel(tasks, parts) if bad >= 0]
    return min(found, default=-1)
