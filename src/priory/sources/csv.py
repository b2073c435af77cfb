"""Large CSV files, read by Arrow, which is faster than DuckDB but refuses irregular rows.

From the first such row DuckDB reads on: only there is a value of another type missing and flagged,
and only there does an error give the line. So both must agree on whatever Arrow accepts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from priory.sources.base import Batch, Form, Source
from priory.sources.tables import CsvHead

__all__ = ["FALSE", "TRUE", "CsvSource", "is_large"]

LARGE = 1 << 25
"""For smaller files the difference does not matter."""

PIECE = 1 << 24
"""The number of bytes parsed at a time."""

BLOCK = PIECE // 4
"""The part parsed by one thread."""

LONGEST = 1 << 23
"""The largest header; quoted rows are limited to a piece."""

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


class CsvSource(Source):
    """The rows of regular CSV files; `slowly` is a source of the same rows for any file."""

    def __init__(self, slowly: Source, heads: Sequence[CsvHead], na_values: Sequence[str]) -> None:
        self.name, self.columns = slowly.name, slowly.columns
        self._slowly, self._heads, self._gaps = slowly, heads, ("", *na_values)
        self._size = sum(os.path.getsize(head.path) for head in heads)
        self._done: int | None = None

    @property
    def is_text(self) -> bool:
        """True: the columns have no types."""
        return True

    def forms(self) -> Mapping[str, Form]:
        """Infer the form of each column from the first rows."""
        return self._slowly.forms()

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Stream the rows, with a few pieces at a time in memory."""
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
        """Report the fraction of the bytes that were parsed."""
        return self._slowly.fraction_done() if self._done is None else self._done / self._size

    def example(self, column: str, form: Form) -> str | None:
        """Find the first value of a column that does not fit a form."""
        return self._slowly.example(column, form)

    def close(self) -> None:
        """Close files and connections."""
        self._slowly.close()

    def _tables(self, forms: Mapping[str, Form]) -> Iterator[Any]:
        """Iterate over the tables of the pieces of the files."""
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
    """Tell whether files are plain UTF-8, and large enough for Arrow to pay off."""
    is_utf8 = encoding.lower().replace("-", "").replace("_", "") == "utf8"
    sizes = [_plain_size(head.path) for head in heads] if is_utf8 else [0]
    return min(sizes) > 0 and sum(sizes) >= LARGE


def _plain_size(path: str) -> int:
    """Get the size of a file, 0 if it is compressed or not a regular file."""
    if not os.path.isfile(path):
        return 0
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return 0 if is_packed else os.path.getsize(path)


class _Piece(NamedTuple):
    """Some whole rows, valid until the next piece is requested."""

    rows: memoryview
    quoted: bool


def _pieces(path: str) -> Iterator[_Piece]:
    """Iterate over the rows of a file in pieces of whole rows.

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
