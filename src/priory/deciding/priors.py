"""The class prior of new rows without classes, estimated from what the model says of them.

    π_k ← mean over rows of P'(k | x),   P'(k | x) ∝ P(k | x) · π_k / P_learned(k)

These are the steps of EM (Saerens, Latinne and Decaestecker 2002): they climb the likelihood of the
rows under label shift, where P(x | k) is as it was learned and the shares of the classes are not.
Probabilities must be calibrated for it, as those of tuned models are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table
from priory.base.typing import FloatArray, Label

__all__ = ["PriorEstimate", "estimate_prior"]

STEPS, SETTLED = 2_000, 1e-7

NEVER = -1e3
"""The log-likelihood of a row that a prior makes impossible, and the search must lead away from."""


@dataclass(frozen=True, eq=False, repr=False)
class PriorEstimate:
    """The estimated prior of some rows, with its interval, beside the learned one."""

    classes: tuple[Label, ...]
    prior: FloatArray
    low: FloatArray
    high: FloatArray
    learned: FloatArray
    n_rows: int
    level: float
    p_value: float
    """Of the learned prior being that of the rows (Wald's test)."""

    def to_dict(self) -> dict[str, object]:
        """Convert to plain JSON values."""
        rows = zip(self.classes, self.prior, self.low, self.high, self.learned, strict=True)
        names = ("class", "prior", "low", "high", "learned")
        found = [dict(zip(names, (k, *map(float, row)), strict=True)) for k, *row in rows]
        return {"classes": found, "rows": self.n_rows, "level": self.level, "p": self.p_value}

    def _rows(self) -> list[tuple[str, ...]]:
        rows = zip(self.classes, self.learned, self.prior, self.low, self.high, strict=True)
        head: tuple[str, ...] = ("class", "learned", "now", f"{self.level:.0%} interval")
        return [head] + [
            (str(k), f"{was:.4f}", f"{now:.4f}", f"{low:.4f}–{high:.4f}")
            for k, was, now, low, high in rows
        ]

    def __repr__(self) -> str:
        return f"<PriorEstimate of {len(self.classes)} classes from {self.n_rows:,} rows>"

    def __str__(self) -> str:
        return f"{aligned(self._rows())}\np = {self.p_value:.3g} for no change"

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return html_table(head, rows)


def estimate_prior(
    p: FloatArray,
    learned: FloatArray,
    classes: tuple[Label, ...],
    level: float = 0.95,
    n: int | None = None,
    counts: FloatArray | None = None,
) -> PriorEstimate:
    """Estimate the class prior of rows from P(k | x), rows × classes, under the learned prior.

    The interval is that of the likelihood ratio: the shares of a class for which 2 (L̂ − L) is
    within the quantile of χ², while the shares of the others give way. It does not know of errors
    in P(k | x).
    `n` is how many rows the model has learned: its errors weigh as much as those of a prior
    estimated from so many. `counts` says how many rows each line of `p` stands for.

    >>> p = np.array([[0.9, 0.1]] * 20 + [[0.1, 0.9]] * 80)
    >>> found = estimate_prior(p, np.array([0.5, 0.5]), ("a", "b"))
    >>> found.prior.round(3).tolist()  # 0.2 = π · 0.9 + (1 − π) · 0.1
    [0.125, 0.875]
    """
    if not 0 < level < 1:
        raise SettingError(f"level must be between 0 and 1, not {level!r}.")
    if not len(p):
        raise InputError("There are no rows to estimate a prior from.")
    from scipy.stats import chi2

    counts = np.ones(len(p)) if counts is None else counts
    n_rows = int(counts.sum())
    seen = learned > 0
    ratio = p[:, seen] / learned[seen]
    prior = learned[seen].copy()
    for _ in range(STEPS):
        joint = ratio * prior
        new = counts @ (joint / joint.sum(axis=1, keepdims=True)) / n_rows
        if np.abs(new - prior).max() < SETTLED:
            prior = new
            break
        prior = new
    evidence = ratio @ prior
    covariance = _covariance(ratio / evidence[:, None], prior, counts)
    was = learned[seen]
    by_chance = 0.0 if n is None else covariance * (n_rows / n)  # as if estimated from n rows
    off = (prior - was)[:-1]  # the last follows from the others
    distance = float(off @ np.linalg.pinv((covariance + by_chance)[:-1, :-1]) @ off)
    likelihood = partial(_log_likelihood, ratio / evidence[:, None], counts)
    along = covariance / np.maximum(np.diag(covariance), np.finfo(float).tiny)
    most = float(chi2.ppf(level, 1))
    found = [_interval(prior, k, along[:, k], likelihood, most) for k in range(len(prior))]
    low, high = np.array(found).T
    freedom = max(int(seen.sum()) - 1, 1)

    def of_all(values: FloatArray) -> FloatArray:
        every = np.zeros(len(learned))
        every[seen] = values
        return every

    return PriorEstimate(
        classes,
        of_all(prior),
        of_all(low),
        of_all(high),
        learned,
        n_rows,
        level,
        float(chi2.sf(distance, freedom)),
    )


def _log_likelihood(ratio: FloatArray, counts: FloatArray, prior: FloatArray) -> float:
    evidence = ratio @ prior
    logs = np.full(len(evidence), NEVER)
    np.log(evidence, where=evidence > 0, out=logs)
    return float(counts @ logs)


def _interval(
    prior: FloatArray,
    k: int,
    along: FloatArray,
    likelihood: Callable[[FloatArray], float],
    most: float,
) -> tuple[float, float]:
    """Find the shares of a class where the likelihood ratio is `most`.

    The other shares go `along` as the curvature says, as far as they are shares.
    """
    from scipy.optimize import brentq

    best, others = likelihood(prior), np.arange(len(prior)) != k
    if not others.any():  # it is the only class
        return 1.0, 1.0

    def beyond(value: float) -> float:
        moved = np.maximum(prior + (value - prior[k]) * along, 0.0)
        moved[k] = 0.0
        moved *= (1.0 - value) / max(float(moved.sum()), 1e-300)
        if not moved.any():
            moved[others] = (1.0 - value) / max(others.sum(), 1)
        moved[k] = value
        return 2.0 * (best - likelihood(moved)) - most

    return (
        0.0 if beyond(0.0) <= 0 else float(brentq(beyond, 0.0, prior[k])),
        1.0 if beyond(1.0) <= 0 else float(brentq(beyond, prior[k], 1.0)),
    )


def _covariance(ratio: FloatArray, prior: FloatArray, counts: FloatArray) -> FloatArray:
    """Invert the information Σ_i r_i r_iᵀ on priors that keep their sum."""
    K = len(prior)
    if K < 2:
        return np.zeros((K, K))
    basis = np.vstack([np.eye(K - 1), -np.ones(K - 1)])  # the last follows from the others
    free = basis.T @ (ratio.T @ (counts[:, None] * ratio)) @ basis
    covariance = basis @ np.linalg.pinv(free) @ basis.T
    # At the edge the curvature says nothing; a share is never more certain than 1/n.
    least = 0.25 / counts.sum() ** 2
    covariance[np.diag_indices(K)] = np.maximum(np.diag(covariance), least)
    return np.asarray(covariance)
