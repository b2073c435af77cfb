"""Many rows at once: how likely each is, gaps summed out, and what gaps probably held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from priory.base.graph import Graph
from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.data.combinations import joined_codes
from priory.families.base import log
from priory.kernels.labels import encode_integers
from priory.network.elimination import Plans
from priory.network.factors import Factor
from priory.network.variables import Coded

__all__ = ["batched", "expected_counts", "log_p_rows", "row_groups", "stretches"]

TOGETHER = 2**22
"""So many numbers are worked out together: more rows at once would not be faster."""


def log_p_rows(
    coded: Coded, graph: Graph, tables: Mapping[str, FloatArray], plans: Plans
) -> FloatArray:
    """Return log P(row) of every row, what is missing summed out."""
    out = np.zeros(coded.n_rows)
    for pattern in patterns(coded, graph.nodes):
        # What is missing and leads to nothing that is known sums to 1.
        needed = graph.ancestors(pattern.known)
        for name in graph.nodes:
            family = (*graph.parents[name], name)
            if name in needed and pattern.known.issuperset(family):
                out[pattern.rows] += _look_up(coded, pattern.rows, family, log(tables[name]))
        unknown = [
            name
            for name in graph.nodes
            if name in needed and not pattern.known.issuperset((*graph.parents[name], name))
        ]
        if unknown:
            for rows in stretches(pattern.rows, unknown, tables):
                factors = batched(coded, rows, pattern.known, unknown, graph, tables)
                p, log_scale = plans.contract(factors, (), batched=True)
                out[rows] += log(p) + log_scale
    return out


def expected_counts(
    coded: Coded,
    weight: FloatArray | None,
    graph: Graph,
    tables: Mapping[str, FloatArray],
    plans: Plans,
) -> dict[str, FloatArray]:
    """Return the counts of rows with gaps, each spread over what its gaps probably held.

    n(value, parents) = Σ_rows P(value, parents | what is known of the row)
    """
    counts = {name: np.zeros(table.shape) for name, table in tables.items()}
    for pattern in patterns(coded, graph.nodes):
        unknown = [
            name
            for name in graph.nodes
            if not pattern.known.issuperset((*graph.parents[name], name))
        ]
        for rows in stretches(pattern.rows, unknown, tables):
            factors = batched(coded, rows, pattern.known, unknown, graph, tables)
            weights = np.ones(len(rows)) if weight is None else weight[rows]
            for name in graph.nodes:
                family = (*graph.parents[name], name)
                gaps = tuple(v for v in family if v not in pattern.known)
                joint, _ = plans.contract(factors, gaps, batched=True)
                axes = tuple(range(1, joint.ndim))
                total = joint.sum(axis=axes, keepdims=True)
                scaled = weights.reshape(-1, *(1,) * len(axes)) / np.where(total > 0, total, 1.0)
                _add(counts[name], coded, rows, family, gaps, joint * scaled)
    return counts


@dataclass(frozen=True, eq=False)
class Pattern:
    """Hold the rows in which the same variables are known."""

    rows: IntArray
    known: frozenset[str]


def patterns(coded: Coded, names: Sequence[str]) -> Iterator[Pattern]:
    """Give the rows by what is known in them."""
    with_gaps = [name for name in names if name in coded.codes and coded.has_gaps(name)]
    always = frozenset(name for name in names if name in coded.codes) - set(with_gaps)
    if not with_gaps:
        yield Pattern(np.arange(coded.n_rows), always)
        return
    there = [(coded.codes[name] >= 0).astype(np.int8) for name in with_gaps]
    keys = joined_codes(there, [2] * len(there), coded.n_rows)
    for rows in row_groups(keys):
        first = int(rows[0])
        known = [name for name in with_gaps if coded.codes[name][first] >= 0]
        yield Pattern(rows, always.union(known))


def _look_up(
    coded: Coded, rows: IntArray, family: tuple[str, ...], table: FloatArray
) -> FloatArray:
    codes = [coded.codes[name][rows] for name in family]
    return np.asarray(table.ravel()[joined_codes(codes, table.shape, len(rows))])


def row_groups(keys: AnyArray) -> Iterator[IntArray]:
    """Give the rows that have the same key, group by group."""
    groups, distinct = encode_integers(keys.astype(np.int64, copy=False))
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=len(distinct)))
    yield from np.split(order, ends[:-1])


def stretches(
    rows: IntArray, names: Sequence[str], tables: Mapping[str, FloatArray]
) -> Iterator[IntArray]:
    """Give the rows in stretches small enough to be worked out together."""
    largest = max((tables[name].size for name in names), default=1)
    height = max(1, TOGETHER // (64 * largest))
    for first in range(0, len(rows), height):
        yield rows[first : first + height]


def batched(
    coded: Coded,
    rows: IntArray,
    known: frozenset[str],
    names: Sequence[str],
    graph: Graph,
    tables: Mapping[str, FloatArray],
) -> list[Factor]:
    """Return each node's table with what every row knows put in: rows × what is missing."""
    factors = []
    for name in names:
        family = (*graph.parents[name], name)
        there = [i for i, v in enumerate(family) if v in known]
        gaps = [i for i, v in enumerate(family) if v not in known]
        table = tables[name].transpose([*there, *gaps])
        codes: list[AnyArray] = [coded.codes[family[i]][rows].astype(np.intp) for i in there]
        everywhere = (len(rows), *table.shape)
        picked = table[tuple(codes)] if there else np.broadcast_to(table, everywhere)
        factors.append(Factor(tuple(family[i] for i in gaps), picked))
    return factors


def _add(
    counts: FloatArray,
    coded: Coded,
    rows: IntArray,
    family: tuple[str, ...],
    gaps: tuple[str, ...],
    joint: FloatArray,
) -> None:
    """Add what is expected of each row to its place in a table."""
    there = [i for i, v in enumerate(family) if v not in gaps]
    missing = [i for i, v in enumerate(family) if v in gaps]
    place = counts.transpose([*there, *missing])
    sizes = place.shape[: len(there)]
    keys = joined_codes([coded.codes[family[i]][rows] for i in there], sizes, len(rows))
    summed = np.zeros((int(np.prod(sizes)), int(np.prod(joint.shape[1:]))))
    np.add.at(summed, keys, joint.reshape(len(rows), -1))
    place += summed.reshape(place.shape)
