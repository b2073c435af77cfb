"""Calibration: confidence beside accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priory.base.errors import SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table
from priory.base.typing import FloatArray, IntArray
from priory.evaluation.intervals import Interval, wilson

__all__ = ["BINS", "Reliability", "bins_of", "reliability"]

BINS = 15


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
    """The reliability table: rows binned by confidence, in bins of equal width.

        calibration error = Σ_bins (weight / total) · |mean confidence − accuracy|

    The confidence is the probability of the predicted class (top-label calibration error).

    >>> from priory.evaluation import Evaluation
    >>> p = [[0.9, 0.1], [0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]
    >>> print(Evaluation(["a", "b", "b", "b"], p, ["a", "b"]).reliability(bins=5))
    confidence  rows    mean  accuracy           95 %
    0.60–0.80      1  0.7000    1.0000  0.2065–1.0000
    0.80–1.00      3  0.8667    0.6667  0.2077–0.9385
    """

    edges: FloatArray
    """The edges of the bins, one more than there are bins."""
    rows: IntArray
    """The number of rows in each bin."""
    weight: FloatArray
    """Their weight."""
    confidence: FloatArray
    """The mean confidence of each bin; NaN if it is empty."""
    accuracy: FloatArray
    """The fraction of each bin predicted correctly; NaN if it is empty."""
    low: FloatArray
    """The lower end of Wilson's 95 % interval of the accuracy."""
    high: FloatArray
    """The upper end."""

    @property
    def error(self) -> float:
        """The expected calibration error."""
        some = self.weight > 0
        off = np.abs(self.confidence[some] - self.accuracy[some])
        return float(np.average(off, weights=self.weight[some]))

    def __repr__(self) -> str:
        return f"<Reliability of {int(self.rows.sum())} rows, error {self.error:.4f}>"

    def __str__(self) -> str:
        return aligned(self._table(), right=True)

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        return html_table(head, rows)

    def _table(self) -> list[tuple[str, ...]]:
        """List the header, and a row for each bin that is not empty."""
        rows: list[tuple[str, ...]] = [("confidence", "rows", "mean", "accuracy", "95 %")]
        for b in np.flatnonzero(self.weight):
            ends = f"{self.edges[b]:.2f}–{self.edges[b + 1]:.2f}"
            means = f"{self.confidence[b]:.4f}", f"{self.accuracy[b]:.4f}"
            interval = Interval(float(self.low[b]), float(self.high[b]))
            rows.append((ends, str(self.rows[b]), *means, str(interval)))
        return rows


def reliability(
    confidence: FloatArray, correct: FloatArray, weights: FloatArray | None, bins: int = BINS
) -> Reliability:
    """Bin rows by confidence, and compute the accuracy of each bin."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise SettingError(f"bins must be an integer of at least 1, not {bins!r}.")
    place = bins_of(confidence, bins)
    weight = np.ones(len(place)) if weights is None else weights
    total = np.bincount(place, weight, bins)
    with np.errstate(invalid="ignore"):  # the mean of an empty bin is NaN
        means = [np.bincount(place, weight * x, bins) / total for x in (confidence, correct)]
    ends = [wilson(correct[place == b] > 0, weight[place == b]) for b in range(bins)]
    return Reliability(
        np.linspace(0, 1, bins + 1),
        np.bincount(place, minlength=bins),
        total.astype(np.float64),
        means[0],
        means[1],
        *np.array(ends).T,
    )


def bins_of(confidence: FloatArray, bins: int) -> IntArray:
    """Find the bin of each row: ⌊bins · confidence⌋, with 1 in the last."""
    return np.clip((confidence * bins).astype(np.int64), 0, bins - 1)
