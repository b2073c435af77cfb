"""Multinomial, complement, Bernoulli and evidence as weights of words, derived from n_wk.

    multinomial   log P(w | k) = log (n_wk + a_w) / (n_k + Σa)
    complement   −log P(w | not k) = −log (N_w − n_wk + a_w) / Σ_w (N_w − n_wk + a_w)
    bernoulli     log p_wk / (1 − p_wk), p_wk = (n_wk + a_1) / (rows of k + a_0 + a_1)
    evidence      log(1 + n_wk / (a_w π_k)), π_k = n_k / Σ n

A class that never had a word differs from another such class only in its size. So the weight of a
word and a class that were never seen together is a sum of two, and pairs that were seen are enough:
a million words of a thousand classes take the memory of those. Where the prior treats words
differently, or every pair has a sum anyway, the weights are a table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from priory.base.errors import SettingError
from priory.base.parallel import in_parallel, stretches, thread_count
from priory.base.typing import BoolArray, CodeArray, FloatArray
from priory.families.base import log_shares
from priory.families.sums import PairSums, Sums
from priory.families.weights import Weights
from priory.kernels.pairs import log_plus
from priory.kernels.score import log_shares as fast_log_shares

__all__ = [
    "bernoulli",
    "complement",
    "evidence",
    "log_presence",
    "multinomial",
    "presence_weights",
]

TINY = np.finfo(np.float64).tiny


def multinomial(sums: Sums, pseudo: FloatArray, idf: FloatArray | None = None) -> Weights:
    """Weigh words by log P(w | k), times idf.

    A class that has no counts, with no prior to speak for it, takes the shares over all classes:
    what is not known must not decide.
    """
    positive = pseudo[sums.kept] > 0
    if isinstance(sums, PairSums) and (positive.all() or not positive.any()):
        return _multinomial_of_pairs(sums, pseudo, idf)
    table = _log_shares(sums.grid, pseudo)
    return Weights.of_table(table if idf is None else table * idf[:, None], sums.kept)


def complement(
    sums: Sums, pseudo: FloatArray, idf: FloatArray | None = None, norm: bool = False
) -> Weights:
    """Weigh words by −log P(w | not k), times idf; with `norm` divided by the sum of the class.

    A word of one class alone, without a prior, is far from the others, not infinitely far.
    """
    if isinstance(sums, PairSums) and not norm:
        of_class = np.log(np.maximum(sums.total.sum() - sums.size + pseudo.sum(), TINY))
        constant = -np.log(np.maximum(sums.total + pseudo, TINY))
        others = np.maximum(sums.total[sums.word] - sums.n + pseudo[sums.word], TINY)
        deltas = -np.log(others) - constant[sums.word]
        return Weights.of_pairs(sums, deltas, constant, of_class, idf)
    smoothed = np.maximum(_of_others(sums.grid) + pseudo, TINY)
    totals = np.maximum(smoothed.sum(axis=1, keepdims=True), TINY)  # there may be no words
    table = (np.log(totals) - np.log(smoothed)).T
    if norm:
        total = table[sums.kept].sum(axis=0)
        table = table / np.where(total != 0, total, 1.0)  # of a single word all weights are 0
    return Weights.of_table(table if idf is None else table * idf[:, None], sums.kept)


def evidence(sums: Sums, pseudo: FloatArray, idf: FloatArray | None = None) -> Weights:
    """Weigh words by log(1 + n_wk / (a_w π_k)), times idf: 0 where they were never seen together.

    It is log P(w | k) less that of a word never seen with k, where the share of each word in each
    class, not its count, is smoothed by a_w. So a class that is rare is not smoothed away.
    """
    if (pseudo[sums.kept] <= 0).any():
        raise SettingError("The evidence readout needs a smoothing above 0 for every word.")
    if isinstance(sums, PairSums):
        share = sums.size / max(float(sums.size.sum()), TINY)
        deltas = np.log1p(sums.n / np.maximum(pseudo[sums.word] * share[sums.label], TINY))
        return Weights.of_pairs(sums, deltas, np.zeros(len(pseudo)), np.zeros(sums.n_classes), idf)
    share = np.maximum(sums.size / max(float(sums.size.sum()), TINY), TINY)
    table = np.log1p(sums.grid / np.where(pseudo > 0, pseudo, 1.0) / share[:, None]).T
    return Weights.of_table(table if idf is None else table * idf[:, None], sums.kept)


def bernoulli(sums: PairSums, pseudo: FloatArray, rows: FloatArray) -> Weights:
    """Weigh words that are there by log p_wk / (1 − p_wk); the bias is Σ_w log(1 − p_wk).

    n counts the rows that have a word, `rows` all those of a class; `pseudo` is words × (a_0, a_1).
    """
    absent, present = pseudo[sums.kept].T
    if not len(absent):
        return Weights.of_table(np.zeros((len(sums.kept), len(rows))), sums.kept)
    if not ((absent == absent[0]).all() and (present == present[0]).all()):
        on = sums.grid
        counts = np.stack([np.maximum(rows[:, None] - on, 0.0), on], axis=2)
        return presence_weights(*log_presence(counts, pseudo), sums.kept)
    one_absent, one_present = absent[0], present[0]
    unknown = rows + one_absent + one_present <= 0
    sums = sums.pooled(unknown)
    rows = np.where(unknown, rows.sum(), rows)
    w, k = sums.word, sums.label
    off = np.maximum(rows[k] - sums.n + one_absent, 0.0)
    log_off = np.log(np.where(off > 0, off, 1.0))
    of_class = np.log(np.where(rows + one_absent > 0, rows + one_absent, 1.0))
    with np.errstate(divide="ignore"):
        all_absent = of_class - np.log(rows + one_absent + one_present)
    bias = len(absent) * all_absent + _class_sums(log_off - of_class[k], k, len(rows))
    is_zero = bool(one_present == 0)
    constant = np.full(len(sums.kept), 0.0 if is_zero else np.log(one_present))
    deltas = np.log(sums.n + one_present) - log_off - constant[w] + of_class[k]
    weights = Weights.of_pairs(sums, deltas, constant, -of_class, is_zero=is_zero, bias=bias)
    return replace(weights, certain=_marks(sums, off <= 0))


def log_presence(counts: FloatArray, pseudo: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take log(1 − p) and log p, words × classes.

    The counts are absences and presences, classes × words × 2; the pseudo-counts are words × 2.
    """
    log_p = log_shares(counts.transpose(2, 1, 0), pseudo.T[:, :, None])
    return log_p[0], log_p[1]


