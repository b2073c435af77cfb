"""Weights that make naive Bayes honest, learned from scores of rows that were not learned.

    log P(k | x) ∝ log P(k) + s · b_k + Σ_j w_j · log P(x_j | k)

where s is the share of the columns that say something of the row, so that a row without values
has the prior. Columns that say the same count once, not twice, when their weights share it; a
temperature alone (one weight for all) already cures most of the overconfidence. The scores must be
those of sums without the row: weights fitted to scores of learned rows trust them too much.

Scores have a column for each class; of two classes the log-odds of the second are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.tuning.additive import row_losses, softmax
from priory.tuning.quadratics import LowRank, nonnegative

__all__ = [
    "LearnedWeights",
    "Rows",
    "cross_fitted",
    "learn_temperature",
    "learn_weights",
    "log_loss",
]

RIDGE, SILENT_RIDGE = 3.0, 15.0
"""How strongly weights are held to trust · t: (3/2) Σ (w − trust · t)², and to 0 where none is."""

SLIGHT = 0.05
"""Where the temperature is below this, all columns together tell next to nothing, and weights are
held to it the more: columns of noise are many, and each of them tells something by chance."""

MOST_OF_SILENT = 4.0
"""Terms that nothing is trusted of are held so many times the more at most: where the columns tell
nothing, pairs of them may tell all there is."""

BIAS_RIDGE = 1.0
DOUBT = 20.0
"""How much is doubted before the rows speak: a temperature t costs 20 t nats."""

TEXT_DOUBT = 1.0
"""The same of texts alone. What words say is normalised: their t is above 1, not far below it."""

HOLD = 3.0
"""How strongly a temperature above 1 is held to it: (3/2) log² t."""

MANY_CLASSES = 100
"""Of more classes, p_k p_l is so small that biases are taken not to touch each other."""

MOST_STEPS = 10
ENOUGH = 1e-3
"""Newton steps end when one gains less than this a row; where columns of noise hold the
temperature down, the first ones gain less than those after them."""

BLOCK = 4_000_000
"""So many scores are worked on at once."""

MOST_KEPT = 20_000_000
"""So many entries of Hessians are kept at most; beyond, each is computed where it is needed."""

COLDEST, HOTTEST = 0.005, 100.0

quiet = np.errstate(invalid="ignore", over="ignore")
"""BLAS multiplies float32 in whole registers, and may warn of what lies beside the numbers."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What is known of rows beside their scores: prior, class, weight, share of values."""

    prior: FloatArray
    """log P(k) of each row, rows × classes: without the row, so that rows may differ."""
    y: CodeArray
    weight: FloatArray
    share: FloatArray
    """Which share of its columns say something of a row."""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, some: Any) -> Rows:
        """Take some of the rows."""
        return Rows(self.prior[some], self.y[some], self.weight[some], self.share[some])


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """A weight for each term, and a bias for each class."""

    terms: FloatArray
    bias: FloatArray
    temperature: float

    @quiet
    def scores(self, rows: Rows, terms: AnyArray) -> FloatArray:
        """Compute the weighted scores of rows, rows × classes."""
        total = rows.prior + rows.share[:, None] * self.bias
        flat = terms.reshape(len(terms), total.size)
        total += (self.terms.astype(flat.dtype) @ flat).reshape(total.shape)
        return total


def log_loss(scores: FloatArray, y: CodeArray, weight: FloatArray) -> float:
    """Compute −Σ w log P(y | x) of scores that are not yet normalised.

    >>> round(log_loss(np.log([[0.2, 0.6]]), np.array([1]), np.ones(1)), 4)
    0.2877
    >>> round(log_loss(np.log([[3.0]]), np.array([1]), np.ones(1)), 4)  # odds of 3 to 1
    0.2877
    """
    return float(np.dot(weight, row_losses(scores, y)))


