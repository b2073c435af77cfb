"""Metrics over all thresholds: ROC, precision-recall and cumulative gain curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.labels import label_key
from priory.base.typing import BoolArray, FloatArray, Label
from priory.evaluation.rendering import four_digits, shown

if TYPE_CHECKING:
    from priory.evaluation.thresholds import Threshold

__all__ = [
    "Gain",
    "OneVsRest",
    "PrecisionRecall",
    "Roc",
    "Sweep",
    "gain",
    "macro_roc",
    "precision_recall",
    "roc",
    "sweep",
]

MOST_POINTS = 12
"""The number of points of a curve that are printed."""


class _Curve:
    """A curve that prints as a table of some of its points."""

    _head: ClassVar[tuple[str, ...]]

    def _content(self) -> tuple[str, tuple[FloatArray, ...]]:
        """Collect the title, and the columns of the table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title, points = self._content()
        return f"<{title}, {len(points[0])} points>"

    def __str__(self) -> str:
        title, rows, more = self._table()
        return "\n".join([title, aligned([self._head, *rows], right=True), *more])

    def _repr_html_(self) -> str:
        title, rows, more = self._table()
        return html_together(html_table(self._head, rows, title), remarks=more)

    def _table(self) -> tuple[str, list[tuple[str, ...]], list[str]]:
        """Format the title, some points, and a note on how many were skipped."""
        title, (first, *others) = self._content()
        n = len(first)
        places = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64))
        rows = [
            (f"{first[i]:.4g}", *(four_digits(float(column[i])) for column in others))
            for i in places
        ]
        more = f"({n - len(rows)} points between these are not shown)"
        return title, rows, [more] if n > len(rows) else []


