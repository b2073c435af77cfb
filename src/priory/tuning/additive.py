"""An additive correction: naive Bayes is the prior, the rows correct it.

    log P(k | x) ∝ offset_k(x) + Σ_j v_jk(cell of x_j)

The offset is what each row is given without its own say: its score under weights that were learned
without its fold. v is held to 0 by a penalty, so that where the offset is right it stays:

    Σ_i −log P(y_i | x_i) + ½ λ Σ_j Σ_k v_jkᵀ Q_j v_jk

Q_j is the identity for labels, which shrinks rare values most. For the cells of numbers, which are
in order, it is that of a random walk, which makes neighbours alike. The problem is convex; its
least point is found by limited-memory BFGS steps (Nocedal 1980) in the metric of each column's own
curvature, and the strength λ by how well rows are predicted that were not learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import CodeArray, FloatArray, IntArray
from priory.kernels.additive import add_cells, additive_gradient, log_loss_residuals, sum_cells

__all__ = ["CERTAINTY", "GROUPS", "Best", "Cells", "Problem", "best_fit", "fit", "softmax"]

Metric: TypeAlias = Callable[[FloatArray], FloatArray]
"""Divides a slope by a curvature."""

STRENGTHS = (256.0, 64.0, 16.0, 4.0, 1.0, 0.25)
"""The strengths λ that are tried, from the strongest on."""

CERTAINTY = 2.0
"""So many standard errors must rows that were not learned gain before anything is corrected."""

LEVEL = 0.1
"""How strongly the level of ordered cells is held to 0, beside their steps."""

REACH = 4.0
"""A random walk over any number of cells wanders as far as one over so many."""

MEMORY = 8
"""So many steps are remembered."""

MOST_STEPS = 60
COARSE, FINE = 2e-5, 1e-6
"""A fit ends when a step gains less than this a row: on the way, and of what is kept."""

GROUPS, GROUPS_OF_MANY = 5, 3
"""Folds are put together to so many, which are left out in turn."""

FEW = 20_000
"""So few rows are scored by smaller groups once a strength is chosen, for they learn more so; more
rows can spare a third of them."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cell of each row in one block of columns, −1 where it has none."""

    codes: CodeArray
    size: int
    is_ordered: bool = False

    @cached_property
    def penalty(self) -> FloatArray | None:
        """The matrix Q of the penalty; None for the identity.

        >>> Cells(np.zeros(1, np.int32), 3, True).penalty.round(1).tolist()
        [[1.1, -1.0, 0.0], [-1.0, 2.1, -1.0], [0.0, -1.0, 1.1]]
        """
        if not self.is_ordered:
            return None
        steps = np.diff(np.eye(self.size), axis=0)
        return steps.T @ steps * max(self.size / REACH, 1.0) + LEVEL * np.eye(self.size)


