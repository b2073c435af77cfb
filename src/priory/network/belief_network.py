"""BeliefNetwork: variables that depend on each other along a graph; learned, given, or read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

from priory.base.errors import InputError, NotFittedError, SettingError, check_number, listing
from priory.base.formatting import aligned
from priory.base.graph import Graph
from priory.base.typing import FloatArray, Label
from priory.data.reading import open_table, read_weights
from priory.families.priors import DiscretePrior
from priory.network import bif, drawing
from priory.network.counts import NetworkCounts
from priory.network.elimination import MOST_NUMBERS, Plans
from priory.network.expectation import fill_missing
from priory.network.expressions import EventLike, event_of
from priory.network.factors import NetworkPrior, given_domain, given_table, read_priors
from priory.network.queries import NetworkQueries
from priory.network.structure import Edges, FamilyScore, Score, chow_liu, hill_climbing, tan
from priory.network.variables import (
    Coded,
    Domain,
    declared_domains,
    domain_of,
    places,
    read_coded,
)

__all__ = ["BeliefNetwork"]

Smoothing = float | NetworkPrior


class BeliefNetwork(NetworkQueries):
    """Model variables that depend on each other along a graph.

        P(x_1, …, x_n) = Π_i P(x_i | parents of x_i)

    Parameters
    ----------
    edges : (parent, child) pairs, or a mapping of nodes to their parents
        The graph must be acyclic.
    tables : a mapping of nodes to their tables, or None to learn them
        A table is {parent values: row}, or an array, parents × values; a row is {value: P}, a
        sequence, or, of a boolean, P(true) alone. A node without parents has just the row.
    nodes : names
        Nodes without edges, or the order of all nodes.
    values : a mapping of nodes to their values
        Values that are possible beside those seen, or that index the axis of an array.
    smoothing : a number, a prior, BDeu, or a mapping of nodes to them
        The prior of the probabilities: a number is Laplace's α, 0 gives relative frequencies.
    most_numbers : an integer
        The most numbers that an intermediate table of an answer may hold.

    Examples
    --------
    >>> alarm = BeliefNetwork(
    ...     [("Burglary", "Alarm"), ("Earthquake", "Alarm"),
    ...      ("Alarm", "JohnCalls"), ("Alarm", "MaryCalls")],
    ...     tables={
    ...         "Burglary": 0.001,
    ...         "Earthquake": 0.002,
    ...         "Alarm": {(True, True): 0.95, (True, False): 0.94,
    ...                   (False, True): 0.29, (False, False): 0.001},
    ...         "JohnCalls": {True: 0.9, False: 0.05},
    ...         "MaryCalls": {True: 0.7, False: 0.01},
    ...     },
    ... )
    >>> round(alarm.p("Burglary", given={"JohnCalls": True, "MaryCalls": True}), 4)
    0.2842
    >>> alarm.d_separated("JohnCalls", "MaryCalls", given="Alarm")
    True
    """

    def __init__(
        self,
        edges: Edges | Mapping[str, Iterable[str]] = (),
        tables: Mapping[str, Any] | None = None,
        nodes: Iterable[str] = (),
        values: Mapping[str, Iterable[Label]] | None = None,
        smoothing: Smoothing | Mapping[str, Smoothing] = 1.0,
        most_numbers: int = MOST_NUMBERS,
    ) -> None:
        self.graph = Graph.of(edges, nodes)
        if tables is not None:  # a node may be known by its table alone
            self.graph = Graph.of(self.graph.parents, (*self.graph.nodes, *tables))
        self.most_numbers = most_numbers
        self._counts: NetworkCounts | None = None
        self._tables = self._domains = None
        self._declared = declared_domains(values)
        for name in self._declared:
            self.graph.find(name)
        self.change_smoothing(smoothing)
        if tables is not None:
            self._take_tables(tables)

    def _take_tables(self, tables: Mapping[str, Any]) -> None:
        missing = [name for name in self.nodes if name not in tables]
        if missing:
            raise SettingError(
                f"tables must have a table for every node; {listing(missing)} has none."
            )
        domains: dict[str, Domain] = {}
        for name, parents in self.graph.parents.items():
            domain = self._declared.get(name) or given_domain(tables[name], parents)
            if not domain:
                raise InputError(f"The table of {name!r} names no values: {tables[name]!r:.60}.")
            domains[name] = domain
        self._domains = domains
        self._tables = {
            name: given_table(name, tables[name], parents, domains)
            for name, parents in self.graph.parents.items()
        }

    @property
    def n_rows(self) -> int:
        """The number of rows that were learned."""
        return 0 if self._counts is None else self._counts.n_rows

    @property
    def most_numbers(self) -> int:
        """The most numbers that an intermediate table of an answer may hold."""
        return self._plans.most_numbers

    @most_numbers.setter
    def most_numbers(self, most: int) -> None:
        check_number("most_numbers", most, above=0)
        self._plans = Plans(int(most))

    def __repr__(self) -> str:
        rows: list[tuple[str, ...]] = [("node", "parents", "values")]
        for name in self.nodes:
            domain = self._domains[name] if self._domains else self._declared.get(name, ())
            values = ", ".join(map(str, domain[:6])) + (", …" if len(domain) > 6 else "")
            rows.append((name, ", ".join(self.graph.parents[name]) or "–", values or "–"))
        return aligned(rows)

    # Learning the tables

    def update(
        self,
        data: Any,
        sample_weight: Any = None,
        missing: Literal["skip", "em"] = "skip",
        max_iter: int = 100,
        tolerance: float = 1e-7,
    ) -> Self:
        """Count the rows of any table, and estimate the probabilities from all the counts.

            P(v | parents) = (n + a) / (N + Σa)

        With `missing="skip"` a row counts for every node that is known together with its parents.
        With "em" missing values are filled by their expectation, again and again, until the mean
        log-likelihood of a row changes by less than `tolerance` (Dempster, Laird and Rubin 1977).
        Columns that are not nodes are ignored. Values that a column's type lists, as pandas'
        categoricals do, are declared.

        >>> network = BeliefNetwork([("a", "b")]).update({"a": [1, 1, 0], "b": ["x", "y", "y"]})
        >>> network.table("b")[(1,)]
        {'x': 0.5, 'y': 0.5}
        """
        if missing not in ("skip", "em"):
            raise SettingError(f"missing must be 'skip' or 'em', not {missing!r}.")
        raw = open_table(data)
        coded, weight = self._read(raw, sample_weight)
        self.declare({name: raw.declared(name) for name in self.nodes})
        total = NetworkCounts.count(coded, self.graph, self._declared, weight)
        if self._counts is not None:
            total = self._counts + total
        if missing == "em" and not coded.complete.all():
            total = fill_missing(
                total, coded, weight, self._priors, self._plans, max_iter, tolerance
            )
        return self._become(total)

    def forget(self, data: Any, sample_weight: Any = None) -> Self:
        """Remove rows that were learned, as if they had never been seen."""
        coded, weight = self._read(data, sample_weight)
        gone = NetworkCounts.count(coded, self.graph, self._declared, weight)
        return self._become(self._learned() - gone)

    def merge(self, other: BeliefNetwork) -> Self:
        """Add everything that another network of the same structure has learned."""
        if not isinstance(other, BeliefNetwork):
            raise SettingError(f"A network merges with another one, not with {other!r:.60}.")
        if dict(self.graph.parents) != dict(other.graph.parents):
            raise SettingError(
                "Networks merge if they have the same nodes and parents; these differ."
            )
        return self._become(self._learned() + other._learned())

    def __add__(self, other: BeliefNetwork) -> BeliefNetwork:
        result = BeliefNetwork(
            self.graph.parents,
            values=self._declared,
            smoothing=self.smoothing,
            most_numbers=self.most_numbers,
        )
        return result._become(self._learned()).merge(other)

    def change_smoothing(self, smoothing: Smoothing | Mapping[str, Smoothing]) -> Self:
        """Change the smoothing without reading the data again."""
        self._priors = read_priors(smoothing, self.graph)
        self.smoothing = smoothing
        declared = dict(self._declared)
        for name, prior in self._priors.items():
            if isinstance(prior, DiscretePrior) and prior.values():
                declared[name] = domain_of(prior.values(), declared.get(name, ()))
        self._declared = declared
        return self if self._counts is None else self._become(self._counts.declaring(declared))

    def declare(self, values: Mapping[str, Iterable[Label]]) -> Self:
        """Declare values that are possible beside those seen.

        >>> network = BeliefNetwork([("a", "b")]).update({"a": [1, 0], "b": ["x", "x"]})
        >>> network.declare({"b": ["y"]}).table("b")[(1,)]
        {'y': 0.3333333333333333, 'x': 0.6666666666666666}
        """
        for name in values:
            self.graph.find(name)
        declared = dict(self._declared)
        for name, domain in declared_domains(values).items():
            known = declared.get(name, ())
            where = places(domain, known)
            new = tuple(v for v, place in zip(domain, where, strict=True) if place < 0)
            if new:
                declared[name] = (*known, *new)
        if declared == self._declared:
            return self
        self._declared = declared
        return self if self._counts is None else self._become(self._counts.declaring(declared))

    def log_evidence(self, smoothing: Smoothing | Mapping[str, Smoothing] | None = None) -> float:
        """Compute the logarithm of the marginal likelihood of the rows that were learned.

            P(D) = Π_nodes Π_parents Γ(A)/Γ(A + N) Π_v Γ(a_v + n_v)/Γ(a_v),     A = Σ a_v

        The parameters are integrated out, so more of them are no advantage in themselves.
        `smoothing` is another prior than the network's; `BDeu` treats equivalent structures
        alike. Incomplete rows count for the nodes that are known with their parents.
        """
        counts = self._learned()
        priors = self._priors if smoothing is None else read_priors(smoothing, self.graph)
        return counts.log_evidence(priors)

    def _learned(self) -> NetworkCounts:
        if self._counts is None:
            raise NotFittedError("This network has learned no rows yet.")
        return self._counts

    def _check_ready(self) -> None:
        if self._tables is not None:
            return
        if self._counts is None:
            raise NotFittedError(
                "This network has no tables yet: learn them from data, or give tables=..."
            )
        if not self._counts.n_rows:
            raise NotFittedError("This network has forgotten every row it had learned.")
        empty = [name for name, domain in self._counts.domains.items() if not domain]
        raise NotFittedError(
            f"Column {listing(empty)} has held only missing values so far: learn more rows, or "
            f"declare its values: values={{{empty[0]!r}: [...]}}."
        )

    def _become(self, counts: NetworkCounts) -> Self:
        self._counts, self._domains = counts, counts.domains
        self._tables = counts.estimate(self._priors)
        return self

    def _read(self, data: Any, sample_weight: Any) -> tuple[Coded, FloatArray | None]:
        if self._tables is not None and self._counts is None:
            raise SettingError(
                "The tables of this network were given, so it does not count rows. To learn its "
                "tables make a new one: BeliefNetwork(network.edges, nodes=network.nodes)."
            )
        coded = read_coded(data, self.nodes, as_they_came=True)
        weight = read_weights(sample_weight, coded.n_rows)
        if weight is not None:  # a row of weight zero is not a row
            coded, weight = coded.take(weight != 0), weight[weight != 0]
        if not coded.n_rows:
            raise InputError(
                "There are no rows to learn from: the table has none, or sample_weight is zero in "
                "every row."
            )
        return coded, weight

    # Learning the structure

    @classmethod
    def chow_liu(
        cls, data: Any, root: str | None = None, smoothing: Smoothing = 1.0
    ) -> BeliefNetwork:
        """Learn the most likely tree: every node has one parent at most.

        It is the tree of greatest total mutual information (Chow and Liu 1968). Edges lead away
        from the root, by default the first column.

        >>> data = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]}
        >>> BeliefNetwork.chow_liu(data).edges
        (('a', 'b'), ('a', 'c'))
        """
        return cls._of_structure(chow_liu(read_coded(data), root), data, smoothing)

    @classmethod
    def tan(cls, data: Any, target: str, smoothing: Smoothing = 1.0) -> BeliefNetwork:
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
    ) -> BeliefNetwork:
        """Learn a structure by adding, removing and reversing edges while the score grows.

        `score` is "bic" (the log-likelihood less ½ log n for each parameter, which is the
        description length, so "mdl" is the same), "bdeu" or `BDeu(ess)` (the marginal likelihood
        under that prior), or "k2" (under Laplace's). Where no single change helps, up to
        `patience` changes are made that do not, never back to a recent structure (tabu search);
        the best structure on the way is the result.
        """
        scored = FamilyScore(read_coded(data), score)
        graph = hill_climbing(scored, start, required, forbidden, max_parents, patience)
        return cls._of_structure(graph, data, smoothing)

    @classmethod
    def _of_structure(cls, graph: Graph, data: Any, smoothing: Smoothing) -> BeliefNetwork:
        return cls(graph.edges, nodes=graph.nodes, smoothing=smoothing).update(data)

    # Files and pictures

    @classmethod
    def read_bif(cls, path: str | PathLike[str]) -> BeliefNetwork:
        """Read a network from a file in the Bayesian interchange format (BIF)."""
        return cls.from_bif(Path(path).read_text(encoding="utf-8"))

    @classmethod
    def from_bif(cls, text: str) -> BeliefNetwork:
        """Parse a network from a text in the Bayesian interchange format."""
        parents, domains, tables = bif.parse(text)
        return cls(parents, tables=tables, nodes=tuple(parents), values=domains)

    def to_bif(self, name: str = "network") -> str:
        """Write the network as a text in the Bayesian interchange format."""
        return bif.text(name, self.graph, self.values, self.tables)

    def write_bif(self, path: str | PathLike[str], name: str = "network") -> None:
        """Write the network to a file in the Bayesian interchange format."""
        Path(path).write_text(self.to_bif(name), encoding="utf-8")

    def to_svg(self, given: EventLike | None = None, bars: bool | None = None) -> str:
        """Draw the network: parents above their children, as a text in SVG.

        With `bars`, the default for up to 12 nodes or with evidence, every node shows the
        probabilities of its values, given what is known.
        """
        if bars is None:
            bars = self._tables is not None and (len(self.nodes) <= 12 or given is not None)
        known = set(event_of(given, self.values).fixed) if given is not None else set()
        shown = self.marginals(given) if bars else {}
        return drawing.svg(self.graph, shown, known)

    def _repr_svg_(self) -> str:
        return self.to_svg()
