"""Confidence intervals: Wilson's, and the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import BoolArray, FloatArray, IntArray
from priory.families.posteriors import tails

__all__ = [
    "Interval",
    "auc_of",
    "average_precision_of",
    "balanced_of",
    "bootstrap",
    "calibration_of",
    "matthews_of",
    "mean_of",
    "wilson",
]

ENTRIES = 4_000_000
"""The number of weights drawn at a time: 32 MB."""

Statistic = Callable[[FloatArray], FloatArray]
"""From weights, resamples × rows, to the metric of each resample."""


class Interval(NamedTuple):
    """The ends of a confidence interval.

    >>> print(Interval(0.25, 0.75))
    0.2500–0.7500
    """

    low: float
    high: float

    def __str__(self) -> str:
        dash = "–" if self.low >= 0 else " to "
        return f"{self.low:.4f}{dash}{self.high:.4f}"


def wilson(hits: BoolArray, weights: FloatArray | None, level: float = 0.95) -> Interval:
    """Compute Wilson's score interval of a fraction, Wilson (1927).

        (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)

    With weights n is the effective number of rows, (Σw)² / Σw² (Kish); without
    rows the interval is [0, 1].

    >>> print(wilson(np.array([True] * 9 + [False]), None))
    0.5958–0.9821
    """
    _, upper = tails(level)
    w = np.ones(len(hits)) if weights is None else weights
    if not w.any():
        return Interval(0.0, 1.0)
    w = w / w.max()  # so that squares do not overflow
    n, p = float(w.sum() ** 2 / (w**2).sum()), float(np.average(hits, weights=w))
    z = NormalDist().inv_cdf(upper)
    centre, shrink = p + z * z / (2 * n), 1 + z * z / n
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = float((centre - half) / shrink), float((centre + half) / shrink)
    return Interval(max(0.0, low), min(1.0, high))


def bootstrap(
    statistic: Statistic,
    weights: FloatArray,
    level: float = 0.95,
    strata: IntArray | None = None,
    n_resamples: int = 1000,
    random_state: Any = 0,
    reflect: bool = False,
) -> Interval:
    """Compute a bootstrap interval: quantiles of a metric over resampled rows.

    Each resample has as many rows as there are, drawn with replacement, each with its weight.
    With `strata` rows are resampled within each stratum, so that none becomes empty. `reflect`
    mirrors the quantiles q at the metric f itself, 2f − q (the basic bootstrap), for metrics
    that resampling biases.

    >>> x = np.arange(100.0)
    >>> low, high = bootstrap(mean_of(x), np.ones(100))
    >>> 42 < low < 46 and 53 < high < 57  # 49.5 ± 2 · 28.9 / √100
    True
    """
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, int) or n_resamples < 2:
        raise SettingError(f"n_resamples must be an integer of at least 2, not {n_resamples!r}.")
    ends = tails(level)
    rng = np.random.default_rng(random_state)
    drawn = _draw(rng, weights, strata, n_resamples)
    values = np.concatenate([statistic(batch) for batch in drawn])
    low, high = np.nanquantile(values, ends)
    if reflect:
        at = float(statistic(weights[None])[0])
        low, high = 2 * at - high, 2 * at - low
    return Interval(float(low), float(high))


def _draw(
    rng: np.random.Generator, weights: FloatArray, strata: IntArray | None, n_resamples: int
) -> Iterator[FloatArray]:
    """Draw resamples in batches, as weights: how often each row is drawn, times its weight."""
    n = len(weights)
    if strata is None:
        groups = [np.arange(n)]
    else:
        groups = [np.flatnonzero(strata == s) for s in np.unique(strata)]
    # Rows of weight 0 are dropped: a resample of them alone would have no weight.
    groups = [rows for rows in (group[weights[group] > 0] for group in groups) if len(rows)]
    some = max(1, ENTRIES // n)
    for start in range(0, n_resamples, some):
        batch = np.zeros((min(some, n_resamples - start), n))
        for resample in batch:
            for rows in groups:
                times = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
                resample[rows] = times
        yield batch * weights


def mean_of(losses: FloatArray) -> Statistic:
    """Make the mean loss a function of row weights."""
    return lambda weights: weights @ losses / weights.sum(axis=1)


def calibration_of(confidence: FloatArray, correct: FloatArray, places: IntArray) -> Statistic:
    """Make the calibration error a function of row weights; `places` are the rows' bins."""
    gaps = np.zeros((len(confidence), int(places.max()) + 1))
    gaps[np.arange(len(confidence)), places] = confidence - correct
    return lambda weights: np.abs(weights @ gaps).sum(axis=1) / weights.sum(axis=1)


