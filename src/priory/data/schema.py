"""What each column is, and why: the kinds that decide what is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, overload

from priory.base.errors import SchemaError, listing
from priory.base.formatting import aligned, dated, shown
from priory.base.labels import label_key, sorted_labels
from priory.base.typing import Label
from priory.data.pairing import Pairing
from priory.text.analyzer import Analyzer

__all__ = ["Block", "Kind", "NumberedColumns", "Schema", "unit_of"]

LABEL_TYPES = (bool, int, float, str)


class NumberedColumns(Sequence[str]):
    """Name columns x0, x1, x2, … without making the names: there may be very many.

    >>> NumberedColumns(3)[-1], list(NumberedColumns(2))
    ('x2', ['x0', 'x1'])
    """

    def __init__(self, n: int) -> None:
        self._numbers = range(n)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return tuple(f"x{i}" for i in self._numbers[place])
        return f"x{self._numbers[place]}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedColumns):
            return len(self) == len(other)
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


class Kind(StrEnum):
    """Say what is counted of a column."""

    LABELS = "labels"  # count(value) per class
    NUMBERS = "numbers"  # n, Σx, Σx² and counts per cell, per class
    MOMENTS = "moments"  # n, Σx, Σx² alone, for many columns at once
    COUNTS = "counts"  # Σ and documents per column, for many columns at once
    WORDS = "words"  # count, documents and Σ of normalised log(1 + tf) of each word of a text
    SCATTER = "scatter"  # n, Σx and Σxxᵀ of several columns
    JOINT = "joint"  # count(combination of values) of several columns
    PAIRS = "pairs"  # count(value) of several columns, and count(values) of pairs or groups of them
    EMPTY = "empty"  # nothing yet: every value so far is missing
    IDENTIFIER = "identifier"  # nothing: a unique identifier, another in every row

    @property
    def is_counted(self) -> bool:
        """Whether columns of this kind have a table."""
        return self not in (Kind.EMPTY, Kind.IDENTIFIER)

    @property
    def is_of_several(self) -> bool:
        """Whether a block of this kind may have several columns."""
        return self in (Kind.COUNTS, Kind.MOMENTS, Kind.SCATTER, Kind.JOINT, Kind.PAIRS)


@dataclass(frozen=True)
class Block:
    """One or more columns that are counted together.

    Each column is its own block unless it was declared otherwise.
    """

    name: str
    columns: Sequence[str]
    kind: Kind
    why: str = ""
    analyzer: Analyzer | None = None
    """How a text is split into words, for the kind that counts words."""
    pairing: Pairing | None = None
    """How columns that have blocks of their own are counted together as well."""
    values: tuple[Label, ...] = ()
    """The values of a column of labels that its type declares, seen or not, in their order."""
    order: tuple[Label, ...] = ()
    """The values of ordered categories, from the least to the greatest."""

    def declaring(self, values: Sequence[Label]) -> Block:
        """Declare these values as well."""
        known = set(map(label_key, self.values))
        if all(label_key(value) in known for value in values):
            return self
        return replace(self, values=sorted_labels([*self.values, *values]))

    def shown(self, value: Any) -> str:
        """Write a value as people know it: numbers may be dates, or the places of categories.

        >>> when = Block("when", ("when",), Kind.NUMBERS, "date, in seconds since 1970")
        >>> size = Block("size", ("size",), Kind.NUMBERS, order=("S", "M", "L"))
        >>> when.shown(1718841600.0), size.shown(1.0), size.shown(1.5), size.shown(None)
        ('2024-06-20', 'M', '1.5', 'missing')
        """
        if self.kind is Kind.NUMBERS and isinstance(value, int | float):
            if self.order and value in range(len(self.order)):
                return shown(self.order[int(value)])
            if self.unit == "date":
                return dated(value)
        return shown(value)

    def in_order(self, labels: Sequence[Label]) -> list[int]:
        """List the places of labels in the order of the categories; others come after, as they are.

        >>> size = Block("size", ("size",), Kind.LABELS, order=("S", "M", "L"))
        >>> size.in_order(["L", "S", "XXL", "M"])
        [1, 3, 0, 2]
        """
        place = {label_key(label): i for i, label in enumerate(self.order)}
        ranks = [place.get(label_key(label), len(place)) for label in labels]
        return sorted(range(len(ranks)), key=ranks.__getitem__)

    @cached_property
    def unit(self) -> str:
        """What the numbers of a column are: dates, durations, or numbers."""
        return unit_of(self.why)

    def join(self, other: Block) -> Block:
        """Decide what the column is when two batches of it are known.

        An empty column becomes whatever it turns out to be; a column of labels that turns out to
        be a unique identifier in one of them is one.
        """
        if self.columns != other.columns:
            raise SchemaError(
                f"Block {self.name!r} has columns {list(self.columns)} on one side and "
                f"{list(other.columns)} on the other; both sides must count the same columns."
            )
        if self.kind is Kind.NUMBERS is other.kind and self.order != other.order:
            raise SchemaError(
                f"Column {self.name!r} counts the places of categories in the order "
                f"{listing(self.order)} on one side and {listing(other.order)} on the other."
            )
        if self.pairing != other.pairing:
            raise SchemaError(
                f"{self.title!r} is counted in other bins on the other side. Let both sides learn "
                "from one start: the second from a blank() of the first."
            )
        if self.analyzer is not None and other.analyzer is not None:
            return replace(self, analyzer=self.analyzer.join(other.analyzer, self.name))
        if self.kind == other.kind or other.kind is Kind.EMPTY:
            return self.declaring(other.values)
        if self.kind is Kind.EMPTY:
            return other
        if {self.kind, other.kind} == {Kind.LABELS, Kind.IDENTIFIER}:
            return self if self.kind is Kind.IDENTIFIER else other
        raise SchemaError(
            f"Column {self.name!r} holds {self.kind} on one side and {other.kind} on the other. "
            f"Give both the same type, or declare it: families={{{self.name!r}: 'categorical'}}."
        )

    @property
    def work(self) -> int:
        """About how many look-ups a row costs."""
        return len(self.columns) + (len(self.pairing.pairs) if self.pairing is not None else 0)

    @property
    def title(self) -> str:
        """The block's name, shortened when it stands for many columns."""
        if self.pairing is not None:
            return self.name
        if len(self.columns) <= 3:
            return ", ".join(self.columns)
        return f"{self.columns[0]} … {self.columns[-1]} ({len(self.columns):,} columns)"


