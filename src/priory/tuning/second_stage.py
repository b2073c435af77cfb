"""Columns of texts in a table: what each says by its evidence, and how its words are corrected.

A text column is one factor among others. Its evidence has a weight as any factor has; then the
words correct the score of the whole row, so that what other columns say is not said again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from priory.base.later import Later
from priory.base.typing import AnyArray, FloatArray
from priory.data.schema import Block, Kind
from priory.families.priors import Laplace
from priory.families.word_correction import WordCorrection
from priory.families.words import Words
from priory.model.term import Choice
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import WordsTable
from priory.tuning.calibration import LearnedWeights
from priory.tuning.folds import FoldedRows, Scored
from priory.tuning.settings import Settings
from priory.tuning.word_corrections import (
    ALPHAS,
    FEWEST,
    MOST_ENTRIES,
    MOST_TEXTS,
    WordChoice,
    choose,
    correct_words,
)
from priory.tuning.word_rows import GROUPS, WordRows, entries_per_text

__all__ = ["SecondStage", "correct_texts", "has_second_stage", "most_texts"]

EVIDENCE = Words("evidence", "log")

MOST_SCORES = 8_000_000
"""So many scores (texts × classes) are kept at most of a table of texts alone: of many classes more
texts take long, and gain little."""

LEAST_TRUST = 1e-3
"""The evidence keeps a weight, however much its correction says."""


def has_second_stage(settings: Settings, block: Block, n_rows: int) -> bool:
    """Tell whether the words of a block may be corrected: all is left to be chosen, by many."""
    if block.kind is not Kind.WORDS or not settings.corrects or n_rows < FEWEST:
        return False
    return settings.is_auto("families", block) and _alphas(settings, block) is not None


def most_texts(
    statistics: Statistics, sample: Sample, names: Sequence[str], otherwise: int | None
) -> int:
    """Find how many rows the words of texts are learned from; without other columns, more."""
    most = min(MOST_TEXTS, MOST_SCORES // len(statistics.classes))
    for name in names:
        table: Any = statistics.tables[name]
        each = entries_per_text(table, sample.frame[name])  # type: ignore[arg-type]
        most = min(most, int(MOST_ENTRIES / max(each, 1.0)))
    return most if otherwise is None else min(most, otherwise)


@dataclass(frozen=True, eq=False)
class SecondStage:
    """One column of texts: how it is modelled, its rows of words, and what they say."""

    choice: Choice
    scored: Scored
    rows: WordRows
    table: WordsTable
    found: WordChoice

    @classmethod
    def of(
        cls, rows: FoldedRows, block: Block, table: Any, default: Choice, settings: Settings
    ) -> SecondStage:
        """Choose the smoothing and the ridge, and score the rows."""
        texts: Any = rows.frame[block.name]
        words = WordRows.of(table, texts, rows.y, rows.own, rows.fold % GROUPS)
        alphas = _alphas(settings, block) or ALPHAS
        found = choose(words, rows.prior, rows.weight, alphas)
        S = words.evidence(found.alpha)
        loss = found.alone * float(rows.weight.sum())
        choice = replace(default, family=EVIDENCE, prior=Laplace(found.alpha))
        return cls(choice, Scored(loss, S, words.says), words, table, found)


def correct_texts(
    rows: FoldedRows,
    stages: Mapping[str, SecondStage],
    names: Sequence[tuple[str, str]],
    terms: AnyArray,
    weights: LearnedWeights,
    scores: FloatArray,
) -> tuple[LearnedWeights, Later[FloatArray], dict[str, WordCorrection]]:
    """Correct the words of each column of texts, one after the other."""
    found: dict[str, WordCorrection] = {}
    held_out = Later.known(scores)
    alone = len(terms) == 1
    for name, stage in stages.items():
        at = names.index((name, "value"))
        if weights.terms[at] < LEAST_TRUST:
            continue
        got = correct_words(
            stage.rows,
            stage.table,
            held_out.value,
            terms[at],
            rows.weight,
            stage.found,
            float(weights.terms[at]),
            alone,
        )
        if got is None or weights.terms[at] + got.trust < LEAST_TRUST:
            continue
        found[name], held_out = got.correction, got.scores
        if alone:
            trust = weights.terms + got.trust
            weights = replace(weights, terms=trust, bias=weights.bias + got.bias)
    return weights, held_out, found


def _alphas(settings: Settings, block: Block) -> Sequence[float] | None:
    """Find the smoothings that are left to be chosen from; None where evidence takes none."""
    if settings.is_auto("smoothing", block):
        return ALPHAS
    from priory.tuning.choices import prior_of

    prior = prior_of(settings, block, EVIDENCE)
    if isinstance(prior, Laplace) and not isinstance(prior.alpha, tuple) and prior.alpha > 0:
        return [float(prior.alpha)]
    return None
