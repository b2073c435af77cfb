"""All the metrics of an evaluation, in one object."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from priory.base.errors import SettingError, check_number, did_you_mean, listing
from priory.base.html import shown_once
from priory.base.typing import BoolArray, FloatArray, Label
from priory.evaluation import curves
from priory.evaluation.curves import Gain, OneVsRest, PrecisionRecall, Roc
from priory.evaluation.intervals import (
    Interval,
    auc_of,
    average_precision_of,
    balanced_of,
    bootstrap,
    calibration_of,
    matthews_of,
    mean_of,
    wilson,
)
from priory.evaluation.label_metrics import check_average
from priory.evaluation.losses import LossMetrics, brier_scores, log_losses
from priory.evaluation.reliability import BINS, Reliability, bins_of, reliability
from priory.evaluation.rendering import as_dict, as_html, as_text, probability
from priory.evaluation.thresholds import Threshold, choose

__all__ = ["ClassMetrics", "Evaluation"]

FRACTIONS = ("accuracy", "error_rate", "precision", "recall", "specificity", "false_positive_rate")
"""Metrics that are fractions of rows: Wilson's interval."""
RESAMPLED = (
    "log_loss",
    "brier",
    "calibration_error",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "matthews",
)
"""Metrics whose interval is bootstrapped."""
STRATIFIED = ("auc", "average_precision", "balanced_accuracy")
"""Those that need rows of every class: resampled within each class."""


class ClassMetrics(NamedTuple):
    """The metrics of one class against the rest."""

    label: Label
    rows: float
    """The number of rows of this class; with sample weights, their total weight."""
    precision: float
    recall: float
    f1: float
    false_positive_rate: float
    auc: float
    """NaN without probabilities, or if the class has no rows, or all of them."""