class Problem:
    """Rows, their offsets, and the cells that may correct them.

    What is fitted is an array v, cells × classes (of two classes the log-odds alone), the cells of
    one block after those of the other.
    """

    def __init__(
        self,
        offset: FloatArray,
        y: CodeArray,
        weight: FloatArray,
        blocks: Sequence[Cells],
    ) -> None:
        self.offset = np.ascontiguousarray(offset, dtype=np.float64)
        self.y = np.ascontiguousarray(y, dtype=np.int32)
        self.weight = np.ascontiguousarray(weight, dtype=np.float64)
        self.blocks = tuple(blocks)
        starts = np.cumsum([0, *(block.size for block in blocks)]).tolist()
        self.slices = [slice(a, b) for a, b in pairwise(starts)]
        self.size = starts[-1]
        self.codes = np.empty((len(y), len(blocks)), dtype=np.int32)
        for j, (block, start) in enumerate(zip(blocks, starts[:-1], strict=True)):
            self.codes[:, j] = np.where(block.codes >= 0, block.codes + start, -1)

    def take(self, rows: Any) -> Problem:
        """Take some of the rows."""
        found = object.__new__(Problem)
        found.__dict__ |= {k: v for k, v in self.__dict__.items() if k != "curvature"}
        found.offset, found.y, found.weight = self.offset[rows], self.y[rows], self.weight[rows]
        found.codes = self.codes[rows]
        return found

    @property
    def nothing(self) -> FloatArray:
        """The correction that changes nothing."""
        return np.zeros((self.size, self.offset.shape[1]))

    def scores(self, v: FloatArray) -> FloatArray:
        """Compute the corrected scores, rows × classes."""
        out = self.offset.copy()
        add_cells(self.codes, v, out)
        return out

    def loss(self, v: FloatArray) -> float:
        """Compute Σ w (−log P(y)) of the corrected scores."""
        return log_loss_residuals(self.scores(v), self.y, self.weight)

    def gradient(self, v: FloatArray) -> tuple[float, FloatArray]:
        """Compute the log-loss, and its derivative by everything that is fitted."""
        slope = self.nothing
        loss = additive_gradient(self.codes, v, self.offset, self.y, self.weight, slope)
        return loss, slope

    def _summed(self, values: FloatArray) -> FloatArray:
        """Sum values over the rows of each cell."""
        out = np.zeros((self.size, values.shape[1]))
        sum_cells(self.codes, values, out)
        return out

    @cached_property
    def curvature(self) -> FloatArray:
        """Σ w p (1 − p) of each cell, where nothing is corrected."""
        p = softmax(self.offset)
        return self._summed(self.weight[:, None] * p * (1.0 - p))

    def pull(self, v: FloatArray, strength: float) -> FloatArray:
        """Compute the derivative of the penalty; the penalty is half its product with v."""
        out = strength * v
        for block, some in zip(self.blocks, self.slices, strict=True):
            if block.penalty is not None:
                out[some] = strength * (block.penalty @ v[some])
        return out

    def metric(self, strength: float) -> Metric:
        """Invert the curvature of each block by itself: steps are measured by it."""
        plain = 1.0 / (self.curvature + strength)
        inverses = []
        for block, some in zip(self.blocks, self.slices, strict=True):
            if block.penalty is not None:
                own = self.curvature[some]
                full = np.repeat(strength * block.penalty[None], own.shape[1], axis=0)
                places = np.arange(block.size)
                full[:, places, places] += own.T
                inverses.append((some, np.linalg.inv(full)))

        def measured(slope: FloatArray) -> FloatArray:
            out = plain * slope
            for some, inverse in inverses:
                out[some] = (inverse @ slope[some].T[:, :, None])[:, :, 0].T
            return out

        return measured


def fit(
    problem: Problem,
    strength: float,
    start: FloatArray | None = None,
    tolerance: float = FINE,
    metric: Metric | None = None,
) -> FloatArray:
    """Find the least point of the penalised log-loss, in steps of a metric: its own unless given.

    >>> cells = Cells(np.array([0, 0, 1, 1], np.int32), 2)
    >>> rows = np.zeros((4, 1)), np.array([0, 0, 1, 0], np.int32), np.ones(4)
    >>> fit(Problem(*rows, [cells]), 1.0).round(2).tolist()
    [[-0.67], [0.0]]
    """
    v = problem.nothing if start is None else start
    metric = problem.metric(strength) if metric is None else metric
    enough = tolerance * float(problem.weight.sum()) + 1e-9

    def at(v: FloatArray) -> tuple[float, FloatArray]:
        loss, slope = problem.gradient(v)
        pull = problem.pull(v, strength)
        return loss + float(np.vdot(pull, v)) / 2, slope + pull

    loss, slope = at(v)
    past: list[tuple[FloatArray, FloatArray, float]] = []
    for _ in range(MOST_STEPS):
        step = -_turned(slope, past, metric)
        falls = float(np.vdot(step, slope))
        if -falls < enough:
            break
        length = 1.0
        while True:
            trial = v + length * step
            new, new_slope = at(trial)
            if new <= loss + 1e-4 * length * falls or length < 1e-4:
                break
            length /= 2
        if new > loss:
            break
        moved, bend = trial - v, new_slope - slope
        bent = float(np.vdot(moved, bend))
        if bent > 0.0:
            past = [*past[1 - MEMORY :], (moved, bend, bent)]
        gained, v, loss, slope = loss - new, trial, new, new_slope
        if gained < enough:
            break
    return v


def _turned(
    slope: FloatArray,
    past: Sequence[tuple[FloatArray, FloatArray, float]],
    metric: Metric,
) -> FloatArray:
    """Multiply the slope by the inverse Hessian that the past steps tell of."""
    q, shares = slope, []
    for moved, bend, bent in reversed(past):
        shares.append(float(np.vdot(moved, q)) / bent)
        q = q - shares[-1] * bend
    r = metric(q)
    if past:
        _, bend, bent = past[-1]
        r *= bent / float(np.vdot(bend, metric(bend)))
    for (moved, bend, bent), share in zip(past, reversed(shares), strict=True):
        r += (share - float(np.vdot(bend, r)) / bent) * moved
    return r


