"""Label errors in a source: its rows are read once more, and judged by models without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.classifier.classifier import Classifier
from priory.classifier.held_out import held_out
from priory.data.stacking import stack, stack_labels
from priory.evaluation.label_errors import LabelErrors, rank_labels
from priory.sources.counting import read_classes
from priory.sources.opening import as_reading
from priory.sources.scoring import rows_of
from priory.tuning.leave_one_out import class_codes

__all__ = ["label_errors"]


def label_errors(
    classifier: Classifier, source: Any, target: str | None = None, **opening: Any
) -> LabelErrors:
    """Rank the rows that a classifier was trained on by how likely their label is wrong.

    Rows without a class are left out; the others keep their numbers, counting from 0.

    >>> from priory import train
    >>> days = train("examples/play_tennis.csv", "play")
    >>> label_errors(days, "examples/play_tennis.csv")
    <LabelErrors, cross-fitted: 5 of 14 rows suspicious>
    """
    target = target or classifier.provenance.target
    if target is None:
        raise SettingError("The model does not know its target column: name it as the target.")
    reading = as_reading(**{name: opening[name] for name in opening if name != "attach"})
    frames, labels, numbers, n = [], [], [], 0
    for X, batch in rows_of(classifier, source, keep=[target], **opening):
        given = read_classes(batch.columns[target], target, reading, classifier.classes)
        known = np.flatnonzero(given.codes >= 0)
        frames.append(classifier.frame(X).take(known))
        labels.append(given.take(known))
        numbers.append(n + known)
        n += X.n_rows
    if not sum(map(len, frames)):
        raise InputError(f"No row has a class in column {target!r}.")
    y = stack_labels(labels)
    left = held_out(classifier, stack(frames), y)
    codes = class_codes(y, classifier.statistics)
    found = rank_labels(left.posterior, codes, left.classes, left.how)
    return replace(found, rows=np.concatenate(numbers)[found.rows])
