"""Variable elimination, exactly: by sums, or by maxima for the most probable explanation.

Each variable is eliminated by itself, in an order found beforehand, and its table may be kept:
marginals, the most probable explanation and exact samples go back from the answer to the
variables. Sums for many rows at once run as one `einsum` whose order opt_einsum chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from math import log, prod
from typing import Any, NamedTuple

import numpy as np
import opt_einsum as oe

from priory.base.typing import AnyArray, FloatArray, IntArray
from priory.network.factors import Factor
from priory.network.ordering import MOST_NUMBERS, Order, best_order, check_cost

__all__ = [
    "Bucket",
    "Eliminated",
    "Plans",
    "draw_rows",
    "eliminate",
    "marginals_back",
    "most_probable_back",
    "sample_back",
    "sliced",
]


SMALL = 1e-100
"""A product whose largest number is below this is scaled."""


def sliced(factors: Iterable[Factor], evidence: Mapping[str, int]) -> list[Factor]:
    """Slice the factors by the evidence."""
    result = []
    for variables, array in factors:
        place = tuple(evidence.get(v, slice(None)) for v in variables)
        left = tuple(v for v in variables if v not in evidence)
        result.append(Factor(left, array[place] if len(left) < len(variables) else array))
    return result


class Plans:
    """Remember in which order factors of the same shapes were best multiplied and summed out."""

    def __init__(self, most_numbers: int = MOST_NUMBERS) -> None:
        self.most_numbers = most_numbers
        self._known: dict[Any, Any] = {}

    def order(
        self,
        scopes: Sequence[tuple[str, ...]],
        sizes: Mapping[str, int],
        keep: Collection[str],
        last: Collection[str],
    ) -> Order:
        """Find a good order to eliminate all but the variables to keep; some come last."""
        key = (tuple(scopes), tuple(sizes.items()), frozenset(keep), frozenset(last))
        return self._remembered(key, lambda: best_order(scopes, sizes, last, keep))

    def _remembered(self, key: Any, find: Callable[[], Any]) -> Any:
        if key not in self._known:
            if len(self._known) >= 1024:
                self._known.clear()
            self._known[key] = find()
        return self._known[key]

    def contract(
        self, factors: Sequence[Factor], out: Sequence[str]
    ) -> tuple[FloatArray, FloatArray]:
        """Multiply factors of many rows and sum over all but `out`: array · exp(log scale).

        The first axis of every factor, and of the answer, runs over the rows. Every factor is
        divided by its largest number, in each row, so that products of many small probabilities do
        not underflow.
        """
        n = len(factors[0].array)
        log_scale = np.zeros(n)
        arrays, names = [], []
        for variables, array in factors:
            axes = tuple(range(1, array.ndim))
            largest = np.asarray(array.max(axis=axes) if array.size else 0.0).reshape(-1)
            positive = np.where(largest > 0, largest, 1.0)
            log_scale = log_scale + np.log(positive)
            if len(variables) or not (largest > 0).all():
                arrays.append(array / positive.reshape((-1,) + (1,) * len(axes)))
                names.append(("", *variables))
        if not arrays:
            return np.ones(n), log_scale
        plan = self._plan(tuple(names), tuple(a.shape for a in arrays), ("", *out))
        return np.asarray(plan(*arrays)), log_scale

    def _plan(
        self,
        names: tuple[tuple[str, ...], ...],
        shapes: tuple[tuple[int, ...], ...],
        out: tuple[str, ...],
    ) -> Any:
        def find() -> Any:
            symbols = {
                name: oe.get_symbol(i) for i, name in enumerate(dict.fromkeys(chain(*names)))
            }
            terms = ["".join(symbols[name] for name in variables) for variables in names]
            equation = ",".join(terms) + "->" + "".join(symbols[name] for name in out)
            path, info = oe.contract_path(equation, *shapes, shapes=True, optimize="greedy")
            if info.largest_intermediate > self.most_numbers:  # look harder before giving up
                search = oe.RandomGreedy(max_repeats=64, minimize="size")
                path, info = oe.contract_path(equation, *shapes, shapes=True, optimize=search)
            needed = Order((), int(info.largest_intermediate), 0)
            check_cost(needed, self.most_numbers)
            return oe.contract_expression(equation, *shapes, optimize=path)

        return self._remembered((names, shapes, out), find)


class Bucket(NamedTuple):
    """Keep the table of an eliminated variable, given variables eliminated later."""

    variable: str
    given: tuple[str, ...]
    table: FloatArray


class Eliminated(NamedTuple):
    """Hold the tables of eliminated variables, what is left, and the log of what was divided by."""

    buckets: list[Bucket]
    left: FloatArray
    log_scale: float


def eliminate(
    factors: Sequence[Factor],
    plans: Plans,
    keep: Sequence[str] = (),
    maximize: Collection[str] = (),
    remember: bool = True,
) -> Eliminated:
    """Eliminate every variable but some: by sums, then, for some, by maxima.

    What is left is an array, an axis for each variable in `keep`. Tables are divided by their
    largest number, so that products of many small probabilities do not underflow. The tables of
    the eliminated variables are kept if the way back is wanted (`remember`).
    """
    sizes = {v: n for f in factors for v, n in zip(f.variables, f.array.shape, strict=True)}
    order = plans.order([f.variables for f in factors], sizes, keep, maximize)
    kept = {v: n for v, n in sizes.items() if v in set(keep)}
    check_cost(order, plans.most_numbers, prod(kept.values()), remember)
    holders: dict[str, dict[int, Factor]] = {v: {} for v in sizes}
    left: dict[int, Factor] = {}
    for i, factor in enumerate(factors):
        left[i] = factor
        for v in factor.variables:
            holders[v][i] = factor
    buckets, log_scale = [], 0.0
    for i, variable in enumerate(order.variables, len(factors)):
        mine = holders.pop(variable)
        for j, factor in mine.items():
            del left[j]
            for v in factor.variables:
                if v != variable:
                    del holders[v][j]
        variables, table, scale = _product([*mine.values()], variable)
        reduced = table.max(axis=0) if variable in maximize else table.sum(axis=0)
        largest = float(reduced.max())
        if not largest > 0:
            return Eliminated([], np.zeros([*kept.values()]), -np.inf)
        reduced /= largest
        log_scale += scale + log(largest)
        if remember:
            buckets.append(Bucket(variable, variables[1:], np.moveaxis(table, 0, -1)))
        left[i] = Factor(variables[1:], np.asarray(reduced))
        for v in variables[1:]:
            holders[v][i] = left[i]
    constants = [float(f.array) for f in left.values() if not f.variables]
    rest = [f for f in left.values() if f.variables]
    if any(c <= 0 for c in constants):
        return Eliminated([], np.zeros([*kept.values()]), -np.inf)
    log_scale += sum(map(log, constants))
    if not rest:
        return Eliminated(buckets, np.ones([*kept.values()]), log_scale)
    variables, table, scale = _product(rest, rest[0].variables[0])
    table = table.transpose([variables.index(v) for v in keep])
    return Eliminated(buckets, table, log_scale + scale)


def _product(factors: Sequence[Factor], first: str) -> tuple[tuple[str, ...], FloatArray, float]:
    """Multiply some factors, with one variable's axis first; it is array · exp(log scale).

    A factor within the scope of another is multiplied into that one, so that few are as large as
    the product. Variables of the fewest factors come last: along them the others are constant,
    and one number at a time multiplies a whole stretch.
    """
    merged: list[Factor] = []
    log_scale = 0.0
    for factor in sorted(factors, key=lambda f: -f.array.size):
        scope = set(factor.variables)
        for i, other in enumerate(merged):
            if scope.issubset(other.variables):
                array = other.array * _spread(factor, other.variables)
                largest = float(array.max())
                if 0 < largest < SMALL:  # before the product of many could underflow
                    array /= largest
                    log_scale += log(largest)
                merged[i] = Factor(other.variables, array)
                break
        else:
            merged.append(factor)
    shared = Counter(v for f in merged for v in f.variables)
    shared[first] = len(merged) + 1
    variables = tuple(sorted(shared, key=lambda v: -shared[v]))
    result: AnyArray | None = None
    for factor in reversed(merged):
        spread = _spread(factor, variables)
        result = spread if result is None else np.multiply(result, spread, order="C")
    assert result is not None
    return variables, result.copy() if len(merged) == 1 else result, log_scale


def _spread(factor: Factor, variables: Sequence[str]) -> FloatArray:
    """Put the axes of a factor among those of more variables."""
    place = {v: i for i, v in enumerate(factor.variables)}
    array = factor.array.transpose([place[v] for v in variables if v in place])
    sizes = iter(array.shape)
    return array.reshape([next(sizes) if v in place else 1 for v in variables])


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
    The tables of the buckets are overwritten.
    """
    place = {bucket.variable: i for i, bucket in enumerate(buckets)}
    nearest = [min(bucket.given, key=place.__getitem__, default="") for bucket in buckets]
    waiting = Counter(nearest)
    cliques: dict[str, Factor] = {}
    found: dict[str, FloatArray] = {}
    for bucket, near in zip(reversed(buckets), reversed(nearest), strict=True):
        total = bucket.table.sum(axis=-1, keepdims=True)
        joint = bucket.table
        if bucket.given:
            variables, clique = cliques[near]
            others = tuple(i for i, v in enumerate(variables) if v not in bucket.given)
            given = [v for v in variables if v in bucket.given]
            order = [given.index(v) for v in bucket.given]
            share = clique.sum(axis=others).transpose(order)[..., None]
            joint *= np.divide(share, total, out=np.zeros_like(total), where=total > 0)
            waiting[near] -= 1
            if not waiting[near]:
                del cliques[near]
        else:
            joint /= total
        if waiting[bucket.variable]:
            cliques[bucket.variable] = Factor((*bucket.given, bucket.variable), joint)
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
