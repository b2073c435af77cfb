"""PostgreSQL, read by ADBC: one transaction that may only read, and sees one state of the data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

from priory.base.errors import InputError, SettingError
from priory.base.secrets import secrets_of, without_secrets
from priory.sources.base import Reading
from priory.sources.guarding import check_reads
from priory.sources.rows import chosen_table
from priory.sources.selecting import SelectSource, gathered, identifier, placed

__all__ = ["PostgresSource", "open_postgres"]

PLAIN = (
    *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "char"),
    *("name", "date", "time", "timestamp", "timestamptz", "bytea"),
)
"""The types that Arrow has too; arrays, which begin with _, stay as they are and are refused."""

COPIES = "adbc.postgresql.use_copy"
BATCH, BYTES_AT_ONCE = "adbc.postgresql.batch_size_hint_bytes", 1 << 22

NUMBERS = {
    "numeric": "CAST({} AS double precision)",
    "money": "CAST(CAST({} AS numeric) AS double precision)",
    "interval": "CAST(EXTRACT(EPOCH FROM {}) AS double precision)",
}
TABLES = """
    SELECT n.nspname, c.relname, n.nspname = current_schema()
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_any_column_privilege(c.oid, 'SELECT')
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_t(emp|oast)'
    ORDER BY 1, 2
"""
"""Tables, partitioned ones, views, materialized ones, which no information_schema has, and foreign
tables."""


class PostgresSource(SelectSource):
    """The rows of a table or a query of PostgreSQL, which are sent in its binary form."""

    dialect = "postgres"

    def __init__(
        self,
        connection: Any,
        name: str,
        origin: str,
        reading: Reading,
        secrets: Sequence[str],
        host: str = "",
    ) -> None:
        self._connection, self._secrets, self._host = connection, secrets, host
        with explained(name, None, secrets), closing(connection.cursor()) as cursor:
            schema = cursor.adbc_execute_schema(f"SELECT * FROM {origin}")
        self.types = tuple(_type_of(field) for field in schema)
        super().__init__(name, schema.names, origin, reading)

    def select(self, query: str) -> Any:
        """Run a query; the result is an Arrow table."""
        with self.selected(query) as reader:
            return reader.read_all()

    def sends(self) -> tuple[str, float]:
        """Name the machine that would send the rows, "" for this one, and estimate their bytes."""
        if not self._host or self._host in ("localhost", "::1") or self._host.startswith("127."):
            return "", 0.0
        with (
            explained(self.name, self.where, self._secrets),
            closing(self._connection.cursor()) as cursor,
        ):
            cursor.adbc_statement.set_options(**{COPIES: "false"})
            cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {self.filtered()}")
            (found,) = cursor.fetchone()
        top = json.loads(found)[0]["Plan"]
        return self._host, float(top["Plan Rows"]) * float(top["Plan Width"])

    def _tables(self, query: str, size: int) -> Iterator[Any]:
        with self.selected(query) as reader:
            yield from gathered(reader, size)

    @contextmanager
    def selected(self, query: str) -> Iterator[Any]:
        """Run a query; what comes is a stream of Arrow batches."""
        with (
            explained(self.name, self.where, self._secrets),
            closing(self._connection.cursor()) as cursor,
        ):
            cursor.adbc_statement.set_options(**{BATCH: str(BYTES_AT_ONCE)})
            try:
                cursor.execute(query)
                yield cursor.fetch_record_batch()
            except GeneratorExit:  # else the rest of the rows would be read
                cursor.adbc_cancel()
                cursor.close()
                self._connection.rollback()
                _begin(self._connection)
                raise

    def close(self) -> None:
        """Close the connection; nothing was changed."""
        self._connection.close()

    def _typed(self, place: int) -> str:
        sql, kind = placed(place), self.types[place]
        if kind in NUMBERS:
            return NUMBERS[kind].format(sql)
        return sql if kind in PLAIN or kind.startswith("_") else f"CAST({sql} AS text)"


def open_postgres(address: str, reading: Reading) -> PostgresSource:
    """Open a table or a query of a server; the address may leave to libpq's environment all it can.

    Errors and names hold neither user nor password.
    """
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError(
            "PostgreSQL is read by ADBC, which is not installed: pip install 'priory[databases]'."
        ) from None
    _refuse_ambiguous(address)
    scheme, _, rest = address.partition("://")
    address = f"{scheme.lower()}://{rest}"  # libpq knows no other
    secrets, shown = secrets_of(address), shown_address(address)
    if reading.query is not None:
        check_reads(reading.query)
    with explained(shown, None, secrets):
        connection = dbapi.connect(address)
    try:
        with explained(shown, None, secrets), closing(connection.cursor()) as cursor:
            _begin(connection)
            if reading.query is None:
                found = cursor.execute(TABLES).fetchall()
        if reading.query is not None:
            text = reading.query.strip().rstrip(";")
            name = f"query {without_secrets(' '.join(text.split()), secrets):.60} of {shown}"
            origin = f"({text}\n) AS query"
        else:
            tables = {t if own else f"{schema}.{t}": (schema, t) for schema, t, own in found}
            table = chosen_table(list(tables), shown, reading)
            name, origin = f"{table} of {shown}", ".".join(map(identifier, tables[table]))
        host = urlsplit(shown).hostname or os.environ.get("PGHOST", "")
        return PostgresSource(connection, name, origin, reading, secrets, host)
    except BaseException:
        connection.close()
        raise


def _begin(connection: Any) -> None:
    """Begin to read one state of the data, for all passes; the server refuses to write."""
    with closing(connection.cursor()) as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _refuse_ambiguous(address: str) -> None:
    """Refuse a password with characters at which libpq would cut it, and tell the pieces."""
    user, _, rest = address.partition("://")[2].partition("/")
    if user.count("@") > 1 or ("@" not in user and "@" in rest.partition("?")[0]):
        raise InputError(
            "The address of the database cannot be told apart: in a user or a password, / is "
            "written %2F and @ is written %40. Or leave the password to PGPASSWORD."
        )


def shown_address(address: str) -> str:
    """Write an address without user, password and options.

    >>> shown_address("postgresql://ann:word@db.example.org:5432/sales?sslmode=require")
    'postgresql://db.example.org:5432/sales'
    """
    parts = urlsplit(without_secrets(address, secrets_of(address)))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@contextmanager
def explained(name: str, where: str | None, secrets: Sequence[str]) -> Iterator[None]:
    """Translate the errors of the server and its driver into one clear line without credentials."""
    import adbc_driver_manager as adbc
    import pyarrow as pa

    try:
        yield
    except (adbc.Error, pa.ArrowException, OSError) as error:
        raise _explained(str(error), name, where, secrets) from None


def _explained(text: str, name: str, where: str | None, secrets: Sequence[str]) -> Exception:
    text = without_secrets(text, secrets)
    found = re.search(r"(?:ERROR|FATAL):\s+([^\n]*)", text)
    state = re.search(r"SQLSTATE: (\w+)", text)
    reason = found[1] if found else re.sub(r"^[A-Z_ ]+: (?:\[libpq\] )?", "", text).split("\n")[0]
    reason = reason.strip().rstrip(".")
    if where is not None and state and state[1][:2] in ("22", "42"):
        return SettingError(f"where={where!r:.200} is invalid: {reason}.")
    if "in a read-only transaction" in reason:
        return SettingError(f"A query may only read: {reason}.")
    return InputError(f"{name:.200} could not be read: {reason}.")


def _type_of(field: Any) -> str:
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode())
