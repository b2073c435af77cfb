"""How sure a probability is: intervals of P(k | x).

A textbook model has a posterior of its parameters, and so P(k | x) has one too. The row itself is
evidence of the parameters, of a class that is not known: the posterior given the data *and the row*
is a mixture over the classes k, with weights P(k | x), of posteriors that have learned the row as
one of k. Without the row, intervals are far too narrow where columns are many: a row finds itself
in the tail of many parameters at once. Parameters are drawn from that mixture exactly:

    labels     θ_v ~ Beta(A_v, T − A_v), with the row Beta(A_v + 1, T − A_v)
               (so that Var log θ_v = ψ′(A_v) − ψ′(T))
    numbers    σ² ~ InverseGamma(α, β), μ ~ Normal(m, σ²/κ), with the row updated by it
    counts     λ ~ Gamma(a, b), with the row Gamma(a + x, b + 1)

A tuned model has weights and corrections, for which there is no posterior. There the sums are drawn
anew: every row of the sample counts Poisson(1) times (a bootstrap of the counts). What was chosen
stays as it was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priory.base.errors import NoPosteriorError, SettingError
from priory.base.labels import label_key
from priory.base.typing import FloatArray, IntArray, Label
from priory.data.columns import Frame, Labels, Numbers
from priory.data.reading import with_pairs
from priory.families.base import log_gamma
from priory.families.posteriors import (
    DirichletPosterior,
    GammaPosterior,
    NormalInverseGammaPosterior,
)
from priory.families.protocols import Conjugate
from priory.families.student_t import StudentT
from priory.families.transforms import Transform
from priory.model.class_prior import ClassPrior, class_probabilities
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.readout import read_out
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

__all__ = ["Beliefs", "Bootstrap", "ProbabilityIntervals"]

DRAWS, REPLICATES, BATCH = 400, 100, 2_000_000
LEAST_SHARE = 1e-4
"""A class less probable than this is not among those that the row may be of."""


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityIntervals:
    """The ends of intervals of P(k | x), rows × classes each; `how` says what they are."""

    low: FloatArray
    high: FloatArray
    level: float
    how: str
    classes: tuple[Label, ...]

    def __repr__(self) -> str:
        return f"<ProbabilityIntervals of {len(self.low)} rows, {self.level:.0%}: {self.how}>"

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.low, self.high))


def check_level(level: Any) -> float:
    """Refuse anything but a share between 0 and 1."""
    number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
    if not number or not 0 < float(level) < 1:
        raise SettingError(f"level must be between 0 and 1, such as 0.9, not {level!r}.")
    return float(level)


# Drawn from the posterior


class Beliefs:
    """The posterior of every parameter of a textbook model, and draws from it."""

    how = "credible intervals, given the data and the row"

    def __init__(
        self, statistics: Statistics, choices: Mapping[str, Choice], class_prior: ClassPrior
    ) -> None:
        self.classes, self.columns = statistics.classes, []
        rng = np.random.default_rng(0)  # the same row has the same interval
        for name, choice in choices.items():
            block = statistics.schema[name]
            family: Any = choice.family
            table: Any = statistics.tables[name]
            fits = isinstance(family, Conjugate) and family.is_conjugate
            if not fits or choice.missing == "category" or block.pairing is not None:
                raise NoPosteriorError(f"Column {block.title!r} has no posterior to draw from.")
            for j, column in enumerate(block.columns):
                belief = family.posterior(table, choice.prior, block, column, self.classes)
                transform = family.transform_of(table) if isinstance(family, StudentT) else None
                self.columns.append(_column(name, j, belief, rng, transform))
        n = statistics.weight + 1.0
        if class_prior is None:  # the shares of the classes are not known either
            gammas = rng.gamma(n[:, None], size=(len(n), DRAWS))
            self.prior, self.of_classes = np.log(gammas / gammas.sum(axis=0)), n
        else:
            given = class_probabilities(statistics, class_prior)
            with np.errstate(divide="ignore"):
                self.prior = np.repeat(np.log(given)[:, None], DRAWS, axis=1)
            self.of_classes = given

    def intervals(self, frame: Frame, level: float) -> ProbabilityIntervals:
        """Find the interval of each probability."""
        K = len(self.classes)
        low, high = np.empty((len(frame), K)), np.empty((len(frame), K))
        height = max(1, BATCH // (K * K * DRAWS))
        for first in range(0, len(frame), height):
            some = slice(first, min(first + height, len(frame)))
            low[some], high[some] = self._of(frame.take(some), level)
        return ProbabilityIntervals(low, high, level, self.how, self.classes)

    def _of(self, frame: Frame, level: float) -> tuple[FloatArray, FloatArray]:
        n, K = len(frame), len(self.classes)
        without = np.tile(self.prior, (n, 1, 1))
        added = without.copy()
        with np.errstate(divide="ignore"):
            told = np.tile(np.log(self.of_classes), (n, 1))
        for column in self.columns:
            column.add(frame, without, added, told)
        weight = _softmax(told)
        low, high = np.empty((n, K)), np.empty((n, K))
        for i in range(n):
            of = np.flatnonzero(weight[i] > LEAST_SHARE)
            scores = np.tile(without[i], (len(of), 1, 1))
            scores[np.arange(len(of)), of] = added[i, of]
            top = scores.max(axis=1, keepdims=True)
            p = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
            p /= np.maximum(p.sum(axis=1, keepdims=True), 1e-300)
            share = np.repeat(weight[i, of] / DRAWS, DRAWS)
            low[i], high[i] = _quantiles(p.transpose(1, 0, 2).reshape(K, -1), share, level)
        return low, high


def _quantiles(values: FloatArray, weight: FloatArray, level: float) -> tuple[Any, Any]:
    """Find the quantiles of draws with weights, of each row."""
    order = np.argsort(values, axis=1)
    upto = np.cumsum(weight[order], axis=1)
    upto /= upto[:, -1:]
    ends = []
    for q in ((1 - level) / 2, (1 + level) / 2):
        at = np.minimum((upto < q).sum(axis=1), values.shape[1] - 1)
        rows = np.arange(len(values))
        ends.append(values[rows, order[rows, at]])
    return ends[0], ends[1]


def _softmax(scores: FloatArray) -> FloatArray:
    top = scores.max(axis=1, keepdims=True)
    p = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    return np.asarray(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


def _column(
    name: str, j: int, belief: Any, rng: np.random.Generator, transform: Transform | None
) -> _Drawn:
    if isinstance(belief, DirichletPosterior):
        return _Shares(name, j, belief, rng)
    if isinstance(belief, NormalInverseGammaPosterior):
        return _Normal(name, j, belief, rng, transform)
    if isinstance(belief, GammaPosterior):
        return _Rate(name, j, belief, rng)
    raise NoPosteriorError(f"Column {name!r} has no posterior to draw from.")


class _Drawn:
    """What draws of one column's parameters say of rows."""

    def __init__(self, name: str, j: int, belief: Any, rng: np.random.Generator) -> None:
        self.name, self.j, self.belief = name, j, belief
        self.seed = int(rng.integers(1 << 62))

    def rng_of(self, value: float) -> np.random.Generator:
        """Make the source of the draws of one value, whatever came before it."""
        return np.random.default_rng([self.seed, int(np.float64(value).view(np.uint64))])

    def add(self, frame: Frame, without: Any, added: Any, told: Any) -> None:
        """Add log P(x | k) of draws, rows × classes × draws, and what is expected of it."""
        raise NotImplementedError