class Evaluation(LossMetrics):
    """True labels beside predictions: metrics, curves, intervals and thresholds.

    Of two classes the second is the positive one, unless `positive` names the other. Metrics of
    one class among several take all the others as the negative class.

    0/0 counts as 0, as in scikit-learn. A class that neither occurs nor is predicted has no
    metrics (NaN) and is ignored in averages.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        The true labels.
    probabilities : array-like of shape (n_rows, n_classes)
        P(k | x); for two classes also of shape (n_rows,), P(second class | x).
    classes : sequence of labels
        In the order of the columns of `probabilities`; all labels must be among them.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row, in every metric.
    how : str
        How the predictions were made ("held-out", "exact leave-one-out", "10-fold"); printed with
        the metrics.
    predictions : array-like of shape (n_rows,), optional
        The predicted labels, if they are not the most probable classes.

    Examples
    --------
    >>> labels = ["ham", "ham", "ham", "ham", "spam", "spam"]
    >>> spam = [0.1, 0.2, 0.2, 0.7, 0.6, 0.9]
    >>> evaluation = Evaluation(labels, spam, ["ham", "spam"])
    >>> print(evaluation)
    held-out: 6 rows, 2 classes
    <BLANKLINE>
    accuracy              0.8333  95 %: 0.4365–0.9699
    balanced accuracy     0.8750  mean recall
    Matthews correlation  0.7071
    log-loss              0.3953  lower is better, also for the next two
    Brier score           0.1250
    calibration error     0.2833
    AUC                   0.8750  of spam
    average precision     0.8333  of spam
    <BLANKLINE>
    class  rows  precision  recall      F1     AUC
    ham       4     1.0000  0.7500  0.8571  0.8750
    spam      2     0.6667  1.0000  0.8000  0.8750
    <BLANKLINE>
    true ↓ predicted →  ham  spam
    ham                   3     1
    spam                  0     2
    >>> evaluation.threshold(precision=0.9).threshold
    0.9
    >>> evaluation.interval("auc", random_state=0).low < evaluation.auc
    True
    """

    @cached_property
    def by_class(self) -> tuple[ClassMetrics, ...]:
        """The metrics of each class against the rest.

        >>> Evaluation.of_predictions(list("aab"), list("abb")).by_class[0].recall
        0.5
        """
        n = len(self.classes)
        columns = [
            self.support,
            self.precision(),
            self.recall(),
            self.f(),
            self.false_positive_rate(),
            self.one_vs_rest_auc() if self.has_probabilities else np.full(n, np.nan),
        ]
        rows = np.column_stack(columns).tolist()
        return tuple(ClassMetrics(k, *row) for k, row in zip(self.classes, rows, strict=True))

    # Probabilities

    @cached_property
    def log_loss(self) -> float:
        """The mean of −log P(true label | x), with P clipped to at least 2.2e-16.

        As in scikit-learn; `impossible_rows` is the number of rows with P = 0.
        """
        losses = log_losses(self.true_codes, self.probabilities)
        return float(np.average(losses, weights=self.weights))

    @property
    def impossible_rows(self) -> int:
        """The number of rows with P = 0 for their true label."""
        zero = self.probabilities[np.arange(self.n_rows), self.true_codes] == 0
        return int((zero if self.weights is None else zero & (self.weights > 0)).sum())

    @cached_property
    def brier(self) -> float:
        """The Brier score, the mean of Σ_k (P(k | x) − [k = y])², from 0 to 2.

        With two classes half of that, (P(second | x) − y)², from 0 to 1, as in scikit-learn.
        """
        scores = brier_scores(self.true_codes, self.probabilities)
        return float(np.average(scores, weights=self.weights))

    @property
    def calibration_error(self) -> float:
        """The expected calibration error (ECE), in 15 bins of equal width.

            Σ_bins (weight / total) · |mean confidence − accuracy|

        The confidence is the probability of the predicted class.
        """
        return self.reliability().error

    def reliability(self, bins: int = BINS) -> Reliability:
        """Tabulate accuracy by confidence, in bins of equal width."""
        confidence, right = self._confidence()
        return reliability(confidence, right, self.weights, bins)

    def one_vs_rest_auc(self, average: Literal["macro", "weighted"] | None = None) -> Any:
        """Compute the area under the ROC curve of each class against the rest, or an average.

        NaN for a class with no rows, or with all of them; averages ignore it.
        """
        check_average(average, ("macro", "weighted"))
        return self._areas.copy() if average is None else self._mean(self._areas, average)

    @property
    def auc(self) -> float:
        """The area under the ROC curve; with more than two classes the mean of one against rest.

        The probability that a positive row scores above a negative one; NaN without rows of
        either kind.
        """
        return self._overall(self._areas)

    @cached_property
    def average_precision(self) -> float:
        """The average precision; with more than two classes the mean of one against rest."""
        from sklearn.metrics import average_precision_score

        return self._overall(self._by_class(average_precision_score))

    # Curves, each of one class against the rest

    def roc(self, positive: Label | None = None) -> Roc:
        """Compute the ROC curve with its thresholds."""
        return curves.roc(self._one_vs_rest(positive))

    def precision_recall(self, positive: Label | None = None) -> PrecisionRecall:
        """Compute precision and recall at every threshold."""
        return curves.precision_recall(self._one_vs_rest(positive))

    def gain(self, positive: Label | None = None) -> Gain:
        """Compute the cumulative gain curve: positive rows among the highest scores."""
        return curves.gain(self._one_vs_rest(positive))

    # Confidence intervals

    def interval(
        self,
        metric: str = "accuracy",
        level: float = 0.95,
        *,
        positive: Label | None = None,
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> Interval:
        """Compute a confidence interval for a metric.

        Wilson's for accuracy and error_rate, and for the precision, recall, specificity and
        false_positive_rate of one class. Bootstrapped for log_loss, brier, calibration_error,
        auc, average_precision, balanced_accuracy and matthews; for auc, average_precision and
        balanced_accuracy rows are resampled within each class, so that none is lost. Resampling
        inflates the calibration error, so its interval is the basic bootstrap, 2f − q, clipped
        at 0.

        >>> e = Evaluation.of_predictions([0] * 9 + [1], [0] * 10)
        >>> print(e.interval("accuracy"))
        0.5958–0.9821
        """
        if metric in FRACTIONS:
            return wilson(*self._share(metric, positive), level)
        if metric not in RESAMPLED:
            known = (*FRACTIONS, *RESAMPLED)
            raise SettingError(
                f"There is no interval for {metric!r}, only for {listing(known, most=20)}."
                f"{did_you_mean(str(metric), known)}"
            )
        low, high = bootstrap(
            self._statistic(metric),
            self.row_weights,
            level,
            strata=self.true_codes if metric in STRATIFIED else None,
            n_resamples=n_resamples,
            random_state=random_state,
            reflect=metric == "calibration_error",
        )
        if metric == "calibration_error":
            low, high = max(0.0, low), min(1.0, high)
        return Interval(low, high)

    # Thresholds, for two classes

    def threshold(
        self,
        *,
        precision: float | None = None,
        recall: float | None = None,
        false_positive_rate: float | None = None,
        cost: tuple[float, float] | None = None,
        positive: Label | None = None,
    ) -> Threshold:
        """Find the threshold that meets one requirement; for two classes.

        With a minimum `precision` or a maximum `false_positive_rate`: the one with the highest
        recall. With a minimum `recall`: the one with the highest precision. With `cost` =
        (of a false positive, of a false negative): the one with the lowest cost.
        """
        self._check_two("threshold")
        rows = self._one_vs_rest(positive)
        if not self.support.all():
            raise SettingError(
                "A threshold needs rows of both classes; there are none of "
                f"{self.classes[int(self.support.argmin())]!r}."
            )
        swept = curves.sweep(rows)
        return choose(swept, rows.label, precision, recall, false_positive_rate, cost)

    def at(self, threshold: float | Threshold, positive: Label | None = None) -> Evaluation:
        """Evaluate with another threshold: positive if P(positive | x) ≥ threshold.

        >>> e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1])
        >>> e.at(0.3).predictions.tolist()
        [0, 1, 1, 1]
        """
        self._check_two("at")
        if isinstance(threshold, Threshold):
            positive = threshold.positive if positive is None else positive
            threshold = threshold.threshold
        if threshold != np.inf:  # predicts no row positive
            check_number("threshold", threshold)
        k = self.class_index(positive)
        predicted = np.where(self.probabilities[:, k] >= threshold, k, 1 - k)
        rule = f"{self.classes[k]} if P ≥ {probability(threshold)}"
        if threshold == np.inf:
            rule = f"no row predicted {self.classes[k]}"
        return self._with(predicted_codes=predicted, how=f"{self.how}, {rule}")

    # Output

    def __repr__(self) -> str:
        return (
            f"<Evaluation, {self.how}: {self.n_rows} rows, {len(self.classes)} classes, "
            f"accuracy {self.accuracy:.4f}>"
        )

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Convert all metrics to plain JSON values; what is undefined is None."""
        return as_dict(self)

    def plot(self) -> Any:
        """Plot the confusion matrix, the ROC curves and the reliability curve.

        Returns a matplotlib figure (`pip install priory[plot]`). Without probabilities it shows
        the confusion matrix alone.
        """
        from priory.evaluation.plots import plot_evaluation

        return shown_once(plot_evaluation(self))

    @property
    def separable(self) -> list[int]:
        """The indices of the classes that have some rows but not all."""
        weight = self.support
        return [int(k) for k in np.flatnonzero((weight > 0) & (weight < weight.sum()))]

    @cached_property
    def _areas(self) -> FloatArray:
        from sklearn.metrics import roc_auc_score

        return self._by_class(roc_auc_score)

    def _by_class(self, metric: Callable[..., float]) -> FloatArray:
        """Compute a metric of each class against the rest, NaN if it is not separable."""
        found = np.full(len(self.classes), np.nan)
        for k in self.separable:
            _, positive, scores, weights = self._one_vs_rest(self.classes[k])
            found[k] = metric(positive, scores, sample_weight=weights)
        return found

    def _overall(self, areas: FloatArray) -> float:
        return float(areas[1]) if len(areas) == 2 else self._mean(areas, "macro")

    def _mean(self, areas: FloatArray, average: str) -> float:
        some = ~np.isnan(areas)
        weights = self.support[some] if average == "weighted" else None
        return float(np.average(areas[some], weights=weights)) if some.any() else float("nan")

    def _confidence(self) -> tuple[FloatArray, FloatArray]:
        confidence = self.probabilities[np.arange(self.n_rows), self.predicted_codes]
        return confidence, self.correct.astype(np.float64)

    def _one_vs_rest(self, positive: Label | None) -> OneVsRest:
        k = self.class_index(positive)
        scores = self.probabilities[:, k]
        return OneVsRest(self.classes[k], self.true_codes == k, scores, self.weights)

    def _share(self, metric: str, positive: Label | None) -> tuple[BoolArray, FloatArray | None]:
        """Find the rows of the denominator, and which of them count in the numerator."""
        if metric in ("accuracy", "error_rate"):
            if positive is not None:
                raise SettingError(f"{metric} is a metric of all classes: positive must be None.")
            return (self.correct if metric == "accuracy" else ~self.correct), self.weights
        k = self.class_index(positive)
        is_true, called = self.true_codes == k, self.predicted_codes == k
        hits, among = {
            "precision": (is_true, called),
            "recall": (called, is_true),
            "specificity": (~called, ~is_true),
            "false_positive_rate": (called, ~is_true),
        }[metric]
        return hits[among], None if self.weights is None else self.weights[among]

    def _statistic(self, metric: str) -> Any:
        """Make the metric a function of row weights, resamples × rows."""
        if metric == "log_loss":
            return mean_of(log_losses(self.true_codes, self.probabilities))
        if metric == "brier":
            return mean_of(brier_scores(self.true_codes, self.probabilities))
        if metric == "calibration_error":
            confidence, right = self._confidence()
            return calibration_of(confidence, right, bins_of(confidence, BINS))
        if metric == "balanced_accuracy":
            return balanced_of(self.true_codes, self.predicted_codes)
        if metric == "matthews":
            return matthews_of(self.true_codes, self.predicted_codes)
        places = self.separable
        if not places:
            raise SettingError(f"{metric} is not defined: all rows are of one class.")
        places = [1] if len(self.classes) == 2 else places
        area = auc_of if metric == "auc" else average_precision_of
        return area(self.true_codes, self.probabilities, places)
