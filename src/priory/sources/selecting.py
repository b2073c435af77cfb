"""Sources that select in SQL: what stands after FROM, a condition, and columns by their places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, count
from typing import Any

import numpy as np

from priory.sources.base import Batch, Form, Reading, Source, row_number

__all__ = ["SelectSource", "distinct", "gathered", "identifier", "literal", "placed"]

VALUES_AT_ONCE = 2_500_000


class SelectSource(Source):
    """The rows of a FROM clause, whose columns have types of their own.

    Engines differ in how they take the case of names, so that columns go by their places.
    """

    def __init__(self, name: str, columns: Sequence[str], origin: str, reading: Reading) -> None:
        super().__init__()
        self.name, self.where, self.reading = name, reading.where, reading
        self.columns = distinct(columns)
        self.origin = origin

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Stream the rows, with a few batches at a time in memory."""
        names = list(forms)
        expressions = [f"{self.expression(name)} AS v{i}" for i, name in enumerate(names)]
        limit = "" if most is None else f" LIMIT {most}"
        selected = ", ".join(expressions) or "1"
        query = f"SELECT {selected} FROM {self.filtered()}{limit}"
        size = int(np.clip(VALUES_AT_ONCE // max(len(names), 1), 8192, 262_144))
        before = 0
        with closing(self._tables(query, size)) as tables:
            for table in tables:
                columns = {name: table.column(i) for i, name in enumerate(names)}
                yield Batch(columns, table.num_rows, place=row_number(self.name, before))
                before += table.num_rows

    @abstractmethod
    def select(self, query: str) -> Any:
        """Run a query; the result is an Arrow table."""

    def sends(self) -> tuple[str, float]:
        """Name the machine that would send the rows, "" for this one, and estimate their bytes."""
        return "", 0.0

    @abstractmethod
    def _tables(self, query: str, size: int) -> Any:
        """Generate Arrow tables of about so many rows each."""

    def filtered(self) -> str:
        """Write the FROM clause with the condition, in which columns have their names."""
        places = ", ".join(placed(i) for i in range(len(self.columns)))
        rows = f"(SELECT * FROM {self.origin}) AS placed({places})"
        if self.where is None:
            return rows
        named = ", ".join(
            f"{placed(i)} AS {identifier(name)}" for i, name in enumerate(self.columns)
        )
        return f"(SELECT *, {named} FROM {rows}) AS named WHERE ({self.where}\n)"

    def expression(self, name: str) -> str:
        """Write the value of a column, NULL where it stands for a missing one."""
        sql = self._typed(self.columns.index(name))
        if not self.reading.na_values:
            return sql
        missing = ", ".join(map(literal, self.reading.na_values))
        return f"CASE WHEN trim({self._text(sql)}) IN ({missing}) THEN NULL ELSE {sql} END"

    def _typed(self, place: int) -> str:
        """Write a column in a type that Arrow has."""
        return placed(place)

    def _text(self, sql: str) -> str:
        return f"CAST({sql} AS VARCHAR)"


def gathered(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Join Arrow batches to tables of at least so many rows, but for the last."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= size:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Give names that stand more than once a number, as a join may have them.

    >>> distinct(["id", "x", "id"])
    ('id', 'x', 'id_1')
    """
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{i}" for i in count(1))
        found[next(n for n in chain([name], numbered) if n not in found)] = None
    return tuple(found)


def placed(i: int) -> str:
    """Make a name that no column of the user has."""
    return f'"priory:{i}"'


def literal(text: str) -> str:
    """Quote a string for SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Quote a name for SQL.

    >>> print(identifier('the "a" of b'))
    "the ""a"" of b"
    """
    return '"' + name.replace('"', '""') + '"'
