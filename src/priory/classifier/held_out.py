"""Scores of rows that were learned, by models that had not learned them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import ForgetError
from priory.base.labels import label_key
from priory.base.later import Later
from priory.base.typing import AnyArray, FloatArray
from priory.data.columns import Frame, Labels
from priory.data.reading import with_pairs
from priory.data.schema import Kind
from priory.families.base import log
from priory.model.class_prior import ClassPrior
from priory.model.model import Model
from priory.statistics.dealing import FOLDS
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.choices import choices_for
from priory.tuning.leave_one_out import HeldOutScores
from priory.tuning.tuned import SampleScores, Tuning

if TYPE_CHECKING:
    from priory.classifier.fitted import Fitted

__all__ = ["check_learned", "checked", "held_out", "prior_shift"]

SOME = 300_000
"""Up to so many rows × columns × classes all is chosen anew without each fold."""

FEW_ROWS, WIDE = 2_000, 3_000_000
"""So many rows are chosen from by more columns than they can judge: there up to so much."""

GAIN = 2 / 3
"""What a loss has too much falls as n^(−2·GAIN): ½ would be 1/n, and few rows of many classes gain
more by each. This is the mean of 88 tables of 100 to 800 rows."""

SELECTED = "leave-one-out, with columns selected by all rows"


def held_out(
    classifier: Fitted,
    frame: Frame,
    labels: Labels,
    weight: FloatArray | None = None,
    folds: Any = None,
) -> HeldOutScores:
    """Score rows by models without the row, or without its fold."""
    statistics, settings = classifier.statistics, classifier.settings
    _ = classifier.model  # tuned where that is due
    tuning = classifier.tuning
    if folds is None and tuning is not None:
        joint = _cross_fitted(classifier, tuning, frame, labels, weight)
        return HeldOutScores.of_joint(joint, labels, statistics, weight, tuning.how)
    if folds is None or (tuning is None and settings.select is None):
        found, prior = choices_for(settings, statistics), settings.class_prior
        scores = HeldOutScores.of(statistics, found, frame, labels, weight, prior, folds)
        return scores if settings.select is None else replace(scores, how=SELECTED)
    # What is chosen by looking at the classes is chosen for each fold anew.
    joint = _tuned_folds(classifier, frame, labels, weight, folds)
    return HeldOutScores.of_joint(joint, labels, statistics, weight, f"{len(set(folds))}-fold")


def check_learned(
    statistics: Statistics, sample: Sample | None, rows: tuple[Frame, Labels, FloatArray | None]
) -> None:
    """Refuse rows that were never learned, as far as sums and sample can tell."""
    frame, y, weight = rows
    if not statistics.is_approximate:
        try:
            _ = statistics - Statistics.count(frame, y, statistics.schema, weight)
        except ForgetError as error:
            raise ForgetError(f"These rows were not all learned: {error}") from None
    if sample is None:
        return
    never = ~sample.holds(frame, y)
    if never.any():
        row = int(np.argmax(never))
        raise ForgetError(
            f"Row {row} was never learned with class {y.value(row)!r}: give rows that were "
            "learned, with their classes, or learn them first."
        )


def prior_shift(statistics: Statistics, class_prior: ClassPrior) -> FloatArray:
    """Compute log P_wanted(k) − log P_rows(k): what a prior that was asked for changes."""
    if class_prior is None:
        return np.zeros(len(statistics.classes))
    wanted = Model.read(statistics, {}, class_prior).log_prior
    shares = Model.read(statistics, {}, None).log_prior
    return np.where(np.isneginf(shares), 0.0, wanted - np.maximum(shares, -1e300))


def _cross_fitted(
    classifier: Fitted, tuning: Tuning, frame: Frame, y: Labels, weight: FloatArray | None
) -> FloatArray:
    """Score rows by sums without the row, and weights learned without its fold."""
    from priory.tuning.tuning import log_joint_cross_fitted, tune  # and all its families

    statistics, settings = classifier.statistics, classifier.settings
    out = np.empty((len(frame), len(statistics.classes)))
    known = slice(None) if weight is None else weight > 0
    rows = frame.take(known), y.take(known), None if weight is None else weight[known]
    sample = classifier.tuning_sample
    check_learned(statistics, sample, rows)
    if tuning.scored is None:  # a file does not hold them
        sample = Sample.of(*rows, max(settings.sample_size, len(frame)))
        tuning = tune(statistics, settings, sample)
    tuning = checked(classifier, tuning, sample)
    out[known] = log_joint_cross_fitted(tuning, statistics, *rows)
    out[known] += prior_shift(statistics, settings.class_prior)
    if weight is not None and not weight.all():  # a row of weight 0 was never learned
        out[weight == 0] = classifier.model.log_joint(frame.take(weight == 0))
    return out


def checked(classifier: Fitted, tuning: Tuning, sample: Sample | None) -> Tuning:
    """Give a tuning scores of its rows that owe nothing to them, where the rows are few.

    Every row is scored while tuning goes on, by what was learned without its fold. But weights and
    corrections are learned on the scores of other rows, in which it had a say. Of many rows each
    says little; of few everything is chosen anew without each fold.
    """
    if sample is None or not _is_few(classifier.statistics, sample):
        return tuning
    known = classifier.checked_scores
    if known is not None and known[0] is tuning:
        return replace(tuning, scored=known[1])
    scored = _chosen_anew(classifier, sample)
    classifier.checked_scores = tuning, scored
    return replace(tuning, scored=scored)


def _is_few(statistics: Statistics, sample: Sample) -> bool:
    """Tell whether all can be chosen anew without each fold: few rows, every one of them here."""
    blocks = statistics.schema.counted
    size = statistics.n_rows * len(blocks) * len(statistics.classes)
    single = all(b.pairing is None and b.kind in (Kind.LABELS, Kind.NUMBERS) for b in blocks)
    every = sample.is_whole and sample.n_rows == statistics.n_rows
    most = WIDE if statistics.n_rows <= FEW_ROWS else SOME
    return single and every and size <= most and not statistics.is_approximate


def _chosen_anew(classifier: Fitted, sample: Sample) -> SampleScores:
    """Score each row by a model that was chosen without its fold, and put that right.

    Of g folds such models lack 1/g of the rows, and are worse than the model for it. What a loss
    has too much falls about as 1/n, and on the rows that were learned it has as much too little. So
    the difference of the two losses tells what more rows will gain:

        loss = loss_not_learned − GAIN · (loss_not_learned − loss_learned) / g

    The scores are moved to this loss, towards those of models that have learned the row.
    """
    from priory.tuning.fold_models import fold_models, in_folds
    from priory.tuning.folds import LEAST_SCORE

    statistics = classifier.statistics
    settings = replace(classifier.settings, class_prior=None)  # it is put in afterwards
    parts, fold = in_folds(sample)
    frame = with_pairs(parts.frame, statistics.schema)
    places = {label_key(label): k for k, label in enumerate(statistics.classes)}
    y = np.array([places.get(label_key(label), -1) for label in sample.y.labels], dtype=np.int32)
    known = y[parts.y.codes], parts.weight
    without, learned = (np.zeros((len(fold), len(statistics.classes))) for _ in range(2))
    n_models = len(set(fold.tolist()))
    for one in fold_models(statistics, settings, sample):
        joint = np.full(without.shape, -np.inf)
        if one.model is not None:
            joint = one.model.log_joint(frame)
        told, own = _normalized(joint, one.others), fold == one.number
        without[own] = told[own]
        learned[~own] += np.maximum(told[~own], LEAST_SCORE) / max(n_models - 1, 1)
    if n_models > 1 and len(statistics.classes) > 1:
        without = _normalized(_moved(without, learned, GAIN / FOLDS, known), statistics)
    held_out = Later.known(without)
    return SampleScores(known[0], held_out, parts.rows, parts.weight, parts.hashes, fold)


def _moved(
    scores: FloatArray, others: FloatArray, share: float, known: tuple[AnyArray, FloatArray]
) -> FloatArray:
    """Move scores towards others until their loss has come so far, a share of the way."""
    from priory.tuning.calibration import log_loss
    from priory.tuning.folds import LEAST_SCORE

    given = np.maximum(scores, LEAST_SCORE)
    there, aim = log_loss(others, *known), log_loss(given, *known)
    if there >= aim:
        return scores
    aim -= share * (aim - there)
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        loss = log_loss(given + middle * (others - given), *known)
        low, high = (middle, high) if loss > aim else (low, middle)
    return scores + middle * (others - given)


def _normalized(joint: FloatArray, others: Statistics) -> FloatArray:
    """Give log P(k | row); a class that no other row has is as likely as one row more would be."""
    top = joint.max(axis=1, keepdims=True, where=np.isfinite(joint), initial=-np.inf)
    top[np.isneginf(top)] = 0.0
    evidence = top + log(np.exp(joint - top).sum(axis=1, keepdims=True))
    shares = np.log((others.weight + 1.0) / (others.weight.sum() + len(others.weight)))
    told = np.where(np.isneginf(evidence), shares, joint - np.maximum(evidence, -1e300))
    return np.where(others.weight > 0, told, shares)


def _tuned_folds(
    classifier: Fitted, frame: Frame, y: Labels, weight: FloatArray | None, folds: AnyArray
) -> FloatArray:
    """Score each fold by a classifier that is tuned on all the others."""
    from priory.tuning.fold_models import learned_without

    statistics, settings = classifier.statistics, classifier.settings
    alone = [block.name for block in statistics.schema.counted if block.pairing is None]
    joint = np.full((len(frame), len(statistics.classes)), -np.inf)
    for fold in np.unique(folds):
        out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        taken, kept = (None if weight is None else weight[rows] for rows in (out, rest))
        sample = Sample.of(frame.take(rest), y.take(rest), kept, settings.sample_size)
        sample = sample.only(alone)
        rows = frame.take(out), y.take(out), taken
        _, model = learned_without(rows, statistics, settings, sample)
        if model is not None:
            joint[out] = model.log_joint(rows[0])
    return joint
