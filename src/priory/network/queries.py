"""What a network answers: from its graph, from its tables, and for rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from priory.base.errors import (
    ImpossibleEvidenceWarning,
    InputError,
    SettingError,
    ZeroProbabilityError,
    did_you_mean,
    listing,
    warn,
)
from priory.base.graph import Graph
from priory.base.labels import label_array
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.reading import open_table
from priory.families.base import log
from priory.kernels.score import log_normalize, softmax
from priory.network.cells import check_size
from priory.network.elimination import (
    Bucket,
    Plans,
    eliminate,
    marginals_back,
    most_probable_back,
    sample_back,
)
from priory.network.events import Event
from priory.network.evidence import Evidence, Interventions, read_evidence
from priory.network.expressions import EventLike, event_of
from priory.network.joint_table import JointTable, Variables
from priory.network.rows import Conditionals, log_joint_rows, log_p_rows
from priory.network.sampling import Weighted, draw_forward, likelihood_weighting
from priory.network.variables import (
    Domains,
    check_rows,
    find_variables,
    read_coded,
    true_and_false,
)

__all__ = ["NetworkQueries"]


class NetworkQueries:
    """Answer questions about variables with P(x_1, …, x_n) = Π_i P(x_i | parents of x_i)."""

    graph: Graph
    _plans: Plans
    _domains: Domains | None
    _tables: Mapping[str, FloatArray] | None

    @property
    def values(self) -> Domains:
        """The values of every variable."""
        self._check_ready()
        assert self._domains is not None
        return self._domains

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """P(node | parents) of every node, as arrays, parents × values."""
        self._check_ready()
        assert self._tables is not None
        return self._tables

    def _check_ready(self) -> None:
        raise NotImplementedError

    @property
    def _ordered(self) -> frozenset[str]:
        raise NotImplementedError

    # The graph

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.graph.nodes

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (parent, child) pairs."""
        return self.graph.edges

    def parents(self, node: str) -> tuple[str, ...]:
        """List the parents of a node, in the order of its table."""
        return self.graph.parents[self.graph.find(node)]

    def children(self, node: str) -> tuple[str, ...]:
        """List the children of a node."""
        return self.graph.children[self.graph.find(node)]

    def markov_blanket(self, node: str) -> set[str]:
        """Find the nodes that, once known, make a node independent of all the others.

        These are its parents, its children, and its children's other parents.
        """
        return self.graph.markov_blanket(self.graph.find(node))

    def d_separated(self, a: Variables, b: Variables, given: Variables = ()) -> bool:
        """Tell whether the graph alone makes two groups independent, given a third.

        Every path between them must be blocked: a chain or a fork by a middle node that is given,
        a collider by neither it nor any of its descendants being given.
        """
        groups = [
            {self.graph.find(n) for n in ((g,) if isinstance(g, str) else g)} for g in (a, b, given)
        ]
        if groups[0] & groups[1]:
            raise SettingError(f"{listing(groups[0] & groups[1])} is on both sides.")
        return self.graph.d_separated(*groups)

    # Probabilities

    def table(self, node: str) -> dict[Any, Any]:
        """Show a node's table: {value: P}, or {(parent values): {value: P}}."""
        name = self.graph.find(node)
        parents, table = self.graph.parents[name], self.tables[name]
        rows = {}
        for place in np.ndindex(table.shape[:-1]):
            key = tuple(self.values[p][i] for p, i in zip(parents, place, strict=True))
            rows[key] = dict(zip(self.values[name], table[place].tolist(), strict=True))
        return rows if parents else rows[()]

    def p(
        self,
        event: EventLike,
        given: EventLike | None = None,
        do: Interventions | None = None,
        approximate: int | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> float:
        """Compute the probability of an event, or that given another, exactly.

        Events are expressions or mappings, as in `JointTable.p`. In `given`, {variable: {value:
        likelihood}} is soft evidence, and a list holds several pieces of evidence. Variables in
        `do` are set to a value, whatever their parents are: P(event | do(x)). Only what is named
        and its ancestors are looked at; values that `given` fixes cost nothing. `approximate` is
        a number of samples to weight by their likelihood instead; the answer, a float, then has a
        `standard_error`.

        >>> from priory import BeliefNetwork
        >>> network = BeliefNetwork("rain->wet", {"rain": 0.2, "wet": {True: 0.9, False: 0.1}})
        >>> round(network.p("rain", given="wet"), 4), network.p("rain", do={"wet": True})
        (0.6923, 0.2)
        >>> round(network.p("rain", given={"wet": {True: 0.8, False: 0.4}}), 4)
        0.3016
        """
        asked = self._event(event)
        if asked.soft:
            raise SettingError("The event asked for cannot be soft evidence; give it as given=.")
        known = self._evidence(given, do)
        if approximate is not None:
            rows = self._weighted(known, approximate, random_state)
            return rows.share(asked(rows.drawn, rows.n))
        below = (1.0, 0.0) if known.is_certain else self._log_z(known)
        if below[0] <= 0:
            raise _impossible(known.text)
        both = [known.event, asked]
        above = self._log_z(read_evidence(both, do, self.values, self._ordered, asked=True))
        return min(1.0, float(above[0] / below[0] * np.exp(above[1] - below[1])))

    def log_p(self, given: EventLike, do: Interventions | None = None) -> float:
        """Compute the logarithm of the probability of an event, or of soft evidence.

        It is finite even where the probability itself would be too small for a float.
        """
        known = self._evidence(given, do)
        p, log_scale = self._log_z(known)
        if p <= 0:
            raise _impossible(known.text)
        return float(np.log(p) + log_scale)

    def causal_effect(self, cause: str, event: EventLike, given: EventLike | None = None) -> float:
        """Compute how much setting a boolean variable changes the probability of an event.

            P(event | do(cause)) − P(event | do(not cause))

        >>> from priory import BeliefNetwork
        >>> network = BeliefNetwork("rain->wet", {"rain": 0.2, "wet": {True: 0.9, False: 0.1}})
        >>> round(network.causal_effect("rain", "wet"), 4), network.causal_effect("wet", "rain")
        (0.8, 0.0)
        """
        cause = self.graph.find(cause)
        codes = true_and_false(self.values[cause])
        if codes is None or -1 in codes:
            raise SettingError(
                f"cause must be a boolean variable; {cause!r} has the values "
                f"{listing(self.values[cause])}. Compare p(..., do={{{cause!r}: value}}) of two."
            )
        one, other = (self.p(event, given, {cause: self.values[cause][code]}) for code in codes)
        return one - other

    def marginal(
        self,
        variables: Variables,
        given: EventLike | None = None,
        do: Interventions | None = None,
    ) -> JointTable:
        """Compute the joint distribution of some variables, given what is known.

        >>> from priory import BeliefNetwork
        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> print(network.marginal("a", given="b"))
        a      P
        False  0.181818
        True   0.818182
        """
        names = find_variables(variables, self.values)
        known = self._evidence(given, do)
        domains = {name: self.values[name] for name in names}
        check_size(domains, "The table of these variables")
        fixed = {**known.fixed, **known.done}
        free = tuple(name for name in names if name not in fixed)
        factors = known.problem(self.graph, self.tables, names)
        table, log_scale = eliminate(factors, self._plans, free, remember=False)[1:]
        total = float(table.sum())
        if np.isneginf(log_scale) or total <= 0:
            raise _impossible(known.text)
        full = np.zeros([*map(len, domains.values())])
        full[tuple(fixed.get(name, slice(None)) for name in names)] = table / total
        return JointTable.from_array(full, domains, self._ordered.intersection(names))

    def marginals(
        self,
        given: EventLike | None = None,
        do: Interventions | None = None,
        approximate: int | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> dict[str, dict[Label, float]]:
        """Compute {value: P} of every variable, given what is known, all in two passes.

        With `approximate`, so many samples are weighted by their likelihood instead, and every
        probability has a `standard_error`.
        """
        known = self._evidence(given, do)
        if approximate is not None:
            rows = self._weighted(known, approximate, random_state)
            return {
                name: {v: rows.share(rows.drawn[name] == i) for i, v in enumerate(domain)}
                for name, domain in self.values.items()
            }
        found = marginals_back(self._eliminated(known))
        for name, code in {**known.fixed, **known.done}.items():
            found[name] = (np.arange(len(self.values[name])) == code).astype(np.float64)
        return {
            name: dict(zip(self.values[name], found[name].tolist(), strict=True))
            for name in self.nodes
        }

    def most_probable(
        self,
        given: EventLike | None = None,
        variables: Variables | None = None,
        do: Interventions | None = None,
    ) -> dict[str, Label]:
        """Find the most probable values of some variables together, of all of them by default.

            argmax over their values of Σ over the other variables P(everything | given)

        These need not be the most probable values of each by itself.

        >>> from priory import BeliefNetwork
        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> network.most_probable()
        {'a': True, 'b': True}
        >>> network.most_probable("not b", variables="a")
        {'a': False}
        """
        names = self.nodes if variables is None else find_variables(variables, self.values)
        known = self._evidence(given, do)
        # A gate follows from its variables: it is maximised with them if all of them are.
        all_of_them = len(names) == len(self.nodes)
        found = most_probable_back(
            self._eliminated(known, {*names, *(known.gates if all_of_them else ())})
        )
        found = {**found, **known.fixed, **known.done}
        return {name: self.values[name][found[name]] for name in names}

    def sample(
        self,
        n: int,
        given: EventLike | None = None,
        random_state: int | np.random.Generator | None = None,
        do: Interventions | None = None,
    ) -> dict[str, AnyArray]:
        """Draw n rows, as columns; with `given`, exactly from the conditional distribution.

        Without evidence parents are drawn before their children. With it the variables are
        eliminated, and drawn in reverse: no row is rejected, however rare the evidence.
        """
        n = check_rows(n)
        rng = np.random.default_rng(random_state)
        known = self._evidence(given, do)
        if known.is_certain:
            drawn = draw_forward(self._conditionals, n, rng, known.done)
        else:
            drawn = sample_back(self._eliminated(known), n, rng)
            drawn |= {name: np.full(n, c) for name, c in {**known.fixed, **known.done}.items()}
        return {name: label_array(self.values[name])[drawn[name]] for name in self.nodes}

    # Rows of a table

    def score_samples(self, data: Any) -> FloatArray:
        """Compute log P(row) of every row, what is missing summed out.

        Columns that the table does not have are missing in every row.
        """
        coded = read_coded(data, self._columns_of(data), self.values, fixed=True)
        return log_p_rows(coded, self._conditionals)

    def log_likelihood(self, data: Any) -> float:
        """Compute log P(rows), the sum over the rows, what is missing summed out."""
        return float(self.score_samples(data).sum())

    def predict(self, rows: Any, target: str) -> AnyArray:
        """Predict the most probable value of one node in every row; a tie goes to the first.

        >>> from priory import BeliefNetwork
        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> network.predict({"b": [True, False]}, "a").tolist()
        [True, False]
        """
        found = self._normalized(rows, target, log_normalize)
        return label_array(self.values[target])[found.argmax(axis=1)]

    def predict_proba(self, rows: Any, target: str) -> FloatArray:
        """Compute P(v | row) of one node, a column for each of its `values`.

            P(v | row) ∝ Σ over missing values Π_i P(x_i | parents of x_i)

        Missing values, values that a node does not have, and columns that the table does not have
        are summed out exactly. The target's own column is not looked at. With every other node
        known only the target's Markov blanket matters. An impossible row gets the target's
        marginal, with a warning.

        >>> from priory import BeliefNetwork
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
        coded = read_coded(rows, names, self.values, fixed="or missing")
        out = log_joint_rows(coded, self._conditionals, target)
        evidence = np.empty(len(out))
        normalize(out, evidence)
        impossible = np.isneginf(evidence)
        if impossible.any():
            prior = np.array([*self.marginal(target).to_dict().values()])
            out[impossible] = prior if normalize is softmax else log(prior)
            n = int(impossible.sum())
            warn(
                f"{n} {'row is' if n == 1 else 'rows are'} impossible in this network and got the "
                f"marginal of {target!r}. A smoothing above 0 makes combinations possible that "
                "never came.",
                ImpossibleEvidenceWarning,
            )
        return out

    def _columns_of(self, data: Any) -> tuple[str, ...]:
        names = open_table(data).names
        for name in names:
            if name not in self.values:
                raise InputError(
                    f"Column {name!r} is not a node of the network. Nodes: "
                    f"{listing(self.nodes, 10)}.{did_you_mean(name, self.nodes)}"
                )
        return names

    # Parts of the answers

    @property
    def _conditionals(self) -> Conditionals:
        return Conditionals(self.graph, self.tables, self._plans)

    def _event(self, what: EventLike) -> Event:
        return event_of(what, self.values, self._ordered)

    def _evidence(self, given: EventLike | None, do: Interventions | None = None) -> Evidence:
        return read_evidence(given, do, self.values, self._ordered)

    def _eliminated(self, known: Evidence, maximize: Collection[str] = ()) -> list[Bucket]:
        factors = known.problem(self.graph, self.tables, self.nodes)
        buckets, _, log_scale = eliminate(factors, self._plans, maximize=maximize)
        if np.isneginf(log_scale):
            raise _impossible(known.text)
        return buckets

    def _log_z(self, known: Evidence) -> tuple[float, float]:
        """Compute P(what is known) = p · exp(log scale)."""
        factors = known.problem(self.graph, self.tables, ())
        if not factors:
            return 1.0, 0.0
        _, p, log_scale = eliminate(factors, self._plans, remember=False)
        return (0.0, 0.0) if np.isneginf(log_scale) else (float(p), log_scale)

    def _weighted(
        self, known: Evidence, n: int, random_state: int | np.random.Generator | None
    ) -> Weighted:
        rng = np.random.default_rng(random_state)
        found = likelihood_weighting(self._conditionals, known, check_rows(n), rng)
        if not found.weight.any():
            raise ZeroProbabilityError(
                f"{known.text!r} was never met in {found.n:,} samples; it may have probability 0. "
                "Draw more, or ask for the exact answer."
            )
        return found


def _impossible(text: str) -> ZeroProbabilityError:
    return ZeroProbabilityError(
        f"{text!r} has probability 0 in this network, so it cannot be conditioned on."
    )