def learn_temperature(
    prior: FloatArray,
    scores: FloatArray,
    y: CodeArray,
    weight: FloatArray,
    doubt: float = 0.0,
    hold: float = 0.0,
) -> float:
    """Find the t with the least log-loss of prior + t · scores, by Newton's method.

        Σ_i −log P(y_i | x_i) + doubt · t + ½ hold · max(log t, 0)²

    A single weight for all terms at once. The last part keeps it in bounds where the scores
    separate the classes, and no t would be large enough.

    >>> prior, scores = np.zeros((4, 2)), np.array([[2.0, 0.0]] * 4)
    >>> t = learn_temperature(prior, scores, np.array([0, 0, 0, 1]), np.ones(4))
    >>> round(t * 2, 3), round(float(np.log(3)), 3)  # three of four were right: the odds are 3 to 1
    (1.099, 1.099)
    """
    centred = np.asarray(scores, dtype=np.float64)
    if centred.shape[1] > 1:
        centred = centred - centred.mean(axis=1, keepdims=True)
    own = centred[:, 0] * (y == 1) if centred.shape[1] == 1 else centred[np.arange(len(y)), y]
    low, high, t = COLDEST, HOTTEST, 0.5
    for _ in range(60):
        p = softmax(prior + t * centred)
        mean = (p * centred).sum(axis=1)
        above = max(float(np.log(t)), 0.0)
        slope = np.dot(weight, mean - own) + doubt + hold * above / t
        bend = np.dot(weight, (p * centred**2).sum(axis=1) - mean**2)
        bend += hold * (1.0 - above) / t**2 if above else 0.0
        low, high = (t, high) if slope < 0 else (low, t)
        step = t - slope / bend if bend > 0 else np.nan
        # Where Newton's step leaves what is known of t, halve the interval instead.
        new = step if low < step < high else np.sqrt(low * high)
        if abs(new - t) < 1e-6 * t:
            break
        t = float(new)
    return t


@quiet
def learn_weights(
    terms: AnyArray,
    rows: Rows,
    one_for_all: bool = False,
    trust: FloatArray | None = None,
    doubt: float = DOUBT,
) -> LearnedWeights:
    """Learn weights of at least 0 and biases with the least penalised log-loss.

        Σ_i −log P(y_i | x_i) + (3/2) Σ_j (w_j − trust_j · t)² + ½ Σ_k b_k²

    `terms` is terms × rows × classes. Newton steps from w = trust · t, each a quadratic in w, whose
    least point with w ≥ 0 is found by non-negative least squares. t is the temperature of what the
    terms say together, each as far as it is trusted, from 0 to 1 (wholly, unless given). With
    `one_for_all` only t and the biases are learned. Few rows leave t near 0, for doubt costs
    as much as two rows' worth of evidence; many overrule it.
    """
    if not len(terms):
        return LearnedWeights(np.zeros(0), np.zeros(rows.prior.shape[1]), 1.0)
    n_terms = len(terms)
    trust = np.ones(n_terms) if trust is None else trust
    total = np.zeros(rows.prior.shape)
    for term, share in zip(terms, trust, strict=True):
        total += share * term if share < 1.0 else term
    t = learn_temperature(rows.prior, total, rows.y, rows.weight, doubt, HOLD)
    if one_for_all:
        scaled = (t * total)[None].astype(np.float32)
        found = _newton(scaled, rows, _Held.to(1.0, np.ones(1)))
        return LearnedWeights(np.full(n_terms, t * found.terms[0]), found.bias, t * found.terms[0])
    found = _newton(terms, rows, _Held.to(t, trust))
    return LearnedWeights(found.terms, found.bias, t)


@quiet
def cross_fitted(
    weights: LearnedWeights,
    terms: AnyArray,
    rows: Rows,
    fold: CodeArray,
    trust: FloatArray | None = None,
) -> tuple[FloatArray, tuple[LearnedWeights, ...]]:
    """Score rows under weights that were learned without their fold, and give those.

    Each fold's weights are one Newton step from those of all rows, with its own rows taken out of
    gradient and Hessian.
    """
    held = _Held.to(weights.temperature, np.ones(len(terms)) if trust is None else trust)
    folds = [np.flatnonzero(fold == f) for f in range(int(fold.max(initial=-1)) + 1)]
    scores = np.empty((len(rows), rows.prior.shape[1]))
    found = []
    for mine, derivatives in zip(folds, _without_each(folds, terms, rows, weights), strict=True):
        without = _step(*derivatives, weights, held)
        found.append(without)
        scores[mine] = without.scores(rows.take(mine), terms[:, mine])
    return scores, tuple(found)


def _without_each(
    folds: Sequence[AnyArray], terms: AnyArray, rows: Rows, weights: LearnedWeights
) -> Iterator[tuple[FloatArray, FloatArray | LowRank]]:
    """Compute gradient and Hessian without each fold: both are sums over rows."""
    if _is_wide(terms):
        for mine in folds:
            weight = rows.weight.copy()
            weight[mine] = 0.0
            yield _low_rank(terms, replace(rows, weight=weight), weights)
        return
    size = len(terms) + rows.prior.shape[1]
    parts: Iterable[tuple[FloatArray, FloatArray]]
    parts = (_derivatives(terms[:, mine], rows.take(mine), weights) for mine in folds)
    if len(folds) * size**2 <= MOST_KEPT:
        parts = list(parts)
        gradient, hessian = sum(part[0] for part in parts), sum(part[1] for part in parts)
    else:
        gradient, hessian = _derivatives(terms, rows, weights)
    for slope, bend in parts:
        yield gradient - slope, hessian - bend


