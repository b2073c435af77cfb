"""Statistics as one long table: a row for each sum, so that merging is GROUP BY and SUM.

| column | meaning |
|---|---|
| block | the block of columns, null for the classes themselves |
| part | what is summed: classes, labels, moments, cells, counts and so on |
| class | the class, as a JSON value, so that 1, "1" and true stay apart |
| key | the label or the column as a JSON value, the cell's integer; of pairs, both values |
| rows | how many rows stand behind the sum |
| weight, weight_lo | their weight Σw, as hi and lo of a double-double |
| s1, s1_lo | Σwx likewise, where there is one |
| s2, s2_lo | Σwx² likewise |
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError
from priory.base.labels import label_token
from priory.base.typing import CodeArray, FloatArray, IntArray, Key
from priory.data.arrow import arrow_gaps, arrow_values
from priory.statistics.doubledouble import DoubleDouble

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COLUMNS", "SUMS", "Entries", "coded", "read", "write"]

COLUMNS = ("block", "part", "class", "key", "rows")
SUMS = ("weight", "weight_lo", "s1", "s1_lo", "s2", "s2_lo")
VERSION = 1


@dataclass(frozen=True, eq=False)
class Entries:
    """Hold the sums of one part of a block: entry i belongs to a class and a key."""

    part: str
    tokens: tuple[str, ...]
    classes: CodeArray
    keys: CodeArray
    rows: IntArray
    weight: DoubleDouble
    s1: DoubleDouble
    s2: DoubleDouble

    @classmethod
    def of_grid(
        cls,
        part: str,
        tokens: Sequence[str],
        rows: IntArray,
        weight: FloatArray | DoubleDouble,
        s1: DoubleDouble | None = None,
        s2: DoubleDouble | None = None,
    ) -> Entries:
        """Return the entries of classes × keys arrays that have rows behind them."""
        classes, keys = np.nonzero(rows)

        def pick(sums: DoubleDouble | None) -> DoubleDouble:
            if sums is None:
                return DoubleDouble.zeros((len(keys),))
            return DoubleDouble(sums.hi[classes, keys], sums.lo[classes, keys])

        return cls(
            part,
            tuple(tokens),
            classes.astype(np.int32),
            keys.astype(np.int32),
            rows[classes, keys],
            pick(weight if isinstance(weight, DoubleDouble) else DoubleDouble.of(weight)),
            pick(s1),
            pick(s2),
        )

    @classmethod
    def none(cls, part: str) -> Entries:
        """Return no entries."""
        return cls.of_grid(part, (), np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0)))

    def grid(self, n_classes: int, n_keys: int) -> tuple[IntArray, FloatArray]:
        """Return rows and weight as classes × keys arrays; equal places are added."""
        rows, weight = np.zeros((n_classes, n_keys), dtype=np.int64), np.zeros((n_classes, n_keys))
        np.add.at(rows, (self.classes, self.keys), self.rows)
        np.add.at(weight, (self.classes, self.keys), self.weight.value)
        return rows, weight

    def sums(self, n_classes: int, n_keys: int) -> tuple[DoubleDouble, ...]:
        """Return weight, s1 and s2 as classes × keys arrays of double-doubles, likewise added."""
        place = self.classes.astype(np.int64) * n_keys + self.keys
        once = len(place) == 0 or int(np.bincount(place).max()) == 1
        results = []
        for sums in (self.weight, self.s1, self.s2):
            grid = DoubleDouble.zeros((n_classes * n_keys,))
            if once:
                grid.hi[place], grid.lo[place] = sums.hi, sums.lo
            left = np.arange(0 if once else len(place))
            while len(left):  # the entries of several tables stand one below the other
                at, first = np.unique(place[left], return_index=True)
                new = DoubleDouble(sums.hi[left[first]], sums.lo[left[first]])
                total = DoubleDouble(grid.hi[at], grid.lo[at]) + new
                grid.hi[at], grid.lo[at] = total.hi, total.lo
                left = np.delete(left, first)
            shape = (n_classes, n_keys)
            results.append(DoubleDouble(grid.hi.reshape(shape), grid.lo.reshape(shape)))
        return tuple(results)

    def keyed(self, columns: Sequence[Key]) -> Entries:
        """Return the entries with their keys in the order of these columns."""
        place = {label_token(column): i for i, column in enumerate(columns)}
        unknown = [token for token in self.tokens if token not in place]
        if unknown:
            raise InputError(f"the {self.part} name a column {unknown[0]} that the block lacks")
        where = np.array([place[token] for token in self.tokens], dtype=np.int32)
        keys = where[self.keys] if len(where) else self.keys
        return replace(self, tokens=tuple(place), keys=keys)


def write(
    header: Mapping[str, Any], classes: Sequence[str], blocks: Mapping[str | None, list[Entries]]
) -> pa.Table:
    """Return the long table of all blocks, the header as JSON in its metadata."""
    import pyarrow as pa

    chunks = [_table(name, entries, classes) for name, list_ in blocks.items() for entries in list_]
    table = pa.concat_tables(chunks).unify_dictionaries().combine_chunks()
    header = {"version": VERSION, "classes": list(classes), **header}
    return table.replace_schema_metadata({b"priory": json.dumps(header).encode()})


def read(table: pa.Table) -> tuple[dict[str, Any], dict[str | None, dict[str, Entries]]]:
    """Return the header, and the entries by block and part."""
    metadata = table.schema.metadata or {}
    if b"priory" not in metadata or tuple(table.column_names) != COLUMNS + SUMS:
        raise InputError(
            "This Arrow table does not hold statistics of priory: it must have the columns "
            f"{', '.join(COLUMNS + SUMS)} and a header under the metadata key 'priory'."
        )
    header: dict[str, Any] = json.loads(metadata[b"priory"])
    if header.get("version") != VERSION:
        raise InputError(
            f"The statistics have version {header.get('version')!r}; this priory reads {VERSION}."
        )
    class_codes = {token: code for code, token in enumerate(header["classes"])}
    texts = {name: coded(table[name]) for name in COLUMNS[:4]}
    numbers = {name: arrow_values(table[name], np.float64) for name in SUMS}
    numbers["rows"] = arrow_values(table["rows"], np.int64)
    (blocks, block_names), (parts, part_names) = texts["block"], texts["part"]
    group = (blocks.astype(np.int64) + 1) * len(part_names) + parts
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    result: dict[str | None, dict[str, Entries]] = defaultdict(dict)
    for i, start in enumerate(starts.tolist()):
        some = order[start : starts[i + 1] if i + 1 < len(starts) else len(order)]
        block, part = int(blocks[some[0]]), part_names[parts[some[0]]]
        result[None if block < 0 else block_names[block]][part] = _entries(
            part,
            {name: (codes[some], names) for name, (codes, names) in texts.items()},
            {name: array[some] for name, array in numbers.items()},
            class_codes,
        )
    return header, dict(result)


def _table(block: str | None, entries: Entries, classes: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    n = len(entries.rows)
    zero, none = pa.array(np.zeros(n, dtype=np.int32)), pa.nulls(n, pa.int32())

    def dictionary(codes: Any, values: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(codes, pa.array(values, pa.string()))

    columns = [
        dictionary(none if block is None else zero, [] if block is None else [block]),
        dictionary(zero, [entries.part]),
        dictionary(pa.array(entries.classes), list(classes)),
        dictionary(pa.array(entries.keys), list(entries.tokens)),
        pa.array(entries.rows),
    ]
    columns += [pa.array(a) for s in (entries.weight, entries.s1, entries.s2) for a in (s.hi, s.lo)]
    return pa.table(columns, names=[*COLUMNS, *SUMS])


def coded(column: Any) -> tuple[CodeArray, list[str]]:
    """Return a column of strings as codes, -1 for null, and the string of each code."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        if not column.num_chunks:
            return np.zeros(0, dtype=np.int32), []
        column = column.chunk(0)
    indices, dictionary = column.indices, column.dictionary
    codes = arrow_values(indices, np.int32)
    if indices.null_count:
        codes = np.where(arrow_gaps(indices), np.int32(-1), codes)
    if not len(dictionary):
        return codes, []
    ends = np.frombuffer(dictionary.buffers()[1], dtype=np.int32)[dictionary.offset :].tolist()
    text = dictionary.buffers()[2]
    text = b"" if text is None else text.to_pybytes()
    strings = [text[a:b].decode() for a, b in pairwise(ends[: len(dictionary) + 1])]
    return codes, strings


def _entries(
    part: str,
    texts: Mapping[str, tuple[CodeArray, list[str]]],
    numbers: Mapping[str, Any],
    class_codes: Mapping[str, int],
) -> Entries:
    def sums(name: str) -> DoubleDouble:
        hi, lo = (np.asarray(numbers[n], dtype=np.float64) for n in (name, f"{name}_lo"))
        return DoubleDouble(hi, lo)

    def used(name: str) -> tuple[CodeArray, list[str]]:
        codes, names = texts[name]
        seen = np.zeros(len(names), dtype=np.bool_)
        seen[codes] = True
        where = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        return where[codes], [names[code] for code in np.flatnonzero(seen).tolist()]

    codes, tokens = used("class")
    unknown = [token for token in tokens if token not in class_codes]
    if unknown:
        raise InputError(f"the {part} name a class {unknown[0]} that the header lacks")
    place = np.array([class_codes[token] for token in tokens], dtype=np.int32)
    keys, key_tokens = used("key")
    return Entries(
        part,
        tuple(key_tokens),
        place[codes] if len(place) else codes,
        keys,
        np.asarray(numbers["rows"], dtype=np.int64),
        sums("weight"),
        sums("s1"),
        sums("s2"),
    )
