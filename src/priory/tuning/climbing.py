"""Hill climbing: a graph found by changing one edge at a time while its score grows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

import numpy as np

from priory.base.typing import AnyArray, BoolArray

__all__ = ["Parents", "Score", "climb"]

Parents: TypeAlias = list[frozenset[int]]
"""The parents of each node, by their numbers."""

Score: TypeAlias = Callable[[int, frozenset[int]], float]
"""How good a node is with some parents; that of a graph is the sum over its nodes."""

LEAST_GAIN = 1e-9


def climb(
    score: Score,
    start: Parents,
    required: Collection[tuple[int, int]] = (),
    forbidden: Collection[tuple[int, int]] = (),
    max_parents: int | None = None,
    patience: int = 10,
) -> Parents:
    """Add, remove and turn edges, the best change first, and return the best graph met.

    Where no change helps, up to `patience` are made that do not, never back to a graph that the
    search has been at (tabu search). Edges are pairs (parent, child).

    >>> def score(child, parents):
    ...     return {(1, frozenset({0})): 2.0, (0, frozenset({1})): 1.0}.get((child, parents), 0.0)
    >>> climb(score, [frozenset(), frozenset()])
    [frozenset(), frozenset({0})]
    """
    most = len(start) if max_parents is None else max_parents
    search = _Search(score, start, frozenset(required), _matrix(forbidden, len(start)), most)
    best, best_total, total, waited = list(start), 0.0, 0.0, 0
    while waited <= patience:
        move = search.next(only_better=patience == 0)
        if move is None:
            break
        search.make(move)
        total += move.gain
        if total > best_total + LEAST_GAIN:
            best, best_total, waited = list(search.parents), total, 0
        else:
            waited += 1
    return best


class _Move(NamedTuple):
    gain: float
    parent: int
    child: int
    is_new: bool
    is_turned: bool = False


class _Search:
    """The graph as it changes, what each change would gain, and the graphs it has been."""

    def __init__(
        self,
        score: Score,
        start: Parents,
        must: frozenset[tuple[int, int]],
        never: BoolArray,
        most: int,
    ) -> None:
        self.known: dict[tuple[int, frozenset[int]], float] = {}
        self.score, self.parents, self.must, self.most = score, list(start), must, most
        self.never = never | np.eye(len(start), dtype=np.bool_)
        self.gains = np.full((len(start), len(start)), -np.inf)
        """What each new edge would gain, parents × children."""
        self.been = {self._edges(self.parents)}
        for child in range(len(start)):
            self._look_at(child)

    def next(self, only_better: bool) -> _Move | None:
        """Find the best change that does not lead back to where the search has been."""
        leads_to = _descendants(self.parents)
        new = np.where(self.never | leads_to.T, -np.inf, self.gains)
        moves = list(self._changes(leads_to))
        gains = np.concatenate([new.T.ravel(), [move.gain for move in moves]])
        for place in np.argsort(-gains, kind="stable").tolist():
            gain = float(gains[place])
            if gain == -np.inf or (only_better and gain <= LEAST_GAIN):
                return None
            child, parent = divmod(place, len(new))
            move = _Move(gain, parent, child, True) if place < new.size else moves[place - new.size]
            if self._edges(self._after(move)) not in self.been:
                return move
        return None

    def make(self, move: _Move) -> None:
        self.parents = self._after(move)
        self.been.add(self._edges(self.parents))
        self._look_at(move.child)
        if move.is_turned:
            self._look_at(move.parent)

    def _after(self, move: _Move) -> Parents:
        parents = list(self.parents)
        parents[move.child] = parents[move.child] ^ {move.parent}  # it is new, or it goes
        if move.is_turned:
            parents[move.parent] = parents[move.parent] | {move.child}
        return parents

    def _changes(self, leads_to: BoolArray) -> list[_Move]:
        """List what removing each edge would gain, and what turning it."""
        moves = []
        for child, of in enumerate(self.parents):
            for parent in sorted(of):
                if (parent, child) in self.must:
                    continue
                gone = self._scored(child, of - {parent}) - self._scored(child, of)
                moves.append(_Move(gone, parent, child, False))
                others = [
                    middle
                    for middle, above in enumerate(self.parents)
                    if parent in above and middle != child
                ]
                if not self.never[child, parent] and not leads_to[others, child].any():
                    gain = gone + float(self.gains[child, parent])
                    moves.append(_Move(gain, parent, child, False, True))
        return moves

    def _look_at(self, child: int) -> None:
        """Work out what each further parent of a node would gain."""
        of = self.parents[child]
        self.gains[:, child] = -np.inf
        if len(of) >= self.most:
            return
        now = self._scored(child, of)
        for parent in np.flatnonzero(~self.never[:, child]).tolist():
            if parent not in of:
                self.gains[parent, child] = self._scored(child, of | {parent}) - now

    def _scored(self, child: int, of: frozenset[int]) -> float:
        if (child, of) not in self.known:
            self.known[child, of] = self.score(child, of)
        return self.known[child, of]

    def _edges(self, parents: Parents) -> frozenset[tuple[int, int]]:
        return frozenset((parent, child) for child, of in enumerate(parents) for parent in of)


def _descendants(parents: Parents) -> BoolArray:
    """Find which nodes each one leads to, nodes × nodes."""
    leads_to = _matrix([(p, child) for child, of in enumerate(parents) for p in of], len(parents))
    while True:
        further = leads_to | (leads_to.astype(np.float32) @ leads_to.astype(np.float32) > 0)
        if np.array_equal(further, leads_to):
            return leads_to
        leads_to = further


def _matrix(edges: Collection[tuple[int, int]], n: int) -> BoolArray:
    result: AnyArray = np.zeros((n, n), dtype=np.bool_)
    for parent, child in edges:
        result[parent, child] = True
    return result
