"""The parameters of a family as a table for people: what was estimated, and from which counts.

Where counts are whole and the prior is a decimal number, an estimate is an exact fraction:

    P(v | k) = (n_vk + a_v) / (n_k + Σa)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import FloatArray
from priory.families.priors import Dirichlet, Laplace, MEstimate, one_column

__all__ = [
    "Estimates",
    "Exact",
    "complement_shares",
    "exact",
    "exact_conditional",
    "exact_joint",
    "exact_pseudo_counts",
    "exact_rates",
    "exact_shares",
    "exact_sums",
    "remark",
    "shares",
    "there_or_not",
]

Exact = list[list[Fraction | None]]
"""Fractions, values × classes; None where there is none."""

WHOLE = 2.0**53
"""Whole numbers above this are not told apart in floating point."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Hold one kind of parameter, values × classes, and the counts that it was estimated from."""

    parameter: str
    values: Sequence[Any]
    """What each row is of, None where the parameter is of the column as a whole."""
    estimate: FloatArray
    count: FloatArray | None = None
    total: FloatArray | None = None
    columns: Sequence[str] | None = None
    """The column of each row, where they are not all of the block."""
    fractions: Callable[[], Exact | None] | None = None
    by_class: bool = True
    """Whether the estimates differ by class; if not, there is one of each."""


def shares(
    parameter: str,
    values: Sequence[Any],
    log_p: FloatArray,
    counts: FloatArray,
    prior: Any,
    domain: Sequence[Any],
    columns: Sequence[str] | None = None,
) -> Estimates:
    """Return smoothed shares of counts, values × classes, over all the values."""
    total = np.broadcast_to(counts.sum(axis=0), counts.shape)
    fractions = partial(exact_shares, counts, prior, domain)
    return Estimates(parameter, values, np.exp(log_p), counts, total, columns, fractions)


def there_or_not(
    parameter: str,
    values: Sequence[Any],
    log_on: FloatArray,
    counts: FloatArray,
    prior: Any,
    columns: Sequence[str] | None = None,
) -> Estimates:
    """Return P(there | k) of many columns or words; counts are classes × columns × (not, there)."""

    def fractions() -> Exact | None:
        found = [
            exact_shares(counts[:, j].T, one_column(prior, j), [False, True])
            for j in range(counts.shape[1])
        ]
        return None if None in found else [one[1] for one in found if one is not None]

    on, total = counts[:, :, 1].T, counts.sum(axis=2).T
    return Estimates(parameter, values, np.exp(log_on), on, total, columns, fractions)


def complement_shares(
    parameter: str, values: Sequence[Any], counts: FloatArray, prior: Any, words: Any = None
) -> Estimates:
    """Return (N_v − n_vk + a_v) / Σ_v (N_v − n_vk + a_v): shares of all the other classes."""
    domain = range(len(counts)) if words is None else words
    total = counts.sum(axis=1)
    others = total[:, None] - counts
    pseudo = np.asarray(prior.pseudo_counts(domain, total))[:, None]

    def fractions() -> Exact | None:
        n, sums = exact_sums(others), exact_sums(total[:, None])
        if n is None or sums is None:
            return None
        a = exact_pseudo_counts(prior, domain, [row[0] for row in sums])
        smoothed = [[x + b for x in row] for row, b in zip(n, a, strict=True)]
        totals = [sum(column, Fraction()) for column in zip(*smoothed, strict=True)]
        return [
            [x / total if total else None for x, total in zip(row, totals, strict=True)]
            for row in smoothed
        ]

    everything = (others + pseudo).sum(axis=0)
    estimate = (others + pseudo) / np.where(everything > 0, everything, np.nan)
    seen = np.broadcast_to(others.sum(axis=0), others.shape)
    return Estimates(parameter, values, estimate, others, seen, fractions=fractions)


def remark(parameter: str, value: Any = None) -> Estimates:
    """Return a row without a number: what the table cannot show, or a formula."""
    return Estimates(parameter, (value,), np.full((1, 1), np.nan), by_class=False)


def exact_shares(counts: FloatArray, prior: Any, domain: Sequence[Any]) -> Exact | None:
    """Return (n_vk + a_v) / (n_k + Σa) as fractions, values × classes.

    A class that never saw the column, with no prior to speak for it, takes the shares over all
    classes, as `log_shares` does.

    >>> exact_shares(np.array([[2.0], [7.0]]), Laplace(0.0), ["Sunny", "Rain"])
    [[Fraction(2, 9)], [Fraction(7, 9)]]
    """
    n = exact_sums(counts)
    if n is None:
        return None
    pseudo = exact_pseudo_counts(prior, domain, [sum(row, Fraction()) for row in n])
    smoothed = [[x + a for x in row] for row, a in zip(n, pseudo, strict=True)]
    pooled = [sum(row, Fraction()) for row in smoothed]
    everything = sum(pooled, Fraction())
    totals = [sum(column, Fraction()) for column in zip(*smoothed, strict=True)]
    return [
        [
            x / total if total else together / everything if everything else None
            for x, total in zip(row, totals, strict=True)
        ]
        for row, together in zip(smoothed, pooled, strict=True)
    ]


