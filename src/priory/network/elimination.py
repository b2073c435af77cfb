"""Variable elimination, exactly: by sums, or by maxima for the most probable explanation.

Sums run as one `einsum` whose order opt_einsum chooses. The most probable explanation and exact
samples go back from the answer to the variables, so there each variable is eliminated by itself
and its table is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
import opt_einsum as oe

from priory.base.errors import TooLargeError
from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.network.factors import Factor

__all__ = [
    "MOST_NUMBERS",
    "Bucket",
    "Plans",
    "draw_rows",
    "eliminate",
    "marginals_back",
    "most_probable_back",
    "sample_back",
    "sliced",
]

MOST_NUMBERS = 2**27
"""The most numbers that an intermediate table may hold: a gigabyte."""


def sliced(factors: Iterable[Factor], evidence: Mapping[str, int]) -> list[Factor]:
    """Slice the factors by the evidence."""
    result = []
    for variables, array in factors:
        place = tuple(evidence.get(v, slice(None)) for v in variables)
        left = tuple(v for v in variables if v not in evidence)
        result.append(Factor(left, array[place] if len(left) < len(variables) else array))
    return result


class Plans:
    """Remember the order in which factors of the same shapes were best multiplied."""

    def __init__(self, most_numbers: int = MOST_NUMBERS) -> None:
        self.most_numbers = most_numbers
        self._known: dict[Any, Any] = {}

    def contract(
        self, factors: Sequence[Factor], out: Sequence[str], batched: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Multiply the factors and sum over all but `out`; the result is array · exp(log scale).

        Every factor is divided by its largest number, so that products of many small probabilities
        do not underflow. With `batched` factors the first axis of every factor, and of the answer,
        runs over the rows, each with its own scale.
        """
        n = len(factors[0].array) if batched else 1
        log_scale = np.zeros(n)
        arrays, names = [], []
        for variables, array in factors:
            axes = tuple(range(1 if batched else 0, array.ndim))
            largest = np.asarray(array.max(axis=axes) if array.size else 0.0).reshape(-1)
            positive = np.where(largest > 0, largest, 1.0)
            log_scale = log_scale + np.log(positive)
            if len(variables) or not (largest > 0).all():
                scaled = array / positive.reshape((-1,) + (1,) * len(axes) if batched else ())
                arrays.append(scaled)
                names.append(("", *variables) if batched else variables)
        if not arrays:
            return np.ones((n,) if batched else ()), log_scale
        out = ("", *out) if batched else tuple(out)
        plan = self._plan(tuple(names), tuple(a.shape for a in arrays), out)
        return np.asarray(plan(*arrays)), log_scale

    def _plan(
        self,
        names: tuple[tuple[str, ...], ...],
        shapes: tuple[tuple[int, ...], ...],
        out: tuple[str, ...],
    ) -> Any:
        key = (names, shapes, out)
        if key not in self._known:
            if len(self._known) >= 1024:
                self._known.clear()
            symbols = {
                name: oe.get_symbol(i) for i, name in enumerate(dict.fromkeys(chain(*names)))
            }
            terms = ["".join(symbols[name] for name in variables) for variables in names]
            equation = ",".join(terms) + "->" + "".join(symbols[name] for name in out)
            path, info = oe.contract_path(equation, *shapes, shapes=True, optimize="greedy")
            if info.largest_intermediate > self.most_numbers:  # look harder before giving up
                search = oe.RandomGreedy(max_repeats=64, minimize="size")
                path, info = oe.contract_path(equation, *shapes, shapes=True, optimize=search)
            _check_size(int(info.largest_intermediate), self.most_numbers)
            self._known[key] = oe.contract_expression(equation, *shapes, optimize=path)
        return self._known[key]


def _check_size(needed: int, most: int) -> None:
    if needed > most:
        raise TooLargeError(
            f"The exact answer needs a table of {needed:,} numbers ({8 * needed / 2**30:,.1f} GB); "
            f"{most:,} ({8 * most / 2**30:,.1f} GB) are the most. Ask for fewer variables "
            "together, give more evidence, or raise the network's most_numbers."
        )


class Bucket(NamedTuple):
    """Keep the table of an eliminated variable, given variables eliminated later."""

    variable: str
    given: tuple[str, ...]
    table: FloatArray


