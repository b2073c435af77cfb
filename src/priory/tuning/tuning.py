"""What a model is tuned to: the family of each column and how far each factor is trusted.

Every row of a sample is scored as if it had not been learned (see `subtraction`), which costs one
pass and no second data set. On those scores

    1. each column picks its family and its smoothing, by the log-loss of that column alone;
    2. a temperature and a bias for each class are fitted to the sum of all factors;
    3. each factor gets a weight of its own, held to the temperature.

All of this is done under the class shares of the rows; a prior that is asked for replaces them
afterwards. The statistics are not touched: tuning is a read-out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.errors import PrioryError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray
from priory.data.columns import Frame, Labels
from priory.data.reading import with_pairs
from priory.data.schema import Block, Kind
from priory.families.aode import Aode
from priory.families.base import Family
from priory.families.bernoulli import Bernoulli
from priory.families.categorical import Categorical
from priory.families.conditional import Edge
from priory.families.histogram import Histogram
from priory.families.priors import Laplace, MEstimate, Prior
from priory.families.student_t import StudentT
from priory.families.words import Words
from priory.model.model import Choice, presence
from priory.statistics.hashing import row_hashes
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import Table
from priory.tuning.calibration import (
    FOLDS,
    Pieces,
    Rows,
    Weights,
    cross_fitted,
    learn_temperature,
    learn_weights,
    log_loss,
)
from priory.tuning.choices import choices_for, prior_of
from priory.tuning.leave_one_out import term_scores_loo
from priory.tuning.settings import Settings
from priory.tuning.tuned import Scored, Tuning

__all__ = ["log_joint_cross_fitted", "tune"]

MOST_SCORES = 40_000_000
"""So many scores (rows × terms × classes) are kept at most; the sample is smaller if need be."""

MOST_OF_ONE = 2_500_000
"""So many scores of one term are kept at most."""

CHOOSING = 10_000
"""So many rows families and smoothing are chosen on."""

WIDE = 100
"""Of so many columns one matters little, so that each is chosen from fewer ways on fewer rows."""

FEWEST_SAMPLED = 2_000
LEAST_SCORE = -60.0
"""A factor says no more against a class than this: e^−60 is never, and −∞ has no gradient."""

STRENGTHS = (0.5, 2.0, 8.0, 32.0)
"""How many imagined rows of the column as a whole smooth a categorical column."""

ROWS_PER_CODE = 5
"""So many rows for each of their values must there be before integers may be codes."""

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""What smooths words."""


