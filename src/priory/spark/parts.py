"""The sums of partitions: packed into rows of a Spark frame, and added up on the cluster.

A row has sums in Arrow's format and the sample beside them. Partitions are added up as a tree,
sixteen at a time, so that the driver receives one. Where a column has very many values, its sums
are dealt to shards by a hash of the value: each is added up by itself.
"""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from priory.data.schema import Kind
from priory.sources.counting import Counted, Task, check_class_count
from priory.spark.executing import PARTS, on_executors
from priory.statistics.longtable import coded
from priory.statistics.statistics import Statistics

__all__ = ["AddUp", "added_up", "packed", "unpacked"]

FAN_IN = 16
SHARDS = 16
MANY_SUMS = 500_000
"""Statistics of more sums than this are dealt to shards."""


def packed(part: int, counted: Counted) -> Iterator[Any]:
    """Pack what was counted into Arrow batches of one row each; nothing of no rows."""
    import pyarrow as pa

    notes = {"unlabelled": counted.unlabelled, "left_out": counted.left_out}
    if counted.total is None and not (counted.unlabelled or counted.left_out):
        return
    shards = [b""] if counted.total is None else map(_written, _dealt(counted.total))
    for shard, sums in enumerate(shards):
        sample = b"" if shard or counted.sample is None else pickle.dumps(counted.sample, 5)
        row = {
            "part": pa.array([part], pa.int32()),
            "shard": pa.array([shard], pa.int32()),
            "sums": pa.array([sums], pa.binary()),
            "sample": pa.array([sample], pa.binary()),
            "notes": pa.array([json.dumps(notes if not shard else {})]),
            "error": pa.array([None], pa.string()),
        }
        yield pa.RecordBatch.from_pydict(row)


def unpacked(row: dict[str, Any]) -> Counted:
    """Read a row that `packed` made."""
    import pyarrow as pa

    notes, sums, sample = json.loads(row["notes"]), row["sums"], row["sample"]
    return Counted(
        Statistics.from_arrow(pa.ipc.open_stream(sums).read_all()) if sums else None,
        pickle.loads(sample) if sample else None,
        notes.get("unlabelled", 0),
        tuple(notes.get("left_out", ())),
    )


def rows_of(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of batches, one at a time."""
    for batch in batches:
        for i in range(batch.num_rows):
            yield batch.slice(i, 1).to_pylist()[0]


def total_of(rows: Iterable[dict[str, Any]]) -> Counted | None:
    """Add rows up; those of like size first, so that none is added too often."""
    sums: list[tuple[int, Counted]] = []
    for row in rows:
        sums.append((1, unpacked(row)))
        while len(sums) > 1 and sums[-2][0] <= sums[-1][0]:
            (n, last), (m, before) = sums.pop(), sums.pop()
            sums.append((n + m, before + last))
    while len(sums) > 1:
        (n, last), (m, before) = sums.pop(), sums.pop()
        sums.append((n + m, before + last))
    return sums[0][1] if sums else None


class AddUp:
    """Add up the partitions that come to an executor; a failure among them goes on as it is."""

    def __init__(self, task: Task) -> None:
        self._task = replace(task, source=None)  # type: ignore[arg-type]

    def __call__(self, batches: Iterator[Any], part: int) -> Iterator[Any]:
        """Yield the rows of the sum."""
        failed: list[Any] = []
        numbers = [part]

        def sound() -> Iterator[dict[str, Any]]:
            for batch in batches:
                for row in rows_of([batch]):
                    if row["error"] is None:
                        numbers.append(row["part"])
                        yield row
                    elif not failed:
                        failed.append(batch)

        total = total_of(sound())
        if failed:
            yield from (b.filter(b["error"].is_valid()).slice(0, 1) for b in failed)
        elif total is not None:
            if total.total is not None:
                check_class_count(self._task, total.total.classes)
            yield from packed(min(numbers[1:]), total)


def added_up(parts: Any, task: Task, n: int | None) -> Any:
    """Add up partitions on the cluster, until there is one; `n` is how many, where it is known."""
    add = on_executors(AddUp(task))
    fan = FAN_IN
    while fan < (n if n is not None else FAN_IN**3):
        parts = parts.repartition(_group(parts, fan), parts["shard"]).mapInArrow(add, PARTS)
        fan *= FAN_IN
    return parts.repartition(parts["shard"]).mapInArrow(add, PARTS)


def _group(parts: Any, fan: int) -> Any:
    return (parts["part"] / fan).cast("int")


def _written(table: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _dealt(total: Statistics) -> Iterator[Any]:
    """Deal large sums to shards by their values: all of them together are the sum."""
    import pyarrow as pa

    table = total.to_arrow()
    if table.num_rows <= MANY_SUMS:
        yield table
        return
    spread = [
        block.name
        for block in total.schema.counted
        if block.kind is Kind.LABELS
        or (block.kind is Kind.WORDS and getattr(total.tables[block.name], "limit", None) is None)
    ]
    blocks, names = coded(table["block"])
    of_values = np.isin(blocks, [i for i, name in enumerate(names.to_pylist()) if name in spread])
    codes, strings = coded(table["key"])
    keys = strings.to_pylist()
    shard = np.array([zlib.crc32(key.encode()) % SHARDS for key in keys], dtype=np.int32)[codes]
    shard = np.where(of_values, shard, 0)
    keyless = np.array([key == "" for key in keys])[codes]  # the texts of each class, say
    shard[keyless] = 0
    place = table.schema.get_field_index("key")
    for i in range(SHARDS):
        rows = np.flatnonzero(shard == i)
        used, where = np.unique(codes[rows], return_inverse=True)
        some = pa.array([keys[j] for j in used.tolist()], pa.string())
        own = pa.DictionaryArray.from_arrays(pa.array(where.astype(np.int32)), some)
        yield table.take(rows).set_column(place, table.schema.field(place), own)
