"""The figures of an evaluation, in one object."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from priory.base.errors import SettingError, check_number, did_you_mean, listing
from priory.base.html import shown_once
from priory.base.typing import BoolArray, FloatArray, Label
from priory.evaluation.curves import (
    Gain,
    PrecisionRecall,
    Roc,
    gain,
    precision_recall,
    roc,
    sweep,
)
from priory.evaluation.intervals import (
    Interval,
    auc_of,
    bootstrap,
    calibration_of,
    mean_of,
    wilson,
)
from priory.evaluation.label_metrics import check_average
from priory.evaluation.loss_metrics import LossMetrics
from priory.evaluation.losses import brier_scores, log_losses
from priory.evaluation.reliability import BINS, Reliability, bins_of, reliability
from priory.evaluation.rendering import as_dict, as_html, as_text, probability
from priory.evaluation.thresholds import Threshold, choose

__all__ = ["ClassMetrics", "Evaluation"]

SHARES = ("accuracy", "error_rate", "precision", "recall", "specificity", "false_positive_rate")
"""Figures that are shares of rows: Wilson's interval."""
RESAMPLED = (
    "log_loss",
    "brier",
    "calibration_error",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "matthews",
)
"""Figures whose interval is bootstrapped."""
STRATIFIED = ("auc", "average_precision", "balanced_accuracy")
"""Those that need rows of every class: rows are drawn class by class."""


class ClassMetrics(NamedTuple):
    """Hold the figures of one class against the rest."""

    label: Label
    rows: float
    """How many rows are of this class; with sample weights, what they weigh."""
    precision: float
    recall: float
    f1: float
    false_positive_rate: float
    auc: float
    """NaN without probabilities, or if the class has no rows, or all."""


