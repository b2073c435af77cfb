"""Metrics of predicted labels, without probabilities."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from priory.base.errors import SettingError, check_number, did_you_mean, listing
from priory.base.typing import AnyArray, BoolArray, FloatArray, Label
from priory.evaluation.confusion import ConfusionTable, Outcomes
from priory.evaluation.predictions import Predictions

__all__ = ["LabelMetrics", "check_average"]

Average: TypeAlias = Literal["macro", "micro", "weighted"]


class LabelMetrics(Predictions):
    """Metrics of true and predicted labels: accuracy, confusion matrix, precision, recall."""

    @property
    def correct(self) -> BoolArray:
        """Whether each row was predicted correctly."""
        return np.asarray(self.true_codes == self.predicted_codes)

    @property
    def accuracy(self) -> float:
        """The fraction of rows predicted correctly."""
        return float(np.average(self.correct, weights=self.weights))

    @property
    def error_rate(self) -> float:
        """The fraction of rows predicted wrongly, 1 − accuracy."""
        return float(np.average(~self.correct, weights=self.weights))

    @cached_property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that occur."""
        from sklearn.metrics import recall_score

        return float(
            recall_score(
                self.true_codes,
                self.predicted_codes,
                labels=np.flatnonzero(self.support),
                average="macro",
                sample_weight=self.weights,
                zero_division=0.0,
            )
        )

    @cached_property
    def matthews(self) -> float:
        """Matthews correlation coefficient: 1 if all are correct, 0 at chance level.

            two classes: (TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN))

        0 if only one class occurs, or only one is predicted.
        """
        from sklearn.metrics import matthews_corrcoef

        if (self.true_codes == self.true_codes[0]).all() and self.correct.all():
            return 0.0  # scikit-learn would warn that there is only one class
        return float(
            matthews_corrcoef(self.true_codes, self.predicted_codes, sample_weight=self.weights)
        )

    @cached_property
    def confusion_matrix(self) -> AnyArray:
        """The number of rows of each class (row) predicted as each class (column).

        >>> LabelMetrics.of_predictions(list("aab"), list("abb")).confusion_matrix.tolist()
        [[1, 1], [0, 1]]
        """
        k = len(self.classes)
        counts = np.bincount(
            self.true_codes * k + self.predicted_codes, self.weights, k * k
        ).reshape(k, k)
        counts.flags.writeable = False
        return counts

    @property
    def confusion_table(self) -> ConfusionTable:
        """The confusion matrix with its labels, for printing."""
        return ConfusionTable(self.classes, self.confusion_matrix)

    def outcomes(self, positive: Label | None = None) -> Outcomes:
        """Count the true and false positives and negatives of one class against the rest.

        >>> LabelMetrics.of_predictions([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]).outcomes()
        Outcomes(true_positives=2, false_positives=1, false_negatives=1, true_negatives=1)
        """
        k = self.class_index(positive)
        counts = self.confusion_matrix
        hits, called, there = counts[k, k], counts[:, k].sum(), counts[k].sum()
        rest = counts.sum() - called - there + hits
        return Outcomes(*(x.item() for x in (hits, called - hits, there - hits, rest)))

    # Precision and recall

    @overload
    def precision(self, average: None = None) -> FloatArray: ...
    @overload
    def precision(self, average: Average) -> float: ...
    def precision(self, average: Average | None = None) -> FloatArray | float:
        """Compute the precision, TP / (TP + FP), of each class, or an average.

        "macro" is the mean over the classes, "weighted" the mean weighted by their support,
        "micro" counts all rows together (the accuracy).

        >>> e = LabelMetrics.of_predictions([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])
        >>> e.precision().round(4).tolist(), round(e.precision("macro"), 4)
        ([0.5, 0.6667], 0.5833)
        """
        return self._scores(1.0, average, 0)

    @overload
    def recall(self, average: None = None) -> FloatArray: ...
    @overload
    def recall(self, average: Average) -> float: ...
    def recall(self, average: Average | None = None) -> FloatArray | float:
        """Compute the recall, TP / (TP + FN), of each class, or an average."""
        return self._scores(1.0, average, 1)

    @overload
    def f(self, beta: float = 1.0, average: None = None) -> FloatArray: ...
    @overload
    def f(self, beta: float = 1.0, *, average: Average) -> float: ...
    @overload
    def f(self, beta: float, average: Average) -> float: ...
    def f(self, beta: float = 1.0, average: Average | None = None) -> FloatArray | float:
        """Compute the F-score of each class, or an average; β > 1 favours recall.

            F_β = (β² + 1) P R / (β² P + R)

        >>> e = LabelMetrics.of_predictions([0, 0, 1, 1, 1], [0, 1, 1, 1, 1])
        >>> e.f(2).round(4).tolist()  # class 1: P = 3/4, R = 1, F_2 = 5 · 0.75 / (4 · 0.75 + 1)
        [0.5556, 0.9375]
        """
        check_number("beta", beta)
        return self._scores(float(beta), average, 2)

    def false_positive_rate(self) -> FloatArray:
        """Compute FP / (FP + TN) of each class, NaN without rows of other classes."""
        counts = self.confusion_matrix
        hits, called, there = np.diag(counts), counts.sum(axis=0), counts.sum(axis=1)
        others = counts.sum() - there
        rates = np.full(len(hits), np.nan)
        np.divide(called - hits, others, out=rates, where=others > 0)
        return rates

    def specificity(self) -> FloatArray:
        """Compute TN / (FP + TN) of each class, 1 − the false positive rate."""
        return 1 - self.false_positive_rate()

    @property
    def amounts(self) -> str:
        """The heading of counts: "rows", or "weight" with sample weights."""
        return "rows" if self.weights is None else "weight"

    def _scores(self, beta: float, average: str | None, which: int) -> Any:
        from sklearn.metrics import precision_recall_fscore_support

        check_average(average, ("macro", "micro", "weighted"))
        called = np.bincount(self.predicted_codes, self.weights, len(self.classes))
        there = np.flatnonzero(self.support + called)
        found = precision_recall_fscore_support(
            self.true_codes,
            self.predicted_codes,
            beta=beta,
            labels=there,
            average=average,
            sample_weight=self.weights,
            zero_division=0.0,
        )[which]
        if average is not None:
            return float(found)
        result = np.full(len(self.classes), np.nan)
        result[there] = found
        return result


def check_average(average: str | None, known: tuple[str, ...]) -> None:
    """Refuse an unknown average."""
    if average is not None and average not in known:
        raise SettingError(
            f"average must be one of {listing(known)} or None, not {average!r}."
            f"{did_you_mean(str(average), known)}"
        )
