"""The lines of a text file: its bytes as UTF-8, and on which line a row begins."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import IO

from priory.sources.packed import open_bytes
from priory.sources.tables import CsvHead

__all__ = ["Lines", "reader", "skipped"]

AT_ONCE = 1 << 24
UTF8 = ("utf-8", "utf8", "utf-8-sig")


@dataclass(frozen=True)
class Lines:
    """Name rows of a stretch of a file by their lines; the file is read again where that is asked.

    `start` and `size` are in bytes of UTF-8. With `quoted`, a value may go over several lines.
    """

    head: CsvHead
    encoding: str
    start: int
    size: int
    quoted: bool

    def __call__(self, row: int) -> str:
        """Name a row; where quotes stand within values, lines and rows cannot be told apart."""
        if row >= len(self._of_rows):
            return f"a row from line {self.first:,} on of {self.head.path}"
        return f"line {self.first + self._of_rows[row]:,} of {self.head.path}"

    @property
    def first(self) -> int:
        """The number of the first line, counting from 1."""
        return self._found[0]

    @property
    def _of_rows(self) -> list[int]:
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[int, list[int]]:
        """The number of the first line, and after how many of them each row begins."""
        n, left, last = 1, self.start, b""
        opened, file = open_bytes(self.head.path)
        with file, opened:
            read = reader(opened, self.head, self.encoding)
            rows = b""
            while left > 0 and (data := read(min(left, AT_ONCE))):
                n += _ends(data[:left], after=last)
                last, rows = data[:left][-1:], data[left:]
                left -= len(data)
            while len(rows) < self.size and (data := read(self.size - len(rows))):
                rows += data
        lines, inside = [], False
        ended = rows[: self.size].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for i, line in enumerate(ended.split(b"\n")):
            if not inside and line:
                lines.append(i)
            if self.quoted and line.count(b'"') % 2:
                inside = not inside
        return n, lines


def _ends(text: bytes, after: bytes) -> int:
    r"""Count the ends of lines, as Arrow does: a carriage return alone ends one as well.

    >>> _ends(b"a\rb\r\nc\n", b""), _ends(b"\nc", after=b"\r")
    (3, 0)
    """
    pairs = text.count(b"\r\n") + (after == b"\r" and text.startswith(b"\n"))
    return text.count(b"\n") + text.count(b"\r") - pairs


def reader(opened: IO[bytes], head: CsvHead, encoding: str) -> Callable[[int], bytes]:
    """Give a function that reads on, as UTF-8, with lines that end in a line feed."""
    if encoding.lower().replace("_", "-") in UTF8:
        if not head.lone:
            return _without_mark(opened.read)
        return _without_mark(lambda size: opened.read(size).replace(b"\r", b"\n"))
    decoder = codecs.getincrementaldecoder(encoding)()

    def read(size: int) -> bytes:
        while data := opened.read(size):
            text = decoder.decode(data)
            if text:
                return (text.replace("\r", "\n") if head.lone else text).encode()
        return decoder.decode(b"", final=True).encode()

    return read


def _without_mark(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Leave out the mark that some programs write before UTF-8."""
    is_first = True

    def read_on(size: int) -> bytes:
        nonlocal is_first
        data = read(size)
        if is_first:
            is_first = False
            if data.startswith(codecs.BOM_UTF8):
                return data[3:] or read(size)
        return data

    return read_on


def skipped(read: Callable[[int], bytes], size: int) -> bytes:
    """Skip the header, and give what was read beyond it."""
    while size > 0 and (data := read(min(size + 1024, AT_ONCE))):
        if len(data) > size:
            return data[size:]
        size -= len(data)
    return b""
