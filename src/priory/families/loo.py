"""Leave-one-out: each row scored as if it had never been counted.

    table + prior ──loo──▶ log P(x_i | k), each row i taken out of the table

A row is left out of its own class, with all of its weight. Any family can be scored so by brute
force; one with a closed form (`ClosedFormLoo`) shares the arithmetic below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Counts, Labels, Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Lookup, n_classes
from priory.families.priors import DiscretePrior, MEstimate
from priory.families.protocols import ClosedFormLoo

__all__ = [
    "LooRows",
    "alike",
    "brute_force_loo",
    "distinct",
    "log_likelihood_loo",
    "log_share",
    "loo_adder",
    "loo_columns",
    "loo_table",
    "own_pseudo",
    "reduced",
    "tabulate",
]

TABULATED = 65_536
"""So many places of a table are set up without asking how many rows would use them."""


@dataclass(frozen=True, eq=False)
class LooRows:
    """Hold the class of each row that is left out, and the weight it was learned with, not 0."""

    y: CodeArray
    weight: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> LooRows:
        """Take some of the rows."""
        return LooRows(self.y[rows], None if self.weight is None else self.weight[rows])

    @cached_property
    def amount(self) -> FloatArray:
        """The weight that goes with each row."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @cached_property
    def ways(self) -> tuple[FloatArray, IntArray | int]:
        """The distinct weights, and which of them each row has."""
        if self.weight is None:
            return np.ones(1), 0
        found, which = np.unique(self.weight, return_inverse=True)
        return found, which

    def kinds(self, n_classes: int) -> CodeArray:
        """Code the way and the class of each row."""
        y = np.ascontiguousarray(self.y, dtype=np.int32)
        _, which = self.ways
        return y if isinstance(which, int) else (which * n_classes + y).astype(np.int32)


def log_likelihood_loo(
    family: Family, column: Any, y: CodeArray, weight: FloatArray | None, table: Any, prior: Any
) -> FloatArray:
    """Score each row i, log P(x_i | k), rows × classes, with row i taken out of the table.

    The rows, with their classes and their weights, must be among those that the table counted; NaN
    stands where one cannot be. The result is that of estimating the parameters again after every
    such subtraction; what is not in the table stays as it is: the level of the cells, and declared
    values.
    """
    out = np.zeros((len(column), n_classes(table)))
    if weight is None or weight.all():
        adder = loo_adder(family, column, LooRows(y, weight), table, prior)
        adder(slice(0, len(column)), out)
        return out
    some = weight > 0  # a row of weight 0 was never counted
    counted = (column.take(some), y[some], weight[some], table, prior)
    out[some] = log_likelihood_loo(family, *counted)
    out[~some] = family.log_likelihood(column.take(~some), family.parameters(table, prior))
    return out


def loo_adder(family: Family, column: Any, loo: LooRows, table: Any, prior: Any) -> Adder:
    """Prepare to add `log_likelihood_loo` of the rows, none of weight 0, stretch by stretch."""
    if isinstance(family, ClosedFormLoo):
        return family.loo_adder(column, loo, table, prior)
    return brute_force_loo(family, column, loo, table, prior)


def loo_columns(
    column: Numbers, loo: LooRows, score: Callable[[int, FloatArray, LooRows], FloatArray]
) -> Adder:
    """Prepare to add, column by column, the scores of the numbers that are there.

    `score` takes the place of a column, its numbers and the rows they are of.
    """

    def add(rows: slice, out: FloatArray) -> None:
        values, some = column.values[rows], loo.take(rows)
        for j in range(values.shape[1]):
            x = values[:, j].astype(np.float64)
            there = ~np.isnan(x)
            if there.all():
                out += score(j, x, some)
            else:
                out[there] += score(j, x[there], some.take(there))

    return add


def loo_table(table: Any, row: Any, loo: LooRows) -> Any:
    """Take one row out of a table of sums."""
    parts = getattr(row, "parts", (row,))
    if isinstance(row, Counts | Numbers):
        parts = range((row.matrix if isinstance(row, Counts) else row.values).shape[1])
    block = Block("", ("",) * len(parts), Kind.EMPTY)
    return table - type(table).count(block, row, loo.y, loo.amount, n_classes(table))


def brute_force_loo(
    family: Family,
    column: Any,
    loo: LooRows,
    table: Any,
    prior: Any,
    without: Callable[[Any, Any, LooRows], Any] = loo_table,
) -> Lookup:
    """Estimate from the rest of the table, once for each value, class and weight that differ."""
    leaders, where = alike(column, loo)
    scores = np.empty((len(leaders), n_classes(table)))
    for i, row in enumerate(leaders.tolist()):
        one = slice(row, row + 1)
        rest = without(table, column.take(one), loo.take(one))
        scores[i] = family.log_likelihood(column.take(one), family.parameters(rest, prior))[0]
    return Lookup(where.astype(np.int32), np.arange(len(leaders), dtype=np.int32), scores)


