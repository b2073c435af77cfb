"""Many rows at once: log P(row), or that with each value of one variable.

    log P(v, row) = Σ log P(node | parents), what is missing summed out

A factor without missing values is a look-up, for all its rows together. Missing values that meet
in a factor are summed out together, once for all the rows in which the same ones meet; those
from which nothing known follows sum to 1 and are not looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from priory.base.errors import TooLargeError
from priory.base.graph import Graph
from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.data.combinations import joined_codes
from priory.families.base import log
from priory.kernels.labels import encode_integers
from priory.network.elimination import Plans
from priory.network.factors import Factor
from priory.network.variables import Coded

__all__ = [
    "Conditionals",
    "batched",
    "components",
    "log_joint_rows",
    "log_p_rows",
    "row_groups",
]

TOGETHER = 2**22
"""The most numbers that are worked out together: more rows at once would not be faster."""

KNOWN, SUMMED, BARREN = 0, 1, 2
"""A missing value is barren if neither the target nor anything known follows from it."""


class Conditionals(NamedTuple):
    """Hold P(node | parents) of every node of a graph, and how they are best multiplied."""

    graph: Graph
    tables: Mapping[str, FloatArray]
    plans: Plans


def log_p_rows(coded: Coded, network: Conditionals) -> FloatArray:
    """Compute log P(row) of every row, what is missing summed out."""
    return log_joint_rows(coded, network, None)[:, 0]


def log_joint_rows(coded: Coded, network: Conditionals, target: str | None) -> FloatArray:
    """Compute log P(v, row) of every value v of the target, rows × values.

    Terms that are the same for all values of the target are dropped; without a target there is one
    column, log P(row). Variables that `coded` lacks are missing in every row; the target's own
    column is not looked at.
    """
    graph, tables, _ = network
    status = _status(coded, graph, target)
    out = np.zeros((coded.n_rows, 1 if target is None else tables[target].shape[-1]))
    for name in graph.nodes:
        family = graph.family(name)
        if target is None or target in family:
            others = [v for v in family if v != target]
            table = log(tables[name])
            moved = (
                table[..., None] if target is None else np.moveaxis(table, family.index(target), -1)
            )
            _look_up(out, coded, status, others, moved)
    for factors, summed, rows in _sums(status, graph, target, coded.n_rows):
        _sum_out(out, coded, rows, factors, summed, network, target)
    return out


def _status(coded: Coded, graph: Graph, target: str | None) -> dict[str, AnyArray]:
    """Tell for every node and row whether it is known, must be summed out, or is barren."""
    needed: dict[str, BoolArray] = {}
    status: dict[str, AnyArray] = {}
    for name in reversed(graph.order):
        known = np.zeros(coded.n_rows, dtype=np.bool_)
        if name in coded.codes and name != target:
            known = coded.codes[name] >= 0
        needed[name] = known if name != target else ~known
        for child in graph.children[name]:
            needed[name] = needed[name] | needed[child]
        status[name] = np.where(known, KNOWN, np.where(needed[name], SUMMED, BARREN))
        status[name] = status[name].astype(np.int8)
    return status


def _look_up(
    out: FloatArray,
    coded: Coded,
    status: Mapping[str, AnyArray],
    others: Sequence[str],
    table: FloatArray,
) -> None:
    """Add the entries of a table, its last axis the target's, to the rows that know the others."""
    known = np.ones(len(out), dtype=np.bool_)
    for v in others:
        known &= status[v] == KNOWN
    rows = slice(None) if known.all() else np.flatnonzero(known)
    if known.any():
        codes = [coded.codes[v][rows] for v in others]
        keys = joined_codes(codes, table.shape[:-1], int(np.count_nonzero(known)))
        out[rows] += table.reshape(-1, table.shape[-1])[keys]


