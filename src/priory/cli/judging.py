"""Judge a model on rows with classes: how often it is right, and how sure it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.classifier import Classifier
from priory.errors import InputError, SettingError
from priory.labels import label_key
from priory.sources.scoring import classes_of, rows_of

__all__ = ["judge"]

LEAST = 1e-15
"""A probability of 0 for what came true would make the log-loss infinite."""


def judge(
    classifier: Classifier, source: Any, target: str | None, **opening: Any
) -> dict[str, Any]:
    """Return accuracy and log-loss over the rows of a source, in one pass."""
    target = target or classifier.provenance.target
    if target is None:
        raise SettingError("The model does not know its target column; name it with --target.")
    n = right = without = 0
    loss = 0.0
    places = {label_key(label): k for k, label in enumerate(classifier.classes)}
    for X, batch in rows_of(classifier, source, keep=[target], **opening):
        labels = classes_of(classifier, batch, target)
        place = np.array([*(places.get(label_key(v), -1) for v in labels.labels), -2])
        truth = place[labels.codes]  # a gap, code -1, takes the last
        p = classifier.predict_proba(X)
        known = truth >= 0
        chosen = np.where(known, p[np.arange(len(p)), np.maximum(truth, 0)], 0.0)
        counted = truth > -2
        n += int(counted.sum())
        without += int((~counted).sum())
        right += int((p.argmax(axis=1) == truth)[counted].sum())
        loss -= float(np.log(np.maximum(chosen[counted], LEAST)).sum())
    if not n:
        raise InputError(f"No row has a class in column {target!r} to compare with.")
    return {
        "rows": n,
        "rows_without_class": without,
        "accuracy": right / n,
        "log_loss": loss / n,
        "label": "on the rows given; honest only if the model has not learned them",
    }