@dataclass(frozen=True, eq=False)
class _Held:
    """What each weight is held to, and how strongly."""

    centre: FloatArray
    ridge: FloatArray

    @classmethod
    def to(cls, t: float, trust: FloatArray) -> _Held:
        more = max(1.0, SLIGHT / t) ** 2
        ridge = np.where(trust > 0, RIDGE * more, SILENT_RIDGE * min(more, MOST_OF_SILENT))
        return cls(trust * t, ridge)


def _newton(terms: AnyArray, rows: Rows, held: _Held) -> LearnedWeights:
    weights = LearnedWeights(
        held.centre.copy(), np.zeros(rows.prior.shape[1]), float(held.centre.mean())
    )
    loss, enough = _penalised(weights, terms, rows, held), ENOUGH * float(rows.weight.sum())
    for _ in range(MOST_STEPS):
        given = (terms, rows, weights)
        gradient, hessian = _low_rank(*given) if _is_wide(terms) else _derivatives(*given)
        aim, before = _step(gradient, hessian, weights, held), loss
        for length in (1.0, 0.5, 0.25, 0.125):
            trial = LearnedWeights(
                weights.terms + length * (aim.terms - weights.terms),
                weights.bias + length * (aim.bias - weights.bias),
                weights.temperature,
            )
            new = _penalised(trial, terms, rows, held)
            if new <= loss:
                weights, loss = trial, new
                break
        if before - loss < enough:
            break
    return weights


def _penalised(weights: LearnedWeights, terms: AnyArray, rows: Rows, held: _Held) -> float:
    loss = log_loss(weights.scores(rows, terms), rows.y, rows.weight)
    loss += float(held.ridge @ (weights.terms - held.centre) ** 2) / 2
    return loss + BIAS_RIDGE / 2 * float((weights.bias**2).sum())


def _derivatives(
    terms: AnyArray, rows: Rows, weights: LearnedWeights
) -> tuple[FloatArray, FloatArray]:
    """Compute gradient and Hessian of the log-loss in terms and biases, block by block."""
    n_terms, n_classes = len(terms), rows.prior.shape[1]
    size = n_terms + n_classes
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    add = _add_two if n_classes == 1 else _add_many
    for block in _blocks(len(rows), n_terms * n_classes):
        some, of = np.asarray(terms[:, block], dtype=np.float32), rows.take(block)
        add(some, of, softmax(weights.scores(of, some)), gradient, hessian)
    return gradient, hessian


def _is_wide(terms: AnyArray) -> bool:
    """Tell whether there are more terms than scores of each, so that the Hessian is of low rank."""
    return len(terms) > terms[0].size if len(terms) else False


def _low_rank(terms: AnyArray, rows: Rows, weights: LearnedWeights) -> tuple[FloatArray, LowRank]:
    """Compute gradient and Hessian without writing it out: H = UUᵀ, a column for each score."""
    n_terms, n_classes = len(terms), rows.prior.shape[1]
    p = softmax(weights.scores(rows, terms))
    wrong, bend = p.copy(), p * rows.weight[:, None]
    if n_classes == 1:
        wrong[:, 0] -= rows.y == 1
        bend *= 1.0 - p
        about, of_bias = terms, np.ones((1, len(rows), 1))
    else:
        wrong[np.arange(len(p)), rows.y] -= 1.0
        about = terms - np.einsum("jik,ik->ji", terms, p)[:, :, None]
        of_bias = np.eye(n_classes)[:, None, :] - p.T[:, :, None]
    wrong *= rows.weight[:, None]
    gradient = np.r_[terms.reshape(n_terms, -1) @ wrong.ravel(), rows.share @ wrong]
    root = np.empty((n_terms + n_classes, *p.shape), dtype=np.float32)
    np.multiply(about, np.sqrt(bend).astype(np.float32), out=root[:n_terms])
    root[n_terms:] = of_bias * (np.sqrt(bend) * rows.share[:, None])
    return gradient, LowRank(np.zeros(len(root)), root.reshape(len(root), -1))


