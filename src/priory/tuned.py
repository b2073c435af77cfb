"""What a model was tuned to: a read-out that `tuning` chooses and the model file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from priory.labels import label_key
from priory.model import Choice, Model, Term
from priory.typing import CodeArray, FloatArray, Label

__all__ = ["Tuning"]


@dataclass(frozen=True, eq=False)
class Tuning:
    """Hold what was chosen, and the scores of the sampled rows that it was chosen on."""

    choices: Mapping[str, Choice]
    weights: Mapping[tuple[str, str], float]
    temperature: float
    classes: tuple[Label, ...]
    bias: FloatArray
    labels: CodeArray
    """The class of each sampled row, as a position in `classes`."""
    log_posterior: FloatArray
    """log P(k | row) under weights that were learned without the row's fold."""
    sample_weight: FloatArray | None
    how: str

    def applied(self, model: Model) -> Model:
        """Return a model with the weights and biases; what came since has the temperature."""
        terms = tuple(
            replace(term, weight=self.weights.get((term.block.name, term.about), self._new(term)))
            for term in model.terms
        )
        known = {label_key(label): b for label, b in zip(self.classes, self.bias, strict=True)}
        bias = np.array([known.get(label_key(label), 0.0) for label in model.classes])
        return replace(model, terms=terms, bias=bias)

    def _new(self, term: Term) -> float:
        return 0.0 if term.about == "edge" else self.temperature
