"""Beliefs about one unknown number or a few: a prior that observations update, in closed form.

| belief | of | observations |
|---|---|---|
| `Beta` | a share | one of two values |
| `Dirichlet` | several shares | one of several values |
| `Normal` | a mean, and a variance if it is unknown too | numbers |
| `GammaPoisson` | a rate | counts |

A belief does not change: `update` gives the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, pi
from typing import Any, ClassVar, Self

import numpy as np

from priory.base.errors import InputError, SettingError, check_number, did_you_mean, listing
from priory.base.typing import FloatArray, Label
from priory.families import priors
from priory.families.evidence import (
    log_dirichlet_evidence,
    log_gamma_evidence,
    log_normal_inverse_gamma_evidence,
)
from priory.families.posteriors import tails
from priory.families.priors import PosteriorNIG
from priory.network.observations import Observations
from priory.network.plots import plot_densities, shortest
from priory.network.variables import places

__all__ = ["Belief", "Beta", "Dirichlet", "GammaPoisson", "Normal"]


class Belief:
    """Believe something of an unknown parameter; observations are independent given it."""

    def update(self, data: Any) -> Self:
        """Learn an observation, or several; the belief itself stays as it is."""
        raise NotImplementedError

    def log_evidence(self, data: Any) -> float:
        """Compute the log probability of observations, whatever the parameter is.

        P(D) = ∫ P(D | θ) P(θ) dθ
        """
        raise NotImplementedError

    def predictive(self, x: Any) -> Any:
        """Compute the probability, or density, of the next observation: one number, or an array.

        P(x) = ∫ P(x | θ) P(θ) dθ
        """
        if isinstance(x, Sequence | np.ndarray) and not isinstance(x, str):
            return np.array([np.exp(self.log_evidence([one])) for one in x])
        return float(np.exp(self.log_evidence([x])))

    @property
    def distribution(self) -> Any:
        """The parameter's distribution, frozen, of scipy.stats."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean of the parameter."""
        return float(self.distribution.mean())

    @property
    def variance(self) -> Any:
        """The variance of the parameter."""
        return float(self.distribution.var())

    def interval(self, level: float = 0.95) -> Any:
        """Find the central interval that holds the parameter with this probability."""
        low, high = tails(level)
        return float(self.distribution.ppf(low)), float(self.distribution.ppf(high))

    def hpd(self, level: float = 0.95) -> Any:
        """Find the shortest interval that holds the parameter with this probability.

        Where the density has one peak it is that of the highest density.
        """
        return shortest(self.distribution, level)

    def plot(self, level: float = 0.95) -> Any:
        """Plot the density of the parameter and its shortest interval; return the figure."""
        return plot_densities({"": self.distribution}, level, self._parameter)

    _parameter: ClassVar[str] = "parameter"


@dataclass(frozen=True)
class Beta(Belief):
    """Believe a share θ of two values to be Beta(a, b): as if a + b had been seen, a of them true.

        P(θ) ∝ θ^(a−1) (1−θ)^(b−1),     P(next is true) = a / (a + b)

    `values` are the two values, the one that counts for b first.

    >>> coin = Beta(1, 1, values=("tails", "heads")).update(["heads"] * 7 + ["tails"] * 3)
    >>> coin.a, coin.b, round(coin.predictive("heads"), 4)
    (8.0, 4.0, 0.6667)
    >>> [round(end, 3) for end in coin.interval()], [round(end, 3) for end in coin.hpd()]
    ([0.39, 0.891], [0.412, 0.907])
    """

    a: float = 1.0
    b: float = 1.0
    values: tuple[Label, Label] = (False, True)
    _parameter: ClassVar[str] = "share"

    def __post_init__(self) -> None:
        check_number("a", self.a, above=0)
        check_number("b", self.b, above=0)
        if len(self.values) != 2 or -1 not in places(self.values[:1], self.values[1:]):
            raise SettingError(f"values must be two different values, not {self.values!r}.")

    def update(self, data: Any) -> Self:
        """Count how often each of the two values came."""
        failures, successes = _value_counts(data, self.values, "Beta")
        return replace(self, a=self.a + float(successes), b=self.b + float(failures))

    def log_evidence(self, data: Any) -> float:
        """Compute log B(a + true, b + false) / B(a, b)."""
        return log_dirichlet_evidence(
            _value_counts(data, self.values, "Beta"), np.array([self.b, self.a])
        )

    @property
    def distribution(self) -> Any:
        """Beta(a, b)."""
        from scipy.stats import beta

        return beta(self.a, self.b)


