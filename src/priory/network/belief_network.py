"""BeliefNetwork: variables that depend on each other along a graph; learned, given, or read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Literal, Self

import numpy as np

from priory.base.errors import InputError, NotFittedError, SettingError, check_number, listing
from priory.base.formatting import aligned
from priory.base.graph import Graph
from priory.base.typing import FloatArray, Label
from priory.data.rawtables import RawTable, open_table
from priory.data.reading import read_weights
from priory.families.priors import DiscretePrior
from priory.network.counts import NetworkCounts
from priory.network.elimination import Plans
from priory.network.expectation import Filling, fill_gaps
from priory.network.factors import (
    NetworkPrior,
    Smoothing,
    TablePrior,
    given_domain,
    given_table,
    read_priors,
)
from priory.network.graphs import graph_of
from priory.network.ordering import MOST_NUMBERS
from priory.network.structure import Edges
from priory.network.structure_learning import StructureLearning
from priory.network.variables import (
    Coded,
    Domain,
    Domains,
    declared_domains,
    domain_of,
    ordered_names,
    places,
    read_coded,
)

__all__ = ["BeliefNetwork"]


class BeliefNetwork(StructureLearning):
    """Model variables that depend on each other along a graph.

        P(x_1, …, x_n) = Π_i P(x_i | parents of x_i)

    Parameters
    ----------
    edges : (parent, child) pairs, a mapping of nodes to their parents, or a text
        The graph must be acyclic. A text such as "A->B<-C; C->D", or a DiGraph of networkx.
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
    strength : a number, a mapping of nodes to numbers, or None
        How many rows each row of the given tables is worth: then they are a prior that data
        update. None: the tables are given once and for all.

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
        edges: Edges | Mapping[str, Iterable[str]] | str = (),
        tables: Mapping[str, Any] | None = None,
        nodes: Iterable[str] = (),
        values: Mapping[str, Iterable[Label]] | None = None,
        smoothing: Smoothing | Mapping[str, Smoothing] = 1.0,
        most_numbers: int = MOST_NUMBERS,
        strength: float | Mapping[str, float] | None = None,
    ) -> None:
        self.graph = graph_of(edges, nodes)
        if tables is not None:  # a node may be known by its table alone
            self.graph = Graph.of(self.graph.parents, (*self.graph.nodes, *tables))
        self.most_numbers = most_numbers
        self._counts: NetworkCounts | None = None
        self._tables = self._domains = None
        self._declared = declared_domains(values)
        self._in_order = ordered_names(values)
        self._filling = Filling()
        for name in self._declared:
            self.graph.find(name)
        self.change_smoothing(smoothing)
        if tables is not None:
            self._take_tables(tables)
        self.strength = strength
        if strength is not None:
            self._take_strength(strength)

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
        self._tables = _read_only(
            {
                name: given_table(name, tables[name], parents, domains)
                for name, parents in self.graph.parents.items()
            }
        )

    def _take_strength(self, strength: float | Mapping[str, float]) -> None:
        """Make a prior of the given tables."""
        if self._tables is None or self._domains is None:
            raise SettingError("strength is how many rows given tables are worth; give tables=....")
        named = strength if isinstance(strength, Mapping) else dict.fromkeys(self.nodes, strength)
        for name, rows in named.items():
            check_number(f"strength of {self.graph.find(name)!r}", rows)
        missing = [name for name in self.nodes if name not in named]
        if missing:
            raise SettingError(
                f"strength must give a number to every node; {listing(missing)} has none."
            )
        self._declared = self._domains
        self._priors: dict[str, NetworkPrior] = {
            name: TablePrior(table, self._domains[name], float(named[name]))
            for name, table in self._tables.items()
        }
        none = {name: np.zeros(0, dtype=np.int8) for name in self.nodes}
        empty = Coded(0, self._domains, none)
        self._counts = NetworkCounts.count(empty, self.graph, self._declared)

    @classmethod
    def _of_parsed(cls, parsed: tuple[Any, Mapping[str, Any], Mapping[str, Any]]) -> Self:
        parents, domains, tables = parsed
        return cls(parents, tables=tables, nodes=tuple(parents), values=domains)

    def with_table(self, node: str, table: Any) -> BeliefNetwork:
        """Give one node another table; the result is a network of given tables.

        >>> network = BeliefNetwork("rain->wet", {"rain": 0.2, "wet": {True: 0.9, False: 0.1}})
        >>> network.with_table("rain", 0.5).p("wet"), round(network.p("wet"), 2)
        (0.5, 0.26)
        """
        name = self.graph.find(node)
        tables = {
            **self.tables,
            name: given_table(name, table, self.graph.parents[name], self.values),
        }
        return self._of_tables(tables)

    def _of_tables(self, tables: Mapping[str, FloatArray]) -> BeliefNetwork:
        result = BeliefNetwork(
            self.graph.parents, tables, self.nodes, self.values, most_numbers=self.most_numbers
        )
        result._in_order = self._in_order
        return result

    @property
    def _ordered(self) -> frozenset[str]:
        """The nodes whose values are in the order that was declared, with no others."""
        return frozenset(
            name for name in self._in_order if self.values[name] == self._declared.get(name)
        )

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
        restarts: int = 10,
        random_state: int = 0,
    ) -> Self:
        """Count the rows of any table, and estimate the probabilities from all the counts.

            P(v | parents) = (n + a) / (N + Σa)

        With `missing="skip"` a row counts for every node that is known together with its parents.
        With "em" missing values are filled by their expectation, again and again, until the
        log-likelihood of a row, with the prior, changes by less than `tolerance` (Dempster, Laird
        and Rubin 1977); the rows with gaps are kept, so that more can be learned and forgotten. A
        column that is not there is then a hidden variable, if its values are declared: the
        search for its tables starts at random, `restarts` times, and the best one counts.
        Columns that are not nodes are ignored. Values that a column's type lists, as pandas'
        categoricals do, are declared.

        >>> network = BeliefNetwork([("a", "b")]).update({"a": [1, 1, 0], "b": ["x", "y", "y"]})
        >>> network.table("b")[(1,)]
        {'x': 0.5, 'y': 0.5}
        """
        if missing not in ("skip", "em"):
            raise SettingError(f"missing must be 'skip' or 'em', not {missing!r}.")
        fill = missing == "em"
        filling = Filling(max_iter, tolerance, restarts, random_state)
        raw = open_table(data)
        coded, weight = self._read(raw, sample_weight, hidden=fill)
        self._declare_types(raw)
        new = NetworkCounts.count(coded, self.graph, self._declared, weight, fill)
        if fill:
            self._filling = filling
        return self._become(new if self._counts is None else self._counts + new)

    def _declare_types(self, raw: RawTable) -> None:
        """Declare the values that the types of columns list, and the order of ordered ones."""
        there = [name for name in self.nodes if name in raw.places]
        for name in there:
            order, known = raw.order(name), self._declared.get(name, ())
            if order and known and name in self._in_order and order[: len(known)] != known:
                raise InputError(
                    f"Column {name!r} orders its values {listing(order)}; they were declared as "
                    f"{listing(known)}."
                )
            if order and not known:
                self._in_order |= {name}
        self._declare({name: raw.declared(name) for name in there})

    def forget(
        self, data: Any, sample_weight: Any = None, missing: Literal["skip", "em"] | None = None
    ) -> Self:
        """Remove rows that were learned, as if they had never been seen.

        `missing` is how they were learned, by default "em" if any were: the rows that are left
        are then filled anew.
        """
        if missing not in (None, "skip", "em"):
            raise SettingError(f"missing must be 'skip' or 'em', not {missing!r}.")
        learned = self._learned()
        fill = missing == "em" or (missing is None and len(learned.gaps) > 0)
        coded, weight = self._read(data, sample_weight, hidden=fill)
        gone = NetworkCounts.count(coded, self.graph, self._declared, weight, fill)
        return self._become(learned - gone)

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
        return deepcopy(self).merge(other)

    def change_smoothing(self, smoothing: Smoothing | Mapping[str, Smoothing]) -> Self:
        """Change the smoothing without reading the data again; it replaces given tables."""
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
        self._in_order |= {n for n in ordered_names(values) if n not in self._declared}
        return self._declare(values)

    def _declare(self, values: Mapping[str, Iterable[Label]]) -> Self:
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
        alike. It is the evidence of the rows without missing values alone, however the others
        were learned: so all structures of the same nodes are judged by the same rows.
        """
        counts = self._learned()
        if counts.n_rows and not counts.n_complete:
            raise InputError(
                "The evidence is that of the rows without missing values, and there are none: "
                "every row lacks a value, or a node is hidden."
            )
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
        counts = fill_gaps(counts, self._priors, self._plans, self._filling)
        tables = counts.estimate(self._priors)
        self._counts, self._domains = counts, counts.domains
        self._tables = None if tables is None else _read_only(tables)
        return self

    def _read(self, data: Any, sample_weight: Any, hidden: bool) -> tuple[Coded, FloatArray | None]:
        if self._tables is not None and self._counts is None:
            raise SettingError(
                "The tables of this network were given once and for all, so it does not count "
                "rows. Give strength=, the number of rows that they are worth, to update them; or "
                "learn new ones: BeliefNetwork(network.edges, nodes=network.nodes)."
            )
        raw = open_table(data)
        absent = [name for name in self.nodes if name not in raw.places] if hidden else []
        unknown = [name for name in absent if not self._declared.get(name)]
        if unknown:
            raise InputError(
                f"Column {listing(unknown)} was not found. A node that is hidden needs its values: "
                f"values={{{unknown[0]!r}: [...]}}. Columns: {listing(raw.names, 10)}."
            )
        there = [name for name in self.nodes if name not in absent]
        coded = read_coded(raw, there, self._declared, as_they_came=True)
        if absent:
            gone = np.full(coded.n_rows, -1, dtype=np.int8)
            domains = {name: self._declared[name] for name in absent}
            coded = Coded(
                coded.n_rows,
                {**coded.domains, **domains},
                {**coded.codes, **dict.fromkeys(absent, gone)},
            )
        weight = read_weights(sample_weight, coded.n_rows)
        if weight is not None:  # a row of weight zero is not a row
            coded, weight = coded.take(weight != 0), weight[weight != 0]
        if not coded.n_rows:
            raise InputError(
                "There are no rows to learn from: the table has none, or sample_weight is zero in "
                "every row."
            )
        return coded, weight

    @classmethod
    def _of_structure(
        cls,
        graph: Graph,
        data: Any,
        smoothing: Smoothing,
        missing: Literal["skip", "em"],
        values: Domains | None = None,
    ) -> Self:
        network = cls(graph.edges, nodes=graph.nodes, smoothing=smoothing, values=values)
        return network.update(data, missing=missing)


def _read_only(tables: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Lock the tables: they are changed by `with_table` alone."""
    for table in tables.values():
        table.setflags(write=False)
    return dict(tables)
