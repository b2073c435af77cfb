"""Large CSV files, read by Arrow, which parses faster than DuckDB but gives up at any oddity.

Where it does, DuckDB reads on from that row: only there is a value of another kind a gap with a
mark, and only there does an error tell the line. So both must agree on whatever Arrow accepts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from priory.sources.base import Batch, Form, Source
from priory.sources.tables import CsvHead

__all__ = ["FALSE", "TRUE", "CsvSource", "is_large"]

LARGE = 1 << 25
"""Smaller files are read before a difference shows."""

PIECE = 1 << 24
"""So many bytes are parsed at once."""

BLOCK = PIECE // 4
"""The parts of it that several threads parse."""

LONGEST = 1 << 23
"""The head has no more bytes, and rows within quotes no more than a piece."""

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


class CsvSource(Source):
    """Give the rows of plain CSV files; `slowly` gives the same rows, whatever they are."""

    def __init__(self, slowly: Source, heads: Sequence[CsvHead], na_values: Sequence[str]) -> None:
        self.name, self.columns = slowly.name, slowly.columns
        self._slowly, self._heads, self._gaps = slowly, heads, ("", *na_values)
        self._size = sum(os.path.getsize(head.path) for head in heads)
        self._done: int | None = None

    @property
    def is_text(self) -> bool:
        """Return that columns have no type of their own."""
        return True

    def forms(self) -> Mapping[str, Form]:
        """Return the form that every value of the first rows has, for each column."""
        return self._slowly.forms()

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Stream the rows; memory holds a few pieces, however many there are."""
        import pyarrow as pa

        rows = 0
        if most is None and Form.DATE not in forms.values():
            try:
                for table in self._tables(forms):
                    yield Batch({name: table[name] for name in forms}, table.num_rows)
                    rows += table.num_rows
                return
            except pa.ArrowInvalid:
                pass
            finally:
                self._done = None
        for batch in self._slowly.batches(forms, most):
            known = min(rows, batch.n_rows)
            rows -= known
            if known < batch.n_rows:
                columns = {name: column[known:] for name, column in batch.columns.items()}
                yield Batch(columns, batch.n_rows - known, batch.misread)

    def fraction_done(self) -> float | None:
        """Return the share of the bytes that were parsed."""
        return self._slowly.fraction_done() if self._done is None else self._done / self._size

    def example(self, column: str, form: Form) -> str | None:
        """Return the first value of a column that is not of a form."""
        return self._slowly.example(column, form)

    def close(self) -> None:
        """Let go of files and connections."""
        self._slowly.close()

    def _tables(self, forms: Mapping[str, Form]) -> Iterator[Any]:
        """Return a table of each piece of the files."""
        import pyarrow as pa
        from pyarrow import csv

        types = {Form.NUMBER: pa.float64(), Form.BOOLEAN: pa.bool_(), Form.TEXT: pa.string()}
        convert = csv.ConvertOptions(
            column_types={name: types[form] for name, form in forms.items()},
            null_values=list(self._gaps),
            true_values=list(TRUE),
            false_values=list(FALSE),
            strings_can_be_null=True,
            include_columns=list(forms),
        )
        self._done = 0
        for head in self._heads:
            read = csv.ReadOptions(column_names=list(head.columns), block_size=BLOCK)
            for piece in _pieces(head.path):
                parse = csv.ParseOptions(delimiter=head.delimiter, newlines_in_values=piece.quoted)
                table = csv.read_csv(pa.BufferReader(piece.rows), read, parse, convert)
                self._done += len(piece.rows)
                if table.num_rows:
                    yield table


def is_large(heads: Sequence[CsvHead], encoding: str) -> bool:
    """Return whether files are plain UTF-8, and large enough to be read another way."""
    is_utf8 = encoding.lower().replace("-", "").replace("_", "") == "utf8"
    sizes = [_plain_size(head.path) for head in heads] if is_utf8 else [0]
    return min(sizes) > 0 and sum(sizes) >= LARGE


def _plain_size(path: str) -> int:
    """Return how many bytes a file has, 0 where it is packed, or no file at all."""
    if not os.path.isfile(path):
        return 0
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return 0 if is_packed else os.path.getsize(path)


class _Piece(NamedTuple):
    """Some whole rows; they are there until the next piece is asked for."""

    rows: memoryview
    quoted: bool


def _pieces(path: str) -> Iterator[_Piece]:
    """Return the rows of a file, whole ones, in pieces.

    A line that ends within quotes is no row yet: before its end their number is odd.
    """
    import pyarrow as pa

    with open(path, "rb") as file:
        head = file.readline(LONGEST)
        if not head.endswith(b"\n") or head.count(b'"') % 2:
            raise pa.ArrowInvalid("The head is not one line.")
        start, buffer = len(head), bytearray(PIECE)
        while size := file.readinto(buffer):
            end = size if size < PIECE else buffer.rfind(b"\n") + 1
            quoted = buffer.find(b'"', 0, end) >= 0
            while quoted and size == PIECE and end and buffer.count(b'"', 0, end) % 2:
                end = buffer.rfind(b"\n", 0, end - 1) + 1
            if not end:
                raise pa.ArrowInvalid("A row does not end.")
            yield _Piece(memoryview(buffer)[:end], quoted)
            start += end
            file.seek(start)
