"""The words of a text scored under the sums of all other texts, in closed form.

    multinomial   Σ_w x_w log (n_wk − [k = y] a·x_w + a_w) / (n_k − … + Σa)
    complement   −Σ_w x_w log (N_w − n_wk − [k ≠ y] a·x_w + a_w) / Σ_w (…)
    bernoulli     (texts of k with w − [k = y] a + a_1) / (texts of k − [k = y] a + a_0 + a_1)

where a is how much of the text goes. A word that is then in too few texts leaves with it: nothing
is known of it any more, and neither the text's length nor the number of words counts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray
from priory.data.columns import Texts
from priory.families.base import Adder
from priory.families.left_out import LeftOut
from priory.families.priors import DiscretePrior, Laplace, MEstimate
from priory.kernels.words import count_matrix
from priory.kernels.words_without import LeftSums, LeftTexts
from priory.statistics.tables import WordsTable

if TYPE_CHECKING:
    from priory.families.words import Words

__all__ = ["closed_form"]

TINY = np.finfo(np.float64).tiny

Finish = Callable[[LeftTexts, LeftOut], FloatArray]
"""From what the kernel summed over the words of each text to its scores."""


def closed_form(
    family: Words,
    column: Texts,
    left_out: LeftOut,
    table: WordsTable,
    prior: DiscretePrior,
    kept: BoolArray,
) -> Adder | None:
    """Return a function that adds the scores of a stretch of texts, or None without a closed form.

    `kept` are the words that the whole table reads out.
    """
    texts = np.where(kept, table.per_word(table.pairs.rows), 0.0).astype(np.int64)
    form = _bernoulli if family.readout == "bernoulli" else _counted
    found = form(family, table, prior, texts, left_out)
    if found is None:
        return None
    sums, finish = found

    def add(rows: slice, out: FloatArray) -> None:
        some, left = column.take(rows), left_out.take(rows)
        matrix = count_matrix(*some.buffers, table.vocabulary, some.splitter)
        texts_without = sums.without(*matrix, left.y, left.amount)
        scores = finish(texts_without, left)
        if not table.is_approximate:  # else it may have had words that were dropped since
            scores[~texts_without.is_learned] = np.nan
        scores[some.missing] = 0.0
        out += scores

    return add


def _counted(
    family: Words, table: WordsTable, prior: DiscretePrior, texts: AnyArray, _: LeftOut
) -> tuple[LeftSums, Finish] | None:
    """Return the sums and the scores of the multinomial and the complement read-out."""
    smoothing = _smoothing(prior)
    if smoothing is None or family.norm or (family.idf and smoothing[0] == "marginal"):
        return None
    pseudo, m = smoothing
    pairs, options = table.pairs, dict[str, Any]()
    n = pairs.log_tf if family.term == "log" else pairs.count
    read_out = (texts > 0)[pairs.word]
    word, label = pairs.word[read_out], pairs.label[read_out]
    size = np.bincount(label, weights=n[read_out], minlength=table.n_classes)
    n_words = int((texts > 0).sum())
    is_complement = family.readout == "complement"
    is_fixed = not (is_complement or family.idf) and pseudo == "same"
    if is_fixed:
        options = {"deltas": np.log(n + m) - np.log(m)}
    if family.idf:
        with_word, all_texts = table.per_word(table.weight), float(table.documents_weight.sum())
        options = {"with_word": with_word, "all_texts": all_texts}
        logs = np.log1p(with_word)[word]
        logged = np.bincount(label, weights=n[read_out] * logs, minlength=table.n_classes)
    sums = _left_sums(
        family,
        table,
        texts,
        n,
        family.term,
        "fixed" if is_fixed else family.readout,
        pseudo,
        m,
        options,
    )

    def finish(found: LeftTexts, left: LeftOut) -> FloatArray:
        scores, own = found.scores, (np.arange(len(left)), left.y)
        if is_fixed:
            scores += found.weight[:, None] * np.log(m)
        scores[own] = found.own
        rest = size - found.gone
        if family.idf:
            lift = 1.0 + np.log1p(np.maximum(all_texts - left.amount, 0.0))
            rest = lift[:, None] * size - logged - found.gone
        rest[own] -= found.taken
        np.maximum(rest, 0.0, out=rest)
        if is_complement:
            rest = np.maximum(rest.sum(axis=1, keepdims=True) - rest, 0.0)
        pseudo_total = m * (n_words - found.n_leaving) if pseudo == "same" else m
        rest += np.maximum(pseudo_total, TINY).reshape(-1, 1)
        scores -= found.weight[:, None] * np.log(rest, out=rest)
        return -scores if is_complement else scores

    return sums, finish


def _bernoulli(
    family: Words, table: WordsTable, prior: DiscretePrior, texts: AnyArray, left_out: LeftOut
) -> tuple[LeftSums, Finish] | None:
    """Return the sums and the scores of the Bernoulli read-out; absent words count for it too."""
    if isinstance(prior, MEstimate) and prior.p == "marginal":
        return None  # then a text's leaving changes what is believed of every word
    absent, present = prior.pseudo_counts([False, True], np.zeros((1, 2)))[0]
    if min(absent, present) < TINY:
        return None
    pairs, of_class = table.pairs, table.documents_weight
    n, n_words = table.weight, int((texts > 0).sum())
    log_off = np.log(of_class + absent)
    leaves = np.log(np.maximum(of_class[pairs.label] - n, 0.0) + absent) - log_off[pairs.label]
    log_all = np.log(of_class + absent + present)
    never = np.log(present) - log_off  # what a word adds that the class never had
    deltas = np.log(n + present) - log_off[pairs.label] - leaves - never[pairs.label]
    read_out = (texts > 0)[pairs.word]
    corrections = np.bincount(pairs.label[read_out], leaves[read_out], table.n_classes)
    bias = n_words * log_off + corrections
    options = {"leaves": leaves, "deltas": deltas, "texts_of": of_class + absent}
    sums = _left_sums(family, table, texts, n, "binary", "fixed", "same", float(present), options)
    own_bias = _own_bias(table, read_out, n_words, of_class + absent, left_out)

    def finish(found: LeftTexts, left: LeftOut) -> FloatArray:
        scores, own = found.scores, (np.arange(len(left)), left.y)
        left_words = n_words - found.n_leaving
        scores += bias - found.gone + found.weight[:, None] * never
        scores -= found.n_leaving[:, None] * log_off + left_words[:, None] * log_all
        all_texts = np.maximum(of_class[left.y] - left.amount, 0.0) + (absent + present)
        scores[own] = found.own + own_bias(left) - left_words * np.log(all_texts)
        return scores

    return sums, finish


def _own_bias(
    table: WordsTable, read_out: BoolArray, n_words: int, texts_of: FloatArray, left_out: LeftOut
) -> Callable[[LeftOut], FloatArray]:
    """Return Σ_w log (texts of y − a without w + a_0) for the class and the amount of each row."""
    amounts = np.ones(1) if left_out.weight is None else np.unique(left_out.amount)
    used = np.zeros((len(amounts), table.n_classes), dtype=np.bool_)
    used[np.searchsorted(amounts, left_out.amount), left_out.y] = True
    order = np.argsort(table.pairs.label[read_out], kind="stable")
    n = table.weight[read_out][order]
    ends = np.cumsum(np.bincount(table.pairs.label[read_out], minlength=table.n_classes))
    starts = np.concatenate([[0], ends[:-1]])
    bias = np.zeros(used.shape)
    for i, k in np.argwhere(used).tolist():
        mine = n[starts[k] : ends[k]]
        others = texts_of[k] - amounts[i]
        for lacking, times in ((others - mine, 1), (np.array([others]), n_words - len(mine))):
            # That of a word in all texts can be 0 or less; the text has it, and it is not used.
            bias[i, k] += times * np.log(np.where(lacking > 0, lacking, 1.0)).sum()
    return lambda left: bias[np.searchsorted(amounts, left.amount), left.y]


def _smoothing(prior: DiscretePrior) -> tuple[Literal["same", "uniform", "marginal"], float] | None:
    """Return how a word's pseudo-count follows from a number, and the number; None if it does not.

    A pseudo-count of 0 leaves some words impossible: that is read out anew.
    """
    if isinstance(prior, Laplace) and not isinstance(prior.alpha, tuple):
        return ("same", float(prior.alpha)) if prior.alpha > TINY else None
    if isinstance(prior, MEstimate) and not prior.values():
        kind: Literal["uniform", "marginal"] = "marginal" if prior.p == "marginal" else "uniform"
        return (kind, float(prior.m)) if prior.m > TINY else None
    return None


def _left_sums(
    family: Words,
    table: WordsTable,
    texts: AnyArray,
    n: FloatArray,
    term: Any,
    score: Any,
    pseudo: Any,
    m: float,
    options: dict[str, Any],
) -> LeftSums:
    pairs = table.pairs
    starts = np.searchsorted(pairs.word, np.arange(table.n_words + 1))
    given = (starts, pairs.label, pairs.rows, n, table.per_word(n), texts, table.n_classes)
    return LeftSums(*given, family.min_documents, term, score, pseudo, m, **options)