def exact_joint(counts: FloatArray, prior: Laplace | MEstimate, combinations: int) -> Exact | None:
    """Return the shares of some of many combinations as fractions, combinations × classes.

    >>> exact_joint(np.array([[3.0], [0.0]]), Laplace(1.0), 4)
    [[Fraction(4, 7)], [Fraction(1, 7)]]
    """
    n = exact_sums(counts)
    if n is None:
        return None
    of_each = [sum(row, Fraction()) for row in n]
    if isinstance(prior, Laplace):
        alpha = exact(np.max(prior.alpha))
        pseudo, a_sum = [alpha] * len(n), alpha * combinations
    else:
        a_sum = exact(prior.m)
        everything = sum(of_each, Fraction()) + combinations
        is_marginal = prior.p == "marginal"
        pseudo = [
            a_sum * (total + 1) / everything if is_marginal else a_sum / combinations
            for total in of_each
        ]
    totals = [sum(column, a_sum) for column in zip(*n, strict=True)]
    return [
        [(x + a) / total if total else None for x, total in zip(row, totals, strict=True)]
        for row, a in zip(n, pseudo, strict=True)
    ]


def exact_conditional(
    child: FloatArray,
    counts: Sequence[FloatArray],
    prior: Laplace | MEstimate,
    values: Sequence[Any],
    edge: bool,
) -> Exact | None:
    """Return P(v | u, k) = (n_uvk + b_vk) / (n_uk + Σb) as fractions, values × classes.

    `counts` are n_uvk of the first parent, the first two, and so on. b are the prior's
    pseudo-counts, towards the marginal m · P(v | u', k), u' without the last parent; `edge` divides
    by P(v | k).
    """
    alone, own = exact_shares(child, prior, values), exact_sums(child)
    if alone is None or own is None:
        return None
    pseudo = exact_pseudo_counts(prior, values, [sum(row, Fraction()) for row in own])
    given = alone
    for count in counts:
        n = exact_sums(count)
        if n is None:
            return None
        b = [[a] * len(row) for a, row in zip(pseudo, n, strict=True)]
        if isinstance(prior, MEstimate) and prior.p == "marginal":
            b = [[exact(prior.m) * (p or 0) for p in row] for row in given]
        smoothed = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(n, b, strict=True)]
        totals = [sum(column, Fraction()) for column in zip(*smoothed, strict=True)]
        given = [
            [x / total if total else p for x, total, p in zip(row, totals, before, strict=True)]
            for row, before in zip(smoothed, given, strict=True)
        ]
    if not edge:
        return given
    return [
        [None if x is None else x / p if p else Fraction(1) for x, p in zip(*rows, strict=True)]
        for rows in zip(given, alone, strict=True)
    ]


def exact_rates(sums: FloatArray, n: FloatArray, strengths: Sequence[float]) -> Exact | None:
    """Return (Σx + α·λ) / (n_k + α) as fractions, columns × classes, λ the rate over all classes.

    >>> exact_rates(np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]]), [1.0])
    [[Fraction(4, 3), Fraction(2, 3)]]
    """
    counts, rows = exact_sums(sums), exact_sums(n)
    if counts is None or rows is None:
        return None
    result: Exact = []
    for x, of, lent in zip(counts, rows, map(exact, strengths), strict=True):
        everything = sum(of, Fraction())
        pooled = sum(x, Fraction()) / everything if everything else Fraction()
        shares = zip(x, of, strict=True)
        result.append([(a + lent * pooled) / (b + lent) if b + lent else pooled for a, b in shares])
    return result


def exact_sums(counts: FloatArray) -> list[list[Fraction]] | None:
    """Return counts as fractions, or None where one of them is not whole."""
    if not ((counts == np.floor(counts)) & (np.abs(counts) <= WHOLE)).all():
        return None
    return [[Fraction(int(x)) for x in row] for row in counts.tolist()]


def exact_pseudo_counts(
    prior: Any, values: Sequence[Any], totals: Sequence[Fraction]
) -> list[Fraction]:
    """Return the pseudo-counts of a prior as fractions; a number is the decimal that it prints as.

    >>> exact_pseudo_counts(MEstimate(0.1), ["a", "b", "c"], [Fraction(1)] * 3)[0]
    Fraction(1, 30)
    """
    if isinstance(prior, Laplace):
        if isinstance(prior.alpha, tuple):
            return [exact(alpha) for alpha in prior.alpha]
        return [exact(prior.alpha)] * len(totals)
    if isinstance(prior, Dirichlet):
        return _named(prior.counts, values)
    assert isinstance(prior, MEstimate)
    m, n = exact(prior.m), len(values)
    if not isinstance(prior.p, str):
        return [m * p for p in _named(prior.p, values)]
    if prior.p == "marginal":
        everything = sum(totals, Fraction()) + n
        return [m * (total + 1) / everything for total in totals]
    return [m / max(n, 1)] * len(totals)


def exact(x: Any) -> Fraction:
    """Return a number as the fraction that its decimals say: 0.1 is one tenth.

    >>> exact(0.1), exact(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    return Fraction(repr(float(x)))


def _named(given: Any, values: Sequence[Any]) -> list[Fraction]:
    known = {label_key(value): exact(x) for value, x in given.items()}
    return [Fraction() if v is None else known[label_key(v)] for v in values]
