"""Count batches of rows: read each one, check it, count it, and keep a sample of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from priory.base.errors import InputError
from priory.base.typing import FloatArray
from priory.classifier.checks import check_missing, check_size
from priory.classifier.drift import Learned, in_type_of
from priory.data.columns import Frame, Labels
from priory.data.rawtables import RawTable, open_table
from priory.data.reading import (
    UNIQUE,
    check_lengths,
    infer,
    infer_empty,
    read,
    read_labels,
    read_weights,
    with_pairs,
)
from priory.data.schema import Kind, Schema
from priory.statistics.sampling import Pool, Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable
from priory.tuning.choices import is_identifier
from priory.tuning.kinds import declared_kinds
from priory.tuning.settings import Settings
from priory.tuning.structure import choose_structure

__all__ = ["Counter", "without_columns", "without_identifiers"]

IDENTIFIER_ROWS = 100_000
MANY_VALUES = 500_000
"""Strings that hardly repeat among so many rows are given up: a unique identifier."""


class Counter:
    """Count batches of rows, and keep a sample of them.

    The first batch says what the columns are, and which are counted together, unless a `schema`
    does. With `learned`, values and classes come in the types that were learned before. With a
    `sample_size`, so many rows are kept, the same ones whatever the batches. `in_batches` says that
    the place of a row in its batch means nothing to the user, so that no error names it.

    >>> counter = Counter(Settings.textbook())
    >>> counter.add({"wind": ["weak", "strong"]}, ["Yes", "No"])
    >>> counter.add({"wind": ["weak"]}, ["Yes"])
    >>> counter.total().classes, counter.total().rows.tolist()
    (('No', 'Yes'), [1, 2])
    """

    def __init__(
        self,
        settings: Settings,
        schema: Schema | None = None,
        learned: Learned | None = None,
        sample_size: int = 0,
        in_batches: bool = False,
    ) -> None:
        self.schema = schema
        self.pool = Pool(sample_size) if sample_size else None
        self._settings, self._learned, self._in_batches = settings, learned, in_batches
        self._sums: list[Statistics] = []

    def add(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Count the rows of a table with their classes."""
        raw = open_table(X)
        labels = read_labels(y)
        check_lengths(raw.n_rows, labels)
        weight = read_weights(sample_weight, raw.n_rows)
        if self._learned is not None:
            labels = in_type_of(labels, self._learned.statistics.classes)
        if self.schema is None:
            schema = infer(raw, declared_kinds(self._settings, raw))
        else:
            schema = infer_empty(raw, self.schema)
        frame = self._read(raw, schema)
        if self.schema is None and "auto" in self._settings.text.values():
            from priory.tuning.analyzers import with_analyzers  # few tables are texts

            schema, frame = with_analyzers(self._settings, schema, frame, labels)
        statistics = self._count(frame, labels, weight, schema)
        if self.schema is None:
            statistics = self._with_structure(statistics, frame, labels, weight)
            self.schema = statistics.schema
        elif schema is not self.schema:
            self.schema = self.schema.join(schema)
        self._push(statistics)
        if self.pool is not None:
            self.pool.add(frame, labels, weight)

    def total(self) -> Statistics:
        """Add up all the rows that came."""
        if not self._sums:
            raise InputError("There are no rows to learn from: no batch was added.")
        while len(self._sums) > 1:
            last = self._sums.pop()
            self._sums[-1] = self._sums[-1] + last
        return self._sums[0]

    @property
    def sample(self) -> Sample | None:
        """The sample of all the rows that came, where one was asked for."""
        return None if self.pool is None else self.pool.sample

    @property
    def is_empty(self) -> bool:
        """Whether no rows came so far."""
        return not self._sums

    def _read(self, raw: RawTable, schema: Schema) -> Frame:
        frame = read(raw, schema)
        if self._learned is not None:
            frame = self._learned.aligned(frame, learning=True)
        check_missing(frame, schema, self._settings)
        return frame

    def _count(
        self, frame: Frame, labels: Labels, weight: FloatArray | None, schema: Schema
    ) -> Statistics:
        try:
            return Statistics.count(frame, labels, schema, weight)
        except InputError:
            check_size(frame, schema, name_row=not self._in_batches)
            raise

    def _with_structure(
        self, statistics: Statistics, frame: Frame, labels: Labels, weight: FloatArray | None
    ) -> Statistics:
        """Choose which columns are counted together, and count them."""
        blocks = choose_structure(statistics, self._settings, frame, labels, weight)
        if not blocks:
            return statistics
        schema = Schema(statistics.schema.columns, blocks, statistics.schema.named)
        together = Statistics.count(with_pairs(frame, schema), labels, schema, weight)
        return statistics.beside(together)

    def _push(self, new: Statistics) -> None:
        """Keep sums; those of like size are added first, so that none is added too often."""
        self._sums.append(new)
        while len(self._sums) > 1 and self._sums[-2].n_rows <= 2 * self._sums[-1].n_rows:
            last = self._sums.pop()
            self._sums[-1] = self._without_identifiers(self._sums[-1] + last)

    def _without_identifiers(self, statistics: Statistics) -> Statistics:
        """Give up unique identifiers before they fill the memory."""
        names = _given_up(statistics)
        if not names:
            return statistics
        assert self.schema is not None
        self.schema = _as_identifiers(self.schema, names)
        self._sums = [without_columns(sums, names) for sums in self._sums]
        return without_columns(statistics, names)


def without_identifiers(statistics: Statistics) -> Statistics:
    """Give up unique identifiers in sums that were counted apart."""
    return without_columns(statistics, _given_up(statistics))


def without_columns(statistics: Statistics, names: Sequence[str]) -> Statistics:
    """Drop the tables of columns that turned out to be unique identifiers."""
    if not names:
        return statistics
    schema = _as_identifiers(statistics.schema, names)
    tables = {n: table for n, table in statistics.tables.items() if n not in names}
    return Statistics(schema, statistics.classes, statistics.rows, statistics.weight, tables)


def _as_identifiers(schema: Schema, names: Sequence[str]) -> Schema:
    blocks = tuple(
        replace(b, kind=Kind.IDENTIFIER, why=UNIQUE) if b.name in names else b for b in schema
    )
    return replace(schema, blocks=blocks)


def _given_up(statistics: Statistics) -> list[str]:
    return [name for name in statistics.tables if _is_given_up(statistics, name)]


def _is_given_up(statistics: Statistics, name: str) -> bool:
    table, block = statistics.tables[name], statistics.schema[name]
    if not isinstance(table, LabelsTable) or block.pairing is not None:
        return False
    n, distinct = int(table.rows.sum()), len(table.labels)
    return (n >= IDENTIFIER_ROWS and distinct == n) or (
        distinct >= MANY_VALUES and is_identifier(block, table)
    )
