"""Validation without a second data set: leave-one-out and k-fold, by subtraction."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.typing import AnyArray, CodeArray
from priory.classifier.classifier import Classifier
from priory.classifier.held_out import checked, held_out, prior_shift
from priory.data.columns import Labels
from priory.data.reading import read_labels, with_pairs
from priory.evaluation import Evaluation
from priory.statistics.sampling import Sample
from priory.tuning.leave_one_out import HeldOutScores

__all__ = ["cross_validate", "leave_one_out", "trained"]

MOST_ROWS = 1_000_000
"""Up to so many rows duplicates are kept apart; beyond, they are counted by weight."""


def leave_one_out(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Evaluate a model by leave-one-out: each row is scored without itself.

    A row is subtracted from the statistics, so this costs two to three prediction passes. The rows
    must be training rows of the model, all or some; an unfitted model is fitted first. What was
    tuned is cross-fitted, and `how` says so: a row is scored without its fold, of few rows by a
    model that was tuned anew without it, which takes five or ten fits, and as all rows but it would
    do. A row is left out with all its weight.

    >>> from priory import NaiveBayes
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast", "Rain"]}
    >>> leave_one_out(NaiveBayes.textbook(), days, ["No", "No", "Yes", "Yes", "Yes"])
    <Evaluation, exact leave-one-out: 5 rows, 2 classes, accuracy 0.8000>
    """
    return _evaluation(_learned(model, X, y, sample_weight).held_out(X, y, sample_weight))


def trained(classifier: Classifier, sample: Sample) -> Evaluation:
    """Evaluate a classifier on a sample of its training rows: by its tuning, or leave-one-out.

    >>> from priory import Settings
    >>> from priory.data.reading import infer, read
    >>> X, y = {"x": list("aabb")}, read_labels([0, 0, 1, 1])
    >>> sample = Sample.of(read(X, infer(X)), y, None, 100)
    >>> trained(Classifier(Settings.textbook()).fit(X, y), sample)
    <Evaluation, exact leave-one-out: 4 rows, 2 classes, accuracy 1.0000>
    """
    tuning = classifier.tuning
    if tuning is None or tuning.scored is None:
        frame, y, weight = sample.spelled_out(MOST_ROWS)
        frame = with_pairs(frame, classifier.statistics.schema)
        return _evaluation(held_out(classifier, frame, y, weight))
    scored = checked(classifier, tuning, sample).scored
    assert scored is not None
    times = scored.rows if scored.rows.sum() <= MOST_ROWS else np.ones_like(scored.rows)
    every = np.repeat(np.arange(len(times)), times)
    weight = (scored.weight / times)[every]
    rows = Labels(scored.labels[every], tuning.classes)
    joint = scored.scores[every] + prior_shift(
        classifier.statistics, classifier.settings.class_prior
    )
    weights = None if (weight == 1).all() else weight
    left = HeldOutScores.of_joint(joint, rows, classifier.statistics, weights, tuning.how)
    return _evaluation(left)


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    folds: int = 10,
    groups: Any = None,
    random_state: int | None = 0,
    sample_weight: Any = None,
) -> Evaluation:
    """Evaluate a model by k-fold cross-validation.

    The rows are counted once, and each fold is subtracted. Folds are stratified by class, and rows
    of the same group stay together. Tuning is repeated for each fold.

    >>> from priory import NaiveBayes
    >>> X, y = {"x": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]}, [0, 0, 0, 1, 1, 1]
    >>> cross_validate(NaiveBayes.textbook(), X, y, folds=3)
    <Evaluation, 3-fold: 6 rows, 2 classes, accuracy 1.0000>
    """
    labels = read_labels(y)
    numbers = _folds(labels.codes, folds, groups, random_state)
    learned = _learned(model, X, y, sample_weight)
    return _evaluation(learned.held_out(X, y, sample_weight, numbers))


def _learned(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a copy of the model, if it is not fitted yet."""
    if not hasattr(model, "held_out"):
        raise SettingError(
            f"model must be one of priory's, whose sums can be subtracted, not {model!r:.60}. For "
            "others use evaluate on rows that they have not learned."
        )
    if isinstance(model, Classifier):
        return model if model.has_learned else Classifier(model.settings).fit(X, y, sample_weight)
    if model.__sklearn_is_fitted__():
        return model
    from sklearn.base import clone

    return clone(model).fit(X, y, sample_weight)


def _folds(y: CodeArray, folds: Any, groups: Any, random_state: int | None) -> AnyArray:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise SettingError(f"folds must be an integer of at least 2, not {folds!r}.")
    if folds > len(y):
        raise InputError(f"There are {len(y)} rows, too few for {folds} folds.")
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    numbers = np.zeros(len(y), dtype=np.int32)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes smaller than folds
        splitter = kind(int(folds), shuffle=True, random_state=random_state)
        try:
            parts = list(splitter.split(np.zeros((len(y), 1)), y, groups))
        except ValueError:  # every class has fewer rows than folds
            order = np.random.default_rng(random_state).permutation(len(y))
            numbers[order] = np.arange(len(y)) % folds
            return numbers
    for f, (_, rows) in enumerate(parts):
        numbers[rows] = f
    return numbers


def _evaluation(left: HeldOutScores) -> Evaluation:
    return Evaluation.of_posterior(left.labels, left.posterior, left.classes, left.weight, left.how)
