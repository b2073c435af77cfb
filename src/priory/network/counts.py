"""What a network learns: how often each node's values came with those of its parents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from math import prod

import numpy as np

from priory.base.errors import ForgetError, TooLargeError, listing
from priory.base.graph import Graph
from priory.base.labels import count_codes
from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.data.combinations import count_combinations, distinct_combinations
from priory.network.factors import NetworkPrior, log_evidence, pseudo_counts, shares
from priory.network.variables import WORTH_A_THREAD, Coded, Domains, domain_of, places

__all__ = ["Gaps", "NetworkCounts", "count_family"]

MOST_CELLS = 50_000_000
"""The most cells that the table of one node may have."""


@dataclass(frozen=True, eq=False)
class NetworkCounts:
    """Hold what was counted: sums, so that rows can be added, merged and forgotten.

    `observed` has a table for each node, its parents' values × its own, of the rows that know them
    all; `complete` those of the rows without a gap alone. `gaps` are the rows with gaps that
    expectation–maximisation fills, and `expected` is what it expects of them. `rows` counts the
    rows of each value of a node by itself: a value without rows is dropped, unless it was declared.
    """

    graph: Graph
    declared: Domains
    domains: Domains
    n_rows: int
    n_complete: int
    rows: Mapping[str, IntArray]
    observed: Mapping[str, FloatArray]
    complete: Mapping[str, FloatArray]
    gaps: Gaps
    expected: Mapping[str, FloatArray] | None = None

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """What was observed, and what is expected of the gaps."""
        if self.expected is None:
            return self.observed
        return {name: table + self.expected[name] for name, table in self.observed.items()}

    @classmethod
    def count(
        cls,
        coded: Coded,
        graph: Graph,
        declared: Domains,
        weight: FloatArray | None = None,
        fill: bool = False,
    ) -> NetworkCounts:
        """Count the rows, each node with its parents.

        Rows with gaps count for the nodes that are known with their parents, or are kept to be
        filled. The values may be in any order: only the tables are sorted, which are small.
        """
        whole = coded.complete
        gaps = Gaps.none(graph.nodes)
        if whole.all():
            observed, rows = _count_nodes(coded, graph, weight)
            complete = observed
        else:
            complete, rows = _count_nodes(*_chosen(whole, coded, graph, weight))
            if fill:
                some, _, of_some = _chosen(~whole, coded, graph, weight)
                observed, gaps = complete, Gaps.of(some, graph.nodes, of_some)
            else:
                observed, _ = _count_nodes(coded, graph, weight)
            rows = {
                name: count_codes(coded.codes[name], len(coded.domains[name]))
                for name in graph.nodes
            }
        n_complete = int(np.count_nonzero(whole))
        return cls(
            graph, declared, coded.domains, coded.n_rows, n_complete, rows, observed, complete, gaps
        )._pruned()

    def declaring(self, declared: Domains) -> NetworkCounts:
        """Declare further values."""
        return replace(self, declared=declared)._ordered(self.domains)

    def __add__(self, other: NetworkCounts) -> NetworkCounts:
        a = self._ordered({name: (*d, *other.domains[name]) for name, d in self.domains.items()})
        b = other._within(a.domains)
        observed = _sums(a.observed, b.observed)
        same = a.complete is a.observed and b.complete is b.observed
        return replace(
            a,
            n_rows=a.n_rows + b.n_rows,
            n_complete=a.n_complete + b.n_complete,
            rows={name: a.rows[name] + b.rows[name] for name in a.rows},
            observed=observed,
            complete=observed if same else _sums(a.complete, b.complete),
            gaps=a.gaps + b.gaps,
            expected=None,
        )

    def __sub__(self, other: NetworkCounts) -> NetworkCounts:
        for name, domain in other.domains.items():
            seen = [*compress(domain, other.rows[name])]
            where = places(seen, self.domains[name])
            never = [value for value, place in zip(seen, where, strict=True) if place < 0]
            if never:
                raise ForgetError(f"Node {name!r}: value {listing(never)} was never learned.")
        other = other._within(self.domains)
        n_rows, n_complete = self.n_rows - other.n_rows, self.n_complete - other.n_complete
        rows = {name: self.rows[name] - other.rows[name] for name in self.rows}
        same = self.complete is self.observed and other.complete is other.observed
        observed = _differences(self.observed, other.observed)
        complete = observed if same else _differences(self.complete, other.complete)
        for name in self.graph.nodes:
            if (
                min(n_rows, n_complete) < 0
                or (rows[name] < 0).any()
                or (observed[name] < 0).any()
                or (complete[name] < 0).any()
            ):
                raise ForgetError(
                    f"Node {name!r}: more rows would be forgotten than were learned, of some "
                    "combination of its value and its parents'."
                )
        return replace(
            self,
            n_rows=n_rows,
            n_complete=n_complete,
            rows=rows,
            observed=observed,
            complete=complete,
            gaps=self.gaps - other.gaps,
            expected=None,
        )._pruned()

    def estimate(self, priors: Mapping[str, NetworkPrior]) -> dict[str, FloatArray] | None:
        """Estimate P(node | parents) of every node; None if the values of one are unknown."""
        if not all(self.domains.values()):
            return None
        return {
            name: shares(table, pseudo_counts(priors[name], self.domains[name], table))
            for name, table in self.tables.items()
        }

    def log_evidence(self, priors: Mapping[str, NetworkPrior]) -> float:
        """Compute the log marginal likelihood of the rows without gaps."""
        return sum(
            log_evidence(table, pseudo_counts(priors[name], self.domains[name], table))
            for name, table in self.complete.items()
            if self.domains[name]
        )

    def _pruned(self) -> NetworkCounts:
        return self._ordered({n: tuple(compress(d, self.rows[n])) for n, d in self.domains.items()})

    def _ordered(self, values: Domains) -> NetworkCounts:
        """Keep these values and the declared ones, in the order of a domain."""
        return self._within(
            {name: domain_of(found, self.declared.get(name, ())) for name, found in values.items()}
        )

    def _within(self, domains: Domains) -> NetworkCounts:
        """Put every value in its place in other domains."""
        where = {
            name: np.array(places(domain, self.domains[name]), dtype=np.intp)
            for name, domain in domains.items()
        }

        def moved(tables: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            result = {}
            for name, table in tables.items():
                for axis, variable in enumerate(self.graph.family(name)):
                    table = _moved(table, where[variable], axis)
                result[name] = table
            return result

        observed = moved(self.observed)
        return replace(
            self,
            domains=domains,
            rows={name: _moved(counted, where[name], 0) for name, counted in self.rows.items()},
            observed=observed,
            complete=observed if self.complete is self.observed else moved(self.complete),
            gaps=self.gaps.within(self.domains, domains),
            expected=None,
        )


@dataclass(frozen=True, eq=False)
class Gaps:
    """Hold distinct rows with gaps, as codes, a column for each node, and how often each came."""

    names: tuple[str, ...]
    codes: IntArray
    rows: IntArray
    weight: FloatArray

    @classmethod
    def none(cls, names: tuple[str, ...]) -> Gaps:
        """Hold no rows."""
        return cls(names, np.zeros((0, len(names)), np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def of(cls, coded: Coded, names: tuple[str, ...], weight: FloatArray | None) -> Gaps:
        """Take rows as they are coded."""
        codes = np.stack([coded.codes[name] for name in names], axis=1).astype(np.int64)
        n = np.ones(len(codes), dtype=np.int64)
        return cls(names, codes, n, n.astype(np.float64) if weight is None else weight)._distinct()

    def __len__(self) -> int:
        return len(self.codes)

    def __add__(self, other: Gaps) -> Gaps:
        if not len(self) or not len(other):
            return self if len(self) else other
        return self._joined(other, 1)._distinct()

    def __sub__(self, other: Gaps) -> Gaps:
        if not len(other):
            return self
        left = self._joined(other, -1)._distinct()
        if (left.rows < 0).any() or (left.weight < -1e-9 * (1 + np.abs(left.weight))).any():
            raise ForgetError(
                "Rows with missing values would be forgotten that were never learned, or not with "
                "missing='em'."
            )
        return left._take(left.rows > 0)

    def within(self, before: Domains, after: Domains) -> Gaps:
        """Code the rows by other domains."""
        if not len(self):
            return self
        columns = [
            np.array([*places(before[name], after[name]), -1])[column]
            for name, column in zip(self.names, self.codes.T, strict=True)
        ]
        return replace(self, codes=np.stack(columns, axis=1))

    def coded(self, domains: Domains) -> Coded:
        """Make a table of the distinct rows."""
        codes = dict(zip(self.names, self.codes.T, strict=True))
        return Coded(len(self), domains, codes)

    def _joined(self, other: Gaps, sign: int) -> Gaps:
        return Gaps(
            self.names,
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.rows, sign * other.rows]),
            np.concatenate([self.weight, sign * other.weight]),
        )

    def _distinct(self) -> Gaps:
        shifted = self.codes.T + 1  # a gap is a value here
        sizes = [int(column.max(initial=0)) + 1 for column in shifted]
        codes, where = distinct_combinations([*shifted], sizes)
        rows = np.zeros(len(codes), dtype=np.int64)
        np.add.at(rows, where, self.rows)
        weight = np.bincount(where, weights=self.weight, minlength=len(codes))
        return Gaps(self.names, codes - 1, rows, weight.astype(np.float64))

    def _take(self, mask: AnyArray) -> Gaps:
        return Gaps(self.names, self.codes[mask], self.rows[mask], self.weight[mask])


def count_family(coded: Coded, variables: tuple[str, ...], weight: FloatArray | None) -> FloatArray:
    """Count each combination of values, an axis for each variable.

    A row in which one of them is missing is not counted.
    """
    sizes = [len(coded.domains[name]) for name in variables]
    if prod(sizes) > MOST_CELLS:
        listed = ", ".join(f"{v!r} × {n:,}" for v, n in zip(variables, sizes, strict=True))
        raise TooLargeError(
            f"The table of {variables[-1]!r} and its parents would have {prod(sizes):,} cells "
            f"({listed}); {MOST_CELLS:,} are the most. Give it fewer parents, or bin columns with "
            "many values."
        )
    columns = [coded.codes[name] for name in variables]
    return np.asarray(count_combinations(columns, sizes, weight), dtype=np.float64)


def _count_nodes(
    coded: Coded, graph: Graph, weight: FloatArray | None
) -> tuple[dict[str, FloatArray], dict[str, IntArray]]:
    threads = thread_count() if coded.n_rows > WORTH_A_THREAD else 1
    tasks = [partial(_count_node, coded, graph.family(name), weight) for name in graph.nodes]
    tables, rows = {}, {}
    for name, counted in zip(graph.nodes, in_parallel(tasks, threads), strict=True):
        tables[name], rows[name] = counted
    return tables, rows


def _sums(a: Mapping[str, FloatArray], b: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {name: table + b[name] for name, table in a.items()}


def _differences(a: Mapping[str, FloatArray], b: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Subtract; what is below 0 by rounding alone is 0."""
    result = {}
    for name, table in a.items():
        left = table - b[name]
        result[name] = np.where((left < 0) & (left >= -1e-9 * (1 + table)), 0.0, left)
    return result


def _chosen(
    mask: AnyArray, coded: Coded, graph: Graph, weight: FloatArray | None
) -> tuple[Coded, Graph, FloatArray | None]:
    return coded.take(mask), graph, weight if weight is None else weight[mask]


def _count_node(
    coded: Coded, family: tuple[str, ...], weight: FloatArray | None
) -> tuple[FloatArray, IntArray]:
    """Count a node with its parents, and the rows of each of its values."""
    table, name = count_family(coded, family, weight), family[-1]
    if weight is None and table.sum() == coded.n_rows:
        return table, table.sum(axis=tuple(range(table.ndim - 1))).astype(np.int64)
    return table, count_codes(coded.codes[name], len(coded.domains[name]))


def _moved(array: AnyArray, where: IntArray, axis: int) -> AnyArray:
    """Take the places of an axis; −1 takes a zero."""
    if np.array_equal(where, np.arange(array.shape[axis])):
        return array
    padded = np.pad(array, [(0, int(i == axis)) for i in range(array.ndim)])
    return padded.take(where, axis=axis)
