"""Learning from rows without a class, by expectation–maximisation.

Rows without a class are counted with soft ones: P(k | x) of each class, by a model that is then
made of those counts, and so on (Nigam, McCallum, Thrun and Mitchell 2000). The model within is
naive Bayes over words (as L2-normalised log(1 + tf), which a text has about five of), labels and
bins of numbers, so that all columns are one sparse matrix, and counting with soft labels is a
product of matrices. Each step raises, or leaves, the penalised log-likelihood

    Σ_labelled log P(x, y) + weight · Σ_unlabelled log Σ_k P(x, k) + Σ α log θ + Σ log π

It begins with what the tuned default says of the rows. How much an unlabelled row weighs, nothing
among the choices, is chosen on the labelled rows: each is judged by what was learned without its
fold. Where that helps nothing, the default stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.data.columns import Frame, Labels
from priory.data.schema import Block, Kind
from priory.data.stacking import stack
from priory.families.categorical import Categorical
from priory.families.cuts import between_cells, equal_frequency
from priory.families.histogram import Histogram
from priory.families.priors import Laplace
from priory.families.words import Words
from priory.model.term import Choice
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import NumbersTable, WordsTable, table_type
from priory.tuning.additive import row_losses
from priory.tuning.calibration import learn_temperature
from priory.tuning.choices import is_identifier
from priory.tuning.fold_models import fold_models
from priory.tuning.leave_one_out import class_codes
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

__all__ = ["SoftModel", "learn_unlabelled"]

WEIGHTS = (0.3, 1.0)
"""What an unlabelled row may weigh; 0 is tried too."""

STEPS, SETTLED = 12, 1e-6
BINS = 10
WORDS_IN_A_TEXT = 5.0
"""How many words the L2-normalised log(1 + tf) of a text is taken for."""

OF_WORDS, OF_LABELS = 0.001, 1.0
"""Laplace's α of words, as they are summed, and of labels and bins."""

MOST_JUDGED = 2_000
"""On so many unlabelled rows at most it is tried out what they should weigh."""

LEAST_SCORE = -60.0
LEAST = 0.01
"""A class less probable than this gets no share of an unlabelled row."""


@dataclass(frozen=True, eq=False)
class Learned:
    """Sums with soft rows, what was tuned with them, and the weight that was chosen."""

    statistics: Statistics
    tuning: Tuning
    weight: float
    losses: Mapping[float, float]
    """The log-loss of labelled rows left out, and its error, by the weight of unlabelled ones."""


def learn_unlabelled(
    statistics: Statistics,
    settings: Settings,
    tuning: Tuning,
    sample: Sample,
    posterior: FloatArray,
    frame: Frame,
    weight: Any = "auto",
) -> Learned | None:
    """Learn rows without a class; None where that would not help.

    `posterior` is what the tuned model says of them, rows × classes.
    """
    if not (isinstance(weight, str) and weight == "auto"):
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 <= float(weight) < np.inf:
            raise SettingError(
                f"unlabelled_weight must be 'auto' or a number of at least 0, not {weight!r}."
            )
        if weight == 0:
            return None
    blocks = _blocks(statistics)
    if settings.structure != "naive" or not blocks:
        raise SettingError(
            "unlabelled rows are learned by naive Bayes of words, labels and numbers: "
            f"structure={settings.structure!r} cannot learn them."
        )
    known = sample.frame
    names = [block.name for block in blocks]
    both = stack([_only(known, names), _only(frame, names)])
    matrix, groups = _matrix(blocks, both)
    labelled, unlabelled = matrix[: len(known)], matrix[len(known) :]
    y, K = class_codes(sample.y, statistics), len(statistics.classes)
    times = sample.rows.astype(np.float64)
    model = SoftModel(labelled, y, times, unlabelled, groups, K)
    tried: Sequence[float] = WEIGHTS if isinstance(weight, str) else (float(weight),)
    losses, scores = _held_out(model, statistics, settings, sample, y, frame, tried)
    chosen = min(losses, key=lambda w: losses[w])
    if isinstance(weight, str) and chosen == 0:
        return None
    chosen = chosen if isinstance(weight, str) else float(weight)
    soft = model.learn(posterior, chosen).responsibilities
    total = statistics + _count_soft(statistics, frame, soft * chosen)
    total = total.with_classes(statistics.classes)
    t = _temperature(scores[chosen], y, times, statistics)
    # The prior of soft classes is as uncertain as they are: it is tempered with all the rest.
    shares = np.log((total.weight + 1) / (total.weight + 1).sum())
    bias = (1 - t) * (_log_prior(statistics) - shares)
    tuned = replace(
        tuning,
        choices=_choices(blocks),
        weights={
            (block.name, "value"): t * (WORDS_IN_A_TEXT if block.kind is Kind.WORDS else 1.0)
            for block in blocks
        },
        temperature=t,
        bias=bias,
        scale=1.0,
        n_rows=total.n_rows,
        how="cross-fitted",
        scored=None,
        corrections=(),
    )
    return Learned(total, tuned, chosen, losses)