def eliminate(
    factors: Sequence[Factor], how: Literal["sum", "max"], most_numbers: int
) -> tuple[list[Bucket], float]:
    """Eliminate every variable, smallest table first; give its buckets and the log of the rest."""
    sizes = {v: n for f in factors for v, n in zip(f.variables, f.array.shape, strict=True)}
    order, needed = _order([set(f.variables) for f in factors], sizes)
    _check_size(needed, most_numbers)
    left, buckets, log_scale = list(factors), [], 0.0
    for variable in order:
        mine = [f for f in left if variable in f.variables]
        left = [f for f in left if variable not in f.variables]
        variables, table = _product(mine, last=variable)
        largest = float(table.max())
        if largest <= 0:
            return [], -np.inf
        table = table / largest
        log_scale += float(np.log(largest))
        buckets.append(Bucket(variable, variables[:-1], table))
        reduced = table.sum(axis=-1) if how == "sum" else table.max(axis=-1)
        left.append(Factor(variables[:-1], reduced))
    rest = float(np.prod([f.array for f in left]))
    return buckets, (log_scale + float(np.log(rest)) if rest > 0 else -np.inf)


def _order(scopes: list[set[str]], sizes: Mapping[str, int]) -> tuple[list[str], int]:
    """Find an order of elimination by smallest next table, and the largest of those tables."""
    neighbours: dict[str, set[str]] = {v: set() for v in sizes}
    for scope in scopes:
        for v in scope:
            neighbours[v] |= scope
    order, largest = [], 1
    cost = {v: prod(sizes[w] for w in near) for v, near in neighbours.items()}
    while neighbours:
        best = min(neighbours, key=lambda v: (cost[v], v))
        largest = max(largest, cost[best])
        near = neighbours.pop(best) - {best}
        del cost[best]
        for v in near:
            neighbours[v] = (neighbours[v] | near) - {best}
            cost[v] = prod(sizes[w] for w in neighbours[v])
        order.append(best)
    return order, largest


def _product(factors: Sequence[Factor], last: str) -> Factor:
    """Multiply some factors, with one variable's axis last."""
    variables = (*dict.fromkeys(v for f in factors for v in f.variables if v != last), last)
    result: AnyArray = np.ones((1,) * len(variables))
    for names, array in factors:
        order = np.argsort([variables.index(name) for name in names])
        absent = tuple(i for i, v in enumerate(variables) if v not in names)
        result = result * np.expand_dims(array.transpose(order), absent)
    return Factor(variables, result)


def most_probable_back(buckets: Sequence[Bucket]) -> dict[str, int]:
    """Find the most probable value of every variable, the last eliminated first."""
    found: dict[str, int] = {}
    for bucket in reversed(buckets):
        row = bucket.table[tuple(found[v] for v in bucket.given)]
        found[bucket.variable] = int(row.argmax())
    return found


def marginals_back(buckets: Sequence[Bucket]) -> dict[str, FloatArray]:
    """Compute the distribution of every variable by itself, the last eliminated first.

    A bucket's variable and those it is given form a clique. What it is given lies within the
    clique of the variable eliminated next among them, whose joint distribution is known by then.
    """
    place = {bucket.variable: i for i, bucket in enumerate(buckets)}
    cliques: dict[str, Factor] = {}
    found: dict[str, FloatArray] = {}
    for bucket in reversed(buckets):
        total = bucket.table.sum(axis=-1, keepdims=True)
        joint = bucket.table / np.where(total > 0, total, 1.0)
        if bucket.given:
            near = cliques[min(bucket.given, key=place.__getitem__)]
            others = tuple(i for i, v in enumerate(near.variables) if v not in bucket.given)
            given = [v for v in near.variables if v in bucket.given]
            order = [given.index(v) for v in bucket.given]
            joint = joint * near.array.sum(axis=others).transpose(order)[..., None]
        variables = (*bucket.given, bucket.variable)
        cliques[bucket.variable] = Factor(variables, joint)
        found[bucket.variable] = joint.reshape(-1, joint.shape[-1]).sum(axis=0)
    return found


def sample_back(buckets: Sequence[Bucket], n: int, rng: np.random.Generator) -> dict[str, IntArray]:
    """Draw every variable n times, the last eliminated first: exact samples."""
    drawn: dict[str, IntArray] = {}
    for bucket in reversed(buckets):
        rows = bucket.table[tuple(drawn[v] for v in bucket.given)]
        drawn[bucket.variable] = draw_rows(np.broadcast_to(rows, (n, rows.shape[-1])), rng)
    return drawn


def draw_rows(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw one place from each row of weights."""
    ends = np.cumsum(weights, axis=1)
    places = (rng.random(len(weights)) * ends[:, -1])[:, None] >= ends
    return np.minimum(places.sum(axis=1), weights.shape[1] - 1)
