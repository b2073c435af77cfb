"""Values that come in another type than they were learned in: cast, or said.

A column that holds nothing but values never learned tells nothing of the class, and looks just as
if it were missing. So a type that was never learned is cast to the one that was where that loses
nothing, and a `DriftWarning` tells of a column whose values are unknown all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.errors import DriftWarning, listing, warn
from priory.base.labels import label_key, sorted_labels
from priory.base.typing import Label
from priory.data.columns import Column, Frame, Labels
from priory.data.schema import Block, Kind
from priory.statistics.cells import interval_of
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable

__all__ = ["Learned", "in_type_of"]

FEWEST = 10
"""Of so many values at least the share that was never learned means something."""

NUMERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
"""A number as it is written but in one way: 01 may be a code that differs from 1."""

BOOLEANS = {word: word[0] in "tT" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}


class Learned:
    """The values that columns have learned; casts others to their types.

    >>> from priory.data.reading import infer, read, read_labels
    >>> schema = infer({"windy": [True, False, True]})
    >>> frame = read({"windy": [True, False, True]}, schema)
    >>> learned = Learned(Statistics.count(frame, read_labels([0, 1, 1]), schema))
    >>> learned.aligned(read({"windy": ["False", 1]}, schema))["windy"].labels
    (False, True)
    """

    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics
        tables: Mapping[str, Any] = statistics.tables
        self._values = {
            block.name: _Values(_known(block, tables[block.name]), tables[block.name])
            for block in statistics.schema.counted
            if block.kind is Kind.LABELS
        }
        self._parts = {
            block.name: _parts(block, tables[block.name])
            for block in statistics.schema.counted
            if block.kind in (Kind.JOINT, Kind.PAIRS)
        }

    def aligned(self, frame: Frame, learning: bool = False) -> Frame:
        """Cast rows to the types that were learned, and warn of columns that do not fit."""
        changed: dict[str, Column] = {}
        for name, values in self._values.items():
            column: Any = frame.columns[name]
            if not values.know(column.labels):
                changed[name] = values.cast(column)
                _warn_unknown(name, values, column, changed[name], learning)
        for name in self._parts:
            if (cast := self._cast_parts(name, frame.columns[name], learning)) is not None:
                changed[name] = cast
        for name, unit in frame.other_units.items():
            self._warn_far_away(name, frame.columns[name], unit)
        return replace(frame, columns={**frame.columns, **changed}) if changed else frame

    def _cast_parts(self, name: str, column: Any, learning: bool) -> Column | None:
        """Cast columns that are counted together; None where nothing is to be cast."""
        both = list(zip(self._parts[name], column.parts, strict=True))
        if all(values.know(part.labels) for values, part in both):
            return None
        cast = [values.cast(part) for values, part in both]
        block = self.statistics.schema[name]
        if block.pairing is None:  # else its columns stand by themselves too
            for one, (values, part), new in zip(block.columns, both, cast, strict=True):
                _warn_unknown(one, values, part, new, learning)
        return replace(column, parts=tuple(cast))

    def _warn_far_away(self, name: str, column: Any, unit: str) -> None:
        """Warn of dates in a column of numbers, or the other way round, where they are far off."""
        table, block = self.statistics.tables[name], self.statistics.schema[name]
        if not isinstance(table, NumbersTable) or not len(table.cells.keys):
            return
        low, high = (float(end) for end in _ends(table))
        given = column.values[~column.missing, 0]
        far = np.abs(given - (low + high) / 2) > 1.5 * (high - low)
        if far.mean() > 0.5:
            learned = block.unit
            warn(
                f"Column {name!r} learned {learned}s from {_shown(low, learned)} to "
                f"{_shown(high, learned)}, and is given {unit}s far away, such as "
                f"{_shown(float(given[far][0]), unit)}. Dates are seconds since 1970: turn the "
                "column into what was learned.",
                DriftWarning,
            )


def in_type_of(y: Labels, classes: Sequence[Label]) -> Labels:
    """Cast classes to the type that known ones have, as far as nothing is lost.

    >>> in_type_of(Labels(np.array([0, 1, 0]), ("1", "0")), (0, 1)).labels
    (1, 0)
    """
    known = _Values(classes)
    if known.know(y.labels):
        return y
    cast = known.cast(y)
    if not any(label_key(label)[0] in known.types for label in cast.labels):
        warn(
            f"y holds {listing(y.labels, 3)}, of another type than the classes that were learned: "
            f"{listing(classes, 3)}. They are learned as classes of their own.",
            DriftWarning,
        )
    return cast


class _Values:
    """The values of one column by their keys, which tell 1 from "1" and True."""

    def __init__(self, labels: Sequence[Label], table: LabelsTable | None = None) -> None:
        self.labels, self._table = labels, table
        self._strings = frozenset(labels) if set(map(type, labels)) == {str} else None

    @cached_property
    def keys(self) -> set[Any]:
        return {label_key(label) for label in self.labels}

    @cached_property
    def types(self) -> set[int]:
        """Which types the labels have: booleans, numbers or strings."""
        return {key[0] for key in self.keys}

    def know(self, labels: Sequence[Label]) -> bool:
        """Tell whether all of some labels were learned, or nothing was."""
        if self._strings is not None:
            return self._strings.issuperset(labels)
        return not self.labels or all(label_key(label) in self.keys for label in labels)

    def cast(self, column: Labels) -> Labels:
        places: dict[Any, int] = {}
        labels = [self._cast(label) for label in column.labels]
        codes = [places.setdefault(label_key(label), len(places)) for label in labels]
        distinct = {label_key(label): label for label in labels}
        return Labels(np.array([*codes, -1], np.int32)[column.codes], tuple(distinct.values()))

    def _cast(self, label: Label) -> Label:
        if label_key(label)[0] in self.types:
            return label
        written = [other for other in _readings(label) if label_key(other)[0] in self.types]
        known = [other for other in written if label_key(other) in self.keys]
        return (known or written or [label])[0]

    @property
    def share_alone(self) -> float:
        """The share of values learned once: Good and Turing's estimate of what is still unseen."""
        if self._table is None:
            return 0.0
        rows = self._table.rows.sum(axis=0)
        return float((rows == 1).sum() / max(rows.sum(), 1))


