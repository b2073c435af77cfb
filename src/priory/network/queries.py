"""What a network answers: from its graph, from its tables, and for rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

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
from priory.data.combinations import joined_codes
from priory.data.reading import open_table
from priory.families.base import log
from priory.kernels.score import log_normalize, softmax
from priory.network.cells import check_size
from priory.network.elimination import (
    Bucket,
    Plans,
    draw_rows,
    eliminate,
    marginals_back,
    most_probable_back,
    sample_back,
    sliced,
)
from priory.network.expressions import Event, EventLike, event_of
from priory.network.factors import Factor
from priory.network.joint_table import JointTable, Variables
from priory.network.rows import Conditionals, log_joint_rows, log_p_rows
from priory.network.variables import Domains, check_rows, find_variables, read_coded

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

    def p(self, event: EventLike, given: EventLike | None = None) -> float:
        """Compute the probability of an event, or that given another, exactly.

        Events are expressions or mappings, as in `JointTable.p`. Only the variables that they name
        and their ancestors are looked at; values that `given` fixes cost nothing.
        """
        asked, known = event_of(event, self.values), event_of(given, self.values)
        if asked.only_fixed and known.only_fixed:
            return self._p_fixed(asked, known)
        # What is fixed by both must not be asked for; what `given` leaves open must be.
        open_names = (asked.variables | known.variables) - set(known.fixed)
        names = tuple(name for name in self.nodes if name in open_names)
        table, _ = self._joint(names, known.fixed, known.text)
        codes: dict[str, AnyArray] = dict(
            zip(names, np.indices(table.shape, sparse=True), strict=True)
        )
        codes |= {name: np.full((1,) * len(names), code) for name, code in known.fixed.items()}
        possible = table
        if not known.only_fixed:
            possible = np.where(known(codes, table.shape), table, 0.0)
        total = possible.sum()
        if total <= 0:
            raise _impossible(known.text)
        return min(1.0, float(np.where(asked(codes, table.shape), possible, 0.0).sum() / total))

    def _p_fixed(self, asked: Event, known: Event) -> float:
        """Compute P(asked | known) of values alone: no table over them is needed."""
        _, below = self._joint((), known.fixed, known.text)
        if any(known.fixed.get(name, code) != code for name, code in asked.fixed.items()):
            return 0.0
        try:
            _, above = self._joint((), {**known.fixed, **asked.fixed}, "")
        except ZeroProbabilityError:
            return 0.0
        return min(1.0, float(np.exp(above - below)))

    def log_p(self, given: EventLike) -> float:
        """Compute the logarithm of the probability of a mapping of variables to values.

        It is finite even where the probability itself would be too small for a float.
        """
        known = event_of(given, self.values)
        if not known.only_fixed:
            return float(np.log(self.p(known)))
        return self._joint((), known.fixed, known.text)[1]

    def marginal(self, variables: Variables, given: EventLike | None = None) -> JointTable:
        """Compute the joint distribution of some variables, given what is known.

        >>> from priory import BeliefNetwork
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
        domains = {name: self.values[name] for name in names}
        check_size(domains, "The table of these variables")
        free = tuple(name for name in names if name not in known.fixed)
        table, _ = self._joint(free, known.fixed, known.text)
        full = np.zeros([*map(len, domains.values())])
        full[tuple(known.fixed.get(name, slice(None)) for name in names)] = table
        return JointTable(full, names, domains)

    def marginals(self, given: EventLike | None = None) -> dict[str, dict[Label, float]]:
        """Compute {value: P} of every variable, given what is known, all in two passes."""
        known = event_of(given, self.values)
        if not known.only_fixed:
            return {name: self.marginal(name, known).to_dict() for name in self.nodes}
        found = marginals_back(self._eliminated(known, "sum"))
        for name, code in known.fixed.items():
            found[name] = (np.arange(len(self.values[name])) == code).astype(np.float64)
        return {
            name: dict(zip(self.values[name], found[name].tolist(), strict=True))
            for name in self.nodes
        }

    def most_probable(self, given: EventLike | None = None) -> dict[str, Label]:
        """Find the most probable values of all the variables together, given what is known.

        These need not be the most probable values of each by itself.

        >>> from priory import BeliefNetwork
        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> network.most_probable()
        {'a': True, 'b': True}
        """
        known = self._fixed(given, "most_probable")
        found = {**most_probable_back(self._eliminated(known, "max")), **known.fixed}
        return {name: self.values[name][found[name]] for name in self.nodes}

    def sample(
        self,
        n: int,
        given: EventLike | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> dict[str, AnyArray]:
        """Draw n rows, as columns; with `given`, exactly from the conditional distribution.

        Without evidence parents are drawn before their children. With it the variables are
        eliminated, and drawn in reverse: no row is rejected, however rare the evidence.
        """
        n = check_rows(n)
        rng = np.random.default_rng(random_state)
        known = self._fixed(given, "sample")
        drawn: dict[str, AnyArray] = {}
        if not known.fixed:
            for name in self.graph.order:
                table, parents = self.tables[name], self.graph.parents[name]
                rows = joined_codes([drawn[p] for p in parents], table.shape[:-1], n)
                drawn[name] = draw_rows(table.reshape(-1, table.shape[-1])[rows], rng)
        else:
            drawn |= sample_back(self._eliminated(known, "sum"), n, rng)
            drawn |= {name: np.full(n, code) for name, code in known.fixed.items()}
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

    def _fixed(self, given: EventLike | None, what: str) -> Event:
        known = event_of(given, self.values)
        if not known.only_fixed:
            raise SettingError(
                f"{what} takes values that are known, such as {{'a': True}} or 'a and b == 2', not "
                f"{known.text!r}."
            )
        return known

    def _factors(self, fixed: Mapping[str, int], names: Iterable[str]) -> list[Factor]:
        return sliced((Factor(self.graph.family(n), self.tables[n]) for n in names), fixed)

    def _eliminated(self, known: Event, how: Literal["sum", "max"]) -> list[Bucket]:
        factors = self._factors(known.fixed, self.nodes)
        buckets, log_scale = eliminate(factors, how, self._plans.most_numbers)
        if np.isneginf(log_scale):
            raise _impossible(known.text)
        return buckets

    def _joint(
        self, out: Sequence[str], fixed: Mapping[str, int], text: str
    ) -> tuple[FloatArray, float]:
        """Compute P(out | fixed) and log P(fixed) from the ancestors of both."""
        needed = self.graph.ancestors([*out, *fixed])
        names = [name for name in self.nodes if name in needed]
        if not names:
            return np.ones(()), 0.0
        table, log_scale = self._plans.contract(self._factors(fixed, names), out)
        total = float(table.sum())
        if total <= 0:
            raise _impossible(text)
        return table / total, float(log_scale[0] + np.log(total))


def _impossible(text: str) -> ZeroProbabilityError:
    return ZeroProbabilityError(
        f"{text!r} has probability 0 in this network, so it cannot be conditioned on."
    )
