"""Transforms of a column that make its numbers more like a normal's, from its cells alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from priory.base.typing import AnyArray, FloatArray
from priory.statistics.tables import CellsTable

__all__ = [
    "Identity",
    "LogTransform",
    "RankTransform",
    "Transform",
    "log_transform",
    "rank_transform",
]


class Transform:
    """Map a column's numbers, in every class alike; this one leaves them as they are."""

    def __call__(self, x: AnyArray) -> FloatArray:
        """Transform the numbers."""
        return np.asarray(x, dtype=np.float64)

    def log_slope(self, x: AnyArray) -> FloatArray:
        """Give log dt/dx, which turns a density of t into one of x; −∞ where t stands still."""
        return np.zeros(len(x))

    def inverse(self, t: FloatArray) -> FloatArray:
        """Find the numbers that are transformed into these."""
        return t

    def formula(self, column: str) -> str:
        """Write the transformed column."""
        return column


class Identity(Transform):
    """Leave the numbers as they are."""


@dataclass(frozen=True, eq=False)
class LogTransform(Transform):
    """Map x to log(1 + (x − least) / scale), so that any column has a logarithm.

    Numbers below the least one seen are taken for it; their density fades with their distance.

    >>> LogTransform(least=0.0, scale=1.0)(np.array([0.0, np.e - 1])).tolist()
    [0.0, 1.0]
    """

    least: float
    scale: float

    def __call__(self, x: AnyArray) -> FloatArray:
        """Take the logarithm."""
        return np.log1p(np.maximum(x - self.least, 0.0) / self.scale)

    def log_slope(self, x: AnyArray) -> FloatArray:
        """Give −log(x − least + scale), below the least −log(scale) − (least − x)/scale."""
        with np.errstate(invalid="ignore"):
            excess = np.where(np.isnan(x), 0.0, np.asarray(x) - self.least)
        slope = np.minimum(excess, 0.0) / self.scale
        slope -= np.log(np.maximum(excess, 0.0) + self.scale)
        return np.where(np.isnan(x), 0.0, slope)

    def inverse(self, t: FloatArray) -> FloatArray:
        """Give least + scale · (e^t − 1)."""
        return self.least + self.scale * np.expm1(np.maximum(t, 0.0))

    def formula(self, column: str) -> str:
        """Write the logarithm that is taken."""
        return f"log(1 + ({column} − {self.least:g}) / {self.scale:.4g})"


@dataclass(frozen=True, eq=False)
class RankTransform(Transform):
    """Map x to the normal quantile of its rank, straight lines between the cells.

    Numbers beyond those seen are taken for the outermost. Their density fades with their distance,
    so that they have together what a normal has beyond that quantile.
    """

    points: FloatArray
    quantiles: FloatArray

    def __call__(self, x: AnyArray) -> FloatArray:
        """Interpolate the quantiles."""
        t = np.interp(x, self.points, self.quantiles)
        return np.where(np.isnan(x), np.nan, t)

    def log_slope(self, x: AnyArray) -> FloatArray:
        """Take the log of the slope s of the line that x lies on; beyond log s − s (how far)/m.

        m is Mills' ratio (1 − Φ(t)) / φ(t) of the outermost quantile.
        """
        if len(self.points) < 2:
            return np.zeros(len(x))
        slopes = np.diff(self.quantiles) / np.diff(self.points)
        line = np.clip(np.searchsorted(self.points, x, side="right") - 1, 0, len(slopes) - 1)
        known = np.where(np.isnan(x), self.points[0], x)
        below, above = mills(-self.quantiles[0]), mills(self.quantiles[-1])
        far = np.maximum(self.points[0] - known, 0.0) * slopes[0] / below
        far += np.maximum(known - self.points[-1], 0.0) * slopes[-1] / above
        return np.where(np.isnan(x), 0.0, np.log(slopes[line]) - far)

    def inverse(self, t: FloatArray) -> FloatArray:
        """Interpolate the numbers."""
        return np.interp(t, self.quantiles, self.points)

    def formula(self, column: str) -> str:
        """Write what the ranks are turned into."""
        return f"normal quantile of the rank of {column}"


def mills(t: float) -> float:
    """Give (1 − Φ(t)) / φ(t): how wide a normal's tail is beyond t.

    >>> round(mills(0.0), 4), round(mills(3.0), 4)
    (1.2533, 0.3046)
    """
    if t > 30.0:  # both vanish
        return 1.0 / t
    return math.sqrt(math.pi / 2) * math.erfc(t / math.sqrt(2)) * math.exp(t * t / 2)


def log_transform(cells: CellsTable) -> LogTransform:
    """Make the log transform of a column; its scale is a quarter of the median excess."""
    if not len(cells.keys):
        return LogTransform(0.0, 1.0)
    values, weight = cells.values, cells.weight.sum(axis=0)
    least = float(cells.lower[0])
    excess = values - least
    half = np.searchsorted(np.cumsum(weight), weight.sum() / 2 * (1 - 1e-12))  # ties: the lower
    typical = float(excess[min(half, len(excess) - 1)]) or float(np.average(excess, weights=weight))
    return LogTransform(least, typical / 4 if typical > 0 else 1.0)


def rank_transform(cells: CellsTable) -> RankTransform:
    """Make the rank transform of a column: each cell at the middle of its ranks."""
    from statistics import NormalDist  # loads ten times faster than SciPy

    weight = cells.weight.sum(axis=0)
    ranks = (np.cumsum(weight) - weight / 2) / max(float(weight.sum()), np.finfo(float).tiny)
    ranks = np.clip(ranks, np.finfo(float).tiny, 1.0 - np.finfo(float).epsneg)
    if not len(ranks):
        return RankTransform(np.zeros(1), np.zeros(1))
    quantile = NormalDist().inv_cdf
    return RankTransform(cells.values, np.array([quantile(rank) for rank in ranks.tolist()]))
