"""What if: the cheapest changes of a row that lead to another prediction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import inf, log
from time import monotonic
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError, check_number
from priory.base.formatting import aligned, shown
from priory.base.html import html_table, html_together
from priory.base.typing import BoolArray, FloatArray, Label
from priory.data.columns import Frame
from priory.explaining.candidates import Cost, Rules, candidates_of
from priory.explaining.changes import Changes
from priory.explaining.search import LEAST, Found, Goal, Problem, solve
from priory.model.model import Model
from priory.model.row_explanation import class_place
from priory.statistics.statistics import Statistics

__all__ = ["Change", "WhatIf", "what_if"]

SLACK = 1e-9
"""A class must lead by more than this: a tie is no lead."""

MOST_TRIED = 200_000
"""So many rows are tried where terms of three columns and more leave nothing but trying."""

BATCH = 4096


@dataclass(frozen=True)
class Change:
    """One change of a row: a column, its value and the one it would need."""

    column: str
    old: Any
    new: Any
    cost: float


@dataclass(frozen=True, eq=False, repr=False)
class WhatIf:
    """The cheapest changes of a row that change its prediction; print it to see them.

    `changes` are None where no allowed changes are enough. `is_proved` says that nothing cheaper
    would do among the values looked at: those that were learned, of a column of many numbers one of
    each bin, or quantiles. Numbers go no further than they must.

    >>> from priory import NaiveBayes
    >>> from priory.examples import play_tennis
    >>> X, y = play_tennis()
    >>> model = NaiveBayes.textbook().fit(X, y)
    >>> day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
    >>> print(model.what_if(day))
    column   from   to
    outlook  Sunny  Overcast
    P(No) = 0.720 becomes P(Yes) = 0.722, at a cost of 1. Nothing costs less (sorted gains).
    """

    prediction: Label
    probability: float
    """Of the class that is predicted now."""
    changes: tuple[Change, ...] | None
    becomes: Label | None
    """The class that is predicted after the changes."""
    new_probability: float | None
    cost: float
    is_proved: bool
    how: str
    """How it was found: "sorted gains", "knapsack", "branch and bound" or "trying"."""
    left: Mapping[str, str]
    """Columns that were not changed whatever they say, and why."""

    def __repr__(self) -> str:
        if self.changes is None:
            return f"<WhatIf: {self.prediction} stays>"
        return f"<WhatIf: {self.prediction} becomes {self.becomes}, {len(self.changes)} changes>"

    def __str__(self) -> str:
        table = aligned([("column", "from", "to"), *self._rows()]) if self.changes else ""
        return "\n".join(filter(None, [table, self._sentence()]))

    def _repr_html_(self) -> str:
        remarks = [self._sentence()]
        if not self.changes:
            return html_together(remarks=remarks)
        table = html_table(("column", "from", "to"), self._rows(), words=(0, 1, 2))
        return html_together(table, remarks=remarks)

    def _rows(self) -> list[tuple[str, str, str]]:
        changes = self.changes or ()
        return [(c.column, shown(c.old), shown(c.new)) for c in changes]

    def _sentence(self) -> str:
        now = f"P({shown(self.prediction)}) = {self.probability:.3f}"
        if self.changes is None:
            sure = (
                "No allowed changes are enough" if self.is_proved else "Nothing was found in time"
            )
            return f"{now} stays. {sure} ({self.how})."
        if not self.changes:
            return f"{now}: nothing needs to change."
        after = f"P({shown(self.becomes)}) = {self.new_probability:.3f}"
        sure = "Nothing costs less" if self.is_proved else "Something may cost less"
        return f"{now} becomes {after}, at a cost of {self.cost:g}. {sure} ({self.how})."

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        return {
            "prediction": self.prediction,
            "probability": self.probability,
            "changes": None
            if self.changes is None
            else [
                {"column": c.column, "from": c.old, "to": c.new, "cost": c.cost}
                for c in self.changes
            ],
            "becomes": self.becomes,
            "new_probability": self.new_probability,
            "cost": None if self.changes is None else self.cost,
            "is_proved": self.is_proved,
            "how": self.how,
            "not_changed": dict(self.left),
        }


def what_if(
    model: Model,
    statistics: Statistics,
    row: Frame,
    target: Any = None,
    probability: float | None = None,
    costs: Mapping[str, Cost] | None = None,
    fixed: Collection[str] = (),
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
    direction: Mapping[str, str] | None = None,
    seconds: float = 2.0,
) -> WhatIf:
    """Find the cheapest changes of one row that change its prediction."""
    if len(row) != 1:
        raise InputError(f"what_if takes one row, not {len(row):,}.")
    check_number("seconds", seconds, above=0.0)
    rules = Rules.checked(statistics.schema.columns, costs, fixed, ranges, direction)
    columns, left = candidates_of(model, statistics, row, rules)
    changes = Changes(model, statistics, row, columns)
    before = model.posterior(row)[0]
    here = int(model.predict(row)[0])
    aims = _aims(model, here, target, probability)
    found = _tried(changes, aims, seconds) if changes.has_zeros else None
    if found is None:
        found = _cheapest(changes, aims, seconds)
    told = (model.classes[here], float(before[here]))
    if found.changes is None:
        return WhatIf(*told, None, None, None, inf, found.is_proved, found.how, left)
    nearest = _nearest(changes, aims, found.changes)
    frame = changes.frame([nearest])
    after, there = model.posterior(frame)[0], int(model.predict(frame)[0])
    made = tuple(
        Change(of.column, of.told(of.now), of.told(of.values[v]), float(of.costs[v]))
        for of, v in ((columns[c], v) for c, v in nearest)
    )
    p = float(after[there])
    return WhatIf(
        *told,
        made,
        model.classes[there],
        p,
        _cost(changes, nearest),
        found.is_proved,
        found.how,
        left,
    )


@dataclass(frozen=True)
class _Aim:
    """A class that is to lead some rivals, by so much that its probability is as wanted."""

    target: int
    rivals: tuple[int, ...]
    probability: float | None

    def margins(self, scores: FloatArray) -> FloatArray:
        """Take the margins by which the target leads, rivals last."""
        return scores[..., self.target, None] - scores[..., list(self.rivals)]

    @property
    def goal(self) -> Goal:
        """Say whether margins are enough."""
        if self.probability is None:
            return lambda margins: np.asarray((margins > SLACK).all(axis=-1))
        # P ≥ p where Σ e^−margin ≤ (1 − p) / p.
        bound = log((1.0 - self.probability) / self.probability)

        def enough(margins: FloatArray) -> BoolArray:
            return np.asarray(np.logaddexp.reduce(-margins, axis=-1) <= bound + 1e-12)

        return enough

    def is_met(self, scores: FloatArray) -> BoolArray:
        """Say whether scores, rows × classes, are as wanted; an impossible row is not."""
        possible = np.isfinite(scores[:, self.target])
        clipped = np.maximum(scores, -1e300)
        return possible & self.goal(self.margins(np.where(possible[:, None], clipped, 0.0)))


def _aims(model: Model, here: int, target: Any, probability: float | None) -> list[_Aim]:
    """List what would do: any of some classes that leads, or one that has a probability."""
    classes = range(len(model.classes))
    if len(classes) < 2:
        raise SettingError("The model has one class only, so no change leads to another.")
    if probability is not None:
        check_number("probability", probability, above=0.0)
        if probability >= 1:
            raise SettingError(f"probability must be below 1, not {probability!r}.")
        if target is None and len(classes) > 2:
            raise SettingError("probability needs a target: the class that it is wanted of.")
    if target is None and probability is None:  # to leave a class, any other may lead it
        return [_Aim(k, (here,), None) for k in classes if k != here]
    k = 1 - here if target is None else class_place(model.classes, target, "target")
    return [_Aim(k, tuple(r for r in classes if r != k), probability)]


def _cheapest(changes: Changes, aims: Sequence[_Aim], seconds: float) -> Found:
    """Find the cheapest changes for any of some aims, from the tables of what changes add."""
    best, lead = Found(None, inf, True, ""), -inf
    deadline, proved = monotonic() + seconds, True
    for aim in aims:
        problem = _problem(changes, aim)
        # Of equal costs that one is taken which leads by most.
        found = solve(problem, max(deadline - monotonic(), 1e-3), best.cost + 2 * LEAST)
        proved &= found.is_proved
        by = -inf if found.changes is None else float(problem.total(found.changes).min())
        is_equal = found.cost <= best.cost + LEAST and by > lead
        if not best.how or found.cost < best.cost - LEAST or is_equal:
            best, lead = found, by
    return replace(best, is_proved=proved)


def _problem(changes: Changes, aim: _Aim) -> Problem:
    """Turn scores of classes into margins over rivals, and leave out values that others surpass."""
    gains = [aim.margins(scores) for scores in changes.alone]
    pairs = {}
    for pair, scores in changes.together.items():
        more = aim.margins(scores)
        if (np.abs(more) > 1e-12).any():
            pairs[pair] = more
    costs = [column.costs for column in changes.columns]
    return Problem(aim.margins(changes.scores), aim.goal, gains, costs, pairs)


def _tried(changes: Changes, aims: Sequence[_Aim], seconds: float) -> Found:
    """Try rows with one change, two changes, …, until none can be cheaper, or it takes too long."""
    best, best_changes, tried = inf, None, 0
    deadline = monotonic() + seconds
    least = min((float(c.costs.min()) for c in changes.columns if c.values), default=inf)
    for n in range(len(changes.columns) + 1):
        if n * least >= best - LEAST:
            break
        for batch in _batches(changes, n):
            costs = np.array([_cost(changes, some) for some in batch])
            batch = [batch[i] for i in np.flatnonzero(costs < best - LEAST).tolist()]
            if not batch:
                continue
            if tried and (monotonic() > deadline or tried + len(batch) > MOST_TRIED):
                return Found(best_changes, best, False, "trying")
            tried += len(batch)
            scores = changes.model.log_joint(changes.frame(batch))
            met = np.any([aim.is_met(scores) for aim in aims], axis=0)
            for i in np.flatnonzero(met).tolist():
                if (cost := _cost(changes, batch[i])) < best - LEAST:
                    best, best_changes = cost, tuple(batch[i])
    return Found(best_changes, best, True, "trying")


def _nearest(
    changes: Changes, aims: Sequence[_Aim], found: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    """Move numbers no further than is needed, at the same cost."""
    chosen = dict(found)
    for c, v in found:
        column = changes.columns[c]
        if not isinstance(column.now, float):
            continue
        away = np.abs(np.array(column.values, dtype=np.float64) - column.now)
        closer = np.flatnonzero((away < away[v]) & (column.costs <= column.costs[v] + LEAST))
        closer = closer[np.argsort(away[closer], kind="stable")]
        if len(closer):
            rows = changes.frame([[*{**chosen, c: w}.items()] for w in closer.tolist()])
            scores = changes.model.log_joint(rows)
            met = np.any([aim.is_met(scores) for aim in aims], axis=0)
            if met.any():
                chosen[c] = int(closer[int(np.argmax(met))])
    return tuple(chosen.items())


def _cost(changes: Changes, some: Sequence[tuple[int, int]]) -> float:
    return float(sum(changes.columns[c].costs[v] for c, v in some))


def _batches(changes: Changes, n: int) -> Iterator[list[list[tuple[int, int]]]]:
    """List all sets of n changes, some at a time."""
    batch: list[list[tuple[int, int]]] = []
    for which in combinations(range(len(changes.columns)), n):
        for values in product(*(range(len(changes.columns[c].values)) for c in which)):
            batch.append(list(zip(which, values, strict=True)))
            if len(batch) == BATCH:
                yield batch
                batch = []
    if batch:
        yield batch
