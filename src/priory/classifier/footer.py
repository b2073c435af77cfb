"""The footer of a Parquet file, decoded without Arrow, so that Arrow never sees a strange one.

Arrow trusts some fields of a footer so far that a wrong one ends the process. A footer is a struct
in Thrift's compact protocol; here it becomes plain values, a struct a dict by the numbers that its
fields have in the definition of Parquet (parquet.thrift).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Chunk", "Footer", "FooterError", "page_sizes", "read_footer"]

DEEPEST = 12


class FooterError(ValueError):
    """Bytes are no footer or page header."""


@dataclass(frozen=True)
class Chunk:
    """Where the values of one column are, and how they are written."""

    name: str
    physical: int
    codec: int
    values: int
    start: int
    size: int


@dataclass(frozen=True)
class Footer:
    """What a footer says, of flat tables alone."""

    columns: tuple[tuple[str, int], ...]
    rows: int
    groups: tuple[tuple[Chunk, ...], ...]
    metadata: dict[bytes, bytes]


def read_footer(content: bytes) -> Footer:
    """Decode a footer; anything that is not as Parquet has it is an error."""
    plain, end = _Decoder(content).decode()
    if end != len(content):
        raise FooterError("its footer is longer than what it says")
    try:
        return _footer(plain)
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, IndexError) as error:
        raise FooterError(f"its footer lacks or mistakes something ({error!r:.60})") from None


def page_sizes(content: bytes) -> tuple[int, list[int]]:
    """Decode a page header: its length, and its sizes unpacked, packed and in values."""
    plain, end = _Decoder(content).decode()
    try:
        kind = plain[1]
        of_kind = plain[{0: 5, 2: 7, 3: 8}[kind]]
        sizes = [plain[2], plain[3], of_kind[1]]
    except (KeyError, TypeError):
        raise FooterError("a page has no proper header") from None
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise FooterError("a page has no proper sizes")
    return end, sizes


def _footer(plain: dict[int, Any]) -> Footer:
    root, *elements = plain[2]
    columns = []
    for element in elements:
        if 5 in element or type(element[1]) is not int:  # children: a table in a table
            raise FooterError("its columns are not plain ones")
        columns.append((element[4].decode(), element[1]))
    if root.get(5) != len(columns):
        raise FooterError("its columns are not as many as it says")
    groups = tuple(
        tuple(_chunk(chunk, column) for chunk, column in zip(group[1], columns, strict=False))
        for group in plain[4]
    )
    if any(len(group[1]) != len(columns) for group in plain[4]):
        raise FooterError("its columns differ from one group of rows to the next")
    if any(group[3] != plain[3] for group in plain[4]):
        raise FooterError("its groups of rows do not hold the rows it promises")
    metadata = {pair[1]: pair.get(2, b"") for pair in plain.get(5, [])}
    return Footer(tuple(columns), _whole(plain[3]), groups, metadata)


def _chunk(plain: dict[int, Any], column: tuple[str, int]) -> Chunk:
    meta = plain[3]
    if 1 in plain or 8 in plain or meta[3] != [column[0].encode()] or meta[1] != column[1]:
        raise FooterError(f"column {column[0]!r:.40} is somewhere else or something else")
    starts = [_whole(meta[9])] + ([_whole(meta[11])] if meta.get(11) else [])
    return Chunk(column[0], meta[1], _whole(meta[4]), _whole(meta[5]), min(starts), _whole(meta[7]))


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise FooterError("a size in its footer is negative or none")
    return value


class _Decoder:
    """Decode one struct; every list is bounded by the bytes that are left."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0
        self._readers: dict[int, Callable[[int], Any]] = {
            3: lambda _: self._byte(),
            **dict.fromkeys((4, 5, 6), lambda _: self._zigzag()),
            7: lambda _: self._take(8),
            8: lambda _: self._take(self._varint()),
            9: self._list,
            10: self._list,
            12: self._struct,
        }

    def decode(self) -> tuple[dict[int, Any], int]:
        return self._struct(0), self._at

    def _take(self, n: int) -> bytes:
        if n > len(self._content) - self._at:
            raise FooterError("a length in it is beyond its end")
        self._at += n
        return self._content[self._at - n : self._at]

    def _byte(self) -> int:
        return self._take(1)[0]

    def _varint(self) -> int:
        result = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
        raise FooterError("a number in it is too long")

    def _zigzag(self) -> int:
        n = self._varint()
        return (n >> 1) ^ -(n & 1)

    def _struct(self, depth: int) -> dict[int, Any]:
        if depth > DEEPEST:
            raise FooterError("it is nested too deeply")
        result: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            if field in result:
                raise FooterError("a field stands twice")
            kind = head & 0x0F
            result[field] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return result

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        n, kind = head >> 4, head & 0x0F
        n = self._varint() if n == 15 else n
        if n > len(self._content) - self._at:
            raise FooterError("a list in it is beyond its end")
        if kind in (1, 2):
            return [self._byte() == 1 for _ in range(n)]
        return [self._value(kind, depth) for _ in range(n)]

    def _value(self, kind: int, depth: int) -> Any:
        if kind not in self._readers:
            raise FooterError(f"it holds something of the type {kind}, which Parquet does not have")
        return self._readers[kind](depth + 1)