class _Shares(_Drawn):
    """Shares of labels: Beta distributed, drawn once for each value."""

    def __init__(self, name: str, j: int, belief: Any, rng: np.random.Generator) -> None:
        super().__init__(name, j, belief, rng)
        self.known: dict[int, tuple[FloatArray, FloatArray, FloatArray]] = {}
        values = list(belief.values)
        self.places = {
            label_key(v): i for i, v in enumerate(values) if isinstance(v, bool | int | float | str)
        }
        self.other = len(values) - 1 if values and values[-1] in (None, "any other") else -1

    def add(self, frame: Frame, without: Any, added: Any, told: Any) -> None:
        place = self._places(frame[self.name])
        for v in np.unique(place[place >= 0]).tolist():
            rows = place == v
            plain, own, mean = self._of(v)
            without[rows] += plain
            added[rows] += own
            told[rows] += mean

    def _places(self, column: Any) -> IntArray:
        if isinstance(column, Labels):
            places = [self.places.get(label_key(label), self.other) for label in column.labels]
            return np.array([*places, -1], dtype=np.int64)[column.codes]
        x = np.asarray(column.values[:, self.j])
        keys = [label_key(v.item()) if v == v else None for v in x]
        return np.array([-1 if k is None else self.places.get(k, self.other) for k in keys])

    def _of(self, v: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        if v not in self.known:
            counts = self.belief.counts
            a, rest = counts[:, v], counts.sum(axis=1) - counts[:, v]
            with np.errstate(divide="ignore"):
                rng = self.rng_of(v)
                drawn = [np.log(_beta(rng, a + one, rest)) for one in (0.0, 1.0)]
                mean = np.log(a / np.maximum(a + rest, 1e-300))
            self.known[v] = drawn[0], drawn[1], mean
        return self.known[v]


def _beta(rng: np.random.Generator, a: FloatArray, b: FloatArray) -> FloatArray:
    """Draw from Beta(a, b) of each class; a share of 0 or 1 is certain without a prior."""
    sure = (a <= 0) | (b <= 0)
    drawn = rng.beta(np.where(sure, 1, a)[:, None], np.where(sure, 1, b)[:, None], (len(a), DRAWS))
    drawn = np.maximum(drawn, np.finfo(float).tiny)
    return np.where(sure[:, None], np.where(a > 0, 1.0, 0.0)[:, None], drawn)


class _Normal(_Drawn):
    """Mean and variance of a normal; the gammas and normals are drawn once for all rows.

    A transform's slope is the same for all classes, and left out.
    """

    def __init__(
        self,
        name: str,
        j: int,
        belief: Any,
        rng: np.random.Generator,
        transform: Transform | None,
    ) -> None:
        super().__init__(name, j, belief, rng)
        self.transform = transform
        shape = (len(belief.alpha), DRAWS)
        gamma = rng.gamma(belief.alpha[:, None], size=shape)
        half = rng.gamma(0.5, size=shape)  # Gamma(α) + Gamma(½) is Gamma(α + ½)
        self.root, self.z = (
            [np.sqrt(gamma), np.sqrt(gamma + half)],
            rng.standard_normal((2, *shape)),
        )
        self.z[0] /= np.sqrt(belief.kappa)[:, None]
        self.z[1] /= np.sqrt(belief.kappa + 1.0)[:, None]

    def add(self, frame: Frame, without: Any, added: Any, told: Any) -> None:
        column: Any = frame[self.name]
        assert isinstance(column, Numbers)
        x = np.asarray(column.values[:, self.j], dtype=np.float64)
        there = np.flatnonzero(~np.isnan(x))
        x, b = x[there, None], self.belief
        if self.transform is not None:
            x = self.transform(x)
        m, kappa, alpha, beta = b.location, b.kappa, b.alpha, b.beta
        own = (kappa * m + x) / (kappa + 1), beta + kappa * (x - m) ** 2 / (2 * (kappa + 1))
        for i, out, at, spread in ((0, without, m, beta), (1, added, *own)):
            # σ² = β / γ and μ = m + σ z / √κ, so that (x − μ) / σ = (x − m) √(γ / β) − z / √κ.
            far = ((x - at) / np.sqrt(spread))[:, :, None] * self.root[i]
            far -= self.z[i]
            far *= far
            far *= -0.5
            far += np.log(self.root[i])
            far -= 0.5 * np.log(2 * np.pi * np.broadcast_to(spread, far.shape[:2]))[:, :, None]
            if len(there) == len(out):
                out += far
            else:
                out[there] += far
        told[there] += _log_student(x, m, kappa, alpha, beta)


def _log_student(x: FloatArray, m: Any, kappa: Any, alpha: Any, beta: Any) -> FloatArray:
    scale = beta * (kappa + 1) / (alpha * kappa)
    constant = log_gamma(alpha + 0.5) - log_gamma(alpha) - 0.5 * np.log(2 * np.pi * alpha * scale)
    return np.asarray(constant - (alpha + 0.5) * np.log1p((x - m) ** 2 / (2 * alpha * scale)))


class _Rate(_Drawn):
    """The rate of a Poisson count."""

    def add(self, frame: Frame, without: Any, added: Any, told: Any) -> None:
        column: Any = frame[self.name]
        x = np.asarray(column.values[:, self.j], dtype=np.float64)
        a, b = self.belief.shape, self.belief.rate
        for value in np.unique(x[~np.isnan(x)]):
            rows, rng = x == value, self.rng_of(value)
            for out, more in ((without, 0.0), (added, 1.0)):
                shape, rate = a + more * value, b + more
                rates = rng.gamma(shape[:, None], size=(len(a), DRAWS)) / rate[:, None]
                out[rows] += value * np.log(np.maximum(rates, 1e-300)) - rates
            told[rows] += (
                log_gamma(a + value)
                - log_gamma(a)
                + a * np.log(b / (b + 1))
                - value * np.log(b + 1)
            )


# Drawn by counting anew


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Models of sums in which each row of the sample counts Poisson(1) times."""

    models: tuple[Model, ...]
    classes: tuple[Label, ...]

    how = "bootstrap of the counts: what was chosen and tuned stays"

    @classmethod
    def of(
        cls, statistics: Statistics, settings: Settings, tuning: Tuning | None, sample: Sample
    ) -> Bootstrap:
        """Count the sample anew many times, and read the models out."""
        rng = np.random.default_rng(0)
        frame = with_pairs(sample.frame, statistics.schema)
        # Rows that are not in the sample count by those that are; their noise is that of all rows.
        share = sample.n_rows / statistics.n_rows
        each = sample.weight / sample.rows / share
        models = []
        for _ in range(REPLICATES):
            times = rng.poisson(sample.rows).astype(np.float64)
            weight = each * np.maximum(sample.rows + (times - sample.rows) * np.sqrt(share), 0.0)
            counted = Statistics.count(frame, sample.y, statistics.schema, weight)
            counted = counted.with_classes(statistics.classes)
            models.append(read_out(counted, replace(settings, select=None), tuning))
        return cls(tuple(models), statistics.classes)

    def intervals(self, frame: Frame, level: float) -> ProbabilityIntervals:
        """Take the quantiles of what the models say."""
        p = np.stack([model.posterior(frame) for model in self.models])
        low, high = np.quantile(p, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return ProbabilityIntervals(low, high, level, self.how, self.classes)
