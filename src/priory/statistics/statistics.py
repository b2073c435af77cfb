"""Sufficient statistics: everything that is learned, as plain sums per class.

Learning is counting. A `Statistics` is a value: the rows behind it could have come in any
order, in any number of pieces, from any machine, and the sums would be the same.

    a + b    learn the rows of both
    a - b    forget the rows of b
    a * w    give every row w times its weight

Classes and labels are kept in their order, so equal data give equal statistics, and new
ones may appear at any time: both sides are aligned by label before they are added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import ForgetError, check_number, listing
from priory.base.labels import label_key, label_token, token_label, union
from priory.base.typing import CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Column, Frame, Labels
from priory.data.schema import Schema
from priory.statistics import longtable
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables import LabelsTable, Table, table_type

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Statistics"]


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """The classes, and one table for each block of columns.

    >>> from priory.data.reading import infer, read, read_labels
    >>> days = {"outlook": ["Sunny", "Rain", "Rain"], "humidity": [85.0, 70.0, None]}
    >>> schema = infer(days)
    >>> a = Statistics.count(read(days, schema), read_labels(["No", "Yes", "Yes"]), schema)
    >>> a.classes, a.rows.tolist()
    (('No', 'Yes'), [1, 2])
    >>> a.tables["outlook"].labels, a.tables["outlook"].rows.tolist()
    (('Rain', 'Sunny'), [[0, 1], [2, 0]])
    >>> (a + a) - a == a
    True
    """

    schema: Schema
    classes: tuple[Label, ...]
    rows: IntArray
    weight: FloatArray
    tables: Mapping[str, Table]

    @classmethod
    def zero(cls, schema: Schema, classes: Sequence[Label] = ()) -> Statistics:
        """Make the statistics of no rows."""
        nothing = cls(schema, (), np.zeros(0, dtype=np.int64), np.zeros(0), {})
        return nothing._with_schema(schema).with_classes(classes)

    @classmethod
    def count(
        cls, frame: Frame, y: Labels, schema: Schema, weight: FloatArray | None = None
    ) -> Statistics:
        """Count the rows of a frame with their classes.

        A row of weight zero is not a row: it counts for nothing, as if it were not there.
        """
        from priory.statistics.counting import count_classes, count_tables  # predicting counts not

        if weight is not None and not weight.all():
            some = weight != 0
            frame, y, weight = frame.take(some), y.take(some), weight[some]
        classes, codes, rows = count_classes(y)
        total = rows.astype(np.float64)
        if weight is not None:
            total = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
        tables = count_tables(frame, codes, schema, weight, len(classes))
        return cls(schema, classes, rows, total, tables)

    def absorb(self, column: Column, y: CodeArray) -> bool:
        """Add a few rows of weight 1 in place, if that can be done, and say whether it was.

        In a stream of single rows, making new tables would be most of the work. Only the sole
        owner of statistics with a single block may do this: `column` is that block, `y` the place
        of each row's class. Nothing is changed where a number is missing, or the table cannot
        grow in place.
        """
        (table,) = self.tables.values()
        if not table.absorb(column, y):
            return False
        for k in y.tolist():
            self.rows[k] += 1
            self.weight[k] += 1.0
        return True

    def copy(self) -> Statistics:
        """Copy the sums into arrays of their own."""
        tables = self._each(lambda table: table.copy())
        return replace(self, rows=self.rows.copy(), weight=self.weight.copy(), tables=tables)

    def _each(self, change: Callable[[Table], Table]) -> dict[str, Table]:
        return {name: change(table) for name, table in self.tables.items()}

    @cached_property
    def places(self) -> Mapping[Any, int]:
        """The position of each class, by the key of its label."""
        return {label_key(label): k for k, label in enumerate(self.classes)}

    @property
    def is_approximate(self) -> bool:
        """Whether some of what was counted has been dropped since, to bound the memory."""
        return any(getattr(table, "is_approximate", False) for table in self.tables.values())

    @property
    def n_rows(self) -> int:
        """The number of rows learned."""
        return int(self.rows.sum())

    def __add__(self, other: Statistics) -> Statistics:
        a, b = self._aligned(other)
        tables = {name: table + b.tables[name] for name, table in a.tables.items()}
        return Statistics(a.schema, a.classes, a.rows + b.rows, a.weight + b.weight, tables)

    def __sub__(self, other: Statistics) -> Statistics:
        never = [label for label in other.classes if label_key(label) not in self.places]
        if never:
            raise ForgetError(
                f"Class {listing(never)} was never learned, so its rows cannot be forgotten. "
                f"Classes: {listing(self.classes)}."
            )
        a, b = self._aligned(other)
        rows = a.rows - b.rows
        if np.any(rows < 0):
            k = int(np.argmin(rows))
            raise ForgetError(
                f"Class {a.classes[k]!r} has {a.rows[k]} rows, so {b.rows[k]} cannot be forgotten."
            )
        tables = {}
        for name, table in a.tables.items():
            try:
                tables[name] = table - b.tables[name]
            except ForgetError as error:
                raise ForgetError(
                    f"These rows cannot be forgotten: in column {name!r} {error}."
                ) from None
        weight = np.where(rows > 0, a.weight - b.weight, 0.0)
        if np.any(weight < -1e-9 * a.weight):
            k = int(np.argmin(weight))
            raise ForgetError(
                f"Class {a.classes[k]!r} has weight {a.weight[k]:g}, so {b.weight[k]:g} cannot be "
                "forgotten."
            )
        weight = np.maximum(weight, 0.0)
        return Statistics(a.schema, a.classes, rows, weight, tables)._without_empty_classes()

    def __mul__(self, factor: float) -> Statistics:
        check_number("The factor of statistics", factor)
        if factor == 0:
            return Statistics.zero(self.schema)
        tables = self._each(lambda table: table * factor)
        return replace(self, weight=self.weight * factor, tables=tables)

    __rmul__ = __mul__

    def decayed(self, half_life: float, elapsed: float = 1.0) -> Statistics:
        """Halve every weight for each half-life that has elapsed."""
        check_number("half_life", half_life, above=0)
        check_number("elapsed", elapsed)
        return self * 2.0 ** (-elapsed / half_life)

    def __repr__(self) -> str:
        blocks = ", ".join(block.title for block in self.schema.counted[:5])
        more = "" if len(self.schema.counted) <= 5 else ", …"
        return f"<Statistics of {self.n_rows:,} rows, {len(self.classes)} classes: {blocks}{more}>"

    def _repr_html_(self) -> str:
        from priory.base.html import html_table, html_together

        counts = zip(self.classes, self.rows.tolist(), self.weight.tolist(), strict=True)
        rows = [(label, f"{n:,}", f"{weight:g}") for label, n, weight in counts]
        blocks = [(block.title, block.kind.value) for block in self.schema]
        classes = html_table(("class", "rows", "weight"), rows)
        return html_together(classes, html_table(("column", "counted as"), blocks, words=(0, 1)))

    def __eq__(self, other: object) -> bool:
        """Compare to the last bit; how the schema explains its kinds does not matter."""
        if not isinstance(other, Statistics):
            return NotImplemented
        return (
            self._identity() == other._identity()
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.weight, other.weight)
            and self.tables == other.tables
        )

    __hash__ = None  # type: ignore[assignment]

    def _identity(self) -> tuple[Any, ...]:
        """List the classes, the blocks, and the values that they declare and no row has."""
        blocks = []
        for block in self.schema:
            unseen: set[Any] = set()
            if block.values and isinstance(table := self.tables.get(block.name), LabelsTable):
                unseen = {*map(label_key, block.values)} - {*map(label_key, table.labels)}
            blocks.append((block.name, block.columns, block.kind, block.pairing, unseen))
        return [*map(label_key, self.classes)], blocks

    def with_classes(self, classes: Sequence[Label]) -> Statistics:
        """Let these classes be known too, if only by name."""
        if all(label_key(label) in self.places for label in classes):
            return self
        labels, here, _ = union(self.classes, tuple(classes))
        rows, weight = np.zeros(len(labels), dtype=np.int64), np.zeros(len(labels))
        rows[here], weight[here] = self.rows, self.weight
        tables = self._each(lambda table: table.with_classes(here, len(labels)))
        return Statistics(self.schema, labels, rows, weight, tables)

    def beside(self, other: Statistics) -> Statistics:
        """Join the tables of both: other blocks, counted of the same rows."""
        schema = replace(self.schema, blocks=self.schema.blocks + other.schema.blocks)
        return replace(self, schema=schema, tables={**self.tables, **other.tables})

    def without_rare(self, min_count: int) -> Statistics:
        """Leave out values that fewer rows have: they could point to a person.

        Rows of other statistics can still be added, but none can be taken away for sure.
        """
        # A list of values could point to them too.
        schema = replace(self.schema, blocks=tuple(replace(b, values=()) for b in self.schema))
        tables = self._each(lambda table: table.without_rare(min_count))
        return replace(self, schema=schema, tables=tables)

    def to_arrow(self) -> pa.Table:
        """Write the statistics as one long table; see `longtable` for its columns."""
        header = {
            "schema": self.schema.to_dict(),
            "tables": {name: table.header() for name, table in self.tables.items()},
        }
        return longtable.write(header, list(map(label_token, self.classes)), self._parts())

    def _parts(self) -> Iterator[tuple[str | None, Part]]:
        yield None, Part.of_classes("classes", self.rows, self.weight)
        for name, table in self.tables.items():
            for part in table.parts(self.schema[name]):
                yield name, part

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Statistics:
        """Read the statistics that such a long table holds."""
        header, parts_of = longtable.read(table)
        schema = Schema.from_dict(header["schema"])
        classes = tuple(token_label(token) for token in header["classes"])
        rows, weight = BlockParts(parts=parts_of(None))["classes"].by_class(len(classes))
        tables = {}
        for block in schema.counted:
            parts = BlockParts(header["tables"][block.name], parts_of(block.name))
            tables[block.name] = table_type(block.kind).from_parts(block, len(classes), parts)
        return cls(schema, classes, rows, weight, tables)

    def _aligned(self, other: Statistics) -> tuple[Statistics, Statistics]:
        """Bring both to the same schema and the same classes."""
        schema = self.schema.join(other.schema)
        a, b = self._with_schema(schema), other._with_schema(schema)
        if a.classes is b.classes:
            return a, b
        return a.with_classes(b.classes), b.with_classes(a.classes)

    def _with_schema(self, schema: Schema) -> Statistics:
        """Put the sums under a schema that knows more: empty tables for new kinds."""
        K, none = len(self.classes), BlockParts()
        tables = {
            block.name: self.tables.get(block.name)
            or table_type(block.kind).from_parts(block, K, none)
            for block in schema.counted
        }
        return replace(self, schema=schema, tables=tables)

    def _without_empty_classes(self) -> Statistics:
        kept = np.flatnonzero(self.rows > 0)
        if len(kept) == len(self.classes):
            return self
        tables = self._each(lambda table: table.only_classes(kept))
        classes = tuple(self.classes[k] for k in kept)
        return Statistics(self.schema, classes, self.rows[kept], self.weight[kept], tables)