def _known(block: Block, table: LabelsTable) -> Sequence[Label]:
    """List the values of a column that were learned, or that its type declared."""
    return sorted_labels([*table.labels, *block.values]) if block.values else table.labels


def _parts(block: Block, table: Any) -> list[_Values]:
    """List the values of each column of a block; bins of numbers have none to be cast to."""
    values = []
    for j in range(len(block.columns)):
        is_binned = block.pairing is not None and block.pairing.edges[j] is not None
        labels = table.labels[j] if block.kind is Kind.PAIRS else [k[j] for k in table.labels]
        values.append(_Values(() if is_binned else sorted_labels(labels)))
    return values


def _warn_unknown(name: str, values: _Values, given: Labels, column: Any, learning: bool) -> None:
    """Warn of a column that tells nothing, since its values were never learned."""
    never = np.array([label_key(label) not in values.keys for label in column.labels] + [False])
    n, unknown = int((column.codes >= 0).sum()), never[column.codes]
    share = float(unknown.sum() / max(n, 1))
    there = given.seen().labels
    other = there and not any(label_key(label)[0] in values.types for label in there)
    if (share == 1.0 and other) or (
        not learning and n >= FEWEST and share > (1.0 + values.share_alone) / 2
    ):
        examples = Labels(given.codes[unknown], given.labels).seen().labels
        warn(
            f"Column {name!r}: {share:.0%} of {n:,} values were never learned, such as "
            f"{listing(examples, 3)}; learned were {listing(values.labels, 3)}. "
            f"{'They are counted as new values. ' if learning else ''}"
            "Give the column in the type and spelling that was learned.",
            DriftWarning,
        )


def _readings(label: Label) -> Iterator[Label]:
    """Read a label in other types, the likeliest first."""
    if isinstance(label, bool):
        word = str(label)
        yield from (int(label), word, word.lower(), word.upper(), str(int(label)))
    elif not isinstance(label, str):
        if label in (0, 1):
            yield bool(label)
        yield str(label)
        if isinstance(label, int) and abs(label) < 2**53:
            yield str(float(label))
    elif label in BOOLEANS:
        yield BOOLEANS[label]
    elif NUMERAL.fullmatch(label):
        number = float(label)
        yield int(number) if number.is_integer() else number
        if label in ("0", "1"):
            yield label == "1"


def _ends(table: NumbersTable) -> tuple[Any, Any]:
    keys, level = table.cells.keys, table.cells.level
    lower, upper = interval_of(keys[[0, -1]], level)
    return lower[0], upper[1]


def _shown(number: float, unit: str) -> str:
    return str(np.datetime64(round(number), "s")) if unit == "date" else f"{number:.10g}"