@dataclass(frozen=True, repr=False)
class Schema:
    """The blocks of a table, in the order of its columns.

    `columns` are all the columns in the order they came; `named` says whether the
    data brought the names (otherwise columns are matched by position); `families` is
    filled in by the classifier so that printing tells the whole story.
    """

    columns: Sequence[str]
    blocks: tuple[Block, ...]
    named: bool = True
    families: tuple[tuple[str, str], ...] = ()
    weights: tuple[tuple[str, float], ...] = ()

    @cached_property
    def known(self) -> frozenset[str]:
        """The names of all columns."""
        return frozenset(self.columns)

    @cached_property
    def by_name(self) -> Mapping[str, Block]:
        """The blocks by name."""
        return {block.name: block for block in self.blocks}

    def __getitem__(self, name: str) -> Block:
        return self.by_name[name]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    @cached_property
    def counted(self) -> tuple[Block, ...]:
        """The blocks that have a table."""
        return tuple(block for block in self.blocks if block.kind.is_counted)

    def join(self, other: Schema) -> Schema:
        """Join to the schema of the data of both, or say why there is none."""
        if self.blocks == other.blocks:
            return self
        if set(self.by_name) != set(other.by_name):
            here = sorted(set(self.by_name) - set(other.by_name))
            there = sorted(set(other.by_name) - set(self.by_name))
            if any(self[n].pairing for n in here) or any(other[n].pairing for n in there):
                raise SchemaError(
                    "The two sides count other pairs of columns: only the first has "
                    f"{listing(here) or 'none'}, only the second {listing(there) or 'none'}. "
                    "Pairs are chosen on the first rows that are learned; let the second side "
                    "learn from a blank() of the first."
                )
            raise SchemaError(
                f"The two sides do not have the same columns: only the first has {here}, "
                f"only the second has {there}."
            )
        return replace(self, blocks=tuple(b.join(other[b.name]) for b in self.blocks))

    def with_families(
        self, families: Mapping[str, str], weights: Mapping[str, float] | None = None
    ) -> Schema:
        """Add the family of each block and its weight, for printing."""
        weighted = tuple((weights or {}).items())
        return replace(self, families=tuple(families.items()), weights=weighted)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return aligned(self._rows())

    def _repr_html_(self) -> str:
        from priory.base.html import html_table

        head, *rows = self._rows()
        return html_table(head, rows, words=range(len(head)))

    def _rows(self) -> list[tuple[str, ...]]:
        """List the head, and a row for each block."""
        families, weights = dict(self.families), dict(self.weights)
        weight = ("weight",) if weights else ()
        rows: list[tuple[str, ...]] = [("column", "kind", "family", *weight, "why")]
        for b in self.blocks:
            shown = (f"{weights[b.name]:.2f}" if b.name in weights else "–",) if weights else ()
            rows.append((b.title, b.kind.value, families.get(b.name, "–"), *shown, b.why))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Write the schema as plain JSON values."""
        return {
            "columns": list(self.columns),
            "named": self.named,
            "blocks": [_plain(block) for block in self.blocks],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Schema:
        """Read the schema of plain JSON values."""
        blocks = tuple(map(_block, plain["blocks"]))
        return cls(tuple(plain["columns"]), blocks, bool(plain["named"]))


def _plain(block: Block) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": block.name,
        "columns": list(block.columns),
        "kind": block.kind.value,
        "why": block.why,
    }
    if block.analyzer is not None:
        plain["analyzer"] = block.analyzer.to_dict()
    if block.pairing is not None:
        plain["pairing"] = block.pairing.to_dict()
    if block.values and block.kind is Kind.LABELS:
        plain["values"] = list(block.values)
    if block.order:
        plain["order"] = list(block.order)
    return plain


def _block(plain: Mapping[str, Any]) -> Block:
    analyzer = Analyzer.from_dict(plain["analyzer"]) if "analyzer" in plain else None
    pairing = Pairing.from_dict(plain["pairing"]) if "pairing" in plain else None
    kind, values, order = Kind(plain["kind"]), plain.get("values", []), plain.get("order", [])
    for given, what in (values, "declares values"), (order, "orders values"):
        if not isinstance(given, list) or not all(isinstance(v, LABEL_TYPES) for v in given):
            raise SchemaError(f"Block {plain['name']!r:.60} {what} that are no labels.")
    name, columns, why = plain["name"], tuple(plain["columns"]), plain["why"]
    return Block(name, columns, kind, why, analyzer, pairing, sorted_labels(values), tuple(order))


def unit_of(why: str) -> str:
    """Find what the numbers of a column are, by the reason that is given for its kind.

    >>> unit_of("date, in seconds since 1970"), unit_of("float")
    ('date', 'number')
    """
    unit = why.partition(",")[0]
    return unit if unit in ("date", "duration") else "number"
