"""The evidence of counts and sums: what is probable before any parameter is known.

    P(D) = ∫ P(D | θ) P(θ) dθ

Where the prior is conjugate the integral has a closed form; a model is then not praised for having
more parameters. Weights count as so many rows.
"""

from __future__ import annotations

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import FloatArray
from priory.families.priors import PosteriorNIG

__all__ = [
    "log_dirichlet_evidence",
    "log_gamma_evidence",
    "log_normal_inverse_gamma_evidence",
    "log_rising",
]

LARGE = 16.0
"""From here on Stirling's series has all the digits."""


def log_rising(a: FloatArray | float, n: FloatArray | float) -> FloatArray:
    """Give log Γ(a + n) − log Γ(a), of which no digits are lost however large a is.

    By Stirling's series, with S(a) = 1/(12a) − 1/(360a³) + 1/(1260a⁵) − 1/(1680a⁷):

        n log a + (a + n − ½) log(1 + n/a) − n + S(a + n) − S(a)

    >>> float(log_rising(1e15, 2.0)), float(log_rising(1.0, 3.0))
    (69.07755278982137, 1.791759469228055)
    """
    from scipy.special import gammaln

    a, n = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(n, np.float64))
    result = np.asarray(gammaln(a + n) - gammaln(a))
    large = a > LARGE
    if large.any():
        x, m = a[large], n[large]
        stirling = m * np.log(x) + (x + m - 0.5) * np.log1p(m / x) - m
        result[large] = stirling + _stirling_rest(x + m) - _stirling_rest(x)
    return result


def _stirling_rest(x: FloatArray) -> FloatArray:
    square = 1.0 / (x * x)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / x


def log_dirichlet_evidence(
    counts: FloatArray, pseudo: FloatArray, pseudo_total: FloatArray | float | None = None
) -> float:
    """Give the log evidence of counts, values along the last axis, under Dirichlet priors.

        log P(D) = Σ log Γ(A) − log Γ(A + n) + Σ_v log Γ(a_v + n_v) − log Γ(a_v),   A = Σ a_v

    `pseudo_total` is A where there are values beside those counted.

    >>> round(float(np.exp(log_dirichlet_evidence(np.array([2.0, 1.0]), np.ones(2)))), 6)
    0.083333
    """
    a = np.broadcast_to(pseudo, counts.shape)
    seen = counts > 0
    if (a[seen] <= 0).any():
        raise SettingError(
            "The evidence needs a prior with a pseudo-count above 0 for every value that came; "
            "give a smoothing above 0."
        )
    totals = counts.sum(axis=-1)
    prior_totals = np.broadcast_to(
        a.sum(axis=-1) if pseudo_total is None else pseudo_total, totals.shape
    )
    came = totals > 0
    cells = log_rising(a[seen], counts[seen])
    rows = log_rising(prior_totals[came], totals[came])
    return float(cells.sum() - rows.sum())


def log_gamma_evidence(
    total: FloatArray, n: FloatArray, shape: FloatArray, rate: FloatArray
) -> float:
    """Give the log evidence of Poisson counts, but for 1/x!, under Gamma priors of their rates.

        log P(D) = log Γ(a + Σx) − log Γ(a) + a log b − (a + Σx) log(b + n)

    >>> one, zero = np.ones(1), np.zeros(1)
    >>> round(float(np.exp(log_gamma_evidence(zero, one, one, one))), 6)
    0.5
    """
    came = n > 0
    total, n, a, b = (np.broadcast_to(x, came.shape)[came] for x in (total, n, shape, rate))
    if (b <= 0).any() or (a[total > 0] <= 0).any():
        raise SettingError("The evidence needs a prior of the rate; give a smoothing above 0.")
    some = a > 0  # a rate that is surely 0 gave nothing but zeros
    total, n, a, b = total[some], n[some], a[some], b[some]
    return float((log_rising(a, total) - a * np.log1p(n / b) - total * np.log(b + n)).sum())


def log_normal_inverse_gamma_evidence(
    n: FloatArray, before: PosteriorNIG, after: PosteriorNIG
) -> float:
    """Give the log evidence of n normal numbers, given what is believed before and after them.

    log P(D) = log Γ(α')/Γ(α) + α log β − α' log β' + ½ log κ/κ' − n/2 log 2π
    """
    terms = (
        log_rising(before.alpha, after.alpha - before.alpha)
        + before.alpha * np.log(before.beta)
        - after.alpha * np.log(after.beta)
        + 0.5 * (np.log(before.kappa) - np.log(after.kappa))
        - 0.5 * n * np.log(2 * np.pi)
    )
    return float(terms.sum())
