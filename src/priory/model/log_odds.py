"""Log-odds of each class against the others, in which contributions add up."""

from __future__ import annotations

import numpy as np

from priory.base.typing import FloatArray

__all__ = ["log_odds"]


def log_odds(scores: FloatArray, against: int | None = None) -> FloatArray:
    """Compute s_k − mean of s_j over the other classes, or s_k − s_against; classes come last.

    Of two classes it is the log-odds of one to the other. Of more it is the log-odds to the
    geometric mean of the others: unlike P(k) / P(not k) it is a sum over the factors, and a softmax
    of (K − 1) / K of it gives P(k | x) again. A class that is impossible is left out of the mean.

    >>> log_odds(np.array([3.0, 1.0])).tolist(), log_odds(np.array([6.0, 1.0, 2.0])).tolist()
    ([2.0, -2.0], [4.5, -3.0, -1.5])
    """
    if against is not None:
        with np.errstate(invalid="ignore"):
            found = scores - scores[..., against, None]
        return np.where(np.isnan(found), 0.0, found)
    others = scores.shape[-1] - 1
    if others < 1:
        return np.zeros_like(scores)
    possible = np.isfinite(scores)
    if possible.all():
        if others > 1:
            total = (scores @ np.ones(others + 1))[..., None]
            return (scores * (others + 1) - total) / others
        found = np.empty_like(scores)
        np.subtract(scores[..., 0], scores[..., 1], out=found[..., 0])
        np.negative(found[..., 0], out=found[..., 1])
        return found
    # The same multiple of what is above the mean as without zeros, so that factors still add up.
    finite = np.where(possible, scores, 0.0)
    n = possible.sum(axis=-1, keepdims=True)
    above = (others + 1) / others * (finite - finite.sum(axis=-1, keepdims=True) / np.maximum(n, 1))
    return np.where(possible, np.where(n > 1, above, np.inf), np.where(n > 0, -np.inf, 0.0))
