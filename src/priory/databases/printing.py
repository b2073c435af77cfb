"""The queries that count a table, written for a dialect, to be read or run elsewhere."""

from __future__ import annotations

from pathlib import PurePath

from priory.base.errors import SettingError, listing
from priory.data.schema import Kind, Schema
from priory.databases.dialects import DIALECTS, Transpiled
from priory.databases.queries import Rows

__all__ = ["statements", "table_of"]


def statements(
    schema: Schema, table: str, target: str, weight: str | None, dialect: str
) -> list[str]:
    """Write the queries that count the classes and each column of a table.

    Those of DuckDB and PostgreSQL are the ones that `in_database=True` runs, with the cells of
    numbers. Other dialects of sqlglot have no way to the bits of a number: there columns of numbers
    give their sums alone.

    >>> from priory.data.reading import infer
    >>> schema = infer({"wind": ["weak", "strong"]})
    >>> print(statements(schema, "days", "play", None, "postgres")[1])
    SELECT y, c0 AS v, count(*) AS n FROM (SELECT "play" AS y, "wind" AS c0 FROM "days") AS r
    WHERE c0 IS NOT NULL AND y IS NOT NULL GROUP BY y, c0
    """
    own = DIALECTS.get(dialect) or Transpiled(dialect)
    columns = {name: _name(name) for b in schema.counted for name in b.columns}
    times = frozenset(b.name for b in schema if b.why.startswith(("date", "duration")))
    of_weight = None if weight is None else _name(weight)
    rows = Rows(own, _name(table), _name(target), of_weight, columns, times)
    found = [rows.classes()]
    for block in schema.counted:
        if block.kind is Kind.LABELS:
            found.append(rows.labels(block.name))
        elif block.kind is not Kind.NUMBERS:
            raise SettingError(
                f"Column {block.name!r} is read as {block.kind.value}, which no GROUP BY counts. "
                f"Leave it out: drop={block.name!r}."
            )
        elif dialect in DIALECTS:
            found.append(rows.numbers(block.name, 0, 0.0))
        else:
            found.append(rows.moments(block.name))
    return found if dialect in DIALECTS else _transpiled(found, dialect)


def _transpiled(queries: list[str], dialect: str) -> list[str]:
    try:
        import sqlglot
    except ImportError:
        raise SettingError(
            f"dialect={dialect!r} needs sqlglot: pip install 'priory[sql]'."
        ) from None
    known = sorted(name for name in sqlglot.Dialect.classes if name)
    if dialect not in known:
        raise SettingError(f"dialect must be one of {listing(known, 50)}, not {dialect!r}.")
    return [sqlglot.transpile(query, read="duckdb", write=dialect)[0] for query in queries]


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def table_of(name: str) -> str:
    """Name the table that a file holds, by its stem.

    >>> table_of("data/days.parquet")
    'days'
    """
    return PurePath(name).name.partition(".")[0] or "data"
