"""Losses of each row, and their mean: the empirical risk."""

from __future__ import annotations

import numpy as np

from priory.base.errors import SettingError, did_you_mean, listing
from priory.base.typing import FloatArray, IntArray, Label
from priory.evaluation.label_metrics import LabelMetrics

__all__ = ["LossMetrics", "brier_scores", "log_losses"]

SMALLEST = float(np.finfo(np.float64).eps)
"""Probabilities are clipped to this in the log-loss, as in scikit-learn: −log of it is 36.04."""

MARGIN_LOSSES = ("squared", "hinge", "exponential")
"""Losses of y·h(x), for two classes."""
LOSSES = ("zero-one", "log", "brier", *MARGIN_LOSSES)


class LossMetrics(LabelMetrics):
    """Losses of h(x), which may be a label, a number or P(k | x)."""

    def log_odds(self, positive: Label | None = None) -> FloatArray:
        """Compute log P(positive | x) / P(negative | x) of each row, for two classes."""
        self._check_two("log_odds")
        return log_odds(self.probabilities, self.class_index(positive))

    def margin(self, positive: Label | None = None) -> FloatArray:
        """Compute h(x) of each row, for two classes: the given scores, or the log-odds.

        >>> from priory.evaluation import Evaluation
        >>> e = Evaluation.of_scores(["no", "yes"], [-1.5, 0.5])
        >>> e.margin().tolist(), e.margin("no").tolist()
        ([-1.5, 0.5], [1.5, -0.5])
        """
        self._check_two("margin")
        if self._margin is None:
            return self.log_odds(positive)
        return self._margin if self.class_index(positive) == 1 else -self._margin

    def losses(self, loss: str, positive: Label | None = None) -> FloatArray:
        """Compute the loss of each row.

        For any number of classes; "zero-one" needs only predicted labels:

            "zero-one"     [prediction ≠ true label]
            "log"          −log P(true label | x)
            "brier"        Σ_k (P(k | x) − [k = y])², with two classes half of it

        For two classes, y = ±1 and h(x) the margin:

            "squared"      (h(x) − y)²
            "hinge"        max(0, 1 − y·h(x))
            "exponential"  exp(−y·h(x))

        >>> from priory.evaluation import Evaluation
        >>> Evaluation.of_predictions(["a", "b", "c"], ["a", "c", "c"]).losses("zero-one").tolist()
        [0.0, 1.0, 0.0]
        """
        if loss not in LOSSES:
            known = listing(LOSSES, most=len(LOSSES))
            raise SettingError(
                f"loss must be one of {known}, not {loss!r}.{did_you_mean(str(loss), LOSSES)}"
            )
        if loss not in MARGIN_LOSSES and positive is not None:
            raise SettingError(f"{loss} is a loss of all classes: positive must be None.")
        if loss == "zero-one":
            return (~self.correct).astype(np.float64)
        if loss in MARGIN_LOSSES:
            h = self.margin(positive)
            y = np.where(self.true_codes == self.class_index(positive), 1.0, -1.0)
            return margin_losses(loss, y, h)
        compute = log_losses if loss == "log" else brier_scores
        return compute(self.true_codes, self.probabilities)

    def empirical_risk(self, loss: str = "zero-one", positive: Label | None = None) -> float:
        """Compute the mean loss; it can be infinite.

            R(h) = Σ_i w_i L(h(x_i), y_i) / Σ_i w_i

        >>> from priory.evaluation import Evaluation
        >>> e = Evaluation([1, 1, 0], [0.8, 0.4, 0.2], [0, 1])  # h = log 4, −log 1.5, −log 4
        >>> [round(e.empirical_risk(loss), 4) for loss in ("zero-one", "hinge", "exponential")]
        [0.3333, 0.4685, 0.6667]
        >>> Evaluation.of_predictions(["a", "b", "c", "a"], ["a", "c", "c", "a"]).empirical_risk()
        0.25
        """
        losses = self.losses(loss, positive)
        if self.weights is None:
            return float(np.mean(losses))
        some = self.weights > 0  # an infinite loss of weight 0 must not count
        return float(np.average(losses[some], weights=self.weights[some]))

    def _check_two(self, what: str) -> None:
        if len(self.classes) != 2:
            raise SettingError(
                f"{what} is for two classes; there are {len(self.classes)}: "
                f"{listing(self.classes)}."
            )


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
