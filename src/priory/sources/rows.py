"""Rows of Python values: lines and arrays of JSON, sheets of Excel, tables of SQLite."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from priory.base.errors import InputError, PrioryWarning, SettingError, did_you_mean, listing, warn
from priory.sources.base import SAMPLE_ROWS, Batch, Form, Reading, TextSource, Unread, row_number
from priory.sources.casting import arrow_types, as_strings, cast, find_forms
from priory.sources.guarding import check_reads
from priory.sources.packed import open_bytes, reading, unpacked
from priory.sources.selecting import distinct, identifier

__all__ = [
    "RowsSource",
    "Unreadable",
    "chosen_table",
    "connect_sqlite",
    "excel",
    "json_rows",
    "sqlite",
]

AT_ONCE = 1 << 22
BETWEEN = re.compile(r"[\s,]*")
ROWS_AT_ONCE = 20_000
RECURSIVE = 33
"""SQLite's code of WITH RECURSIVE, to which Python gives no name before 3.12."""


class Unreadable(NamedTuple):
    """What is wrong with a row, in place of it."""

    why: str


class Chunk(NamedTuple):
    """Some rows, by keys or by position, and how each is named; a row may be unreadable."""

    rows: list[Any]
    place: Callable[[int], str]


class RowsSource(TextSource):
    """Rows that come as Python values; each value has its own type, so a column may be mixed."""

    def __init__(
        self,
        name: str,
        chunks: Callable[[], Iterator[Chunk]],
        reading: Reading,
        columns: Sequence[str] | None = None,
        resources: ExitStack | None = None,
        dialect: str | None = None,
    ) -> None:
        super().__init__()
        self.name, self.reading = name, reading
        self.dialect = dialect
        self._chunks, self._resources = chunks, resources or ExitStack()
        self._by_key = columns is None
        try:
            self.columns = tuple(columns) if columns is not None else self._keys()
        except BaseException:
            self.close()
            raise

    def _keys(self) -> tuple[str, ...]:
        """Collect the keys of the first rows, in the order in which they come."""
        rows = (row for chunk in self._chunks() for row in chunk.rows)
        found = {key: None for row in islice(rows, SAMPLE_ROWS) if type(row) is dict for key in row}
        return tuple(found)

    def _infer(self) -> tuple[Mapping[str, Form], Sequence[Unread]]:
        rows = (row for chunk in self._chunks() for row in chunk.rows)
        first = [row for row in islice(rows, SAMPLE_ROWS) if type(row) is not Unreadable]
        values = {name: self._values(first, name) for name in self.columns}
        strings = [
            name
            for name, column in values.items()
            if all(value is None or isinstance(value, str) for value in column)
        ]
        columns = {name: as_strings(column) for name, column in values.items()}
        return find_forms(columns, self.reading, strings)

    def _values(self, rows: Sequence[Any], name: str) -> list[Any]:
        if self._by_key:
            return [row.get(name) for row in rows]
        i = self.columns.index(name)
        return [row[i] for row in rows]

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Convert the rows to columns, some at a time."""
        left = most
        for chunk in self._chunks():
            batch, fault = self._batch(chunk, forms)
            if left is not None and batch.n_rows > left:
                batch, fault = batch.take(range(left)), None
            if batch.n_rows:
                yield batch
            left = None if left is None else left - batch.n_rows
            if fault is not None:
                raise InputError(fault)
            if left == 0:
                return

    def _batch(self, chunk: Chunk, forms: Mapping[str, Form]) -> tuple[Batch, str | None]:
        """Convert rows, as far as they can be read, and tell what is wrong with the next one."""
        rows, place, fault = chunk.rows, chunk.place, None
        if Unreadable in set(map(type, rows)):
            wrong = {i: row.why for i, row in enumerate(rows) if type(row) is Unreadable}
            told = {i: f"{place(i)} {why}" for i, why in wrong.items()}
            if self.reading.skips:
                for reason in told.values():
                    self.skipped.add(reason)
            else:
                first = min(wrong)
                rows, fault = rows[:first], f"{told[first][0].upper()}{told[first][1:]}."
            good = [i for i, row in enumerate(rows) if type(row) is not Unreadable]
            rows, place = [rows[i] for i in good], lambda row: chunk.place(good[row])
        columns, misread = {}, {}
        for name, form in forms.items():
            columns[name], odd = _column(self._values(rows, name), form, self.reading)
            if odd is not None:
                misread[name] = odd
        return Batch(columns, len(rows), misread, place), fault

    def close(self) -> None:
        """Close what was opened for it."""
        self._resources.close()


def json_rows(paths: Sequence[str], name: str, reading: Reading) -> RowsSource:
    """Open files of JSON: a line for each row, or one array of objects."""

    def chunks() -> Iterator[Chunk]:
        for path in paths:
            yield from _json_chunks(path)

    source = RowsSource(name, chunks, reading)
    if not source.columns:
        for _ in source.batches({}, 1):  # an unreadable row says what is wrong
            raise InputError(f"{name} has rows without a single key.")
        raise InputError(f"{name} is empty.")
    return source


def sqlite(path: str, name: str, reading: Reading) -> RowsSource:
    """Open a table of a SQLite database, or a query in it."""
    import sqlite3

    resources = ExitStack()
    try:
        file = resources.enter_context(unpacked(path))
        base = resources.enter_context(closing(connect_sqlite(file)))
        if reading.query is not None:
            check_reads(reading.query)
            table, query = name, reading.query.strip().rstrip(";")
        else:
            listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            tables = [row[0] for row in base.execute(listed) if not row[0].startswith("sqlite_")]
            table = chosen_table(tables, name, reading)
            query = f"SELECT * FROM {identifier(table)}"
        columns = [column[0] for column in base.execute(limited(query, 0)).description]
    except sqlite3.Error as error:
        resources.close()
        raise _refused(error, name, reading) from None
    except BaseException:
        resources.close()
        raise

    def chunks() -> Iterator[Chunk]:
        # A connection belongs to its thread, and rows are read ahead by another.
        with closing(connect_sqlite(file)) as own:
            before = 0
            try:
                cursor = own.execute(query)
                while rows := cursor.fetchmany(ROWS_AT_ONCE):
                    place = row_number(table, before)
                    yield Chunk([tuple(map(_plain, row)) for row in rows], place)
                    before += len(rows)
            except sqlite3.Error as error:
                raise _refused(error, name, reading) from None

    return RowsSource(name, chunks, reading, distinct(columns), resources, "sqlite")


def _refused(error: Exception, name: str, reading: Reading) -> Exception:
    """Say what SQLite would not do, now or in the middle of the rows."""
    if "not authorized" in str(error) or "prohibited" in str(error):
        return SettingError(f"A query may only read, not {reading.query!r:.80}.")
    return InputError(f"{name} could not be read: {error}.")


def connect_sqlite(file: str) -> Any:
    """Connect to a file of SQLite, to read and nothing else."""
    import sqlite3

    base = sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True)
    reads = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, RECURSIVE)
    base.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in reads else sqlite3.SQLITE_DENY
    )
    return base


def limited(query: str, most: int) -> str:
    """Write a query for the first of its rows."""
    return f"SELECT * FROM ({query}\n) LIMIT {most}"


def excel(path: str, name: str, reading: Reading) -> RowsSource:
    """Open a sheet of an Excel workbook; its first row that is not empty names the columns."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{name} is an Excel workbook, for which openpyxl is needed: pip install "
            "'priory[excel]'. Or save the sheet as CSV."
        ) from None
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with open(path, "rb") as file:  # by its path it would want a suffix, which stdin has not
            content = io.BytesIO(file.read())
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
    except (InvalidFileException, KeyError, ValueError, OSError) as error:
        raise InputError(f"{name} could not be read as an Excel workbook: {error}.") from None
    with closing(book):
        if reading.table is None and len(book.sheetnames) > 1:
            warn(
                f"{name} has the sheets {listing(book.sheetnames)}; the first is read. Another "
                f"one: table={book.sheetnames[1]!r}.",
                PrioryWarning,
            )
        sheet = book.sheetnames[0]
        if reading.table is not None:
            sheet = chosen_table(book.sheetnames, name, reading, "sheet")
        cells = [
            (i, tuple(map(_plain, row)))
            for i, row in enumerate(book[sheet].iter_rows(values_only=True), start=1)
            if any(value is not None for value in row)
        ]
    if not cells:
        raise InputError(f"The sheet {sheet!r} of {name} is empty.")
    head = cells[0][1]
    used = [i for i in range(len(head)) if any(row[i] is not None for _, row in cells)]
    columns = [f"column{i}" if head[i] is None else str(head[i]).strip() for i in used]
    if len(set(columns)) < len(columns):
        twice = [column for column in dict.fromkeys(columns) if columns.count(column) > 1]
        raise InputError(f"Column {listing(twice)} stands more than once in {name}.")
    lines = [i for i, _ in cells[1:]]
    rows = [tuple(row[i] for i in used) for _, row in cells[1:]]

    def chunks() -> Iterator[Chunk]:
        yield Chunk(rows, lambda row: f"row {lines[row]} of sheet {sheet!r}")

    return RowsSource(name, chunks, reading, columns)


