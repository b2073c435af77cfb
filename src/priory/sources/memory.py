"""Sources in memory: any table that priory reads, and Arrow streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from priory.base.errors import InputError
from priory.data.rawtables import RawTable, open_table
from priory.sources.base import Batch, Form, Source, row_number

__all__ = ["StreamSource", "TableSource", "as_reader"]


class TableSource(Source):
    """A table in memory, as one batch."""

    def __init__(self, table: Any) -> None:
        super().__init__()
        self._raw: RawTable = open_table(table)
        self.name = type(table).__name__
        self.columns = self._raw.names
        self._done = 0.0

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Yield the whole table, which is in memory anyway."""
        raw = self._raw
        columns = {name: raw.get(raw.places[name]) for name in forms}
        yield Batch(columns, raw.n_rows, place=row_number(self.name, 0))
        self._done = 1.0

    def fraction_done(self) -> float | None:
        """Report 1 once the table was read."""
        return self._done


class StreamSource(Source):
    """The batches of an Arrow stream, which can be read once."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        stream = as_reader(stream)
        self._reader = stream
        self._first: list[Any] = []
        self.name = "stream"
        self.columns = tuple(stream.schema.names)
        if len(set(self.columns)) < len(self.columns):
            raise InputError("The columns of the stream must have distinct names.")

    @property
    def is_repeatable(self) -> bool:
        """False: a stream can be read once."""
        return False

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Iterate over the batches; the first `most` rows, if asked for, are kept for later."""
        if most is not None:
            rows = sum(batch.num_rows for batch in self._first)
            while rows < most and (batch := next(self._reader, None)) is not None:
                self._first.append(batch)
                rows += batch.num_rows
            yield from _batches(self._first, forms)
            return
        first, self._first = self._first, []
        yield from _batches(chain(first, self._reader), forms)


def as_reader(stream: Any) -> Any:
    """Open anything that supports Arrow's stream protocol."""
    import pyarrow as pa

    if isinstance(stream, pa.RecordBatchReader):
        return stream
    return pa.RecordBatchReader.from_stream(stream)


def _batches(batches: Iterable[Any], forms: Mapping[str, Form]) -> Iterator[Batch]:
    before = 0
    for batch in batches:
        columns = {name: batch.column(name) for name in forms}
        yield Batch(columns, batch.num_rows, place=row_number("the stream", before))
        before += batch.num_rows
