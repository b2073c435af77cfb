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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError
from priory.base.labels import label_token
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray, Key
from priory.data.arrow import arrow_nulls, arrow_values
from priory.statistics.doubledouble import DoubleDouble

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COLUMNS", "SUMS", "BlockParts", "Part", "coded", "read", "write"]

COLUMNS = ("block", "part", "class", "key", "rows")
SUMS = ("weight", "weight_lo", "s1", "s1_lo", "s2", "s2_lo")
VERSION = 1


@dataclass(frozen=True, eq=False)
class Part:
    """The sums of one part of a block: entry i belongs to a class and a key."""

    name: str
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
        name: str,
        tokens: Sequence[str],
        rows: IntArray,
        weight: FloatArray | DoubleDouble | None,
        s1: FloatArray | DoubleDouble | None = None,
        s2: FloatArray | DoubleDouble | None = None,
    ) -> Part:
        """Take those entries of classes × keys arrays that have rows behind them."""
        places = np.nonzero(rows)
        classes, keys = (place.astype(np.int32) for place in places)

        def pick(sums: FloatArray | DoubleDouble | None) -> DoubleDouble:
            if sums is None:
                return DoubleDouble.zeros((len(keys),))
            return DoubleDouble.of(sums)[places]

        sums = (pick(weight), pick(s1), pick(s2))
        return cls(name, tuple(tokens), classes, keys, rows[places], *sums)

    @classmethod
    def of_classes(cls, name: str, rows: IntArray, weight: FloatArray | DoubleDouble) -> Part:
        """Take sums that have a class and no key."""
        return cls.of_grid(name, ("",), rows[:, None], weight[:, None])

    def by_class(self, n_classes: int) -> tuple[IntArray, FloatArray]:
        """Arrange rows and weight by class, of sums that have no key."""
        rows, weight = self.grid(n_classes, 1)
        return rows[:, 0], weight[:, 0]

    def grid(self, n_classes: int, n_keys: int) -> tuple[IntArray, FloatArray]:
        """Arrange rows and weight as classes × keys arrays; equal places are added."""
        rows, weight = np.zeros((n_classes, n_keys), dtype=np.int64), np.zeros((n_classes, n_keys))
        np.add.at(rows, (self.classes, self.keys), self.rows)
        np.add.at(weight, (self.classes, self.keys), self.weight.value)
        return rows, weight

    def sums(self, n_classes: int, n_keys: int) -> tuple[DoubleDouble, ...]:
        """Arrange weight, s1 and s2 as classes × keys double-doubles; equal places are added."""
        places = self.classes.astype(np.int64) * n_keys + self.keys
        once = len(places) == 0 or int(np.bincount(places).max()) == 1
        add = DoubleDouble.spread if once else _add_up
        sums = (add(s, places, n_classes * n_keys) for s in (self.weight, self.s1, self.s2))
        return tuple(s.reshape(n_classes, n_keys) for s in sums)

    def keyed(self, columns: Sequence[Key]) -> Part:
        """Put the keys in the order of these columns."""
        place = {label_token(column): i for i, column in enumerate(columns)}
        unknown = [token for token in self.tokens if token not in place]
        if unknown:
            raise InputError(f"the {self.name} name a column {unknown[0]} that the block lacks")
        where = np.array([place[token] for token in self.tokens], dtype=np.int32)
        keys = where[self.keys] if len(where) else self.keys
        return replace(self, tokens=tuple(place), keys=keys)


class BlockParts(dict[str, Part]):
    """The parts of one block by name, and what its table says beside them (`Table.header`).

    A part that is not there has no entries, so a block without any is an empty table.
    """

    def __init__(self, header: Mapping[str, Any] | None = None, parts: Iterable[Part] = ()) -> None:
        super().__init__({part.name: part for part in parts})
        self.header = header or {}

    def __missing__(self, name: str) -> Part:
        return Part.of_grid(name, (), np.zeros((0, 0), dtype=np.int64), None)


def write(
    header: Mapping[str, Any], classes: Sequence[str], parts: Iterable[tuple[str | None, Part]]
) -> pa.Table:
    """Write the parts of all blocks as a long table, the header as JSON in its metadata.

    A part is let go as soon as its rows are written, and columns of zeros share one array: a table
    of millions of sums would otherwise be held four times.
    """
    import pyarrow as pa

    zeros = _Zeros()
    table = pa.concat_tables([_rows(block, part, classes, zeros) for block, part in parts])
    table = table.unify_dictionaries()
    header = {"version": VERSION, "classes": list(classes), **header}
    return table.replace_schema_metadata({b"priory": json.dumps(header).encode()})