def presence_weights(
    log_off: FloatArray, log_on: FloatArray, kept: BoolArray | None = None
) -> Weights:
    """Weigh words by log p/(1 − p), start from "all absent": Σ log(1 − p).

    Where absence is impossible (p = 1 without a prior) −∞ cannot be taken back: those places are
    marked as `certain` and counted instead.
    """
    kept = np.ones(len(log_off), dtype=np.bool_) if kept is None else kept
    is_certain = np.isneginf(log_off)
    finite_off = np.where(is_certain, 0.0, log_off)
    weights = Weights.of_table(log_on - finite_off, kept, finite_off[kept].sum(axis=0))
    if not is_certain[kept].any():
        return weights
    return replace(weights, certain=Weights.of_table(is_certain.astype(np.float64), kept))


def _multinomial_of_pairs(sums: PairSums, pseudo: FloatArray, idf: FloatArray | None) -> Weights:
    sums = sums.pooled(sums.size + pseudo.sum() <= 0)
    of_class = -np.log(sums.size + pseudo.sum()) if sums.kept.any() else np.zeros(sums.n_classes)
    same = bool(len(pseudo) and (pseudo == pseudo[0]).all())
    if same:
        constant = np.full(len(pseudo), np.log(pseudo[0]) if pseudo[0] > 0 else 0.0)
    else:
        constant = np.log(np.where(pseudo > 0, pseudo, 1.0))

    def deltas(some: slice) -> FloatArray:
        if same:
            return log_plus(sums.n[some], pseudo[0]) - constant[0]
        word = sums.word[some]
        return np.log(sums.n[some] + pseudo[word]) - constant[word]

    is_zero = not (pseudo[sums.kept] > 0).all()
    return Weights.of_pairs(sums, deltas, constant, of_class, idf, is_zero)


def _log_shares(counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    """Take log (n_wk + a_w) / (n_k + Σa), words × classes, of counts that are classes × words."""
    totals = counts.sum(axis=1) + pseudo.sum()
    if not (totals > 0).all():
        return log_shares(counts.T, pseudo[:, None])
    out = np.empty(counts.shape[::-1])
    parts = stretches(len(out), len(counts), thread_count())
    given = (np.ascontiguousarray(counts), np.ascontiguousarray(pseudo), totals)
    tasks = [partial(fast_log_shares, *given, part.start, part.stop, out) for part in parts]
    in_parallel(tasks, len(parts))
    return out


def _of_others(n: FloatArray) -> FloatArray:
    """Sum over all classes but each, with no difference that a heavy class would drown.

    >>> _of_others(np.array([[1e100], [1.0], [2.0]])).tolist()
    [[3.0], [1e+100], [1e+100]]
    """
    before, after = np.zeros_like(n), np.zeros_like(n)
    np.cumsum(n[:-1], axis=0, out=before[1:])
    np.cumsum(n[:0:-1], axis=0, out=after[-2::-1])
    return before + after


def _class_sums(values: FloatArray, label: CodeArray, n_classes: int) -> FloatArray:
    """Sum the values of each class, in pairs of pairs: very many are added."""
    order = np.argsort(label, kind="stable")
    n = np.bincount(label, minlength=n_classes)
    sums = np.zeros(n_classes)
    if len(order):
        starts = np.cumsum(n) - n
        sums[n > 0] = np.add.reduceat(values[order], starts[n > 0])
    return sums


def _marks(sums: PairSums, marked: BoolArray) -> Weights | None:
    """Weigh the pairs that are marked by 1, all others by 0; None if there are none."""
    if not marked.any():
        return None
    kept = np.zeros(len(sums.kept), dtype=np.bool_)
    kept[sums.word[marked]] = True
    word, label, n = sums.word[marked], sums.label[marked], sums.n[marked]
    some = replace(sums, n=n, word=word, label=label, is_kept=kept)
    nothing = np.zeros(len(kept))
    return Weights.of_pairs(some, np.ones(len(some.n)), nothing, np.zeros(sums.n_classes))
