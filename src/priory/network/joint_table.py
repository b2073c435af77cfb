"""JointTable: the whole distribution of some variables, cell by cell, and any question of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from priory.base.errors import (
    InputError,
    SettingError,
    TooLargeError,
    ZeroProbabilityError,
    check_number,
    listing,
)
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.labels import label_key, sorted_labels
from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray, Label
from priory.data.combinations import distinct_combinations, joined_codes
from priory.data.reading import read_weights
from priory.families.priors import DiscretePrior, Laplace, MEstimate, as_prior
from priory.kernels.labels import encode_integers
from priory.network.expressions import Event, EventLike, event_of
from priory.network.independence import Independence, exact_independence, g_test
from priory.network.variables import (
    Coded,
    Domains,
    as_label,
    declared_domains,
    find_variables,
    label_column,
    read_coded,
)
from priory.statistics.information import shared

if TYPE_CHECKING:
    from priory.network.belief_network import BeliefNetwork

__all__ = ["JointTable", "Variables", "check_size"]

MOST_CELLS = 20_000_000
"""So many cells are the most that a table may list: with their codes, about a gigabyte."""

SHOWN = 20

Variables: TypeAlias = str | Sequence[str]


class JointTable:
    """Hold the joint distribution of some variables, and answer any question of it.

        P(E) = Σ P(cell) over the cells where E holds,      P(E | F) = P(E and F) / P(F)

    `probabilities` are given as {(value, value, …): P} with the names of the variables, as nested
    mappings, or as an array with an axis for each variable; they must add up to 1. Cells that
    are not given are impossible. `from_data` counts them instead, `from_network` works them out.

    An event is an expression over the variables (see `p`), or a mapping of variables to values.
    A name alone is an event where its values are truths: True and False, 1 and 0, yes and no.

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
        declared = declared_domains(values)
        if isinstance(probabilities, Mapping):
            names, domains, codes, p = _from_mapping(probabilities, variables, declared)
        else:
            names, domains, codes, p = _from_array(probabilities, variables, declared)
        unknown = set(declared) - set(names)
        if unknown:
            raise SettingError(f"values names {listing(sorted(unknown))}, which is no variable.")
        _check_probabilities(p)
        total = math.fsum(p)
        if abs(total - 1.0) > 1e-15:
            p = p / total
        self._become(domains, codes, p, None)

    def _become(
        self, domains: Domains, codes: IntArray, p: FloatArray, counts: FloatArray | None
    ) -> None:
        """Take the cells, cells × variables, with their probabilities."""
        self.values: Domains = dict(domains)
        self._codes, self._p, self._counts = codes, p, counts
        self._columns = {name: codes[:, j] for j, name in enumerate(self.values)}

    @classmethod
    def _of(
        cls, domains: Domains, codes: IntArray, p: FloatArray, counts: FloatArray | None
    ) -> JointTable:
        table = cls.__new__(cls)
        table._become(domains, codes, p, counts)
        return table

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

        `smoothing` is a number or a prior, and 0 takes the shares of the rows as they are; `values`
        declares values that may come beside those seen. A row with a gap is left out.

        >>> table = JointTable.from_data({"a": [1, 1, 0, 0], "b": [1, 1, 1, 0]}, smoothing=1)
        >>> table.p("a and b")
        0.375
        """
        coded = read_coded(data, variables, declared_domains(values))
        prior = as_prior(smoothing)
        if not isinstance(prior, DiscretePrior):
            raise SettingError(f"smoothing must be a prior over values, not {prior!r}.")
        weights = read_weights(sample_weight, coded.n_rows)
        whole = coded.whole
        if not whole.all():
            coded = coded.take(whole)
            weights = None if weights is None else weights[whole]
        if not coded.n_rows:
            raise InputError("There are no rows without a gap to count.")
        codes, counts = _count_cells(coded, weights)
        if isinstance(prior, Laplace) and prior.alpha == 0:
            p = counts / counts.sum()
        else:
            codes, counts = _every_cell(codes, counts, coded.domains)
            p = counts + _pseudo_counts(prior, coded.domains, codes, counts)
            p = p / p.sum()
        return cls._of(coded.domains, codes, p, counts)

    @classmethod
    def from_network(
        cls, network: BeliefNetwork, variables: Sequence[str] | None = None
    ) -> JointTable:
        """Work out the joint distribution of a network's variables, or of some of them."""
        return network.marginal(tuple(network.values) if variables is None else variables)

    # What it holds

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables."""
        return tuple(self.values)

    @property
    def n(self) -> float | None:
        """Return the number of rows that were counted, None for a table that was given."""
        return None if self._counts is None else float(self._counts.sum())

    def __len__(self) -> int:
        return len(self._p)

    def to_dict(self) -> dict[Any, float]:
        """Return {(value, value, …): P} of the cells; of one variable, {value: P}."""
        columns = [
            [domain[code] for code in self._columns[name].tolist()]
            for name, domain in self.values.items()
        ]
        keys = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        return dict(zip(keys, self._p.tolist(), strict=True))

    def to_array(self) -> FloatArray:
        """Return the probabilities as an array with an axis for each variable, values in order."""
        shape = tuple(map(len, self.values.values()))
        check_size(self.values, "An array of all the cells")
        dense = np.zeros(shape)
        dense[tuple(self._codes.T)] = self._p
        return dense

    def __repr__(self) -> str:
        rows, more = self._rows()
        return "\n".join([aligned(rows), *more])

    def _repr_html_(self) -> str:
        (head, *rows), more = self._rows()
        return html_together(html_table(head, rows, words=range(len(self.values))), remarks=more)

    def _rows(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the head and the first cells, and the remark that there are more."""
        rows = [(*self.values, *(("rows",) if self._counts is not None else ()), "P")]
        for i in range(min(len(self), SHOWN)):
            cells = [
                str(domain[code])
                for domain, code in zip(self.values.values(), self._codes[i].tolist(), strict=True)
            ]
            counted = [] if self._counts is None else [f"{self._counts[i]:g}"]
            rows.append((*cells, *counted, f"{self._p[i]:.6g}"))
        more = len(self) - SHOWN
        return rows, [f"… and {more:,} more cells"] if more > 0 else []

    # Questions

    def p(self, event: EventLike, given: EventLike | None = None) -> float:
        """Return the probability of an event, or that given another.

        An expression is made of the variables, == != < <= > >= (also chained), `in`, `not in`,
        `and`, `or` and `not`. Values stand in quotes; a word that is the name of a value and of
        no variable may go without. A name that Python could not read stands in backticks.

        >>> die = JointTable({i: 1 / 6 for i in range(1, 7)}, variables=["die"])
        >>> round(die.p("2 <= die < 5"), 3), round(die.p("die in (2, 4, 6)", given="die > 3"), 3)
        (0.5, 0.667)
        """
        asked = self._where(event)
        if given is None:
            return float(self._p[asked].sum())
        known = self._where(given)
        total = self._p[known].sum()
        if total <= 0:
            raise self._impossible(given)
        return min(1.0, float(self._p[asked & known].sum() / total))

    def marginal(self, variables: Variables) -> JointTable:
        """Return the table of some of the variables, the others summed out.

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
        return JointTable._of(domains, codes, summed(self._p), counts)

    def condition(self, event: EventLike) -> JointTable:
        """Return the table as it is once an event is known to have happened.

        All the variables stay; cells in which it did not happen are gone.

        >>> table = JointTable([[0.1, 0.2], [0.3, 0.4]], variables=["a", "b"])
        >>> table.condition("a or b").p("a and b")
        0.4444444444444445
        """
        known = self._where(event)
        total = self._p[known].sum()
        if total <= 0:
            raise self._impossible(event)
        counts = None if self._counts is None else self._counts[known]
        return JointTable._of(self.values, self._codes[known], self._p[known] / total, counts)

    def independent(
        self,
        a: EventLike | Sequence[str],
        b: EventLike | Sequence[str],
        given: EventLike | Sequence[str] | None = None,
        method: str | None = None,
        level: float = 0.05,
        tolerance: float = 1e-9,
    ) -> Independence:
        """Say whether two events, or two groups of variables, tell nothing of each other.

            A ⊥ B | C   ⇔   P(A and B | C) = P(A | C) · P(B | C)

        A name, or a sequence of names, stands for variables with all their values; any other
        expression for the event that it is true. `given` variables are held at each of their
        values in turn, a `given` event is known to have happened. A table of probabilities is
        checked exactly, to the `tolerance`; one that was counted by a G-test of its rows, where
        "independent" means not refuted at the `level`. `method` ("exact", "g-test") chooses.

        >>> coins = JointTable([[0.25, 0.25], [0.25, 0.25]], variables=["a", "b"])
        >>> bool(coins.independent("a", "b"))
        True
        >>> bool(coins.independent("a", "a or b"))
        False
        """
        if method not in (None, "exact", "g-test"):
            raise SettingError(f"method must be 'exact' or 'g-test', not {method!r}.")
        check_number("level", level, above=0)
        check_number("tolerance", tolerance)
        if method is None:
            method = "exact" if self._counts is None else "g-test"
        if method == "g-test" and self._counts is None:
            raise SettingError(
                "A G-test needs rows that were counted; this table holds probabilities alone. "
                "Use method='exact', or JointTable.from_data."
            )
        table, strata = self._stratified(given)
        one, two = table._partition(a), table._partition(b)
        if method == "exact":
            return exact_independence(table._p, one, two, strata, tolerance)
        assert table._counts is not None
        return g_test(table._counts, one, two, strata, level)

    def entropy(
        self,
        of: EventLike | Sequence[str] | None = None,
        given: EventLike | Sequence[str] | None = None,
    ) -> float:
        """Return the entropy of the variables, or of some given others, in bits.

            H(A) = −Σ P(a) log2 P(a),      H(A | C) = H(A, C) − H(C)

        >>> JointTable([[0.25, 0.25], [0.5, 0]], variables=["a", "b"]).entropy()
        1.5
        """
        table, strata = self._stratified(given)
        part = table._partition(table.variables if of is None else of)
        return table._entropy(part, strata) - table._entropy(strata)

    def mutual_information(
        self,
        a: EventLike | Sequence[str],
        b: EventLike | Sequence[str],
        given: EventLike | Sequence[str] | None = None,
    ) -> float:
        """Return how many bits two events, or groups of variables, tell of each other.

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
        told = shared(n, of_a, of_b, total) * np.divide(
            table._p, n, out=np.zeros(len(n)), where=n > 0
        )
        return max(0.0, float(told.sum()) / math.log(2.0))

    def sample(
        self,
        n: int,
        given: EventLike | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> dict[str, AnyArray]:
        """Draw n new rows, as columns; with `given`, from what is left once it is known.

        >>> table = JointTable([[0, 0], [0, 1]], variables=["a", "b"])
        >>> table.sample(2, random_state=0)
        {'a': array([1, 1]), 'b': array([1, 1])}
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise SettingError(f"n must be a whole number of at least 0, not {n!r}.")
        if given is not None:
            return self.condition(given).sample(n, random_state=random_state)
        rng = np.random.default_rng(random_state)
        ends = np.cumsum(self._p)
        cells = np.searchsorted(ends, rng.random(int(n)) * ends[-1], side="right")
        cells = np.minimum(cells, len(ends) - 1)
        return {
            name: label_column(domain, self._columns[name][cells])
            for name, domain in self.values.items()
        }

    # Parts of the answers

    def _where(self, event: EventLike) -> BoolArray:
        return event_of(event, self.values)(self._columns, len(self))

    def _impossible(self, event: EventLike) -> ZeroProbabilityError:
        text = event_of(event, self.values).text
        hint = (
            " None of the rows counted is so; a smoothing above 0 lets it be possible."
            if self._counts is not None
            else ""
        )
        return ZeroProbabilityError(
            f"{text!r} has probability 0, so nothing can be said given that.{hint}"
        )

    def _stratified(
        self, given: EventLike | Sequence[str] | None
    ) -> tuple[JointTable, tuple[IntArray, int]]:
        """Return the table given an event, or the strata of it that given variables make."""
        names = None if given is None else self._as_variables(given)
        if names is not None:
            return self, self._groups(names)
        table = self if given is None else self.condition(given)  # type: ignore[arg-type]
        return table, (np.zeros(len(table), dtype=np.int64), 1)

    def _partition(self, what: EventLike | Sequence[str]) -> tuple[IntArray, int]:
        """Return the part each cell belongs to: values of variables, or an event and its not."""
        names = self._as_variables(what)
        if names is not None:
            return self._groups(names)
        return self._where(what).astype(np.int64), 2  # type: ignore[arg-type]

    def _as_variables(self, what: object) -> tuple[str, ...] | None:
        if isinstance(what, str):
            name = what.strip().strip("`")
            return (name,) if name in self.values else None
        if isinstance(what, Mapping | Event):
            return None
        if isinstance(what, Sequence) and all(isinstance(name, str) for name in what):
            return find_variables(what, self.values)
        return None  # to be refused as an event

    def _groups(self, names: Sequence[str]) -> tuple[IntArray, int]:
        columns = [self._columns[name] for name in names]
        keys = joined_codes(columns, [len(self.values[name]) for name in names], len(self))
        groups, distinct = encode_integers(keys.astype(np.int64, copy=False))
        return groups.astype(np.int64), len(distinct)

    def _entropy(self, *parts: tuple[IntArray, int]) -> float:
        """Return the entropy of the parts taken together, in bits."""
        seen = self._p > 0
        return float(-(self._p[seen] * np.log2(self._mass(*parts)[seen])).sum()) + 0.0

    def _mass(self, *parts: tuple[IntArray, int]) -> FloatArray:
        """Return, for each cell, the probability of all that share its parts with it."""
        keys = joined_codes([part for part, _ in parts], [size for _, size in parts], len(self))
        groups, distinct = encode_integers(keys.astype(np.int64, copy=False))
        return np.asarray(np.bincount(groups, weights=self._p, minlength=len(distinct))[groups])


def _from_mapping(
    given: Mapping[Any, Any], variables: Sequence[str] | None, declared: Domains
) -> tuple[tuple[str, ...], Domains, IntArray, FloatArray]:
    cells = _flattened(given)
    widths = {len(key) for key in cells}
    if len(widths) != 1:
        raise InputError(
            "Every cell must name a value of each variable; "
            + (f"some name {min(widths)}, some {max(widths)}." if widths else "there are no cells.")
        )
    width = widths.pop()
    if variables is None:
        raise SettingError(f"variables must name the {width} variables of the cells.")
    names = _check_names(variables, width)
    columns = list(zip(*cells, strict=True))
    domains = {}
    for name, column in zip(names, columns, strict=True):
        domains[name] = declared.get(name) or sorted_labels(column)
        missing = {*map(label_key, column)} - {*map(label_key, domains[name])}
        if missing:
            strange = [v for v in column if label_key(v) in missing]
            raise InputError(
                f"A cell has {name!r} at {strange[0]!r}, which is not among its declared values: "
                f"{listing(domains[name])}."
            )
    codes = np.empty((len(cells), width), dtype=np.int64)
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        places = {label_key(value): i for i, value in enumerate(domains[name])}
        codes[:, j] = [places[label_key(value)] for value in column]
    p = _numbers(list(cells.values()))
    order = np.lexsort(codes.T[::-1])
    return names, domains, codes[order], p[order]


def _flattened(given: Mapping[Any, Any]) -> dict[tuple[Label, ...], Any]:
    """Return nested mappings, or one of tuples, as {(value, …): P}."""
    cells: dict[tuple[Label, ...], Any] = {}
    seen: set[Any] = set()
    for key, inner in given.items():
        head = tuple(key) if isinstance(key, tuple) else (key,)
        head = tuple(as_label(value, "A cell") for value in head)
        rest = _flattened(inner) if isinstance(inner, Mapping) else {(): inner}
        for tail, p in rest.items():
            if label_key((*head, *tail)) in seen:
                raise InputError(f"The cell {(*head, *tail)!r} stands twice.")
            seen.add(label_key((*head, *tail)))
            cells[_Cell((*head, *tail))] = p
    return cells


class _Cell(tuple[Label, ...]):
    """Keep cells such as (1,) and (True,) apart, which Python holds equal."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and label_key(self) == label_key(other)

    def __hash__(self) -> int:
        return hash(label_key(self))


def _from_array(
    given: Any, variables: Sequence[str] | None, declared: Domains
) -> tuple[tuple[str, ...], Domains, IntArray, FloatArray]:
    array = _numbers(given)
    if array.ndim == 0:
        raise InputError("An array of probabilities needs an axis for each variable.")
    if variables is None:
        raise SettingError(f"variables must name the {array.ndim} axes of the array.")
    names = _check_names(variables, array.ndim)
    domains: dict[str, tuple[Label, ...]] = {}
    for name, size in zip(names, array.shape, strict=True):
        domains[name] = declared.get(name, tuple(range(size)))
        if len(domains[name]) != size:
            raise InputError(
                f"Variable {name!r} has {len(domains[name])} values, but its axis is {size} long."
            )
    codes = np.stack(np.nonzero(np.ones(array.shape, dtype=np.bool_)), axis=1)
    return names, domains, codes.astype(np.int64), array.ravel()


def _check_names(variables: Sequence[str], width: int) -> tuple[str, ...]:
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    if len(names) != width or not all(isinstance(name, str) and name for name in names):
        raise SettingError(f"variables must be {width} names, not {listing(names)}.")
    if len(set(names)) < len(names):
        raise SettingError(f"variables names one of them twice: {listing(names)}.")
    return names


def _numbers(given: Any) -> FloatArray:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Probabilities must be numbers: {error}.") from None


def _check_probabilities(p: FloatArray) -> None:
    if not np.isfinite(p).all() or (p < 0).any():
        wrong = p[~(np.isfinite(p) & (p >= 0))][0]
        raise InputError(f"Probabilities must be numbers of at least 0; one is {float(wrong)!r}.")
    total = math.fsum(p)
    if abs(total - 1.0) > 1e-6:
        raise InputError(f"The probabilities must add up to 1, but add up to {total:.9g}.")


def _count_cells(coded: Coded, weights: FloatArray | None) -> tuple[IntArray, FloatArray]:
    """Return the distinct rows, in their order, and how often each came."""
    codes, where = distinct_combinations([*coded.codes.values()], [*coded.sizes.values()])
    counts = np.bincount(where, weights=weights, minlength=len(codes)).astype(np.float64)
    return codes[counts > 0], counts[counts > 0]


def _every_cell(
    codes: IntArray, counts: FloatArray, domains: Domains
) -> tuple[IntArray, FloatArray]:
    """Return all the combinations there are, with the counts of those that were seen."""
    check_size(domains, "Without smoothing=0 every combination of values is a cell, and there")
    shape = tuple(map(len, domains.values()))
    dense = np.zeros(shape)
    dense[tuple(codes.T)] = counts
    every = np.stack(np.nonzero(np.ones(shape, dtype=np.bool_)), axis=1).astype(np.int64)
    return every, dense.ravel()


def check_size(domains: Domains, what: str) -> None:
    """Refuse a table of more cells than can be listed."""
    sizes = {name: len(domain) for name, domain in domains.items()}
    cells = math.prod(sizes.values())
    if cells > MOST_CELLS:
        widest = sorted(sizes, key=lambda name: -sizes[name])[:3]
        raise TooLargeError(
            f"{what} would be {cells:,} cells; {MOST_CELLS:,} are the most. Choose fewer "
            f"variables, or cut those with many values: "
            f"{', '.join(f'{name!r} has {sizes[name]:,}' for name in widest)}."
        )


def _pseudo_counts(
    prior: DiscretePrior, domains: Domains, codes: IntArray, counts: FloatArray
) -> FloatArray:
    """Return the pseudo-count of every cell; its label is the tuple of its values."""
    named = bool(prior.values())
    if not named and isinstance(prior, Laplace | MEstimate):
        return prior.pseudo_counts(range(len(counts)), counts)
    columns = [
        [domain[code] for code in codes[:, j].tolist()] for j, domain in enumerate(domains.values())
    ]
    labels: list[Any] = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    return prior.pseudo_counts(labels, counts)
