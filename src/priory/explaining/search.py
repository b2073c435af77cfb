"""The cheapest set of changes: by sorting, by a knapsack, or by branch and bound.

Columns may be changed to some values, each at a cost. A change adds to the margins by which a class
leads its rivals; two changes together may add something more. What is looked for are the cheapest
changes with which the margins reach a goal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from priory.base.typing import BoolArray, FloatArray, IntArray

__all__ = ["Found", "Goal", "Problem", "by_knapsack", "by_search", "by_sorting", "solve"]

Goal = Callable[[FloatArray], BoolArray]
"""Says of margins, … × rivals, whether they are enough; larger margins are never worse."""

LEAST = 1e-9
"""Costs that differ by less are the same."""

ENOUGH = 5.0
"""A margin beyond this, odds of 150 to 1, is not worth more to the greedy start."""

MOST_UNITS = 100_000
"""So many units of cost a knapsack has at most."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Hold margins before any change, and what changes add to them, rivals in the last axis."""

    margins: FloatArray
    goal: Goal
    gains: Sequence[FloatArray]
    """Of each column: values × rivals."""
    costs: Sequence[FloatArray]
    """Of each column: values, all above 0."""
    pairs: Mapping[tuple[int, int], FloatArray]
    """What two changes add beside their own gains: values of i × values of j × rivals, i < j."""

    @property
    def is_separable(self) -> bool:
        """Whether changes add up."""
        return not self.pairs

    def total(self, chosen: Sequence[tuple[int, int]]) -> FloatArray:
        """Add some changes, each a column and the place of its value, to the margins."""
        total = self.margins.copy()
        for i, a in chosen:
            total += self.gains[i][a]
        for (i, j), extra in self.pairs.items():
            places = dict(chosen)
            if i in places and j in places:
                total += extra[places[i], places[j]]
        return total


@dataclass(frozen=True)
class Found:
    """Hold the cheapest changes found, each a column and the place of its value."""

    changes: tuple[tuple[int, int], ...] | None
    """None where no changes are enough."""
    cost: float
    is_proved: bool
    how: str


def solve(problem: Problem, seconds: float, most: float = np.inf) -> Found:
    """Find the cheapest changes, by the fastest way that is exact for the problem.

    Only those cheaper than `most` are looked for.
    """
    if problem.goal(problem.margins[None])[0]:
        return Found((), 0.0, True, "nothing")
    single = problem.is_separable and problem.margins.shape == (1,)
    if single:
        costs = np.concatenate([np.zeros(0), *problem.costs])
        if len(costs) and (costs == costs[0]).all():
            return by_sorting(problem)
        if (costs == np.floor(costs)).all():
            found = by_knapsack(problem)
            if found is not None:
                return found
    return by_search(problem, seconds, most)


def by_sorting(problem: Problem) -> Found:
    """Take the largest gains, one after the other: with equal costs nothing is cheaper."""
    best = [int(np.argmax(gains[:, 0])) if len(gains) else -1 for gains in problem.gains]
    size = [problem.gains[j][v, 0] if v >= 0 else -np.inf for j, v in enumerate(best)]
    order = [j for j in np.argsort(-np.array(size), kind="stable").tolist() if size[j] > 0]
    margin = problem.margins.copy()
    chosen: list[tuple[int, int]] = []
    for j in order:
        margin = margin + problem.gains[j][best[j]]
        chosen.append((j, best[j]))
        if problem.goal(margin[None])[0]:
            cost = sum(float(problem.costs[j][v]) for j, v in chosen)
            return Found(tuple(chosen), cost, True, "sorted gains")
    return Found(None, np.inf, True, "sorted gains")


def by_knapsack(problem: Problem) -> Found | None:
    """Find the largest gain at every total cost, whole numbers all; None if they are too many.

    gain(c) = max over values v of the next column of gain(c − cost(v)) + gain of v
    """
    most = int(sum(costs.max(initial=0.0) for costs in problem.costs))
    if most > MOST_UNITS:
        return None
    gain = np.full(most + 1, -np.inf)
    gain[0] = 0.0
    taken: list[IntArray] = []
    for gains, costs in zip(problem.gains, problem.costs, strict=True):
        best, which = gain.copy(), np.full(most + 1, -1)
        for v, cost in enumerate(costs.astype(np.int64).tolist()):
            moved = np.full(most + 1, -np.inf)
            moved[cost:] = gain[: most + 1 - cost] + gains[v, 0]
            better = moved > best
            best[better], which[better] = moved[better], v
        gain = best
        taken.append(which)
    enough = problem.goal(problem.margins + gain[:, None]) & np.isfinite(gain)
    if not enough.any():
        return Found(None, np.inf, True, "knapsack")
    cost = left = int(np.argmax(enough))
    chosen = []
    for j in range(len(taken) - 1, -1, -1):
        v = int(taken[j][left])
        if v >= 0:
            chosen.append((j, v))
            left -= int(problem.costs[j][v])
    return Found(tuple(chosen[::-1]), float(cost), True, "knapsack")


def by_search(problem: Problem, seconds: float, most: float = np.inf) -> Found:
    """Try sets of changes by branch and bound; what the time does not suffice for is not proved."""
    return _Search(problem, seconds, most).run()


