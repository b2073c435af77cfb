"""DeLong's test: whether the areas under two ROC curves of the same rows differ."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from priory.base.errors import InputError, listing
from priory.base.typing import FloatArray
from priory.evaluation.evaluation import Evaluation
from priory.evaluation.intervals import Interval
from priory.evaluation.predictions import check_same_rows
from priory.evaluation.rendering import plain
from priory.families.posteriors import tails

__all__ = ["AucDifference", "delong"]

ROUNDING = 1e-12
"""Differences and standard errors below this are 0."""


@dataclass(frozen=True)
class AucDifference:
    """The difference of two areas under ROC curves, second minus first, by DeLong's method.

    >>> AucDifference(0.02, 0.01, 0.95).p_value < 0.05
    True
    """

    difference: float
    standard_error: float
    level: float

    @property
    def p_value(self) -> float:
        """The two-sided p-value, 2 Φ(−|difference| / standard error).

        1 without a difference; NaN if the variance is 0, so that there is no test.
        """
        if abs(self.difference) < ROUNDING:
            return 1.0
        if self.standard_error < ROUNDING:
            return float("nan")
        return math.erfc(abs(self.difference) / self.standard_error / math.sqrt(2))

    @property
    def interval(self) -> Interval:
        """Difference ± z · standard error, clipped to [−1, 1]; NaN if the p-value is."""
        if np.isnan(self.p_value):
            return Interval(float("nan"), float("nan"))
        half = NormalDist().inv_cdf(tails(self.level)[1]) * self.standard_error
        return Interval(max(-1.0, self.difference - half), min(1.0, self.difference + half))

    def verdict(self, first: str = "first", second: str = "second") -> str:
        """Say in one sentence which of the two is better.

        >>> print(AucDifference(0.02, 0.005, 0.95).verdict("naive", "joint"))
        joint is better by 0.0200 (DeLong's test p = 6.3e-05)
        >>> print(AucDifference(0.02, 0.02, 0.95).verdict())
        no significant difference (DeLong's test p = 0.32)
        """
        if np.isnan(self.p_value):
            return "no test: the rows of a class all have the same rank, so the variance is 0"
        test = f"DeLong's test p = {self.p_value:.2g}"
        if self.p_value >= 1 - self.level:
            return f"no significant difference ({test})"
        better = second if self.difference > 0 else first
        return f"{better} is better by {abs(self.difference):.4f} ({test})"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values; what is undefined is None."""
        return dict(plain({**asdict(self), "p_value": self.p_value, "interval": self.interval}))


def delong(first: Evaluation, second: Evaluation, level: float = 0.95) -> AucDifference:
    """Test the difference of the areas under two ROC curves of the same rows.

    A row's component is the fraction of the rows of the other side that it is ranked correctly
    against, ties counting half: V_i for a positive row, V_j for a negative one. Their mean is the
    area. With v the difference of the two models' components,

        variance = Σ_i (v_i − v̄)² / m(m − 1) + Σ_j (v_j − v̄)² / n(n − 1)

    over the m positive rows and the n negative ones (DeLong, DeLong and Clarke-Pearson 1988); they
    are computed by sorting, as in Sun and Xu (2014). With more classes the area is the mean of each
    class against the rest: a row's components are added up, and the variance is the sum over the
    classes. With sample weights the number of rows is (Σw)² / Σw².

    >>> labels = [0, 0, 0, 1, 1, 1]
    >>> a = Evaluation(labels, [0.1, 0.2, 0.7, 0.6, 0.8, 0.9], [0, 1])
    >>> b = Evaluation(labels, [0.1, 0.5, 0.7, 0.4, 0.6, 0.9], [0, 1])
    >>> found = delong(a, b)
    >>> round(found.difference, 4), round(found.standard_error, 4), round(found.p_value, 4)
    (-0.2222, 0.1571, 0.1573)
    """
    tails(level)  # refuses a level that is not between 0 and 1
    check_same_rows(first, second)
    _check_rows(first)
    weights = first.row_weights / first.row_weights.max()  # weights of any size can be squared
    components = _components(second, weights) - _components(first, weights)
    variance = sum(
        _variance(components[rows], weights[rows])
        for rows in (first.true_codes == k for k in np.flatnonzero(first.support))
    )
    difference = float(weights @ components) / 2  # either side's components add up to the area
    return AucDifference(difference, float(np.sqrt(variance)), level)


def _components(e: Evaluation, weights: FloatArray) -> FloatArray:
    """Compute what each row adds to the area, per unit of weight."""
    places = [1] if len(e.classes) == 2 else e.separable
    total = np.zeros(e.n_rows)
    for k in places:
        score, positive = e.probabilities[:, k], e.true_codes == k
        for rows, others, sign in ((positive, ~positive, 1.0), (~positive, positive, -1.0)):
            shares = _share_below(sign * score[rows], sign * score[others], weights[others])
            total[rows] += shares / weights[rows].sum()
    return total / len(places)


def _share_below(scores: FloatArray, others: FloatArray, weights: FloatArray) -> FloatArray:
    """Compute the weighted fraction of the others below each score; ties count half.

    >>> _share_below(np.array([0.5, 2.0]), np.array([1.0, 0.5]), np.ones(2)).tolist()
    [0.25, 1.0]
    """
    order = np.argsort(others, kind="stable")
    beneath = np.concatenate([[0.0], np.cumsum(weights[order])])
    below, up_to = (np.searchsorted(others[order], scores, side) for side in ("left", "right"))
    return np.asarray((beneath[below] + beneath[up_to]) / (2 * beneath[-1]))


def _variance(components: FloatArray, weights: FloatArray) -> float:
    """Estimate the variance of the sum over the rows of one class."""
    n = weights.sum() ** 2 / (weights**2).sum()
    off = components - np.average(components, weights=weights)
    return float(n / (n - 1) * (weights**2 * off**2).sum())


def _check_rows(e: Evaluation) -> None:
    counted = e.true_codes if e.weights is None else e.true_codes[e.weights > 0]
    rows = np.bincount(counted, minlength=len(e.classes))
    if (rows > 0).sum() < 2:
        raise InputError(
            "The area under a ROC curve needs rows of at least two classes, but all rows are of "
            f"{e.classes[int(rows.argmax())]!r}."
        )
    if (rows == 1).any():
        raise InputError(
            "DeLong's test needs at least two rows of every class that occurs, but there is only "
            f"one of {listing([e.classes[k] for k in np.flatnonzero(rows == 1)])}."
        )
