"""Networks whose structure is learned: trees, hill climbing, and how sure each edge is."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any, Literal, Protocol, Self

import numpy as np

from priory.base.errors import SettingError, check_number, listing
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.network.completion import ROUNDS, completed
from priory.network.exchange import NetworkExchange
from priory.network.factors import Smoothing
from priory.network.pc import pc
from priory.network.structure import (
    Edges,
    FamilyScore,
    Score,
    chow_liu,
    hill_climbing,
    pairwise_tree,
    tan,
)
from priory.network.variables import Coded, Domains, read_coded

__all__ = ["StructureLearning"]

Missing = Literal["skip", "em"]


class Search(Protocol):
    """Find a graph from complete rows, with a weight each."""

    def __call__(
        self, coded: Coded, weight: FloatArray | None, *, start: Edges, random_state: int
    ) -> Graph: ...


class StructureLearning(NetworkExchange):
    """Learn the structure of a network, and then its tables."""

    @classmethod
    def _of_structure(
        cls,
        graph: Graph,
        data: Any,
        smoothing: Smoothing,
        missing: Missing,
        values: Domains | None = None,
    ) -> Self:
        raise NotImplementedError

    @classmethod
    def chow_liu(cls, data: Any, root: str | None = None, smoothing: Smoothing = 1.0) -> Self:
        """Learn the most likely tree: every node has one parent at most.

        It is the tree of greatest total mutual information (Chow and Liu 1968). Edges lead away
        from the root, by default the first column.

        >>> from priory import BeliefNetwork
        >>> data = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]}
        >>> BeliefNetwork.chow_liu(data).edges
        (('a', 'b'), ('a', 'c'))
        """
        graph = chow_liu(read_coded(data), root)
        return cls._of_structure(graph, data, smoothing, "skip")

    @classmethod
    def tan(cls, data: Any, target: str, smoothing: Smoothing = 1.0) -> Self:
        """Learn the tree-augmented naive Bayes network of one node (Friedman et al. 1997).

        The target is a parent of every other node. These also form the tree of greatest mutual
        information given the target, without edges that chance explains: the tree that
        `NaiveBayes(structure="tan")` finds.
        """
        graph = tan(read_coded(data), target)
        return cls._of_structure(graph, data, smoothing, "skip")

    @classmethod
    def hill_climbing(
        cls,
        data: Any,
        score: Score = "bic",
        start: Edges = (),
        required: Edges = (),
        forbidden: Edges = (),
        max_parents: int | None = None,
        patience: int = 10,
        smoothing: Smoothing = 1.0,
        restarts: int = 20,
        random_state: int = 0,
        missing: Missing = "em",
    ) -> Self:
        """Learn a structure by adding, removing and reversing edges while the score grows.

        `score` is "bic" (the log-likelihood less ½ log n for each parameter, which is the
        description length, so "mdl" is the same), "bdeu" or `BDeu(ess)` (the marginal likelihood
        under that prior), or "k2" (under Laplace's). Where no single change helps, up to
        `patience` changes are made that do not, never back to a recent structure (tabu search);
        the best structure on the way counts. The search then starts again from structures as
        good, until so many `restarts` in a row have found nothing better.

        Rows with gaps count too: with `missing="em"` the gaps are drawn from what the network so
        far says of them given the rest of their row, and the search and the draws take turns until
        the structure stays (structural EM, Friedman 1998). "skip" leaves such rows out.
        """
        limits: dict[str, Any] = {
            "required": required,
            "forbidden": forbidden,
            "max_parents": max_parents,
        }
        search = partial(_climbed, score=score, patience=patience, restarts=restarts, **limits)
        coded = read_coded(data)
        graph = cls._searched(coded, search, tuple(start), missing, random_state)
        return cls._of_structure(graph, data, smoothing, missing)

    @classmethod
    def _searched(
        cls, coded: Coded, search: Search, start: Edges, missing: Missing, random_state: int
    ) -> Graph:
        """Search with the gaps drawn anew until the structure stays, or without such rows."""
        whole = coded.complete
        if missing == "skip" or whole.all():
            return search(coded, None, start=start, random_state=random_state)
        rng = np.random.default_rng(random_state)
        graph = Graph.of(start, tuple(coded.domains))
        if not graph.edges:
            graph = pairwise_tree(coded)
        seen: set[frozenset[tuple[str, str]]] = set()
        rows = {name: _labelled(coded, name) for name in coded.domains}
        for _ in range(ROUNDS):
            network = cls._of_structure(graph, rows, 1.0, "em", coded.domains)
            drawn, weight = completed(coded, network._conditionals, rng)
            graph = search(drawn, weight, start=start, random_state=random_state)
            found = frozenset(graph.edges)
            if found in seen:
                break
            seen.add(found)
        return graph

    @classmethod
    def pc(
        cls, data: Any, level: float = 0.05, max_given: int = 3, smoothing: Smoothing = 1.0
    ) -> Self:
        """Learn a structure by tests of independence (PC; Spirtes, Glymour and Scheines 2000).

        Two nodes stay joined unless a test at the `level` finds them independent given up to
        `max_given` of their neighbours; who was given tells which edges lead into a node. A test
        takes the rows that have all its columns, and permutations where they are few. Where the
        tests leave a direction open one is chosen that nothing new follows from.

        >>> from priory import BeliefNetwork
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.integers(0, 2, (2, 500))
        >>> BeliefNetwork.pc({"a": a, "b": b, "either": a | b}).edges
        (('a', 'either'), ('b', 'either'))
        """
        check_number("max_given", max_given)
        graph = pc(read_coded(data), level, int(max_given))
        return cls._of_structure(graph, data, smoothing, "skip")

    def score(self, data: Any, score: Score = "bic") -> float:
        """Score the structure by rows, as `hill_climbing` does: higher is better, in nats.

        "bic" is the log-likelihood less ½ log n for each parameter, "bdeu", `BDeu(ess)` and "k2"
        are log marginal likelihoods. Rows with missing values are left out.

        >>> from priory import BeliefNetwork
        >>> rows = {"a": [0, 1] * 20, "b": [0, 1] * 20}
        >>> apart = BeliefNetwork(nodes=["a", "b"])
        >>> round(BeliefNetwork("a->b").score(rows) - apart.score(rows), 3)
        25.881
        """
        scored = FamilyScore(read_coded(data, self.nodes), score)
        return float(sum(scored(name, frozenset(self.graph.parents[name])) for name in self.nodes))

    @classmethod
    def edge_confidence(
        cls,
        data: Any,
        n: int = 50,
        score: Score = "bic",
        restarts: int = 0,
        random_state: int = 0,
        missing: Missing = "em",
        **constraints: Any,
    ) -> dict[tuple[str, str], float]:
        """Find how often each edge is learned again from rows drawn with replacement.

        The structure is learned from each of n bootstrap samples (Friedman, Goldszmidt and Wyner
        1999); the result is the share of them that have the edge, most frequent first. Both
        directions of an edge add up to the confidence that the two nodes are connected. Rows with
        gaps are completed as `hill_climbing` does, or skipped.

        >>> from priory import BeliefNetwork
        >>> rng = np.random.default_rng(0)
        >>> a, c = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
        >>> found = BeliefNetwork.edge_confidence({"a": a, "b": a, "c": c}, n=10)
        >>> found.get(("a", "b"), 0.0) + found.get(("b", "a"), 0.0)
        1.0
        """
        check_number("n", n, above=0)
        coded = read_coded(data)
        rng = np.random.default_rng(random_state)
        counts: Counter[tuple[str, str]] = Counter()
        limits = {"start": (), "required": (), "forbidden": (), "max_parents": None, "patience": 10}
        for name in constraints:
            if name not in limits:
                raise SettingError(
                    f"edge_confidence takes {listing(limits)} as further arguments, not {name!r}."
                )
        arguments = {**limits, **constraints}
        start = tuple(arguments.pop("start"))
        search = partial(_climbed, score=score, restarts=restarts, **arguments)
        for _ in range(int(n)):
            rows = rng.integers(0, max(coded.n_rows, 1), coded.n_rows)
            codes = {name: column[rows] for name, column in coded.codes.items()}
            drawn = Coded(coded.n_rows, coded.domains, codes, coded.ordered)
            seed = int(rng.integers(2**31))
            counts.update(cls._searched(drawn, search, start, missing, seed).edges)
        return {edge: times / int(n) for edge, times in counts.most_common()}


def _climbed(coded: Coded, weight: FloatArray | None, score: Score, **arguments: Any) -> Graph:
    return hill_climbing(FamilyScore(coded, score, weight), **arguments)


def _labelled(coded: Coded, name: str) -> list[Any]:
    """Spell the values of a column out again, None for a gap."""
    values = [*coded.domains[name], None]
    return [values[code] for code in coded.codes[name].tolist()]