@dataclass(frozen=True, eq=False, repr=False)
class Roc(_Curve):
    """A receiver operating characteristic (ROC) curve of one class against the rest.

        true positive rate  = TP / (TP + FN)
        false positive rate = FP / (FP + TN)

    A row is predicted positive if P(positive | x) ≥ threshold; at the first threshold, which is
    infinite, none is. Points on a straight line between others are dropped.

    >>> from priory.evaluation import Evaluation
    >>> e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1])  # P(1 | x)
    >>> print(e.roc())
    ROC of 1, AUC 0.7500
    threshold  false positive rate  true positive rate
    inf                     0.0000              0.0000
    0.8                     0.0000              0.5000
    0.4                     0.5000              0.5000
    0.35                    0.5000              1.0000
    0.1                     1.0000              1.0000
    """

    positive: Label
    thresholds: FloatArray
    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    auc: float

    _head = ("threshold", "false positive rate", "true positive rate")

    def _content(self) -> tuple[str, tuple[FloatArray, ...]]:
        title = f"ROC of {shown(self.positive)}, AUC {four_digits(self.auc)}"
        return title, (self.thresholds, self.false_positive_rate, self.true_positive_rate)

    def plot(self, axes: Any = None, threshold: Threshold | None = None) -> Any:
        """Plot the curve with some of its thresholds; return the matplotlib axes.

        `threshold`, as found by `Evaluation.threshold`, is marked too.
        """
        from priory.evaluation.plots import draw_curve

        if threshold is not None:
            _check_threshold(self.positive, threshold)
        return draw_curve(
            axes,
            (self.false_positive_rate, self.true_positive_rate),
            f"{shown(self.positive)}, AUC {self.auc:.3f}",
            self._head[1:],
            marks=(self, threshold),
        )


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecall(_Curve):
    """A precision-recall curve: both metrics at every threshold, the highest threshold last.

    The last point, with precision 1 and recall 0, has no threshold. Average precision is

        AP = Σ_n (R_n − R_{n−1}) P_n

    >>> from priory.evaluation import Evaluation
    >>> e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1])
    >>> curve = e.precision_recall()
    >>> curve.precision.round(4).tolist(), curve.recall.tolist()
    ([0.5, 0.6667, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.5, 0.0])
    >>> round(curve.average_precision, 4)
    0.8333
    """

    positive: Label
    thresholds: FloatArray
    precision: FloatArray
    recall: FloatArray
    average_precision: float

    _head = ("threshold", "precision", "recall")

    def _content(self) -> tuple[str, tuple[FloatArray, ...]]:
        average = four_digits(self.average_precision)
        title = f"precision and recall of {shown(self.positive)}, average precision {average}"
        return title, (self.thresholds, self.precision[:-1], self.recall[:-1])

    def plot(self, axes: Any = None) -> Any:
        """Plot the curve; return the matplotlib axes."""
        from priory.evaluation.plots import draw_curve

        return draw_curve(
            axes,
            (self.recall, self.precision),
            f"{shown(self.positive)}, AP {self.average_precision:.3f}",
            ("recall", "precision"),
            steps=True,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Gain(_Curve):
    """A cumulative gain curve: positive rows found among the rows with the highest scores.

    gain(s) = fraction of the positive rows that are among the fraction s of all rows with the
    highest scores; lift(s) = gain(s) / s.

    >>> from priory.evaluation import Evaluation
    >>> e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1])
    >>> gain = e.gain()
    >>> gain.share.tolist(), gain.found.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    >>> gain.at(0.25), gain.lift(0.25)
    (0.5, 2.0)
    """

    positive: Label
    share: FloatArray
    """The fraction of the rows, from 0 to 1."""
    found: FloatArray
    """The fraction of the positive rows that are among them."""

    _head = ("fraction of the rows", "fraction of the positive rows")

    def _content(self) -> tuple[str, tuple[FloatArray, ...]]:
        return f"gain of {shown(self.positive)}", (self.share, self.found)

    def at(self, share: float) -> float:
        """Interpolate the fraction of the positive rows found in a fraction of the rows."""
        if not 0 <= share <= 1:
            raise SettingError(f"share must be between 0 and 1, not {share!r}.")
        return float(np.interp(share, self.share, self.found))

    def lift(self, share: float) -> float:
        """Compute how many times more positive rows are found than by random choice."""
        if share == 0:
            raise SettingError("share must be above 0: lift is gain divided by share.")
        return self.at(share) / share

    def plot(self, axes: Any = None) -> Any:
        """Plot the curve; return the matplotlib axes."""
        from priory.evaluation.plots import draw_curve

        return draw_curve(
            axes,
            (self.share, self.found),
            shown(self.positive),
            self._head,
        )


class OneVsRest(NamedTuple):
    """The rows of one class against the rest."""

    label: Label
    positive: BoolArray
    scores: FloatArray
    weights: FloatArray | None

    def check(self) -> None:
        """Refuse rows that are all positive, or all negative."""
        counted = True if self.weights is None else self.weights > 0
        for there, which in ((self.positive, "no row is"), (~self.positive, "every row is")):
            if not (there & counted).any():
                raise InputError(
                    f"A curve of {self.label!r} needs rows of that class and rows of others, but "
                    f"{which} of that class."
                )


class Sweep(NamedTuple):
    """The weight of true and false positives at each threshold, the highest first."""

    thresholds: FloatArray
    true_positives: FloatArray
    false_positives: FloatArray


def sweep(rows: OneVsRest) -> Sweep:
    """Count true and false positives at every distinct score, and at infinity before them."""
    _, positive, scores, weights = rows
    w = np.ones(len(scores)) if weights is None else weights
    some = np.flatnonzero(w > 0)
    order = some[np.argsort(-scores[some], kind="stable")]
    ordered = scores[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    hits, misses = (np.cumsum(w[order] * of)[last] for of in (positive[order], ~positive[order]))
    return Sweep(np.append(np.inf, ordered[last]), np.append(0.0, hits), np.append(0.0, misses))


def roc(rows: OneVsRest) -> Roc:
    """Compute the ROC curve of one class against the rest."""
    from sklearn.metrics import auc, roc_curve

    rows.check()
    label, positive, scores, weights = rows
    false, true, thresholds = roc_curve(positive, scores, sample_weight=weights)
    return Roc(label, thresholds, false, true, float(auc(false, true)))


def precision_recall(rows: OneVsRest) -> PrecisionRecall:
    """Compute the precision-recall curve of one class against the rest."""
    from sklearn.metrics import average_precision_score, precision_recall_curve

    rows.check()
    label, positive, scores, weights = rows
    precision, recall, thresholds = precision_recall_curve(positive, scores, sample_weight=weights)
    average = average_precision_score(positive, scores, sample_weight=weights)
    return PrecisionRecall(label, thresholds, precision, recall, float(average))


def gain(rows: OneVsRest) -> Gain:
    """Compute the cumulative gain curve of one class against the rest."""
    rows.check()
    _, hits, misses = sweep(rows)
    called = hits + misses
    return Gain(rows.label, called / called[-1], hits / hits[-1])


def macro_roc(curves: list[Roc]) -> tuple[FloatArray, FloatArray]:
    """Average ROC curves at every false positive rate; the area of the mean is the mean area.

    >>> thresholds, line = np.array([np.inf, 0.5, 0.0]), np.array([0.0, 0.5, 1.0])
    >>> steep = Roc("a", thresholds, np.array([0, 0, 1.0]), np.array([0, 1.0, 1.0]), 1.0)
    >>> flat = Roc("b", thresholds, line, line, 0.5)
    >>> [points.tolist() for points in macro_roc([steep, flat])]
    [[0.0, 0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.75, 0.75, 1.0, 1.0]]
    """
    grid = np.unique(np.concatenate([curve.false_positive_rate for curve in curves]))
    # A curve may rise vertically: the rates before and after the step both count.
    means = np.zeros((len(grid), 2))
    for curve in curves:
        false, true = curve.false_positive_rate, curve.true_positive_rate
        first, last = np.searchsorted(false, grid), np.searchsorted(false, grid, "right") - 1
        between = np.interp(grid, false, true)
        there = false[np.minimum(first, len(false) - 1)] == grid
        means[:, 0] += np.where(there, true[np.minimum(first, len(true) - 1)], between)
        means[:, 1] += np.where(there, true[last], between)
    return np.repeat(grid, 2), (means / len(curves)).ravel()


def _check_threshold(positive: Label, threshold: Any) -> None:
    from priory.evaluation.thresholds import Threshold

    if not isinstance(threshold, Threshold):
        raise SettingError(
            f"threshold must be the result of Evaluation.threshold, not {threshold!r:.60}. For a "
            "number use evaluation.at(number).plot()."
        )
    if label_key(threshold.positive) != label_key(positive):
        raise SettingError(
            f"threshold is of the class {threshold.positive!r}, but the curve is of {positive!r}."
        )