@dataclass(frozen=True)
class Dirichlet(priors.Dirichlet, Belief):
    """Believe the shares of several values: as if each had been seen so often.

        P(θ) ∝ Π θ_v^(a_v−1),     P(next is v) = a_v / Σa

    It is also a prior of probabilities, a `smoothing`.

    >>> urn = Dirichlet({"red": 1, "green": 1, "blue": 1}).update(["red", "red", "blue"])
    >>> urn.counts, round(urn.predictive("red"), 4)
    ({'red': 3.0, 'green': 1.0, 'blue': 2.0}, 0.5)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.counts, Mapping) or not self.counts:
            raise SettingError(f"counts must be a mapping of values, not {self.counts!r:.60}.")
        for value, count in self.counts.items():
            check_number(f"counts[{value!r}]", count, above=0)

    def update(self, data: Any) -> Self:
        """Count how often each value came."""
        counts = _value_counts(data, tuple(self.counts), "Dirichlet")
        summed = zip(self.counts.items(), counts.tolist(), strict=True)
        return replace(self, counts={value: float(a) + n for (value, a), n in summed})

    def log_evidence(self, data: Any) -> float:
        """Compute log Γ(A)/Γ(A + n) + Σ log Γ(a_v + n_v)/Γ(a_v)."""
        counts = _value_counts(data, tuple(self.counts), "Dirichlet")
        return log_dirichlet_evidence(counts, np.array([*map(float, self.counts.values())]))

    @property
    def distribution(self) -> Any:
        """Dirichlet(a)."""
        from scipy.stats import dirichlet

        return dirichlet([*map(float, self.counts.values())])

    @property
    def shares(self) -> dict[Label, Any]:
        """The distribution of each share by itself: Beta(a_v, A − a_v)."""
        from scipy.stats import beta

        total = float(sum(self.counts.values()))
        return {
            value: beta(a, total - a) if a < total else None for value, a in self.counts.items()
        }

    @property
    def mean(self) -> dict[Label, float]:
        """The mean of each share."""
        total = float(sum(self.counts.values()))
        return {value: float(a) / total for value, a in self.counts.items()}

    @property
    def variance(self) -> dict[Label, float]:
        """The variance of each share."""
        return {value: float(d.var()) if d else 0.0 for value, d in self.shares.items()}

    def interval(self, level: float = 0.95) -> dict[Label, tuple[float, float]]:
        """Find the central interval of each share by itself."""
        low, high = tails(level)
        return {
            value: (float(d.ppf(low)), float(d.ppf(high))) if d else (1.0, 1.0)
            for value, d in self.shares.items()
        }

    def hpd(self, level: float = 0.95) -> dict[Label, tuple[float, float]]:
        """Find the shortest interval of each share by itself."""
        return {v: shortest(d, level) if d else (1.0, 1.0) for v, d in self.shares.items()}

    def plot(self, level: float = 0.95) -> Any:
        """Plot the density of each share by itself; return the figure."""
        named = {str(value): d for value, d in self.shares.items() if d}
        return plot_densities(named, level, "share")


@dataclass(frozen=True)
class Normal(Belief):
    """Believe the mean of normal numbers, of a known or an unknown variance.

        mean | variance ~ Normal(mean, variance / kappa),  variance ~ InverseGamma(alpha, beta)

    `kappa` is how many observations the guess of the mean is worth; a mean believed to within a
    standard deviation s is worth variance / s². With `variance` None it is unknown, and 2·alpha
    observations of it are believed in, whose mean is beta / alpha.

    >>> known = Normal(mean=100, kappa=1, variance=225).update([115, 125])
    >>> round(known.mean, 2), [round(end, 1) for end in known.interval()]
    (113.33, [96.4, 130.3])
    >>> unknown = Normal(mean=0, kappa=0.1, alpha=1, beta=1).update([1.2, 0.8, 1.1, 0.9])
    >>> round(unknown.mean, 3), round(unknown.predictive(1.0), 3)
    (0.976, 0.567)
    """

    mean: float = 0.0
    kappa: float = 1.0
    variance: float | None = None
    alpha: float = 1.0
    beta: float = 1.0
    _parameter: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        if isinstance(self.mean, bool) or not np.isfinite(float(self.mean)):
            raise SettingError(f"mean must be a finite number, not {self.mean!r}.")
        for name in ("kappa", "alpha", "beta"):
            check_number(name, getattr(self, name), above=0)
        if self.variance is not None:
            check_number("variance", self.variance, above=0)

    def update(self, data: Any) -> Self:
        """Add the number, the mean and the scatter of the observations."""
        n, mean, scatter = _moments(data)
        if not n:
            return self
        kappa = self.kappa + n
        apart = self.kappa * n / kappa * (mean - self.mean) ** 2
        return replace(
            self,
            mean=(self.kappa * self.mean + n * mean) / kappa,
            kappa=kappa,
            alpha=self.alpha if self.variance is not None else self.alpha + n / 2,
            beta=self.beta if self.variance is not None else self.beta + (scatter + apart) / 2,
        )

    def log_evidence(self, data: Any) -> float:
        """Compute the log density of the observations together."""
        n, mean, scatter = _moments(data)
        if not n:
            return 0.0
        after = self.update(data)
        if self.variance is None:
            count = np.array([float(n)])
            return log_normal_inverse_gamma_evidence(count, self._nig(), after._nig())
        apart = self.kappa * n / after.kappa * (mean - self.mean) ** 2
        return -0.5 * (
            n * log(2 * pi * self.variance)
            + log(after.kappa / self.kappa)
            + (scatter + apart) / self.variance
        )

    @property
    def distribution(self) -> Any:
        """Of the mean: a normal, or Student's t where the variance is unknown."""
        from scipy.stats import norm, t

        if self.variance is not None:
            return norm(self.mean, np.sqrt(self.variance / self.kappa))
        scale = np.sqrt(self.beta / (self.alpha * self.kappa))
        return t(2 * self.alpha, loc=self.mean, scale=scale)

    def _nig(self) -> PosteriorNIG:
        parts = (self.mean, self.kappa, self.alpha, self.beta)
        return PosteriorNIG(*(np.array([float(x)]) for x in parts))


