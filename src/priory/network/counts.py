"""What a network learns: how often each node's values came with those of its parents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from priory.base.errors import ForgetError, TooLargeError, listing
from priory.base.graph import Graph
from priory.base.labels import count_codes, label_key, sorted_labels
from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.data.combinations import count_combinations
from priory.network.variables import WORTH_A_THREAD, Coded, Domain, Domains, domain_of

__all__ = ["MOST_CELLS", "NetworkCounts", "count_family"]

MOST_CELLS = 50_000_000
"""So many cells are the most that the table of one node may have."""


def count_family(coded: Coded, variables: tuple[str, ...], weight: FloatArray | None) -> FloatArray:
    """Return how often each combination of values came, an axis for each variable.

    A row with a gap in one of them is not counted.
    """
    sizes = [len(coded.domains[name]) for name in variables]
    check_cells(variables, sizes)
    columns = [coded.codes[name] for name in variables]
    return np.asarray(count_combinations(columns, sizes, weight), dtype=np.float64)


def _counted(
    coded: Coded, family: tuple[str, ...], weight: FloatArray | None
) -> tuple[FloatArray, IntArray]:
    """Return the table of a family, and the rows of each value of its last variable."""
    table, name = count_family(coded, family, weight), family[-1]
    if weight is None and table.sum() == coded.n_rows:
        return table, table.sum(axis=tuple(range(table.ndim - 1))).astype(np.int64)
    return table, count_codes(coded.codes[name], len(coded.domains[name]))


def check_cells(variables: tuple[str, ...], sizes: list[int]) -> None:
    """Refuse a table that would not fit."""
    if prod(sizes) > MOST_CELLS:
        listed = ", ".join(f"{v!r} × {n:,}" for v, n in zip(variables, sizes, strict=True))
        raise TooLargeError(
            f"The table of {variables[-1]!r} and its parents would have {prod(sizes):,} cells "
            f"({listed}); {MOST_CELLS:,} are the most. Give it fewer parents, or cut columns with "
            "many values."
        )


@dataclass(frozen=True, eq=False)
class NetworkCounts:
    """Hold a table of counts for each node, its parents' values × its own.

    `rows` counts the rows of each value of a node by itself: without rows a value is gone, unless
    it was declared.
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

        The values may stand in any order: it is the tables that are put in order, which are small.
        """
        families = [(*graph.parents[name], name) for name in graph.nodes]
        threads = thread_count() if coded.n_rows > WORTH_A_THREAD else 1
        tasks = [partial(_counted, coded, family, weight) for family in families]
        done = dict(zip(graph.nodes, in_parallel(tasks, threads), strict=True))
        tables = {name: table for name, (table, _) in done.items()}
        rows = {name: of_values for name, (_, of_values) in done.items()}
        counts = cls(graph, declared, coded.domains, coded.n_rows, rows, tables)
        return counts._within(
            {
                name: domain_of(
                    [v for v, n in zip(domain, rows[name].tolist(), strict=True) if n],
                    declared.get(name, ()),
                )
                for name, domain in coded.domains.items()
            }
        )

    def declaring(self, declared: Domains) -> NetworkCounts:
        """Return the same counts with further values declared."""
        counts = NetworkCounts(
            self.graph, declared, self.domains, self.n_rows, self.rows, self.tables
        )
        return counts._within(
            {name: domain_of(d, declared.get(name, ())) for name, d in self.domains.items()}
        )

    def __add__(self, other: NetworkCounts) -> NetworkCounts:
        domains = {
            name: self._joined(name, self.domains[name], other.domains[name])
            for name in self.domains
        }
        a, b = self._within(domains), other._within(domains)
        return NetworkCounts(
            self.graph,
            self.declared,
            domains,
            a.n_rows + b.n_rows,
            {name: a.rows[name] + b.rows[name] for name in domains},
            {name: a.tables[name] + b.tables[name] for name in domains},
        )

    def __sub__(self, other: NetworkCounts) -> NetworkCounts:
        for name, domain in other.domains.items():
            known = set(map(label_key, self.domains[name]))
            never = [
                value
                for value, n in zip(domain, other.rows[name], strict=True)
                if n and label_key(value) not in known
            ]
            if never:
                raise ForgetError(f"Node {name!r}: value {listing(never)} was never learned.")
        other = other._within(self.domains)
        n_rows = self.n_rows - other.n_rows
        rows, tables = {}, {}
        for name in self.domains:
            rows[name] = self.rows[name] - other.rows[name]
            left = self.tables[name] - other.tables[name]
            if (
                n_rows < 0
                or (rows[name] < 0).any()
                or (left < -1e-9 * (1 + self.tables[name])).any()
            ):
                raise ForgetError(
                    f"Node {name!r}: more rows would be forgotten than were learned, of some "
                    "combination of its value and its parents'."
                )
            tables[name] = np.maximum(left, 0.0)
        after = NetworkCounts(self.graph, self.declared, self.domains, n_rows, rows, tables)
        return after._within({name: after._left(name) for name in self.domains})

    def _left(self, name: str) -> Domain:
        declared = set(map(label_key, self.declared.get(name, ())))
        domain = tuple(
            value
            for value, n in zip(self.domains[name], self.rows[name].tolist(), strict=True)
            if n or label_key(value) in declared
        )
        # A truth keeps both of its values, as when it was read.
        return self.domains[name] if any(isinstance(v, bool) for v in domain) else domain

    def _joined(self, name: str, a: Domain, b: Domain) -> Domain:
        if a == b and [*map(label_key, a)] == [*map(label_key, b)]:
            return a
        declared = self.declared.get(name, ())
        known = set(map(label_key, declared))
        others = [value for value in (*a, *b) if label_key(value) not in known]
        return (*declared, *sorted_labels(others))

    def _within(self, domains: Domains) -> NetworkCounts:
        """Return the same counts with every value in the place it has in other domains."""
        where: dict[str, AnyArray] = {}
        for name, domain in domains.items():
            places = {label_key(value): i for i, value in enumerate(self.domains[name])}
            where[name] = np.array([places.get(label_key(v), -1) for v in domain], dtype=np.intp)
        if all(
            np.array_equal(place, np.arange(len(self.domains[name])))
            for name, place in where.items()
        ):
            return self

        def moved(name: str, array: AnyArray, axis: int) -> AnyArray:
            place = where[name]
            taken = (
                np.take(array, np.maximum(place, 0), axis=axis)
                if array.shape[axis]
                else (
                    np.zeros(
                        (*array.shape[:axis], len(place), *array.shape[axis + 1 :]), array.dtype
                    )
                )
            )
            gone = [slice(None)] * taken.ndim
            gone[axis] = place < 0  # type: ignore[call-overload]
            taken[tuple(gone)] = 0
            return taken

        tables = {}
        for name, table in self.tables.items():
            for axis, variable in enumerate((*self.graph.parents[name], name)):
                table = moved(variable, table, axis)
            tables[name] = table
        rows = {name: moved(name, counted, 0) for name, counted in self.rows.items()}
        return NetworkCounts(self.graph, self.declared, domains, self.n_rows, rows, tables)
