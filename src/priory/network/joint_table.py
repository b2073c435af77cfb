"""JointTable: the joint distribution of some variables, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from priory.base.errors import InputError, SettingError, ZeroProbabilityError, check_number
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.labels import label_array
from priory.base.typing import AnyArray, BoolArray, FloatArray, Label
from priory.data.combinations import distinct_combinations, joined_codes
from priory.data.reading import read_weights
from priory.families.priors import DiscretePrior, as_prior
from priory.kernels.labels import encode_integers
from priory.network.cells import (
    Cells,
    cell_labels,
    check_size,
    count_cells,
    every_cell,
    read_cells,
)
from priory.network.events import Event
from priory.network.expressions import EventLike, event_of
from priory.network.independence import (
    Independence,
    Partition,
    exact_independence,
    g_test,
)
from priory.network.variables import (
    Domains,
    check_rows,
    declared_domains,
    find_variables,
    ordered_names,
    read_coded,
)
from priory.statistics.information import shared

if TYPE_CHECKING:
    from priory.network.belief_network import BeliefNetwork

__all__ = ["JointTable", "Variables"]

SHOWN = 20

Variables: TypeAlias = str | Sequence[str]
Side: TypeAlias = "EventLike | Sequence[str]"
"""An event, or variables with all their values."""


class JointTable:
    """Hold the joint distribution of some variables, and answer any query about it.

        P(E) = Σ P(cell) over the cells where E holds,      P(E | F) = P(E and F) / P(F)

    `probabilities` are {(value, value, …): P}, nested mappings, or an array with an axis for each
    variable; they must add up to 1. Cells that are not given are impossible. `from_data` counts
    the cells instead, `from_network` computes them.

    An event is an expression over the variables (see `p`), or a mapping of variables to values.
    The name of a boolean variable (True and False, 1 and 0, yes and no) is an event by itself.

    >>> weather = JointTable(
    ...     {("rain", True): 0.2, ("rain", False): 0.1, ("dry", True): 0.1, ("dry", False): 0.6},
    ...     variables=["sky", "late"],
    ... )
    >>> weather.p("late"), round(weather.p("late", given="sky == rain"), 4)
    (0.30000000000000004, 0.6667)
    """

    def __init__(
        self,
        probabilities: Mapping[Any, Any] | AnyArray | Sequence[Any],
        variables: Sequence[str] | None = None,
        values: Mapping[str, Iterable[Label]] | None = None,
    ) -> None:
        cells = read_cells(probabilities, variables, declared_domains(values))
        self._take(cells._replace(ordered=ordered_names(values)))

    def _take(self, cells: Cells) -> Self:
        self.values: Domains = dict(cells.domains)
        self._cells, self._p, self._counts = cells, cells.p, cells.counts
        self._columns = dict(zip(self.values, cells.codes.T, strict=True))
        return self

    @classmethod
    def from_data(
        cls,
        data: Any,
        variables: Sequence[str] | None = None,
        smoothing: float | DiscretePrior = 0.0,
        values: Mapping[str, Iterable[Label]] | None = None,
        sample_weight: Any = None,
    ) -> JointTable:
        """Count the rows of any table: pandas, polars, Arrow, NumPy, a dict of columns.

            P(cell) = (rows in the cell + a) / (rows + Σa)

        `smoothing` is a number or a prior, and 0 gives relative frequencies; `values` declares
        values that are possible beside those seen, in their order. Rows with missing values are
        left out. Measurements, of which hardly two are the same, are put into bins (`binned`).

        >>> table = JointTable.from_data({"a": [1, 1, 0, 0], "b": [1, 1, 1, 0]}, smoothing=1)
        >>> table.p("a and b")
        0.375
        """
        coded = read_coded(data, variables, declared_domains(values), bins=True)
        prior = as_prior(smoothing)
        if not isinstance(prior, DiscretePrior):
            raise SettingError(f"smoothing must be a prior over values, not {prior!r}.")
        weights = read_weights(sample_weight, coded.n_rows)
        complete = coded.complete
        coded, weights = coded.take(complete), None if weights is None else weights[complete]
        if not coded.n_rows:
            raise InputError("There are no rows without missing values to count.")
        return cls._of(count_cells(coded, weights, prior))

    @classmethod
    def from_array(
        cls, p: FloatArray, values: Domains, ordered: Collection[str] = ()
    ) -> JointTable:
        """Make a table of an array that is known to be a distribution, an axis for each variable.

        >>> JointTable.from_array(np.array([0.25, 0.75]), {"a": ("x", "y")}).p("a == y")
        0.75
        """
        return cls._of(Cells(values, every_cell(p.shape), p.ravel(), None, frozenset(ordered)))

    @classmethod
    def from_network(
        cls, network: BeliefNetwork, variables: Sequence[str] | None = None
    ) -> JointTable:
        """Compute the joint distribution of a network's variables, or of some of them."""
        return network.marginal(tuple(network.values) if variables is None else variables)

    # What it holds

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.values)

    @property
    def n(self) -> float | None:
        """The number of rows that were counted, None for a table that was given."""
        return None if self._counts is None else float(self._counts.sum())

    def __len__(self) -> int:
        return len(self._p)

    def to_dict(self) -> dict[Any, float]:
        """Export {(value, value, …): P} of the cells; of one variable, {value: P}."""
        labels = cell_labels(self.values, self._cells.codes)
        return dict(zip(labels, self._p.tolist(), strict=True))

    def to_array(self) -> FloatArray:
        """Export the probabilities as an array with an axis for each variable, values in order."""
        check_size(self.values, "An array of all the cells")
        dense = np.zeros([*map(len, self.values.values())])
        dense[tuple(self._cells.codes.T)] = self._p
        return dense

    def __repr__(self) -> str:
        rows, more = self._rows()
        return "\n".join([aligned(rows), *more])

    def _repr_html_(self) -> str:
        (head, *rows), more = self._rows()
        return html_together(html_table(head, rows, words=range(len(self.values))), remarks=more)

    def _rows(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Format the head and the first cells, and the remark that there are more."""
        rows = [(*self.values, *(("rows",) if self._counts is not None else ()), "P")]
        codes = self._cells.codes[:SHOWN].tolist()
        for i, cell in enumerate(codes):
            labels = [str(d[code]) for d, code in zip(self.values.values(), cell, strict=True)]
            counted = [] if self._counts is None else [f"{self._counts[i]:g}"]
            rows.append((*labels, *counted, f"{self._p[i]:.6g}"))
        more = len(self) - SHOWN
        return rows, [f"… and {more:,} more cells"] if more > 0 else []

    # Questions

    def p(self, event: EventLike, given: EventLike | None = None) -> float:
        """Compute the probability of an event, or that given another.

        An expression is made of the variables, == != < <= > >= (also chained), `in`, `not in`,
        `and`, `or` and `not`. Values are in quotes, which may be omitted if the word is a value
        and not a variable. A name that is not a Python identifier is in backticks.

        >>> die = JointTable({i: 1 / 6 for i in range(1, 7)}, variables=["die"])
        >>> round(die.p("2 <= die < 5"), 3), round(die.p("die in (2, 4, 6)", given="die > 3"), 3)
        (0.5, 0.667)
        """
        if (one := self._event(event)).soft:
            raise SettingError("The event asked for cannot be soft evidence; give it as given=.")
        asked = one(self._columns, len(self))
        if given is None:
            return float(self._p[asked].sum())
        known, total = self._known(given)
        return min(1.0, float(known[asked].sum() / total))

    def marginal(self, variables: Variables) -> JointTable:
        """Sum out all but some of the variables.

        >>> table = JointTable([[0.1, 0.2], [0.3, 0.4]], variables=["a", "b"])
        >>> print(table.marginal("b"))
        b  P
        0  0.4
        1  0.6
        """
        names = find_variables(variables, self.values)
        domains = {name: self.values[name] for name in names}
        columns = [self._columns[name] for name in names]
        codes, where = distinct_combinations(columns, [*map(len, domains.values())])

        def summed(cells: FloatArray) -> FloatArray:
            return np.bincount(where, cells, len(codes)).astype(np.float64)

        counts = None if self._counts is None else summed(self._counts)
        ordered = self._cells.ordered.intersection(names)
        return self._of(Cells(domains, codes, summed(self._p), counts, ordered))

    def condition(self, event: EventLike) -> JointTable:
        """Condition on an event: keep the cells in which it holds, and all the variables.

        >>> table = JointTable([[0.1, 0.2], [0.3, 0.4]], variables=["a", "b"])
        >>> table.condition("a or b").p("a and b")
        0.4444444444444445
        """
        given = self._event(event)
        known, total = self._known(given)
        kept = given(self._columns, len(self))
        soft = bool(given.soft)  # then the rows are no longer whole ones
        counts = None if self._counts is None or soft else self._counts[kept]
        codes, p = self._cells.codes[kept], known[kept] / total
        return self._of(Cells(self.values, codes, p, counts, self._cells.ordered))

    def independent(
        self,
        a: Side,
        b: Side,
        given: Side | None = None,
        method: Literal["exact", "g-test", "permutation"] | None = None,
        level: float = 0.05,
        tolerance: float = 1e-9,
    ) -> Independence:
        """Test whether two events, or two groups of variables, are independent.

            A ⊥ B | C   ⇔   P(A and B | C) = P(A | C) · P(B | C)

        A name, or a sequence of names, means variables with all their values; any other
        expression the event that it is true. `given` variables condition on each of their values,
        a `given` event on itself. A table of probabilities is checked exactly, to the
        `tolerance`; a counted one by a test of its rows, where "independent" means not rejected
        at the `level`: a G-test, or one of permutations where few rows are expected in some
        cell. `method` ("exact", "g-test", "permutation") chooses.

        >>> coins = JointTable([[0.25, 0.25], [0.25, 0.25]], variables=["a", "b"])
        >>> bool(coins.independent("a", "b"))
        True
        >>> bool(coins.independent("a", "a or b"))
        False
        """
        if method not in (None, "exact", "g-test", "permutation"):
            raise SettingError(
                f"method must be 'exact', 'g-test' or 'permutation', not {method!r}."
            )
        check_number("level", level, above=0)
        check_number("tolerance", tolerance)
        if method not in (None, "exact") and self._counts is None:
            raise SettingError(
                f"method={method!r} needs rows that were counted; this table holds probabilities "
                "alone. Use method='exact', or JointTable.from_data."
            )
        table, strata = self._stratified(given)
        one, two = table._partition(a), table._partition(b)
        if method == "exact" or table._counts is None:
            return exact_independence(table._p, one, two, strata, tolerance)
        return g_test(table._counts, one, two, strata, level, method)

    def entropy(self, of: Side | None = None, given: Side | None = None) -> float:
        """Compute the entropy of the variables, or of some given others, in bits.

            H(A) = −Σ P(a) log2 P(a),      H(A | C) = H(A, C) − H(C)

        >>> JointTable([[0.25, 0.25], [0.5, 0]], variables=["a", "b"]).entropy()
        1.5
        """
        table, strata = self._stratified(given)
        part = table._partition(table.variables if of is None else of)
        return table._entropy(part, strata) - table._entropy(strata)

    def mutual_information(self, a: Side, b: Side, given: Side | None = None) -> float:
        """Compute the mutual information of two events, or groups of variables, in bits.

            I(A; B | C) = Σ P(a, b, c) log2( P(a, b | c) / (P(a | c) P(b | c)) )

        >>> JointTable([[0.5, 0], [0, 0.5]], variables=["a", "b"]).mutual_information("a", "b")
        1.0
        """
        table, strata = self._stratified(given)
        one, two = table._partition(a), table._partition(b)
        n, of_a, of_b, total = (
            table._mass(*parts)
            for parts in ((one, two, strata), (one, strata), (two, strata), (strata,))
        )
        share = np.divide(table._p, n, out=np.zeros(len(n)), where=n > 0)
        nats = float((shared(n, of_a, of_b, total) * share).sum())
        return max(0.0, nats / math.log(2.0))

    def sample(
        self,
        n: int,
        given: EventLike | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> dict[str, AnyArray]:
        """Draw n new rows, as columns; with `given`, from the conditional distribution.

        >>> table = JointTable([[0, 0], [0, 1]], variables=["a", "b"])
        >>> table.sample(2, random_state=0)
        {'a': array([1, 1]), 'b': array([1, 1])}
        """
        n = check_rows(n)
        if given is not None:
            return self.condition(given).sample(n, random_state=random_state)
        rng = np.random.default_rng(random_state)
        ends = np.cumsum(self._p)
        cells = np.searchsorted(ends, rng.random(n) * ends[-1], side="right")
        cells = np.minimum(cells, len(ends) - 1)
        return {
            name: label_array(domain)[self._columns[name][cells]]
            for name, domain in self.values.items()
        }

    # Parts of the answers

    @classmethod
    def _of(cls, cells: Cells) -> JointTable:
        return cls.__new__(cls)._take(cells)

    def _event(self, event: EventLike) -> Event:
        return event_of(event, self.values, self._cells.ordered)

    def _where(self, event: EventLike) -> BoolArray:
        return self._event(event)(self._columns, len(self))

    def _known(self, event: EventLike) -> tuple[FloatArray, float]:
        """Compute P(cell, what is known), and P(what is known), which must not be 0."""
        given = self._event(event)
        known = np.where(given(self._columns, len(self)), self._p, 0.0)
        for name, likelihood in given.soft.items():
            known *= likelihood[self._columns[name]]
        total = float(known.sum())
        if total <= 0:
            text = given.text
            hint = " No row has it; a smoothing above 0 makes it possible."
            raise ZeroProbabilityError(
                f"{text!r} has probability 0, so it cannot be conditioned on."
                + (hint if self._counts is not None else "")
            )
        return known, total

    def _stratified(self, given: Side | None) -> tuple[JointTable, Partition]:
        """Condition on an event, or stratify by the values of variables."""
        names = None if given is None else self._as_variables(given)
        if names is not None:
            return self, self._groups(names)
        table = self if given is None else self.condition(given)
        return table, (np.zeros(len(table), dtype=np.int64), 1)

    def _partition(self, what: Side) -> Partition:
        """Part the cells by the values of variables, or by an event and its complement."""
        names = self._as_variables(what)
        if names is not None:
            return self._groups(names)
        return self._where(what).astype(np.int64), 2

    def _as_variables(self, what: object) -> tuple[str, ...] | None:
        if isinstance(what, str):
            name = what.strip().strip("`")
            return (name,) if name in self.values else None
        if isinstance(what, Mapping | Event):
            return None
        if isinstance(what, Sequence) and all(isinstance(name, str) for name in what):
            return find_variables(what, self.values)
        return None  # to be refused as an event

    def _groups(self, names: Sequence[str]) -> Partition:
        return self._together([(self._columns[name], len(self.values[name])) for name in names])

    def _together(self, parts: Sequence[Partition]) -> Partition:
        """Part the cells by several partitions at once."""
        keys = joined_codes([part for part, _ in parts], [size for _, size in parts], len(self))
        groups, distinct = encode_integers(keys.astype(np.int64, copy=False))
        return groups.astype(np.int64), len(distinct)

    def _entropy(self, *parts: Partition) -> float:
        """Compute the entropy of the parts taken together, in bits."""
        seen = self._p > 0
        return float(-(self._p[seen] * np.log2(self._mass(*parts)[seen])).sum()) + 0.0

    def _mass(self, *parts: Partition) -> FloatArray:
        """Compute, for each cell, the probability of all that share its parts with it."""
        groups, n = self._together(parts)
        return np.asarray(np.bincount(groups, weights=self._p, minlength=n)[groups])
