"""Single rows of a source."""

from __future__ import annotations

from collections.abc import Iterator

from priory.base.errors import InputError
from priory.data.rawtables import RawTable
from priory.sources.base import Batch

__all__ = ["one_row"]


def one_row(batches: Iterator[tuple[RawTable, Batch]], row: int) -> RawTable:
    """Find one row, counting from 1."""
    seen = 0
    for X, batch in batches:
        if seen + batch.n_rows >= row:
            return _only(X, row - 1 - seen)
        seen += batch.n_rows
    raise InputError(f"There is no row {row}: the data have {seen:,}.")


def _only(X: RawTable, i: int) -> RawTable:
    return RawTable(X.names, 1, X.named, lambda j: X.get(j)[i : i + 1], tidy=X.tidy)
