"""Priors: what is believed of a column's parameters before the data.

Every prior over probabilities here is a Dirichlet; they differ only in their pseudo-counts:

    P(v | k) = (n_vk + a_v) / (n_k + Σ_v a_v)

| prior | pseudo-count a_v |
|---|---|
| Laplace(α) | α |
| MEstimate(m, p) | m · p_v |
| Dirichlet({v: a}) | a_v |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from priory.base.errors import SettingError, check_number, listing
from priory.base.labels import label_key
from priory.base.typing import FloatArray, Label

__all__ = [
    "Dirichlet",
    "DiscretePrior",
    "Laplace",
    "MEstimate",
    "NormalInverseGamma",
    "Prior",
    "RowsPrior",
    "as_prior",
    "one_column",
]


@runtime_checkable
class DiscretePrior(Protocol):
    """Give the pseudo-counts of a column's values."""

    def pseudo_counts(self, values: Sequence[Label | None], totals: FloatArray) -> FloatArray:
        """Derive a_v of each value from its weight over all classes.

        The value None stands for any value that was never seen. `totals` may have several
        columns of the same values, columns × values; so then have the pseudo-counts.
        """
        ...

    def values(self) -> tuple[Label, ...]:
        """List the values that the prior itself knows, seen or not."""
        ...


