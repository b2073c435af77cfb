"""What a model was tuned to: chosen by `tuning`, kept in the model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from priory.base.labels import label_key
from priory.base.later import Later
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray, Label
from priory.data.schema import Block
from priory.families.correction import Correction, CorrectionParameters
from priory.model.model import Model
from priory.model.term import Choice, Term
from priory.statistics.statistics import Statistics

if TYPE_CHECKING:
    from priory.families.word_correction import WordCorrection

__all__ = ["SampleScores", "Tuning"]


@dataclass(frozen=True, eq=False)
class SampleScores:
    """Held-out scores of the sampled rows, from which honest metrics come.

    A row that came several times may stand in several folds, with a part of its weight in each.
    """

    labels: CodeArray
    """The class of each row, as a position in the tuning's `classes`."""
    held_out: Later[FloatArray]
    """The scores: of many texts they are computed when they are asked for."""
    rows: IntArray
    """How many rows each stands for."""
    weight: FloatArray
    hashes: AnyArray
    """The hash of each row, in order."""
    fold: IntArray

    @property
    def scores(self) -> FloatArray:
        """What log P(k | row) is under what was learned without the row's fold, rows × classes."""
        return self.held_out.value

    def find(self, hashes: AnyArray, fold: IntArray) -> IntArray:
        """Find rows by hash, and by fold where theirs are several; −1 for those not here."""
        order = np.lexsort((self.fold, self.hashes))
        mine, folds = self.hashes[order], self.fold[order]
        low, high = (np.searchsorted(mine, hashes, side=side) for side in ("left", "right"))
        found = np.where(low < high, np.append(order, -1)[low], -1)
        for step in range(int((high - low).max(initial=0))):
            at = low + step
            here = at < high
            here[here] &= folds[at[here]] == fold[here]
            found[here] = order[at[here]]
        return found


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
    corrections: tuple[tuple[Block, CorrectionParameters], ...] = ()
    """What the rows say of one or two columns beyond their factors."""
    words: Mapping[str, WordCorrection] = field(default_factory=dict)
    """What the rows say of the words of a column of texts, by its name."""

    def weighed(self, statistics: Statistics) -> Statistics:
        """Scale the sums to weights as they were when the choice was made."""
        return statistics if self.scale == 1.0 else statistics * self.scale

    def applied(self, model: Model) -> Model:
        """Give a model weights, biases and corrections; what came since has the temperature."""
        places = {label_key(label): k for k, label in enumerate(self.classes)}
        where = np.array([places.get(label_key(label), -1) for label in model.classes])
        weights, t = self.weights, self.temperature
        terms = [replace(m, weight=weights.get((m.block.name, m.about), t)) for m in model.terms]
        for i, term in enumerate(terms if self.words else ()):
            if term.about == "value" and term.block.name in self.words:
                from priory.families.word_correction import corrected  # few models have texts

                found = corrected(term.parameters, self.words[term.block.name], term.weight, where)
                terms[i] = replace(term, parameters=found)
        terms += [
            Term(block, Correction(), replace(p, scores=_placed(p.scores, where)), "correction")
            for block, p in self.corrections
        ]
        return replace(model, terms=tuple(terms)).with_bias(_placed(self.bias, where))


def _placed(values: FloatArray, where: IntArray) -> FloatArray:
    """Place what is of classes, the last axis, among others, class k from where[k]; 0 if new."""
    return np.ascontiguousarray(np.where(where >= 0, values[..., where], 0.0))
