"""The parameters of a family as a table for people: what was estimated, and from which counts.

Where counts are integers and the prior is a decimal number, an estimate is an exact fraction:

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
from priory.base.typing import AnyArray, FloatArray
from priory.families.priors import Dirichlet, Laplace, MEstimate, RowsPrior, one_column

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

LARGEST = 2.0**53
"""Integers above this are not told apart in floating point."""


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
    """Show smoothed shares of counts, values × classes, over all the values."""
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
    """Show P(there | k) of many columns or words; counts are classes × columns × (not, there)."""

    def fractions() -> Exact | None:
        found = [
            exact_shares(counts[:, j].T, one_column(prior, j), [False, True])
            for j in range(counts.shape[1])
        ]
        return None if None in found else [one[1] for one in found if one is not None]

    on, total = counts[:, :, 1].T, counts.sum(axis=2).T
    return Estimates(parameter, values, np.exp(log_on), on, total, columns, fractions)


def complement_shares(
    parameter: str, values: Sequence[Any], counts: FloatArray, prior: Any, domain: Sequence[Any]
) -> Estimates:
    """Show (N_v − n_vk + a_v) / Σ_v (N_v − n_vk + a_v): shares of all the other classes."""
    total = counts.sum(axis=1)
    others = total[:, None] - counts
    smoothed = others + np.asarray(prior.pseudo_counts(domain, total))[:, None]

    def fractions() -> Exact | None:
        n, sums = exact_sums(others), exact_sums(total)
        if n is None or sums is None:
            return None
        return _of_sum(n + exact_pseudo_counts(prior, domain, sums)[:, None], None)

    everything = smoothed.sum(axis=0)
    estimate = smoothed / np.where(everything > 0, everything, np.nan)
    seen = np.broadcast_to(others.sum(axis=0), others.shape)
    return Estimates(parameter, values, estimate, others, seen, fractions=fractions)


def remark(parameter: str, value: Any = None) -> Estimates:
    """Make a row without a number: what the table cannot show, or a formula."""
    return Estimates(parameter, (value,), np.full((1, 1), np.nan), by_class=False)


def exact_shares(counts: FloatArray, prior: Any, domain: Sequence[Any]) -> Exact | None:
    """Give (n_vk + a_v) / (n_k + Σa) as fractions, values × classes.

    A class that never saw the column, with no prior to speak for it, takes the shares over all
    classes, as `log_shares` does.

    >>> exact_shares(np.array([[2.0], [7.0]]), Laplace(0.0), ["Sunny", "Rain"])
    [[Fraction(2, 9)], [Fraction(7, 9)]]
    """
    n = exact_sums(counts)
    if n is None:
        return None
    smoothed = n + exact_pseudo_counts(prior, domain, n.sum(axis=1))[:, None]
    pooled = smoothed.sum(axis=1)
    return _of_sum(smoothed, _ratio(pooled, pooled.sum(), None)[:, None])


def exact_joint(counts: FloatArray, prior: RowsPrior, combinations: int) -> Exact | None:
    """Give the shares of some of many combinations as fractions, combinations × classes.

    >>> exact_joint(np.array([[3.0], [0.0]]), Laplace(1.0), 4)
    [[Fraction(4, 7)], [Fraction(1, 7)]]
    """
    n = exact_sums(counts)
    if n is None:
        return None
    total: Any = exact(np.max(prior.strength))
    pseudo: Any = total / combinations
    if isinstance(prior, Laplace):
        pseudo, total = total, total * combinations
    elif prior.p == "marginal":
        of_each = n.sum(axis=1, keepdims=True)
        pseudo = total * (of_each + 1) / (of_each.sum() + combinations)
    return _listed(_ratio(n + pseudo, n.sum(axis=0) + total, None))


def exact_conditional(
    child: FloatArray,
    counts: Sequence[FloatArray],
    prior: RowsPrior,
    values: Sequence[Any],
) -> Exact | None:
    """Give P(v | u, k) = (n_uvk + b_vk) / (n_uk + Σb) as fractions, values × classes.

    `counts` are n_uvk of the first parent, the first two, and so on. b are the prior's
    pseudo-counts, towards the marginal m · P(v | u', k), u' without the last parent.
    """
    alone, own = exact_shares(child, prior, values), exact_sums(child)
    if alone is None or own is None:
        return None
    pseudo = exact_pseudo_counts(prior, values, own.sum(axis=1))[:, None]
    given = np.array(alone, object).reshape(own.shape)
    for count in counts:
        n = exact_sums(count)
        if n is None:
            return None
        if isinstance(prior, MEstimate) and prior.p == "marginal":
            pseudo = exact(prior.m) * _or_0(given)
        given = _ratio(n + pseudo, (n + pseudo).sum(axis=0), given)
    return _listed(given)


def exact_rates(sums: FloatArray, n: FloatArray, strengths: AnyArray) -> Exact | None:
    """Give (Σx + α·λ) / (n_k + α) as fractions, columns × classes, λ the rate over all classes.

    >>> exact_rates(np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]]), np.ones(1))
    [[Fraction(4, 3), Fraction(2, 3)]]
    """
    counts, rows = exact_sums(sums), exact_sums(n)
    if counts is None or rows is None:
        return None
    lent = _exact_each(strengths)[:, None]
    pooled = _ratio(counts.sum(axis=1), rows.sum(axis=1), Fraction())[:, None]
    return _listed(_ratio(counts + lent * pooled, rows + lent, pooled))


def exact_sums(counts: FloatArray) -> AnyArray | None:
    """Convert counts to fractions; None where one of them is not an integer."""
    if not ((counts == np.floor(counts)) & (np.abs(counts) <= LARGEST)).all():
        return None
    return np.asarray(_integers(counts))


def exact_pseudo_counts(prior: Any, values: Sequence[Any], totals: AnyArray) -> AnyArray:
    """Convert the pseudo-counts of a prior to fractions; a number is the decimal it prints as.

    >>> exact_pseudo_counts(MEstimate(0.1), ["a", "b", "c"], np.array([Fraction(1)] * 3))[0]
    Fraction(1, 30)
    """
    if isinstance(prior, Dirichlet):
        return _named(prior.counts, values)
    if isinstance(prior, Laplace):
        return np.asarray(_exact_each(np.broadcast_to(prior.alpha, len(totals))))
    m, n = exact(prior.m), len(values)
    if not isinstance(prior.p, str):
        return m * _named(prior.p, values)
    if prior.p == "marginal":
        return m * (totals + 1) / (totals.sum() + n)
    return np.full(len(totals), m / max(n, 1))


def exact(x: Any) -> Fraction:
    """Convert a number to the fraction that its decimals say: 0.1 is one tenth.

    >>> exact(0.1), exact(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    return Fraction(repr(float(x)))


_exact_each = np.frompyfunc(exact, 1, 1)
_integers = np.frompyfunc(lambda x: Fraction(int(x)), 1, 1)
_or_0 = np.frompyfunc(lambda p: p or 0, 1, 1)
_ratio = np.frompyfunc(lambda x, total, otherwise: x / total if total else otherwise, 3, 1)


def _of_sum(smoothed: AnyArray, otherwise: Any) -> Exact:
    return _listed(_ratio(smoothed, smoothed.sum(axis=0), otherwise))


def _listed(fractions: AnyArray) -> Exact:
    listed: Exact = fractions.tolist()
    return listed


def _named(given: Any, values: Sequence[Any]) -> AnyArray:
    known = {label_key(value): exact(x) for value, x in given.items()}
    return np.array([Fraction() if v is None else known[label_key(v)] for v in values], object)
