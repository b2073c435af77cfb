"""Which road the rows of a database take: streamed out and counted here, or counted there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from priory.base.errors import MissingValueError, SettingError
from priory.databases import Inside, Received
from priory.sources.base import Batch, Source
from priory.sources.counting import (
    Task,
    check_class_count,
    read_classes,
    tell_unlabelled,
    without_unique,
)
from priory.sources.duck import DuckSource
from priory.sources.selecting import SelectSource
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.kinds import declared_kinds
from priory.tuning.settings import Settings

__all__ = ["Road", "count_inside", "plan"]

BYTES_MATTER = 4 << 30
"""So many bytes of rows are not sent over a network where sums can be."""

PAIRS = "a structure is chosen on a sample, and then counted on all rows"


@dataclass(frozen=True)
class Road:
    """Where rows are counted, why, and what came back if it was in the database."""

    inside: bool
    why: str
    received: Received | None = None
    is_told: bool = True
    """Whether there was a choice."""

    def __str__(self) -> str:
        told = f"{'counted in the database' if self.inside else 'streamed'}: {self.why}"
        return told if self.received is None else f"{told}; {self.received}"


def plan(source: Source, settings: Settings, in_database: bool | None = None) -> Road:
    """Choose where the rows of a source are counted, and say why.

    >>> from priory.sources import open_source
    >>> print(plan(open_source("examples/play_tennis.csv"), Settings()))
    streamed: examples/play_tennis.csv is no database
    """
    if in_database not in (None, True, False):
        raise SettingError(f"in_database must be True, False or None, not {in_database!r}.")
    if not isinstance(source, SelectSource):
        why = SQLITE if source.dialect == "sqlite" else f"{source.name} is no database"
        if in_database:
            raise SettingError(f"in_database=True is for PostgreSQL and DuckDB, but {why}.")
        return Road(False, why, is_told=source.dialect is not None)
    if settings.together:
        if in_database:
            raise SettingError(
                f"in_database=True counts columns by themselves, but {PAIRS}. Read the rows: "
                f"in_database=False, or give structure='naive'."
            )
        return Road(False, PAIRS)
    if in_database is not None:
        return Road(in_database, f"in_database={in_database} was given")
    if isinstance(source, DuckSource):
        return Road(False, DUCKDB)
    return _of_server(source)


DUCKDB = "DuckDB runs in this process, and hands rows over sooner than it counts them"
SQLITE = "SQLite runs in this process, and its SQL does not reach the bits of a number"
SERVER = (
    "the server sends rows sooner than it counts them; with in_database=True only sums leave it"
)


def _of_server(source: SelectSource) -> Road:
    """Stream, unless so many bytes would cross a network that sums are worth the wait."""
    host, estimate = source.sends()
    if not host or estimate < BYTES_MATTER:
        return Road(False, SERVER)
    return Road(True, f"its rows are about {estimate / 2**30:,.0f} GB, and {host} is elsewhere")


def count_inside(task: Task) -> tuple[Statistics, Sample | None, Received]:
    """Count a task in its database, and fetch its sample; the last result is what came back."""
    source: Any = task.source

    def classes(column: Any) -> Any:
        return read_classes(column, task.target, source.reading, task.known, task.class_form)

    inside = Inside(source, task.features, task.target, task.weight, classes)
    schema = inside.infer(declared_kinds(task.settings, Batch({}, 0).table(task.features)))
    total = inside.count(schema, partial(check_class_count, task))
    _check_missing(total, task.settings)
    sample = inside.sample(schema, total, task.sample_size) if task.sample_size else None
    tell_unlabelled(task, inside.unlabelled)
    return without_unique(total), sample, inside.received


def _check_missing(total: Statistics, settings: Settings) -> None:
    """Refuse missing values where there must be none."""
    for block in total.schema:
        table = total.tables.get(block.name)
        counted: Any = getattr(table, "moments", table)
        missing = total.n_rows - (0 if table is None else int(counted.rows.sum()))
        if missing and settings.missing_of(block) == "error":
            raise MissingValueError(
                f"Column {block.name!r} has {missing} missing values. Fill them in, or set "
                "missing='skip' or 'category'."
            )
