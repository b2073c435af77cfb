"""Count the values of several columns, and the values that groups of them have together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import ForgetError, InputError, TooLargeError
from priory.base.labels import label_key, label_token, sorted_labels, token_label, union
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Combined
from priory.data.combinations import count_combinations, distinct_combinations
from priory.data.pairing import every_pair
from priory.data.schema import Block
from priory.kernels.labels import count_labels
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables.base import Table, add_keys, difference, spread_keys

__all__ = ["PairsTable"]

DENSE = 262_144
"""So many places are counted in a table of all combinations, whether they come or not."""

LARGEST_KEY = 2**62
PAIRED = ("pair_rows", "pair_weight")


@dataclass(frozen=True, eq=False)
class PairsTable(Table):
    """Count the values of several columns and those of groups of them together, per class.

    The values of all the columns stand one after the other, in the order of the columns; a key
    joins the places of `together` values, a pair's or those of a child and its parents, as the
    digits of a number whose base is how many values there are. A missing value is not
    counted in its column, nor in its groups. Only what was seen is here.
    """

    per_class: ClassVar[tuple[str, ...]] = ("rows", "weight", *PAIRED)

    labels: tuple[tuple[Any, ...], ...]
    rows: IntArray
    weight: FloatArray
    keys: IntArray
    pair_rows: IntArray
    pair_weight: FloatArray
    together: int = 2

    @classmethod
    def count(
        cls,
        block: Block,
        column: Combined,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> PairsTable:
        """Count the values of the columns, and those of the groups that the block declares."""
        parts = column.parts
        labels = tuple(part.labels for part in parts)
        starts = _starts(labels)
        singles = [_counted(part.codes, len(part.labels), y, weight, n_classes) for part in parts]
        keys, pairs = [np.zeros(0, dtype=np.int64)], [_nothing(n_classes)]
        for group in _groups(block, len(parts)):
            _check_keys(len(group), int(starts[-1]))
            sizes = [max(len(labels[j]), 1) for j in group]
            codes = [parts[j].codes for j in group]
            found, counts = _counted_group(codes, sizes, y, weight, n_classes)
            places = np.unravel_index(found, sizes)
            keys.append(
                _keys([p + starts[j] for p, j in zip(places, group, strict=True)], starts[-1])
            )
            pairs.append(counts)
        return cls(
            labels,
            *_side_by_side([_nothing(n_classes), *singles]),
            np.concatenate(keys),
            *_side_by_side(pairs),
            _together(block),
        )._tidy()

    @cached_property
    def starts(self) -> IntArray:
        """Where the values of each column start; then how many values there are."""
        return _starts(self.labels)

    @cached_property
    def places(self) -> tuple[IntArray, ...]:
        """The places of the values of each key, in the order of their columns."""
        size = max(int(self.starts[-1]), 1)
        powers = [size**i for i in reversed(range(self.together))]
        return tuple(self.keys // power % size for power in powers)

    @property
    def present(self) -> FloatArray:
        """The weight of the rows of each class that have a value in the last column."""
        return np.asarray(self.weight[:, self.starts[-2] :].sum(axis=1))

    def _tidy(self) -> PairsTable:
        """Keep the values and pairs that have rows, in their order."""
        seen = np.asarray(self.rows.any(axis=0))
        together = np.asarray(self.pair_rows.any(axis=0))
        order: list[int] = []
        labels = []
        for values, start in zip(self.labels, self.starts.tolist(), strict=False):
            mine = [v for v in range(len(values)) if seen[start + v]]
            mine.sort(key=lambda v: label_key(values[v]))
            labels.append(tuple(values[v] for v in mine))
            order += [start + v for v in mine]
        in_order = order == list(range(len(seen)))
        if in_order and together.all() and (np.diff(self.keys) > 0).all():
            return self
        where = np.zeros(len(seen), dtype=np.int64)
        where[order] = np.arange(len(order))
        keys = _keys([where[place[together]] for place in self.places], len(order))
        sort = np.argsort(keys)
        return PairsTable(
            tuple(labels),
            self.rows[:, order],
            self.weight[:, order],
            keys[sort],
            self.pair_rows[:, together][:, sort],
            self.pair_weight[:, together][:, sort],
            self.together,
        )

    def _among(self, labels: tuple[tuple[Any, ...], ...], where: IntArray) -> PairsTable:
        """Place the sums among more values, value i at where[i]."""
        size = int(_starts(labels)[-1])
        return replace(
            self,
            labels=labels,
            rows=spread_keys(self.rows, where, size),
            weight=spread_keys(self.weight, where, size),
            keys=_keys([where[place] for place in self.places], size),
        )

    def _aligned(self, other: PairsTable) -> tuple[PairsTable, PairsTable]:
        if self.labels is other.labels:
            return self, other
        found = [union(a, b) for a, b in zip(self.labels, other.labels, strict=True)]
        labels = tuple(values for values, _, _ in found)
        starts = _starts(labels)[:-1]
        here, there = (
            np.concatenate([np.zeros(0, dtype=np.int64), *parts])
            for parts in (
                [s + a for s, (_, a, _) in zip(starts, found, strict=True)],
                [s + b for s, (_, _, b) in zip(starts, found, strict=True)],
            )
        )
        return self._among(labels, here), other._among(labels, there)

    def __add__(self, other: PairsTable) -> PairsTable:
        a, b = self._aligned(other)
        keys = a.keys if np.array_equal(a.keys, b.keys) else np.union1d(a.keys, b.keys)
        here, there = np.searchsorted(keys, a.keys), np.searchsorted(keys, b.keys)
        rows, weight = add_keys(a, here, b, there, len(keys), PAIRED)
        singles = a.rows + b.rows, a.weight + b.weight
        return PairsTable(a.labels, *singles, keys, rows, weight, a.together)

    def __sub__(self, other: PairsTable) -> PairsTable:
        for mine, theirs in zip(self.labels, other.labels, strict=True):
            known = set(map(label_key, mine))
            never = [label for label in theirs if label_key(label) not in known]
            if never:
                raise ForgetError(f"value {never[0]!r} was never learned")
        _, taken = self._aligned(other)
        keys = np.union1d(self.keys, taken.keys)
        if len(keys) > len(self.keys):
            raise ForgetError("these values were never learned together")
        names = [label for values in self.labels for label in values]
        singles = difference(self, taken, names=names)
        pairs = difference(self, taken, PAIRED, there=np.searchsorted(keys, taken.keys))
        return PairsTable(self.labels, *singles, keys, *pairs, self.together)._tidy()

    def without_rare(self, min_count: int) -> PairsTable:
        """Leave out values, and groups of values, that fewer rows have."""
        often, together = (a.sum(axis=0) >= min_count for a in (self.rows, self.pair_rows))
        return replace(
            self,
            rows=self.rows * often,
            weight=self.weight * often,
            pair_rows=self.pair_rows * together,
            pair_weight=self.pair_weight * together,
        )._tidy()

    def parts(self, block: Block) -> list[Part]:
        """Write a row for each value and class, and one for each group of values and class."""
        named = [
            (c, v) for c, values in zip(block.columns, self.labels, strict=True) for v in values
        ]
        tokens = tuple(map(label_token, named))
        places = zip(*(place.tolist() for place in self.places), strict=True)
        pairs = tuple(label_token(tuple(x for i in group for x in named[i])) for group in places)
        return [
            Part.of_grid("values", tokens, self.rows, self.weight),
            Part.of_grid("pairs", pairs, self.pair_rows, self.pair_weight),
        ]

    @classmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> PairsTable:
        """Make the table of such rows."""
        values, pairs = parts["values"], parts["pairs"]
        column = {name: j for j, name in enumerate(block.columns)}
        named = [_named(token, column, 1) for token in values.tokens]
        labels = tuple(
            sorted_labels(v for ((c, v),) in named if c == j) for j in range(len(block.columns))
        )
        starts = _starts(labels).tolist()
        place = {
            (j, label_key(v)): start + i
            for j, (of_column, start) in enumerate(zip(labels, starts, strict=False))
            for i, v in enumerate(of_column)
        }
        where = np.array([place[c, label_key(v)] for ((c, v),) in named], dtype=np.intp)
        rows, weight = (
            spread_keys(a, where, starts[-1]) for a in values.grid(n_classes, len(named))
        )
        counted, together = set(_groups(block, len(block.columns))), _together(block)
        found = np.zeros((together, len(pairs.tokens)), dtype=np.int64)
        for i, token in enumerate(pairs.tokens):
            group = _named(token, column, together)
            at = [place.get((c, label_key(v)), -1) for c, v in group]
            if tuple(c for c, _ in group) not in counted or -1 in at:
                raise InputError(f"the pairs hold {token:.60}, which the block does not count")
            found[:, i] = at
        sums = pairs.grid(n_classes, len(pairs.tokens))
        return cls(labels, rows, weight, _keys(list(found), starts[-1]), *sums, together)._tidy()


def _groups(block: Block, n_columns: int) -> Sequence[tuple[int, ...]]:
    """Find the groups that a block counts: those declared, or every pair."""
    return every_pair(n_columns) if block.pairing is None else block.pairing.pairs


def _together(block: Block) -> int:
    return len(block.columns) if block.pairing and block.pairing.is_conditional else 2


def _keys(places: Sequence[IntArray], size: int) -> IntArray:
    """Join places as the digits of one number."""
    _check_keys(len(places), int(size))
    keys = places[0].astype(np.int64)
    for place in places[1:]:
        keys = keys * size + place
    return keys


def _check_keys(n_columns: int, size: int) -> None:
    if size**n_columns >= LARGEST_KEY:
        raise TooLargeError(
            f"{n_columns} columns that are counted together have {size:,} values between them, too "
            "many to be told apart. Leave out the column of the most values, or give the last of "
            "them fewer parents."
        )


def _starts(labels: Sequence[Sequence[Any]]) -> IntArray:
    return np.cumsum([0, *map(len, labels)], dtype=np.int64)


def _nothing(n_classes: int) -> tuple[IntArray, FloatArray]:
    return np.zeros((n_classes, 0), dtype=np.int64), np.zeros((n_classes, 0))


def _side_by_side(counts: list[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    rows, weight = zip(*counts, strict=True)
    return np.concatenate(rows, axis=1), np.concatenate(weight, axis=1)


def _counted(
    codes: AnyArray, size: int, y: CodeArray, weight: FloatArray | None, n_classes: int
) -> tuple[IntArray, FloatArray]:
    rows, total = np.zeros((n_classes, size), dtype=np.int64), np.zeros((n_classes, size))
    count_labels(codes, y, weight, rows, total)
    return rows, total


def _counted_group(
    codes: Sequence[AnyArray],
    sizes: Sequence[int],
    y: CodeArray,
    weight: FloatArray | None,
    n_classes: int,
) -> tuple[IntArray, tuple[IntArray, FloatArray]]:
    """Find the combinations that came, as codes in mixed radix, and their counts."""
    if n_classes * prod(sizes) > max(DENSE, 4 * len(y)):
        places, where = distinct_combinations(codes, sizes)
        found = np.ravel_multi_index(tuple(places.T), tuple(sizes))
        return found, _counted(where, len(found), y, weight, n_classes)
    columns, shape, flat = (y, *codes), (n_classes, *sizes), (n_classes, prod(sizes))
    rows = count_combinations(columns, shape).reshape(flat)
    found = np.flatnonzero(rows.any(axis=0))
    rows = rows[:, found]
    if weight is None:
        return found, (rows, rows.astype(np.float64))
    total = count_combinations(columns, shape, weight).reshape(flat)
    return found, (rows, total[:, found])


def _named(token: str, column: Mapping[str, int], n: int) -> tuple[tuple[int, Any], ...]:
    """Parse a key into columns, by their place, and values."""
    key = token_label(token)
    if not isinstance(key, tuple) or len(key) != 2 * n or not all(c in column for c in key[::2]):
        raise InputError(f"the pairs hold {token:.60}, which is not of columns of the block")
    return tuple((column[c], v) for c, v in zip(key[::2], key[1::2], strict=True))