def chosen_table(names: Sequence[str], name: str, reading: Reading, what: str = "table") -> str:
    """Choose the table that was asked for, or the only one; refuse to guess."""
    if reading.table is not None:
        if reading.table not in names:
            raise SettingError(
                f"table={reading.table!r} was not found in {name}. Each {what}: "
                f"{listing(names, 20)}.{did_you_mean(reading.table, names)}"
            )
        return reading.table
    if len(names) != 1:
        held = f"{len(names)} tables: {listing(names, 20)}" if names else "no table"
        hint = f" Name one of them: table={names[0]!r}." if names else ""
        raise SettingError(f"{name} is a database that holds {held}.{hint}")
    return names[0]


def _column(values: list[Any], form: Form, how: Reading) -> tuple[Any, Any]:
    """Make an array of values that have the type of their form; mixed ones go by their text."""
    import pyarrow as pa

    is_mixed = form is not Form.BOOLEAN and bool in set(map(type, values))
    if not (is_mixed or form is Form.DATE or how.na_values):
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return pa.array(values, arrow_types()[form]), None
    return cast(as_strings(values), form, how)


def _json_chunks(path: str) -> Iterator[Chunk]:
    with reading(path):
        opened, file = open_bytes(path)
        with file, opened:
            first = opened.read(AT_ONCE)
            text = first.lstrip(b"\xef\xbb\xbf \t\r\n")
            if text.startswith(b"["):
                yield from _array(path, opened, first)
                return
            number, rest, more = 1, b"", first
            while more:
                *lines, rest = (rest + more).split(b"\n")
                if lines:
                    yield _lines(path, lines, number)
                    number += len(lines)
                more = opened.read(AT_ONCE)
            if rest.strip():
                yield _lines(path, [rest], number)


