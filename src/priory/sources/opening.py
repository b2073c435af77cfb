"""Opening of sources: files, patterns, SQL, databases, relations, tables, streams."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from priory.base.errors import InputError, SettingError
from priory.base.secrets import without_secrets
from priory.data.gaps import GAP_WORDS
from priory.sources.addresses import file_of, is_address
from priory.sources.base import Reading, Source
from priory.sources.folders import FolderSource, has_classes
from priory.sources.guarding import check_condition, confine
from priory.sources.memory import StreamSource, TableSource, as_reader
from priory.sources.packed import unpacked
from priory.sources.tables import find_files, format_of, read_head, same_columns

__all__ = ["SQL", "as_reading", "open_source"]

SQL = re.compile(
    r"\s*(select|with|from|attach|values|pivot|unpivot|table|set|use)\s", re.IGNORECASE
)
OFF = "none"
"""Among na_values, turns the usual gap words off."""

REFUSED = {
    "old excel": "an old Excel workbook or another old Office file. Save it as .xlsx or CSV",
    "old feather": "a Feather file of the first version. Write it anew, as Parquet or Arrow",
    "dump of PostgreSQL": "a dump of a PostgreSQL database. Restore it, and send the rows of a "
    "query through a pipe: psql -c 'COPY (SELECT …) TO STDOUT CSV HEADER' | priory train - …",
    "PDF": "a PDF. Save its table as CSV",
    "HDF5": "an HDF5 file. Save its table as Parquet, say by pandas: read_hdf(…).to_parquet(…)",
}


def open_source(source: Any, *, attach: Mapping[str, str] | None = None, **options: Any) -> Source:
    """Open a source of rows; see `priory.train` for what it may be, and for the options.

    >>> open_source("examples/play_tennis.csv").columns
    ('outlook', 'temperature', 'humidity', 'wind', 'play')
    """
    reading = as_reading(**options)
    if isinstance(source, Source):
        return source
    opened = _open(source, reading, attach)
    opened.reading = reading
    return opened


def as_reading(
    *, where: str | None = None, na_values: str | Sequence[str] = (), **options: Any
) -> Reading:
    """Check how a source is to be read."""
    given = (na_values,) if isinstance(na_values, str) else tuple(map(str, na_values))
    if where is not None and not isinstance(where, str):
        raise SettingError(f"where must be an SQL condition, not {where!r:.60}.")
    if where is not None:
        check_condition(where)
    words = frozenset() if OFF in given else GAP_WORDS
    return Reading(where, tuple(word for word in given if word != OFF), words, **options)


def _open(source: Any, reading: Reading, attach: Mapping[str, str] | None) -> Source:
    if is_address(source):
        file = file_of(source)
        if file is None:
            from priory.sources.postgresql import open_postgres

            return open_postgres(source, reading)
        return _open_files(file, reading)
    is_filtered = reading.where is not None or bool(reading.na_values)
    if isinstance(source, str | os.PathLike) and has_classes(source):
        if is_filtered:
            raise SettingError("where and na_values must not be given for a folder of texts.")
        return FolderSource(source)
    _refuse_query(source, reading)
    is_relation = type(source).__name__ == "DuckDBPyRelation"
    is_stream = hasattr(source, "read_next_batch") or (
        hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__len__")
    )
    if not (is_filtered or is_relation or _is_paths(source)):
        return StreamSource(source) if is_stream else TableSource(source)
    if _is_paths(source) and not (isinstance(source, str) and SQL.match(source)):
        return _open_files(source, reading)
    from priory.sources import duck

    if is_relation:
        return duck.of_relation(source, reading)
    connection = duck.connect(attach)
    try:
        if not _is_paths(source):
            if is_stream:
                return StreamSource(duck.filtered_stream(connection, as_reader(source), reading))
            return duck.of_table(connection, source, type(source).__name__, reading)
        name = without_secrets(" ".join(source.split()))
        return duck.of_query(connection, source, f"query {name:.60}", reading)
    except BaseException:
        connection.close()
        raise


def _refuse_query(source: Any, reading: Reading) -> None:
    is_query = isinstance(source, str) and SQL.match(source) is not None
    if reading.query is not None and (is_query or not _is_paths(source)):
        what = "a query already" if is_query else f"a {type(source).__name__} in memory"
        raise SettingError(f"query names rows of a database, but the data are {what}.")


def _open_files(source: Any, reading: Reading) -> Source:
    """Open files of one format."""
    paths = [source] if isinstance(source, str | os.PathLike) else list(source)
    files = [file for path in paths for file in find_files(path)]
    name = getattr(paths[0], "called", files[0] if len(files) == 1 else os.fspath(paths[0]))
    if len(paths) > 1:
        name = f"{files[0]} and others"
    formats = {format_of(file) for file in files}
    if len(formats) > 1:
        raise InputError(
            f"{name} matches files of several formats: {', '.join(sorted(formats))}. Read one "
            "format at a time, and merge the models."
        )
    format_ = formats.pop()
    if format_ in REFUSED:
        raise InputError(f"{files[0]} is {REFUSED[format_]}.")
    if format_ in ("sqlite", "duckdb", "excel") and len(files) > 1:
        raise InputError(f"{name} are several files of {format_}. Read one at a time.")
    if reading.table is not None and format_ not in ("sqlite", "duckdb", "excel"):
        raise SettingError(
            f"table names a table of a database or a sheet of a workbook, but {name} is {format_}."
        )
    if reading.query is not None and format_ not in ("sqlite", "duckdb"):
        raise SettingError(
            f"query names rows of a database, but {name} is {format_}. Give the query as the data: "
            f"\"SELECT … FROM '{name}'\"."
        )
    if format_ in TEXTS:
        opened = TEXTS[format_](files, name, reading)
        return opened if reading.where is None else _filtered(opened, reading)
    return _by_duck(format_, files, name, reading)


def _csv(files: Sequence[str], name: str, reading: Reading) -> Source:
    from priory.sources.csv import CsvSource

    heads = [read_head(file, reading.encoding, reading.delimiter) for file in files]
    same_columns(heads)
    return CsvSource(name, heads, reading)


def _json(files: Sequence[str], name: str, reading: Reading) -> Source:
    from priory.sources.rows import json_rows

    return json_rows(files, name, reading)


def _excel(files: Sequence[str], name: str, reading: Reading) -> Source:
    from priory.sources.rows import excel

    with unpacked(files[0]) as file:
        return excel(file, name, reading)


def _sqlite(files: Sequence[str], name: str, reading: Reading) -> Source:
    from priory.sources.rows import sqlite

    return sqlite(files[0], name, reading)


TEXTS = {"csv": _csv, "json": _json, "excel": _excel, "sqlite": _sqlite}
"""How the formats are opened whose columns have no types."""


def _filtered(source: Source, reading: Reading) -> Source:
    from priory.sources import duck

    return duck.FilteredSource(source, duck.connect(), reading)


def _by_duck(format_: str, files: Sequence[str], name: str, reading: Reading) -> Source:
    from priory.sources import duck

    resources = ExitStack()
    try:
        plain = [resources.enter_context(unpacked(file)) for file in files]
        connection = duck.connect()
        resources.callback(connection.close)
        if format_ == "parquet":
            opened = duck.of_parquet(connection, plain, name, reading, resources.close)
            confine(connection, plain)
            return opened
        if format_ == "duckdb":
            return duck.of_database(connection, plain[0], name, reading, resources.close)
        is_stream = format_ == "arrow stream"
        return duck.of_arrow(connection, plain, name, reading, is_stream, resources.close)
    except BaseException:
        resources.close()
        raise


def _is_paths(source: Any) -> bool:
    """Tell whether a source is a path, a query, or a list of paths."""
    if isinstance(source, str | os.PathLike):
        return True
    if not isinstance(source, list | tuple) or not source:
        return False
    return all(isinstance(path, str | os.PathLike) for path in source)
