"""Parquet and Arrow files, queries and databases, read by DuckDB as streams of Arrow batches."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.parallel import thread_count
from priory.base.secrets import without_secrets
from priory.sources.base import Batch, Form, Reading, Source
from priory.sources.guarding import check_query
from priory.sources.selecting import SelectSource, gathered, identifier, literal

__all__ = [
    "DuckSource",
    "FilteredSource",
    "connect",
    "filtered_stream",
    "of_arrow",
    "of_database",
    "of_parquet",
    "of_query",
    "of_relation",
    "of_table",
]

RELATION = "priory_relation"
ROW = "priory:row"


class DuckSource(SelectSource):
    """The rows of a FROM clause of DuckDB."""

    dialect = "duckdb"

    def __init__(
        self,
        connection: Any,
        name: str,
        columns: Sequence[str],
        origin: str,
        reading: Reading,
        relation: Any = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(name, columns, origin, reading)
        self._connection, self._relation = connection, relation
        self._on_close = on_close

    def _tables(self, query: str, size: int) -> Iterator[Any]:
        with explained(self.name, self.where):
            relation = self.query(query)
            make = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            yield from gathered(make(size), size)

    def select(self, query: str) -> Any:
        """Run a query; the result is an Arrow table."""
        import pyarrow as pa

        with explained(self.name, self.where):
            relation = self.query(query)
            make = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            reader = make()
            return pa.Table.from_batches(list(reader), reader.schema)

    def query(self, query: str) -> Any:
        """Query the connection, or the relation under its name."""
        if self._relation is not None:
            return self._relation.query(RELATION, query)
        return self._connection.sql(query)

    def fraction_done(self) -> float | None:
        """Report DuckDB's progress."""
        with contextlib.suppress(Exception):
            percent = float(self._connection.query_progress())
            return percent / 100 if percent >= 0 else None
        return None

    def close(self) -> None:
        """Close the connection, if it was made for this source."""
        if self._connection is not None:
            self._connection.close()
        if self._on_close is not None:
            self._on_close()

    def _text(self, sql: str) -> str:
        return f"TRY_CAST({sql} AS VARCHAR)"


class FilteredSource(Source):
    """The rows of a source of text that meet a condition, which DuckDB checks batch by batch."""

    def __init__(self, source: Source, connection: Any, reading: Reading) -> None:
        super().__init__()
        self._source, self._connection = source, connection
        self.name, self.columns, self.where = source.name, source.columns, reading.where
        self.reading, self.skipped = reading, source.skipped
        self.unread = source.unread  # type: ignore[method-assign]

    @property
    def is_text(self) -> bool:
        """True: the columns have no types."""
        return True

    def forms(self) -> Mapping[str, Form]:
        """Infer the form of each column from the first rows."""
        return self._source.forms()

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Read the columns of the condition in their own forms, and take the rows that meet it."""
        text = (self.where or "").lower()
        named = {
            n: form for n, form in self.forms().items() if n.lower().replace('"', '""') in text
        }
        both = zip(self._source.batches(named or forms), self._source.batches(forms), strict=True)
        for known, batch in both:
            rows = self._rows(known, most)
            if len(rows):
                yield batch.take(rows).with_misread(batch.misread, rows)
            most = None if most is None else most - len(rows)
            if most is not None and most <= 0:
                break

    def _rows(self, known: Batch, most: int | None) -> Any:
        """Find the rows of a batch that meet the condition."""
        import pyarrow as pa

        table = pa.table({**known.columns, ROW: np.arange(known.n_rows)})
        # A number of a row is no gap, whatever na_values are.
        source = of_table(self._connection, table, self.name, replace(self.reading, na_values=()))
        found = [batch.columns[ROW].to_numpy() for batch in source.batches({ROW: Form.NATURAL})]
        return np.sort(np.concatenate(found))[:most] if found else np.zeros(0, np.int64)

    def fraction_done(self) -> float | None:
        """Report the progress of the source."""
        return self._source.fraction_done()

    def close(self) -> None:
        """Close files and connections."""
        self._source.close()
        self._connection.close()


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
            raise InputError(f"There is no database {without_secrets(path)} to attach.")
        with explained(f"database {without_secrets(path)}", None):
            connection.execute(f"ATTACH {literal(path)} AS {identifier(name)} (READ_ONLY)")
    return connection


def of_parquet(
    connection: Any,
    files: Sequence[str],
    name: str,
    reading: Reading,
    on_close: Callable[[], None] | None = None,
) -> DuckSource:
    """Open Parquet files as a source."""
    import pyarrow.parquet as pq

    origin = f"read_parquet({_list(files)}, union_by_name = {str(len(files) > 1).lower()})"
    with explained(name, None):
        names = pq.read_schema(files[0]).names if len(files) == 1 else None
    return _typed(connection, name, origin, reading, names, on_close)


def of_arrow(
    connection: Any,
    files: Sequence[str],
    name: str,
    reading: Reading,
    is_stream: bool,
    on_close: Callable[[], None] | None = None,
) -> DuckSource:
    """Open Arrow files, or files with Arrow streams, as a source."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    with explained(name, None):
        if is_stream:  # it stays on disk
            parts = [pa.ipc.open_stream(pa.memory_map(file)).read_all() for file in files]
            arrow = pa.concat_tables(parts, promote_options="default")
        else:
            arrow = ds.dataset(list(files), format="ipc")
        connection.register("priory_arrow", arrow)
    return _typed(connection, name, "priory_arrow", reading, arrow.schema.names, on_close)


