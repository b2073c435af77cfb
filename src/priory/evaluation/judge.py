"""Let a model predict rows whose classes are known, and judge it."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.classifier import Classifier
from priory.errors import InputError, SettingError, listing
from priory.evaluation.evaluation import Evaluation
from priory.labels import label_key
from priory.reading import read_labels
from priory.typing import Label

__all__ = ["evaluate"]


def evaluate(
    model: Any, X: Any, y: Any, sample_weight: Any = None, how: str = "held-out"
) -> Evaluation:
    """Evaluate a model on rows that it has not learned.

    The model is a `Classifier`, or anything with scikit-learn's `predict`, `predict_proba` and
    `classes_`; without `predict_proba` the figures are those of its predictions alone. A class
    in y that the model never learned gets P = 0, and its rows are wrong.

    >>> from priory import NaiveBayes
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
    >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
    >>> evaluate(model, {"outlook": ["Sunny", "Rain", "Rain"]}, ["No", "Yes", "No"])
    <Evaluation, held-out: 3 rows, 2 classes, accuracy 0.6667>
    """
    labels = read_labels(y)
    classes = _classes(model)
    known = {label_key(label) for label in classes}
    new = [label for label in labels.labels if label_key(label) not in known]
    if len(new) == len(labels.labels) and new:
        raise InputError(
            f"y has no class that the model knows: {listing(new)} in y, {listing(classes)} in the "
            "model. Are they of different types?"
        )
    if not hasattr(model, "predict_proba"):
        return Evaluation.of_predictions(
            labels, model.predict(X), [*classes, *new], sample_weight, how
        )
    probabilities = np.asarray(model.predict_proba(X))
    if probabilities.ndim == 2:  # else the evaluation says what is wrong
        probabilities = np.pad(probabilities, ((0, 0), (0, len(new))))
    # What a model predicts need not be the most probable class: it may have a threshold.
    predictions = None if isinstance(model, Classifier) else model.predict(X)
    return Evaluation(
        labels, probabilities, [*classes, *new], sample_weight, how, predictions=predictions
    )


def _classes(model: Any) -> list[Label]:
    if isinstance(model, Classifier):
        return list(model.classes)
    classes = getattr(model, "classes_", None)
    if classes is None or not hasattr(model, "predict"):
        raise SettingError(
            "model must be a fitted classifier, with predict and classes_, or a "
            f"priory.Classifier, not {model!r:.60}. Is it fitted?"
        )
    coded = read_labels(classes, "classes_")
    return [coded.labels[code] for code in coded.codes]
