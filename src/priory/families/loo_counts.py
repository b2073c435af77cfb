"""Rows of counts scored under the sums of all other rows, in closed form.

    multinomial   Σ_w x_w log (n_wk − [k = y] a·x_w + a_w) / (n_k − … + Σa)
    complement   −Σ_w x_w log (N_w − n_wk − [k ≠ y] a·x_w + a_w) / Σ_w (…)
    bernoulli     (rows of k with w − [k = y] a + a_1) / (rows of k − [k = y] a + a_0 + a_1)

where a is how much of the row goes. A row is a list of words (or columns) and how often it has
each. A word of a text that is then in too few texts leaves with it: nothing is known of it any
more, and neither the text's length nor the number of words counts it. Columns stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.data.columns import SparseRows
from priory.families.loo import LooRows
from priory.families.priors import DiscretePrior, Laplace, MEstimate
from priory.families.sums import Sums
from priory.kernels.loo_words import LooSums, LooTexts
from priory.kernels.pairs import sum_by
from priory.kernels.score import add_counts_csr
from priory.statistics.tables import CountsTable

__all__ = ["CountedPairs", "Scores", "loo_presence", "loo_shares"]

TINY = np.finfo(np.float64).tiny
ROUNDING = 1e-12
"""What subtracting weights leaves of a sum of nothing, at most."""

Scores: TypeAlias = Callable[[SparseRows, LooRows], FloatArray]
"""The scores of some rows that are left out, NaN for one that the sums cannot hold."""


@dataclass(frozen=True, eq=False)
class CountedPairs:
    """Hold what a table counted of each word and class that were seen together.

    `rows` and `weight` are of the rows that have the word, `n` is Σx; `having` are the rows of each
    word that is kept, over all classes, and 0 of the others. A word leaves that is in fewer
    than `least` rows; `of_class` is the weight of all rows of a class.
    """

    word: CodeArray
    label: CodeArray
    rows: IntArray
    weight: FloatArray
    n: FloatArray
    having: IntArray
    of_class: FloatArray
    least: int = 0
    term: Literal["count", "log"] = "count"
    is_exact: bool = True
    """Whether all words of the rows were kept: if not, a row may have had words that were not."""

    @classmethod
    def of_columns(cls, table: CountsTable) -> CountedPairs:
        """Take the columns of counts, all of which are kept."""
        word, label = np.nonzero(table.rows.T)
        place = label, word
        having = np.maximum(table.rows.sum(axis=0), 1)
        codes = (word.astype(np.int32), label.astype(np.int32))
        rows, weight, n = table.rows[place], table.weight[place], table.s1[place]
        return cls(*codes, rows, weight, n, having, table.documents_weight)

    @property
    def n_words(self) -> int:
        """The number of words that are kept."""
        return int((self.having > 0).sum())

    def per_word(self, values: FloatArray) -> FloatArray:
        """Sum values of the pairs over the classes."""
        return sum_by(self.word, values, len(self.having))

    def per_class(self, values: FloatArray) -> FloatArray:
        """Sum values of the pairs over the words that are kept."""
        some = self._is_kept
        return sum_by(self.label[some], values[some], len(self.of_class))

    @cached_property
    def _is_kept(self) -> Any:
        kept = self.having > 0
        return slice(None) if kept.all() else kept[self.word]

    def loo_sums(self, n: FloatArray, term: Any, score: Any, pseudo: Any, **more: Any) -> LooSums:
        """Hand the pairs to the kernel."""
        starts = np.searchsorted(self.word, np.arange(len(self.having) + 1))
        given = (starts, self.label, self.rows, n, self.per_word(n), self.having)
        return LooSums(*given, len(self.of_class), self.least, term, score, pseudo, **more)

    def own_bias(self, absent: float, loo: LooRows) -> Callable[[LooRows], FloatArray]:
        """Take Σ_w log (rows of y − a without w + a_0) for the class and the amount of each row."""
        amounts, _ = loo.ways
        used = np.zeros((len(amounts), len(self.of_class)), dtype=np.bool_)
        used[np.searchsorted(amounts, loo.amount), loo.y] = True
        label = self.label[self._is_kept]
        n = self.weight[self._is_kept][np.argsort(label, kind="stable")]
        ends = np.cumsum(np.bincount(label, minlength=len(self.of_class)))
        starts = np.concatenate([[0], ends[:-1]])
        bias = np.zeros(used.shape)
        for i, k in np.argwhere(used).tolist():
            mine = n[starts[k] : ends[k]]
            others = self.of_class[k] + absent - amounts[i]
            never = self.n_words - len(mine)
            for lacking, times in ((others - mine, 1), (np.array([others]), never)):
                # That of a word in all rows can be 0 or less; the row has it, and it is not used.
                bias[i, k] += times * np.log(np.where(lacking > 0, lacking, 1.0)).sum()
        return lambda left: bias[np.searchsorted(amounts, left.amount), left.y]


def loo_shares(
    pairs: CountedPairs,
    sums: Sums,
    readout: Literal["multinomial", "complement"],
    prior: DiscretePrior,
    idf: bool = False,
    norm: bool = False,
) -> Scores | None:
    """Score rows by the multinomial or the complement; None without a closed form."""
    kind, m, given = _smoothing(prior, sums)
    least = m if given is None else given[sums.kept].min(initial=1.0)
    is_complement, words_leave = readout == "complement", pairs.least > 0
    if least < TINY and (least > 0.0 or is_complement or (kind == "given" and words_leave)):
        return None
    if (kind == "marginal" and (idf or norm)) or (norm and words_leave):
        return None  # then a row's leaving changes the weights of all words
    n = pairs.n
    is_fixed = kind == "same" and m > 0 and not (is_complement or idf)
    size, more = pairs.per_class(n), dict[str, Any](m=m)
    if given is not None:
        more["given"] = given
    if is_fixed:
        more["deltas"] = np.log(n + m) - np.log(m)
    if idf:
        with_word, all_rows = pairs.per_word(pairs.weight), float(pairs.of_class.sum())
        more |= {"with_word": with_word, "all_texts": all_rows}
        logged = pairs.per_class(n * np.log1p(with_word)[pairs.word])
    loo_sums = pairs.loo_sums(n, pairs.term, "fixed" if is_fixed else readout, kind, **more)
    weights = _NormalizedWeights(pairs, sums, prior, kind, more) if norm else None

    def scores(rows: SparseRows, left: LooRows) -> FloatArray:
        found = _left(loo_sums, rows, left)
        scores, own = found.scores, (np.arange(len(left)), left.y)
        if is_fixed:
            scores += found.weight[:, None] * np.log(m)
        scores[own] = found.own
        rest = size - found.gone
        if idf:
            lift = 1.0 + np.log1p(np.maximum(all_rows - left.amount, 0.0))
            rest = lift[:, None] * size - logged - found.gone
        rest[own] -= found.taken
        np.maximum(rest, 0.0, out=rest)
        if is_complement:
            rest = np.maximum(rest.sum(axis=1, keepdims=True) - rest, 0.0)
        elif m == 0.0:  # what is not known must not decide: such a class takes the shares of all
            unknown = rest <= ROUNDING * size
            scores = np.where(unknown, found.pooled[:, None], scores)
            rest = np.where(unknown, rest.sum(axis=1, keepdims=True), rest)
        a_left = {"same": m * (pairs.n_words - found.n_leaving), "given": m - found.pseudo_gone}
        rest += np.maximum(a_left.get(kind, m), TINY).reshape(-1, 1)
        log_rest = np.log(rest, out=rest)
        scores -= found.weight[:, None] * log_rest
        if weights is not None:
            scores /= weights.sums(rows, left, log_rest)
        elif is_complement:
            np.negative(scores, out=scores)
        if pairs.is_exact:
            scores[~found.is_learned] = np.nan
        return scores

    return scores


class _NormalizedWeights:
    """What the weights of a class add up to, Σ_w log P(w | not k), when a row is left out."""

    def __init__(
        self, pairs: CountedPairs, sums: Sums, prior: DiscretePrior, kind: str, more: dict[str, Any]
    ) -> None:
        others = np.maximum(sums.total - sums.grid + sums.pseudo_counts(prior), TINY)
        self.log_others = np.ascontiguousarray(np.log(others).T)
        self.loo_sums = pairs.loo_sums(pairs.n, "unit", "complement", kind, **more)

    def sums(self, rows: SparseRows, left: LooRows, log_rest: FloatArray) -> FloatArray:
        """Take the words of each row as they are without it, the others as they were."""
        found = _left(self.loo_sums, rows, left)
        found.scores[np.arange(len(left)), left.y] = found.own
        before = np.zeros_like(found.scores)
        ones = np.ones_like(rows.data)
        add_counts_csr(ones, rows.indices, rows.indptr, self.log_others, before)
        n_words = len(self.log_others)
        total = self.log_others.sum(axis=0) - before + found.scores - n_words * log_rest
        return np.where(total != 0, total, 1.0)  # of a single word all weights are 0


def loo_presence(pairs: CountedPairs, prior: DiscretePrior, loo: LooRows) -> Scores | None:
    """Score rows by the Bernoulli of words, also those a row lacks; None without a closed form."""
    if isinstance(prior, MEstimate) and prior.p == "marginal":
        return None  # then a row's leaving changes what is believed of every word
    absent, present = prior.pseudo_counts([False, True], np.zeros((1, 2)))[0]
    if min(absent, present) < TINY:
        return None
    n, label, of_class, n_words = pairs.weight, pairs.label, pairs.of_class, pairs.n_words
    log_off = np.log(of_class + absent)
    leaves = np.log(np.maximum(of_class[label] - n, 0.0) + absent) - log_off[label]
    log_all = np.log(of_class + absent + present)
    never = np.log(present) - log_off  # what a word adds that the class never had
    deltas = np.log(n + present) - log_off[label] - leaves - never[label]
    bias = n_words * log_off + pairs.per_class(leaves)
    more = {"m": present, "leaves": leaves, "deltas": deltas, "texts_of": of_class + absent}
    loo_sums = pairs.loo_sums(n, "binary", "fixed", "same", **more)
    own_bias = pairs.own_bias(absent, loo)

    def scores(rows: SparseRows, left: LooRows) -> FloatArray:
        found = _left(loo_sums, rows, left)
        scores, own = found.scores, (np.arange(len(left)), left.y)
        left_words = n_words - found.n_leaving
        scores += bias - found.gone + found.weight[:, None] * never
        scores -= found.n_leaving[:, None] * log_off + left_words[:, None] * log_all
        all_rows = np.maximum(of_class[left.y] - left.amount, 0.0) + (absent + present)
        scores[own] = found.own + own_bias(left) - left_words * np.log(all_rows)
        if pairs.is_exact:
            scores[~found.is_learned] = np.nan
        return scores

    return scores


def _smoothing(prior: DiscretePrior, sums: Sums) -> tuple[str, float, FloatArray | None]:
    """Tell how a word's pseudo-count follows from a number, or what they are and their sum."""
    if isinstance(prior, Laplace) and not isinstance(prior.alpha, tuple):
        return "same", float(prior.alpha), None
    if isinstance(prior, MEstimate) and not prior.values():
        return "marginal" if prior.p == "marginal" else "uniform", float(prior.m), None
    given = sums.pseudo_counts(prior)
    return "given", float(given.sum()), given


def _left(loo_sums: LooSums, rows: SparseRows, left: LooRows) -> LooTexts:
    indptr = np.ascontiguousarray(rows.indptr, dtype=np.int64)
    words = np.ascontiguousarray(rows.indices, dtype=np.int32)
    return loo_sums.without(indptr, words, rows.data, left.y, left.amount)
