"""Losses of each row: log-loss, Brier score, and losses of the margin y·h(x)."""

from __future__ import annotations

import numpy as np

from priory.base.typing import FloatArray, IntArray

__all__ = [
    "LOSSES",
    "MARGIN_LOSSES",
    "SMALLEST",
    "brier_scores",
    "log_losses",
    "log_odds",
    "margin_losses",
]

SMALLEST = float(np.finfo(np.float64).eps)
"""Probabilities are clipped to this in the log-loss, as in scikit-learn: −log of it is 36.04."""

MARGIN_LOSSES = ("squared", "hinge", "exponential")
"""Losses of y·h(x), for two classes."""
LOSSES = ("zero-one", "log", "brier", *MARGIN_LOSSES)


def log_losses(true_codes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Compute −log P(true label | x) of each row, with P clipped to at least 2.2e-16.

    >>> log_losses(np.array([0, 1]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(4).tolist()
    [0.6931, 36.0437]
    """
    told = probabilities[np.arange(len(true_codes)), true_codes]
    return -np.log(np.clip(told, SMALLEST, 1.0)) + 0.0  # no −0


def brier_scores(true_codes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Compute Σ_k (P(k | x) − [k = y])² of each row; half of it with two classes.

    >>> brier_scores(np.array([1]), np.array([[0.4, 0.6]])).round(4).tolist()
    [0.16]
    """
    truth = np.zeros_like(probabilities)
    truth[np.arange(len(true_codes)), true_codes] = 1
    scores = ((probabilities - truth) ** 2).sum(axis=1)
    return scores / 2 if probabilities.shape[1] == 2 else scores


def log_odds(probabilities: FloatArray, positive: int) -> FloatArray:
    """Compute h(x) = log P(positive | x) − log P(negative | x), infinite where one is 0.

    >>> log_odds(np.array([[0.2, 0.8], [0.0, 1.0]]), 1).round(4).tolist()
    [1.3863, inf]
    """
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
    return logs[:, positive] - logs[:, 1 - positive]


def margin_losses(loss: str, y: FloatArray, h: FloatArray) -> FloatArray:
    """Compute the loss of each row, with y = ±1 and h(x) any number; h(x) > 0 predicts +1.

        squared      (h(x) − y)²
        hinge        max(0, 1 − y·h(x))
        exponential  exp(−y·h(x))

    >>> y, h = np.array([1.0, 1.0, -1.0]), np.array([2.0, -0.5, 0.25])
    >>> {loss: margin_losses(loss, y, h).round(4).tolist() for loss in ("squared", "hinge")}
    {'squared': [1.0, 2.25, 1.5625], 'hinge': [0.0, 1.5, 1.25]}
    >>> margin_losses("exponential", y, h).round(4).tolist()
    [0.1353, 1.6487, 1.284]
    """
    if loss == "squared":
        return np.asarray((h - y) ** 2)
    if loss == "hinge":
        return np.maximum(0.0, 1 - y * h)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-y * h))
