"""Files, queries and databases, read by DuckDB as streams of Arrow batches.

Text formats (CSV, JSON lines) are read as text and cast by `TRY_CAST`, so that a value of another
type, however late it occurs, is missing and flagged instead of an error.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.parallel import thread_count
from priory.data.arrow import arrow_values
from priory.sources.base import SAMPLE_ROWS, Batch, Form, Reading, Source
from priory.sources.csv import FALSE, TRUE, CsvSource, is_large
from priory.sources.guarding import check_query
from priory.sources.tables import CsvHead, format_of, read_head, same_columns

__all__ = [
    "DuckSource",
    "connect",
    "filtered_stream",
    "of_files",
    "of_query",
    "of_relation",
    "of_table",
]

VALUES_AT_ONCE = 2_500_000
BITS = 62
"""The number of flags in one integer."""
RELATION = "priory_relation"
SQL_TYPES = {Form.NUMBER: "DOUBLE", Form.DATE: "TIMESTAMP"}


@dataclass(frozen=True)
class _SqlColumn:
    """The SQL of a column, and its form; None for text whose form is yet unknown."""

    name: str
    sql: str
    form: Form | None


class DuckSource(Source):
    """The rows of a FROM clause."""

    def __init__(
        self,
        connection: Any,
        name: str,
        columns: Sequence[_SqlColumn],
        origin: str,
        reading: Reading,
        relation: Any = None,
    ) -> None:
        self.name, self.where = name, reading.where
        self.columns = tuple(column.name for column in columns)
        self._connection, self._relation = connection, relation
        self._columns = {column.name: column for column in columns}
        self._origin, self._na_values = origin, reading.na_values
        self._found: dict[str, Form] | None = None

    @property
    def is_text(self) -> bool:
        """Whether columns are text whose form must be inferred."""
        return any(column.form is not Form.NATURAL for column in self._columns.values())

    def forms(self) -> Mapping[str, Form]:
        """Infer the form of each column from the first rows."""
        if self._found is None:
            given = {name: column.form for name, column in self._columns.items()}
            unknown = [name for name, form in given.items() if form is None]
            found = self._find_forms(unknown) if unknown else {}
            self._found = {name: form or found[name] for name, form in given.items()}
        return self._found

    def _find_forms(self, names: Sequence[str]) -> dict[str, Form]:
        """Find the first form that fits the text of the first rows, numbers before text."""
        tests = {
            Form.NUMBER: "TRY_CAST({0} AS DOUBLE) IS NULL",
            Form.BOOLEAN: f"{{0}} NOT IN {(*TRUE, *FALSE)}",
            Form.DATE: "TRY_CAST({0} AS TIMESTAMP) IS NULL",
        }
        counts = ", ".join(
            f"count(*) FILTER ({self._columns[name].sql} IS NOT NULL AND ({test}))".format(
                self._columns[name].sql
            )
            for name in names
            for test in tests.values()
        )
        rows = self._rows(f"SELECT {counts} FROM (FROM {self._origin} LIMIT {SAMPLE_ROWS})")[0]
        found = {}
        for i, name in enumerate(names):
            wrong = dict(zip(tests, rows[i * len(tests) :], strict=False))
            found[name] = next((form for form in tests if not wrong[form]), Form.TEXT)
        return found

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Stream the rows, with a few batches at a time in memory."""
        names = list(forms)
        expressions = [f"{self._cast(name, forms[name])} AS v{i}" for i, name in enumerate(names)]
        checked = [n for n in names if forms[n] not in (Form.TEXT, Form.NATURAL)]
        expressions += [
            f"{self._marks(checked[i : i + BITS], forms)} AS m{i // BITS}"
            for i in range(0, len(checked), BITS)
        ]
        limit = "" if most is None else f" LIMIT {most}"
        query = f"SELECT {', '.join(expressions)} FROM {self._filtered()}{limit}"
        size = int(np.clip(VALUES_AT_ONCE // max(len(names), 1), 8192, 262_144))
        for table in self._tables(query, size):
            misread = set[str]()
            for i in range(0, len(checked), BITS):
                bits = int(np.bitwise_or.reduce(arrow_values(table[f"m{i // BITS}"], np.int64)))
                misread |= {n for k, n in enumerate(checked[i : i + BITS]) if bits >> k & 1}
            columns = {name: table.column(i) for i, name in enumerate(names)}
            yield Batch(columns, table.num_rows, frozenset(misread))

    def _tables(self, query: str, size: int) -> Iterator[Any]:
        """Iterate over Arrow tables of about so many rows each."""
        import pyarrow as pa

        with explained(self.name, self.where):
            relation = self._query(query)
            make = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            waiting: list[Any] = []
            for batch in make(size):
                waiting.append(batch)
                if sum(part.num_rows for part in waiting) >= size:
                    yield pa.Table.from_batches(waiting)
                    waiting = []
            if waiting:
                yield pa.Table.from_batches(waiting)

    def _query(self, query: str) -> Any:
        if self._relation is not None:
            return self._relation.query(RELATION, query)
        return self._connection.sql(query)

    def fraction_done(self) -> float | None:
        """Report DuckDB's progress."""
        with contextlib.suppress(Exception):
            percent = float(self._connection.query_progress())
            return percent / 100 if percent >= 0 else None
        return None

    def example(self, column: str, form: Form) -> str | None:
        """Find the first value of a column that does not fit a form."""
        marks = self._marks([column], {column: form})
        rows = self._rows(
            f"SELECT {self._columns[column].sql} FROM {self._filtered()} WHERE {marks} = 1 LIMIT 1"
        )
        return str(rows[0][0]) if rows else None

    def close(self) -> None:
        """Close the connection, if it was made for this source."""
        if self._connection is not None:
            self._connection.close()

    def _rows(self, query: str) -> list[Any]:
        with explained(self.name, self.where):
            found: list[Any] = self._query(query).fetchall()
            return found

    def _filtered(self) -> str:
        """Write the FROM clause with the condition, in which columns have their names and forms."""
        if self.where is None:
            return self._origin
        if not self.is_text:
            return f"{self._origin} WHERE ({self.where}\n)"
        named = ", ".join(
            f"{self._cast(name, form)} AS {identifier(name)}" for name, form in self.forms().items()
        )
        return f"(SELECT *, {named} FROM {self._origin}) WHERE ({self.where}\n)"

    def _cast(self, name: str, form: Form) -> str:
        sql = self._columns[name].sql
        if form in SQL_TYPES:
            return f"TRY_CAST({sql} AS {SQL_TYPES[form]})"
        if form is Form.BOOLEAN:
            return f"CASE WHEN {sql} IN {TRUE} THEN true WHEN {sql} IN {FALSE} THEN false END"
        if form is Form.NATURAL and self._na_values:
            missing = ", ".join(map(literal, self._na_values))
            return f"CASE WHEN TRY_CAST({sql} AS VARCHAR) IN ({missing}) THEN NULL ELSE {sql} END"
        return sql

    def _marks(self, names: Sequence[str], forms: Mapping[str, Form]) -> str:
        """Write an integer with a bit for each column whose value does not fit its form."""
        bits = (
            f"(({self._columns[n].sql} IS NOT NULL AND {self._cast(n, forms[n])} IS NULL)::BIGINT"
            f" << {i})"
            for i, n in enumerate(names)
        )
        return " | ".join(bits)


def connect(attach: Mapping[str, str] | None = None) -> Any:
    """Open a connection, and attach databases."""
    import duckdb

    connection = duckdb.connect(config={"threads": thread_count()})
    connection.execute(
        "SET enable_progress_bar = true; SET enable_progress_bar_print = false; "  # but queried
        "SET progress_bar_time = 0; SET streaming_buffer_size = '32MB'"
    )
    for name, path in (attach or {}).items():
        if "://" not in path and not re.match(r"\w+:", path) and not os.path.exists(path):
            raise InputError(f"There is no database {path} to attach.")
        with explained(f"database {path}", None):
            connection.execute(f"ATTACH {literal(path)} AS {identifier(name)} (READ_ONLY)")
    return connection


def of_files(connection: Any, files: Sequence[str], name: str, reading: Reading) -> Source:
    """Open files of one format as a source."""
    formats = {format_of(file) for file in files}
    if len(formats) > 1:
        raise InputError(
            f"{name} matches files of several formats: {', '.join(sorted(formats))}. Read one "
            "format at a time, and merge the models."
        )
    format_ = formats.pop()
    if format_ == "csv":
        heads = [read_head(file, reading.encoding, reading.delimiter) for file in files]
        same_columns(heads)
        origin = " UNION ALL ".join(_csv(head, heads[0], reading) for head in heads)
        columns = [_SqlColumn(c, _raw(i), None) for i, c in enumerate(heads[0].columns)]
        source = DuckSource(
            connection, name, columns, f"({origin})", replace(reading, na_values=())
        )
        if reading.where is None and is_large(heads, reading.encoding):
            return CsvSource(source, heads, reading.na_values)
        return source
    if format_ == "json":
        return _json(connection, files, name, reading)
    if format_ == "parquet":
        origin = f"read_parquet({_list(files)}, union_by_name = {str(len(files) > 1).lower()})"
        return _typed(connection, name, origin, reading)
    import pyarrow.dataset as ds

    with explained(name, None):
        connection.register("priory_arrow", ds.dataset(list(files), format="ipc"))
    return _typed(connection, name, "priory_arrow", reading)


def of_query(connection: Any, query: str, name: str, reading: Reading) -> DuckSource:
    """Open the last of some SQL statements as a source; the others, if harmless, are executed."""
    with explained(name, None):
        before, text = check_query(connection, query)
        for statement in before:
            connection.execute(statement)
    return _typed(connection, name, f"({text}) AS query", reading)


def of_relation(relation: Any, reading: Reading) -> DuckSource:
    """Open a DuckDB relation as a source, on its own connection."""
    columns = [_SqlColumn(c, identifier(c), Form.NATURAL) for c in relation.columns]
    return DuckSource(None, "relation", columns, RELATION, reading, relation)


def of_table(connection: Any, table: Any, name: str, reading: Reading) -> DuckSource:
    """Open a table in memory as a source, with a condition."""
    import pyarrow as pa

    try:
        arrow = table if isinstance(table, pa.Table) else pa.table(table)
    except (pa.ArrowInvalid, TypeError, ValueError) as error:
        raise InputError(f"where and na_values need a table that Arrow can hold: {error}") from None
    connection.register("priory_table", arrow)
    return _typed(connection, name, "priory_table", reading)


def filtered_stream(connection: Any, reader: Any, reading: Reading) -> Any:
    """Filter an Arrow stream, batch by batch."""
    import pyarrow as pa

    def batches() -> Iterator[Any]:
        for batch in reader:
            source = of_table(connection, pa.Table.from_batches([batch]), "stream", reading)
            for found in source.batches(source.forms()):
                table = pa.table(dict(found.columns)).cast(reader.schema)
                yield from table.to_batches()

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _typed(connection: Any, name: str, origin: str, reading: Reading) -> DuckSource:
    with explained(name, None):
        described = connection.sql(f"DESCRIBE SELECT * FROM {origin}").fetchall()
    columns = [_SqlColumn(row[0], identifier(row[0]), Form.NATURAL) for row in described]
    return DuckSource(connection, name, columns, origin, reading)


def _json(connection: Any, files: Sequence[str], name: str, reading: Reading) -> DuckSource:
    """Open JSON lines as text, with the forms of the first lines."""
    size = sum(os.path.getsize(file) for file in files)
    if not size:
        raise InputError(f"{name} is empty.")
    sample = -1 if size < 2**26 else SAMPLE_ROWS
    read = f"read_json({_list(files)}, format = 'newline_delimited'"
    with explained(name, None):
        described = connection.sql(
            f"DESCRIBE SELECT * FROM {read}, sample_size = {sample}, union_by_name = true)"
        ).fetchall()
    forms = dict.fromkeys(("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE"), Form.NUMBER)
    forms |= {"BOOLEAN": Form.BOOLEAN, "DATE": Form.DATE, "TIMESTAMP": Form.DATE}
    texts = ", ".join(f"{literal(row[0])}: 'VARCHAR'" for row in described)
    missing = ", ".join(map(literal, reading.na_values))
    columns, renamed = [], []
    for i, (column, type_) in enumerate(row[:2] for row in described):
        sql = identifier(column)
        sql = f"(CASE WHEN {sql} NOT IN ({missing}) THEN {sql} END)" if missing else sql
        # Under their own names, raw columns would shadow the cast ones in a condition.
        renamed.append(f"{sql} AS {_raw(i)}")
        columns.append(_SqlColumn(column, _raw(i), forms.get(type_, Form.TEXT)))
    origin = f"(SELECT {', '.join(renamed)} FROM {read}, columns = {{{texts}}}))"
    return DuckSource(connection, name, columns, origin, replace(reading, na_values=()))


def _csv(head: CsvHead, first: CsvHead, reading: Reading) -> str:
    """Write the SELECT of one CSV file, its columns in the order of the first file."""
    columns = ", ".join(f"{_raw(i)[1:-1]!r}: 'VARCHAR'" for i in range(len(head.columns)))
    missing = ", ".join(map(literal, ("", *reading.na_values)))
    order = ", ".join(
        f"{_raw(head.columns.index(column))} AS {_raw(i)}" for i, column in enumerate(first.columns)
    )
    return (
        f"SELECT {order} FROM read_csv({literal(head.path)}, auto_detect = false, header = true, "
        f"delim = {literal(head.delimiter)}, quote = '\"', escape = '\"', nullstr = [{missing}], "
        f"encoding = {literal(reading.encoding)}, max_line_size = 8388608, "
        f"buffer_size = 16777216, columns = {{{columns}}})"
    )


def _raw(i: int) -> str:
    """Make a name that no column of the user has."""
    return f'"priory:{i}"'


def _list(files: Sequence[str]) -> str:
    return f"[{', '.join(map(literal, files))}]"


def literal(text: str) -> str:
    """Quote a string for SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Quote a name for SQL.

    >>> print(identifier('the "a" of b'))
    "the ""a"" of b"
    """
    return '"' + name.replace('"', '""') + '"'


@contextlib.contextmanager
def explained(name: str, where: str | None) -> Iterator[None]:
    """Translate DuckDB's errors about data into one clear line."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise _explained(str(error), name, where) from None


def _explained(text: str, name: str, where: str | None) -> Exception:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    file = re.search(r"^\s*file = (.+)$", text, flags=re.MULTILINE)
    place = file[1] if file else name
    line = re.search(r"CSV Error on Line: (\d+)", text)
    at = f"Line {line[1]} of {place}" if line else f"{place[0].upper()}{place[1:]}"
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if columns:
        return InputError(
            f"{at} has {columns[2]} values, but there are {columns[1]} columns. "
            "A value that contains the delimiter must be in double quotes."
        )
    if "Invalid unicode" in text or "not utf-8 encoded" in text:
        return InputError(
            f"{at} is not in the expected encoding. Give its encoding, such as encoding='latin-1'."
        )
    if "unterminated quote" in text:
        return InputError(f"{at} has a double quote that is never closed.")
    if where is not None and re.match(r"(Binder|Parser|Catalog|Conversion)", lines[0]):
        reason = re.sub(r"^\w+ Error: ", "", lines[0])
        return SettingError(f"where={where!r:.200} is invalid: {reason}")
    reason = re.sub(r"^(\w+ )+Error: ", "", lines[0] if lines else "unknown reason")
    return InputError(f"{name:.200} could not be read: {reason.rstrip('.')}.")
