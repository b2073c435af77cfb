"""Evaluate a model on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError, listing
from priory.base.labels import label_key
from priory.base.typing import Label
from priory.classifier.classifier import Classifier
from priory.data.columns import Labels
from priory.data.reading import read_labels
from priory.evaluation.evaluation import Evaluation

__all__ = ["evaluate"]


def evaluate(
    model: Any, X: Any, y: Any, sample_weight: Any = None, how: str = "held-out"
) -> Evaluation:
    """Evaluate a model on rows that it was not trained on.

    The model is a `Classifier`, or anything with scikit-learn's `predict`, `predict_proba` and
    `classes_`; without `predict_proba` only the metrics of predicted labels are available. Or it
    is a function, which is called once, with X, and returns a label for each row. A class in y
    that the model was not trained on gets P = 0, and its rows count as wrong.

    >>> from priory import NaiveBayes
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
    >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
    >>> evaluate(model, {"outlook": ["Sunny", "Rain", "Rain"]}, ["No", "Yes", "No"])
    <Evaluation, held-out: 3 rows, 2 classes, accuracy 0.6667>
    >>> def h(x):
    ...     return ["even" if number % 2 == 0 else "odd" for number in x]
    >>> evaluate(h, [1, 2, 3, 5], ["odd", "even", "odd", "prime"]).empirical_risk("zero-one")
    0.25
    """
    labels = read_labels(y)
    if callable(model) and not hasattr(model, "predict"):
        return Evaluation.of_predictions(
            labels, _answers(model, X, labels), sample_weight=sample_weight, how=how
        )
    classes = _classes(model)
    known = {label_key(label) for label in classes}
    new = [label for label in labels.labels if label_key(label) not in known]
    if len(new) == len(labels.labels) and new:
        raise InputError(
            f"y must have classes of the model, {listing(classes)}, but has "
            f"{listing(new)}. Are they of different types?"
        )
    if not hasattr(model, "predict_proba"):
        return Evaluation.of_predictions(
            labels, model.predict(X), [*classes, *new], sample_weight, how
        )
    probabilities = np.asarray(model.predict_proba(X))
    if probabilities.ndim == 2:  # otherwise Evaluation refuses it
        probabilities = np.pad(probabilities, ((0, 0), (0, len(new))))
    # The predicted class need not be the most probable: the model may have a threshold.
    predictions = None if isinstance(model, Classifier) else model.predict(X)
    return Evaluation(
        labels, probabilities, [*classes, *new], sample_weight, how, predictions=predictions
    )


def _answers(h: Callable[[Any], Any], X: Any, y: Labels) -> Labels:
    """Call a function, and check that it returns a label for each row."""
    said = h(X)
    shape = getattr(said, "shape", (1,))
    if len(shape) != 1 or not hasattr(said, "__len__"):
        raise InputError(
            f"model(X) must be a label for each row, not {said!r:.60}. For probabilities, rows × "
            "classes, use Evaluation(y, probabilities, classes)."
        )
    answers = read_labels(said, "model(X)")
    known = {label_key(label) for label in y.labels}
    if not any(label_key(label) in known for label in answers.labels):
        raise InputError(
            f"model(X) must be labels such as those of y, {listing(y.labels)}, but is "
            f"{listing(answers.labels)}. For scores h(x) use Evaluation.of_scores(y, scores)."
        )
    return answers


def _classes(model: Any) -> list[Label]:
    if isinstance(model, Classifier):
        return list(model.classes)
    classes = getattr(model, "classes_", None)
    if classes is None or not hasattr(model, "predict"):
        raise SettingError(
            "model must be a fitted classifier, with predict and classes_, a priory.Classifier "
            f"or a function that predicts, not {model!r:.60}. Is it fitted?"
        )
    coded = read_labels(classes, "classes_")
    return [coded.labels[code] for code in coded.codes]