def _lines(path: str, lines: Sequence[bytes], number: int) -> Chunk:
    """Parse lines of JSON, all at once where they are in order."""
    places = [i for i, line in enumerate(lines) if line.strip(b"\xef\xbb\xbf \t\r")]
    there = [lines[i].lstrip(b"\xef\xbb\xbf") for i in places]
    rows: list[Any]
    try:
        rows = json.loads(b"[" + b",".join(there) + b"]")
        if len(rows) != len(there) or set(map(type, rows)) - {dict}:
            raise ValueError
    except (ValueError, RecursionError):
        rows = [json_row(line) for line in there]
    return Chunk(rows, lambda row: f"line {number + places[row]:,} of {path}")


def json_row(line: bytes) -> Any:
    """Parse an object of JSON, or say why it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        text = " ".join(str(error).split())
        return Unreadable(f"is not JSON: {text}")
    if not isinstance(row, dict):
        return Unreadable(f'must be an object such as {{"x": 1}}, not {row!r:.40}')
    return row


def _array(path: str, opened: Any, first: bytes) -> Iterator[Chunk]:
    """Parse the objects of an array, some at a time."""
    import codecs

    decoder, parser = codecs.getincrementaldecoder("utf-8-sig")(), json.JSONDecoder()
    text = decoder.decode(first)
    place, before, rows, is_cut = text.index("[") + 1, 0, list[Any](), False
    while not is_cut:
        place = BETWEEN.match(text, place).end()  # type: ignore[union-attr]
        if text.startswith("]", place):
            break
        try:
            row, place = parser.raw_decode(text, place)
            is_row = isinstance(row, dict)
            rows.append(row if is_row else Unreadable(f"must be an object, not {row!r:.40}"))
        except (ValueError, RecursionError) as error:
            more = opened.read(AT_ONCE)  # it may go on
            text, place = text[place:] + decoder.decode(more), 0
            if not more:
                is_cut = True
                told = "is cut off" if not text else f"is not JSON: {' '.join(str(error).split())}"
                rows.append(Unreadable(told))
        if len(rows) >= ROWS_AT_ONCE:
            yield Chunk(rows, row_number(path, before))
            before, rows = before + len(rows), []
    if rows:
        yield Chunk(rows, row_number(path, before))


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
