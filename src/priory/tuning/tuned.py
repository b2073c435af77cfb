"""What a model was tuned to: chosen by `tuning`, kept in the model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import CodeArray, FloatArray, IntArray, Label
from priory.model.model import Model
from priory.model.term import Choice, Term
from priory.statistics.statistics import Statistics
from priory.tuning.calibration import LearnedWeights

__all__ = ["SampleScores", "Tuning"]


@dataclass(frozen=True, eq=False)
class SampleScores:
    """Held-out scores of the sampled rows, from which honest metrics come.

    A row that came several times stands in several folds, with a part of its weight in each.
    """

    labels: CodeArray
    """The class of each row, as a position in the tuning's `classes`."""
    scores: FloatArray
    """log P(k | row) under weights that were learned without the row's fold, rows × classes."""
    rows: IntArray
    """How many rows each stands for."""
    weight: FloatArray
    folds: tuple[LearnedWeights, ...]
    """The weights that were learned without each fold."""


@dataclass(frozen=True, eq=False)
class Tuning:
    """What was chosen, and in memory the scores that it was chosen on."""

    choices: Mapping[str, Choice]
    weights: Mapping[tuple[str, str], float]
    temperature: float
    classes: tuple[Label, ...]
    bias: FloatArray
    scale: float
    """What a row's weight is multiplied by, so that weights say how rows compare, not how many."""
    n_rows: int
    """How many rows had been learned."""
    how: str
    scored: SampleScores | None = None

    def weighed(self, statistics: Statistics) -> Statistics:
        """Scale the sums to weights as they were when the choice was made."""
        return statistics if self.scale == 1.0 else statistics * self.scale

    def applied(self, model: Model) -> Model:
        """Give a model the weights and biases; what came since has the temperature."""
        terms = tuple(
            replace(term, weight=self.weights.get((term.block.name, term.about), self._new(term)))
            for term in model.terms
        )
        known = {label_key(label): b for label, b in zip(self.classes, self.bias, strict=True)}
        bias = np.array([known.get(label_key(label), 0.0) for label in model.classes])
        return replace(model, terms=terms).with_bias(bias)

    def _new(self, term: Term) -> float:
        return 0.0 if term.about == "edge" else self.temperature
