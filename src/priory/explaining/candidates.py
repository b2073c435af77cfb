"""What a row could be changed to: the values of each column, and what a change costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import SettingError, check_number, did_you_mean, listing
from priory.base.labels import label_key
from priory.base.typing import FloatArray
from priory.data.columns import Column, Frame, Labels, Numbers
from priory.data.schema import Block, Kind
from priory.families.bernoulli import Bernoulli
from priory.families.categorical import Categorical
from priory.families.histogram import Histogram
from priory.model.model import Model
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable

__all__ = ["UNUSED", "Candidates", "Rules", "candidates_of"]

Cost: TypeAlias = float | str | Callable[[Any, Any], float]

MOST_NUMBERS = 64
"""So many numbers of a column are looked at, where its factor is a curve."""

DIRECTIONS = ("up", "down")
UNUSED = "not in the model"


@dataclass(frozen=True)
class Rules:
    """Say what may be changed, and at what cost."""

    costs: Mapping[str, Cost]
    fixed: Collection[str]
    ranges: Mapping[str, tuple[Any, Any]]
    directions: Mapping[str, str]

    @classmethod
    def checked(
        cls,
        columns: Sequence[str],
        costs: Mapping[str, Cost] | None,
        fixed: Collection[str],
        ranges: Mapping[str, tuple[Any, Any]] | None,
        directions: Mapping[str, str] | None,
    ) -> Rules:
        """Check the names of columns, costs, ranges and directions."""
        if isinstance(fixed, str):
            raise SettingError(f"fixed must be a list of columns, not {fixed!r}.")
        for name, by_column in (("costs", costs), ("ranges", ranges), ("direction", directions)):
            if by_column is not None and not isinstance(by_column, Mapping):
                raise SettingError(f"{name} must be a dict by column, not {by_column!r:.60}.")
        rules = cls(costs or {}, fixed, ranges or {}, directions or {})
        for name, given in (
            *(("costs", c) for c in rules.costs),
            *(("fixed", c) for c in rules.fixed),
            *(("ranges", c) for c in rules.ranges),
            *(("direction", c) for c in rules.directions),
        ):
            if given not in columns:
                raise SettingError(
                    f"{name} has the column {given!r}, which the model has not. Columns: "
                    f"{listing(columns)}.{did_you_mean(str(given), columns)}"
                )
        for column, cost in rules.costs.items():
            if isinstance(cost, str) and cost != "steps":
                raise SettingError(
                    f"costs[{column!r}] must be a number above 0, 'steps' or a function of the old "
                    f"and the new value, not {cost!r}."
                )
            if not callable(cost) and cost != "steps":
                check_number(f"costs[{column!r}]", cost, above=0.0)
        for column, ends in rules.ranges.items():
            if not isinstance(ends, tuple | list) or len(ends) != 2:
                raise SettingError(
                    f"ranges[{column!r}] must be a pair, the least and the greatest value, None "
                    f"for no limit, not {ends!r}."
                )
        for column, way in rules.directions.items():
            if way not in DIRECTIONS:
                raise SettingError(f"direction[{column!r}] must be 'up' or 'down', not {way!r}.")
        return rules


@dataclass(frozen=True, eq=False)
class Candidates:
    """Hold the other values that one column could have, and what each costs."""

    column: str
    block: str
    now: Any
    values: tuple[Any, ...]
    costs: FloatArray
    order: tuple[Any, ...] = ()
    """The categories, where numbers are their places."""

    def told(self, value: Any) -> Any:
        """Give a value as it came: a category instead of its place."""
        return self.order[int(value)] if self.order and value is not None else value

    def coded(self, row: Column) -> Column:
        """Code the column of the row, followed by these values."""
        if isinstance(row, Numbers):
            numbers = np.array(self.values, dtype=np.float64)
            return Numbers(np.concatenate([row.values[:, 0], numbers])[:, None])
        assert isinstance(row, Labels)
        now = row.value(0)
        labels = ((now,) if now is not None else ()) + self.values
        first = 0 if now is not None else -1
        return Labels(np.arange(first, len(labels), dtype=np.int32), labels)


def candidates_of(
    model: Model, statistics: Statistics, row: Frame, rules: Rules
) -> tuple[list[Candidates], dict[str, str]]:
    """Find what each column of a row could be changed to, and why others cannot."""
    found, left = [], {}
    used = {c for term in model.terms if term.counts for c in term.block.columns}
    for block in statistics.schema:
        for column in block.columns if block.pairing is None else ():
            if column in rules.fixed:
                left[column] = "fixed"
            elif column not in used:
                left[column] = UNUSED
            elif len(block.columns) > 1 or block.kind not in (Kind.LABELS, Kind.NUMBERS):
                left[column] = "a text" if block.kind is Kind.WORDS else "one of a block of columns"
            elif block.unit != "number":
                left[column] = f"a {block.unit}"
            else:
                found.append(_of_column(model, statistics, block, row, rules))
    return found, left


def _of_column(
    model: Model, statistics: Statistics, block: Block, row: Frame, rules: Rules
) -> Candidates:
    name, table = block.columns[0], statistics.tables[block.name]
    now: Any = row[block.name].value(0)
    if isinstance(table, NumbersTable):
        is_whole = block.why.startswith("integer") or bool(
            (table.cells.values == np.floor(table.cells.values)).all()
        )
        ordered = np.unique(np.round(table.cells.values) if is_whole else table.cells.values)
        weight = table.cells.weight.sum(axis=0) if len(ordered) == len(table.cells.values) else None
        seen: list[Any] = ordered.tolist()
        order: Sequence[Any] | None = block.order or seen
        kept = _allowed(name, seen, now, order, rules)
        if len(kept) > MOST_NUMBERS:
            kept = _telling(model, block, kept, now, weight if len(kept) == len(seen) else None)
    else:
        assert isinstance(table, LabelsTable)
        order = block.order or None
        kept = _allowed(name, list(table.labels), now, order, rules)
    key = label_key(now) if now is not None else None
    values = tuple(value for value in kept if label_key(value) != key)
    costs = _costs(name, now, values, order, rules)
    places = block.order if isinstance(table, NumbersTable) else ()
    return Candidates(name, block.name, now, values, costs, places)


def _allowed(
    column: str, values: Sequence[Any], now: Any, order: Sequence[Any] | None, rules: Rules
) -> list[Any]:
    """Keep the values within the range, and in the direction, that are allowed."""
    low, high = (
        None if end is None else _rank(column, end, order)
        for end in rules.ranges.get(column, (None, None))
    )
    way = rules.directions.get(column)
    if low is None and high is None and way is None:
        return list(values)
    if low is not None and high is not None and low > high:
        raise SettingError(
            f"ranges[{column!r}] must be the least and the greatest value, in this order, not "
            f"{rules.ranges[column]!r}."
        )
    ranks = np.array([_rank(column, v, order) for v in values], dtype=np.float64)
    fits = np.ones(len(values), dtype=np.bool_)
    if low is not None:
        fits &= ranks >= low
    if high is not None:
        fits &= ranks <= high
    if way is not None and now is not None:
        here = _rank(column, now, order)
        fits &= ranks >= here if way == "up" else ranks <= here
    return [values[i] for i in np.flatnonzero(fits).tolist()]


def _rank(column: str, value: Any, order: Sequence[Any] | None) -> float:
    """Find where a value stands: a number by itself, a label in the order of its categories."""
    if isinstance(value, bool | np.bool_):
        return float(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    if order is None:
        raise SettingError(
            f"Column {column!r} has no order, so it has neither a range nor a direction nor steps. "
            "Learn it as an ordered categorical, or name the cost of each change by a function."
        )
    places = {label_key(v): i for i, v in enumerate(order)}
    if label_key(value) not in places:
        raise SettingError(
            f"{value!r} is not among the categories of column {column!r}: {listing(order)}."
        )
    return float(places[label_key(value)])


def _costs(
    column: str, now: Any, values: Sequence[Any], order: Sequence[Any] | None, rules: Rules
) -> FloatArray:
    cost = rules.costs.get(column, 1.0)
    if callable(cost):
        costs = np.array([cost(now, value) for value in values], dtype=np.float64)
        if len(costs) and not (np.isfinite(costs).all() and (costs > 0).all()):
            wrong = values[int(np.argmin(np.where(np.isfinite(costs), costs, -1.0)))]
            raise SettingError(
                f"costs[{column!r}] must give a finite number above 0 for every change, which it "
                f"does not from {now!r} to {wrong!r}."
            )
        return costs
    if cost != "steps":
        return np.full(len(values), float(cost))
    if now is None:
        return np.ones(len(values))
    known = sorted({_rank(column, v, order) for v in (*values, now)})
    place = {rank: i for i, rank in enumerate(known)}
    here = place[_rank(column, now, order)]
    return np.array([abs(place[_rank(column, v, order)] - here) for v in values], dtype=float)


def _telling(
    model: Model, block: Block, values: Sequence[float], now: Any, weight: FloatArray | None
) -> list[float]:
    """Choose numbers that stand for all of them.

    Where factors are tables of bins that is one number of each bin, the nearest to that of the row:
    exact. A curve is looked at in quantiles beside that.
    """
    x = np.array(values)
    cuts, is_curve = [], False
    for term in model.terms:
        if block.columns[0] not in term.block.columns or not term.counts:
            continue
        if isinstance(term.family, Histogram) and term.about == "value":
            cuts.append(term.parameters.cuts)
        elif term.block.pairing is not None:
            edges = term.block.pairing.edges[term.block.columns.index(block.columns[0])]
            cuts.append(np.array(edges[1:-1] if edges is not None else ()))
        elif isinstance(term.family, Categorical | Bernoulli) and term.about == "value":
            return list(values)
        elif term.about == "value":
            is_curve = True
    bins = np.searchsorted(np.unique(np.concatenate([np.zeros(0), *cuts])), x, side="left")
    from_here = np.abs(x - (np.median(x) if now is None else now))
    nearest = np.lexsort((from_here, bins))
    first = nearest[np.unique(bins[nearest], return_index=True)[1]]
    kept = set(x[first].tolist())
    if is_curve:
        own = np.ones(len(x)) if weight is None else weight
        share = np.cumsum(own) / own.sum()
        places = np.searchsorted(share, (np.arange(MOST_NUMBERS) + 0.5) / MOST_NUMBERS)
        kept |= {*x[np.minimum(places, len(x) - 1)].tolist(), float(x[0]), float(x[-1])}
    return sorted(kept)
