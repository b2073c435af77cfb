"""How far each group of words is trusted, and where spam begins: fitted to held-out sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import BoolArray, FloatArray
from priory.families.telling_words import GROUPS
from priory.mail.ledger import Ledger

__all__ = ["Bands", "Trust", "bands_of", "check_rate", "log_odds", "trust_of"]

PADDED = 0.03
"""What a spam message counts for once more, as if it had been padded with the hammiest words."""

RIDGE = 1.0
STEPS = 60


class Trust(NamedTuple):
    """Hold the factor of each group of words, and the log-odds of spam before any word."""

    factors: FloatArray
    prior: float


class Bands(NamedTuple):
    """Hold log-odds: a message is ham up to the first and spam from the second."""

    ham: float
    spam: float


def trust_of(ledger: Ledger, padded: float = PADDED) -> Trust:
    """Fit P(spam) = σ(prior + Σ_g factor_g · sum_g) to the held-out sums of all messages.

    Factors are at least 0. Each spam message counts `padded` times more with its text as ham as
    padding can make it, so that what the sender can add for free is trusted less.
    """
    sums = ledger.sums[:, :GROUPS].astype(np.float64)
    spam = ledger.is_spam
    worst = sums[spam].copy()
    worst[:, 0] = np.minimum(worst[:, 0], ledger.sums[spam, GROUPS])
    x = np.vstack([sums, worst])
    y = np.concatenate([spam, np.ones(len(worst), dtype=np.bool_)]).astype(np.float64)
    weight = np.concatenate([np.ones(len(sums)), np.full(len(worst), padded)])
    scale = np.maximum(np.sqrt((sums**2).mean(axis=0)), 1e-9) if len(sums) else np.ones(GROUPS)
    found = _logistic(x / scale, y, weight)
    return Trust(found[:GROUPS] / scale, float(found[GROUPS]))


def log_odds(ledger: Ledger, trust: Trust) -> FloatArray:
    """Give the held-out log-odds of spam of each message."""
    return trust.prior + ledger.sums[:, :GROUPS].astype(np.float64) @ trust.factors


def bands_of(
    scores: FloatArray, is_spam: BoolArray, false_positives: float, missed: float
) -> Bands:
    """Choose where spam begins and ham ends, so that few messages are on the wrong side.

    At most so large a share of the held-out ham is at or above the second band, and of the spam at
    or below the first. Where there are too few messages to tell so small a share, none is, and the
    scores are also taken to be normal.

    >>> scores = np.array([-3.0, -2.0, 1.0, 4.0, -0.5, 2.0, 3.0, 5.0])
    >>> is_spam = np.array([False] * 4 + [True] * 4)
    >>> [round(band, 2) for band in bands_of(scores, is_spam, 0.25, 0.1)]
    [-0.5, 1.0]
    """
    spam = _above(scores[~is_spam], false_positives)
    ham = -_above(-scores[is_spam], missed)
    return Bands(min(ham, spam), spam)


def check_rate(name: str, value: float) -> None:
    """Refuse what is no share of messages."""
    if not (isinstance(value, int | float) and 0 < value < 1):
        raise SettingError(f"{name} must be a number between 0 and 1, such as .001, not {value!r}.")


def _above(scores: FloatArray, share: float) -> float:
    """Find the least score that at most a share of the scores reaches."""
    allowed = int(share * len(scores))
    ordered = np.sort(scores)[::-1]
    first = float(np.nextafter(ordered[allowed], np.inf)) if len(scores) > allowed else 0.0
    first = max(first, 0.0)
    if allowed or not len(scores):
        return first
    from statistics import NormalDist

    return max(first, float(scores.mean() + NormalDist().inv_cdf(1.0 - share) * scores.std()))


def _logistic(x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Fit by Newton's method with halved steps; coefficients below 0 are held at 0."""
    n = x.shape[1]
    design = np.column_stack([x, np.ones(len(x))])
    ridge = np.append(np.full(n, RIDGE), 1e-3)
    at = np.zeros(n + 1)

    def loss(at: FloatArray) -> float:
        margin = design @ at
        losses = np.logaddexp(0.0, np.where(y > 0, -margin, margin))
        return float((weight * losses).sum() + 0.5 * (ridge * at**2).sum())

    now = loss(at)
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ at, -500, 500)))
        gradient = design.T @ (weight * (p - y)) + ridge * at
        free = np.append((at[:n] > 0) | (gradient[:n] < 0), True)
        curved = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        step = np.zeros(n + 1)
        step[free] = np.linalg.solve(curved[np.ix_(free, free)], gradient[free])
        size = 1.0
        while size > 1e-6:
            tried = at - size * step
            tried[:n] = np.maximum(tried[:n], 0.0)
            after = loss(tried)
            if after < now:
                break
            size /= 2
        else:
            break
        done, at, now = now - after < 1e-9 * max(now, 1.0), tried, after
        if done:
            break
    return at
