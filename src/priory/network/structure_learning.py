"""Networks whose structure is learned: trees, hill climbing, and how sure each edge is."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np

from priory.base.errors import SettingError, check_number, listing
from priory.base.graph import Graph
from priory.network.exchange import NetworkExchange
from priory.network.factors import Smoothing
from priory.network.structure import Edges, FamilyScore, Score, chow_liu, hill_climbing, tan
from priory.network.variables import Coded, read_coded

__all__ = ["StructureLearning"]


class StructureLearning(NetworkExchange):
    """Learn the structure of a network, and then its tables."""

    @classmethod
    def _of_structure(cls, graph: Graph, data: Any, smoothing: Smoothing) -> Self:
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
        return cls._of_structure(chow_liu(read_coded(data), root), data, smoothing)

    @classmethod
    def tan(cls, data: Any, target: str, smoothing: Smoothing = 1.0) -> Self:
        """Learn the tree-augmented naive Bayes network of one node (Friedman et al. 1997).

        The target is a parent of every other node. These also form the tree of greatest mutual
        information given the target, without edges that chance explains: the tree that
        `NaiveBayes(structure="tan")` finds.
        """
        return cls._of_structure(tan(read_coded(data), target), data, smoothing)

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
    ) -> Self:
        """Learn a structure by adding, removing and reversing edges while the score grows.

        `score` is "bic" (the log-likelihood less ½ log n for each parameter, which is the
        description length, so "mdl" is the same), "bdeu" or `BDeu(ess)` (the marginal likelihood
        under that prior), or "k2" (under Laplace's). Where no single change helps, up to
        `patience` changes are made that do not, never back to a recent structure (tabu search);
        the best structure on the way counts. The search then starts again from structures as
        good, until so many `restarts` in a row have found nothing better.
        """
        scored = FamilyScore(read_coded(data), score)
        graph = hill_climbing(
            scored, start, required, forbidden, max_parents, patience, restarts, random_state
        )
        return cls._of_structure(graph, data, smoothing)

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
        **constraints: Any,
    ) -> dict[tuple[str, str], float]:
        """Find how often each edge is learned again from rows drawn with replacement.

        The structure is learned from each of n bootstrap samples (Friedman, Goldszmidt and Wyner
        1999); the result is the share of them that have the edge, most frequent first. Both
        directions of an edge add up to the confidence that the two nodes are connected.

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
        whole = coded.take(coded.complete)
        limits = {"start": (), "required": (), "forbidden": (), "max_parents": None, "patience": 10}
        for name in constraints:
            if name not in limits:
                raise SettingError(
                    f"edge_confidence takes {listing(limits)} as further arguments, not {name!r}."
                )
        for _ in range(int(n)):
            rows = rng.integers(0, max(whole.n_rows, 1), whole.n_rows)
            codes = {name: column[rows] for name, column in whole.codes.items()}
            scored = FamilyScore(Coded(whole.n_rows, whole.domains, codes), score)
            arguments = {**limits, **constraints}
            seed = int(rng.integers(2**31))
            graph = hill_climbing(scored, **arguments, restarts=restarts, random_state=seed)
            counts.update(graph.edges)
        return {edge: times / int(n) for edge, times in counts.most_common()}
