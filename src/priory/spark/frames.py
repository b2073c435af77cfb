"""Sources on a cluster: a frame, whose rows Spark sends, and files that executors read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.data.reading import infer_empty
from priory.data.schema import Kind, Schema
from priory.sources.base import SAMPLE_ROWS, Batch, Form, Reading, Source, row_number
from priory.sources.counting import Counted, Task
from priory.spark.counting import CountRows, Filter, as_tables, filtered
from priory.spark.executing import PARTS, on_executors
from priory.spark.failing import collected, explained
from priory.spark.files import VALUES_AT_ONCE, Files, ReadPieces, read_piece
from priory.spark.parts import added_up, total_of

__all__ = ["ClusterSource", "FilesSource", "FrameSource"]


class ClusterSource(Source):
    """Rows that a cluster counts; a first look at some of them says what the columns are."""

    road: str
    """How the rows are read, and why so."""

    def __init__(self, name: str, columns: Sequence[str], reading: Reading) -> None:
        super().__init__()
        self.name, self.columns = name, tuple(columns)
        self.reading, self.where = reading, reading.where
        twice = [column for column in self.columns if self.columns.count(column) > 1]
        if twice:
            raise InputError(f"Column {twice[0]!r} stands more than once in {name}.")
        self.received = 0
        """How many bytes of sums and samples came to the driver."""

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Look at the first rows; all of them are for the cluster to read."""
        assert most is not None, "the cluster counts"
        size = int(np.clip(VALUES_AT_ONCE // max(len(forms), 1), 8192, 262_144))
        table = self.look(list(forms), most)
        for first in range(0, table.num_rows, size):
            some = table.slice(first, size)
            columns = {name: some[name] for name in forms}
            yield Batch(columns, some.num_rows, place=row_number(self.name, first))

    def count_there(self, task: Task, schema: Schema) -> Counted:
        """Count on the cluster, add up there, and fetch the sum."""
        roles = [task.target, *([] if task.weight is None else [task.weight])]
        used = [c for c in self.columns if c in {*task.features, *roles}]
        settled = self._settled(task, schema)
        with explained(self.name):  # Spark resolves names here
            parts, n = self.counted_parts(task, settled, used)
        rows = collected(added_up(parts, task, n), self.name)
        self.received += sum(len(row["sums"]) + len(row["sample"]) for row in rows)
        return total_of(rows) or Counted(None, None)

    def _settled(self, task: Task, schema: Schema) -> Schema:
        """Look for values of columns that were empty so far: all parts must take them alike."""
        empty = [
            column
            for block in schema
            if block.kind is Kind.EMPTY
            for column in block.columns
            if column in task.features and column in self.columns
        ]
        if not empty:
            return schema
        table = self.look(empty, SAMPLE_ROWS, filled=True)
        if not table.num_rows:
            return schema
        batch = Batch({column: table[column] for column in empty}, table.num_rows)
        return infer_empty(batch.table(schema.columns), schema)

    def needed(self, columns: Sequence[str]) -> Sequence[str]:
        """List the columns to be read for some of them: a condition may name any."""
        return columns if self.where is None else self.columns

    def look(self, columns: Sequence[str], most: int, filled: bool = False) -> Any:
        """Fetch some columns of the first rows; `filled`: of those in which one has a value."""
        raise NotImplementedError

    def counted_parts(
        self, task: Task, schema: Schema, used: Sequence[str]
    ) -> tuple[Any, int | None]:
        """Plan the counting: a frame of `PARTS`, and how many there are, where that is known."""
        raise NotImplementedError


class FrameSource(ClusterSource):
    """Any frame of Spark, classic or Connect, through `mapInArrow`."""

    def __init__(self, frame: Any, name: str, reading: Reading, why: str) -> None:
        with explained(name):
            columns = frame.columns
        super().__init__(name, columns, reading)
        self.frame = frame
        self.road = f"through mapInArrow: {why}"

    def look(self, columns: Sequence[str], most: int, filled: bool = False) -> Any:
        """Fetch some columns of the first rows."""
        frame = selected(self.frame, self.needed(columns))
        if self.reading.where is not None or self.reading.na_values:
            job = on_executors(Filter(self.name, self.reading), in_rows=False)
            frame = frame.mapInArrow(job, frame.schema)
        if filled:
            frame = frame.where(" or ".join(f"{quoted(c)} is not null" for c in columns))
        with explained(self.name):
            return selected(frame, columns).limit(most).toArrow()

    def counted_parts(self, task: Task, schema: Schema, used: Sequence[str]) -> tuple[Any, None]:
        """Count each partition as Spark has it."""
        frame = selected(self.frame, self.needed(used))
        return frame.mapInArrow(on_executors(CountRows(task, schema, as_tables)), PARTS), None


class FilesSource(ClusterSource):
    """Parquet files that executors read by themselves, without the rows of the JVM."""

    def __init__(
        self, session: Any, files: Files, name: str, reading: Reading, tasks: int | None = None
    ) -> None:
        super().__init__(name, files.schema.names, reading)
        self._session, self._files, self._tasks = session, files, tasks
        self.road = "executors read the Parquet files"

    def look(self, columns: Sequence[str], most: int, filled: bool = False) -> Any:
        """Read some columns of the first rows, here on the driver."""
        import pyarrow as pa

        found: list[Any] = []
        for piece in self._files.pieces():
            for table in read_piece(piece, self.needed(columns)):
                for some in filtered(table, self.name, self.reading):
                    some = some.select(columns)
                    found.append(some.filter(_any_value(some)) if filled else some)
                if sum(t.num_rows for t in found) >= most:
                    return pa.concat_tables(found).slice(0, most)
        empty = self._files.schema.empty_table().select(columns)
        return pa.concat_tables(found) if found else empty

    def counted_parts(self, task: Task, schema: Schema, used: Sequence[str]) -> tuple[Any, int]:
        """Make a task of each piece of the files."""
        pieces = self._files.pieces(self._tasks)
        n = max(len(pieces), 1)
        read = ReadPieces(pieces, self.needed(used))
        numbers = self._session.range(0, len(pieces), 1, n)
        return numbers.mapInArrow(on_executors(CountRows(task, schema, read)), PARTS), n


def selected(frame: Any, columns: Sequence[str]) -> Any:
    """Select columns by their names, whatever these hold."""
    return frame.select(*map(quoted, columns))


def quoted(name: str) -> str:
    """Quote a name for Spark.

    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _any_value(table: Any) -> Any:
    import pyarrow.compute as pc

    masks = [pc.is_valid(table[name]) for name in table.column_names]
    found = masks[0]
    for mask in islice(masks, 1, None):
        found = pc.or_(found, mask)
    return found
