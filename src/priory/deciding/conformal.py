"""Prediction sets: the classes that a row may well be of, with a guaranteed coverage.

A class k is in the set of a row x where x looks no stranger among the rows of k than most do:

    p_k(x) = (rows i of k that are stranger than x + u · (as strange, x among them)) / (n_k + 1)

and p_k > 1 − coverage. A row is strange as a member of k where P(k | x) is small. Each class is
compared with its own rows alone, so that the coverage holds for each of them (Vovk, Gammerman and
Shafer 2005). u, a number between 0 and 1 that follows from the values of the row, breaks ties.

- Tuned models: every row is judged by a model without its fold, and so is x, by the same model
  (CV+; Barber, Candès, Ramdas and Tibshirani 2021).
- Textbook models: x is learned as a row of k, and all rows of k are judged by that model (full
  conformal). Only rows of k are looked at, so that all candidates together cost n scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from priory.base.errors import SettingError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray, IntArray, Label
from priory.data.columns import Frame, Labels
from priory.model.class_prior import ClassPrior
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.hashing import row_hashes
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.fold_models import fold_models
from priory.tuning.settings import Settings

__all__ = ["CrossConformal", "PredictionSets", "full_conformal"]

ROUNDING = 1e-9
"""Scores nearer to each other than this are equal."""


class PredictionSets(np.ndarray[Any, np.dtype[np.bool_]]):
    """A boolean matrix, rows × classes: which classes each row may be of.

    It has `classes`, the `coverage` asked for, `p_values` (rows × classes), and `guarantee`, which
    says in words what was computed.
    """

    classes: tuple[Label, ...]
    coverage: float
    p_values: FloatArray
    guarantee: str

    @classmethod
    def of(
        cls, p_values: FloatArray, classes: tuple[Label, ...], coverage: float, guarantee: str
    ) -> Self:
        """Take the classes whose p-value is above 1 − coverage."""
        found = (p_values > 1.0 - coverage).view(cls)
        found.classes, found.coverage = classes, coverage
        found.p_values, found.guarantee = p_values, guarantee
        return found

    def __array_finalize__(self, of: Any) -> None:
        for name in ("classes", "coverage", "p_values", "guarantee"):
            setattr(self, name, getattr(of, name, None))

    def labels(self) -> list[list[Label]]:
        """List the classes of each row's set."""
        return [[self.classes[k] for k in np.flatnonzero(row)] for row in np.asarray(self)]


def check_coverage(coverage: Any) -> float:
    """Refuse anything but a share between 0 and 1."""
    number = isinstance(coverage, int | float | np.floating) and not isinstance(coverage, bool)
    if not number or not 0 < float(coverage) < 1:
        raise SettingError(f"coverage must be between 0 and 1, such as 0.9, not {coverage!r}.")
    return float(coverage)


@dataclass(frozen=True, eq=False)
class CrossConformal:
    """Models without each of ten folds, and what each says of its own rows."""

    models: Sequence[Model]
    scores: Sequence[Sequence[FloatArray]]
    """log P(y | x) of the rows of each fold and class, in order."""
    rows: IntArray
    """How many rows each class has."""
    classes: tuple[Label, ...]

    @classmethod
    def of(cls, statistics: Statistics, settings: Settings, sample: Sample) -> CrossConformal:
        """Choose a model without each fold, and score the fold."""
        K = len(statistics.classes)
        models, scores, rows = [], [], np.zeros(K, dtype=np.int64)
        for one in fold_models(statistics, settings, sample):
            if one.model is None:
                continue
            y = _codes(one.part.y, statistics)
            told = one.model.log_posterior(one.part.frame)[np.arange(len(y)), y]
            own = [np.sort(np.repeat(told[y == k], one.part.rows[y == k])) for k in range(K)]
            models.append(one.model)
            scores.append(own)
            rows += np.array([len(some) for some in own])
        return cls(models, scores, rows, statistics.classes)

    def p_values(self, frame: Frame) -> FloatArray:
        """Compute the p-value of each class, rows × classes."""
        stranger = np.zeros((len(frame), len(self.classes)))
        equal = np.ones_like(stranger)
        for model, scores in zip(self.models, self.scores, strict=True):
            told = model.log_posterior(frame)
            for k, own in enumerate(scores):
                below, upto = _between(own, told[:, k])
                stranger[:, k] += below
                equal[:, k] += upto - below
        return (stranger + _ties(frame)[:, None] * equal) / (self.rows + 1)

    def sets(self, frame: Frame, coverage: float) -> PredictionSets:
        """Give the set of each row."""
        share = 1 - coverage
        guarantee = (
            f"CV+ over {len(self.models)} folds, of each class: rows that are drawn as those "
            f"learned were have their class in the set with a probability of about {coverage:g}, "
            f"and of at least {max(1 - 2 * share, 0):g} whatever the model, but for a term that "
            "falls with the rows."
        )
        return PredictionSets.of(self.p_values(frame), self.classes, coverage, guarantee)


def full_conformal(
    statistics: Statistics,
    choices: Mapping[str, Choice],
    class_prior: ClassPrior,
    learned: tuple[Frame, Labels],
    frame: Frame,
    coverage: float,
) -> PredictionSets:
    """Give the set of each row, learned as one more row of each class in turn.

    `learned` are all the rows that the statistics counted.
    """
    rows, labels = learned
    y, classes = _codes(labels, statistics), statistics.classes
    own = [rows.take(np.flatnonzero(y == k)) for k in range(len(classes))]
    names = [Labels(np.zeros(1, dtype=np.int32), (label,)) for label in classes]
    p = np.empty((len(frame), len(classes)))
    ties = _ties(frame)
    for i in range(len(frame)):
        row = frame.take(slice(i, i + 1))
        for k, mine in enumerate(own):
            added = statistics + Statistics.count(row, names[k], statistics.schema)
            model = Model.read(added, choices, class_prior)
            place = added.places[label_key(classes[k])]
            told = model.log_posterior(row)[0, place]
            others = model.log_posterior(mine)[:, place] if len(mine) else np.zeros(0)
            below, upto = _between(np.sort(others), np.array([told]))
            p[i, k] = (below[0] + ties[i] * (upto[0] - below[0] + 1)) / (len(mine) + 1)
    guarantee = (
        "Full conformal, of each class: rows that are drawn as those learned were have their class "
        f"in the set with a probability of {coverage:g}, exactly, whatever the model."
    )
    return PredictionSets.of(p, classes, coverage, guarantee)


def _codes(y: Labels, statistics: Statistics) -> AnyArray:
    places = np.array([statistics.places[label_key(label)] for label in y.labels], dtype=np.int64)
    return places[y.codes]


def _between(ordered: FloatArray, at: FloatArray) -> tuple[IntArray, IntArray]:
    """Count the scores below each of some, and those that are no more; −∞ is equal to itself."""
    slack = ROUNDING * (1.0 + np.abs(np.where(np.isfinite(at), at, 0.0)))
    below = np.searchsorted(ordered, at - slack, side="left")
    return below, np.searchsorted(ordered, at + slack, side="right")


def _ties(frame: Frame) -> FloatArray:
    """Give each row a number between 0 and 1 that follows from its values alone."""
    nothing = Labels(np.zeros(len(frame), dtype=np.int32), ("",))
    single = {name: c for name, c in frame.columns.items() if not hasattr(c, "parts")}
    hashes = row_hashes(Frame(len(frame), single), nothing)
    return (hashes >> np.uint64(11)).astype(np.float64) / 2.0**53
