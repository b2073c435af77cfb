"""What executors do with the rows of a partition: count them, as one machine would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from priory.base.errors import InputError
from priory.data.schema import Schema
from priory.sources.base import Batch, Form, Reading, Source, row_number
from priory.sources.counting import Tally, Task
from priory.sources.selecting import gathered
from priory.spark.parts import packed

__all__ = ["CountRows", "Filter", "PartSource", "as_tables", "filtered"]

ROWS_AT_ONCE = 65_536
"""Spark's batches have 10,000 rows; so many are counted together."""


class PartSource(Source):
    """The rows of one partition."""

    def __init__(
        self, tables: Iterable[Any], name: str, columns: Sequence[str], how: Reading
    ) -> None:
        super().__init__()
        self._tables, self.name, self.columns = tables, name, tuple(columns)
        self.reading, self.where = how, how.where

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Iterate over the rows, those alone that meet the condition."""
        before = 0
        for table in self._tables:
            for some in filtered(table, self.name, self.reading):
                columns = {name: some[name] for name in forms if name in some.column_names}
                yield Batch(columns, some.num_rows, place=row_number(self.name, before))
                before += some.num_rows


class CountRows:
    """Count the rows of a partition, which `tables` makes of what Spark sends."""

    def __init__(
        self, task: Task, schema: Schema, tables: Callable[[Iterator[Any], int], Iterator[Any]]
    ) -> None:
        source = task.source
        self._about = source.columns, source.reading
        self._task = replace(task, source=None, progress=False)  # type: ignore[arg-type]
        self._schema, self._tables = schema, tables

    def __call__(self, batches: Iterator[Any], part: int) -> Iterator[Any]:
        """Yield the sums and the sample of the partition, nothing where it is empty."""
        columns, reading = self._about
        name = getattr(self._tables, "name", "partition {}".format)(part)
        source = PartSource(self._tables(batches, part), name, columns, reading)
        tally = Tally(replace(self._task, source=source), self._schema)
        for batch in replace(self._task, source=source).batches():
            tally.add(batch)
        counted = tally.counted()
        yield from packed(part, replace(counted, left_out=tuple(source.skipped.reasons)))


class Filter:
    """Take the rows of a partition that meet a condition."""

    def __init__(self, name: str, reading: Reading) -> None:
        self._name, self._reading = name, reading

    def __call__(self, batches: Iterator[Any], part: int) -> Iterator[Any]:
        """Yield them."""
        for table in as_tables(batches):
            for some in filtered(table, self._name, self._reading):
                yield from some.to_batches()


def as_tables(batches: Iterable[Any], part: int = 0) -> Iterator[Any]:
    """Join batches to tables of enough rows."""
    return gathered(batches, ROWS_AT_ONCE)


def filtered(table: Any, name: str, reading: Reading) -> Iterator[Any]:
    """Take the rows that meet a condition, with gaps where na_values stand; DuckDB checks both."""
    import pyarrow as pa

    if reading.where is None and not reading.na_values:
        yield table
        return
    from contextlib import closing

    from priory.sources import duck

    with closing(duck.connect()) as connection:
        source = duck.of_table(connection, table, name, reading)
        for batch in source.batches(source.forms()):
            columns = {name: _typed(c, table[name].type) for name, c in batch.columns.items()}
            yield pa.table(columns)


def _typed(column: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowInvalid as error:
        raise InputError(f"A column of {kind} came back changed: {error}") from None