def of_database(
    connection: Any,
    path: str,
    name: str,
    reading: Reading,
    on_close: Callable[[], None] | None = None,
) -> DuckSource:
    """Open a table of a DuckDB database as a source, or a query in it."""
    from priory.sources.rows import chosen_table

    with explained(name, None):
        connection.execute(f"ATTACH {literal(path)} AS priory_base (READ_ONLY)")
        if reading.query is not None:
            connection.execute("USE priory_base")
            return of_query(connection, reading.query, name, reading, on_close)
        found = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = 'priory_base' ORDER BY ALL"
        ).fetchall()
    tables = {t if schema == "main" else f"{schema}.{t}": (schema, t) for schema, t in found}
    schema, table = tables[chosen_table(list(tables), name, reading)]
    origin = f"priory_base.{identifier(schema)}.{identifier(table)}"
    return _typed(connection, name, origin, reading, None, on_close)


def of_query(
    connection: Any,
    query: str,
    name: str,
    reading: Reading,
    on_close: Callable[[], None] | None = None,
) -> DuckSource:
    """Open the last of some SQL statements as a source; the others, if harmless, are executed."""
    with explained(name, None):
        before, text = check_query(connection, query)
        for statement in before:
            connection.execute(statement)
        columns = connection.sql(text).columns
    return _typed(connection, name, f"({text}\n) AS query", reading, columns, on_close)


def of_relation(relation: Any, reading: Reading) -> DuckSource:
    """Open a DuckDB relation as a source, on its own connection."""
    return DuckSource(None, "relation", relation.columns, RELATION, reading, relation)


def of_table(connection: Any, table: Any, name: str, reading: Reading) -> DuckSource:
    """Open a table in memory as a source, with a condition."""
    import pyarrow as pa

    try:
        arrow = table if isinstance(table, pa.Table) else pa.table(table)
    except (pa.ArrowInvalid, TypeError, ValueError) as error:
        raise InputError(f"where and na_values need a table that Arrow can hold: {error}") from None
    connection.register("priory_table", arrow)
    return _typed(connection, name, "priory_table", reading, arrow.column_names)


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


def _typed(
    connection: Any,
    name: str,
    origin: str,
    reading: Reading,
    columns: Sequence[str] | None = None,
    on_close: Callable[[], None] | None = None,
) -> DuckSource:
    if columns is None:
        with explained(name, None):
            columns = connection.sql(f"FROM {origin}").columns
    return DuckSource(connection, name, columns, origin, reading, None, on_close)


def _list(files: Sequence[str]) -> str:
    return f"[{', '.join(map(literal, files))}]"


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
    text = without_secrets(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    file = re.search(r"^\s*file = (.+)$", text, flags=re.MULTILINE)
    place = file[1] if file else name
    line = re.search(r"CSV Error on Line: (\d+)", text)
    at = f"Line {line[1]} of {place}" if line else f"{place[0].upper()}{place[1:]}"
    if "Invalid unicode" in text or "not utf-8 encoded" in text:
        return InputError(
            f"{at} is not in the expected encoding. Give its encoding, such as encoding='latin-1'."
        )
    if where is not None and re.match(r"(Binder|Parser|Catalog|Conversion)", lines[0]):
        reason = re.sub(r"^\w+ Error: ", "", lines[0])
        return SettingError(f"where={where!r:.200} is invalid: {reason}")
    reason = re.sub(r"^(\w+ )+Error: ", "", lines[0] if lines else "unknown reason")
    return InputError(f"{name:.200} could not be read: {reason.rstrip('.')}.")