def tune(statistics: Statistics, settings: Settings, sample: Sample) -> Tuning:
    """Choose families, smoothing and weights on a sample of the rows that were counted."""
    scale = sample.scale(statistics)
    scaled = statistics if scale == 1.0 else statistics * scale
    defaults = choices_for(settings, scaled)
    K = len(statistics.classes)
    most = min(MOST_SCORES // ((len(defaults) + 1) * K), MOST_OF_ONE // K)
    sample = sample.smaller(max(FEWEST_SAMPLED, most))
    sample = replace(sample, frame=with_pairs(sample.frame, statistics.schema))
    rows = _Sampled.of(scaled, sample, scale)
    is_wide = len(defaults) > WIDE
    few = sample.smaller(FEWEST_SAMPLED if is_wide else CHOOSING)
    is_all = len(few) == len(sample)
    some = rows if is_all else _Sampled.of(scaled, few, scale)
    chosen: dict[str, Choice] = {}
    terms: list[AnyArray] = []
    names: list[tuple[str, str]] = []
    speaking = np.zeros(len(sample))
    for name, default in defaults.items():
        block, table = scaled.schema[name], scaled.tables[name]
        ways = candidates(settings, block, table, default, is_wide)
        choice, found = some.best(block, table, ways, is_wide)
        scores, speaks = found if some is rows else rows.scores(block, table, choice)
        gaps = rows.gaps(block, table, choice) if settings.missing_of(block) != "error" else None
        if settings.missing_of(block) == "auto":
            tells = gaps is not None and rows.loss(gaps) < rows.no_loss
            choice = replace(choice, missing="category" if tells else "skip")
        chosen[name] = choice
        terms.append(scores)
        names.append((name, choice.family.about))
        if choice.family.about == "value":
            speaking += speaks
        if choice.missing == "category" and gaps is not None:
            terms.append(gaps)
            names.append((name, "missing"))
    of_values = sum(about == "value" for _, about in names)
    known = Rows(rows.prior, rows.codes, rows.weight, speaking / max(of_values, 1))
    weights, scored = _weighted(settings.weights, names, terms, known, sample)
    bias = _every_class(weights.bias, len(statistics.classes))
    return Tuning(
        chosen,
        dict(zip(names, weights.terms.tolist(), strict=True)),
        weights.temperature,
        statistics.classes,
        bias + (0.0 if settings.weights is None else _smoothing(scaled.weight)),
        scale,
        statistics.n_rows,
        "leave-one-out" if settings.weights is None or not terms else "cross-fitted",
        scored,
    )


def log_joint_cross_fitted(
    tuning: Tuning,
    statistics: Statistics,
    frame: Frame,
    y: Labels,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Return the score of every row, rows × classes, by a model that has not seen it.

    The row is taken out of the sums, and the weights are those that were learned without its fold.
    """
    assert tuning.scored is not None
    folds = tuning.scored.folds
    scaled = tuning.weighed(statistics)
    codes = _codes(y, statistics)
    amount = None if weight is None else weight * tuning.scale
    rows = _Sampled(scaled, frame, codes, amount, np.ones(len(codes)))
    fold = _folds(row_hashes(frame, y))
    total, said = rows.prior.copy(), np.zeros((len(codes), 1))
    names = list(tuning.weights)
    for j, (name, about) in enumerate(names):
        block, table, choice = scaled.schema[name], scaled.tables[name], tuning.choices[name]
        if about == "missing":
            scores = rows.gaps(block, table, choice, always=True)
        else:
            scores, speaks = rows.scores(block, table, choice)
            said += speaks[:, None] if about == "value" else 0.0
        if scores is not None:
            total += np.array([f.terms[j] for f in folds])[fold, None] * scores
    share = said / max(sum(about == "value" for _, about in names), 1)
    total += share * np.array([f.bias for f in folds])[fold]
    total = total if len(statistics.classes) != 2 else np.hstack([np.zeros_like(total), total])
    total[:, statistics.rows == 0] = -np.inf  # a class that was declared, but never seen
    return total


def _folds(hashes: AnyArray) -> CodeArray:
    """Return the fold of each row; the copies of one are dealt out as `Pieces` does."""
    order = np.argsort(hashes, kind="stable")
    same = np.r_[False, hashes[order][1:] == hashes[order][:-1]]
    starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    copy = np.empty(len(order), dtype=np.int64)
    copy[order] = np.arange(len(order)) - starts
    return ((hashes % np.uint64(FOLDS)).astype(np.int64) + copy) % FOLDS


def _codes(y: Labels, statistics: Statistics) -> CodeArray:
    """Return the place of each row's class; classes without rows need none."""
    places = [statistics.places.get(label_key(label), -1) for label in y.labels]
    return np.array([*places, -1], dtype=np.int32)[y.codes]


def _weighted(
    how: str | None,
    names: Sequence[tuple[str, str]],
    terms: Sequence[AnyArray],
    rows: Rows,
    sample: Sample,
) -> tuple[Weights, Scored]:
    """Return a weight for each term, as far as weights are asked for, and honest scores."""
    n_classes = rows.prior.shape[1]
    stacked = np.stack(terms) if terms else np.zeros((0, *rows.prior.shape), np.float32)
    pieces = Pieces.of(sample.hashes, sample.rows)
    if how is None or not terms:
        weights = Weights(np.ones(len(names)), np.zeros(n_classes), 1.0)
        scores, folds = weights.scores(rows, stacked)[pieces.row], (weights,) * FOLDS
    elif how == "temperature":
        weights = learn_weights(stacked, rows, one_for_all=True)
        together = stacked.sum(axis=0, keepdims=True)
        one = replace(weights, terms=weights.terms[:1])
        scores, found = cross_fitted(one, together, rows, pieces)
        folds = tuple(replace(f, terms=np.repeat(f.terms, len(names))) for f in found)
    else:
        # What is not certain of an edge is 0, not t: its columns speak already.
        edges = np.array([about == "edge" for _, about in names])
        centre = np.where(edges, 0.0, np.nan) if edges.any() else None
        weights = learn_weights(stacked, rows, centre=centre)
        scores, folds = cross_fitted(weights, stacked, rows, pieces, centre)
    if n_classes == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    top = scores.max(axis=1, keepdims=True)
    scores = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    weight = rows.weight[pieces.row] * pieces.share
    return weights, Scored(rows.y[pieces.row], scores, pieces.copies, weight, folds)


def _every_class(bias: FloatArray, n_classes: int) -> FloatArray:
    """Return the bias of each class; of two, half of the log-odds for and half against."""
    return bias if len(bias) == n_classes else np.array([-bias[0] / 2, bias[0] / 2])


def candidates(
    settings: Settings, block: Block, table: Table, default: Choice, is_wide: bool = False
) -> Sequence[Choice]:
    """Return the ways to read out a block that the settings leave open, the default first."""
    smoothed = [replace(default, prior=prior) for prior in _priors(settings, block, default)]
    if not settings.is_auto("families", block):
        return smoothed
    if block.kind is Kind.LABELS:
        return [replace(choice, family=_labels_family(default.family)) for choice in smoothed]
    if block.kind is Kind.NUMBERS:
        n_values = len(table.cells.keys)  # type: ignore[attr-defined]
        found = [*_of_numbers(settings, block, n_values, is_wide)]
        if _are_codes(table):
            found += [(Categorical(), prior) for prior in _of_codes(settings, block)]
        return [replace(default, family=family, prior=prior) for family, prior in found]
    if block.kind is Kind.WORDS:
        readouts = (Words("multinomial"), Words("multinomial", "log"), Words("complement", "log"))
        return [replace(choice, family=readout) for readout in readouts for choice in smoothed]
    return smoothed


def _priors(settings: Settings, block: Block, default: Choice) -> Sequence[Prior | None]:
    if not settings.is_auto("smoothing", block) or MEstimate not in default.family.priors:
        return [default.prior]
    if isinstance(
        default.family, Edge | Aode
    ):  # an edge is judged with others; all pairs take long
        return [default.prior]
    if block.kind in (Kind.WORDS, Kind.COUNTS):
        return [Laplace(alpha) for alpha in ALPHAS]
    return [MEstimate(m, "marginal") for m in STRENGTHS]


def _labels_family(default: Family) -> Family:
    """Return a family of labels; truths are two values like any others."""
    return default if isinstance(default, Categorical) else Categorical()


def _of_numbers(
    settings: Settings, block: Block, n_values: int, is_wide: bool
) -> Iterator[tuple[Family, Prior | None]]:
    # The first two are the least alike. Of two values every transform makes two values, and every
    # cut the same bins.
    few, many, is_auto = Histogram(bins=5), Histogram(), settings.is_auto("smoothing", block)
    yield StudentT(), prior_of(settings, block, StudentT())
    yield few, MEstimate(2.0, "marginal") if is_auto else prior_of(settings, block, few)
    transforms: tuple[Any, ...] = ("rank",) if is_wide else ("log", "rank")
    for transform in transforms if n_values > 2 else ():
        student = StudentT(transform=transform)
        yield student, prior_of(settings, block, student)
    if not is_auto:
        yield many, prior_of(settings, block, many)
        return
    if n_values > 2 and not is_wide:
        yield many, MEstimate(2.0, "marginal")
    yield many, MEstimate(16.0, "marginal")


def _are_codes(table: Any) -> bool:
    """Return whether numbers are integers that come often enough to be looked at one by one."""
    cells = table.cells
    few = 2 < len(cells.keys) <= cells.rows.sum() / ROWS_PER_CODE
    return bool(few and cells.level == 0 and (cells.lower == np.floor(cells.lower)).all())


def _of_codes(settings: Settings, block: Block) -> list[Prior | None]:
    if not settings.is_auto("smoothing", block):
        return [prior_of(settings, block, Categorical())]
    return [MEstimate(2.0, "marginal"), MEstimate(16.0, "marginal")]


@dataclass(frozen=True, eq=False)
class _Sampled:
    """Hold the sampled rows; their scores are of each class, or the log-odds of two."""

    statistics: Statistics
    frame: Frame
    codes: CodeArray
    amount: FloatArray | None
    """What each row weighs, and so takes along when it is left out; None where that is 1."""
    weight: FloatArray
    """How much the loss of each row counts: all of its copies, and rows that are not here."""

    @classmethod
    def of(cls, statistics: Statistics, sample: Sample, scale: float) -> _Sampled:
        codes, K = _codes(sample.y, statistics), len(statistics.classes)
        weight = sample.weight * scale
        amount = None if (weight == sample.rows).all() else weight / sample.rows
        there = np.bincount(codes, weight, K)
        lift = np.where(there > 0, statistics.weight / np.where(there > 0, there, 1.0), 1.0)
        if sample.is_whole:
            lift = np.ones(K)
        return cls(statistics, sample.frame, codes, amount, weight * lift[codes])

    @cached_property
    def prior(self) -> FloatArray:
        """Return log P(k) without each row."""
        prior = _prior_loo(self.statistics.weight, self.codes, self.amount)
        return prior if prior.shape[1] != 2 else prior[:, 1:] - prior[:, :1]

    def scores(self, block: Block, table: Table, choice: Choice) -> tuple[AnyArray, BoolArray]:
        """Return log P(x_i | k) without row i, and whether it says anything of the row."""
        column, family = self.frame[block.name], choice.family
        if isinstance(family, Histogram) and family.cut == "equal-frequency":
            # Where these bins end does not depend on the classes, so they may stay while a row is
            # left out: moving them with every row would cost much and change nothing.
            cuts, table = family.binned(table)  # type: ignore[arg-type]
            column, family = _binned(column, cuts), Categorical()
        elif isinstance(family, StudentT) and family.transform is not None:  # nor does a transform
            column, table = family.transformed(column, table)  # type: ignore[arg-type]
            family = StudentT()
        given = (block, family, choice.prior, table, column, self.codes, self.amount)
        scores = term_scores_loo(*given)
        return _clipped(scores), np.asarray(scores.any(axis=1))

    def best(
        self, block: Block, table: Table, choices: Sequence[Choice], is_wide: bool
    ) -> tuple[Choice, tuple[AnyArray, BoolArray]]:
        """Return the choice with the least log-loss of the block alone, and its scores.

        In a wide table numbers that tell nothing in two ways are not looked at in others.
        """
        if len(choices) == 1:
            return choices[0], self.scores(block, table, choices[0])
        found: tuple[float, Choice, tuple[AnyArray, BoolArray]] | None = None
        failed: PrioryError | None = None
        for i, choice in enumerate(choices):
            told = found is None or found[0] < self.no_loss
            if is_wide and i >= 2 and not told and block.kind is Kind.NUMBERS:
                break
            try:
                scores = self.scores(block, table, choice)
            except PrioryError as error:  # such as a logarithm of numbers that it cannot take
                failed = error
                continue
            loss = self.loss(scores[0], block.kind is Kind.WORDS)
            if found is None or loss < found[0]:
                found = loss, choice, scores
        if found is None:
            raise failed if failed is not None else ValueError("no choices")
        return found[1], found[2]

    def gaps(
        self, block: Block, table: Table, choice: Choice, always: bool = False
    ) -> AnyArray | None:
        """Return the scores of a value's being there or not; None where none is missing."""
        missing = self.frame[block.name].missing
        if not (always or missing.any()) or not hasattr(table, "present"):
            return None
        derived, prior = presence(block, table, self.statistics.weight, choice.prior)
        column = Labels(missing.astype(np.int8), (False, True))
        given = (block, Bernoulli(), prior, derived, column, self.codes, self.amount)
        return _clipped(term_scores_loo(*given))

    @cached_property
    def no_loss(self) -> float:
        """Return the log-loss of the prior alone."""
        return log_loss(self.prior, self.codes, self.weight)

    def loss(self, scores: AnyArray, at_best_temperature: bool = False) -> float:
        """Return the log-loss of the prior and one factor."""
        t = 1.0
        if at_best_temperature:  # words overstate their case so much that t decides
            t = learn_temperature(self.prior, scores, self.codes, self.weight)
        return log_loss(self.prior + t * scores, self.codes, self.weight)


def _smoothing(n: FloatArray) -> FloatArray:
    """Return log of (n_k + 1) / (n + K) over the class's share of the rows, of K classes seen."""
    seen, K = np.where(n > 0, n, 1.0), int((n > 0).sum())
    return np.where(n > 0, np.log((n + 1.0) / (n.sum() + K)) - np.log(seen / n.sum()), 0.0)


def _binned(column: Any, cuts: FloatArray) -> Labels:
    x = column.values[:, 0]
    codes = np.searchsorted(cuts, x, side="left").astype(np.int32)
    return Labels(np.where(np.isnan(x), -1, codes), tuple(range(len(cuts) + 1)))


def _prior_loo(n: FloatArray, y: CodeArray, amount: FloatArray | None) -> FloatArray:
    """Return log (n_k − [k = y] + 1) / (n − 1 + K): a class of one row does not vanish with it."""
    gone = np.ones(len(y)) if amount is None else amount
    left = np.tile(n, (len(y), 1))
    here = np.arange(len(y)), y
    left[here] = np.maximum(left[here] - gone, 0.0)
    prior = np.log((left + 1.0) / (n.sum() - gone[:, None] + (n > 0).sum()))
    return np.where(n > 0, prior, LEAST_SCORE)  # one that was never seen is never right


def _clipped(scores: FloatArray) -> AnyArray:
    """Return scores relative to the best class of each row, none of them beyond all bounds.

    Of two classes they are the log-odds of the second.
    """
    if scores.shape[1] == 2:
        with np.errstate(invalid="ignore"):
            odds = scores[:, 1:] - scores[:, :1]
        odds[np.isnan(odds)] = 0.0  # impossible under either class: nothing to tell
        return np.clip(odds, LEAST_SCORE, -LEAST_SCORE).astype(np.float32)
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0  # impossible under every class: nothing to tell
    about = np.maximum(scores - top, LEAST_SCORE)
    return np.where(np.isneginf(scores).all(axis=1, keepdims=True), 0.0, about).astype(np.float32)
