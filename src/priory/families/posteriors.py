"""What is believed of a column's parameters after the data, class by class.

Learning does not give a number but a distribution: the prior, modified by the counts. These are
the three that the families have; each gives its mean and the interval that holds it with a
given probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table
from priory.base.typing import FloatArray, Label

__all__ = [
    "DirichletPosterior",
    "GammaPosterior",
    "NormalInverseGammaPosterior",
    "ParameterPosterior",
    "tails",
]


_Columns: TypeAlias = list[tuple[str, FloatArray, tuple[FloatArray, FloatArray]]]


class _Shown:
    """Show what is believed as a table, a row for each class."""

    classes: tuple[Label, ...]
    _form = "{:.4g} ({:.4g}–{:.4g})"

    def _columns(self) -> _Columns:
        """List what is believed of: its name, its mean and its interval, by class."""
        raise NotImplementedError

    def _rows(self) -> list[tuple[str, ...]]:
        columns, form = self._columns(), self._form
        head = ("", *(name for name, _, _ in columns))
        return [head] + [
            (
                str(label),
                *(form.format(mean[k], low[k], high[k]) for _, mean, (low, high) in columns),
            )
            for k, label in enumerate(self.classes)
        ]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.classes)} classes>"

    def __str__(self) -> str:
        return aligned(self._rows())

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return html_table(head, rows)


@dataclass(frozen=True, eq=False, repr=False)
class DirichletPosterior(_Shown):
    """Hold what is believed of the probabilities of some values: P(· | k) ~ Dirichlet(counts).

    `counts`, classes × values, are those seen and those of the prior together. Each single
    probability is Beta distributed.

    >>> counts = np.array([[3.0, 4.0], [4.0, 3.0]])
    >>> belief = DirichletPosterior(("No", "Yes"), ("Rain", "Sunny"), counts)
    >>> belief.mean.round(3).tolist()
    [[0.429, 0.571], [0.571, 0.429]]
    >>> low, high = belief.interval(0.9)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.153, 0.271], [0.271, 0.153]], [[0.729, 0.847], [0.847, 0.729]])
    """

    classes: tuple[Label, ...]
    values: Sequence[Any]
    counts: FloatArray
    _form = "{:.3f} ({:.3f}–{:.3f})"

    @property
    def mean(self) -> FloatArray:
        """The expected probabilities, classes × values."""
        return self.counts / self._total

    @property
    def variance(self) -> FloatArray:
        """The variance of each probability."""
        return self.mean * (1 - self.mean) / (self._total + 1)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Find the ends of the central interval of each probability."""
        from scipy.stats import beta

        rest = self._total - self.counts
        # With no prior a value never seen has the probability 0, and one always seen 1.
        certain = (self.counts <= 0) | (rest <= 0)
        a, b = np.where(certain, 1.0, self.counts), np.where(certain, 1.0, rest)
        low, high = (np.where(certain, self.counts > 0, beta.ppf(q, a, b)) for q in tails(level))
        return low, high

    @property
    def _total(self) -> FloatArray:
        return _above_0(self.counts.sum(axis=1, keepdims=True))

    def _columns(self) -> _Columns:
        mean, (low, high) = self.mean, self.interval()
        values = enumerate(map(str, self.values))
        return [(value, mean[:, v], (low[:, v], high[:, v])) for v, value in values]


@dataclass(frozen=True, eq=False, repr=False)
class GammaPosterior(_Shown):
    """Hold what is believed of a rate: λ_k ~ Gamma(shape, rate).

    >>> belief = GammaPosterior(("a",), np.array([8.0]), np.array([4.0]))
    >>> belief.mean.tolist(), belief.variance.tolist()
    ([2.0], [0.5])
    """

    classes: tuple[Label, ...]
    shape: FloatArray
    rate: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The expected rate of each class."""
        return self.shape / _above_0(self.rate)

    @property
    def variance(self) -> FloatArray:
        """The variance of each rate."""
        return self.mean / _above_0(self.rate)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Find the ends of the central interval of each rate."""
        from scipy.stats import gamma

        known = (self.shape > 0) & (self.rate > 0)
        shape, scale = np.where(known, self.shape, 1.0), 1 / np.where(known, self.rate, 1.0)
        low, high = (np.where(known, gamma.ppf(q, shape, scale=scale), 0.0) for q in tails(level))
        return low, high

    def _columns(self) -> _Columns:
        return [("rate", self.mean, self.interval())]


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseGammaPosterior(_Shown):
    """Hold what is believed of a normal's mean and variance.

        σ²_k ~ InverseGamma(alpha, beta),   μ_k | σ²_k ~ Normal(location, σ²_k / kappa)

    >>> belief = NormalInverseGammaPosterior(
    ...     ("a",), np.array([1.0]), np.array([10.0]), np.array([5.0]), np.array([8.0]))
    >>> belief.mean.tolist(), belief.variance_mean.tolist()
    ([1.0], [2.0])
    """

    classes: tuple[Label, ...]
    location: FloatArray
    kappa: FloatArray
    alpha: FloatArray
    beta: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The expected mean of each class."""
        return self.location

    @property
    def variance(self) -> FloatArray:
        """How uncertain each mean is: its variance, infinite where α is at most 1."""
        return self.variance_mean / self.kappa

    @property
    def variance_mean(self) -> FloatArray:
        """The expected variance of each class, infinite where α is at most 1."""
        some = self.alpha > 1
        return np.where(some, self.beta / np.where(some, self.alpha - 1, 1.0), np.inf)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Find the ends of the central interval of each mean, which is Student-t."""
        from scipy.stats import t

        scale = np.sqrt(self.beta / (self.alpha * self.kappa))
        low, high = (t.ppf(q, 2 * self.alpha, self.location, scale) for q in tails(level))
        return np.asarray(low), np.asarray(high)

    def variance_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Find the ends of the central interval of each variance."""
        from scipy.stats import invgamma

        low, high = (invgamma.ppf(q, self.alpha, scale=self.beta) for q in tails(level))
        return np.asarray(low), np.asarray(high)

    def _columns(self) -> _Columns:
        return [
            ("mean", self.mean, self.interval()),
            ("variance", self.variance_mean, self.variance_interval()),
        ]


ParameterPosterior = DirichletPosterior | GammaPosterior | NormalInverseGammaPosterior


def tails(level: float) -> tuple[float, float]:
    """Give the quantiles at which a central interval begins and ends.

    >>> tails(0.5)
    (0.25, 0.75)
    """
    if not 0 < level < 1:
        raise SettingError(f"level must be between 0 and 1, not {level!r}.")
    return (1 - level) / 2, (1 + level) / 2


def _above_0(x: FloatArray) -> FloatArray:
    return np.where(x > 0, x, 1.0)
