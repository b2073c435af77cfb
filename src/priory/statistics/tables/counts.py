"""Sum many columns of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError, InputError
from priory.base.labels import label_token
from priory.base.parallel import in_parallel, worthwhile
from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.data.columns import Counts, SparseRows
from priory.data.schema import Block
from priory.kernels.counts import count_csr, count_dense, count_present_dense
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import Entries
from priory.statistics.tables.base import Table, difference
from priory.statistics.tables.sums import refuse_overflow

__all__ = ["CountsTable"]


@dataclass(frozen=True, eq=False)
class CountsTable(Table):
    """Sum many columns of counts, and count the rows in which each is present, per class.

    `documents` and `documents_weight` are the rows of each class, present or not.
    """

    per_class: ClassVar[tuple[str, ...]] = ("documents", "documents_weight", "rows", "weight", "s1")

    documents: IntArray
    documents_weight: FloatArray
    rows: IntArray
    weight: FloatArray
    s1: FloatArray

    @classmethod
    def count(
        cls,
        block: Block,
        column: Counts,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
        threads: int = 1,
    ) -> CountsTable:
        """Sum the counts of every column; of sparse rows, threads share the classes."""
        shape = (n_classes, len(block.columns))
        rows, total, s1 = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
        matrix = column.matrix
        if isinstance(matrix, SparseRows):
            bad = _count_sparse(matrix, y, weight, rows, total, s1, threads)
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

    def __add__(self, other: CountsTable) -> CountsTable:
        return CountsTable(
            self.documents + other.documents,
            self.documents_weight + other.documents_weight,
            self.rows + other.rows,
            self.weight + other.weight,
            self.s1 + other.s1,
        )

    def __sub__(self, other: CountsTable) -> CountsTable:
        documents, documents_weight = difference(
            self.documents, other.documents, self.documents_weight, other.documents_weight
        )
        rows, weight = difference(self.rows, other.rows, self.weight, other.weight)
        s1 = np.where(rows > 0, self.s1 - other.s1, 0.0)
        if np.any(s1 < -1e-9 * self.s1):
            raise ForgetError("a sum of counts would turn negative; it was never learned")
        return CountsTable(documents, documents_weight, rows, weight, np.maximum(s1, 0.0))

    def __mul__(self, factor: float) -> CountsTable:
        return CountsTable(
            self.documents,
            self.documents_weight * factor,
            self.rows,
            self.weight * factor,
            self.s1 * factor,
        )

    def without_rare(self, min_count: int) -> CountsTable:
        """Return the table with nothing of the columns that are present in fewer rows."""
        kept = self.rows.sum(axis=0) >= min_count
        return replace(self, rows=self.rows * kept, weight=self.weight * kept, s1=self.s1 * kept)

    def entries(self, block: Block) -> list[Entries]:
        """Return a row for each column and class, and one for each class."""
        tokens = tuple(map(label_token, block.columns))
        s1 = DoubleDouble.of(self.s1)
        return [
            Entries.of_grid(
                "documents", ("",), self.documents[:, None], self.documents_weight[:, None]
            ),
            Entries.of_grid("counts", tokens, self.rows, self.weight, s1),
        ]

    @classmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> CountsTable:
        """Return the table of such rows."""
        documents, documents_weight = parts.get("documents", Entries.none("documents")).grid(
            n_classes, 1
        )
        entries = parts.get("counts", Entries.none("counts")).keyed(block.columns)
        rows, weight = entries.grid(n_classes, len(block.columns))
        _, s1, _ = entries.sums(n_classes, len(block.columns))
        return cls(documents[:, 0], documents_weight[:, 0], rows, weight, s1.value)


def _count_sparse(
    matrix: SparseRows,
    y: CodeArray,
    weight: FloatArray | None,
    rows: IntArray,
    total: FloatArray,
    s1: FloatArray,
    threads: int,
) -> int:
    """Count sparse rows, the classes shared among the threads: each place then has one writer."""
    sparse = (matrix.data, matrix.indices, matrix.indptr)
    n_entries = int(matrix.indptr[-1] - matrix.indptr[0])
    parts = worthwhile(n_entries, threads)
    ends = [len(rows) * i // parts for i in range(parts + 1)]
    tasks = [
        partial(count_csr, *sparse, y, weight, rows, total, s1, low, high)
        for low, high in pairwise(ends)
    ]
    found = [bad for bad in in_parallel(tasks, parts) if bad >= 0]
    return min(found, default=-1)
