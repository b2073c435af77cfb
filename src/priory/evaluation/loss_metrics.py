"""The loss of each row, and the mean loss: the empirical risk."""

from __future__ import annotations

import numpy as np

from priory.base.errors import SettingError, did_you_mean, listing
from priory.base.typing import FloatArray, Label
from priory.evaluation.label_metrics import LabelMetrics
from priory.evaluation.losses import (
    LOSSES,
    MARGIN_LOSSES,
    brier_scores,
    log_losses,
    log_odds,
    margin_losses,
)

__all__ = ["LossMetrics"]


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
        if loss == "log":
            return log_losses(self.true_codes, self.probabilities)
        if loss == "brier":
            return brier_scores(self.true_codes, self.probabilities)
        h = self.margin(positive)
        y = np.where(self.true_codes == self.class_index(positive), 1.0, -1.0)
        return margin_losses(loss, y, h)

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
