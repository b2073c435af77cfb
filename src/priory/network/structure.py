"""Structure from data: the best tree, the best tree beside a class, hill climbing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from priory.base.errors import InputError, SettingError, check_number
from priory.base.typing import FloatArray
from priory.families.priors import Laplace
from priory.network.counts import count_family
from priory.network.factors import BDeu, pseudo_counts
from priory.network.graph import Graph
from priory.network.scores import bic, log_evidence
from priory.network.variables import Coded, find_variable
from priory.tuning.trees import spanning_tree

__all__ = ["Scored", "chow_liu", "climb", "mutual_information", "tan"]

MOST_CELLS = 5_000_000
"""A node and its parents with more combinations than this are never considered."""

LEAST_GAIN = 1e-9

Score = Literal["bic", "mdl", "bdeu", "k2"] | BDeu


def chow_liu(coded: Coded, root: str | None = None) -> Graph:
    """Return the tree of greatest total mutual information, leading away from its root."""
    coded = _whole(coded)
    names = tuple(coded.domains)
    if root is not None:
        find_variable(root, coded.domains, "column")
    edges = spanning_tree(_information(coded, names, None), names.index(root) if root else 0)
    return Graph.of([(names[i], names[j]) for i, j in edges], names)


def tan(coded: Coded, target: str, weight: FloatArray | None = None) -> Graph:
    """Return the tree of greatest mutual information given the target, which leads to all.

    Two columns are compared by the rows that have both.
    """
    if not coded.n_rows:
        raise InputError("There are no rows to learn a structure from.")
    find_variable(target, coded.domains, "column")
    names = tuple(name for name in coded.domains if name != target)
    edges = spanning_tree(_information(coded, names, target, weight), 0) if names else []
    of_target = [(target, name) for name in names]
    return Graph.of([*of_target, *((names[i], names[j]) for i, j in edges)], tuple(coded.domains))


def _whole(coded: Coded) -> Coded:
    """Return the rows without gaps: scores of different nodes must be of the same rows."""
    if len(coded.domains) < 1:
        raise InputError("There are no columns to learn a structure from.")
    whole = coded.whole
    coded = coded if whole.all() else coded.take(whole)
    if not coded.n_rows:
        raise InputError("There are no rows without a gap to learn a structure from.")
    return coded


def mutual_information(counts: FloatArray) -> float:
    """Return I(A; B | C) of counts, in nats; the axes are C (if any), A, B.

    >>> round(mutual_information(np.array([[2.0, 0.0], [0.0, 2.0]])), 6)
    0.693147
    """
    n = counts if counts.ndim == 3 else counts[None]
    of_a, of_b = n.sum(axis=2, keepdims=True), n.sum(axis=1, keepdims=True)
    totals = of_a.sum(axis=1, keepdims=True)
    seen = n > 0
    ratio = (n * totals)[seen] / (of_a * of_b)[seen]
    return float((n[seen] * np.log(ratio)).sum() / n.sum())


def _information(
    coded: Coded, names: tuple[str, ...], given: str | None, weight: FloatArray | None = None
) -> FloatArray:
    result = np.zeros((len(names), len(names)))
    for j in range(len(names)):
        for i in range(j):
            family = (names[i], names[j]) if given is None else (given, names[i], names[j])
            counts = count_family(coded, family, weight)
            result[i, j] = result[j, i] = mutual_information(counts) if counts.any() else 0.0
    return result


class Scored:
    """Give the score of a node with some parents, each worked out once."""

    def __init__(self, coded: Coded, score: Score, weight: FloatArray | None = None) -> None:
        self.coded = _whole(coded)
        self.weight = None if weight is None else weight[coded.whole]
        self.n_rows = float(self.coded.n_rows if self.weight is None else self.weight.sum())
        self.names = tuple(self.coded.domains)
        self.score = BDeu() if score == "bdeu" else score
        if not isinstance(self.score, BDeu) and self.score not in ("bic", "mdl", "k2"):
            raise SettingError(
                f"score must be 'bic', 'mdl', 'bdeu', 'k2' or BDeu(ess), not {score!r}."
            )
        self._known: dict[tuple[str, frozenset[str]], float] = {}

    def __call__(self, name: str, parents: frozenset[str]) -> float:
        """Return the score of a node given its parents; higher is better."""
        key = (name, parents)
        if key not in self._known:
            self._known[key] = self._worked_out(name, parents)
        return self._known[key]

    def _worked_out(self, name: str, parents: frozenset[str]) -> float:
        family = (*(p for p in self.names if p in parents), name)
        if prod(len(self.coded.domains[v]) for v in family) > MOST_CELLS:
            return -np.inf
        counts = count_family(self.coded, family, self.weight)
        if self.score in ("bic", "mdl"):
            return bic(counts, self.n_rows)
        prior = self.score if isinstance(self.score, BDeu) else Laplace(1.0)
        return log_evidence(counts, pseudo_counts(prior, self.coded.domains[name], counts))


class _Move(NamedTuple):
    gain: float
    kind: Literal["add", "remove", "turn"]
    parent: str
    child: str


def climb(
    score: Scored,
    start: Iterable[tuple[str, str]],
    required: Iterable[tuple[str, str]],
    forbidden: Iterable[tuple[str, str]],
    max_parents: int | None,
    patience: int,
) -> Graph:
    """Return the best graph found by changing one edge at a time."""
    if max_parents is not None:
        check_number("max_parents", max_parents)
    check_number("patience", patience)
    must, never = _edges(required, score, "required"), _edges(forbidden, score, "forbidden")
    if must & never:
        raise SettingError(f"The edge {min(must & never)!r} is both required and forbidden.")
    first = Graph.of([*dict.fromkeys([*_edges(start, score, "start"), *must])], score.names)
    search = _Search(
        score, first, must, never, len(score.names) if max_parents is None else max_parents
    )
    return search.run(int(patience))


def _edges(edges: Iterable[tuple[str, str]], score: Scored, what: str) -> set[tuple[str, str]]:
    # Edges in a circle may well be forbidden; they cannot be required, nor be started from.
    pairs = [(one, two) for one, two in edges]
    found = set(pairs if what == "forbidden" else Graph.of(pairs).edges)
    for edge in found:
        for name in edge:
            find_variable(name, score.coded.domains, "column")
    return found


class _Search:
    """Hold the graph as it changes, and the structures it has been."""

    def __init__(
        self,
        score: Scored,
        first: Graph,
        must: set[tuple[str, str]],
        never: set[tuple[str, str]],
        most_parents: int,
    ) -> None:
        self.score, self.must, self.never, self.most = score, must, never, most_parents
        self.parents = {name: frozenset(of) for name, of in first.parents.items()}
        self.total = sum(score(name, of) for name, of in self.parents.items())

    def run(self, patience: int) -> Graph:
        best, best_total = dict(self.parents), self.total
        been, waited = {self._structure(self.parents)}, 0
        while waited <= patience:
            move = self._next(been, only_better=patience == 0)
            if move is None:
                break
            self.parents |= self._changed(move)
            self.total += move.gain
            been.add(self._structure(self.parents))
            if self.total > best_total + LEAST_GAIN:
                best, best_total, waited = dict(self.parents), self.total, 0
            else:
                waited += 1
        edges = [
            (p, name) for name in self.score.names for p in self.score.names if p in best[name]
        ]
        return Graph.of(edges, self.score.names)

    def _next(self, been: set[frozenset[tuple[str, str]]], only_better: bool) -> _Move | None:
        """Return the best change that does not lead back to where the search has been."""
        for move in sorted(self._moves(), key=lambda m: -m.gain):
            if only_better and move.gain <= LEAST_GAIN:
                return None
            if self._structure({**self.parents, **self._changed(move)}) not in been:
                return move
        return None

    def _moves(self) -> Iterator[_Move]:
        score, below = self.score, self._descendants()
        for child in score.names:
            of = self.parents[child]
            now = score(child, of)
            for parent in score.names:
                edge, back = (parent, child), (child, parent)
                if parent == child:
                    continue
                if parent not in of:
                    fits = len(of) < self.most and parent not in below[child]
                    if fits and edge not in self.never:
                        yield _Move(score(child, of | {parent}) - now, "add", parent, child)
                elif edge not in self.must:
                    without = score(child, of - {parent}) - now
                    yield _Move(without, "remove", parent, child)
                    others = any(
                        child in below[middle] or middle == child
                        for middle in score.names
                        if parent in self.parents[middle] and middle != child
                    )
                    above = self.parents[parent]
                    if not others and back not in self.never and len(above) < self.most:
                        turned = score(parent, above | {child}) - score(parent, above)
                        yield _Move(without + turned, "turn", parent, child)

    def _changed(self, move: _Move) -> dict[str, frozenset[str]]:
        of = self.parents[move.child]
        if move.kind == "add":
            return {move.child: of | {move.parent}}
        changed = {move.child: of - {move.parent}}
        if move.kind == "turn":
            changed[move.parent] = self.parents[move.parent] | {move.child}
        return changed

    def _descendants(self) -> dict[str, set[str]]:
        """Return what each node leads to."""
        graph = Graph({name: tuple(of) for name, of in self.parents.items()})
        below: dict[str, set[str]] = {}
        for name in reversed(graph.order):
            below[name] = set(graph.children[name])
            for child in graph.children[name]:
                below[name] |= below[child]
        return below

    def _structure(self, parents: dict[str, frozenset[str]]) -> frozenset[tuple[str, str]]:
        return frozenset((p, name) for name, of in parents.items() for p in of)
