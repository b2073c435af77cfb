"""The second stage of texts: naive Bayes is the prior, and each word is corrected by the rows.

    log P(k | text) ∝ offset_k + Σ_w x_w V_wk

The offset is the score of each text without its fold, t · S_k + b_k in a table of texts alone;
there t and b are learned on beside V, by steps of AdaGrad text by text (Duchi, Hazan & Singer
2011). V is held to 0 by a ridge λ/2 Σ V², and how strongly is chosen on a group of folds that is
left out; not at all is one of the choices. What is learned is a number for each word and class, so
a word still has one contribution.

Of many classes a text looks at those that its offset finds likeliest, and all others count as one:
so time grows with the texts, not with words × classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from priory.base.later import Later
from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray
from priory.families.word_correction import WordCorrection
from priory.kernels.adagrad import learn_words, pair_slots
from priory.statistics.tables import WordsTable
from priory.tuning.additive import row_losses, softmax
from priory.tuning.word_rows import GROUPS, WordRows

__all__ = ["MOST_ENTRIES", "MOST_TEXTS", "CorrectedWords", "WordChoice", "choose", "correct_words"]

MOST_TEXTS = 20_000
"""So many texts are learned from: more cost time, and gain half a point at most."""

MOST_ENTRIES = 4_000_000
"""So many different words of texts, over all texts, are learned from."""

JUDGED = 5_000
"""So many texts choose the smoothing and the ridge."""

MOST_JUDGED, FEWEST_JUDGED = 100_000, 500
"""So many scores say how well a smoothing does alone, of so many texts at least."""

JUDGED_ENTRIES = 500_000
"""So many words of texts choose the smoothing and the ridge, unless those are few texts."""

ALPHAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RIDGES = (3.0, 1.0, 0.3, 0.1, 0.03)
"""What is tried, from the strongest on."""

EPOCHS = 3
RATE, BIAS_RATE, TRUST_RATE = 0.5, 0.1, 0.3
FEW_CLASSES = 32
ACTIVE = 16
"""Of more classes than few, each text looks at so many."""

LEAST_DF = 2
"""A word of fewer texts says nothing of others."""

FEWEST = 40
"""Fewer texts correct nothing."""

CERTAINTY = 1.0
"""So many standard errors must texts gain that were not learned."""


@dataclass(frozen=True, eq=False)
class WordChoice:
    """The smoothing and the ridge that predict a left-out group best."""

    alpha: float
    ridge: float
    loss: float
    """The log-loss of a text of that group."""
    alone: float
    """The log-loss of a text by the evidence alone."""


@dataclass(frozen=True, eq=False)
class CorrectedWords:
    """What words are corrected by, and the scores of texts that it was learned without.

    Of many texts most of those are scored when that is asked for: it takes longer than all else.
    """

    correction: WordCorrection
    scores: Later[FloatArray]
    trust: float
    """What is added to the weight of the evidence."""
    bias: FloatArray


def choose(
    rows: WordRows,
    prior: FloatArray,
    weight: FloatArray,
    alphas: Sequence[float] = ALPHAS,
    corrects: bool = True,
) -> WordChoice:
    """Choose the smoothing by the evidence alone, then more of it while the corrected gain.

    `prior` is log P(k) of each row, or the log-odds of two classes.
    """
    few = rows.first(max(FEWEST_JUDGED, min(JUDGED, MOST_JUDGED // rows.n_classes)))
    n_alone = len(few)
    known = prior[:n_alone], few.y, _relative(weight[:n_alone])
    tried: dict[float, tuple[float, float, FloatArray]] = {}

    def alone(alpha: float) -> float:
        if alpha not in tried:
            tried[alpha] = calibrated(few.evidence(alpha), *known)
        return tried[alpha][0]

    first = _least(alone, alphas)
    best = WordChoice(first, np.inf, alone(first), alone(first))
    if not corrects:
        return best
    enough = int(np.searchsorted(rows.indptr, JUDGED_ENTRIES))
    some = rows.first(min(JUDGED, max(enough, JUDGED // 2)))
    n = len(some)
    y, own = some.y, _relative(weight[:n])
    learn, held = np.flatnonzero(some.group != 0), np.flatnonzero(some.group == 0)
    if not len(held) or not len(learn):
        return best
    best = WordChoice(first, np.inf, np.inf, np.inf)
    for alpha in [alpha for alpha in alphas if alpha >= first]:
        alone(alpha)
        _, t, b = tried[alpha]
        S = some.evidence(alpha, without=0)
        offset = prior[:n] + b + t * S
        problem = WordProblem(some, offset, S, y, own)
        near = [r for r in RIDGES if not np.isfinite(best.ridge) or 0.3 < r / best.ridge < 4.0]

        def loss(found: _Learned | None, problem: Any = problem) -> float:
            scores = problem.offset[held] if found is None else problem.scores(found, held)
            return float(own[held] @ row_losses(scores, y[held]) / own[held].sum())

        now = WordChoice(alpha, np.inf, loss(None), alone(alpha))
        for two in (near[i : i + 2] for i in range(0, len(near), 2)):
            tasks = [partial(problem.fit, learn, ridge) for ridge in two]
            losses = [loss(found) for found in in_parallel(tasks, thread_count())]
            for ridge, found in zip(two, losses, strict=True):
                if found < now.loss:
                    now = WordChoice(alpha, ridge, found, alone(alpha))
            if losses[-1] > 1.01 * now.loss:
                break
        if now.loss > 0.998 * best.loss:
            break
        best = now
    return best


def correct_words(
    rows: WordRows,
    table: WordsTable,
    offset: FloatArray,
    evidence: AnyArray,
    weight: FloatArray,
    choice: WordChoice,
    trust: float,
    alone: bool,
) -> CorrectedWords | None:
    """Learn what words add to the offset of each text; None where texts gain nothing.

    `trust` is the weight that the evidence has in the offset. With `alone`, that and the biases are
    learned on.
    """
    if not np.isfinite(choice.ridge):
        return None
    problem = WordProblem(rows, offset, evidence, rows.y, _relative(weight), alone)

    def without(g: int) -> tuple[IntArray, FloatArray]:
        """Score the texts of a group by what is learned from all others."""
        others = problem.with_evidence(rows.evidence(choice.alpha, without=g), trust)
        found = others.fit(np.flatnonzero(rows.group != g), choice.ridge)
        mine = np.flatnonzero(rows.group == g)
        return mine, others.scores(found, mine)

    judged = GROUPS if len(rows) <= JUDGED else 1  # of many texts one group is enough
    whole: Any = partial(problem.fit, np.arange(len(rows)), choice.ridge)
    tasks = [whole, *(partial(without, g) for g in range(judged))]
    found, *told = in_parallel(tasks, thread_count())
    gained = [
        weight[mine] * (row_losses(offset[mine], rows.y[mine]) - row_losses(said, rows.y[mine]))
        for mine, said in told
    ]
    each = np.concatenate(gained)
    if each.sum() <= CERTAINTY * np.sqrt(np.square(each).sum()):
        return None

    def held_out() -> FloatArray:
        rest = [partial(without, g) for g in range(judged, GROUPS)]
        scores = np.array(offset, dtype=np.float64)
        for mine, said in (*told, *in_parallel(rest, thread_count())):
            scores[mine] = said
        return scores

    correction = problem.correction(found, table)
    return CorrectedWords(correction, Later(held_out), found.trust, found.bias)


def calibrated(
    S: AnyArray, prior: FloatArray, y: CodeArray, weight: FloatArray, steps: int = 8
) -> tuple[float, float, FloatArray]:
    """Fit softmax(prior + b + t · S) by steps of Newton's method, each number for itself.

    Given are the log-loss of a row, t and b.
    """
    S = np.asarray(S, dtype=np.float64)
    K, t = S.shape[1], 1.5
    b = np.zeros(K)
    Y = (y == 1)[:, None].astype(np.float64) if K == 1 else (y[:, None] == np.arange(K))
    total = float(weight.sum())
    for _ in range(steps):
        P = softmax(prior + b + t * S)
        wrong = weight[:, None] * (Y - P)
        slope = float((wrong * S).sum())
        if K == 1:
            bend = float((weight[:, None] * P * (1.0 - P) * S * S).sum())
        else:
            mean = (P * S).sum(axis=1)
            bend = float(weight @ ((P * S * S).sum(axis=1) - mean * mean))
        t += float(np.clip(0.8 * slope / (bend + 1e-9), -0.5 * t, t))
        curve = (weight[:, None] * P * (1.0 - P)).sum(axis=0)
        b += 0.5 * (wrong.sum(axis=0) - 0.01 * b) / (curve + 1.0)
    loss = float(weight @ row_losses(prior + b + t * S, y)) / total
    return loss, t, b


@dataclass(frozen=True, eq=False)
class _Learned:
    """Numbers of words and classes, and what comes beside them."""

    v: AnyArray
    trust: float
    bias: FloatArray


class WordProblem:
    """Texts, their offsets, and the words that may correct them."""

    def __init__(
        self,
        rows: WordRows,
        offset: FloatArray,
        evidence: AnyArray,
        y: CodeArray,
        weight: FloatArray,
        alone: bool = True,
    ) -> None:
        self.rows, self.offset, self.evidence, self.alone = rows, offset, evidence, alone
        self.y, self.weight = y, weight.astype(np.float32)
        known = rows.words[rows.words >= 0]
        df = np.bincount(known, minlength=len(rows.codes))
        order = np.argsort(-df, kind="stable")  # frequent words side by side, in the cache
        self.kept = order[: int((df >= LEAST_DF).sum())]
        place = np.full(len(rows.codes) + 1, -1, dtype=np.int32)  # the last is of no word
        place[self.kept] = np.arange(len(self.kept), dtype=np.int32)
        self.words, self.df = place[rows.words], df[self.kept]
        self.is_sparse = offset.shape[1] > FEW_CLASSES

    def with_evidence(self, evidence: AnyArray, trust: float) -> WordProblem:
        """Make the same problem with other evidence, whose weight in the offset is given.

        The classes that a text looks at are found anew: which they are would tell of the texts that
        are left out.
        """
        found = object.__new__(WordProblem)
        made = ("looked_at", "_sorted", "keys")
        found.__dict__ |= {k: v for k, v in self.__dict__.items() if k not in made}
        found.offset = evidence - self.evidence
        found.offset *= np.float32(trust)
        found.offset += self.offset
        found.evidence = evidence
        return found

    @cached_property
    def looked_at(self) -> tuple[Any, ...]:
        """What each text looks at: (own, offset, evidence, rest, active, slots)."""
        n, S = self.offset.shape
        if not self.is_sparse:
            top = self.offset.max(axis=1, keepdims=True) if S > 1 else np.zeros((n, 1))
            rest = _float32(np.tile([-np.inf, 0.0], (n, 1)))
            return self.y, _float32(self.offset - top), _float32(self.evidence), rest, None, None
        active = np.empty((n, ACTIVE), dtype=np.int32)
        for some in self._stretches():
            given, y = self.offset[some], self.y[some]
            likeliest = np.argpartition(given, S - ACTIVE, axis=1)[:, S - ACTIVE :]
            missed = ~(likeliest == y[:, None]).any(axis=1)
            least = np.take_along_axis(given, likeliest, axis=1).argmin(axis=1)
            likeliest[missed, least[missed]] = y[missed]
            active[some] = np.sort(likeliest, axis=1)
        own = (active == self.y[:, None]).argmax(axis=1).astype(np.int32)
        slots = np.empty((len(self.words), ACTIVE), dtype=np.int32)
        self.keys = pair_slots(self.rows.indptr, self.words, active, slots)
        return own, *self._at(active), active, slots

    def _at(self, active: CodeArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Give the offsets and the evidence of active classes, and what all others add up to.

        Of those that is log Σ e^offset, and their mean evidence.
        """
        scores, evidence = (np.empty(active.shape, dtype=np.float32) for _ in range(2))
        rest = np.empty((len(active), 2), dtype=np.float32)
        for some in self._stretches():
            given, S = self.offset[some].astype(np.float32), self.evidence[some]
            given -= given.max(axis=1, keepdims=True)
            scores[some] = np.take_along_axis(given, active[some], axis=1)
            evidence[some] = np.take_along_axis(S, active[some], axis=1)
            others = np.exp(given, out=given)
            np.put_along_axis(others, active[some], np.float32(0.0), axis=1)
            total = np.maximum(others.sum(axis=1), np.finfo(np.float32).tiny)
            rest[some] = np.stack([np.log(total), (others * S).sum(axis=1) / total], axis=1)
        return scores, evidence, rest

    def _stretches(self) -> list[slice]:
        """Part the texts, so that not too many scores are worked on at once."""
        n, S = self.offset.shape
        height = max(1, 1_000_000 // S)
        return [slice(first, min(first + height, n)) for first in range(0, n, height)]

    def fit(self, learned: IntArray, ridge: float) -> _Learned:
        """Learn some of the texts."""
        own, offset, evidence, rest, active, slots = self.looked_at
        S = self.offset.shape[1]
        if self.is_sparse:
            numbers = np.zeros((len(self.keys), 2, 1), dtype=np.float32)
        else:
            wide = 1 if S == 1 else -(-S // 8) * 8
            numbers = np.zeros((len(self.kept), 2, wide), dtype=np.float32)
        bias, trust = np.zeros((2, S)), np.zeros(2)
        texts = np.maximum(self.df * (len(learned) / max(len(self.rows), 1)), 1.0)
        two = 2.0 if S == 1 else 1.0  # the log-odds of two move as far as both of them would
        decay = _float32(ridge / two / texts)
        given = (self.rows.indptr, self.words, self.rows.x, own, self.weight, offset, evidence)
        rates = (two * BIAS_RATE, TRUST_RATE) if self.alone else (0.0, 0.0)
        for epoch in range(EPOCHS):
            order = learned[np.random.default_rng(epoch).permutation(len(learned))]
            eta = two * RATE / (1.0 + 0.5 * epoch)
            state: Any = (numbers, decay, bias, trust, eta, *rates)
            learn_words(order.astype(np.int32), *given, rest, active, slots, *state)
        v = numbers[:, 0, :S].reshape(-1) if not self.is_sparse else numbers[:, 0, 0]
        return _Learned(np.ascontiguousarray(v), float(trust[0]), bias[0])

    def scores(self, found: _Learned, some: IntArray) -> FloatArray:
        """Compute the corrected scores of some texts."""
        out = self.offset[some] + found.trust * self.evidence[some] + found.bias
        taken, words = self._taken(some)
        starts, labels, values = self.pairs(found)
        group = np.zeros(len(some), dtype=np.int32)
        S = self.offset.shape[1]
        said = taken.added(values[None], group, starts, labels, words)
        return np.asarray(out + said[:, :S], dtype=np.float64)

    def _taken(self, some: IntArray) -> tuple[WordRows, CodeArray]:
        rows = self.rows
        lengths = np.diff(rows.indptr)[some]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entry = np.arange(indptr[-1]) + np.repeat(rows.indptr[some] - indptr[:-1], lengths)
        taken = replace(
            rows,
            indptr=indptr,
            words=rows.words[entry],
            x=rows.x[entry],
            y=rows.y[some],
            group=rows.group[some],
        )
        return taken, self.words[entry]

    def pairs(self, found: _Learned) -> tuple[IntArray, CodeArray, AnyArray]:
        """Give the numbers by word: where each begins, their classes, and they."""
        n, S = len(self.kept), self.offset.shape[1]
        if not self.is_sparse:
            starts = np.arange(n + 1, dtype=np.int64) * S
            return starts, np.tile(np.arange(S, dtype=np.int32), n), found.v
        order, starts, labels = self._sorted
        return starts, labels, found.v[order]

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray, CodeArray]:
        """The pairs in the order of word and class: their order, where words begin, classes."""
        order = np.argsort(self.keys, kind="stable")
        keys = self.keys[order]
        starts = np.searchsorted(keys, np.arange(len(self.kept) + 1, dtype=np.int64) << 32)
        return order, starts, (keys & 0xFFFFFFFF).astype(np.int32)

    def correction(self, found: _Learned, table: WordsTable) -> WordCorrection:
        """Keep what was learned by words and classes."""
        starts, labels, values = self.pairs(found)
        word = np.repeat(np.arange(len(self.kept), dtype=np.int32), np.diff(starts))
        if self.offset.shape[1] == 1:  # half for one class and half against the other
            word, values = np.repeat(word, 2), np.repeat(values, 2) / 2
            labels = np.tile(np.arange(2, dtype=np.int32), len(word) // 2)
            values = np.where(labels == 0, -values, values)
        some = values != 0.0
        vocabulary = table.vocabulary.take(self.rows.codes[self.kept].astype(np.int32))
        return WordCorrection(vocabulary, word[some], labels[some], values[some])


def _least(loss: Callable[[float], float], alphas: Sequence[float]) -> float:
    """Find the least of a loss that falls and then rises, from the middle."""
    at = len(alphas) // 2
    for step in (-1, 1):
        while 0 <= at + step < len(alphas) and loss(alphas[at + step]) < loss(alphas[at]):
            at += step
    return alphas[at]


def _relative(weight: FloatArray) -> FloatArray:
    """Let weights be 1 on average."""
    return np.asarray(weight / max(float(weight.mean()), np.finfo(float).tiny))


def _float32(values: AnyArray) -> AnyArray:
    return np.ascontiguousarray(values, dtype=np.float32)