def _sums(
    status: Mapping[str, AnyArray], graph: Graph, target: str | None, n_rows: int
) -> Iterator[tuple[tuple[str, ...], frozenset[str], IntArray]]:
    """Give the sums to be worked out: their factors, what is summed, and in which rows."""
    incomplete = [v for v in graph.nodes if v != target and status[v].any()]
    if not any((status[v] == SUMMED).any() for v in incomplete):
        return
    found: dict[tuple[tuple[str, ...], frozenset[str]], list[IntArray]] = {}
    keys = joined_codes([status[v] for v in incomplete], [3] * len(incomplete), n_rows)
    for rows in row_groups(keys):
        here = {v: int(status[v][rows[0]]) for v in incomplete}
        summed = {v for v, how in here.items() if how == SUMMED}
        barren = {v for v, how in here.items() if how == BARREN}
        for factors, together in components(summed, barren, graph):
            if target is None or any(target in graph.family(name) for name in factors):
                found.setdefault((factors, together), []).append(rows)
    for (factors, together), parts in found.items():
        yield factors, together, np.concatenate(parts)


def components(
    summed: Collection[str], barren: Collection[str], graph: Graph
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Give the missing variables that meet in factors, with all those factors.

    The target's value is fixed in every sum, so what meets only there falls apart.
    """
    left = set(summed)
    while left:
        waiting = [left.pop()]
        together, factors = set(waiting), set[str]()
        while waiting:
            missing = waiting.pop()
            for factor in {missing, *graph.children[missing]} - factors - set(barren):
                factors.add(factor)
                met = left.intersection(graph.family(factor))
                left -= met
                together |= met
                waiting += met
        yield tuple(name for name in graph.nodes if name in factors), frozenset(together)


def _sum_out(
    out: FloatArray,
    coded: Coded,
    rows: IntArray,
    factors: tuple[str, ...],
    summed: frozenset[str],
    network: Conditionals,
    target: str | None,
) -> None:
    """Add the logarithm of a product of factors, missing values summed out, for some rows."""
    known = frozenset(v for name in factors for v in network.graph.family(name)) - summed
    kept = () if target is None else (target,)
    for some in _stretches(rows, factors, network):
        parts = [some]
        while parts:
            part = parts.pop()
            given = batched(coded, part, known.difference(kept), factors, network)
            try:
                p, log_scale = network.plans.contract(given, kept)
            except TooLargeError:
                if len(part) == 1:
                    raise
                parts += np.array_split(part, 2)  # so many rows together are too many
                continue
            out[part] += log(p).reshape(len(part), -1) + log_scale[:, None]


def row_groups(keys: AnyArray) -> Iterator[IntArray]:
    """Give the rows that have the same key, group by group."""
    groups, distinct = encode_integers(keys.astype(np.int64, copy=False))
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=len(distinct)))
    yield from np.split(order, ends[:-1])


def _stretches(rows: IntArray, names: Sequence[str], network: Conditionals) -> Iterator[IntArray]:
    """Give the rows in stretches small enough to be worked out together."""
    largest = max((network.tables[name].size for name in names), default=1)
    height = max(1, TOGETHER // (64 * largest))
    for first in range(0, len(rows), height):
        yield rows[first : first + height]


def batched(
    coded: Coded,
    rows: IntArray,
    known: frozenset[str],
    names: Sequence[str],
    network: Conditionals,
) -> list[Factor]:
    """Slice each node's table by what every row knows: rows × what is missing."""
    factors = []
    for name in names:
        family = network.graph.family(name)
        there = [i for i, v in enumerate(family) if v in known]
        missing = [i for i, v in enumerate(family) if v not in known]
        table = network.tables[name].transpose([*there, *missing])
        codes: list[AnyArray] = [coded.codes[family[i]][rows].astype(np.intp) for i in there]
        everywhere = (len(rows), *table.shape)
        picked = table[tuple(codes)] if there else np.broadcast_to(table, everywhere)
        factors.append(Factor(tuple(family[i] for i in missing), picked))
    return factors
