"""Keep a sample of the rows that flow by, for what is chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.columns import Labels
from priory.labels import label_key
from priory.rawtables import RawTable
from priory.reading import read
from priory.sampling import Numbering, row_hashes
from priory.schema import Schema
from priory.sources.base import Batch
from priory.typing import AnyArray, FloatArray, Label

__all__ = ["Pool"]


@dataclass(frozen=True, eq=False)
class _Part:
    """Hold some rows of one batch; `hashes` is None as long as all of them are kept."""

    columns: Mapping[str, Any]
    labels: Labels
    weight: FloatArray
    raw: RawTable
    schema: Schema
    hashes: AnyArray | None = None

    def hashed(self, numbering: Numbering) -> _Part:
        """Return the rows that count with their hashes."""
        if self.hashes is not None:
            return self
        part = self._taken(np.flatnonzero(self.weight > 0), None)
        found = row_hashes(read(part.raw, part.schema), part.labels, numbering)
        return replace(part, hashes=found)

    def below(self, bound: Any) -> _Part:
        """Return the rows whose hashes are not above a bound."""
        assert self.hashes is not None
        return self._taken(np.flatnonzero(self.hashes <= bound), self.hashes)

    def _taken(self, rows: AnyArray, hashes: AnyArray | None) -> _Part:
        if len(rows) == len(self.labels):
            return self
        where = _indices(rows)
        columns = {name: column.take(where) for name, column in self.columns.items()}
        labels, weight = self.labels.take(rows), self.weight[rows]
        kept = None if hashes is None else hashes[rows]
        return _Part(columns, labels, weight, _table(columns, len(rows)), self.schema, kept)


class Pool:
    """Keep the rows with the least hashes: which ones depends on the rows, not on their order.

    One batch alone is kept as it is, for tuning takes its own sample of it; from the second on,
    batches are Arrow's, and at most twice `size` rows stay.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self._parts: list[_Part] = []
        self._bound = np.uint64(2**64 - 1)
        self._numbering = Numbering()

    def add(self, batch: Batch, raw: RawTable, schema: Schema, y: Labels, weight: Any) -> None:
        """Look at some more rows; those of weight 0 are not rows."""
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        columns = {name: batch.columns[name] for name in raw.names}
        self._parts.append(_Part(columns, y, weight, raw, schema))
        if len(self._parts) == 1:
            return
        self._parts[0] = self._parts[0].hashed(self._numbering)
        self._parts[-1] = self._parts[-1].hashed(self._numbering).below(self._bound)
        if sum(len(part.labels) for part in self._parts) > 2 * self._size:
            self._shrink()

    def _shrink(self) -> None:
        parts = [part.below(self._bound) for part in self._parts]
        hashes = np.concatenate([part.hashes for part in parts if part.hashes is not None])
        if len(hashes) > self._size:
            self._bound = np.partition(hashes, self._size - 1)[self._size - 1]
            parts = [part.below(self._bound) for part in parts]
        self._parts = parts

    def sample(self) -> tuple[RawTable, Labels, FloatArray | None]:
        """Return the rows kept, their classes and their weights; None where each counts once."""
        if len(self._parts) > 1:
            self._shrink()
        weight = np.concatenate([part.weight for part in self._parts])
        y = _joined_labels([part.labels for part in self._parts])
        return _joined(self._parts), y, None if (weight == 1).all() else weight


def _indices(rows: AnyArray) -> Any:
    """Return positions as Arrow has them; given an array of NumPy, Arrow would load pandas."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, buffer])


def _table(columns: Mapping[str, Any], n_rows: int) -> RawTable:
    names = tuple(columns)
    return RawTable(names, n_rows, True, lambda i: columns[names[i]])


def _joined(parts: list[_Part]) -> RawTable:
    if len(parts) == 1:
        return parts[0].raw
    import pyarrow as pa

    columns = {}
    for name in parts[0].columns:
        arrays = [part.columns[name] for part in parts]
        chunks = [c for a in arrays for c in (a.chunks if isinstance(a, pa.ChunkedArray) else [a])]
        columns[name] = pa.chunked_array(chunks, arrays[0].type)
    return _table(columns, sum(len(part.labels) for part in parts))


def _joined_labels(parts: list[Labels]) -> Labels:
    if len(parts) == 1:
        return parts[0]
    places: dict[Any, int] = {}
    labels: list[Label] = []
    codes = []
    for part in parts:
        for label in part.labels:
            if places.setdefault(label_key(label), len(labels)) == len(labels):
                labels.append(label)
        where = np.array([places[label_key(label)] for label in part.labels], dtype=np.int32)
        codes.append(where[part.codes] if len(part) else part.codes)
    return Labels(np.concatenate(codes), tuple(labels))