@dataclass(frozen=True)
class GammaPoisson(Belief):
    """Believe the rate of counts to be Gamma(shape, rate): `shape` events in `rate` observations.

        P(λ) ∝ λ^(shape−1) e^(−rate·λ),     P(next) negative binomial, of mean shape / rate

    >>> mails = GammaPoisson(shape=2, rate=1).update([3, 5, 4])
    >>> mails.mean, round(mails.predictive(4), 4)
    (3.5, 0.1675)
    """

    shape: float = 1.0
    rate: float = 1.0
    _parameter: ClassVar[str] = "rate"

    def __post_init__(self) -> None:
        check_number("shape", self.shape, above=0)
        check_number("rate", self.rate, above=0)

    def update(self, data: Any) -> Self:
        """Add the counts, and how many they are."""
        counts = self._counts(data)
        return replace(
            self, shape=self.shape + float(counts.sum()), rate=self.rate + float(len(counts))
        )

    def log_evidence(self, data: Any) -> float:
        """Compute the log probability of the counts together."""
        from scipy.special import gammaln

        counts = self._counts(data)
        sums = (counts.sum(), len(counts), self.shape, self.rate)
        total, n, shape, rate = (np.array([float(x)]) for x in sums)
        return log_gamma_evidence(total, n, shape, rate) - float(gammaln(counts + 1).sum())

    @property
    def distribution(self) -> Any:
        """Gamma(shape, rate)."""
        from scipy.stats import gamma

        return gamma(self.shape, scale=1 / self.rate)

    @staticmethod
    def _counts(data: Any) -> FloatArray:
        counts = Observations.of(data).numbers("GammaPoisson")
        if (counts < 0).any() or (counts != np.floor(counts)).any():
            wrong = counts[(counts < 0) | (counts != np.floor(counts))][0]
            raise InputError(f"GammaPoisson takes counts, whole numbers from 0 on, not {wrong:g}.")
        return counts


def _value_counts(data: Any, values: tuple[Label, ...], what: str) -> FloatArray:
    """Count how often each of some values came; any other value is an error."""
    seen = Observations.of(data)
    counts = np.zeros(len(values))
    for value, n in seen.counts.items():
        place = places([value], values)[0]
        if place < 0 and value in (0, 1) and values == (False, True):
            place = int(value)
        if place < 0:
            raise InputError(
                f"{what} does not know {value!r}. Values: {listing(values)}."
                f"{did_you_mean(str(value), map(str, values))}"
            )
        counts[place] += n
    return counts


def _moments(data: Any) -> tuple[int, float, float]:
    numbers = Observations.of(data).numbers("Normal")
    if not len(numbers):
        return 0, 0.0, 0.0
    mean = float(numbers.mean())
    return len(numbers), mean, float(((numbers - mean) ** 2).sum())