def read(table: pa.Table) -> tuple[dict[str, Any], Callable[[str | None], list[Part]]]:
    """Read the header, and give a function that reads the parts of a block."""
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
    (blocks, block_names), (parts, part_names), classes, keys = (
        (codes, _strings(dictionary)) for codes, dictionary in map(coded, table.columns[:4])
    )
    rows = arrow_values(table["rows"], np.int64)
    numbers = [arrow_values(table[name], np.float64) for name in SUMS]
    sums = [DoubleDouble(hi, lo) for hi, lo in zip(numbers[::2], numbers[1::2], strict=True)]
    group = (blocks.astype(np.int64) + 1) * len(part_names) + parts
    where: dict[str | None, list[tuple[int, Any]]] = defaultdict(list)
    for first, some in _runs(group):
        block = int(blocks[first])
        where[None if block < 0 else block_names[block]].append((first, some))

    def of_block(name: str | None) -> list[Part]:
        return [part(part_names[parts[first]], some) for first, some in where.get(name, ())]

    def part(name: str, some: Any) -> Part:
        codes, tokens = _used(classes, some)
        unknown = [token for token in tokens if token not in class_codes]
        if unknown:
            raise InputError(f"the {name} name a class {unknown[0]} that the header lacks")
        places = np.array([class_codes[token] for token in tokens], dtype=np.int32)
        key_codes, key_tokens = _used(keys, some)
        entries = (places[codes], key_codes, rows[some], *(s[some] for s in sums))
        return Part(name, tuple(key_tokens), *entries)

    return header, of_block


def coded(column: Any) -> tuple[CodeArray, Any]:
    """Code a column of strings: a code for each row, -1 for null; and an array of the strings."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        if not column.num_chunks:
            return np.zeros(0, dtype=np.int32), pa.array([], pa.string())
        column = column.chunk(0)
    indices = column.indices
    codes = arrow_values(indices, np.int32)
    if indices.null_count:
        codes = np.where(arrow_nulls(indices), np.int32(-1), codes)
    return codes, column.dictionary


def _strings(dictionary: Any) -> list[str]:
    """List the strings of an array, in half the time of Arrow."""
    if not len(dictionary):
        return []
    ends = np.frombuffer(dictionary.buffers()[1], dtype=np.int32)[dictionary.offset :].tolist()
    text = dictionary.buffers()[2]
    text = b"" if text is None else text.to_pybytes()
    pairs = pairwise(ends[: len(dictionary) + 1])
    if text.isascii():
        letters = text.decode("ascii")
        return [letters[a:b] for a, b in pairs]
    return [text[a:b].decode() for a, b in pairs]


def _add_up(sums: DoubleDouble, places: IntArray, size: int) -> DoubleDouble:
    """Add the sums of each place: the entries of several tables stand one below the other."""
    total = DoubleDouble.zeros((size,))
    left = np.arange(len(places))
    while len(left):
        at, first = np.unique(places[left], return_index=True)
        total[at] = total[at] + sums[left[first]]
        left = np.delete(left, first)
    return total


class _Zeros:
    """Zeros of any number, of one array that all share."""

    def __init__(self) -> None:
        self._kept: dict[Any, AnyArray] = {}

    def __call__(self, dtype: Any, n: int) -> AnyArray:
        if len(self._kept.get(dtype, ())) < n:
            self._kept[dtype] = np.zeros(n, dtype)
        return self._kept[dtype][:n] if n else np.zeros(0, dtype)


def _rows(block: str | None, part: Part, classes: Sequence[str], zeros: _Zeros) -> pa.Table:
    """Write one part as rows of the long table."""
    import pyarrow as pa

    n = len(part.rows)
    zero, null = _numbers(zeros(np.int32, n)), pa.nulls(n, pa.int32())

    def dictionary(codes: Any, values: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(codes, _texts(values))

    columns = [
        dictionary(null, []) if block is None else dictionary(zero, [block]),
        dictionary(zero, [part.name]),
        dictionary(_numbers(part.classes), list(classes)),
        dictionary(_numbers(part.keys), list(part.tokens)),
        _numbers(part.rows),
    ]
    sums = [a for s in (part.weight, part.s1, part.s2) for a in (s.hi, s.lo)]
    columns += [_numbers(a if a.any() else zeros(np.float64, n)) for a in sums]
    return pa.table(columns, names=[*COLUMNS, *SUMS])


def _texts(values: Sequence[str]) -> pa.Array:
    """Give strings to Arrow, as `_numbers` does numbers."""
    import pyarrow as pa

    text = "".join(values)
    is_ascii = text.isascii()
    encoded = () if is_ascii else [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, values if is_ascii else encoded)])
    if ends[-1] > np.iinfo(np.int32).max:
        return pa.array(values, pa.string())  # which says that it is too much
    data = text.encode() if is_ascii else b"".join(encoded)
    buffers = map(pa.py_buffer, (ends.astype(np.int32), data))
    return pa.StringArray.from_buffers(len(values), *buffers)


def _numbers(values: AnyArray) -> pa.Array:
    """Give numbers to Arrow, whose own function would import pandas, which takes a second."""
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _runs(group: IntArray) -> Iterator[tuple[int, Any]]:
    """Give the first row of each group and all of its rows; as a slice, where they stand together.

    They do in every file: what is read is then no copy.
    """
    order = None if (group[1:] >= group[:-1]).all() else np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group if order is None else group[order], prepend=-1))
    for start, end in pairwise([*starts.tolist(), len(group)]):
        some = slice(start, end) if order is None else order[start:end]
        yield int(start if order is None else order[start]), some


def _used(column: tuple[CodeArray, list[str]], some: Any) -> tuple[CodeArray, list[str]]:
    """Code some rows of a column anew, by the strings alone that they have."""
    codes, strings = column[0][some], column[1]
    seen = np.zeros(len(strings), dtype=np.bool_)
    seen[codes] = True
    where = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return where[codes], [strings[code] for code in np.flatnonzero(seen).tolist()]