@dataclass(frozen=True)
class Laplace:
    """Add the same pseudo-count to every value: (n_v + α) / (n + αV); Lidstone's α.

    α = 0 is allowed and means exactly that: the maximum-likelihood estimate. For a block of many
    columns α may be a tuple, one number for each column.

    >>> Laplace(1.0).pseudo_counts(["a", "b"], np.array([3.0, 1.0])).tolist()
    [1.0, 1.0]
    """

    alpha: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        for alpha in self.alpha if isinstance(self.alpha, tuple) else (self.alpha,):
            check_number("alpha", alpha)

    def pseudo_counts(self, values: Sequence[Label | None], totals: FloatArray) -> FloatArray:
        """Give every value α."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim == 0:
            return np.full(np.shape(totals), float(alpha))
        if len(alpha) != len(totals):
            raise SettingError(
                f"alpha has {len(alpha)} numbers for a block of {len(totals)} columns; "
                "give one number, or one for each column."
            )
        return alpha if totals.ndim == 1 else np.repeat(alpha[:, None], len(values), axis=1)

    def values(self) -> tuple[Label, ...]:
        """List none: every value is treated alike."""
        return ()

    @property
    def strength(self) -> float | tuple[float, ...]:
        """How many rows the prior is worth where it lends rows of all classes: α."""
        return self.alpha


@dataclass(frozen=True)
class MEstimate:
    """Add m imagined rows spread by a guess p: (n_v + m·p_v) / (n + m).

    `p` is "uniform" (1/V), "marginal" (the column over all classes, (N_v + 1) / (N + V)), or a
    guess for each value, which must add up to 1.

    >>> MEstimate(2.0).pseudo_counts(["a", "b"], np.array([3.0, 1.0])).tolist()
    [1.0, 1.0]
    >>> MEstimate(6.0, "marginal").pseudo_counts(["a", "b"], np.array([3.0, 1.0])).tolist()
    [4.0, 2.0]
    """

    m: float = 2.0
    p: Literal["uniform", "marginal"] | Mapping[Label, float] = "uniform"

    def __post_init__(self) -> None:
        check_number("m", self.m)
        if isinstance(self.p, Mapping):
            for value, guess in self.p.items():
                check_number(f"p[{value!r}]", guess)
            if abs(sum(self.p.values()) - 1.0) > 1e-9:
                raise SettingError(f"p must add up to 1, but adds up to {sum(self.p.values())!r}.")
        elif self.p not in ("uniform", "marginal"):
            raise SettingError(
                f"p must be 'uniform', 'marginal' or a guess for each value, not {self.p!r}."
            )

    def pseudo_counts(self, values: Sequence[Label | None], totals: FloatArray) -> FloatArray:
        """Give each value m · p_v."""
        if isinstance(self.p, Mapping):
            given = float(self.m) * _given(self.p, values, "MEstimate(p=...)")
            return np.broadcast_to(given, np.shape(totals))
        if self.p == "marginal":
            total = totals.sum(axis=-1, keepdims=True)
            return float(self.m) * (totals + 1.0) / (total + len(values))
        return np.full(np.shape(totals), float(self.m) / max(len(values), 1))

    def values(self) -> tuple[Label, ...]:
        """List the values that were guessed at."""
        return tuple(self.p) if isinstance(self.p, Mapping) else ()

    @property
    def strength(self) -> float:
        """How many rows the prior is worth: m."""
        return self.m


@dataclass(frozen=True)
class Dirichlet:
    """Add a pseudo-count of its own to each value: (n_v + a_v) / (n + Σa).

    >>> Dirichlet({"a": 3.0, "b": 1.0}).pseudo_counts(["a", "b"], np.zeros(2)).tolist()
    [3.0, 1.0]
    """

    counts: Mapping[Label, float]

    def __post_init__(self) -> None:
        for value, count in self.counts.items():
            check_number(f"counts[{value!r}]", count)

    def pseudo_counts(self, values: Sequence[Label | None], totals: FloatArray) -> FloatArray:
        """Give each value its a_v."""
        return np.broadcast_to(_given(self.counts, values, "Dirichlet"), np.shape(totals))

    def values(self) -> tuple[Label, ...]:
        """List the values that have a pseudo-count."""
        return tuple(self.counts)


@dataclass(frozen=True)
class NormalInverseGamma:
    """Believe a normal's mean and variance to be near a guess, worth a few rows.

        variance ~ InverseGamma(alpha, beta),  mean | variance ~ Normal(mean, variance / kappa)

    `kappa` is how many rows the guess of the mean is worth, 2·alpha that of the variance. With
    `mean` None the guess is the mean of the column over all classes, with `beta` None it is
    alpha times its variance: then every class starts from the column as a whole.

    >>> prior = NormalInverseGamma(mean=0.0, kappa=1.0, alpha=0.5, beta=0.5)
    >>> prior.updated(n=np.array(3.0), mean=np.array(2.0), scatter=np.array(6.0),
    ...               pooled_mean=np.array(0.0), pooled_variance=np.array(1.0)).mean.tolist()
    1.5
    """

    mean: float | None = None
    kappa: float = 1.0
    alpha: float = 0.5
    beta: float | None = None

    def __post_init__(self) -> None:
        for name in ("kappa", "alpha", "beta"):
            value = getattr(self, name)
            if value is not None:
                check_number(name, value, above=0)

    def updated(
        self,
        n: FloatArray,
        mean: FloatArray,
        scatter: FloatArray,
        pooled_mean: FloatArray,
        pooled_variance: FloatArray,
    ) -> PosteriorNIG:
        """Update the parameters by n rows with this mean and Σ(x − mean)²."""
        mean_0 = pooled_mean if self.mean is None else np.asarray(self.mean)
        beta_0 = self.alpha * pooled_variance if self.beta is None else np.asarray(self.beta)
        kappa = self.kappa + n
        return PosteriorNIG(
            mean=(self.kappa * mean_0 + n * mean) / kappa,
            kappa=kappa,
            alpha=self.alpha + n / 2,
            beta=beta_0 + scatter / 2 + self.kappa * n * (mean - mean_0) ** 2 / (2 * kappa),
        )


@dataclass(frozen=True, eq=False)
class PosteriorNIG:
    """Hold the Normal-Inverse-Gamma parameters after the data, for arrays of columns."""

    mean: FloatArray
    kappa: FloatArray
    alpha: FloatArray
    beta: FloatArray


Prior = Laplace | MEstimate | Dirichlet | NormalInverseGamma
RowsPrior = Laplace | MEstimate
"""A prior that is worth a number of rows, its `strength`."""


def as_prior(smoothing: object) -> Prior:
    """Make the prior that a setting means: a number is Laplace's α.

    >>> as_prior(0.5)
    Laplace(alpha=0.5)
    """
    if isinstance(smoothing, Laplace | MEstimate | Dirichlet | NormalInverseGamma):
        return smoothing
    if isinstance(smoothing, bool) or not isinstance(smoothing, int | float | np.number):
        raise SettingError(
            f"smoothing must be a number of at least 0 or a prior such as MEstimate(2), "
            f"not {smoothing!r}."
        )
    return Laplace(float(smoothing))


def one_column(prior: Any, column: int) -> Any:
    """Take the prior of one of a block's columns."""
    if isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
        return Laplace(prior.alpha[column])
    return prior


def _given(given: Mapping[Label, float], values: Sequence[Label | None], what: str) -> FloatArray:
    known = {label_key(value): number for value, number in given.items()}
    never = [v for v in values if v is not None and label_key(v) not in known]
    if never:
        raise SettingError(f"{what} says nothing of the value {listing(never)} that was seen.")
    return np.array([0.0 if v is None else known[label_key(v)] for v in values])