# Expectation–maximisation


@dataclass(frozen=True, eq=False)
class Soft:
    """What was learned: weights of features, the class prior, and soft classes."""

    log_theta: FloatArray
    log_prior: FloatArray
    responsibilities: FloatArray
    objective: tuple[float, ...]
    """The penalised log-likelihood after each step; it never falls."""

    def log_joint(self, matrix: Any) -> FloatArray:
        """Score rows, rows × classes."""
        return np.asarray(matrix @ self.log_theta) + self.log_prior


@dataclass(frozen=True, eq=False)
class SoftModel:
    """Rows with and without classes as sparse matrices of features."""

    labelled: Any
    y: CodeArray
    times: FloatArray
    """How often each labelled row is there."""
    unlabelled: Any
    groups: FloatArray
    """For each feature, its block and its α: those of a block add up to 1."""
    n_classes: int

    def without(self, left_out: AnyArray) -> SoftModel:
        """Leave labelled rows out."""
        return replace(self, times=np.where(left_out, 0.0, self.times))

    def learn(self, soft: FloatArray, weight: float, steps: int = STEPS) -> Soft:
        """Learn from soft classes, and the soft classes anew, until they settle."""
        hard = np.zeros((len(self.y), self.n_classes))
        hard[np.arange(len(self.y)), self.y] = self.times
        fixed = np.asarray(self.labelled.T @ hard)
        objective: list[float] = []
        found = None
        for _ in range(steps):
            log_theta, log_prior = self._maximised(hard, fixed, soft, weight)
            scores = np.asarray(self.unlabelled @ log_theta) + log_prior
            top = scores.max(axis=1, keepdims=True)
            evidence = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
            own = np.asarray(self.labelled @ log_theta) + log_prior
            told = float((hard * own).sum()) + weight * float(evidence.sum())
            told += float((self.groups[1][:, None] * log_theta).sum()) + float(log_prior.sum())
            soft = np.exp(scores - evidence[:, None])
            objective.append(told)
            found = Soft(log_theta, log_prior, soft, tuple(objective))
            if len(objective) > 1 and told - objective[-2] < SETTLED * abs(told):
                break
        assert found is not None
        return found

    def _maximised(
        self, hard: FloatArray, fixed: FloatArray, soft: FloatArray, weight: float
    ) -> tuple[FloatArray, FloatArray]:
        counts = fixed + weight * np.asarray(self.unlabelled.T @ soft) + self.groups[1][:, None]
        block = self.groups[0].astype(np.int64)
        totals = np.zeros((int(block.max()) + 1, self.n_classes))
        np.add.at(totals, block, counts)
        shares = hard.sum(axis=0) + weight * soft.sum(axis=0) + 1.0
        return np.log(counts) - np.log(totals)[block], np.log(shares / shares.sum())


# Which weight


def _held_out(
    model: SoftModel,
    statistics: Statistics,
    settings: Settings,
    sample: Sample,
    y: CodeArray,
    frame: Frame,
    weights: Sequence[float],
) -> tuple[dict[float, float], dict[float, FloatArray]]:
    """Judge each weight by labelled rows left out, and 0 by the default without them."""
    K, times = model.n_classes, model.times
    few = frame.take(slice(0, MOST_JUDGED))
    fewer = replace(model, unlabelled=model.unlabelled[:MOST_JUDGED])
    scores = {w: np.zeros((len(y), K)) for w in (0.0, *weights)}
    seen = np.zeros(len(y), dtype=np.bool_)
    for one in fold_models(statistics, replace(settings, class_prior=None), sample):
        mine = np.isin(sample.hashes, one.part.hashes) & ~seen
        if one.model is None or not mine.any():
            continue
        seen |= mine
        rows = np.flatnonzero(mine)
        scores[0.0][rows] = one.model.log_posterior(sample.frame.take(rows))
        begin, rest = one.model.posterior(few), fewer.without(mine)
        for w in weights:
            scores[w][rows] = rest.learn(begin, w).log_joint(model.labelled[rows])
    scores[0.0] = np.maximum(scores[0.0], LEAST_SCORE)
    prior, of_rows = _log_prior(statistics)[None], {}
    for w in scores:  # at its best temperature each: of few rows they are all too sure
        t = _temperature(scores[w], y, times, statistics)
        told = prior + t * (scores[w] - prior)
        of_rows[w] = row_losses(told if K > 2 else told[:, 1:] - told[:, :1], y)
    losses = {w: _mean(loss, of_rows[0.0], times) for w, loss in of_rows.items()}
    right = {w: float((told.argmax(axis=1) == y) @ times) for w, told in scores.items()}
    for w in weights:  # surer of fewer right answers is no gain
        if right[w] < right[0.0]:
            losses[w] = np.inf
    return losses, scores