@dataclass(frozen=True, eq=False)
class Best:
    """The correction that predicts best, and how rows fare under those without their group."""

    v: FloatArray | None
    """None where nothing is to be corrected."""
    scores: FloatArray
    """The scores of all rows, each corrected without its group."""
    strength: float = np.inf
    gain: float = 0.0
    """How much the log-loss of rows that were not learned falls, in nats."""


def best_fit(problem: Problem, fold: CodeArray, certainty: float = CERTAINTY) -> Best:
    """Choose the strength at which rows of left-out folds are predicted best.

    Infinite strength is one of the choices: nothing is corrected unless that gains more than so
    many standard errors. Each fit begins where that of the strength before it ended.
    """
    n_groups = GROUPS if len(fold) <= FEW else GROUPS_OF_MANY
    groups = _Groups.of(problem, fold % n_groups, n_groups)
    best, chosen = problem.loss(problem.nothing), np.inf
    found = kept = [problem.nothing] * n_groups
    for strength in STRENGTHS:
        found = groups.fitted(strength, found, COARSE)
        loss = groups.loss(found)
        if loss >= best:
            break
        best, chosen, kept = loss, strength, found
    nothing = Best(None, problem.offset)
    if not np.isfinite(chosen):
        return nothing
    scores = groups.scores(kept)
    gained = problem.weight * (
        row_losses(problem.offset, problem.y) - row_losses(scores, problem.y)
    )
    if gained.sum() <= certainty * np.sqrt(np.square(gained).sum()):
        return nothing
    if len(fold) <= FEW:
        smaller = _Groups.of(problem, fold % (2 * GROUPS), 2 * GROUPS)
        scores = smaller.scores(smaller.fitted(chosen, [*kept, *kept], FINE))
    return Best(fit(problem, chosen, np.mean(kept, axis=0)), scores, chosen, float(gained.sum()))


@dataclass(frozen=True, eq=False)
class _Groups:
    """The rows without each group of folds, and those of each."""

    problem: Problem
    others: Sequence[Problem]
    own: Sequence[Problem]
    order: IntArray
    """The rows in the order of their groups."""

    @classmethod
    def of(cls, problem: Problem, group: CodeArray, n_groups: int) -> _Groups:
        """Part a problem.

        The rows stand in the order of their groups, twice over: so those of all other groups stand
        side by side, and nothing need be copied for each.
        """
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group, minlength=n_groups)).tolist()
        stretches = [*zip([0, *ends[:-1]], ends, strict=True)]
        twice = problem.take(np.concatenate([order, order]))
        others = [twice.take(slice(end, start + len(order))) for start, end in stretches]
        return cls(problem, others, [twice.take(slice(*of)) for of in stretches], order)

    def fitted(
        self, strength: float, start: Sequence[FloatArray], tolerance: float
    ) -> list[FloatArray]:
        """Fit without each group."""
        metric = self.problem.metric(strength)  # good enough for the parts, and made once
        works = [
            partial(fit, part, strength, v, tolerance, metric)
            for part, v in zip(self.others, start, strict=True)
        ]
        return in_parallel(works, thread_count())

    def loss(self, found: Sequence[FloatArray]) -> float:
        """Compute the log-loss of each group under what was learned without it."""
        return sum(part.loss(v) for part, v in zip(self.own, found, strict=True))

    def scores(self, found: Sequence[FloatArray]) -> FloatArray:
        """Compute the scores of each row under what was learned without its group."""
        scores = np.empty_like(self.problem.offset)
        parts = [part.scores(v) for part, v in zip(self.own, found, strict=True)]
        scores[self.order] = np.concatenate(parts)
        return scores


def row_losses(scores: FloatArray, y: CodeArray) -> FloatArray:
    """Compute −log P(y) of each row.

    >>> row_losses(np.log([[3.0]]), np.array([1])).round(4).tolist()  # odds of 3 to 1
    [0.2877]
    """
    if scores.shape[1] == 1:
        return np.logaddexp(0.0, np.where(y == 1, -scores[:, 0], scores[:, 0]))
    top = scores.max(axis=1)
    log_sum = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(log_sum - scores[np.arange(len(y)), y])


def softmax(scores: FloatArray) -> FloatArray:
    """Turn scores into probabilities; log-odds into that of the second class."""
    if scores.shape[1] == 1:
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0))))
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))
