"""Directed acyclic graphs: who depends on whom, and what separates them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Any

from priory.base.errors import SettingError, did_you_mean, listing

__all__ = ["Graph"]


@dataclass(frozen=True)
class Graph:
    """Hold the parents of every node; nodes keep the order in which they were named.

    >>> graph = Graph.of([("rain", "wet"), ("hose", "wet")])
    >>> graph.parents["wet"], graph.order
    (('rain', 'hose'), ('rain', 'hose', 'wet'))
    """

    parents: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, edges: Iterable[Any] | Mapping[str, Iterable[str]], nodes: Any = ()) -> Graph:
        """Build the graph of (parent, child) pairs, or of a mapping of nodes to their parents."""
        if isinstance(nodes, str):
            raise SettingError(f"nodes must be a sequence of names, not {nodes!r}.")
        parents: dict[str, list[str]] = {}
        for name in nodes:
            parents.setdefault(_name(name), [])
        for parent, child in _pairs(edges, parents):
            parents.setdefault(parent, [])
            of_child = parents.setdefault(child, [])
            if parent == child:
                raise SettingError(f"Node {child!r} cannot be its own parent.")
            if parent in of_child:
                raise SettingError(f"The edge {parent!r} → {child!r} is given twice.")
            of_child.append(parent)
        graph = cls({name: tuple(found) for name, found in parents.items()})
        _ = graph.order  # refuses cycles
        return graph

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, in the order in which they were named."""
        return tuple(self.parents)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (parent, child) pairs."""
        return tuple((parent, child) for child, of in self.parents.items() for parent in of)

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The children of every node."""
        found: dict[str, list[str]] = {name: [] for name in self.parents}
        for parent, child in self.edges:
            found[parent].append(child)
        return {name: tuple(children) for name, children in found.items()}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The nodes, parents before their children."""
        sorter = TopologicalSorter(dict.fromkeys(self.parents, ()))
        for name, of in self.parents.items():
            sorter.add(name, *of)
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            cycle = " → ".join(map(repr, error.args[1]))
            raise SettingError(f"The graph must be acyclic; it has the cycle {cycle}.") from None

    def find(self, name: object) -> str:
        """Check that a name is a node; if not, say which there are."""
        if isinstance(name, str) and name in self.parents:
            return name
        raise SettingError(
            f"There is no node {name!r}. Nodes: {listing(self.parents, 10)}."
            f"{did_you_mean(str(name), self.parents)}"
        )

    def family(self, name: str) -> tuple[str, ...]:
        """List the parents of a node and the node itself: the axes of its table."""
        return (*self.parents[name], name)

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """Collect the nodes and all their ancestors."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self.parents[name])
        return found

    def markov_blanket(self, name: str) -> set[str]:
        """Collect the parents, the children and the children's other parents of a node."""
        blanket = {*self.parents[name], *self.children[name]}
        for child in self.children[name]:
            blanket.update(self.parents[child])
        return blanket - {name}

    def d_separated(self, a: Iterable[str], b: Iterable[str], given: Iterable[str]) -> bool:
        """Tell whether every path between two groups is blocked by what is given.

        A chain or a fork is blocked by its middle node, a collider unless it or one of its
        descendants is given (Pearl 1988). Paths are followed as in Koller and Friedman, 3.1.
        """
        a, b, known = set(a), set(b), set(given)
        leading = self.ancestors(known)
        seen: set[tuple[str, bool]] = set()
        waiting = [(name, True) for name in a]  # True: the path goes up from a child
        while waiting:
            name, upwards = waiting.pop()
            if (name, upwards) in seen:
                continue
            seen.add((name, upwards))
            if name not in known and name in b:
                return False
            if upwards and name not in known:
                waiting += [(parent, True) for parent in self.parents[name]]
                waiting += [(child, False) for child in self.children[name]]
            elif not upwards:
                if name not in known:
                    waiting += [(child, False) for child in self.children[name]]
                if name in leading:
                    waiting += [(parent, True) for parent in self.parents[name]]
        return True

    @property
    def skeleton(self) -> frozenset[frozenset[str]]:
        """The edges without their direction."""
        return frozenset(frozenset(edge) for edge in self.edges)

    @property
    def v_structures(self) -> frozenset[tuple[frozenset[str], str]]:
        """The pairs of unconnected parents of a common child."""
        skeleton = self.skeleton
        return frozenset(
            (frozenset(pair), child)
            for child, of in self.parents.items()
            for pair in combinations(of, 2)
            if frozenset(pair) not in skeleton
        )

    def equivalent(self, other: Graph) -> bool:
        """Tell whether two graphs imply the same independences.

        They do if and only if they have the same skeleton and the same v-structures (Verma and
        Pearl 1990).
        """
        return (
            set(self.nodes) == set(other.nodes)
            and self.skeleton == other.skeleton
            and self.v_structures == other.v_structures
        )


def _pairs(edges: Any, parents: dict[str, list[str]]) -> Iterable[tuple[str, str]]:
    if isinstance(edges, Mapping):
        for child, of in edges.items():
            parents.setdefault(_name(child), [])
            for parent in (of,) if isinstance(of, str) else of:
                yield _name(parent), _name(child)
        return
    for edge in edges:
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise SettingError(f"An edge is a pair (parent, child), not {edge!r}.")
        yield _name(edge[0]), _name(edge[1])


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise SettingError(f"A node's name must be a string, not {name!r}.")
    return name
