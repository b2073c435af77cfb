"""What a model is tuned to: the family of each column and how far each factor is trusted.

Every row of a sample is scored by sums without its fold (see `folds`), which costs one pass and no
second data set. On those scores

    1. each column picks its family and its smoothing, by the log-loss of that column alone;
    2. a temperature and a bias for each class are fitted to the sum of all factors;
    3. each factor gets a weight of its own, held to the temperature;
    4. what is left is corrected, column by column and pair by pair, where that helps.

All of this is done under the class shares of the rows; a prior that is asked for replaces them
afterwards. The statistics are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.base.errors import PrioryError
from priory.base.later import Later
from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.data.columns import Frame, Labels
from priory.data.reading import with_pairs
from priory.data.schema import Block, Kind
from priory.families.aode import Aode
from priory.families.base import Family
from priory.families.categorical import Categorical
from priory.families.histogram import Histogram
from priory.families.priors import Laplace, MEstimate, Prior
from priory.families.student_t import StudentT
from priory.families.word_correction import WordCorrection
from priory.families.words import Words
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.dealing import deal, folds_of
from priory.statistics.hashing import row_hashes
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import Table
from priory.tuning.calibration import (
    DOUBT,
    TEXT_DOUBT,
    LearnedWeights,
    Rows,
    cross_fitted,
    learn_weights,
    log_loss,
)
from priory.tuning.choices import choices_for, prior_of
from priory.tuning.corrections import (
    MOST_CORRECTED,
    Corrected,
    correct,
    of_classes,
    pair_columns,
    pair_corrections,
)
from priory.tuning.dependence import dependences
from priory.tuning.folds import FoldedRows, Scored
from priory.tuning.leave_one_out import log_joint_loo
from priory.tuning.second_stage import SecondStage, correct_texts, has_second_stage, most_texts
from priory.tuning.settings import Settings
from priory.tuning.tuned import SampleScores, Tuning
from priory.tuning.waiting import Waiting

__all__ = ["log_joint_cross_fitted", "tune"]

MOST_SCORES = 80_000_000
"""So many scores (rows × terms × classes) are kept at most; the sample is smaller if need be."""

TERMS_OF_PAIRS = 4
"""So many terms of pairs there must be room for, for each column: two pairs, read out twice."""

MOST_PRODUCTS = 5e9
"""So many products of two scores are summed for each step of the weights, which are learned from
fewer rows if need be."""

MOST_OF_ONE = 2_500_000
"""So many scores of one term are kept at most."""

MOST_DOF = 20.0
"""Numbers have the tails of a t with no more degrees of freedom than this, however many rows: those
of a normal would let one number far out, or one row unlike all others of its class, outweigh
everything else."""

WIDE = 100
"""Of so many columns one matters little, so that each is chosen from fewer ways."""

FEWEST_SAMPLED = 2_000

STRENGTHS = (0.5, 2.0, 8.0, 32.0)
"""How many imagined rows of the column as a whole smooth a categorical column."""

ENOUGH_OF_ONE = 100_000
"""So many scores are enough to learn the weight of a single term."""

LEAST_TRUST = 0.05
"""A pair of columns with less weight than this is left out."""

ROWS_PER_CODE = 2
"""So many rows for each of their values must there be before integers may be codes: numbers of
persons or places that stand in several rows tell as much as their names would."""

FEW_TEXTS, FEW_OF_CLASS = 4_000, 200
"""Of so few texts, in all and of each class, a read-out alone may predict better than words that
are corrected one by one: of each word there is too little to go by. So both are tried."""

CLEARLY_LESS = 0.94
"""The loss of corrected words is that of rows left out by fifths, and so somewhat too high."""

UNSURE = 200.0
"""So few rows cannot tell a column of noise from one that says little."""

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""What smooths words."""


def tune(statistics: Statistics, settings: Settings, sample: Sample) -> Tuning:
    """Choose families, smoothing, weights and corrections on a sample of the rows counted."""
    blocks = statistics.schema.blocks
    with Waiting(len(blocks) + 3) as bar:
        tuning = _tune(statistics, settings, sample, bar)
        few = statistics.n_rows <= min(FEW_TEXTS, FEW_OF_CLASS * len(statistics.classes))
        if few and any(has_second_stage(settings, block, statistics.n_rows) for block in blocks):
            plain = _tune(statistics, settings, sample, bar, corrects_words=False)
            if _loss(plain) < CLEARLY_LESS * _loss(tuning):
                return plain
        return tuning


