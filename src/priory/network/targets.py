"""One variable of a network, given what is known of the others: many rows at once.

    log P(v, row) = Σ log P(node | parents), what is missing summed out

A factor that holds no gap is a look-up, for all its rows together. Gaps that meet in a factor are
summed out together, once for all the rows in which the same ones meet; gaps that lead to nothing
known sum to 1 and are not looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from priory.base.errors import TooLargeError
from priory.base.graph import Graph
from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.data.combinations import joined_codes
from priory.families.base import log
from priory.network.elimination import Plans
from priory.network.rows import batched, row_groups, stretches
from priory.network.variables import Coded

__all__ = ["log_joint_rows"]

KNOWN, SUMMED, BARREN = 0, 1, 2
"""A gap is barren if neither the target nor anything known follows from it."""


def log_joint_rows(
    coded: Coded, graph: Graph, tables: Mapping[str, FloatArray], target: str, plans: Plans
) -> FloatArray:
    """Return log P(v, row) of every value v of the target, rows × values.

    What is the same for all values of the target is left out. Variables that `coded` does not
    have are missing in every row; the target itself is not looked at.
    """
    status = _status(coded, graph, target)
    out = np.zeros((coded.n_rows, tables[target].shape[-1]))
    for name in graph.nodes:
        family = (*graph.parents[name], name)
        if target in family:
            others = [v for v in family if v != target]
            there = np.all([status[v] == KNOWN for v in others], axis=0) if others else None
            _look_up(out, coded, there, others, _last(log(tables[name]), family, target))
    for factors, summed, rows in _sums(status, graph, target):
        _sum_out(out, coded, rows, factors, summed, graph, tables, target, plans)
    return out


def _status(coded: Coded, graph: Graph, target: str) -> dict[str, AnyArray]:
    """Return for every node and row whether it is known, must be summed out, or is barren."""
    leads: dict[str, BoolArray] = {}
    status: dict[str, AnyArray] = {}
    for name in reversed(graph.order):
        known = np.zeros(coded.n_rows, dtype=np.bool_)
        if name in coded.codes and name != target:
            known = coded.codes[name] >= 0
        needed = known if name != target else np.ones(coded.n_rows, dtype=np.bool_)
        for child in graph.children[name]:
            needed = needed | leads[child]
        leads[name] = needed
        status[name] = np.where(known, KNOWN, np.where(needed, SUMMED, BARREN)).astype(np.int8)
    return status


def _last(table: FloatArray, family: Sequence[str], target: str) -> FloatArray:
    """Return a table as the other variables' values × the target's."""
    moved = np.moveaxis(table, family.index(target), -1)
    return np.ascontiguousarray(moved)


def _look_up(
    out: FloatArray,
    coded: Coded,
    there: BoolArray | None,
    others: Sequence[str],
    table: FloatArray,
) -> None:
    """Add what a table says of the rows that have all its other variables."""
    flat = table.reshape(-1, table.shape[-1])
    if there is None:
        out += flat[0]
    elif there.all():
        codes = [coded.codes[v] for v in others]
        out += flat[joined_codes(codes, table.shape[:-1], len(out))]
    elif there.any():
        rows = np.flatnonzero(there)
        codes = [coded.codes[v][rows] for v in others]
        out[rows] += flat[joined_codes(codes, table.shape[:-1], len(rows))]


def _sums(
    status: Mapping[str, AnyArray], graph: Graph, target: str
) -> Iterator[tuple[tuple[str, ...], frozenset[str], IntArray]]:
    """Give the sums to be worked out: their factors, what is summed, and in which rows."""
    with_gaps = [v for v in graph.nodes if v != target and status[v].any()]
    if not any((status[v] == SUMMED).any() for v in with_gaps):
        return
    found: dict[tuple[tuple[str, ...], frozenset[str]], list[IntArray]] = {}
    n_rows = len(status[target])
    keys = joined_codes([status[v] for v in with_gaps], [3] * len(with_gaps), n_rows)
    for rows in row_groups(keys):
        here = {v: int(status[v][rows[0]]) for v in with_gaps}
        summed = {v for v, how in here.items() if how == SUMMED}
        barren = {v for v, how in here.items() if how == BARREN}
        for factors, together in _components(summed, barren, graph):
            if any(target == name or target in graph.parents[name] for name in factors):
                found.setdefault((factors, together), []).append(rows)
    for (factors, together), parts in found.items():
        yield factors, together, np.concatenate(parts)


def _components(
    summed: Collection[str], barren: Collection[str], graph: Graph
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Give the gaps that meet in factors, with all those factors; the target ties none together.

    The target's value is fixed in every sum, so what meets only there falls apart.
    """
    left = set(summed)
    while left:
        waiting = [left.pop()]
        together, factors = set(waiting), set[str]()
        while waiting:
            gap = waiting.pop()
            for factor in (gap, *graph.children[gap]):
                if factor in barren or factor in factors:
                    continue
                factors.add(factor)
                for v in (*graph.parents[factor], factor):
                    if v in left:
                        left.remove(v)
                        together.add(v)
                        waiting.append(v)
        yield tuple(name for name in graph.nodes if name in factors), frozenset(together)


def _sum_out(
    out: FloatArray,
    coded: Coded,
    rows: IntArray,
    factors: tuple[str, ...],
    summed: frozenset[str],
    graph: Graph,
    tables: Mapping[str, FloatArray],
    target: str,
    plans: Plans,
) -> None:
    """Add the logarithm of a product of factors, gaps summed out, for some rows."""
    families = {v for name in factors for v in (*graph.parents[name], name)}
    known = frozenset(families - summed - {target})
    for some in stretches(rows, factors, tables):
        parts = [some]
        while parts:
            part = parts.pop()
            given = batched(coded, part, known, factors, graph, tables)
            try:
                p, log_scale = plans.contract(given, (target,), batched=True)
            except TooLargeError:
                if len(part) == 1:
                    raise
                parts += np.array_split(part, 2)  # so many rows together are too many
                continue
            out[part] += log(p) + log_scale[:, None]
