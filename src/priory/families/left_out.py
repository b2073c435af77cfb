"""What it means to leave a row out, and the arithmetic that families share for it.

A row is left out of its own class, with all of its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.families.priors import DiscretePrior, Laplace, MEstimate

__all__ = [
    "LeftOut",
    "distinct",
    "log_share",
    "one_column",
    "own_pseudo",
    "reduced",
    "tabulate",
]

TABULATED = 65_536
"""So many places of a table are set up without asking how many rows would use them."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Hold the class of each row that is left out, and the weight it was learned with, not 0."""

    y: CodeArray
    weight: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> LeftOut:
        """Return what is left out for some of the rows."""
        return LeftOut(self.y[rows], None if self.weight is None else self.weight[rows])

    @cached_property
    def amount(self) -> FloatArray:
        """Return the weight that goes with each row."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @cached_property
    def ways(self) -> tuple[FloatArray, IntArray | int]:
        """Return the distinct weights, and which of them each row has."""
        if self.weight is None:
            return np.ones(1), 0
        found, which = np.unique(self.weight, return_inverse=True)
        return found, which

    def kinds(self, n_classes: int) -> CodeArray:
        """Return a code for the way and the class of each row."""
        y = np.ascontiguousarray(self.y, dtype=np.int32)
        _, which = self.ways
        return y if isinstance(which, int) else (which * n_classes + y).astype(np.int32)


def distinct(codes: AnyArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the distinct codes, all below `size`, and where each row's stands among them.

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
    left_out: LeftOut,
    scores: Callable[[IntArray, IntArray, FloatArray], FloatArray],
) -> tuple[AnyArray, CodeArray, FloatArray, CodeArray | None]:
    """Return codes, places, a table and kinds for a look-up of rows that differ in little.

    Rows with the same value, class and weight have the same score. `values` is the value of each
    code, below `n_values`; a negative one, or a negative code, is a gap. `scores` takes the
    values, classes and weights of all that differ and returns theirs, rows × classes; it must give
    NaN for what was never learned.
    """
    amounts, _ = left_out.ways
    ways = len(amounts)
    n_kinds = ways * n_classes
    size = n_values * n_kinds
    kinds = left_out.kinds(n_classes)
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
    """Return rows × classes with an amount taken from each row's own class, 0 where it is gone."""
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
    """Return log (n_v + a_v) / (n + Σa), with the column's own shares where nothing is known.

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
    """Return a_v of a place in the domain (0 just after it) and Σa, for each row's own n_v and n.

    >>> a, total = own_pseudo(Laplace(1.0), "abc", np.array([0]), np.array([2.0]), np.array([9.0]))
    >>> a.tolist(), total.tolist()
    ([1.0], [3.0])
    """
    if isinstance(prior, MEstimate) and prior.p == "marginal":  # the one that looks at the counts
        m = np.full(len(place), float(prior.m))
        return m * (n + 1.0) / (total + max(len(domain), 1)), m
    pseudo = prior.pseudo_counts(domain, np.zeros(len(domain)))
    return np.append(pseudo, 0.0)[place], np.full(len(place), pseudo.sum())


def one_column(prior: Any, column: int) -> Any:
    """Return the prior of one of a block's columns."""
    if isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
        return Laplace(prior.alpha[column])
    return prior