def _loss(tuning: Tuning) -> float:
    scored = tuning.scored
    assert scored is not None
    return log_loss(scored.scores, scored.labels, scored.weight)


def _tune(
    statistics: Statistics,
    settings: Settings,
    sample: Sample,
    bar: Waiting,
    corrects_words: bool = True,
) -> Tuning:
    """Tune; without `corrects_words`, texts are modelled by a read-out alone, as columns are."""
    scale = sample.scale(statistics)
    scaled = statistics if scale == 1.0 else statistics * scale
    defaults = choices_for(settings, scaled)
    K, has_pairs = len(statistics.classes), settings.learns_pairs
    n_terms = len(defaults) + 1
    if has_pairs:
        n_terms += TERMS_OF_PAIRS * min(n_terms, MOST_CORRECTED)
    most = min(MOST_SCORES // (n_terms * K), MOST_OF_ONE // K)
    n, schema = statistics.n_rows, statistics.schema
    texts = [
        name for name in defaults if corrects_words and has_second_stage(settings, schema[name], n)
    ]
    if texts:
        most = most_texts(scaled, sample, texts, most if len(texts) < len(defaults) else None)
    sample = sample.smaller(max(FEWEST_SAMPLED, most))
    sample = replace(sample, frame=with_pairs(sample.frame, statistics.schema))
    rows = FoldedRows.of(scaled, sample, scale)
    chosen = _Chosen.of(rows, settings, defaults, texts, bar)
    bar.step("pairs")
    paired = pair_columns(rows, chosen.losses) if has_pairs else []
    codes = [column.codes(rows.frame) for column in paired]
    room = MOST_SCORES // rows.prior.size - len(chosen.terms)
    dependent = dependences(rows, paired, codes, room)
    terms = [scored.rows for scored in chosen.terms.values()]
    ratios = []
    for one in dependent:
        of_rows, ratio = one.term(rows)
        terms.append(of_rows)
        ratios.append(ratio)
    stacked = np.stack(terms) if terms else np.zeros((0, *rows.prior.shape), np.float32)
    known = Rows(rows.prior, rows.y, rows.weight, chosen.share(len(rows)))
    names, n_own = list(chosen.terms), len(chosen.terms)
    trust = np.append(chosen.trust(rows.no_loss, len(rows)), np.zeros(len(dependent)))
    terms.clear()  # they are stacked: of thousands of columns twice is much
    chosen.terms.clear()
    bar.step("weights")
    is_text = all(schema[name].kind is Kind.WORDS for name, _ in names)
    doubt = TEXT_DOUBT if is_text else DOUBT
    weights, scores = _weighted(settings, known, stacked, trust, rows, doubt)
    bar.step("corrections")
    held_out, by_words = Later.known(scores), dict[str, WordCorrection]()
    if chosen.words:
        weights, held_out, by_words = correct_texts(
            rows, chosen.words, names, stacked, weights, scores
        )
    shared = [
        (one.pair, w * ratio)
        for one, w, ratio in zip(dependent, weights.terms[n_own:], ratios, strict=True)
        if w > LEAST_TRUST
    ]
    corrected = Corrected((), (), scores)
    if settings.corrects and not is_text:
        trusted = {pair.places for pair, _ in shared}
        looked_at = [one.pair for one in dependent if one.is_counted and one.pair.places in trusted]
        names_of = list(chosen.choices)
        corrected = correct(rows, held_out.value, names_of, paired, codes, looked_at)
        held_out = Later.known(corrected.scores)
    bias = of_classes(weights.bias[None])[0]
    return Tuning(
        chosen.choices,
        dict(zip(names, weights.terms[:n_own].tolist(), strict=True)),
        weights.temperature,
        statistics.classes,
        bias + (0.0 if settings.weights is None else _smoothing(scaled.weight)),
        scale,
        statistics.n_rows,
        "leave-one-out" if settings.weights is None or not len(stacked) else "cross-fitted",
        _sample_scores(held_out, rows, sample),
        (*corrected.columns, *pair_corrections(shared, corrected.pairs)),
        by_words,
    )


def log_joint_cross_fitted(
    tuning: Tuning,
    statistics: Statistics,
    frame: Frame,
    y: Labels,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Score every row, rows × classes, by a model that has not seen it.

    A row of the sample has the score that it had when it was left out with its fold. On any other
    nothing was tuned: it is taken out of the sums alone.
    """
    scored = tuning.scored
    assert scored is not None
    hashes = row_hashes(frame, y)
    at = scored.find(hashes, folds_of(hashes))
    out = np.empty((len(frame), len(statistics.classes)))
    out[at >= 0] = scored.scores[at[at >= 0]]
    if (others := np.flatnonzero(at < 0)).size:
        amount = None if weight is None else weight[others] * tuning.scale
        rows = frame.take(others), y.take(others)
        out[others] = _tuned_loo(tuning, tuning.weighed(statistics), *rows, amount)
    out[:, statistics.rows == 0] = -np.inf  # a class that was declared, but never seen
    return out


def _tuned_loo(
    tuning: Tuning, statistics: Statistics, frame: Frame, y: Labels, amount: FloatArray | None
) -> FloatArray:
    """Score rows by a tuned model of the sums without each."""
    model = tuning.applied(Model.read(statistics, tuning.choices))
    total = model.log_joint(frame)
    for name, choice in tuning.choices.items():  # what the row's own sums say, put right
        weight: Any = tuning.weights.get((name, choice.family.about), tuning.temperature)
        one = {name: replace(choice, missing="skip")}
        there = Model.read(statistics, one)
        total += weight * (
            log_joint_loo(statistics, one, frame, y, amount) - there.log_joint(frame)
        )
    return total


def _weighted(
    settings: Settings,
    known: Rows,
    terms: AnyArray,
    trust: FloatArray,
    rows: FoldedRows,
    doubt: float,
) -> tuple[LearnedWeights, FloatArray]:
    """Learn a weight for each term, as far as weights are asked for, and held-out scores.

    Of a pair nothing is trusted before its weight is learned, for its columns speak already.
    """
    n_classes = known.prior.shape[1]
    if settings.weights is None or not len(terms):
        weights = LearnedWeights(np.ones(len(terms)), np.zeros(n_classes), 1.0)
        return weights, weights.scores(known, terms)
    if settings.weights == "temperature":
        weights = learn_weights(terms, known, one_for_all=True, doubt=doubt)
        together = terms.sum(axis=0, keepdims=True)
        one = replace(weights, terms=weights.terms[:1])
        return weights, cross_fitted(one, together, known, rows.fold)[0]
    enough = int(MOST_PRODUCTS / (len(terms) ** 2 * n_classes))
    if len(terms) == 1:
        enough = ENOUGH_OF_ONE // n_classes
    if len(known) > max(FEWEST_SAMPLED, enough):
        return _by_some(known, terms, rows.fold, max(FEWEST_SAMPLED, enough), trust, doubt)
    weights = learn_weights(terms, known, trust=trust, doubt=doubt)
    return weights, cross_fitted(weights, terms, known, rows.fold, trust)[0]


def _by_some(
    known: Rows,
    terms: AnyArray,
    fold: CodeArray,
    enough: int,
    trust: FloatArray,
    doubt: float,
) -> tuple[LearnedWeights, FloatArray]:
    """Learn weights from so many rows, and score all of them."""
    some = known.take(slice(0, enough)), terms[:, :enough]
    weights = learn_weights(some[1], some[0], trust=trust, doubt=doubt)
    _, without = cross_fitted(weights, some[1], some[0], fold[:enough], trust)
    scores = np.empty(known.prior.shape)
    for f, found in enumerate(without):
        mine = np.flatnonzero(fold == f)
        scores[mine] = found.scores(known.take(mine), terms[:, mine])
    return weights, scores


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The choice of each block, and what its terms say of the rows."""

    choices: dict[str, Choice]
    terms: dict[tuple[str, str], Scored]
    """By the name of the block, and whether it is of its values or of their being missing."""
    losses: dict[str, float]
    words: dict[str, SecondStage]
    """The texts that are to be corrected by word."""

    @classmethod
    def of(
        cls,
        rows: FoldedRows,
        settings: Settings,
        defaults: Mapping[str, Choice],
        texts: Sequence[str],
        bar: Waiting,
    ) -> _Chosen:
        """Choose the family and the smoothing of each block by its log-loss alone."""
        is_wide = len(defaults) > WIDE
        choices: dict[str, Choice] = {}
        terms: dict[tuple[str, str], Scored] = {}
        losses: dict[str, float] = {}
        words: dict[str, SecondStage] = {}
        for name, default in defaults.items():
            bar.step(name)
            given = (rows, settings, name, default, is_wide)
            choice, scored, missing, stage = _way(*given, by_words=name in texts)
            if stage is not None:
                words[name] = stage
            choices[name], losses[name] = choice, scored.loss
            terms[name, choice.family.about] = scored
            if choice.missing == "category" and missing is not None:
                terms[name, "missing"] = missing
        return cls(choices, terms, losses, words)

    def trust(self, no_loss: float, n_rows: int) -> FloatArray:
        """Find how far each term is trusted before weights are learned.

            trust = g / (g + n / (n + 200)),  g = max(gain + 1, 0)

        The gain is that of rows that were left out, in nats: columns of noise lose there. Few rows
        can tell neither, and leave the trust near 1. Words that are to be corrected are trusted, as
        they are judged by some rows; where no term is, all are.
        """
        gains = np.array(
            [
                np.inf if name in self.words else max(no_loss - one.loss + 1.0, 0.0)
                for (name, _), one in self.terms.items()
            ]
        )
        if not gains.any():
            return np.ones(len(gains))
        with np.errstate(divide="ignore"):
            return 1.0 / (1.0 + n_rows / (n_rows + UNSURE) / gains)

    def share(self, n_rows: int) -> FloatArray:
        """Find which share of its columns say something of each row."""
        says = [scored.says for (_, about), scored in self.terms.items() if about == "value"]
        return np.mean(says, axis=0) if says else np.zeros(n_rows)


def _way(
    rows: FoldedRows,
    settings: Settings,
    name: str,
    default: Choice,
    is_wide: bool,
    by_words: bool,
) -> tuple[Choice, Scored, Scored | None, SecondStage | None]:
    """Find the best way to model a block, what it says, and what it says of missing values."""
    block, table = rows.statistics.schema[name], rows.statistics.tables[name]
    column, stage = rows.column(block, table), None
    if by_words:
        stage = SecondStage.of(rows, block, table, default, settings)
        choice, scored = stage.choice, stage.scored
    else:
        ways = candidates(settings, block, table, default, is_wide)
        choice, scored = _best(rows, column, ways, is_wide)
    policy = settings.missing_of(block)
    missing = None
    if policy != "error" and hasattr(table, "present") and column.values.missing.any():
        missing = column.missing_scored(choice.prior)
    if policy == "auto":
        tells = missing is not None and missing.loss < rows.no_loss
        choice = replace(choice, missing="category" if tells else "skip")
    return choice, scored, missing, stage


def _best(
    rows: FoldedRows, column: Any, choices: Sequence[Choice], is_wide: bool
) -> tuple[Choice, Scored]:
    """Find the choice with the least log-loss of the block alone, and its scores.

    In a wide table numbers that tell nothing in two ways are not looked at in others.
    """
    found: list[tuple[float, Choice, Any, Any]] = []
    failed: PrioryError | None = None
    block, table, is_folded = column.block, column.table, column.is_foldable(choices)
    least = np.inf
    for i, choice in enumerate(choices):
        if is_wide and i >= 2 and least >= rows.no_loss and block.kind is Kind.NUMBERS:
            break
        try:
            if not is_folded:
                scored = rows.loo(block, table, choice, block.kind is Kind.WORDS)
                found.append((scored.loss, choice, None, scored))
            elif not found or column.may_beat(choice, least):
                losses, grid = column.score(choice)
                found.append((float(losses.sum()), choice, losses, grid))
        except PrioryError as error:  # such as a logarithm of numbers that it cannot take
            failed = error
        least = min([least, *(loss for loss, *_ in found[-1:])])
    if not found:
        raise failed if failed is not None else ValueError("no choices")
    _, choice, _, scored = min(found, key=lambda one: one[0])
    if is_folded:
        scored = column.scored([one[2] for one in found], [one[3] for one in found])
    return choice, scored


def _sample_scores(held_out: Later[FloatArray], rows: FoldedRows, sample: Sample) -> SampleScores:
    def normalized() -> FloatArray:
        scores = held_out.value
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        top = scores.max(axis=1, keepdims=True)
        return scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))

    row, fold, copies, _ = deal(sample.hashes, sample.rows, sample.copied)
    weight = rows.weight * (rows.statistics.weight.sum() / rows.weight.sum())
    return SampleScores(rows.y, Later(normalized), copies, weight, sample.hashes[row], fold)


