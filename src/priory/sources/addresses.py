"""Databases by their addresses: postgresql://…, sqlite:///file, duckdb:///file."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from priory.base.errors import InputError
from priory.base.secrets import secrets_of, without_secrets

__all__ = ["file_of", "is_address", "refuse_address"]

ADDRESS = re.compile(r"(postgres|postgresql|sqlite|duckdb)://", re.IGNORECASE)
OTHERS = re.compile(
    r"(mysql|mariadb|mssql|sqlserver|oracle|snowflake|bigquery|redshift|clickhouse|trino|presto"
    r"|databricks)(\+\w+)?://",
    re.IGNORECASE,
)


def is_address(source: Any) -> bool:
    """Tell whether a source is the address of a database that is read here.

    >>> is_address("sqlite:///days.db"), is_address("https://example.org/days.csv")
    (True, False)
    """
    return isinstance(source, str) and ADDRESS.match(source) is not None


def file_of(address: str) -> str | None:
    """Find the file that an address names: what stands after the third slash; None for a server.

    >>> file_of("sqlite:///days.db"), file_of("duckdb:////data/days.duckdb")
    ('days.db', '/data/days.duckdb')
    """
    scheme, _, rest = address.partition("://")
    if scheme.lower().startswith("postgres"):
        return None
    if not rest.startswith("/") or len(rest) < 2:
        raise InputError(
            f"{address} names no file: {scheme}:///days.db is one here, {scheme}:////data/days.db "
            "one from the root."
        )
    return unquote(rest[1:])


def refuse_address(source: str) -> None:
    """Refuse the address of a database that is not read here, without its credentials."""
    if OTHERS.match(source):
        shown = without_secrets(source, secrets_of(source))
        raise InputError(
            f"{shown} is a database that is not read by its address; postgresql://…, "
            "sqlite:///… and duckdb:///… are. Send its rows through a pipe as CSV, or give in "
            "Python an Arrow stream of its driver."
        )
