"""Expectation–maximisation: missing values filled by what they probably were, again and again.

Missing values that meet in a table are worked out together; what is known of the rows around them
is counted beforehand, so that a step costs as much as there are different surroundings, however
many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from priory.base.errors import NotConvergedWarning, SettingError, check_number, warn
from priory.base.graph import Graph
from priory.base.typing import FloatArray, IntArray
from priory.data.combinations import distinct_combinations, joined_codes
from priory.families.base import log
from priory.network.counts import NetworkCounts, count_family
from priory.network.elimination import Plans
from priory.network.factors import NetworkPrior, pseudo_counts, shares
from priory.network.rows import Conditionals, batched, components, row_groups
from priory.network.variables import Coded

__all__ = ["Filling", "fill_gaps"]

MOST_DENSE = 2**22
"""So many numbers a product of factors may have to be written out."""

FIRST_STEPS = 20
"""So many steps of each random start are made before the best one goes on."""


@dataclass(frozen=True)
class Filling:
    """Hold how missing values are filled."""

    max_iter: int = 100
    tolerance: float = 1e-7
    restarts: int = 10
    random_state: int = 0

    def __post_init__(self) -> None:
        check_number("max_iter", self.max_iter, above=0)
        check_number("tolerance", self.tolerance)
        check_number("restarts", self.restarts, above=0)
        if isinstance(self.random_state, bool) or not isinstance(self.random_state, int):
            raise SettingError(f"random_state must be an integer, not {self.random_state!r}.")


def fill_gaps(
    counts: NetworkCounts, priors: Mapping[str, NetworkPrior], plans: Plans, how: Filling
) -> NetworkCounts:
    """Expect the counts of the rows with gaps, until what is maximised settles.

        log P(rows | tables) + Σ a log P(value | parents),      a the pseudo-counts

    Variables that no row knows start from random tables, several times; the best start goes on.
    """
    if not len(counts.gaps) or not all(counts.domains.values()):
        return counts
    climb = _Climb(counts, priors, plans)
    hidden = {name for name, n in counts.rows.items() if not n.any()}
    tables = climb.first
    if hidden:
        rng = np.random.default_rng(how.random_state)
        steps = min(FIRST_STEPS, int(how.max_iter))
        starts = [climb.shaken(hidden, rng) for _ in range(int(how.restarts))]
        found = [climb.run(start, steps, how.tolerance) for start in starts]
        tables = max(found, key=lambda one: one[1])[0]
    tables, _, settled = climb.run(tables, int(how.max_iter), how.tolerance)
    if not settled:
        warn(
            f"Expectation–maximisation did not settle in max_iter={how.max_iter} steps; raise "
            "max_iter, or tolerance.",
            NotConvergedWarning,
        )
    return replace(counts, expected=climb.expect(tables)[0])


class _Climb:
    """The steps of expectation–maximisation on the same counts."""

    def __init__(
        self, counts: NetworkCounts, priors: Mapping[str, NetworkPrior], plans: Plans
    ) -> None:
        self.counts, self.priors, self.plans = counts, priors, plans
        gaps, graph = counts.gaps.coded(counts.domains), counts.graph
        weight = counts.gaps.weight
        known = {name: count_family(gaps, graph.family(name), weight) for name in graph.nodes}
        self.known = known
        """What the rows with gaps say of the nodes that they know with their parents."""
        self.pieces = [*_pieces(gaps, weight, graph)]
        self.total = float(weight.sum() + max(n.sum() for n in counts.observed.values()))
        self.first = self._estimate(known)

    def run(
        self, tables: dict[str, FloatArray], most: int, tolerance: float
    ) -> tuple[dict[str, FloatArray], float, bool]:
        """Make steps until one gains too little; give the tables and what they reach."""
        last = -np.inf
        for _ in range(most):
            expected, score = self.expect(tables)
            if abs(score - last) <= tolerance * self.total:
                return tables, score, True
            last = score
            tables = self._estimate(expected)
        return tables, last, False

    def expect(self, tables: dict[str, FloatArray]) -> tuple[dict[str, FloatArray], float]:
        """Expect the counts of the rows with gaps; give with them what the tables reach."""
        expected = {name: table.copy() for name, table in self.known.items()}
        network = Conditionals(self.counts.graph, tables, self.plans)
        score = sum(piece.add(expected, network) for piece in self.pieces)
        for name, table in tables.items():
            seen = self.known[name] + self.counts.observed[name] + self._pseudo(name, table)
            some = seen > 0
            score += float((seen[some] * log(table[some])).sum())
        return expected, score

    def shaken(self, hidden: set[str], rng: np.random.Generator) -> dict[str, FloatArray]:
        """Start with random tables where a hidden variable takes part."""
        tables = dict(self.first)
        for name in self.counts.graph.nodes:
            if hidden.intersection(self.counts.graph.family(name)):
                drawn = rng.gamma(1.0, size=tables[name].shape) + 1e-3
                tables[name] = drawn / drawn.sum(axis=-1, keepdims=True)
        return tables

    def _estimate(self, expected: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        result = {}
        for name, table in self.counts.observed.items():
            n = table + expected[name]
            result[name] = shares(n, pseudo_counts(self.priors[name], self.counts.domains[name], n))
        return result

    def _pseudo(self, name: str, table: FloatArray) -> FloatArray:
        pseudo = pseudo_counts(self.priors[name], self.counts.domains[name], table)
        return np.broadcast_to(pseudo, table.shape)


@dataclass(frozen=True, eq=False)
class _Piece:
    """Hold missing variables that meet, the factors they meet in, and all their surroundings."""

    missing: tuple[str, ...]
    factors: tuple[str, ...]
    around: Coded
    weight: FloatArray

    def add(self, counts: Mapping[str, FloatArray], network: Conditionals) -> float:
        """Add the expected counts of each factor; give the log-likelihood of the surroundings.

        n(value, parents) = Σ_rows P(value, parents | what is known of the row)
        """
        sizes = [len(self.around.domains[name]) for name in self.missing]
        height = max(1, MOST_DENSE // prod(sizes))
        total = 0.0
        for first in range(0, self.around.n_rows, height):
            rows = np.arange(first, min(first + height, self.around.n_rows))
            known = frozenset(self.around.codes)
            factors = batched(self.around, rows, known, self.factors, network)
            weight = self.weight[rows]
            if prod(sizes) <= MOST_DENSE:
                joint = np.ones((len(rows), *[1] * len(sizes)))
                for names, array in factors:
                    place = [self.missing.index(name) for name in names]
                    order = sorted(range(len(place)), key=place.__getitem__)
                    shape = [len(rows), *(sizes[i] if i in place else 1 for i in range(len(sizes)))]
                    moved = array.transpose(0, *(1 + i for i in order))
                    joint = joint * moved.reshape(shape)
                z = joint.reshape(len(rows), -1).sum(axis=1)
                joint *= (weight / np.where(z > 0, z, 1.0)).reshape(-1, *[1] * len(sizes))
                for name, (names, _) in zip(self.factors, factors, strict=True):
                    place = [self.missing.index(v) for v in names]
                    others = tuple(1 + i for i in range(len(sizes)) if i not in place)
                    summed = joint.sum(axis=others)
                    left = sorted(place)
                    summed = summed.transpose(0, *(1 + left.index(i) for i in place))
                    self._put(counts[name], network.graph.family(name), rows, summed)
                total += float(weight @ log(z))
            else:
                z = np.zeros(len(rows))
                for name, (names, _) in zip(self.factors, factors, strict=True):
                    summed, log_scale = network.plans.contract(factors, names)
                    flat = summed.reshape(len(rows), -1)
                    z = flat.sum(axis=1)
                    share = (weight / np.where(z > 0, z, 1.0))[:, None]
                    self._put(counts[name], network.graph.family(name), rows, flat * share)
                total += float(weight @ (log(z) + log_scale))
        return total

    def _put(
        self, counts: FloatArray, family: tuple[str, ...], rows: IntArray, joint: FloatArray
    ) -> None:
        """Add what is expected of each surrounding to its place in a table."""
        there = [i for i, v in enumerate(family) if v in self.around.codes]
        place = counts.transpose([*there, *(i for i in range(len(family)) if i not in there)])
        sizes = place.shape[: len(there)]
        codes = [self.around.codes[family[i]][rows] for i in there]
        keys = joined_codes(codes, sizes, len(rows)).astype(np.intp)
        joint = joint.reshape(len(rows), -1)
        width = joint.shape[1]
        flat = (keys[:, None] * width + np.arange(width)).ravel()
        summed = np.bincount(flat, weights=joint.ravel(), minlength=prod(sizes) * width)
        place += summed.reshape(place.shape)


def _pieces(coded: Coded, weight: FloatArray, graph: Graph) -> Iterator[_Piece]:
    """Find the missing variables that meet, over all rows, and count their surroundings."""
    found: dict[tuple[tuple[str, ...], frozenset[str]], list[IntArray]] = {}
    incomplete = [name for name in graph.nodes if coded.has_missing(name)]
    keys = joined_codes(
        [(coded.codes[name] < 0).astype(np.int8) for name in incomplete],
        [2] * len(incomplete),
        coded.n_rows,
    )
    for rows in row_groups(keys):
        lacking = {name for name in incomplete if coded.codes[name][rows[0]] < 0}
        for factors, together in components(lacking, (), graph):
            found.setdefault((factors, together), []).append(rows)
    for (factors, together), parts in found.items():
        rows = np.concatenate(parts)
        family = {v for name in factors for v in graph.family(name)}
        known = [name for name in graph.nodes if name in family and name not in together]
        missing = tuple(name for name in graph.nodes if name in together)
        domains = {name: coded.domains[name] for name in (*known, *missing)}
        if not known:
            yield _Piece(missing, factors, Coded(1, domains, {}), weight[rows].sum(keepdims=True))
            continue
        columns = [coded.codes[name][rows] for name in known]
        codes, where = distinct_combinations(columns, [len(domains[name]) for name in known])
        around = Coded(len(codes), domains, dict(zip(known, codes.T, strict=True)))
        summed = np.bincount(where, weight[rows], len(codes)).astype(np.float64)
        yield _Piece(missing, factors, around, summed)
