"""Count a frame, in threads: each counts a stretch of the rows, and what they counted is added."""

from __future__ import annotations

from functools import partial

import numpy as np

from priory.base.labels import count_codes, label_key
from priory.base.parallel import in_parallel, stretches, thread_count, worthwhile
from priory.base.typing import CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Column, Frame, Labels
from priory.data.schema import Block, Schema
from priory.statistics.tables import Table, table_type

__all__ = ["count_classes", "count_tables"]

MANY_LABELS = 4096
"""With so many labels it costs more to merge two counts of a column than to count it."""


def count_classes(y: Labels) -> tuple[tuple[Label, ...], CodeArray, IntArray]:
    """Find the classes that have rows, in their order, the class of each row, and their rows."""
    counts = count_codes(y.codes, len(y.labels))
    seen = np.flatnonzero(counts).tolist()
    order = sorted(seen, key=lambda code: label_key(y.labels[code]))
    classes = tuple(y.labels[code] for code in order)
    if order == list(range(len(y.labels))):
        return classes, y.codes.astype(np.int32, copy=False), counts
    codes = np.zeros(max(len(y.labels), 1), dtype=np.int32)
    codes[order] = np.arange(len(order))
    return classes, codes[y.codes], counts[order]


def count_tables(
    frame: Frame, y: CodeArray, schema: Schema, weight: FloatArray | None, n_classes: int
) -> dict[str, Table]:
    """Count the table of each block; `y` is the class code of each row, `weight` its weight."""

    def count(block: Block, some: slice) -> Table:
        column, of_row = frame[block.name].take(some), None if weight is None else weight[some]
        return table_type(block.kind).count(block, column, y[some], of_row, n_classes)

    threads = thread_count()
    shares: list[tuple[Block, slice]] = []
    tables: dict[str, Table] = {}
    for block in schema.counted:
        kind, column = table_type(block.kind), frame[block.name]
        if kind.shares_threads(column):
            tables[block.name] = kind.count(block, column, y, weight, n_classes)
        else:
            shares += [(block, some) for some in _stretches(column, block.work, threads)]
    work = len(frame) * sum({block.name: block.work for block, _ in shares}.values())
    counted = in_parallel([partial(count, *share) for share in shares], worthwhile(work, threads))
    for (block, _), table in zip(shares, counted, strict=True):
        known = tables.get(block.name)
        tables[block.name] = table if known is None else known + table
    return {block.name: tables[block.name] for block in schema.counted}


def _stretches(column: Column, n_columns: int, threads: int) -> list[slice]:
    """Part the rows of a column into what threads share."""
    if isinstance(column, Labels) and len(column.labels) > MANY_LABELS:
        return [slice(0, len(column))]
    return stretches(len(column), n_columns, threads)
