"""Sources in memory: any table that priory reads, and Arrow streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from priory.base.errors import InputError
from priory.data.rawtables import RawTable, open_table
from priory.sources.base import Batch, Form, Source

__all__ = ["StreamSource", "TableSource", "as_reader"]


class TableSource(Source):
    """Give a table in memory as one batch."""

    def __init__(self, table: Any) -> None:
        self._raw: RawTable = open_table(table)
        self.name = type(table).__name__
        self.columns = self._raw.names
        self._done = 0.0

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Return the whole table; so much of it is at hand anyway."""
        raw = self._raw
        yield Batch({name: raw.get(raw.places[name]) for name in forms}, raw.n_rows)
        self._done = 1.0

    def fraction_done(self) -> float | None:
        """Return 1 once the table was given."""
        return self._done


class StreamSource(Source):
    """Give the batches of an Arrow stream, which can be read once."""

    def __init__(self, stream: Any) -> None:
        stream = as_reader(stream)
        self._reader = stream
        self._first: list[Any] | None = None
        self.name = "stream"
        self.columns = tuple(stream.schema.names)
        if len(set(self.columns)) < len(self.columns):
            raise InputError("Two columns of the stream have one name; give each its own.")

    @property
    def is_repeatable(self) -> bool:
        """Return False: what has flowed by is gone."""
        return False

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Return the batches; a first look at `most` rows keeps them for later."""
        if most is not None:
            self._first, rows = [], 0
            for batch in self._reader:
                self._first.append(batch)
                rows += batch.num_rows
                if rows >= most:
                    break
            yield from (_batch(batch, forms) for batch in self._first)
            return
        first, self._first = self._first or [], None
        for batch in first:
            yield _batch(batch, forms)
        del first
        for batch in self._reader:
            yield _batch(batch, forms)


def as_reader(stream: Any) -> Any:
    """Return anything that speaks Arrow's stream protocol as its reader."""
    import pyarrow as pa

    if isinstance(stream, pa.RecordBatchReader):
        return stream
    return pa.RecordBatchReader.from_stream(stream)


def _batch(batch: Any, forms: Mapping[str, Form]) -> Batch:
    return Batch({name: batch.column(name) for name in forms}, batch.num_rows)
