"""Evaluate a model on a source of any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray
from priory.classifier.classifier import Classifier
from priory.data.columns import Labels
from priory.evaluation import Evaluation
from priory.sources.counting import read_classes
from priory.sources.opening import as_reading
from priory.sources.scoring import rows_of

__all__ = ["judge"]

MOST_NUMBERS = 50_000_000
"""The number of probabilities kept at most; of more rows a random half, quarter … is used."""


def judge(
    classifier: Classifier, source: Any, target: str | None, **opening: Any
) -> tuple[Evaluation, int]:
    """Evaluate a model in one pass over a source, and count the rows without a class."""
    target = target or classifier.provenance.target
    if target is None:
        raise SettingError("The model does not know its target column: name it as target.")
    places = {label_key(label): k for k, label in enumerate(classifier.classes)}
    classes = list(classifier.classes)
    kept, unlabelled = _Kept(), 0
    reading = as_reading(**{name: opening[name] for name in opening if name != "attach"})
    for X, batch in rows_of(classifier, source, keep=[target], **opening):
        labels = read_classes(batch.columns[target], target, reading, classifier.classes)
        for label in labels.labels:  # a class that is not in the training data has P = 0
            if places.setdefault(label_key(label), len(classes)) == len(classes):
                classes.append(label)
        place = np.array([*(places[label_key(label)] for label in labels.labels), -1])
        codes = place[labels.codes]  # a missing label, code -1, takes the last
        known = codes >= 0
        unlabelled += int((~known).sum())
        kept.add(codes[known], classifier.predict_proba(X)[known])
    if not kept.n_rows:
        raise InputError(f"No row has a class in column {target!r} to compare with.")
    codes, p = kept.rows()
    p = np.pad(p, ((0, 0), (0, len(classes) - p.shape[1])))
    how = "on the given rows"
    if kept.share < 1:
        how += f", a random {kept.share:.3g} of {kept.n_rows:,}"
    labels = Labels(codes.astype(np.int32), tuple(classes))
    return Evaluation(labels, p, classes, how=how), unlabelled


class _Kept:
    """Rows that are kept while there is room; when it is full, each stays with probability ½."""

    def __init__(self) -> None:
        self.share, self.n_rows = 1.0, 0
        self._parts: list[tuple[AnyArray, FloatArray]] = []
        self._random = np.random.default_rng(0)

    def add(self, codes: AnyArray, p: FloatArray) -> None:
        """Add rows, or the same share of them as of those before."""
        self.n_rows += len(codes)
        self._parts.append(self._some(codes, p, self.share))
        while sum(p.size for _, p in self._parts) > MOST_NUMBERS:
            self._parts = [self._some(*self.rows(), 0.5)]
            self.share /= 2

    def rows(self) -> tuple[AnyArray, FloatArray]:
        """Join the codes of the true labels, and the probabilities."""
        codes, p = zip(*self._parts, strict=True)
        return np.concatenate(codes), np.concatenate(p)

    def _some(self, codes: AnyArray, p: FloatArray, share: float) -> tuple[AnyArray, FloatArray]:
        if share == 1:
            return codes, p
        some = self._random.random(len(codes)) < share
        return codes[some], p[some]