def candidates(
    settings: Settings, block: Block, table: Table, default: Choice, is_wide: bool = False
) -> Sequence[Choice]:
    """List the choices for a block that the settings leave open, the default first."""
    smoothed = [replace(default, prior=prior) for prior in _priors(settings, block, default)]
    if not settings.is_auto("families", block):
        return smoothed
    if block.kind is Kind.LABELS:
        if isinstance(default.family, Categorical):
            return smoothed
        return [replace(choice, family=Categorical()) for choice in smoothed]
    if block.kind is Kind.NUMBERS:
        n_values = len(table.cells.keys)  # type: ignore[attr-defined]
        found = [*_of_numbers(settings, block, n_values, is_wide)]
        if _are_codes(table):
            priors: list[Prior | None] = [MEstimate(2.0, "marginal"), MEstimate(16.0, "marginal")]
            if not settings.is_auto("smoothing", block):
                priors = [prior_of(settings, block, Categorical())]
            found += [(Categorical(), prior) for prior in priors]
        return [replace(default, family=family, prior=prior) for family, prior in found]
    if block.kind is Kind.WORDS:
        readouts = [Words("multinomial"), Words("multinomial", "log"), Words("complement", "log")]
        if default.prior == Laplace(0):  # then leaving a text out of a complement takes long
            readouts.pop()
        return [replace(choice, family=readout) for readout in readouts for choice in smoothed]
    return smoothed


