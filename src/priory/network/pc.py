"""Structure by tests of independence: the PC algorithm (Spirtes, Glymour and Scheines 2000).

    1. Begin with every two nodes joined. Take an edge away where its nodes are independent given
       some of their neighbours: none of them, then one, then two, … The neighbours are those at the
       beginning of each round, so that the order of the columns does not matter (Colombo and
       Maathuis 2014).
    2. Where a – c – b are joined and a, b are not, and c was not among what made a and b
       independent, both edges lead into c.
    3. Direct what follows: no more such colliders, no cycles (Meek 1995).

Edges that the tests leave open are directed so that nothing new follows (Dor and Tarsi 1992).
"""

from __future__ import annotations

from itertools import combinations, permutations

from priory.base.errors import InputError, SettingError
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.network.counts import count_family
from priory.network.independence import table_test
from priory.network.variables import Coded

__all__ = ["pc"]

ROWS_PER_DEGREE = 5.0
"""A test with fewer rows for each degree of freedom says nothing: it keeps the edge."""

Pair = frozenset[str]


def pc(coded: Coded, level: float, max_given: int) -> Graph:
    """Find a graph whose separations are those that the tests found."""
    if not coded.domains:
        raise InputError("There are no columns to learn a structure from.")
    if not coded.n_rows:
        raise InputError("There are no rows to learn a structure from.")
    if not 0.0 < level < 1.0:
        raise SettingError(f"level must be between 0 and 1, not {level!r}.")
    joined, given = _skeleton(coded, level, max_given)
    directed = _colliders(joined, given)
    _follow(joined, directed)
    return Graph.of(_extended(joined, directed), tuple(coded.domains))


def _skeleton(
    coded: Coded, level: float, max_given: int
) -> tuple[dict[str, set[str]], dict[Pair, frozenset[str]]]:
    """Join the nodes that nothing makes independent; say what did so for the others."""
    names = tuple(coded.domains)
    joined = {name: set(names) - {name} for name in names}
    given: dict[Pair, frozenset[str]] = {}
    for size in range(max_given + 1):
        before = {name: sorted(others, key=names.index) for name, others in joined.items()}
        if all(len(others) <= size for others in before.values()):
            break
        for a, b in combinations(names, 2):
            if b not in joined[a]:
                continue
            sides = [[v for v in before[a] if v != b], [v for v in before[b] if v != a]]
            for condition in dict.fromkeys(c for side in sides for c in combinations(side, size)):
                if _independent(coded, a, b, condition, level):
                    joined[a].discard(b)
                    joined[b].discard(a)
                    given[frozenset((a, b))] = frozenset(condition)
                    break
    return joined, given


def _independent(coded: Coded, a: str, b: str, condition: tuple[str, ...], level: float) -> bool:
    """Test two columns within the strata that others make, by the rows that have all of them."""
    counts = count_family(coded, (*condition, a, b), None)
    observed: FloatArray = counts.reshape(-1, *counts.shape[-2:])
    observed = observed[observed.sum(axis=(1, 2)) > 0]
    some_a, some_b = ((observed.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1))
    degrees = float(((some_a - 1) * (some_b - 1)).sum())
    if observed.sum() < ROWS_PER_DEGREE * degrees:
        return False
    return bool(table_test(observed, level))


def _colliders(
    joined: dict[str, set[str]], given: dict[Pair, frozenset[str]]
) -> set[tuple[str, str]]:
    """Direct the edges into the nodes that two others meet in; of two that disagree the first."""
    directed: set[tuple[str, str]] = set()
    for c, others in joined.items():
        for a, b in combinations(sorted(others, key=list(joined).index), 2):
            if b in joined[a] or c in given[frozenset((a, b))]:
                continue
            if (c, a) not in directed and (c, b) not in directed:
                directed |= {(a, c), (b, c)}
    return directed


def _follow(joined: dict[str, set[str]], directed: set[tuple[str, str]]) -> None:
    """Direct the edges that could not lead the other way (the rules of Meek)."""

    def is_open(a: str, b: str) -> bool:
        return b in joined[a] and not {(a, b), (b, a)} & directed

    def must_lead(a: str, b: str) -> bool:
        into_a = {c for c in joined[a] if (c, a) in directed}
        into_b = {c for c in joined[b] if (c, b) in directed}
        if any(b not in joined[c] for c in into_a):  # else a new collider
            return True
        if any((a, c) in directed for c in into_b):  # else a cycle
            return True
        sides = [c for c in into_b if is_open(a, c)]
        if any(d not in joined[c] for c, d in combinations(sides, 2)):
            return True
        return any(
            d in joined[a] and b not in joined[d] and (d, c) in directed and c in joined[a]
            for c in into_b
            for d in joined[c]
            if d not in (a, b)
        )

    changed = True
    while changed:
        changed = False
        for a, b in permutations(joined, 2):
            if is_open(a, b) and must_lead(a, b):
                directed.add((a, b))
                changed = True


def _extended(joined: dict[str, set[str]], directed: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Direct what is open without a new collider where that can be done, and never in a cycle.

    Nodes are taken away from the last on: one that no edge leads out of, whose open neighbours are
    joined to all its others. Tests may contradict each other; then the node with the fewest edges
    that lead out of it is taken, and those are turned.
    """
    left = {name: set(others) for name, others in joined.items()}
    edges: list[tuple[str, str]] = []
    while left:
        name = min(left, key=lambda v: (_misfit(v, left, directed), -list(joined).index(v)))
        edges += [(other, name) for other in sorted(left[name], key=list(joined).index)]
        for other in left.pop(name):
            left[other].discard(name)
    return edges


def _misfit(name: str, left: dict[str, set[str]], directed: set[tuple[str, str]]) -> int:
    """Count what speaks against a node as the last one."""
    leading_out = sum((name, other) in directed for other in left[name])
    opened = [o for o in left[name] if not {(name, o), (o, name)} & directed]
    apart = sum(len(left[name] - left[o] - {o}) for o in opened)
    return len(left) * leading_out + apart
