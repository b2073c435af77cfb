"""SQL that may read and do nothing else: conditions, queries, and the files of a connection."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from priory.base.errors import SettingError

__all__ = ["check_condition", "check_query", "check_reads", "confine"]

_HARMLESS = re.compile(
    r"""\s*(?:
      use\s
    | set\s+(?:session\s+|global\s+)?(?:variable\s|threads|memory_limit|max_memory|timezone|schema
      |search_path|preserve_insertion_order|default_null_order|default_order|s3_|http_)
    | create\s+(?:or\s+replace\s+)?temp(?:orary)?\s+(?:table|view|macro|function)\s
    | attach\b.*\bread_only\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""What may stand before a query: it changes nothing but the memory of this connection."""


READS = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:select|with|values|table)\b", re.IGNORECASE | re.DOTALL
)
"""What a query of a database begins with; the database itself sees to the rest."""


def check_reads(query: str) -> None:
    """Refuse what does not begin as a query does.

    >>> check_reads("DELETE FROM days")
    Traceback (most recent call last):
    priory.base.errors.SettingError: A query may only read, not 'DELETE FROM days'.
    """
    if not READS.match(query):
        raise SettingError(f"A query may only read, not {query.strip()!r:.80}.")


def check_condition(where: str) -> None:
    """Refuse whatever is not one expression about the columns of one row.

    >>> check_condition("grams > 100 AND colour IN ('red', 'green')")
    >>> check_condition("1=1); COPY days TO 'stolen.csv' --")
    Traceback (most recent call last):
    priory.base.errors.SettingError: where="1=1); COPY days TO 'stolen.csv' --" is invalid: syntax
    error at or near ")"
    """
    import duckdb

    with duckdb.connect() as connection:
        # DuckDB's own parser; it serializes a single SELECT and nothing else.
        query = f"SELECT 1 WHERE {where}\n"
        (text,) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone() or ("",)
    parsed = json.loads(text)
    no_condition = SettingError(
        f'where={where!r:.200} is invalid: it must be one condition, such as "a > 1 AND b = '
        "'x'\", and nothing after it."
    )
    if parsed["error"] and parsed["error_type"] == "not implemented":  # it is not only a SELECT
        raise no_condition
    if parsed["error"]:
        raise SettingError(f"where={where!r:.200} is invalid: {parsed['error_message']}")
    nodes = [statement["node"] for statement in parsed["statements"]]
    more = ("group_expressions", "having", "qualify", "sample", "modifiers")
    if len(nodes) != 1 or nodes[0]["type"] != "SELECT_NODE" or any(nodes[0][k] for k in more):
        raise no_condition
    if any(node.get("class") == "SUBQUERY" for node in _nodes(nodes[0])):
        raise SettingError(
            f"where={where!r:.200} is invalid: a condition is about one row and must not contain a "
            "SELECT. Give a query as the data instead."
        )


def check_query(connection: Any, query: str) -> tuple[list[Any], str]:
    """Split SQL into what must be executed before, and the text of the query, which only reads."""
    import duckdb

    *before, last = connection.extract_statements(query)
    kind = duckdb.StatementType
    if last.type not in (kind.SELECT, kind.MULTI):  # PIVOT is several to DuckDB
        raise SettingError(f"A query may only read, not {last.query.strip()!r:.80}.")
    for statement in before:
        if not _HARMLESS.match(statement.query):
            raise SettingError(
                f"A query may only read; before it may stand SET of a variable, CREATE TEMP TABLE "
                f"and ATTACH … (READ_ONLY), but not {statement.query.strip()!r:.80}."
            )
    return before, last.query.strip().rstrip(";")


def confine(connection: Any, files: Sequence[str]) -> None:
    """Let a connection read these files, and no others, and write none."""
    paths = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    connection.execute(
        f"SET allowed_paths = [{paths}]; SET enable_external_access = false; "
        "SET lock_configuration = true"
    )


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Iterate over all objects of parsed JSON."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
