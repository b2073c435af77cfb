"""Count a table inside its database, and fetch the sample of its rows.

The sums are those of `Statistics.count`: counts to the last bit, since they are integers wherever
they are added; Σx and Σx² to about 1e-14, since the engine adds float64 in its own order, about a
number near their mean. The sample is the very same, row for row: the hash of a row is computed by
the engine, and compared with our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray, IntArray, Label
from priory.data.columns import Labels
from priory.data.finite import refuse_large
from priory.data.rawtables import RawTable
from priory.data.reading import infer, read, read_weights
from priory.data.schema import Block, Kind, Schema
from priory.databases.dialects import ALL, dialect_of
from priory.databases.queries import Lookup, Rows, literal
from priory.statistics.hashing import (
    class_hashes,
    label_hashes,
    number_hashes,
    number_seed,
    row_hashes,
)
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CellsTable, LabelsTable, MomentsTable, NumbersTable, Table

__all__ = ["Engine", "Inside", "Received"]

FIRST_ROWS = 20_480
MANY = 2**31 - 1


class Engine(Protocol):
    """A database that is asked: a dialect, and Arrow tables for queries."""

    name: str
    dialect: str

    def select(self, query: str) -> Any:
        """Run a query; the result is an Arrow table."""

    def filtered(self) -> str:
        """Write what stands after FROM."""

    def expression(self, name: str) -> str:
        """Write the value of a column."""


@dataclass
class Received:
    """The bytes that came back: for each column, and for the sample of rows."""

    columns: dict[str, int] = field(default_factory=dict)
    sample: int = 0
    queries: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total, most = sum(self.columns.values()), max(self.columns.values(), default=0)
        return (
            f"{total:,} bytes of sums came back, at most {most:,} for a column, and "
            f"{self.sample:,} bytes of sampled rows"
        )


class Inside:
    """Count some columns of a database by class, in queries that only read.

    `read_classes` turns an Arrow array into classes, as the source of rows would.
    """

    def __init__(
        self,
        engine: Engine,
        features: Sequence[str],
        target: str,
        weight: str | None,
        read_classes: Callable[[Any], Labels],
    ) -> None:
        self._engine, self._features, self._target = engine, tuple(features), target
        self._read_classes, self._weight = read_classes, weight
        self.received = Received()
        self.unlabelled = 0
        expressions = {name: engine.expression(name) for name in features}
        self._rows = Rows(
            dialect_of(engine.dialect),
            engine.filtered(),
            engine.expression(target),
            None if weight is None else engine.expression(weight),
            expressions,
        )
        self._lookups: dict[str, Lookup] = {}
        self._classes: tuple[Label, ...] = ()
        self._raw_classes: dict[str, tuple[int, int]] = {}
        self._n_rows = 0

    def infer(self, declared: Mapping[tuple[str, ...], Any]) -> Schema:
        """Infer what each column is, from its type, its first values or what was declared."""
        blocks = []
        for name in self._features:
            own = {columns: kind for columns, kind in declared.items() if name in columns}
            if any(len(columns) > 1 for columns in own):
                raise _refused(f"families declares {next(iter(own))!r} together")
            blocks.append(self._infer_column(name, own))
        times = frozenset(b.name for b in blocks if b.why.startswith(("date", "duration")))
        self._rows = replace(self._rows, times=times)
        return Schema(self._features, tuple(blocks))

    def _infer_column(self, name: str, declared: Mapping[tuple[str, ...], Any]) -> Block:
        (block,) = infer(_table(name, self._first_values(name)), declared)
        if block.kind is Kind.EMPTY:  # among the first rows; others may have values
            there = self._first_values(name, there=True)
            if len(there) > there.null_count:
                (block,) = infer(_table(name, there), declared)
        if block.kind is Kind.IDENTIFIER:  # only all rows can tell
            block = replace(block, kind=Kind.LABELS, why="strings")
        if block.kind not in (Kind.LABELS, Kind.NUMBERS, Kind.EMPTY):
            raise _refused(f"column {name!r} is read as {block.kind.value}")
        return block

    def _first_values(self, name: str, there: bool = False) -> Any:
        """Look at the first values: the ends of numbers, every value of others."""
        import pyarrow as pa

        kind = self._select(name, self._rows.first(name, 0, False)).column("v").type
        t = pa.types
        ordered = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)
        as_range = ordered or t.is_temporal(kind)
        found = self._select(name, self._rows.first(name, FIRST_ROWS, as_range, there))
        if as_range:
            return pa.concat_arrays([found.column(i).combine_chunks().cast(kind) for i in range(2)])
        values, n = found.column("v").combine_chunks(), found.column("n").to_numpy()
        return values.take(pa.array(np.repeat(np.arange(len(n)), n.astype(np.int64))))

    def count(self, schema: Schema, check: Callable[[Sequence[Label]], None]) -> Statistics:
        """Count all rows under a schema, once the classes have passed a check."""
        rows, weight = self._count_classes()
        check(self._classes)
        tables: dict[str, Table] = {}
        for block in schema.counted:
            count = self._count_labels if block.kind is Kind.LABELS else self._count_numbers
            tables[block.name] = count(block)
        return Statistics(schema, self._classes, rows, weight, tables)

    def _count_classes(self) -> tuple[IntArray, FloatArray]:
        found = self._select(self._target, self._rows.classes())
        n = _integers(found.column("n"))
        labels = self._read_classes(found.column("y").combine_chunks())
        if self._weight is not None:
            self._check_weights(found, n)
        keys = {
            label_key(labels.labels[code]): labels.labels[code]
            for code in labels.codes
            if code >= 0
        }
        self._classes = tuple(keys[key] for key in sorted(keys))
        codes, K = self._codes(labels), len(keys)
        self.unlabelled, self._n_rows = int(n[codes < 0].sum()), int(n.sum())
        w = n.astype(np.float64) if self._weight is None else _floats(found.column("w"))
        there = codes >= 0
        if not there.any():
            raise InputError(f"{self._engine.name}: no row has a class to learn.")
        raw = found.column("y").to_pylist()
        hashes = class_hashes(labels)
        self._raw_classes = {
            literal(raw[i], self._rows.dialect): (int(hashes[labels.codes[i]]), int(codes[i]))
            for i in np.flatnonzero(there).tolist()
        }
        rows = np.bincount(codes[there], n[there], K).astype(np.int64)
        return rows, np.bincount(codes[there], w[there], K).astype(np.float64)

    def _check_weights(self, found: Any, n: IntArray) -> None:
        """Refuse weights as they would be refused row by row."""
        if (_integers(found.column("weights")) < n).any():
            raise InputError(f"weight={self._weight!r} must be a number in every row, not missing.")
        ends = [_floats(found.column(name)) for name in ("least", "most", "above")]
        known = np.concatenate(ends)
        known = known[~np.isnan(known)]
        read_weights(known, len(known), f"weight={self._weight!r}", lambda _: "a row")

    def _codes(self, labels: Labels) -> IntArray:
        """Find the place of the class of each row, −1 where it has none."""
        places = {label_key(label): k for k, label in enumerate(self._classes)}
        own = [places.get(label_key(label), -1) for label in labels.labels]
        return np.array([*own, -1], dtype=np.int64)[labels.codes]

    def _count_labels(self, block: Block) -> LabelsTable:
        found = self._select(block.name, self._rows.labels(block.name))
        values = found.column("v").combine_chunks()
        column = read(_table(block.name, values), Schema((block.name,), (block,)))[block.name]
        labels = column.as_labels()
        y = self._codes(self._read_classes(found.column("y").combine_chunks()))
        n = _integers(found.column("n"))
        w = n.astype(np.float64) if self._weight is None else _floats(found.column("w"))
        shape = (len(self._classes), len(labels.labels))
        rows, weight = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        some = (y >= 0) & (labels.codes >= 0)
        np.add.at(rows, (y[some], labels.codes[some]), n[some])
        np.add.at(weight, (y[some], labels.codes[some]), w[some])
        own = label_hashes(labels, block.name)
        self._lookups[block.name] = Lookup(
            {
                literal(raw, self._rows.dialect): int(own[code])
                for raw, code in zip(values.to_pylist(), labels.codes.tolist(), strict=True)
                if code >= 0
            }
        )
        return LabelsTable.of(labels.labels, rows, weight)

    def _count_numbers(self, block: Block) -> NumbersTable:
        name, K, d = block.name, len(self._classes), self._rows.dialect
        look = self._select(name, self._rows.level(name, FIRST_ROWS))
        level, mean = look.column("level")[0].as_py(), look.column("mean")[0].as_py()
        about = 0.0 if mean is None else float(np.round(mean)) if abs(mean) < 2**52 else float(mean)
        many = self._n_rows > MANY
        found = self._select(name, self._rows.numbers(name, int(level or 0), about, many))
        rows, n, a, b = np.zeros((K, 1), dtype=np.int64), *(np.zeros((K, 1)) for _ in range(3))
        if not found.num_rows:
            nothing = MomentsTable.about(rows, n, a, b, 0.0)
            empty = CellsTable(
                0, np.zeros(0, np.int64), np.zeros((K, 0), np.int64), np.zeros((K, 0))
            )
            return NumbersTable(nothing, empty)
        largest = _floats(found.column("most"))
        refuse_large(block, np.array([[largest.max()]]))
        y = self._codes(self._read_classes(found.column("y").combine_chunks()))
        keys = next(d.unpacked(k, "i8") for k in found.column("keys") if k.is_valid)
        cells, weights = np.zeros((K, len(keys)), dtype=np.int64), np.zeros((K, len(keys)))
        of_weight = "weights" if self._weight is not None else "cells"
        for i, k in enumerate(y.tolist()):
            if k < 0:
                continue
            cells[k] += d.unpacked(found.column("cells")[i], "i8" if many else "i4")
            kind = "f8" if self._weight is not None else "i8" if many else "i4"
            weights[k] += d.unpacked(found.column(of_weight)[i], kind)
            rows[k] += int(found.column("n")[i].as_py())
            for sums, given in ((n, "w"), (a, "a"), (b, "b")):
                sums[k] += float(found.column(given)[i].as_py())
        level = int(level or 0) + int(found.column("coarser")[0].as_py())
        some = cells.any(axis=0)  # cells of rows without a class are not ours
        table = CellsTable(level, keys[some], cells[:, some], weights[:, some])
        if level == 0:
            values = table.values
            own = number_hashes(values, name).tolist()
            literals = [literal(x, d) for x in values.tolist()]
            self._lookups[name] = Lookup(dict(zip(literals, own, strict=True)), True)
        return NumbersTable(MomentsTable.about(rows, n, a, b, about), table)

    def sample(self, schema: Schema, statistics: Statistics, size: int) -> Sample:
        """Fetch the sample of the rows: those with the least hashes, whatever their order."""
        names = [block.name for block in schema.counted if block.kind is Kind.NUMBERS]
        seeds = {name: number_seed(name) for name in names if name not in self._lookups}
        share = _Share(statistics.rows, size)
        while True:
            classes = {
                raw: (own, int(share.bounds[k])) for raw, (own, k) in self._raw_classes.items()
            }
            query = self._rows.sample(classes, self._lookups, seeds)
            found = self._engine.select(query)
            self.received.sample += found.nbytes
            self.received.queries.append(query)
            frame, y, sums = self._read_rows(found, schema)
            hashes = row_hashes(frame, y)
            theirs = np.asarray(found.column("h").to_numpy()).view(np.uint64)
            if not np.array_equal(hashes, theirs):
                raise InputError(
                    f"{self._engine.name} computes other hashes of its rows than priory does, so "
                    "that no sample can be taken there. Read the rows instead: in_database=False."
                )
            if share.is_enough(hashes, self._codes(y)):
                return Sample.of_groups(frame, y, sums, size)

    def _read_rows(self, found: Any, schema: Schema) -> Any:
        places = [f"c{i}" for i in range(len(self._features))]
        raw = RawTable(
            self._features, found.num_rows, True, lambda i: found.column(places[i]), tidy=True
        )
        y = self._read_classes(found.column("y").combine_chunks())
        n = _integers(found.column("n"))
        if self._weight is None:
            w = n.astype(np.float64)
            return read(raw, schema), y, {"rows": n, "weight": w, "squares": w}
        w, q = _floats(found.column("w")), _floats(found.column("q"))
        return read(raw, schema), y, {"rows": n, "weight": w, "squares": q}

    def _select(self, name: str, query: str) -> Any:
        found = self._engine.select(query)
        self.received.columns[name] = self.received.columns.get(name, 0) + found.nbytes
        self.received.queries.append(query)
        return found


class _Share:
    """Hashes up to which rows are asked for, of each class, so that a sample of them is whole.

    As `bottom_k` has it: so many of all rows, and so many of each class. Equal rows have one hash,
    so that more may be needed than were expected; then the bounds grow.
    """

    def __init__(self, rows: IntArray, size: int) -> None:
        quarter = max(1, size // 4)
        self._most, self._each = max(1, size - quarter), max(1, quarter // max(len(rows), 1))
        self._size, self._rows, self._factor = size, rows, 1.0
        self._set()

    def _set(self) -> None:
        n, factor = int(self._rows.sum()), self._factor
        wanted = [_margin(self._size) * factor / n]
        of_class = [_margin(self._each + 1) * factor / max(int(n), 1) for n in self._rows]
        self._shares = [max(wanted[0], share) for share in of_class]
        self.bounds = [ALL if share >= 1 else int(share * 2.0**64) for share in self._shares]

    def is_enough(self, hashes: AnyArray, y: IntArray) -> bool:
        """Tell whether the rows found hold the sample of all; if not, ask for more."""
        if all(bound == ALL for bound in self.bounds):
            return True
        distinct, first = np.unique(hashes, return_index=True)
        if not len(distinct):
            y = np.zeros(0, dtype=np.int64)
        least = np.uint64(min(self.bounds))
        by_class = np.bincount(y[first], minlength=len(self._rows))
        enough = int((distinct <= least).sum()) >= self._most and len(distinct) > self._size
        for n, bound in zip(by_class, self.bounds, strict=True):
            enough = enough and (bound == ALL or int(n) > self._each)
        if not enough:
            self._factor *= float(np.clip(1.5 * self._size / max(len(distinct), 1), 2.0, 1e6))
            self._set()
        return enough


def _margin(k: int) -> float:
    """Give a number that a Poisson variable of this mean is hardly ever fewer than k."""
    return float(k + 6 * np.sqrt(k) + 10)


def _table(name: str, values: Any) -> RawTable:
    return RawTable((name,), len(values), True, lambda _: values, tidy=True)


def _integers(column: Any) -> IntArray:
    return np.array([int(n) for n in column.to_pylist()], dtype=np.int64)


def _floats(column: Any) -> FloatArray:
    return np.array([np.nan if x is None else float(x) for x in column.to_pylist()])


def _refused(why: str) -> SettingError:
    return SettingError(
        f"in_database=True counts labels, booleans and numbers, but {why}. Leave it out with drop, "
        "or read the rows: in_database=False."
    )
