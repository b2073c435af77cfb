"""Opening of sources: files, patterns, SQL, relations, tables, streams."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from priory.base.errors import SettingError
from priory.sources.base import Reading, Source
from priory.sources.folders import FolderSource, has_classes
from priory.sources.guarding import check_condition, confine
from priory.sources.memory import StreamSource, TableSource, as_reader
from priory.sources.tables import find_files

__all__ = ["open_source"]

SQL = re.compile(
    r"\s*(select|with|from|attach|values|pivot|unpivot|table|set|use)\s", re.IGNORECASE
)


def open_source(
    source: Any,
    *,
    where: str | None = None,
    na_values: str | Sequence[str] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
    attach: Mapping[str, str] | None = None,
) -> Source:
    """Open a source of rows; see `priory.train` for what it may be.

    >>> open_source("examples/play_tennis.csv").columns
    ('outlook', 'temperature', 'humidity', 'wind', 'play')
    """
    missing = (na_values,) if isinstance(na_values, str) else tuple(map(str, na_values))
    if where is not None and not isinstance(where, str):
        raise SettingError(f"where must be an SQL condition, not {where!r:.60}.")
    if where is not None:
        check_condition(where)
    if isinstance(source, Source):
        return source
    reading = Reading(where, missing, encoding, delimiter)
    is_filtered = where is not None or missing
    if isinstance(source, str | os.PathLike) and has_classes(source):
        if is_filtered:
            raise SettingError("where and na_values must not be given for a folder of texts.")
        return FolderSource(source)
    is_relation = type(source).__name__ == "DuckDBPyRelation"
    is_stream = hasattr(source, "read_next_batch") or (
        hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__len__")
    )
    if not (is_filtered or is_relation or _is_paths(source)):
        return StreamSource(source) if is_stream else TableSource(source)
    from priory.sources import duck

    if is_relation:
        return duck.of_relation(source, reading)
    connection = duck.connect(attach)
    try:
        if not _is_paths(source):
            if is_stream:
                return StreamSource(duck.filtered_stream(connection, as_reader(source), reading))
            return duck.of_table(connection, source, type(source).__name__, reading)
        if isinstance(source, str) and SQL.match(source):
            name = " ".join(source.split())
            return duck.of_query(connection, source, f"query {name:.60}", reading)
        paths = [source] if isinstance(source, str | os.PathLike) else list(source)
        files = [file for path in paths for file in find_files(path)]
        name = os.fspath(paths[0]) if len(paths) == 1 else f"{files[0]} and others"
        opened = duck.of_files(connection, files, name, reading)
        confine(connection, files)
        return opened
    except BaseException:
        connection.close()
        raise


def _is_paths(source: Any) -> bool:
    """Tell whether a source is a path, a query, or a list of paths."""
    if isinstance(source, str | os.PathLike):
        return True
    if not isinstance(source, list | tuple) or not source:
        return False
    return all(isinstance(path, str | os.PathLike) for path in source)
