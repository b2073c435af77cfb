"""What a model is tuned to: the family of each column and how far each factor is trusted.

Every row is scored as if it had not been learned (see `subtraction`), which costs one pass and
no second data set. On those scores

    1. each column picks its family and its smoothing, by the log-loss of that column alone;
    2. a temperature and a bias for each class are fitted to the sum of all factors;
    3. each factor gets a weight of its own, held to the temperature.

The statistics are not touched: tuning is a read-out, fitted on a bounded sample of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.calibration import (
    FOLDS,
    Rows,
    Weights,
    cross_fitted,
    learn_temperature,
    learn_weights,
    log_loss,
)
from priory.columns import Frame, Labels
from priory.errors import PrioryError
from priory.families import (
    Aode,
    Bernoulli,
    Categorical,
    Edge,
    Family,
    Histogram,
    StudentT,
    Words,
)
from priory.labels import label_key
from priory.model import Choice, Model, presence, present_share
from priory.priors import Laplace, MEstimate, Prior
from priory.sampling import bottom_rows, row_hashes
from priory.schema import Block, Kind
from priory.settings import Settings
from priory.statistics import Statistics
from priory.subtraction import term_scores_without
from priory.tables import Table
from priory.tuned import Tuning
from priory.typing import AnyArray, CodeArray, FloatArray

__all__ = ["FEWEST_ROWS", "tune"]

FEWEST_ROWS = 20
"""Fewer rows say too little of families and weights."""

MOST_SCORES = 40_000_000
"""So many scores (rows × terms × classes) are kept at most; the sample is smaller if need be."""

FEWEST_SAMPLED = 2_000
LEAST_SCORE = -60.0
"""A factor says no more against a class than this: e^−60 is never, and −∞ has no gradient."""

STRENGTHS = (0.5, 2.0, 8.0, 32.0)
"""How many imagined rows of the column as a whole smooth a categorical column."""

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""What smooths words."""


