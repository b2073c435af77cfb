"""Structure from data: the best tree, the best tree beside a class, hill climbing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import prod
from typing import Literal

import numpy as np

from priory.base.errors import InputError, SettingError, check_number
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.families.priors import Laplace
from priory.network.counts import count_family
from priory.network.factors import BDeu, log_evidence, pseudo_counts
from priory.network.variables import Coded, find_variable
from priory.statistics.information import beyond_chance, bic, mutual_information
from priory.tuning.climbing import LEAST_GAIN, Parents, climb
from priory.tuning.trees import spanning_tree, worthy_edges

__all__ = ["Edges", "FamilyScore", "Score", "chow_liu", "hill_climbing", "pairwise_tree", "tan"]

MOST_CONSIDERED = 5_000_000
"""A node and its parents with more combinations than this are never considered."""

Score = Literal["bic", "mdl", "bdeu", "k2"] | BDeu
Edges = Iterable[tuple[str, str]]


def chow_liu(coded: Coded, root: str | None = None) -> Graph:
    """Find the tree of greatest total mutual information, leading away from its root."""
    coded = _complete(coded)
    if root is not None:
        find_variable(root, coded.domains, "column")
    return pairwise_tree(coded, root)


def pairwise_tree(coded: Coded, root: str | None = None) -> Graph:
    """Find the same tree, each two columns compared by the rows that have both."""
    names = tuple(coded.domains)
    edges = spanning_tree(_information(coded, names, None), names.index(root) if root else 0)
    return Graph.of([(names[i], names[j]) for i, j in edges], names)


def tan(coded: Coded, target: str) -> Graph:
    """Find the tree of greatest mutual information given the target, the parent of all.

    Two columns are compared by the rows that have both, and joined only if they share more
    information than chance explains, as with `Settings(structure="tan")`.
    """
    if not coded.n_rows:
        raise InputError("There are no rows to learn a structure from.")
    find_variable(target, coded.domains, "column")
    names = tuple(name for name in coded.domains if name != target)
    told = _information(coded, names, target) if names else np.zeros((0, 0))
    sizes = [len(coded.domains[name]) for name in names]
    n_classes = len(np.unique(coded.codes[target]))
    edges = worthy_edges(beyond_chance(told, sizes, n_classes)) if names else []
    of_target = [(target, name) for name in names]
    return Graph.of([*of_target, *((names[i], names[j]) for i, j in edges)], tuple(coded.domains))


def hill_climbing(
    score: FamilyScore,
    start: Edges,
    required: Edges,
    forbidden: Edges,
    max_parents: int | None,
    patience: int,
    restarts: int = 0,
    random_state: int = 0,
) -> Graph:
    """Find the best graph by changing one edge at a time, then again from others as good.

    Another start is a graph that says the same, found by turning covered edges (Chickering 1995),
    with a few edges taken away, or turned; the search ends when so many `restarts` in a row found
    nothing better.
    """
    check_number("restarts", restarts)
    if max_parents is not None:
        check_number("max_parents", max_parents)
    check_number("patience", patience)
    must, never = _edges(required, score, "required"), _edges(forbidden, score, "forbidden")
    if must & never:
        raise SettingError(f"The edge {min(must & never)!r} is both required and forbidden.")
    first = Graph.of([*dict.fromkeys([*_edges(start, score, "start"), *must])], score.names)
    place = {name: i for i, name in enumerate(score.names)}
    required_, forbidden_ = ({(place[a], place[b]) for a, b in edges} for edges in (must, never))

    @cache
    def of_node(child: int, of: frozenset[int]) -> float:
        return score(score.names[child], frozenset(score.names[p] for p in of))

    def from_(graph: Parents) -> tuple[Parents, float]:
        best = climb(of_node, graph, required_, forbidden_, max_parents, int(patience))
        return best, sum(of_node(child, of) for child, of in enumerate(best))

    found, total = from_([frozenset(place[p] for p in first.parents[name]) for name in score.names])
    rng = np.random.default_rng(random_state)
    failed = 0
    while failed < restarts:
        other, other_total = from_(_another(found, required_, forbidden_, max_parents, rng, failed))
        failed += 1
        if other_total > total + LEAST_GAIN:
            found, total, failed = other, other_total, 0
    edges = [
        (score.names[p], name)
        for name, of in zip(score.names, found, strict=True)
        for p in sorted(of)
    ]
    return Graph.of(edges, score.names)


def _another(
    graph: Parents,
    must: set[tuple[int, int]],
    never: set[tuple[int, int]],
    most: int | None,
    rng: np.random.Generator,
    turn: int,
) -> Parents:
    """Walk to a graph that says the same, then in turn take edges of it away, or turn them."""
    parents = list(graph)
    for _ in range(3 * sum(map(len, parents))):
        covered = [
            (p, child)
            for child, of in enumerate(parents)
            for p in of
            if of - {p} == parents[p] and (p, child) not in must and (child, p) not in never
            if most is None or len(parents[p]) < most
        ]
        if not covered:
            break
        p, child = covered[int(rng.integers(len(covered)))]
        parents[child], parents[p] = parents[child] - {p}, parents[p] | {child}
    edges = [(p, c) for c, of in enumerate(parents) for p in sorted(of) if (p, c) not in must]
    some = int(rng.integers(2, 12)) if turn % 2 else 3 * (turn // 2 % 6)
    for i in rng.permutation(len(edges))[:some].tolist():
        p, child = edges[i]
        parents[child] = parents[child] - {p}
        full = most is not None and len(parents[p]) >= most
        if turn % 2 and not full and (child, p) not in never and not _leads(p, child, parents):
            parents[p] = parents[p] | {child}
    return parents


def _leads(start: int, end: int, parents: Parents) -> bool:
    """Tell whether a path leads from one node to another."""
    waiting, seen = [end], set[int]()
    while waiting:
        node = waiting.pop()
        if node == start:
            return True
        if node not in seen:
            seen.add(node)
            waiting.extend(parents[node])
    return False


class FamilyScore:
    """Score a node with its parents by the complete rows: higher is better."""

    def __init__(self, coded: Coded, score: Score, weight: FloatArray | None = None) -> None:
        self.coded = _complete(coded)
        self.weight = None if weight is None else weight[coded.complete]
        self.n_rows = float(self.coded.n_rows if self.weight is None else self.weight.sum())
        self.names = tuple(self.coded.domains)
        self.score = BDeu() if score == "bdeu" else score
        if not isinstance(self.score, BDeu) and self.score not in ("bic", "mdl", "k2"):
            raise SettingError(
                f"score must be 'bic', 'mdl', 'bdeu', 'k2' or BDeu(ess), not {score!r}."
            )

    def __call__(self, name: str, parents: frozenset[str]) -> float:
        """Score a node given its parents; higher is better."""
        family = (*(p for p in self.names if p in parents), name)
        if prod(len(self.coded.domains[v]) for v in family) > MOST_CONSIDERED:
            return -np.inf
        counts = count_family(self.coded, family, self.weight)
        if self.score in ("bic", "mdl"):
            return bic(counts, self.n_rows)
        prior = self.score if isinstance(self.score, BDeu) else Laplace(1.0)
        return log_evidence(counts, pseudo_counts(prior, self.coded.domains[name], counts))


def _complete(coded: Coded) -> Coded:
    """Keep the complete rows: scores of different nodes must be of the same rows."""
    if not coded.domains:
        raise InputError("There are no columns to learn a structure from.")
    coded = coded.take(coded.complete)
    if not coded.n_rows:
        raise InputError("There are no rows without missing values to learn a structure from.")
    return coded


def _information(coded: Coded, names: tuple[str, ...], given: str | None) -> FloatArray:
    """Compute n · I of all pairs of columns, by the rows that have both."""
    result = np.zeros((len(names), len(names)))
    for j in range(len(names)):
        for i in range(j):
            family = (names[i], names[j]) if given is None else (given, names[i], names[j])
            counts = count_family(coded, family, None)
            result[i, j] = result[j, i] = counts.sum() * mutual_information(counts)
    return result


def _edges(edges: Edges, score: FamilyScore, what: str) -> set[tuple[str, str]]:
    # Edges in a cycle may well be forbidden, but not be required nor started from.
    pairs = [(one, two) for one, two in edges]
    found = set(pairs if what == "forbidden" else Graph.of(pairs).edges)
    for edge in found:
        for name in edge:
            find_variable(name, score.coded.domains, "column")
    return found
