"""BeliefNetwork: variables that depend on each other along a graph; learn it, ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from priory.base.errors import (
    ImpossibleEvidenceWarning,
    InputError,
    NotFittedError,
    SettingError,
    ZeroProbabilityError,
    check_number,
    did_you_mean,
    listing,
    warn,
)
from priory.base.formatting import aligned
from priory.base.graph import Graph
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.combinations import joined_codes
from priory.data.reading import open_table, read_weights
from priory.families.base import log
from priory.families.priors import DiscretePrior, as_prior
from priory.kernels.score import log_normalize, softmax
from priory.network import bif, drawing
from priory.network.counts import NetworkCounts
from priory.network.elimination import (
    MOST_NUMBERS,
    Plans,
    draw_rows,
    eliminate,
    marginals_back,
    most_probable_back,
    sample_back,
    sliced,
)
from priory.network.expressions import Event, EventLike, event_of
from priory.network.factors import (
    BDeu,
    Factor,
    NetworkPrior,
    given_domain,
    given_table,
    log_evidence,
    pseudo_counts,
    shares,
)
from priory.network.joint_table import JointTable, Variables, check_size
from priory.network.rows import expected_counts, log_p_rows
from priory.network.structure import Scored, chow_liu, hill_climbing, tan
from priory.network.targets import log_joint_rows
from priory.network.variables import (
    Coded,
    Domain,
    Domains,
    declared_domains,
    domain_of,
    find_variables,
    label_column,
    read_coded,
)

__all__ = ["BeliefNetwork"]

Smoothing = float | NetworkPrior


class BeliefNetwork:
    """Model variables that depend on each other along a graph.

        P(x_1, …, x_n) = Π_i P(x_i | parents of x_i)

    Parameters
    ----------
    edges : (parent, child) pairs, or a mapping of nodes to their parents
        There must be no circle.
    tables : a mapping of nodes to their tables, or None to learn them
        A table is {parent values: row}, or an array, parents × values; a row is {value: P}, a
        sequence, or, of a truth, P(true) alone. A node without parents has just the row.
    nodes : names
        Nodes that no edge names, or the order of all of them.
    values : a mapping of nodes to their values
        Values that may come beside those seen, or that an array's axis stands for.
    smoothing : a number, a prior, BDeu, or a mapping of nodes to them
        How counts become probabilities: a number is Laplace's α, 0 means shares as they are.
    most_numbers : a whole number
        The most numbers that a table on the way to an answer may hold.

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
        edges: Iterable[tuple[str, str]] | Mapping[str, Iterable[str]] = (),
        tables: Mapping[str, Any] | None = None,
        nodes: Iterable[str] = (),
        values: Mapping[str, Iterable[Label]] | None = None,
        smoothing: Smoothing | Mapping[str, Smoothing] = 1.0,
        most_numbers: int = MOST_NUMBERS,
    ) -> None:
        self.graph = Graph.of(edges, nodes)
        if tables is not None:  # a node may be known by its table alone
            self.graph = Graph.of(self.graph.parents, (*self.graph.nodes, *tables))
        self._plans = Plans()
        self.most_numbers = most_numbers
        self.smoothing = smoothing
        self._priors = self._read_priors(smoothing)
        self._declared = self._with_prior_values(declared_domains(values))
        for name in self._declared:
            self.graph.find(name)
        self._counts: NetworkCounts | None = None
        self._tables: dict[str, FloatArray] | None = None
        self._domains: Domains | None = None
        if tables is not None:
            self._take_tables(tables)

    def _take_tables(self, tables: Mapping[str, Any]) -> None:
        for name in tables:
            self.graph.find(name)
        missing = [name for name in self.nodes if name not in tables]
        if missing:
            raise SettingError(
                f"tables must have a table for every node; {listing(missing)} has none."
            )
        domains: dict[str, Domain] = {}
        for name in self.nodes:
            told = given_domain(tables[name], self.graph.parents[name])
            domains[name] = self._declared.get(name) or told or ()
            if not domains[name]:
                raise InputError(f"The table of {name!r} tells no values: {tables[name]!r:.60}.")
        self._domains = domains
        self._tables = {
            name: given_table(name, tables[name], self.graph.parents[name], domains)
            for name in self.nodes
        }

    # What it is

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the names of the variables."""
        return self.graph.nodes

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Return the (parent, child) pairs."""
        return self.graph.edges

    @property
    def values(self) -> Domains:
        """Return the values of every variable."""
        self._ready()
        assert self._domains is not None
        return self._domains

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """Return P(node | parents) of every node, as arrays, parents × values."""
        self._ready()
        assert self._tables is not None
        return self._tables

    @property
    def n_rows(self) -> int:
        """Return how many rows were learned."""
        return 0 if self._counts is None else self._counts.n_rows

    @property
    def most_numbers(self) -> int:
        """Return the most numbers that a table on the way to an answer may hold."""
        return self._plans.most_numbers

    @most_numbers.setter
    def most_numbers(self, most: int) -> None:
        check_number("most_numbers", most, above=0)
        self._plans = Plans(int(most))

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the parents of a node, in the order of its table."""
        return self.graph.parents[self.graph.find(node)]

    def children(self, node: str) -> tuple[str, ...]:
        """Return the children of a node."""
        return self.graph.children[self.graph.find(node)]

    def markov_blanket(self, node: str) -> set[str]:
        """Return what makes a node independent of all the rest, once it is known.

        These are its parents, its children, and its children's other parents.
        """
        return self.graph.markov_blanket(self.graph.find(node))

    def d_separated(self, a: Variables, b: Variables, given: Variables = ()) -> bool:
        """Return whether the graph alone makes two groups independent, given a third.

        Every path between them must be blocked: a chain or a fork by a middle node that is given,
        a collider by not being given, nor anything it leads to.
        """
        groups = [
            {self.graph.find(n) for n in ((g,) if isinstance(g, str) else g)} for g in (a, b, given)
        ]
        if groups[0] & groups[1]:
            raise SettingError(f"{listing(groups[0] & groups[1])} stands on both sides.")
        return self.graph.d_separated(*groups)

    def table(self, node: str) -> dict[Any, Any]:
        """Return a node's table: {value: P}, or {(parent values): {value: P}}."""
        name = self.graph.find(node)
        parents, table = self.graph.parents[name], self.tables[name]
        rows = {}
        for place in np.ndindex(table.shape[:-1]):
            key = tuple(self.values[p][i] for p, i in zip(parents, place, strict=True))
            rows[key] = dict(zip(self.values[name], table[place].tolist(), strict=True))
        return rows if parents else rows[()]

    def __repr__(self) -> str:
        rows: list[tuple[str, ...]] = [("node", "parents", "values")]
        for name in self.nodes:
            domain = self._domains[name] if self._domains else self._declared.get(name, ())
            values = ", ".join(map(str, domain[:6])) + (", …" if len(domain) > 6 else "")
            rows.append((name, ", ".join(self.graph.parents[name]) or "–", values or "–"))
        return aligned(rows)

    # Learning

    def update(
        self,
        data: Any,
        sample_weight: Any = None,
        missing: Literal["skip", "em"] = "skip",
        max_iter: int = 100,
        tolerance: float = 1e-7,
    ) -> Self:
        """Count the rows of any table; the tables are read out of the counts.

            P(v | parents) = (n + a) / (N + Σa)

        With `missing="skip"` a row counts for every node that is known together with its parents.
        With "em" its gaps are filled by what they probably held, and that again by what was then
        learned, until the mean log-likelihood of a row changes by less than `tolerance`
        (Dempster, Laird and Rubin 1977). Columns that are no nodes are not read. Values that a
        column's type lists, as pandas' categoricals do, are declared.

        >>> network = BeliefNetwork([("a", "b")]).update({"a": [1, 1, 0], "b": ["x", "y", "y"]})
        >>> network.table("b")[(1,)]
        {'x': 0.5, 'y': 0.5}
        """
        if missing not in ("skip", "em"):
            raise SettingError(f"missing must be 'skip' or 'em', not {missing!r}.")
        raw = open_table(data)
        coded, weight = self._read(raw, sample_weight)
        self.declare({name: raw.declared(name) for name in self.nodes})
        new = NetworkCounts.count(coded, self.graph, self._declared, weight)
        total = new if self._counts is None else self._counts + new
        if missing == "em" and not coded.whole.all():
            total = self._filled(coded, weight, total, new, max_iter, tolerance)
        self._become(total)
        return self

    def forget(self, data: Any, sample_weight: Any = None) -> Self:
        """Take away rows that were learned, as if they had never been seen."""
        coded, weight = self._read(data, sample_weight)
        self._become(
            self._learned() - NetworkCounts.count(coded, self.graph, self._declared, weight)
        )
        return self

    def merge(self, other: BeliefNetwork) -> Self:
        """Add everything that another network of the same structure has learned."""
        if not isinstance(other, BeliefNetwork):
            raise SettingError(f"A network merges with another one, not with {other!r:.60}.")
        if dict(self.graph.parents) != dict(other.graph.parents):
            raise SettingError(
                "Networks merge if they have the same nodes and parents; these differ."
            )
        self._become(self._learned() + other._learned())
        return self

    def __add__(self, other: BeliefNetwork) -> BeliefNetwork:
        result = BeliefNetwork(
            self.graph.parents,
            values=self._declared,
            smoothing=self.smoothing,
            most_numbers=self.most_numbers,
        )
        result._become(self._learned())
        return result.merge(other)

    def change_smoothing(self, smoothing: Smoothing | Mapping[str, Smoothing]) -> Self:
        """Change the smoothing without reading the data again."""
        priors = self._read_priors(smoothing)
        self.smoothing, self._priors = smoothing, priors
        self._declared = self._with_prior_values(self._declared)
        if self._counts is not None:
            self._become(self._counts.declaring(self._declared))
        return self

    def declare(self, values: Mapping[str, Iterable[Label]]) -> Self:
        """Make values known that may come, beside those seen.

        >>> network = BeliefNetwork([("a", "b")]).update({"a": [1, 0], "b": ["x", "x"]})
        >>> network.declare({"b": ["y"]}).table("b")[(1,)]
        {'y': 0.3333333333333333, 'x': 0.6666666666666666}
        """
        for name in values:
            self.graph.find(name)
        further = dict(self._declared)
        for name, domain in declared_domains(values).items():
            known = set(map(label_key, further.get(name, ())))
            new = (value for value in domain if label_key(value) not in known)
            domain = (*further.get(name, ()), *new)
            if domain:
                further[name] = domain
        if further != self._declared:
            self._declared = further
            if self._counts is not None:
                self._become(self._counts.declaring(self._declared))
        return self

    def log_evidence(self, smoothing: Smoothing | Mapping[str, Smoothing] | None = None) -> float:
        """Return the logarithm of the marginal likelihood of the rows that were learned.

            P(D) = Π_nodes Π_parents Γ(A)/Γ(A + N) Π_v Γ(a_v + n_v)/Γ(a_v),     A = Σ a_v

        The parameters are integrated out, so a structure is not praised for having more of them.
        `smoothing` is another prior than the network's; `BDeu` treats equivalent structures
        alike. Rows with gaps count for the nodes that are known with their parents.
        """
        counts = self._learned()
        priors = self._priors if smoothing is None else self._read_priors(smoothing)
        return sum(
            log_evidence(
                counts.tables[name],
                pseudo_counts(priors[name], counts.domains[name], counts.tables[name]),
            )
            for name in self.nodes
            if counts.domains[name]
        )

    def _learned(self) -> NetworkCounts:
        if self._counts is None:
            raise NotFittedError("This network has learned no rows yet.")
        return self._counts

    def _ready(self) -> None:
        if self._tables is None:
            if self._counts is not None and not self._counts.n_rows:
                raise NotFittedError("This network has forgotten every row it had learned.")
            if self._counts is not None:
                empty = [name for name, domain in self._counts.domains.items() if not domain]
                raise NotFittedError(
                    f"Column {listing(empty)} has held nothing but gaps so far: learn more rows, "
                    f"or declare its values: values={{{empty[0]!r}: [...]}}."
                )
            raise NotFittedError(
                "This network has no tables yet: learn them from data, or give tables=..."
            )

    def _become(self, counts: NetworkCounts) -> None:
        self._counts, self._domains = counts, counts.domains
        if not all(counts.domains.values()):
            self._tables = None
            return
        self._tables = {
            name: shares(
                counts.tables[name],
                pseudo_counts(self._priors[name], counts.domains[name], counts.tables[name]),
            )
            for name in self.nodes
        }

    def _read(self, data: Any, sample_weight: Any) -> tuple[Coded, FloatArray | None]:
        if self._tables is not None and self._counts is None:
            raise SettingError(
                "The tables of this network were given, so it does not count rows. To learn its "
                "tables make a new one: BeliefNetwork(network.edges, nodes=network.nodes)."
            )
        coded = read_coded(data, self.nodes, as_they_came=True)
        weight = read_weights(sample_weight, coded.n_rows)
        if weight is not None and not weight.all():  # a row of weight zero is not a row
            coded, weight = coded.take(weight != 0), weight[weight != 0]
        if not coded.n_rows:
            raise InputError(
                "There are no rows to learn from: the table has none, or sample_weight is zero in "
                "every row."
            )
        return coded, weight

    def _read_priors(self, smoothing: Any) -> dict[str, NetworkPrior]:
        def one(given: Any) -> NetworkPrior:
            prior = given if isinstance(given, BDeu) else as_prior(given)
            if not isinstance(prior, DiscretePrior | BDeu):
                raise SettingError(f"smoothing must be a prior over values, not {prior!r}.")
            return prior

        if isinstance(smoothing, Mapping):
            for name in smoothing:
                self.graph.find(name)
            return {name: one(smoothing.get(name, 1.0)) for name in self.nodes}
        return dict.fromkeys(self.nodes, one(smoothing))

    def _with_prior_values(self, declared: Domains) -> Domains:
        """Return the declared values, with those that a prior itself names."""
        result = dict(declared)
        for name, prior in self._priors.items():
            if isinstance(prior, DiscretePrior) and prior.values():
                result[name] = domain_of(prior.values(), declared.get(name, ()))
        return result

    def _filled(
        self,
        coded: Coded,
        weight: FloatArray | None,
        total: NetworkCounts,
        new: NetworkCounts,
        max_iter: int,
        tolerance: float,
    ) -> NetworkCounts:
        """Return the counts with the gaps of the new rows filled by expectation."""
        whole = coded.whole
        within = _within(coded, total.domains)
        gaps = within.take(~whole)
        some = None if weight is None else weight[~whole]
        n = float(weight.sum()) if weight is not None else float(coded.n_rows)
        by_skipping = NetworkCounts.count(
            coded.take(~whole), self.graph, self._declared, some
        )._within(total.domains)
        sure = {name: total.tables[name] - by_skipping.tables[name] for name in self.nodes}
        last = -np.inf
        counts = total
        for _ in range(max_iter):
            self._become(counts)
            assert self._tables is not None
            log_p = log_p_rows(within, self.graph, self._tables, self._plans)
            score = float(np.sum(log_p if weight is None else log_p * weight)) / n
            if abs(score - last) < tolerance:
                break
            last = score
            filled = expected_counts(gaps, some, self.graph, self._tables, self._plans)
            tables = {name: sure[name] + filled[name] for name in self.nodes}
            counts = NetworkCounts(
                self.graph, self._declared, total.domains, total.n_rows, total.rows, tables
            )
        return counts

    # Structure from data

    @classmethod
    def chow_liu(
        cls, data: Any, root: str | None = None, smoothing: Smoothing = 1.0
    ) -> BeliefNetwork:
        """Learn the tree that keeps the most information: every node has one parent at most.

        Of all trees it has the highest likelihood: it is the one of greatest total mutual
        information (Chow and Liu 1968). Edges lead away from the root, by default the
        first column.

        >>> data = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]}
        >>> BeliefNetwork.chow_liu(data).edges
        (('a', 'b'), ('a', 'c'))
        """
        coded = read_coded(data)
        return cls._of_structure(chow_liu(coded, root), data, smoothing)

    @classmethod
    def tan(cls, data: Any, target: str, smoothing: Smoothing = 1.0) -> BeliefNetwork:
        """Learn the tree-augmented naive Bayes network of one node (Friedman et al. 1997).

        The target is a parent of every other node; these form besides the tree of greatest
        mutual information given the target, without edges that chance explains: the one that
        `NaiveBayes(structure="tan")` finds.
        """
        coded = read_coded(data)
        return cls._of_structure(tan(coded, target), data, smoothing)

    @classmethod
    def hill_climbing(
        cls,
        data: Any,
        score: Literal["bic", "mdl", "bdeu", "k2"] | BDeu = "bic",
        start: Iterable[tuple[str, str]] = (),
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        max_parents: int | None = None,
        patience: int = 10,
        smoothing: Smoothing = 1.0,
    ) -> BeliefNetwork:
        """Learn a structure by adding, removing and turning edges while the score grows.

        `score` is "bic" (the log-likelihood less ½ log n for each parameter, which is the
        description length, so "mdl" names the same), "bdeu" or `BDeu(ess)` (the marginal
        likelihood under that prior), or "k2" (under Laplace's). Where no single change helps,
        up to `patience` changes are made that do not, never back to a structure just left
        (tabu search); the best structure met on the way is the answer.
        """
        coded = read_coded(data)
        scored = Scored(coded, score)
        graph = hill_climbing(scored, start, required, forbidden, max_parents, patience)
        return cls._of_structure(graph, data, smoothing)

    @classmethod
    def _of_structure(cls, graph: Graph, data: Any, smoothing: Smoothing) -> BeliefNetwork:
        return cls(graph.edges, nodes=graph.nodes, smoothing=smoothing).update(data)

    # Questions

    def p(self, event: EventLike, given: EventLike | None = None) -> float:
        """Return the probability of an event, or that given another, exactly.

        Events are expressions or mappings, as in `JointTable.p`. Only the variables that they name
        and what leads to them are looked at; values that `given` fixes cost nothing.
        """
        asked, known = event_of(event, self.values), event_of(given, self.values)
        if asked.only_fixed and known.only_fixed:
            return self._p_fixed(asked, known)
        # What is fixed by both must not be asked for; what `given` leaves open must be.
        open_names = (asked.variables | known.variables) - set(known.fixed)
        names = tuple(name for name in self.nodes if name in open_names)
        table, _ = self._joint(names, known.fixed, known.text)
        codes: dict[str, AnyArray] = {
            name: np.arange(size).reshape([-1 if n == name else 1 for n in names])
            for name, size in zip(names, table.shape, strict=True)
        }
        codes |= {name: np.full((1,) * len(names), code) for name, code in known.fixed.items()}
        possible = table
        if not known.only_fixed:
            possible = np.where(known(codes, table.shape), table, 0.0)
        total = possible.sum()
        if total <= 0:
            raise self._impossible(known.text)
        return min(1.0, float(np.where(asked(codes, table.shape), possible, 0.0).sum() / total))

    def _p_fixed(self, asked: Event, known: Event) -> float:
        """Return P(asked | known) of values alone: no table over them is needed."""
        _, below = self._joint((), known.fixed, known.text)
        if any(known.fixed.get(name, code) != code for name, code in asked.fixed.items()):
            return 0.0
        try:
            _, above = self._joint((), {**known.fixed, **asked.fixed}, "")
        except ZeroProbabilityError:
            return 0.0
        return min(1.0, float(np.exp(above - below)))

    def marginal(self, variables: Variables, given: EventLike | None = None) -> JointTable:
        """Return the joint distribution of some variables, given what is known.

        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> print(network.marginal("a", given="b"))
        a      P
        False  0.181818
        True   0.818182
        """
        names = find_variables(variables, self.values)
        known = event_of(given, self.values)
        if not known.only_fixed:
            others = [v for v in self.nodes if v in known.variables and v not in names]
            return self.marginal((*names, *others)).condition(known).marginal(names)
        check_size({name: self.values[name] for name in names}, "The table of these variables")
        free = tuple(name for name in names if name not in known.fixed)
        table, _ = self._joint(free, known.fixed, known.text)
        full = np.zeros([len(self.values[name]) for name in names])
        full[tuple(known.fixed.get(name, slice(None)) for name in names)] = table
        domains = {name: self.values[name] for name in names}
        cells = np.stack(np.nonzero(np.ones(full.shape, dtype=np.bool_)), axis=1)
        return JointTable._of(domains, cells.astype(np.int64), full.ravel(), None)

    def marginals(self, given: EventLike | None = None) -> dict[str, dict[Label, float]]:
        """Return {value: P} of every variable, given what is known, all in two passes."""
        known = event_of(given, self.values)
        if not known.only_fixed:
            return {name: self.marginal(name, known).to_dict() for name in self.nodes}
        buckets, log_scale = eliminate(self._factors(known.fixed), "sum", self.most_numbers)
        if np.isneginf(log_scale):
            raise self._impossible(known.text)
        found = marginals_back(buckets)
        for name, code in known.fixed.items():
            found[name] = (np.arange(len(self.values[name])) == code).astype(np.float64)
        return {
            name: dict(zip(self.values[name], found[name].tolist(), strict=True))
            for name in self.nodes
        }

    def log_p(self, given: EventLike) -> float:
        """Return the logarithm of the probability of a mapping of variables to values.

        It can be told where the probability itself would be too small for a float.
        """
        known = event_of(given, self.values)
        if not known.only_fixed:
            return float(np.log(self.p(known)))
        return self._joint((), known.fixed, known.text)[1]

    def most_probable(self, given: EventLike | None = None) -> dict[str, Label]:
        """Return the most probable values of all the variables together, given what is known.

        These need not be the most probable values of each by itself.

        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> network.most_probable()
        {'a': True, 'b': True}
        """
        known = self._fixed(given, "most_probable")
        buckets, log_scale = eliminate(self._factors(known.fixed), "max", self.most_numbers)
        if np.isneginf(log_scale):
            raise self._impossible(known.text)
        found = {**most_probable_back(buckets), **known.fixed}
        return {name: self.values[name][found[name]] for name in self.nodes}

    def sample(
        self,
        n: int,
        given: EventLike | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> dict[str, AnyArray]:
        """Draw n rows, as columns; given what is known, exactly from what is left.

        Without evidence parents are drawn before their children. With it the variables are
        eliminated, and drawn on the way back: no row is thrown away, however rare the evidence.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise SettingError(f"n must be a whole number of at least 0, not {n!r}.")
        rng = np.random.default_rng(random_state)
        known = self._fixed(given, "sample")
        drawn: dict[str, AnyArray] = {}
        if not known.fixed:
            for name in self.graph.order:
                table, parents = self.tables[name], self.graph.parents[name]
                rows = joined_codes([drawn[p] for p in parents], table.shape[:-1], int(n))
                drawn[name] = draw_rows(table.reshape(-1, table.shape[-1])[rows], rng)
        else:
            buckets, log_scale = eliminate(self._factors(known.fixed), "sum", self.most_numbers)
            if np.isneginf(log_scale):
                raise self._impossible(known.text)
            drawn |= sample_back(buckets, int(n), rng)
            drawn |= {name: np.full(int(n), code) for name, code in known.fixed.items()}
        return {name: label_column(self.values[name], drawn[name]) for name in self.nodes}

    def score_samples(self, data: Any) -> FloatArray:
        """Return log P(row) of every row, what is missing summed out.

        Columns that the table does not have are missing in every row.
        """
        names = self._columns_of(data)
        coded = read_coded(data, names, self.values, fixed=True)
        return log_p_rows(coded, self.graph, self.tables, self._plans)

    def predict(self, rows: Any, target: str) -> AnyArray:
        """Give the most probable value of one node in every row; a tie goes to the first.

        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> network.predict({"b": [True, False]}, "a").tolist()
        [True, False]
        """
        found = self._normalized(rows, target, log_normalize)
        return label_column(self.values[target], found.argmax(axis=1))

    def predict_proba(self, rows: Any, target: str) -> FloatArray:
        """Give P(v | row) of one node, a column for each of its `values`.

            P(v | row) ∝ Σ over gaps Π_i P(x_i | parents of x_i)

        Gaps, values that the node does not have, and columns that the table does not have are
        summed out exactly. The target's own column is not looked at. With every other node known
        only the target's Markov blanket matters. A row that is impossible gets the target's
        marginal, with a warning.

        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> network.predict_proba({"b": [True, None]}, "a").round(4).tolist()
        [[0.1818, 0.8182], [0.5, 0.5]]
        """
        return self._normalized(rows, target, softmax)

    def _normalized(
        self, rows: Any, target: str, normalize: Callable[[Any, Any], None]
    ) -> FloatArray:
        target = self.graph.find(target)
        names = [name for name in self._columns_of(rows) if name != target]
        coded = read_coded(rows, names, self.values, fixed="or a gap")
        out = log_joint_rows(coded, self.graph, self.tables, target, self._plans)
        evidence = np.empty(len(out))
        normalize(out, evidence)
        impossible = np.isneginf(evidence)
        if impossible.any():
            prior = np.array([*self.marginal(target).to_dict().values()])
            out[impossible] = prior if normalize is softmax else log(prior)
            n = int(impossible.sum())
            warn(
                f"{n} {'row is' if n == 1 else 'rows are'} impossible in this network; the answer "
                f"given is the marginal of {target!r}. A smoothing above 0 lets values be possible "
                "that never came together.",
                ImpossibleEvidenceWarning,
            )
        return out

    def log_likelihood(self, data: Any) -> float:
        """Return log P(rows), the sum over the rows, what is missing summed out."""
        return float(self.score_samples(data).sum())

    def _columns_of(self, data: Any) -> tuple[str, ...]:
        names = open_table(data).names
        for name in names:
            if name not in self.values:
                raise InputError(
                    f"Column {name!r} is no node of the network. Nodes: {listing(self.nodes, 10)}."
                    f"{did_you_mean(name, self.nodes)}"
                )
        return names

    def _fixed(self, given: EventLike | None, what: str) -> Event:
        known = event_of(given, self.values)
        if not known.only_fixed:
            raise SettingError(
                f"{what} takes values that are known, such as {{'a': True}} or 'a and b == 2', not "
                f"{known.text!r}."
            )
        return known

    def _factors(
        self, fixed: Mapping[str, int], names: Iterable[str] | None = None
    ) -> list[Factor]:
        factors = [
            Factor((*self.graph.parents[name], name), self.tables[name])
            for name in (self.nodes if names is None else names)
        ]
        return sliced(factors, fixed)

    def _joint(
        self, out: Sequence[str], fixed: Mapping[str, int], text: str
    ) -> tuple[FloatArray, float]:
        """Return P(out | fixed), and log P(fixed); nodes that lead to neither are left out."""
        needed = self.graph.ancestors([*out, *fixed])
        names = [name for name in self.nodes if name in needed]
        if not names:
            return np.ones(()), 0.0
        table, log_scale = self._plans.contract(self._factors(fixed, names), out)
        total = float(table.sum())
        if total <= 0:
            raise self._impossible(text)
        return table / total, float(log_scale[0] + np.log(total))

    def _impossible(self, text: str) -> ZeroProbabilityError:
        return ZeroProbabilityError(
            f"{text!r} has probability 0 in this network, so nothing can be said given that."
        )

    # Files and pictures

    @classmethod
    def read_bif(cls, path: str | PathLike[str]) -> BeliefNetwork:
        """Read a network from a file in the Bayesian interchange format (BIF)."""
        with open(path, encoding="utf-8") as file:
            return cls.from_bif(file.read())

    @classmethod
    def from_bif(cls, text: str) -> BeliefNetwork:
        """Return the network of a text in the Bayesian interchange format."""
        parents, domains, tables = bif.parse(text)
        return cls(parents, tables=tables, nodes=tuple(parents), values=domains)

    def to_bif(self, name: str = "network") -> str:
        """Return the network as a text in the Bayesian interchange format."""
        return bif.text(name, self.graph, self.values, self.tables)

    def write_bif(self, path: str | PathLike[str], name: str = "network") -> None:
        """Write the network to a file in the Bayesian interchange format."""
        text = self.to_bif(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def to_svg(self, given: EventLike | None = None, bars: bool | None = None) -> str:
        """Draw the network: parents above their children, as a text in SVG.

        With `bars`, which are the default up to 12 nodes, every node shows how probable its
        values are, given what is known.
        """
        if bars is None:
            bars = self._tables is not None and (len(self.nodes) <= 12 or given is not None)
        known = set(event_of(given, self.values).fixed) if given is not None else set()
        shown = self.marginals(given) if bars else {}
        return drawing.svg(self.graph, shown, known)

    def _repr_svg_(self) -> str:
        return self.to_svg()


def _within(coded: Coded, domains: Domains) -> Coded:
    """Return rows with their codes in other, wider domains."""
    codes = {}
    for name, column in coded.codes.items():
        places = {label_key(value): i for i, value in enumerate(domains[name])}
        place = [places[label_key(value)] for value in coded.domains[name]]
        codes[name] = np.array([*place, -1], dtype=np.int32)[column]
    return Coded(coded.n_rows, domains, codes)
