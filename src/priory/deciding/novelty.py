"""Novelty: how unusual a row is among those that were learned, as one p-value.

    p(x) = (1 + rows learned that are no likelier than x) / (n + 1)

Likely is what has a high density under the plain families (normals, shares of labels, words),
whatever the model itself is made of. Each learned row is judged by sums without it, as a new row
is, so that p ≤ 0.05 holds of one ordinary row in twenty. A missing value counts as a typical one, a
label never seen as a single imagined one, and a text as its words on average.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.base.typing import BoolArray, CodeArray, FloatArray
from priory.data.columns import Column, Frame, Numbers
from priory.families.gaussian import Gaussian
from priory.families.priors import NormalInverseGamma
from priory.families.student_t import StudentT
from priory.families.words import Words
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import WordsTable
from priory.tuning.choices import choices_for
from priory.tuning.leave_one_out import class_codes, term_scores_loo
from priory.tuning.settings import Settings

__all__ = ["Densities"]

MOST = 5_000
"""So many rows of the sample are compared with: p is then right to .003 at .05."""


@dataclass(frozen=True, eq=False)
class Densities:
    """The densities of rows learned, each by sums without it, in order."""

    statistics: Statistics
    choices: Mapping[str, Choice]
    model: Model
    typical: Mapping[str, float]
    """What each column says on average of a row's own class, which a gap says too."""
    known: FloatArray
    """log p of the rows learned, each as often as it came, in order."""

    @classmethod
    def of(cls, statistics: Statistics, sample: Sample) -> Densities:
        """Compute the densities of a sample of the rows that were learned."""
        sample = sample.smaller(MOST)
        choices = plain_choices(statistics)
        y = class_codes(sample.y, statistics)
        own = sample.weight / sample.rows
        weight = None if (own == 1.0).all() else own
        log_p = np.log(np.maximum(_left(statistics, y, own), 1e-300))
        typical = {}
        for name, choice in choices.items():
            block, table, column = (
                statistics.schema[name],
                statistics.tables[name],
                sample.frame[name],
            )
            scores = term_scores_loo(block, choice.family, choice.prior, table, column, y, weight)
            scores = _per_word(scores, column, table)
            told = _told(column)
            mine = scores[np.arange(len(y)), y][told]
            mine = mine[np.isfinite(mine)]
            typical[name] = float(mine.mean()) if len(mine) else 0.0
            log_p += np.where(told[:, None], scores - typical[name], 0.0)
        known = np.sort(np.repeat(_log_sum(log_p), sample.rows))
        return cls(statistics, choices, Model.read(statistics, choices), typical, known)

    def log_density(self, frame: Frame) -> FloatArray:
        """Compute log p of each row, a gap as a typical value."""
        log_p = np.tile(self.model.log_prior, (len(frame), 1))
        for term in self.model.terms:
            name = term.block.name
            scores = np.zeros_like(log_p)
            term.add_log_likelihood(frame, scores)
            scores = _per_word(scores, frame[name], self.statistics.tables[name])
            told = _told(frame[name])
            log_p += np.where(told[:, None], scores - self.typical[name], 0.0)
        return _log_sum(log_p)

    def p_values(self, frame: Frame) -> FloatArray:
        """Compute how large a share of the rows learned is no likelier than each row."""
        at = self.log_density(frame)
        slack = 1e-9 * (1.0 + np.abs(np.where(np.isfinite(at), at, 0.0)))
        no_likelier = np.searchsorted(self.known, at + slack, side="right")
        return np.asarray((1.0 + no_likelier) / (len(self.known) + 1.0))


def plain_choices(statistics: Statistics) -> dict[str, Choice]:
    """Choose the plain family of each column; a class of few numbers has wide tails."""
    found = choices_for(Settings.textbook(unseen="smooth"), statistics)
    wide = Choice(StudentT(), NormalInverseGamma())
    return {
        name: replace(choice, missing="skip") if not isinstance(choice.family, Gaussian) else wide
        for name, choice in found.items()
        if choice.family.is_likelihood
    }


def _left(statistics: Statistics, y: CodeArray, own: FloatArray) -> FloatArray:
    """Compute the share of each class without each row, rows × classes."""
    weight = np.tile(statistics.weight, (len(y), 1))
    weight[np.arange(len(y)), y] -= own
    return weight / weight.sum(axis=1, keepdims=True)


def _told(column: Column) -> BoolArray:
    """Tell which rows have a value at all."""
    if isinstance(column, Numbers):
        return np.asarray(~np.isnan(column.values).all(axis=1))
    return ~np.asarray(column.missing, dtype=np.bool_)


def _per_word(scores: FloatArray, column: Any, table: object) -> FloatArray:
    """Divide what a text says by its words: a long one is not stranger than a short one."""
    if not isinstance(table, WordsTable):
        return scores
    words = Words().rows(column, table).row_sums(np.asarray)
    return scores / np.maximum(words, 1.0)[:, None]


def _log_sum(log_p: FloatArray) -> FloatArray:
    top = log_p.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(log_p - safe[:, None]).sum(axis=1)))