def _priors(settings: Settings, block: Block, default: Choice) -> Sequence[Prior | None]:
    if not settings.is_auto("smoothing", block) or MEstimate not in default.family.priors:
        return [default.prior]
    if isinstance(default.family, Aode):  # all pairs take long
        return [default.prior]
    if block.kind in (Kind.WORDS, Kind.COUNTS):
        return [Laplace(alpha) for alpha in ALPHAS]
    return [MEstimate(m, "marginal") for m in STRENGTHS]


def _of_numbers(
    settings: Settings, block: Block, n_values: int, is_wide: bool
) -> Iterator[tuple[Family, Prior | None]]:
    # The first two are the least alike. Of two values every transform makes two values, and every
    # cut the same bins.
    few, many, is_auto = Histogram(bins=5), Histogram(), settings.is_auto("smoothing", block)
    yield StudentT(most_dof=MOST_DOF), prior_of(settings, block, StudentT())
    yield few, MEstimate(2.0, "marginal") if is_auto else prior_of(settings, block, few)
    transforms: tuple[Any, ...] = ("rank",) if is_wide else ("log", "rank")
    for transform in transforms if n_values > 2 else ():
        student = StudentT(transform, MOST_DOF)
        yield student, prior_of(settings, block, student)
    if not is_auto:
        yield many, prior_of(settings, block, many)
        return
    if n_values > 2 and not is_wide:
        yield many, MEstimate(2.0, "marginal")
    yield many, MEstimate(16.0, "marginal")
    if n_values > 2 and not is_wide:
        yield Histogram(cut="mdl"), MEstimate(2.0, "marginal")


def _are_codes(table: Any) -> bool:
    """Tell whether numbers are integers that come often enough to be categories."""
    cells = table.cells
    few = 2 < len(cells.keys) <= cells.rows.sum() / ROWS_PER_CODE
    return bool(few and cells.level == 0 and (cells.lower == np.floor(cells.lower)).all())


def _smoothing(n: FloatArray) -> FloatArray:
    """Compute log of (n_k + 1) / (n + K) over the class's share of the rows, of K classes seen."""
    seen, K = np.where(n > 0, n, 1.0), int((n > 0).sum())
    return np.where(n > 0, np.log((n + 1.0) / (n.sum() + K)) - np.log(seen / n.sum()), 0.0)
