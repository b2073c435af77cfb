"""What words add to the scores of classes beyond their likelihood, and the weights of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray
from priory.families.weights import DROPPED, NO_ROW, ROW_SHARE, Weights
from priory.families.words import WordsParameters
from priory.kernels.vocabulary import Vocabulary

__all__ = ["WordCorrection", "corrected"]


@dataclass(frozen=True, eq=False)
class WordCorrection:
    """Hold a number for some pairs of words and classes, in the order of word and label."""

    vocabulary: Vocabulary
    word: CodeArray
    label: CodeArray
    value: AnyArray
    """As float32, which is as exact as they were learned."""


def corrected(
    parameters: WordsParameters, correction: WordCorrection, trust: float, where: IntArray
) -> WordsParameters:
    """Add what corrects words to their weights, so that trust · weight is the sum of both.

    Class k of the parameters is where[k] of the correction, −1 for a new one.
    """
    known = parameters.vocabulary.copy()
    n_words = len(parameters.weights.place)
    code = known.extend(correction.vocabulary)[correction.word]
    back = np.full(max(int(correction.label.max(initial=-1)), int(where.max(initial=-1))) + 2, -1)
    back[where[where >= 0]] = np.flatnonzero(where >= 0)
    label = back[correction.label]
    some = (code < n_words) & (label >= 0)
    some[some] = parameters.weights.place[code[some]] != DROPPED
    value = correction.value.astype(np.float64) / trust
    if not some.all():
        code, label, value = code[some], label[some], value[some]
    return replace(parameters, weights=_plus(parameters.weights, code, label, value))


def _plus(weights: Weights, code: CodeArray, label: IntArray, value: FloatArray) -> Weights:
    """Add numbers to the weights of pairs, each given once."""
    K, place = weights.n_classes, weights.place.copy()
    n_pairs = np.bincount(code, minlength=len(place))
    # A word that is corrected for many classes gets a row.
    grown = np.flatnonzero((place == NO_ROW) & (n_pairs * ROW_SHARE >= K))
    rows = np.vstack([weights.rows, weights.of(grown)])
    place[grown] = np.arange(len(weights.rows), len(rows), dtype=np.int32)
    with_row = np.flatnonzero(place >= 0)
    rows = rows[place[with_row]]  # in the order of the words
    place[with_row] = np.arange(len(rows), dtype=np.int32)
    row = place[code].astype(np.int64)
    whole = row >= 0
    rest = np.flatnonzero(~whole)
    if len(rest):
        row, some, added = row[whole], label[whole], value[whole]
    else:
        some, added = label, value
    rows.ravel()[row * K + some] += added
    # The others merge what they had with what is new, in the order of word and label.
    word = np.repeat(np.arange(len(place)), np.diff(weights.starts))
    stays = place[word] == NO_ROW
    new = code[rest].astype(np.int64) * K + label[rest]
    both = np.concatenate([word[stays] * K + weights.labels[stays], new])
    found, which = np.unique(both, return_inverse=True)
    numbers = np.concatenate([weights.deltas[stays], value[rest]])
    deltas = np.bincount(which, numbers, len(found)).astype(np.float64)
    of_word = np.bincount(found // K, minlength=len(place))
    starts = np.concatenate([[0], np.cumsum(of_word)]).astype(np.int64)
    labels = (found % K).astype(np.int32)
    return replace(
        weights, place=place, rows=np.ascontiguousarray(rows), starts=starts, labels=labels,
        deltas=deltas,
    )  # fmt: skip
