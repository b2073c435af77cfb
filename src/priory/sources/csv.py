"""CSV files, read by Arrow in pieces of whole rows.

A piece is converted as it is parsed, which is fast. One that Arrow refuses is parsed once more, as
strings: then gap words are missing, other values that do not fit are told, and rows of another
length are left out or refused with their line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.data.arrow import release
from priory.sources.base import SAMPLE_BYTES, SAMPLE_ROWS, Batch, Form, Reading, TextSource, Unread
from priory.sources.casting import (
    FALSE,
    TRUE,
    arrow_types,
    cast,
    find_forms,
    spellings,
    without_gaps,
)
from priory.sources.lines import Lines, reader, skipped
from priory.sources.packed import open_bytes, reading
from priory.sources.tables import CsvHead

__all__ = ["CsvSource"]

PIECE = 1 << 24
"""The number of bytes parsed at a time."""

FIRST_PIECE = 1 << 21
"""The number where only the first rows are wanted."""

BYTES_PER_COLUMN, LARGEST_PIECE = 12_288, 1 << 26
"""A piece of a wide table is larger, so that it has some thousand rows: each adds to every sum."""

WIDE = 500
"""Of so many columns the memory between them counts."""

SMALLEST_BLOCK = 1 << 16
"""The part parsed by one thread is a quarter of a piece, and so many bytes more."""

LONGEST = 1 << 28
"""The longest line."""


class CsvSource(TextSource):
    """The rows of CSV files with the same columns."""

    def __init__(self, name: str, heads: Sequence[CsvHead], reading: Reading) -> None:
        super().__init__()
        self.name, self.reading, self._heads = name, reading, heads
        self.columns = heads[0].columns
        self._size = sum(os.path.getsize(head.path) for head in heads)
        self._before = 0
        self._file: Any = None

    def _infer(self) -> tuple[Mapping[str, Form], Sequence[Unread]]:
        """Let Arrow infer the types, and look closer at what it takes for strings, or codes."""
        first = list(self._first())
        found = [piece.inferred() for piece in first]
        forms = {name: _joined(types[name] for types in found) for name in self.columns}
        unsure = [name for name in self.columns if forms[name] is Form.TEXT]
        if any(_leading_zeros(piece.rows) for piece in first):
            unsure += [name for name in self.columns if forms[name] is Form.INTEGER]
        texts = [piece.texts(unsure)[0] for piece in first] if unsure else []
        columns = {name: _concatenated(table[name] for table in texts) for name in unsure}
        seen, unread = find_forms(columns, self.reading)
        return {**forms, **seen}, unread

    def _first(self) -> Iterator[_Piece]:
        """Iterate over the first rows, a piece for each file."""
        lines, size = SAMPLE_ROWS, SAMPLE_BYTES
        for head in self._heads:
            pieces = []
            for piece in self._pieces(head, FIRST_PIECE):
                if not piece.quoted and piece.rows.count(b"\n") > lines:
                    parts = piece.rows.split(b"\n", lines)[:lines]
                    some = b"\n".join([*parts, b""])
                    piece = replace(piece, data=some, size=len(some))
                pieces.append(piece)
                lines, size = lines - piece.rows.count(b"\n"), size - len(piece.rows)
                if lines <= 0 or size <= 0:
                    break
            if pieces:
                rows = b"".join(piece.rows for piece in pieces)
                quoted = any(piece.quoted for piece in pieces)
                yield replace(pieces[0], data=rows, size=len(rows), quoted=quoted)
            if lines <= 0 or size <= 0:
                return

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Stream the rows, with a few pieces at a time in memory."""
        left, self._before = most, 0
        for head in self._heads:
            least, largest = (PIECE, LARGEST_PIECE) if most is None else (FIRST_PIECE, SAMPLE_BYTES)
            size = min(max(least, BYTES_PER_COLUMN * len(head.columns)), largest)
            for batches in map(partial(self._parsed, forms), self._pieces(head, size)):
                for batch in batches:
                    if left is not None and batch.n_rows > left:
                        batch = batch.take(range(left))
                    if batch.n_rows:
                        yield batch
                    left = None if left is None else left - batch.n_rows
                if left == 0:
                    return
            self._before += os.path.getsize(head.path)
        self._file = None

    def fraction_done(self) -> float | None:
        """Report the fraction of the bytes that were read."""
        if self._file is None or self._file.closed:
            return None
        return min(1.0, (self._before + self._file.tell()) / max(self._size, 1))

    def _pieces(self, head: CsvHead, size: int) -> Iterator[_Piece]:
        """Iterate over pieces of whole rows.

        A line that ends within quotes is no row yet: before its end their number is odd. Where it
        is odd before the end of every line, a quote is a character like others, or never closed.
        """
        with reading(head.path):
            opened, self._file = open_bytes(head.path)
            with self._file, opened:
                read = reader(opened, head, self.reading.encoding)
                rest, start, is_last = skipped(read, head.size), head.size, False
                while not is_last:
                    more = read(max(size - len(rest), size // 2))
                    is_last = not more
                    data = rest + more if rest else more
                    end = len(data) if is_last else data.rfind(b"\n") + 1
                    quoted = data.find(b'"', 0, end) >= 0
                    odd = quoted and data.count(b'"', 0, end) % 2 == 1
                    last = end
                    while odd and not is_last and end:
                        line = data.rfind(b"\n", 0, end - 1) + 1
                        odd = (data.count(b'"', line, end) % 2 == 1) != odd
                        end = line
                    if odd and not is_last and len(data) >= size + size // 2:
                        end = last  # too long for a value
                    if not end and len(data) > LONGEST:
                        raise InputError(
                            f"{head.path} has a line of more than {LONGEST:,} bytes: it is no "
                            "table of text, or its lines do not end."
                        )
                    rest = data[end:]
                    piece = [_Piece(data, end, quoted, odd, head, start, self.reading)]
                    del data, more  # a piece is large: nothing else may hold it
                    if end:
                        yield piece.pop()
                    start += end

    def _parsed(self, forms: Mapping[str, Form], piece: _Piece) -> Iterator[Batch]:
        import pyarrow as pa

        table = None
        if not piece.odd and self.reading.thousands is None:
            try:
                table = piece.table(forms)
            except pa.ArrowInvalid:
                table = None
        if table is not None:
            columns = {
                name: without_gaps(table[name], self.reading) if form is Form.TEXT else table[name]
                for name, form in forms.items()
            }
            place = piece.place
            del piece  # nothing else holds its text, which the batch needs no more
            if len(self.columns) >= WIDE:
                release()
            yield Batch(columns, table.num_rows, place=place)
            return
        texts, faults = piece.texts(tuple(forms))
        end = min(faults) if faults and not self.reading.skips else texts.num_rows + len(faults)
        texts = texts.slice(0, end - sum(row < end for row in faults))
        columns, misread = {}, {}
        for name, form in forms.items():
            columns[name], odd = cast(texts[name], form, self.reading)
            if odd is not None:
                misread[name] = odd
        good = [row for row in range(end) if row not in faults] if faults else None
        place = piece.place if good is None else lambda row: piece.place(good[row])
        yield Batch(columns, texts.num_rows, misread, place)
        for row, fault in faults.items():
            told = piece.place(row)
            if not self.reading.skips:
                raise InputError(f"{told[0].upper()}{told[1:]} {fault}")
            self.skipped.add(f"{told} {fault.partition('.')[0]}")


@dataclass(frozen=True)
class _Piece:
    """Some whole rows of a file, from a byte on."""

    data: bytes
    size: int
    """Where the last row ends; what follows belongs to the next piece."""
    quoted: bool
    odd: bool
    """Whether the number of quotes is odd, so that one may never be closed."""
    head: CsvHead
    start: int
    reading: Reading

    @property
    def rows(self) -> bytes:
        """The text of the rows."""
        return self.data[: self.size]

    def inferred(self) -> dict[str, Form | None]:
        """Find what Arrow takes each column for; None where there is nothing, or gaps alone."""
        import pyarrow as pa

        try:
            table = self.table({}, invalid_row_handler=lambda row: "skip")
        except pa.ArrowInvalid:
            return dict.fromkeys(self.head.columns, Form.TEXT)
        return {
            field.name: None if pa.types.is_null(field.type) else _form_of(field.type)
            for field in table.schema
        }

    def table(self, forms: Mapping[str, Form], **parsing: Any) -> Any:
        """Parse the rows, converted to their forms; without forms Arrow infers all of them."""
        import pyarrow as pa
        from pyarrow import csv

        reading, types = self.reading, arrow_types()
        is_serial, is_wide = bool(parsing), len(self.head.columns) >= WIDE
        n_blocks = 1 if is_serial or is_wide else 4  # of many columns each is converted by itself
        options = csv.ReadOptions(
            column_names=list(self.head.columns),
            block_size=self.size // n_blocks + SMALLEST_BLOCK,
            use_threads=not is_serial,
        )
        parse = csv.ParseOptions(
            delimiter=self.head.delimiter, newlines_in_values=self.quoted, **parsing
        )
        convert = csv.ConvertOptions(
            column_types={name: types[form] for name, form in forms.items()},
            null_values=["", *reading.na_values, *spellings(reading.gap_words)],
            true_values=list(TRUE),
            false_values=list(FALSE),
            include_columns=list(forms),
            decimal_point=reading.decimal,
        )
        rows = pa.BufferReader(pa.py_buffer(self.data).slice(0, self.size))
        if not is_wide:
            return csv.read_csv(rows, options, parse, convert)
        # A pool that gives back what it freed, whichever thread it was: holes of thousands of
        # columns would be larger than the table.
        table = csv.read_csv(rows, options, parse, convert, pa.system_memory_pool())
        release()
        return table

    def texts(self, names: Sequence[str]) -> tuple[Any, dict[int, str]]:
        """Parse the rows as strings, and find the rows of another length, with what is wrong."""
        import pyarrow as pa

        faults: dict[int, str] = {}

        def fault(row: Any) -> str:
            if row.text.count('"') % 2:
                why = "has a double quote that is never closed."
            else:
                why = (
                    f"has {row.actual_columns} values, but there are {row.expected_columns} "
                    "columns. A value that contains the delimiter must be in double quotes."
                )
            faults[row.number - 1] = why
            return "skip"

        as_text = dict.fromkeys(dict.fromkeys((*names, self.head.columns[-1])), Form.TEXT)
        try:
            table = self.table(as_text, invalid_row_handler=fault)
        except pa.ArrowInvalid as error:
            raise self._not_text(error) from None
        if self.odd and table.num_rows:
            # A quote that is never closed takes all that follows into the last value.
            value = table[self.head.columns[-1]][-1].as_py()
            if "\n" in value and not self.rows.rstrip().endswith(b'"'):
                faults[table.num_rows + len(faults) - 1] = (
                    "has a double quote that is never closed."
                )
                table = table.slice(0, table.num_rows - 1)
        return table, faults

    @cached_property
    def place(self) -> Callable[[int], str]:
        """Name a row by its line; without the rows, which would be kept with every batch."""
        return Lines(self.head, self.reading.encoding, self.start, self.size, self.quoted)

    def _not_text(self, error: Exception) -> InputError:
        try:
            self.rows.decode()
        except UnicodeDecodeError as wrong:
            place = Lines(self.head, self.reading.encoding, self.start, wrong.start, False)
            line = place.first + self.rows.count(b"\n", 0, wrong.start)
            return InputError(
                f"Line {line:,} of {self.head.path} is not in the expected encoding. Give its "
                "encoding, such as encoding='latin-1'."
            )
        return InputError(f"{self.head.path} could not be read: {error}.")


def _leading_zeros(rows: bytes) -> bool:
    """Whether digits begin with a zero, so that they may be codes, which are no numbers.

    >>> _leading_zeros(b"01067,0.5"), _leading_zeros(b"100,0.05,1e05")
    (True, False)
    """
    characters = np.frombuffer(b"," + rows + b",", dtype=np.uint8)
    zeros = np.flatnonzero(characters == ord("0"))
    after, before = characters[zeros + 1], characters[zeros - 1]
    is_first = ~np.isin(before, np.frombuffer(b"0123456789.eE+-", dtype=np.uint8))
    return bool((is_first & (after >= ord("0")) & (after <= ord("9"))).any())


def _form_of(kind: Any) -> Form:
    import pyarrow as pa

    t = pa.types
    if t.is_integer(kind):
        return Form.INTEGER
    if t.is_floating(kind):
        return Form.NUMBER
    if t.is_boolean(kind):
        return Form.BOOLEAN
    return Form.DATE if t.is_date(kind) or t.is_timestamp(kind) else Form.TEXT


def _joined(forms: Iterable[Form | None]) -> Form:
    """Find the form of a column in all files; where they differ a closer look is needed."""
    found = {form for form in forms if form is not None}
    if found <= {Form.INTEGER, Form.NUMBER}:
        return Form.INTEGER if found == {Form.INTEGER} else Form.NUMBER
    return found.pop() if len(found) == 1 else Form.TEXT


def _concatenated(arrays: Iterable[Any]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([chunk for array in arrays for chunk in array.chunks], pa.string())
