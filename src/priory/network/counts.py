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
from priory.data.combinations import count_combinations
from priory.network.factors import NetworkPrior, log_evidence, pseudo_counts, shares
from priory.network.variables import WORTH_A_THREAD, Coded, Domains, domain_of, places

__all__ = ["NetworkCounts", "count_family"]

MOST_CELLS = 50_000_000
"""The most cells that the table of one node may have."""


@dataclass(frozen=True, eq=False)
class NetworkCounts:
    """Hold a table of counts for each node, its parents' values × its own.

    `rows` counts the rows of each value of a node by itself: a value without rows is dropped,
    unless it was declared.
    """

    graph: Graph
    declared: Domains
    domains: Domains
    n_rows: int
    rows: Mapping[str, IntArray]
    tables: Mapping[str, FloatArray]

    @classmethod
    def count(
        cls, coded: Coded, graph: Graph, declared: Domains, weight: FloatArray | None = None
    ) -> NetworkCounts:
        """Count the rows, each node with its parents.

        The values may be in any order: only the tables are sorted, which are small.
        """
        threads = thread_count() if coded.n_rows > WORTH_A_THREAD else 1
        tasks = [partial(_count_node, coded, graph.family(name), weight) for name in graph.nodes]
        tables, rows = {}, {}
        for name, counted in zip(graph.nodes, in_parallel(tasks, threads), strict=True):
            tables[name], rows[name] = counted
        return cls(graph, declared, coded.domains, coded.n_rows, rows, tables)._pruned()

    def declaring(self, declared: Domains) -> NetworkCounts:
        """Declare further values."""
        return replace(self, declared=declared)._ordered(self.domains)

    def __add__(self, other: NetworkCounts) -> NetworkCounts:
        a = self._ordered({name: (*d, *other.domains[name]) for name, d in self.domains.items()})
        b = other._within(a.domains)
        return replace(
            a,
            n_rows=a.n_rows + b.n_rows,
            rows={name: a.rows[name] + b.rows[name] for name in a.rows},
            tables={name: a.tables[name] + b.tables[name] for name in a.tables},
        )

    def __sub__(self, other: NetworkCounts) -> NetworkCounts:
        for name, domain in other.domains.items():
            seen = [*compress(domain, other.rows[name])]
            where = places(seen, self.domains[name])
            never = [value for value, place in zip(seen, where, strict=True) if place < 0]
            if never:
                raise ForgetError(f"Node {name!r}: value {listing(never)} was never learned.")
        other = other._within(self.domains)
        n_rows = self.n_rows - other.n_rows
        rows, tables = {}, {}
        for name, table in self.tables.items():
            rows[name] = self.rows[name] - other.rows[name]
            left = table - other.tables[name]
            if n_rows < 0 or (rows[name] < 0).any() or (left < -1e-9 * (1 + table)).any():
                raise ForgetError(
                    f"Node {name!r}: more rows would be forgotten than were learned, of some "
                    "combination of its value and its parents'."
                )
            tables[name] = np.maximum(left, 0.0)
        return replace(self, n_rows=n_rows, rows=rows, tables=tables)._pruned()

    def estimate(self, priors: Mapping[str, NetworkPrior]) -> dict[str, FloatArray] | None:
        """Estimate P(node | parents) of every node; None if the values of one are unknown."""
        if not all(self.domains.values()):
            return None
        return {
            name: shares(table, pseudo_counts(priors[name], self.domains[name], table))
            for name, table in self.tables.items()
        }

    def log_evidence(self, priors: Mapping[str, NetworkPrior]) -> float:
        """Compute the log marginal likelihood of the rows."""
        return sum(
            log_evidence(table, pseudo_counts(priors[name], self.domains[name], table))
            for name, table in self.tables.items()
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
        tables = {}
        for name, table in self.tables.items():
            for axis, variable in enumerate(self.graph.family(name)):
                table = _moved(table, where[variable], axis)
            tables[name] = table
        rows = {name: _moved(counted, where[name], 0) for name, counted in self.rows.items()}
        return replace(self, domains=domains, rows=rows, tables=tables)


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
