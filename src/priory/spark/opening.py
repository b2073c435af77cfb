"""Which road the rows of a source take to be counted on a cluster, and why."""

from __future__ import annotations

import os
from typing import Any

from priory.base.errors import InputError, SettingError, did_you_mean
from priory.sources.base import Reading
from priory.sources.opening import as_reading
from priory.spark.failing import explained
from priory.spark.files import Files, Other, find_parquet
from priory.spark.frames import ClusterSource, FilesSource, FrameSource, quoted

__all__ = ["ROADS", "open_cluster", "session_of"]

ROADS = ("auto", "files", "frame")
NOT_HERE = {
    "encoding": "utf-8",
    **dict.fromkeys(("delimiter", "table", "query", "attach")),
}
"""Options of text files and databases, and their defaults: Spark reads those by itself."""


def open_cluster(
    source: Any,
    *,
    session: Any = None,
    road: str = "auto",
    tasks: int | None = None,
    **options: Any,
) -> ClusterSource:
    """Open a frame, a path or a table of Spark; `road` is one of auto, files and frame.

    Plain Parquet files are read by the executors themselves (files). Everything else goes through
    `mapInArrow` (frame): views and filters, tables whose log says which rows still count, folders
    whose names are columns, and storage that Spark has the credentials of.
    """
    if road not in ROADS:
        raise SettingError(f"road must be one of {', '.join(ROADS)}, not {road!r}.")
    for name, default in NOT_HERE.items():
        if (options.pop(name, default) or default) != default:
            raise SettingError(
                f"{name} is for files that priory opens by itself. Give Spark's frame of them."
            )
    reading = as_reading(**options)
    if hasattr(source, "mapInArrow"):
        if road == "files":
            raise SettingError("road='files' is for paths and tables; a frame is read by Spark.")
        return FrameSource(source, "Spark frame", reading, "a frame is read by Spark")
    if isinstance(source, str) and _is_table(source):
        return _of_table(session_of(session), source, reading, road, tasks)
    return _of_paths(session_of(session), source, reading, road, tasks)


def session_of(session: Any = None) -> Any:
    """Find the session of Spark that runs, unless one is given."""
    if session is not None:
        return session
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    if found is None:
        raise SettingError(
            "There is no session of Spark: begin one, SparkSession.builder.master(…)."
            "getOrCreate(), and give it as session=…"
        )
    return found


def _is_table(name: str) -> bool:
    """Tell the name of a table from a path."""
    is_path = any(c in name for c in "/\\*?[") or name.endswith((".parquet", ".pq"))
    return not (is_path or os.path.exists(name))


def _of_paths(
    session: Any, source: Any, reading: Reading, road: str, tasks: int | None
) -> ClusterSource:
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not given or not all(isinstance(path, str | os.PathLike) for path in given):
        raise InputError(
            f"{source!r:.60} is no source for Spark: give a frame, a path of Parquet files or the "
            "name of a table."
        )
    paths = [os.fspath(path) for path in given]
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and others"
    why = "road='frame' was asked for"
    if road != "frame":
        try:
            return FilesSource(session, Files.of(find_parquet(paths)), name, reading, tasks)
        except Other as other:
            why = str(other)
        if road == "files":
            raise SettingError(f"road='files' cannot be taken for {name}: {why}.")
    with explained(name):
        frame = session.read.option("mergeSchema", True).parquet(*paths)
        _ = frame.columns  # Connect looks for the files only now
    return FrameSource(frame, name, reading, why)


def _of_table(
    session: Any, table: str, reading: Reading, road: str, tasks: int | None
) -> ClusterSource:
    with explained(table):
        if not session.catalog.tableExists(table):
            known = [found.name for found in session.catalog.listTables()]
            raise InputError(f"There is no table or file {table}.{did_you_mean(table, known)}")
        why = "road='frame' was asked for"
        if road != "frame":
            try:
                files = Files.of(find_parquet(_location(session, table)))
                if files.schema.names != session.table(table).columns:
                    raise Other(f"the files of {table} have other columns than the table")
                return FilesSource(session, files, table, reading, tasks)
            except Other as other:
                why = str(other)
            if road == "files":
                raise SettingError(f"road='files' cannot be taken for {table}: {why}.")
        return FrameSource(session.table(table), table, reading, why)


def _location(session: Any, table: str) -> str:
    """Find where the files of a plain Parquet table are."""
    parts = ".".join(quoted(part) for part in table.replace("`", "").split("."))
    try:
        rows = session.sql(f"DESCRIBE TABLE EXTENDED {parts}").collect()
    except Exception:
        raise Other(f"{table} is a view of a session") from None
    told = {row["col_name"]: row["data_type"] for row in rows}
    kind, provider = told.get("Type", "VIEW"), str(told.get("Provider", "")).lower()
    if kind not in ("MANAGED", "EXTERNAL"):
        raise Other(f"{table} is a view")
    if provider != "parquet":
        raise Other(f"{table} is a table of {provider or 'another format'}")
    if "# Partition Information" in told:
        raise Other(f"{table} has columns that are names of folders")
    return str(told["Location"])
