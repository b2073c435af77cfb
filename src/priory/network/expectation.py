"""Expectation–maximisation: missing values filled by what they probably were, again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from priory.base.typing import FloatArray, IntArray
from priory.data.combinations import joined_codes
from priory.network.counts import NetworkCounts, count_family
from priory.network.elimination import Plans
from priory.network.factors import NetworkPrior
from priory.network.rows import Conditionals, batched, log_p_rows, row_groups, stretches
from priory.network.variables import Coded

__all__ = ["fill_missing"]


def fill_missing(
    counts: NetworkCounts,
    coded: Coded,
    weight: FloatArray | None,
    priors: Mapping[str, NetworkPrior],
    plans: Plans,
    max_iter: int,
    tolerance: float,
) -> NetworkCounts:
    """Replace the counts of incomplete rows by expected ones, until the likelihood settles.

    `counts` already has the rows, each counted for the nodes that are known with their parents.
    """
    graph, coded = counts.graph, coded.within(counts.domains)
    incomplete = ~coded.complete
    some, of_some = coded.take(incomplete), None if weight is None else weight[incomplete]
    sure = {
        name: table - count_family(some, graph.family(name), of_some)
        for name, table in counts.tables.items()
    }
    last = -np.inf
    for _ in range(max_iter):
        tables = counts.estimate(priors)
        if tables is None:
            break
        network = Conditionals(graph, tables, plans)
        score = float(np.average(log_p_rows(coded, network), weights=weight))
        if abs(score - last) < tolerance:
            break
        last = score
        filled = _expected_counts(some, of_some, network)
        counts = replace(counts, tables={name: sure[name] + filled[name] for name in sure})
    return counts


def _expected_counts(
    coded: Coded, weight: FloatArray | None, network: Conditionals
) -> dict[str, FloatArray]:
    """Spread each row over what its missing values probably were.

    n(value, parents) = Σ_rows P(value, parents | what is known of the row)
    """
    graph = network.graph
    counts = {name: np.zeros(table.shape) for name, table in network.tables.items()}
    for same, known in _patterns(coded):
        unknown = [name for name in graph.nodes if not known.issuperset(graph.family(name))]
        for rows in stretches(same, unknown, network):
            factors = batched(coded, rows, known, unknown, network)
            weights = np.ones(len(rows)) if weight is None else weight[rows]
            for name in graph.nodes:
                missing = tuple(v for v in graph.family(name) if v not in known)
                joint, _ = network.plans.contract(factors, missing, batched=True)
                joint = joint.reshape(len(rows), -1)
                total = joint.sum(axis=1)
                scaled = joint * (weights / np.where(total > 0, total, 1.0))[:, None]
                _add(counts[name], coded, rows, graph.family(name), known, scaled)
    return counts


def _patterns(coded: Coded) -> Iterator[tuple[IntArray, frozenset[str]]]:
    """Give the rows in which the same variables are known, and these variables."""
    incomplete = [name for name in coded.codes if coded.has_missing(name)]
    known = [(coded.codes[name] >= 0).astype(np.int8) for name in incomplete]
    for rows in row_groups(joined_codes(known, [2] * len(known), coded.n_rows)):
        first = int(rows[0])
        yield rows, frozenset(name for name, codes in coded.codes.items() if codes[first] >= 0)


def _add(
    counts: FloatArray,
    coded: Coded,
    rows: IntArray,
    family: tuple[str, ...],
    known: frozenset[str],
    joint: FloatArray,
) -> None:
    """Add what is expected of each row to its place in a table."""
    there = [i for i, v in enumerate(family) if v in known]
    place = counts.transpose([*there, *(i for i, v in enumerate(family) if v not in known)])
    sizes = place.shape[: len(there)]
    keys = joined_codes([coded.codes[family[i]][rows] for i in there], sizes, len(rows))
    summed = np.zeros((int(np.prod(sizes)), joint.shape[1]))
    np.add.at(summed, keys, joint)
    place += summed.reshape(place.shape)
