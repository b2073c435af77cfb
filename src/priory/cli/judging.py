"""Judge a model on rows with classes: how often it is right, and how sure it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray
from priory.classifier.classifier import Classifier
from priory.data.columns import Labels
from priory.evaluation import Evaluation
from priory.sources.scoring import classes_of, rows_of

__all__ = ["judge"]

MOST_NUMBERS = 50_000_000
"""So many probabilities are kept at most; of more rows a random half, quarter … is judged."""


class _Kept:
    """Keep rows as long as there is room; when it is full, every row with chance ½ stays."""

    def __init__(self) -> None:
        self.share, self.n_rows = 1.0, 0
        self._truths: list[AnyArray] = []
        self._scores: list[FloatArray] = []
        self._size = 0
        self._random = np.random.default_rng(0)

    def add(self, truth: AnyArray, p: FloatArray) -> None:
        """Add rows, or as many of them as of those before."""
        self.n_rows += len(truth)
        if self.share < 1.0:
            some = self._random.random(len(truth)) < self.share
            truth, p = truth[some], p[some]
        self._truths.append(truth)
        self._scores.append(p)
        self._size += p.size
        while self._size > MOST_NUMBERS:
            truth, p = self.rows()
            some = self._random.random(len(truth)) < 0.5
            self._truths, self._scores, self._size = [truth[some]], [p[some]], int(p[some].size)
            self.share /= 2

    def rows(self) -> tuple[AnyArray, FloatArray]:
        """Return the truths and the probabilities."""
        return np.concatenate(self._truths), np.concatenate(self._scores)


def judge(
    classifier: Classifier, source: Any, target: str | None, **opening: Any
) -> tuple[Evaluation, int]:
    """Return the evaluation of a model over a source, in one pass, and the rows without a class."""
    target = target or classifier.provenance.target
    if target is None:
        raise SettingError("The model does not know its target column; name it with --target.")
    places = {label_key(label): k for k, label in enumerate(classifier.classes)}
    classes = list(classifier.classes)
    kept, without = _Kept(), 0
    for X, batch in rows_of(classifier, source, keep=[target], **opening):
        labels = classes_of(classifier, batch, target)
        for label in labels.labels:  # a class that was not learned has the probability 0
            if places.setdefault(label_key(label), len(classes)) == len(classes):
                classes.append(label)
        place = np.array([*(places[label_key(label)] for label in labels.labels), -1])
        truth = place[labels.codes]  # a gap, code -1, takes the last
        there = truth >= 0
        without += int((~there).sum())
        kept.add(truth[there], classifier.predict_proba(X)[there])
    if not kept.n_rows:
        raise InputError(f"No row has a class in column {target!r} to compare with.")
    truth, p = kept.rows()
    p = np.pad(p, ((0, 0), (0, len(classes) - p.shape[1])))
    how = "on the rows given"
    if kept.share < 1:
        how += f", a random {kept.share:.3g} of {kept.n_rows:,}"
    labels = Labels(truth.astype(np.int32), tuple(classes))
    return Evaluation(labels, p, classes, how=how), without
