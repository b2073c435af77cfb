"""What a source holds, without learning it: kinds, gaps, values, what would be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from priory.base.errors import listing
from priory.base.formatting import aligned
from priory.data.columns import Labels, Numbers
from priory.data.gaps import tidied
from priory.data.rawtables import RawTable
from priory.data.reading import UNIQUE
from priory.data.schema import Block, Kind
from priory.sources.base import Batch, Form, Unread, check_columns
from priory.sources.counting import WIDENED, Task, sample_schema
from priory.sources.opening import open_source
from priory.sources.progress import Progress
from priory.tuning.choices import IDENTIFIER_ROWS, IDENTIFIER_SHARE
from priory.tuning.settings import Settings

__all__ = ["ColumnReport", "Inspection", "inspect"]

MOST_DISTINCT = 100_000
"""More distinct values are not counted."""


@dataclass(frozen=True)
class ColumnReport:
    """What a column holds; `left_out` says why a model would not use it."""

    column: str
    kind: str
    why: str
    gaps: int
    distinct: int
    is_all: bool = True
    """Whether there are no more distinct values than were counted."""
    left_out: str = ""


@dataclass(frozen=True)
class Inspection:
    """The columns of a source, and what could not be read as most of a column is.

    >>> print(inspect("examples/play_tennis.csv", "play"))
    examples/play_tennis.csv: 14 rows
    column       kind    gaps  distinct  why
    outlook      labels  –     3         strings
    temperature  labels  –     3         strings
    humidity     labels  –     2         strings
    wind         labels  –     2         strings
    play         target  –     2         strings
    """

    source: str
    rows: int
    columns: tuple[ColumnReport, ...]
    unread: tuple[Unread, ...] = ()
    skipped: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the report as plain values."""
        columns = [asdict(column) for column in self.columns]
        unread = [{**asdict(odd), "form": odd.form.value} for odd in self.unread]
        return {
            "source": self.source,
            "rows": self.rows,
            "columns": columns,
            "unread": [
                {**odd, "commonest": [list(pair) for pair in odd["commonest"]]} for odd in unread
            ],
            "skipped": list(self.skipped),
        }

    def __str__(self) -> str:
        rows = [("column", "kind", "gaps", "distinct", "why")]
        for c in self.columns:
            share = f"{c.gaps:,} ({c.gaps / max(self.rows, 1):.1%})" if c.gaps else "–"
            distinct = f"{c.distinct:,}" if c.is_all else f"more than {c.distinct:,}"
            why = f"left out: {c.left_out}" if c.left_out else c.why
            rows.append((c.column, c.kind, share, distinct, why))
        lines = [f"{self.source}: {self.rows:,} rows", aligned(rows)]
        lines += [str(odd) for odd in self.unread]
        if self.skipped:
            lines.append(f"Rows that cannot be read: {len(self.skipped):,}, {self.skipped[0]}.")
        return "\n".join(lines)


def inspect(
    source: Any, target: str | None = None, *, progress: bool | None = None, **opening: Any
) -> Inspection:
    """Read a source as `train` would, and report what its columns hold, without learning it.

    The options are those of `train` that say how a source is read. Rows that cannot be read are
    part of the report, not an error.

    >>> inspect("examples/play_tennis.csv").columns[0].kind
    'labels'
    """
    opening.setdefault("on_error", "skip")
    with closing(open_source(source, **opening)) as opened:
        target = target if target is not None else opened.target
        check_columns([] if target is None else [target], opened.columns, "The target column")
        settings = Settings().changed(text=dict(opened.analyzers()))
        task = Task(opened, "", opened.columns, None, settings, opened.forms())
        schema = sample_schema(task)
        counts = {name: _Count() for name in opened.columns}
        rows, is_named = 0, task.forms.get(target or "") in (Form.TEXT, Form.NATURAL)
        gaps = opened.reading.class_gaps if is_named else opened.reading.gap_words
        with Progress(opened, progress, "Inspecting") as bar:
            for batch in opened.batches(task.forms):
                raw = batch.table(opened.columns)
                for name, count in counts.items():
                    count.add(raw, batch, name, gaps if name == target else frozenset())
                rows += batch.n_rows
                bar.add(batch.n_rows)
        unread = {odd.column: odd for odd in opened.unread()}
        unread |= {n: c.unread(n, task.forms[n], rows) for n, c in counts.items() if c.others}
        columns = tuple(
            _report(schema.by_name[name], counts[name], rows, name == target)
            for name in opened.columns
        )
        skipped = tuple(opened.skipped.reasons)
        return Inspection(opened.name, rows, columns, tuple(unread.values()), skipped)


class _Count:
    """Gaps, distinct values, and values that do not fit, of one column."""

    def __init__(self) -> None:
        self.gaps, self.is_all, self.is_whole = 0, True, True
        self.values: set[Any] = set()
        self.others = Counter[str]()

    def add(self, raw: RawTable, batch: Batch, name: str, gaps: frozenset[str]) -> None:
        """Count the values of a batch."""
        if name in batch.misread:
            self.others.update(batch.misread[name].values)
        column = raw.column(name).column
        if isinstance(column, Labels) and gaps:
            column = tidied(column, gaps)
        self.gaps += int(column.missing.sum())
        found: Sequence[Any] = ()
        if isinstance(column, Labels):
            found = column.seen().labels
        elif isinstance(column, Numbers):
            numbers = np.unique(column.values[:, 0])
            numbers = numbers[~np.isnan(numbers)]
            self.is_whole = self.is_whole and bool((numbers == np.floor(numbers)).all())
            found = [int(x) if x == int(x) else x for x in numbers.tolist()]
        if self.is_all:
            self.values.update(found)
            self.is_all = len(self.values) <= MOST_DISTINCT

    def unread(self, name: str, form: Form, rows: int) -> Unread:
        """Tell of values that did not fit, after the first rows."""
        odd = self.others.total()
        fit = rows - self.gaps
        words = ", ".join(repr(value) for value, _ in self.others.most_common(5))
        mend = f"If they stand for missing values: na_values=[{words}]."
        share = fit / max(fit + odd, 1)
        return Unread(name, form, share, tuple(self.others.most_common(3)), mend)


def _report(block: Block, count: _Count, rows: int, is_target: bool) -> ColumnReport:
    kind, why, distinct = block.kind.value, block.why, min(len(count.values), MOST_DISTINCT)
    gaps = count.gaps - count.others.total()  # which are values as well
    if count.others:
        kind, why, distinct = "labels", WIDENED, distinct + len(count.others)
    if why == "integer" and not count.is_whole:
        why = "float"
    report = ColumnReport(block.name, kind, why, gaps, distinct, count.is_all)
    if is_target:
        return replace(report, kind="target")
    n = rows - count.gaps
    if not count.values and not count.others:
        return replace(report, kind="empty", left_out="every value is missing")
    is_string = block.kind in (Kind.LABELS, Kind.IDENTIFIER) and all(
        isinstance(value, str) for value in count.values
    )
    many = not count.is_all or len(count.values) >= IDENTIFIER_SHARE * n
    if is_string and n >= IDENTIFIER_ROWS and many:
        return replace(report, kind="identifier", left_out=UNIQUE)
    if distinct == 1 and block.kind is not Kind.WORDS and not gaps:
        return replace(report, why=f"{report.why}: one value alone, {listing(count.values)}")
    return report