def tune(
    statistics: Statistics,
    settings: Settings,
    frame: Frame,
    y: Labels,
    weight: FloatArray | None = None,
) -> Tuning:
    """Choose families, smoothing and weights for rows that the statistics counted."""
    defaults = settings.choices(statistics)
    if weight is not None and not weight.all():
        some = weight > 0
        frame, y, weight = frame.take(some), y.take(some), weight[some]
    n_scores = (len(defaults) + 1) * len(statistics.classes)
    size = min(settings.sample_size, max(FEWEST_SAMPLED, MOST_SCORES // n_scores))
    rows = bottom_rows(frame, y, size)
    if rows is not None:
        frame, y = frame.take(rows), y.take(rows)
        weight = None if weight is None else weight[rows]
    sample = _Sample.of(statistics, settings, frame, y, weight)
    chosen: dict[str, Choice] = {}
    terms: list[AnyArray] = []
    names: list[tuple[str, str]] = []
    for name, default in defaults.items():
        block, table = statistics.schema[name], statistics.tables[name]
        choice, scores = sample.best(block, table, candidates(settings, block, table, default))
        gaps = sample.gaps(block, table, choice) if settings.missing_of(block) != "error" else None
        if settings.missing_of(block) == "auto":
            tells = gaps is not None and sample.loss(gaps) < sample.loss(None)
            choice = replace(choice, missing="category" if tells else "skip")
        chosen[name] = choice
        terms.append(scores)
        names.append((name, choice.family.about))
        if choice.missing == "category" and gaps is not None:
            terms.append(gaps)
            names.append((name, "missing"))
    return sample.weighted(settings.weights, chosen, names, terms)


def candidates(settings: Settings, block: Block, table: Table, default: Choice) -> Sequence[Choice]:
    """Return the ways to read out a block that the settings leave open, the default first."""
    smoothed = [replace(default, prior=prior) for prior in _priors(settings, block, default)]
    if not settings.is_auto("families", block):
        return smoothed
    if block.kind is Kind.LABELS:
        return [replace(choice, family=_labels_family(default.family)) for choice in smoothed]
    if block.kind is Kind.NUMBERS:
        found = _of_numbers(settings, block, len(table.cells.keys))  # type: ignore[attr-defined]
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
    settings: Settings, block: Block, n_values: int
) -> Iterator[tuple[Family, Prior | None]]:
    # Of two values every transform makes two values, and every cut the same bins.
    for transform in (None, "log", "rank") if n_values > 2 else (None,):
        student = StudentT(transform=transform)
        yield student, settings.prior_of(block, student)
    few, many = Histogram(bins=5), Histogram()
    if not settings.is_auto("smoothing", block):
        yield few, settings.prior_of(block, few)
        yield many, settings.prior_of(block, many)
        return
    yield few, MEstimate(2.0, "marginal")
    if n_values > 2:
        yield many, MEstimate(2.0, "marginal")
    yield many, MEstimate(16.0, "marginal")


@dataclass(frozen=True, eq=False)
class _Sample:
    """Hold the sampled rows, and the log of the class prior without each of them."""

    statistics: Statistics
    frame: Frame
    y: Labels
    codes: CodeArray
    weight: FloatArray | None
    prior: FloatArray
    smoothing: FloatArray | float
    """How the prior that weights are learned with differs from that of the model."""
    n_threads: int | None

    @classmethod
    def of(
        cls,
        statistics: Statistics,
        settings: Settings,
        frame: Frame,
        y: Labels,
        weight: FloatArray | None,
    ) -> _Sample:
        places = np.array([statistics.places[label_key(label)] for label in y.labels], np.int32)
        codes = places[y.codes] if len(places) else y.codes
        smoothing: FloatArray | float = 0.0
        if settings.class_prior is None:
            prior = _prior_without(statistics.weight, codes, weight)
            smoothing = _smoothing(statistics.weight)
        else:
            given = Model.read(statistics, {}, settings.class_prior).log_prior
            prior = np.tile(np.maximum(given, LEAST_SCORE), (len(codes), 1))
        return cls(statistics, frame, y, codes, weight, prior, smoothing, settings.n_threads)

    @property
    def weights(self) -> FloatArray:
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    def scores(self, block: Block, table: Table, choice: Choice) -> AnyArray:
        """Return log P(x_i | k) without row i, but for what is the same for all classes."""
        column, family = self.frame[block.name], choice.family
        if isinstance(family, Histogram) and family.cut == "equal-frequency":
            # Where these bins end does not depend on the classes, so they may stay while a row is
            # left out: moving them with every row would cost much and change nothing.
            cuts, table = family.binned(table)  # type: ignore[arg-type]
            column, family = _binned(column, cuts), Categorical()
        elif isinstance(family, StudentT) and family.transform is not None:  # nor does a transform
            column, table = family.transformed(column, table)  # type: ignore[arg-type]
            family = StudentT()
        given = (block, family, choice.prior, table, column, self.codes, self.weight)
        return _clipped(term_scores_without(*given, self.n_threads))

    def best(
        self, block: Block, table: Table, choices: Sequence[Choice]
    ) -> tuple[Choice, AnyArray]:
        """Return the choice with the least log-loss of the block alone, and its scores."""
        found: tuple[float, Choice, AnyArray] | None = None
        failed: PrioryError | None = None
        for choice in choices:
            try:
                scores = self.scores(block, table, choice)
            except PrioryError as error:  # such as a logarithm of numbers that it cannot take
                failed = error
                continue
            loss = self.loss(scores, block.kind is Kind.WORDS) if len(choices) > 1 else 0.0
            if found is None or loss < found[0]:
                found = loss, choice, scores
        if found is None:
            raise failed if failed is not None else ValueError("no choices")
        return found[1], found[2]

    def gaps(self, block: Block, table: Table, choice: Choice) -> AnyArray | None:
        """Return the scores of a value's being there or not; None where none is missing."""
        missing = self.frame[block.name].missing
        if not missing.any() or not hasattr(table, "present"):
            return None
        derived, prior = presence(block, table, self.statistics.weight, choice.prior)
        column = Labels(missing.astype(np.int8), (False, True))
        given = (block, Bernoulli(), prior, derived, column, self.codes, self.weight)
        return _clipped(term_scores_without(*given, self.n_threads))

    def loss(self, scores: AnyArray | None, at_best_temperature: bool = False) -> float:
        """Return the log-loss of the prior and one factor."""
        if scores is None:
            return log_loss(self.prior, self.codes, self.weights)
        t = 1.0
        if at_best_temperature:  # words overstate their case so much that t decides
            t = learn_temperature(self.prior, scores, self.codes, self.weights)
        return log_loss(self.prior + t * scores, self.codes, self.weights)

    def weighted(
        self,
        how: str | None,
        choices: Mapping[str, Choice],
        names: Sequence[tuple[str, str]],
        terms: Sequence[AnyArray],
    ) -> Tuning:
        """Return the tuning with a weight for each term, as far as weights are asked for."""
        stacked = np.stack(terms) if terms else np.zeros((0, *self.prior.shape), np.float32)
        share = present_share(self.frame, [name for name, about in names if about == "value"])
        rows = Rows(self.prior, self.codes, self.weights, share)
        if how is None or not terms:
            weights = Weights(np.ones(len(names)), np.zeros(self.prior.shape[1]), 1.0)
            scores, label = weights.scores(rows, stacked), "leave-one-out"
        else:
            one_for_all = how == "temperature"
            # What is not certain of an edge is 0, not t: its columns speak already.
            edges = np.array([about == "edge" for _, about in names])
            centre = np.where(edges, 0.0, np.nan) if edges.any() else None
            weights = learn_weights(stacked, rows, one_for_all, centre)
            fold = (row_hashes(self.frame, self.y) % np.uint64(FOLDS)).astype(np.int32)
            if one_for_all:
                together = stacked.sum(axis=0, keepdims=True)
                one = Weights(weights.terms[:1], weights.bias, weights.temperature)
                scores = cross_fitted(one, together, rows, fold)
            else:
                scores = cross_fitted(weights, stacked, rows, fold, centre)
            label = "cross-fitted"
        top = scores.max(axis=1, keepdims=True)
        scores = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        return Tuning(
            choices,
            dict(zip(names, weights.terms.tolist(), strict=True)),
            weights.temperature,
            self.statistics.classes,
            weights.bias + (0.0 if how is None else self.smoothing),
            self.codes,
            scores,
            self.weight,
            label,
        )


def _smoothing(n: FloatArray) -> FloatArray:
    """Return log of (n_k + 1) / (n + K) over the class's share of the rows."""
    seen = np.where(n > 0, n, 1.0)
    return np.where(n > 0, np.log((n + 1.0) / (n.sum() + len(n))) - np.log(seen / n.sum()), 0.0)


def _binned(column: Any, cuts: FloatArray) -> Labels:
    x = column.values[:, 0]
    codes = np.searchsorted(cuts, x, side="left").astype(np.int32)
    return Labels(np.where(np.isnan(x), -1, codes), tuple(range(len(cuts) + 1)))


def _prior_without(n: FloatArray, y: CodeArray, weight: FloatArray | None) -> FloatArray:
    """Return log (n_k − [k = y] + 1) / (n − 1 + K): a class of one row does not vanish with it."""
    gone = np.ones(len(y)) if weight is None else np.minimum(weight, 1.0)
    left = np.tile(n, (len(y), 1))
    left[np.arange(len(y)), y] -= gone
    return np.asarray(np.log((left + 1.0) / (n.sum() - gone[:, None] + len(n))))


def _clipped(scores: FloatArray) -> AnyArray:
    """Return scores relative to the best class of each row, none of them beyond all bounds."""
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0  # impossible under every class: nothing to tell
    about = np.maximum(scores - top, LEAST_SCORE)
    return np.where(np.isneginf(scores).all(axis=1, keepdims=True), 0.0, about).astype(np.float32)