class Evaluation(LossMetrics):
    """Hold how good predictions are: every figure, with the curves and tables behind them.

    Two classes have a positive one, the second, unless `positive` names another. A figure of
    one class among several takes the others together as the negative class.

    0/0 counts as 0, as in scikit-learn; a class that neither occurs nor is predicted has no
    figures (NaN), and averages leave it out.

    Parameters
    ----------
    labels : the true labels
        What is so, row by row.
    probabilities : rows × classes
        P(k | x); for two classes one number a row, P(second | x), also does.
    classes : the classes
        In the order of the columns of `probabilities`; all labels must be among them.
    sample_weight : numbers, optional
        How much each row counts, in every figure.
    how : a few words
        How the predictions came about ("held-out", "exact leave-one-out", "10-fold"); it is
        printed with the figures.
    predictions : labels, optional
        What was predicted, where it is not the most probable class.

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
    log-loss              0.3953  lower is better, as in the next two
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
        """Return the figures of each class against the rest.

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
        """Return the mean of −log P(true label | x), P being no less than 2.2e-16.

        So scikit-learn has it; `impossible_rows` tells how many rows had P = 0.
        """
        return float(
            np.average(log_losses(self.true_codes, self.probabilities), weights=self.weights)
        )

    @property
    def impossible_rows(self) -> int:
        """Return how many rows were given P = 0 for their true label."""
        zero = self.probabilities[np.arange(self.n_rows), self.true_codes] == 0
        return int((zero if self.weights is None else zero & (self.weights > 0)).sum())

    @cached_property
    def brier(self) -> float:
        """Return the mean of Σ_k (P(k | x) − [k = y])², from 0 to 2.

        With two classes half of it, (P(second | x) − y)², from 0 to 1: as in scikit-learn.
        """
        return float(
            np.average(brier_scores(self.true_codes, self.probabilities), weights=self.weights)
        )

    @property
    def calibration_error(self) -> float:
        """Return how far confidence is from the share right, in 15 bins of equal width.

            Σ_bins (weight / total) · |mean confidence − share right|

        The confidence is the probability of the predicted class.
        """
        return self.reliability().error

    def reliability(self, bins: int = BINS) -> Reliability:
        """Return the reliability table: by confidence, the share that was right."""
        confidence, right = self._confidence()
        return reliability(confidence, right, self.weights, bins)

    def one_vs_rest_auc(self, average: Literal["macro", "weighted"] | None = None) -> Any:
        """Return the area under each class's ROC curve against the rest, or an average.

        It is NaN for a class without rows, or with all of them, which averages leave out.
        """
        check_average(average, ("macro", "weighted"))
        return self._areas.copy() if average is None else self._mean(self._areas, average)

    @property
    def auc(self) -> float:
        """Return the area under the ROC curve; with more classes the mean of each against the rest.

        It is the probability that a positive row scores above a negative one; NaN if there
        are no rows of the one or of the other.
        """
        if len(self.classes) == 2:
            return float(self._areas[1])
        return self._mean(self._areas, "macro")

    @cached_property
    def average_precision(self) -> float:
        """Return the area under the steps of precision over recall; with more classes the mean."""
        from sklearn.metrics import average_precision_score

        areas = np.full(len(self.classes), np.nan)
        for k in self._separable:
            areas[k] = average_precision_score(
                self.true_codes == k, self.probabilities[:, k], sample_weight=self.weights
            )
        return float(areas[1]) if len(areas) == 2 else self._mean(areas, "macro")

    # Curves, each of one class against the rest

    def roc(self, positive: Label | None = None) -> Roc:
        """Return the ROC curve with its thresholds."""
        return roc(*self._one_against_rest(positive))

    def precision_recall(self, positive: Label | None = None) -> PrecisionRecall:
        """Return precision and recall at every threshold."""
        return precision_recall(*self._one_against_rest(positive))

    def gain(self, positive: Label | None = None) -> Gain:
        """Return what share of the positive rows is found among the rows of the highest scores."""
        return gain(*self._one_against_rest(positive))

    # How sure the figures are

    def interval(
        self,
        metric: str = "accuracy",
        level: float = 0.95,
        *,
        positive: Label | None = None,
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> Interval:
        """Return an interval for a figure: within it, most likely, lies what more rows would give.

        Wilson's for accuracy and error_rate, and for the precision, recall, specificity and
        false_positive_rate of one class. The bootstrap's for log_loss, brier,
        calibration_error, auc, average_precision, balanced_accuracy and matthews: rows are
        drawn anew with replacement; for auc, average_precision and balanced_accuracy class by
        class, so that none is lost. Calibration errors grow when rows are drawn anew, so
        theirs is the basic bootstrap, 2f − q, and never below 0.

        >>> e = Evaluation.of_predictions([0] * 9 + [1], [0] * 10)
        >>> print(e.interval("accuracy"))
        0.5958–0.9821
        """
        if metric in SHARES:
            return wilson(*self._share(metric, positive), level)
        if metric not in RESAMPLED:
            known = (*SHARES, *RESAMPLED)
            raise SettingError(
                f"There is no interval for {metric!r}, only for {listing(known, most=20)}."
                f"{did_you_mean(str(metric), known)}"
            )
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        low, high = bootstrap(
            self._statistic(metric),
            weights,
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
        """Return the threshold that gives what is asked, and what it attains; for two classes.

        `precision` and `false_positive_rate` are kept with the highest recall, `recall` with
        the highest precision; `cost` = (of a false positive, of a false negative) is made the
        least it can be.
        """
        self._check_two("threshold")
        label, is_positive, scores, weights = self._one_against_rest(positive)
        rows = self.support
        if not rows.all():
            raise SettingError(
                "A threshold needs rows of both classes; there are none of "
                f"{self.classes[int(rows.argmin())]!r}."
            )
        swept = sweep(is_positive, scores, weights)
        return choose(swept, label, precision, recall, false_positive_rate, cost)

    def at(self, threshold: float | Threshold, positive: Label | None = None) -> Evaluation:
        """Return the evaluation in which a row is positive if P(positive | x) ≥ threshold.

        >>> e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1])
        >>> e.at(0.3).predictions.tolist()
        [0, 1, 1, 1]
        """
        self._check_two("at")
        if isinstance(threshold, Threshold):
            positive = threshold.positive if positive is None else positive
            threshold = threshold.threshold
        if threshold != np.inf:  # with that one no row is positive
            check_number("threshold", threshold)
        k = self.class_index(positive)
        predicted = np.where(self.probabilities[:, k] >= threshold, k, 1 - k)
        if threshold == np.inf:
            how = f"{self.how}, no row called {self.classes[k]}"
        else:
            how = f"{self.how}, {self.classes[k]} from {probability(threshold)} on"
        return self._with(predicted_codes=predicted, how=how)

    # For people and machines

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
        """Return every figure as plain JSON values; what is not defined is None."""
        return as_dict(self)

    def plot(self) -> Any:
        """Draw the confusion matrix, the ROC curves and the reliability; return the figure.

        It is a matplotlib figure (`pip install priory[plot]`). Of predictions alone there is
        the confusion matrix.
        """
        from priory.evaluation.plots import plot_evaluation

        return shown_once(plot_evaluation(self))

    @property
    def _separable(self) -> list[int]:
        """Return the classes that have rows and leave some to others."""
        weight = self.support
        return [int(k) for k in np.flatnonzero((weight > 0) & (weight < weight.sum()))]

    @cached_property
    def _areas(self) -> FloatArray:
        from sklearn.metrics import roc_auc_score

        areas = np.full(len(self.classes), np.nan)
        for k in self._separable:
            areas[k] = roc_auc_score(
                self.true_codes == k, self.probabilities[:, k], sample_weight=self.weights
            )
        return areas

    def _mean(self, areas: FloatArray, average: str) -> float:
        some = ~np.isnan(areas)
        weights = self.support[some] if average == "weighted" else None
        return float(np.average(areas[some], weights=weights)) if some.any() else float("nan")

    def _confidence(self) -> tuple[FloatArray, FloatArray]:
        confidence = self.probabilities[np.arange(self.n_rows), self.predicted_codes]
        return confidence, self.correct.astype(np.float64)

    def _one_against_rest(
        self, positive: Label | None
    ) -> tuple[Label, BoolArray, FloatArray, FloatArray | None]:
        k = self.class_index(positive)
        return self.classes[k], self.true_codes == k, self.probabilities[:, k], self.weights

    def _share(self, metric: str, positive: Label | None) -> tuple[BoolArray, FloatArray | None]:
        """Return which rows count as hits of a share, of the rows that it is a share of."""
        if metric in ("accuracy", "error_rate"):
            if positive is not None:
                raise SettingError(f"{metric} is of all classes: positive has no meaning for it.")
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
        """Return a figure as a function of many weights of the rows."""
        if metric == "log_loss":
            return mean_of(log_losses(self.true_codes, self.probabilities))
        if metric == "brier":
            return mean_of(brier_scores(self.true_codes, self.probabilities))
        if metric == "calibration_error":
            confidence, right = self._confidence()
            return calibration_of(confidence, right, bins_of(confidence, BINS))
        if metric == "auc":
            places = self._separable
            if not places:
                raise SettingError("auc is not defined: all rows are of one class.")
            places = [1] if len(self.classes) == 2 else places
            return auc_of(self.true_codes, self.probabilities, places)
        return lambda weights: np.array([getattr(self._with(weights=w), metric) for w in weights])