def _mean(loss: FloatArray, without: FloatArray, times: FloatArray) -> float:
    """Give the mean loss, and a standard error more than that without unlabelled rows.

    Few rows say little: what is no better than by chance is left alone.
    """
    n = times.sum()
    mean = float(loss @ times / n)
    more = loss - without
    about = more - float(more @ times / n)
    return mean + float(np.sqrt((about**2) @ times / n / max(n - 1, 1)))


def _temperature(
    scores: FloatArray, y: CodeArray, times: FloatArray, statistics: Statistics
) -> float:
    prior = _log_prior(statistics)[None]
    return learn_temperature(np.tile(prior, (len(y), 1)), scores - prior, y, times, 1.0, 3.0)


def _log_prior(statistics: Statistics) -> FloatArray:
    return np.log((statistics.weight + 1) / (statistics.weight + 1).sum())


# Columns as features


def _blocks(statistics: Statistics) -> list[Block]:
    return [
        block
        for block in statistics.schema.counted
        if block.pairing is None
        and block.kind in (Kind.WORDS, Kind.LABELS, Kind.NUMBERS)
        and not is_identifier(block, statistics.tables[block.name])
    ]


def _only(frame: Frame, names: Sequence[str]) -> Frame:
    return Frame(len(frame), {name: frame[name] for name in names})


def _choices(blocks: Sequence[Block]) -> dict[str, Choice]:
    of_kind = {
        Kind.WORDS: Choice(Words("multinomial", "log"), Laplace(OF_WORDS)),
        Kind.LABELS: Choice(Categorical(), Laplace(OF_LABELS)),
        Kind.NUMBERS: Choice(Histogram(bins=BINS), Laplace(OF_LABELS)),
    }
    return {block.name: of_kind[block.kind] for block in blocks}


def _matrix(blocks: Sequence[Block], frame: Frame) -> tuple[Any, FloatArray]:
    """Make features of rows: words, labels and bins."""
    import scipy.sparse as sp

    n, parts, groups = len(frame), [], []
    nobody = np.zeros(n, dtype=np.int32)
    for i, block in enumerate(blocks):
        column: Any = frame[block.name]
        table: Any = table_type(block.kind).count(block, column, nobody, None, 1)
        if isinstance(table, WordsTable):
            rows = Words().rows(column, table)
            found = sp.csr_array(
                (np.log1p(rows.data), rows.indices, rows.indptr), (n, rows.shape[1])
            )
            length = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
            found = sp.diags_array(WORDS_IN_A_TEXT / np.maximum(length, 1e-12)) @ found
            alpha = WORDS_IN_A_TEXT * OF_WORDS
        else:
            codes, width = _codes(table, column)
            told = np.flatnonzero(codes >= 0)
            ones = np.ones(len(told))
            found = sp.csr_array((ones, (told, codes[told])), shape=(n, max(width, 1)))
            alpha = OF_LABELS
        parts.append(found)
        groups.append(np.stack([np.full(found.shape[1], i), np.full(found.shape[1], alpha)]))
    return sp.hstack(parts, format="csr"), np.concatenate(groups, axis=1)


def _codes(table: Any, column: Any) -> tuple[AnyArray, int]:
    if not isinstance(table, NumbersTable):
        return column.codes.astype(np.int64), len(column.labels)
    x = np.asarray(column.values[:, 0], dtype=np.float64)
    cuts = between_cells(table.cells, equal_frequency(table.cells, BINS))
    codes = np.searchsorted(cuts, x, side="left").astype(np.int64)
    return np.where(np.isnan(x), -1, codes), len(cuts) + 1


def _count_soft(statistics: Statistics, frame: Frame, soft: FloatArray) -> Statistics:
    """Count rows with soft classes: each once for every class that has a share in it."""
    whole = soft.sum(axis=1, keepdims=True)
    kept = np.where(soft >= LEAST * whole, soft, 0.0)
    kept *= whole / np.maximum(kept.sum(axis=1, keepdims=True), 1e-300)
    rows, classes = np.nonzero(kept)
    labels = Labels(classes.astype(np.int32), statistics.classes)
    counted = frame.take(rows), labels, statistics.schema, kept[rows, classes]
    return Statistics.count(*counted)