def alike(column: Any, loo: LooRows) -> tuple[AnyArray, AnyArray]:
    """Find a row of each kind that differs in value, class or weight, and each row's kind."""
    if isinstance(column, Labels):
        codes = column.codes.astype(np.int64) + 1
    elif isinstance(column, Numbers) and column.values.shape[1] == 1:
        codes = np.unique(column.values[:, 0], return_inverse=True)[1]
    else:
        return np.arange(len(column)), np.arange(len(column))
    ways, which = loo.ways
    K = int(loo.y.max(initial=0)) + 1
    combined = (codes * len(ways) + which) * K + loo.y
    found, where = distinct(combined, int(combined.max(initial=0)) + 1)
    leaders = np.zeros(len(found), dtype=np.int64)
    leaders[where] = np.arange(len(where))
    return leaders, where


def distinct(codes: AnyArray, size: int) -> tuple[IntArray, IntArray]:
    """Find the distinct codes, all below `size`, and where each row's stands among them.

    >>> codes, where = distinct(np.array([5, 2, 5]), 8)
    >>> codes.tolist(), where.tolist()
    ([2, 5], [1, 0, 1])
    """
    if size > max(TABULATED, 4 * len(codes)):
        found, where = np.unique(codes, return_inverse=True)
        return found, where
    found = np.flatnonzero(np.bincount(codes, minlength=size))
    places = np.zeros(size, dtype=np.int64)
    places[found] = np.arange(len(found))
    return found, places[codes]


def tabulate(
    codes: AnyArray,
    values: CodeArray,
    n_values: int,
    n_classes: int,
    loo: LooRows,
    scores: Callable[[IntArray, IntArray, FloatArray], FloatArray],
) -> tuple[AnyArray, CodeArray, FloatArray, CodeArray | None]:
    """Give codes, places, a table and kinds to look up scores of rows that differ in little.

    Rows with the same value, class and weight have the same score. `values` is the value of each
    code, below `n_values`; a negative one, or a negative code, is missing. `scores` takes the
    values, classes and weights of all that differ and returns theirs, rows × classes; it must give
    NaN for what was never learned.
    """
    amounts, _ = loo.ways
    ways = len(amounts)
    n_kinds = ways * n_classes
    size = n_values * n_kinds
    kinds = loo.kinds(n_classes)
    if size > max(TABULATED // n_classes, len(codes)):  # most would be for nothing: find the others
        value_of = np.append(values, -1)[np.maximum(codes.astype(np.int64), -1)].astype(np.int64)
        wide = np.where(value_of < 0, -1, value_of * n_kinds + kinds)
        found, inverse = np.unique(wide, return_inverse=True)
        there = found >= 0
        places = np.where(there, np.cumsum(there) - 1, -1).astype(np.int32)
        found, codes = found[there], inverse.astype(np.int32)
        of_rows = None
    else:
        found, of_rows = np.arange(size), kinds
        starts = np.where(values < 0, -1, values.astype(np.int64) * n_kinds)
        places = np.append(starts, -1).astype(np.int32)
    places_of: Any = np.unravel_index(found, (n_values, ways, n_classes))
    value, way, y = places_of
    table = scores(value, y, amounts[way])
    return codes, places, np.ascontiguousarray(table), of_rows


def reduced(
    values: FloatArray, y: AnyArray, amount: FloatArray, gone: BoolArray | bool = False
) -> FloatArray:
    """Take an amount from each row's own class, 0 where it is gone."""
    result = np.array(values)
    here = np.arange(len(y)), y
    result[here] = np.where(gone, 0.0, np.maximum(result[here] - amount, 0.0))
    return result


def log_share(
    count: FloatArray,
    total: FloatArray,
    pseudo: FloatArray,
    pseudo_total: FloatArray,
    pooled: FloatArray,
    pooled_total: FloatArray | float,
) -> FloatArray:
    """Give log (n_v + a_v) / (n + Σa), with the column's own shares where nothing is known.

    >>> log_share(*map(np.array, (1.0, 3.0, 1.0, 2.0, 0.0, 0.0))).round(3).item()
    -0.916
    """
    below = total + pseudo_total
    known = below > 0
    pooled_total = np.maximum(pooled_total, np.finfo(float).tiny)
    share = np.where(known, (count + pseudo) / np.where(known, below, 1.0), pooled / pooled_total)
    with np.errstate(divide="ignore"):
        return np.log(share)


def own_pseudo(
    prior: DiscretePrior, domain: Sequence[Any], place: IntArray, n: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give a_v of a place in the domain (0 just after it) and Σa, for each row's own n_v and n.

    >>> from priory.families.priors import Laplace
    >>> a, total = own_pseudo(Laplace(1.0), "abc", np.array([0]), np.array([2.0]), np.array([9.0]))
    >>> a.tolist(), total.tolist()
    ([1.0], [3.0])
    """
    if isinstance(prior, MEstimate) and prior.p == "marginal":  # the one that looks at the counts
        m = np.full(len(place), float(prior.m))
        return m * (n + 1.0) / (total + max(len(domain), 1)), m
    pseudo = prior.pseudo_counts(domain, np.zeros(len(domain)))
    return np.append(pseudo, 0.0)[place], np.full(len(place), pseudo.sum())