def auc_of(true_codes: IntArray, scores: FloatArray, places: list[int]) -> Statistic:
    """Make the area under the ROC curve a function of row weights.

        AUC = P(score of a positive row > score of a negative one) + ½ P(they are equal)

    Averaged over the classes at `places`, each against the rest.
    """
    prepared = []
    for k in places:
        score, is_positive = scores[:, k], true_codes == k
        positive, negative = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        negative = negative[np.argsort(score[negative], kind="stable")]
        below, up_to = (
            np.searchsorted(score[negative], score[positive], side) for side in ("left", "right")
        )
        prepared.append((positive, negative, below, up_to))

    def areas(weights: FloatArray) -> FloatArray:
        total = np.zeros(len(weights))
        for positive, negative, below, up_to in prepared:
            beneath = np.zeros((len(weights), len(negative) + 1))
            np.cumsum(weights[:, negative], axis=1, out=beneath[:, 1:])
            weight = weights[:, positive]
            won = (weight * (beneath[:, below] + beneath[:, up_to])).sum(axis=1) / 2
            total += won / (weight.sum(axis=1) * beneath[:, -1])
        return total / len(prepared)

    return areas


def average_precision_of(true_codes: IntArray, scores: FloatArray, places: list[int]) -> Statistic:
    """Make the average precision a function of row weights.

        AP = Σ over thresholds (recall − recall of the one above) · precision

    Averaged over the classes at `places`, each against the rest.
    """
    prepared = []
    for k in places:
        order = np.argsort(-scores[:, k], kind="stable")
        falls = np.append(np.diff(scores[order, k]) != 0, True)  # equal scores share a threshold
        prepared.append((order, true_codes[order] == k, np.flatnonzero(falls)))

    def averages(weights: FloatArray) -> FloatArray:
        total = np.zeros(len(weights))
        for order, is_positive, ends in prepared:
            called = weights[:, order]
            hits = np.cumsum(called * is_positive, axis=1)[:, ends]
            called = np.cumsum(called, axis=1)[:, ends]
            gained = np.diff(hits, axis=1, prepend=0.0)
            precision = np.divide(hits, called, out=np.zeros_like(hits), where=called > 0)
            total += (gained * precision).sum(axis=1) / hits[:, -1]
        return total / len(prepared)

    return averages


def balanced_of(true_codes: IntArray, predicted_codes: IntArray) -> Statistic:
    """Make the mean recall of the classes that occur a function of row weights."""
    support, right = _sums_by(true_codes), (true_codes == predicted_codes).astype(np.float64)

    def balanced(weights: FloatArray) -> FloatArray:
        of_class, hits = support(weights), support(weights * right)
        recall = np.divide(hits, of_class, out=np.zeros_like(hits), where=of_class > 0)
        return np.asarray(recall.sum(axis=1) / (of_class > 0).sum(axis=1))

    return balanced


def matthews_of(true_codes: IntArray, predicted_codes: IntArray) -> Statistic:
    """Make Matthews' correlation a function of row weights, Gorodkin (2004).

    (c s − Σ_k t_k p_k) / √((s² − Σ p_k²)(s² − Σ t_k²)), s the weight of all rows, c that of those
    predicted right, t_k and p_k those of a class and of its predictions.
    """
    n = int(max(true_codes.max(), predicted_codes.max())) + 1
    of_class, of_answer = _sums_by(true_codes, n), _sums_by(predicted_codes, n)
    right = (true_codes == predicted_codes).astype(np.float64)

    def matthews(weights: FloatArray) -> FloatArray:
        s, c = weights.sum(axis=1), weights @ right
        t, p = of_class(weights), of_answer(weights)
        above = c * s - (t * p).sum(axis=1)
        below = np.sqrt((s**2 - (p**2).sum(axis=1)) * (s**2 - (t**2).sum(axis=1)))
        return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9 * s**2)

    return matthews


def _sums_by(codes: IntArray, n: int | None = None) -> Statistic:
    """Make the weight of the rows of each code a function of row weights."""
    order = np.argsort(codes, kind="stable")
    found, starts = np.unique(codes[order], return_index=True)
    n = int(found[-1]) + 1 if n is None else n

    def sums(weights: FloatArray) -> FloatArray:
        total = np.zeros((len(weights), n))
        total[:, found] = np.add.reduceat(weights[:, order], starts, axis=1)
        return total

    return sums