def _add_two(
    terms: AnyArray, rows: Rows, p: FloatArray, gradient: FloatArray, hessian: FloatArray
) -> None:
    """Add what some rows of two classes give: H = Σ_i w_i p_i (1 − p_i) a_i a_iᵀ."""
    odds, p = terms[:, :, 0], p[:, 0]
    wrong = rows.weight * (p - (rows.y == 1))
    gradient[:-1] += odds @ wrong.astype(np.float32)
    gradient[-1] += rows.share @ wrong
    bend = rows.weight * p * (1.0 - p)
    spread = odds * np.sqrt(bend).astype(np.float32)
    hessian[:-1, :-1] += spread @ spread.T
    cross = odds @ (bend * rows.share).astype(np.float32)
    hessian[:-1, -1] += cross
    hessian[-1, :-1] += cross
    hessian[-1, -1] += bend @ rows.share**2


def _add_many(
    terms: AnyArray, rows: Rows, p: FloatArray, gradient: FloatArray, hessian: FloatArray
) -> None:
    """Add what some rows give: H = Σ_i w_i (E[a aᵀ] − E[a] E[a]ᵀ), a the scores of a class."""
    n_terms = len(terms)
    wrong = p.copy()
    wrong[np.arange(len(p)), rows.y] -= 1.0
    wrong *= rows.weight[:, None]
    gradient[:n_terms] += terms.reshape(n_terms, -1) @ wrong.ravel().astype(np.float32)
    gradient[n_terms:] += rows.share @ wrong
    mean = np.einsum("jik,ik->ji", terms, p.astype(np.float32))
    about = terms - mean[:, :, None]
    root = np.sqrt(rows.weight[:, None] * p).astype(np.float32)
    spread = (about * root).reshape(n_terms, -1)
    hessian[:n_terms, :n_terms] += spread @ spread.T
    shared = (rows.weight * rows.share)[:, None] * p
    cross = np.einsum("jik,ik->jk", about, shared.astype(np.float32))
    hessian[:n_terms, n_terms:] += cross
    hessian[n_terms:, :n_terms] += cross.T
    twice = rows.share[:, None] * shared
    hessian[n_terms:, n_terms:] += np.diag(twice.sum(axis=0))
    if p.shape[1] <= MANY_CLASSES:
        hessian[n_terms:, n_terms:] -= p.T @ twice


def _step(
    gradient: FloatArray, hessian: FloatArray | LowRank, weights: LearnedWeights, held: _Held
) -> LearnedWeights:
    """Find the least point of the quadratic with w ≥ 0; the biases are free."""
    n_terms, z = len(weights.terms), np.r_[weights.terms, weights.bias]
    ridge = np.r_[held.ridge, np.full(len(weights.bias), BIAS_RIDGE)]
    g = gradient + ridge * (z - np.r_[held.centre, np.zeros(len(weights.bias))])
    if isinstance(hessian, LowRank):
        A, is_term = LowRank(hessian.diagonal + ridge, hessian.root), np.arange(len(z)) < n_terms
        try:
            z = nonnegative(A, A @ z - g, (z > 0) | ~is_term, is_term)
        except np.linalg.LinAlgError:  # rounding: stay where we are
            return weights
        return LearnedWeights(z[:n_terms], z[n_terms:], weights.temperature)
    H = hessian.copy()
    H[np.diag_indices(len(H))] += ridge
    aim = H @ z - g  # the quadratic is ½ zᵀHz − aimᵀz
    across = H[:n_terms, n_terms:]
    of_biases, aims = H[n_terms:, n_terms:], np.c_[across.T, aim[n_terms:]]
    if len(of_biases) > MANY_CLASSES:
        follow = aims / np.diag(of_biases)[:, None]
    else:
        follow = np.linalg.solve(of_biases, aims)
    reduced = H[:n_terms, :n_terms] - across @ follow[:, :-1]
    try:
        terms = nonnegative(
            (reduced + reduced.T) / 2, aim[:n_terms] - across @ follow[:, -1], weights.terms > 0
        )
    except np.linalg.LinAlgError:  # rounding: stay where we are for the terms
        terms = weights.terms
    return LearnedWeights(terms, follow[:, -1] - follow[:, :-1] @ terms, weights.temperature)


def _blocks(n: int, entries_per_row: int) -> Iterator[slice]:
    height = max(1, BLOCK // max(entries_per_row, 1))
    for first in range(0, n, height):
        yield slice(first, min(first + height, n))