class _Search:
    """Go through sets of changes, column by column, and leave out those that cannot be better."""

    def __init__(self, problem: Problem, seconds: float, most: float) -> None:
        # Columns that gain most come first: then a good answer is found soon.
        strength = [-float(g.max(initial=-np.inf)) if len(g) else np.inf for g in problem.gains]
        self.order = [
            j for j in np.argsort(strength, kind="stable").tolist() if len(problem.gains[j])
        ]
        self.problem, self.goal = problem, problem.goal
        place = {j: i for i, j in enumerate(self.order)}
        gains = [problem.gains[j] for j in self.order]
        sizes = [len(g) for g in gains]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        R = len(problem.margins)
        self.gains = np.concatenate([np.zeros((0, R)), *gains])
        self.costs = np.concatenate([np.zeros(0), *(problem.costs[j] for j in self.order)])
        self.column = np.repeat(np.arange(len(gains)), sizes)
        d = len(gains)
        least = [problem.costs[j].min() for j in self.order]
        self.least_after = np.array([min(least[c + 1 :], default=np.inf) for c in range(d)])
        self.extra: list[dict[int, FloatArray]] = [{} for _ in range(d)]
        self.most_extra = np.zeros((d, d, R))
        for (i, j), table in problem.pairs.items():
            if i in place and j in place:
                a, b = place[i], place[j]
                self.extra[a][b], self.extra[b][a] = table, table.transpose(1, 0, 2)
                largest = np.maximum(table.max(axis=(0, 1)), 0.0)
                self.most_extra[a, b] = self.most_extra[b, a] = largest
        # Of two changes that are still to come each is given half of what they may add together.
        self.half_extra = self.most_extra.sum(axis=1) / 2
        self.best, self.changes = most, None
        self.deadline, self.in_time = monotonic() + seconds, True

    changes: tuple[tuple[int, int], ...] | None

    def run(self) -> Found:
        self._greedy()
        self._visit(0, self.problem.margins, 0.0, self.gains, ())
        how = "branch and bound"
        if self.changes is None:
            return Found(None, np.inf, self.in_time, how)
        chosen = tuple((self.order[c], v - int(self.starts[c])) for c, v in sorted(self.changes))
        return Found(chosen, self.best, self.in_time, how)

    def _greedy(self) -> None:
        """Take the change that brings the margins furthest for its cost, until they are enough."""
        margins, gains, cost = self.problem.margins, self.gains, 0.0
        chosen: tuple[tuple[int, int], ...] = ()
        free = np.ones(len(gains), dtype=np.bool_)
        while free.any():
            # What is short of the goal counts; a margin that is there already needs no more.
            after = margins + gains
            short = np.minimum(after, ENOUGH).sum(axis=1) - np.minimum(margins, ENOUGH).sum()
            worth = np.where(free, short / self.costs, -np.inf)
            v = int(np.argmax(worth))
            if worth[v] <= 0:
                return
            c = int(self.column[v])
            margins, cost, chosen = margins + gains[v], cost + self.costs[v], (*chosen, (c, v))
            gains = self._after(gains, c, v)
            free &= self.column != c
            if cost >= self.best - LEAST:
                return
            if self.goal(margins[None])[0]:
                self.best, self.changes = cost, chosen
                return

    def _after(self, gains: FloatArray, c: int, v: int) -> FloatArray:
        """Give the gains of all changes once one has been made."""
        if not self.extra[c]:
            return gains
        gains = gains.copy()
        place = v - int(self.starts[c])
        for other, table in self.extra[c].items():
            gains[self.starts[other] : self.starts[other + 1]] += table[place]
        return gains

    def _visit(
        self,
        first: int,
        margins: FloatArray,
        cost: float,
        gains: FloatArray,
        chosen: tuple[tuple[int, int], ...],
    ) -> None:
        """Look for one more change among the columns from `first` on, then for several."""
        start = int(self.starts[first]) if first < len(self.starts) else len(gains)
        costs = cost + self.costs[start:]
        some = np.flatnonzero(costs < self.best - LEAST)
        if not len(some):
            return
        if monotonic() > self.deadline:
            self.in_time = False
            return
        after = margins + gains[start:][some]
        enough = self.goal(after)
        if enough.any():
            hit = np.flatnonzero(enough)
            cheapest = hit[costs[some[hit]] <= costs[some[hit]].min() + LEAST]
            at = cheapest[int(np.argmax(after[cheapest].min(axis=1)))]
            v = start + int(some[at])
            self.best, self.changes = float(costs[some[at]]), (*chosen, (int(self.column[v]), v))
        columns = self.column[start:][some]
        deeper = costs[some] + self.least_after[columns] < self.best - LEAST
        if not deeper.any():
            return
        promising = np.zeros(len(some), dtype=np.bool_)
        largest = np.maximum.reduceat(gains, self.starts[:-1], axis=0)
        for c in np.unique(columns[deeper]).tolist():
            here = np.flatnonzero(deeper & (columns == c))
            hope = largest[c + 1 :] + self.most_extra[c, c + 1 :] + self.half_extra[c + 1 :]
            hope = np.sort(np.maximum(hope, 0.0), axis=0)[::-1].cumsum(axis=0)
            room = (self.best - LEAST - costs[some[here]]) / self.least_after[c]
            # n more changes cost less than what is left where n < room.
            steps = np.clip(np.ceil(np.minimum(room, len(hope) + 1)) - 1, 1, len(hope))
            steps = steps.astype(np.int64)
            promising[here] = self.goal(after[here] + hope[steps - 1])
        order = np.flatnonzero(promising)
        order = order[np.lexsort((-after[order].min(axis=1), costs[some[order]]))]
        for at in order.tolist():
            c, v = int(columns[at]), start + int(some[at])
            if costs[some[at]] + self.least_after[c] >= self.best - LEAST:
                continue
            self._visit(
                c + 1,
                after[at],
                float(costs[some[at]]),
                self._after(gains, c, v),
                (*chosen, (c, v)),
            )
            if not self.in_time:
                return
