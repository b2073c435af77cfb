"""Hypotheses: the probability of rival explanations, before and after the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum, inf, log
from typing import Any, Literal

import numpy as np

from priory.base.errors import (
    SettingError,
    ZeroProbabilityError,
    check_number,
    did_you_mean,
    listing,
)
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.typing import FloatArray
from priory.kernels.score import argmax_rows
from priory.model.description import DescriptionLength
from priory.network.likelihoods import (
    Believing,
    Likelihood,
    Single,
    check_comparable,
    likelihood_of,
    predict_rows,
)
from priory.network.observations import Observations

__all__ = ["DescriptionLength", "Hypotheses"]


class Hypotheses:
    """Weigh rival hypotheses by the data.

        P(h | D) = P(D | h) P(h) / Σ_h P(D | h) P(h)

    A hypothesis gives the probability of an observation: a table {observation: P}, a function
    of one observation (giving its logarithm, with `log=True`), a frozen distribution of
    scipy.stats, a belief that observations update (`Beta`, `Dirichlet`, `Normal`,
    `GammaPoisson`), or a fitted model (anything with `score_samples`). `prior` is P(h), None the
    same for all. `lengths` gives the description length of each hypothesis instead, in bits,
    L(h) = −log2 P(h).

    Observations are independent given the hypothesis, so P(D | h) is the product over them. For
    models it is the product over the rows: of P(x), or of P(x, y) if `update` is given classes.
    A fitted model does not change, so the rows should not be its training rows. With
    `learning=True` it learns each row after predicting it: P(D | h) = Π P(row | the rows before).
    For a belief network this is the marginal likelihood, in closed form; for a classifier the
    prequential likelihood (Dawid, 1984), row by row.

    `update` gives new hypotheses and leaves these as they are. One observation at a time or all
    at once gives the same result.

    >>> test = Hypotheses(
    ...     {"cancer": {"+": 0.98, "-": 0.02}, "none": {"+": 0.03, "-": 0.97}},
    ...     prior={"cancer": 0.008, "none": 0.992},
    ... )
    >>> after = test.update("+")
    >>> after.map, round(after.posterior["cancer"], 4)
    ('none', 0.2085)
    """

    def __init__(
        self,
        likelihoods: Mapping[str, Any],
        prior: Mapping[str, float] | None = None,
        lengths: Mapping[str, float] | None = None,
        log: bool = False,
        learning: bool = False,
    ) -> None:
        if not isinstance(likelihoods, Mapping) or not likelihoods:
            raise SettingError(f"likelihoods must be a mapping by name, not {likelihoods!r:.60}.")
        if prior is not None and lengths is not None:
            raise SettingError("Give prior or lengths, not both: L(h) = −log2 P(h).")
        self.names = tuple(likelihoods)
        if learning:
            check_comparable(likelihoods)
        self._likelihoods: tuple[Likelihood, ...] = tuple(
            likelihood_of(name, given, log, learning) for name, given in likelihoods.items()
        )
        self._log_prior, self._bits = _prior(self.names, prior, lengths)
        self._log_likelihood = np.zeros(len(self.names))

    def update(self, data: Any, y: Any = None) -> Hypotheses:
        """Update on some data: an observation, several, or rows of a table.

        A string, a number or a mapping is one observation; a list or an array holds several.
        For models `data` is a table, and `y` the class of each of its rows if P(x, y) is wanted.

        >>> coin = Hypotheses({"fair": {"h": 0.5, "t": 0.5}, "two heads": {"h": 1.0, "t": 0.0}})
        >>> round(coin.update(["h", "h", "h"]).posterior["two heads"], 6)
        0.888889
        """
        data = self._read(data)
        results = [likelihood(data, y) for likelihood in self._likelihoods]
        after = object.__new__(Hypotheses)
        after.names, after._log_prior, after._bits = self.names, self._log_prior, self._bits
        after._likelihoods = tuple(likelihood for _, likelihood in results)
        after._log_likelihood = self._log_likelihood + np.array([value for value, _ in results])
        if np.isneginf(after._log_joint).all():
            raise ZeroProbabilityError(
                "The data are impossible under every hypothesis that has a prior above 0, so "
                f"there is no posterior. Hypotheses: {listing(self.names)}."
            )
        return after

    @property
    def prior(self) -> dict[str, float]:
        """P(h)."""
        return self._by_name(np.exp(self._log_prior))

    @property
    def log_likelihood(self) -> dict[str, float]:
        """Log P(D | h) of all the data so far."""
        return self._by_name(self._log_likelihood)

    @property
    def posterior(self) -> dict[str, float]:
        """P(h | D)."""
        return self._by_name(np.exp(self._log_joint - self.log_evidence))

    @property
    def log_evidence(self) -> float:
        """Log P(D) = log Σ_h P(D | h) P(h)."""
        return _log_sum(self._log_joint)

    @property
    def map(self) -> str:
        """The most probable hypothesis given the data; the first, if several are."""
        return self.names[_first_largest(self._log_joint)]

    @property
    def mle(self) -> str:
        """The hypothesis under which the data are most probable, whatever its prior."""
        return self.names[_first_largest(self._log_likelihood)]

    @property
    def mdl(self) -> str:
        """The hypothesis with the shortest description of itself and the data.

        L(h) + L(D | h),     L = −log2 P     in bits
        """
        totals = np.array([length.total for length in self.description_lengths.values()])
        return self.names[_first_largest(-totals)]

    @property
    def description_lengths(self) -> dict[str, DescriptionLength]:
        """L(h) and L(D | h) of each hypothesis, in bits.

        For continuous data L(D | h) is known up to a constant, which depends on their precision
        and is the same for all hypotheses; so it may be negative.
        """
        data = -self._log_likelihood / log(2.0)
        return {
            name: DescriptionLength(float(bits), float(length) + 0.0)
            for name, bits, length in zip(self.names, self._bits, data, strict=True)
        }

    def bayes_factor(self, one: str, other: str) -> float:
        """Compute P(D | one) / P(D | other), how strongly the data favour the one.

        >>> coin = Hypotheses({"fair": {"h": 0.5, "t": 0.5}, "two heads": {"h": 1.0, "t": 0.0}})
        >>> round(coin.update(["h"] * 3).bayes_factor("two heads", "fair"), 6)
        8.0
        """
        a, b = (self._log_likelihood[self._place(name)] for name in (one, other))
        if np.isneginf(a) and np.isneginf(b):
            raise ZeroProbabilityError(
                f"The data are impossible under {one!r} and under {other!r}."
            )
        with np.errstate(over="ignore"):
            return float(np.exp(a - b))

    def p(self, data: Any, y: Any = None) -> float:
        """Compute the probability of further data, averaged over the hypotheses.

            P(d | D) = Σ_h P(d | h) P(h | D)

        >>> coin = Hypotheses({"fair": {"h": 0.5, "t": 0.5}, "two heads": {"h": 1.0, "t": 0.0}})
        >>> round(coin.update(["h"]).p("h"), 6)
        0.833333
        """
        data = self._read(data)
        further = np.array([likelihood(data, y)[0] for likelihood in self._likelihoods])
        return fsum(np.exp(further + self._log_joint - self.log_evidence))

    def predict(
        self,
        rows: Any = None,
        method: Literal["optimal", "gibbs", "map"] = "optimal",
        values: Sequence[Any] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Any:
        """Predict the next observation, or the classes of rows if hypotheses are classifiers.

            argmax_d Σ_h P(d | h) P(h | D)

        "optimal" averages over the hypotheses, which no other choice beats on average; "gibbs"
        lets one that is drawn by its posterior decide, which errs at most twice as often
        (Haussler et al. 1994); "map" the most probable one. `values` are the observations to
        choose from, by default those that the hypotheses list.

        >>> coin = Hypotheses({"fair": {"h": 0.5, "t": 0.5}, "two heads": {"h": 1.0, "t": 0.0}})
        >>> coin.update("h").predict()
        'h'
        """
        if method not in ("optimal", "gibbs", "map"):
            raise SettingError(f"method must be 'optimal', 'gibbs' or 'map', not {method!r}.")
        weight = np.exp(self._log_joint - self.log_evidence)
        if method == "map":
            weight = (np.arange(len(weight)) == self.names.index(self.map)).astype(np.float64)
        rng = np.random.default_rng(random_state)
        if rows is not None:
            return predict_rows(self.names, self._likelihoods, rows, weight, method, rng)
        known = [value for one in self._likelihoods for value in one.values()]
        choices = [*dict.fromkeys(known if values is None else values)]
        if not choices:
            raise SettingError("values must list what may be observed: the hypotheses do not.")
        if method == "gibbs":
            drawn = rng.choice(len(weight), p=weight / weight.sum())
            weight = (np.arange(len(weight)) == drawn).astype(np.float64)
        some = [(one, w) for one, w in zip(self._likelihoods, weight, strict=True) if w > 0]
        scores = [
            fsum(w * exp(one(Observations([choice]), None)[0]) for one, w in some)
            for choice in choices
        ]
        return choices[_first_largest(np.array(scores))]

    def plot(self) -> Any:
        """Plot P(h) and P(h | D) of each hypothesis; return the matplotlib figure."""
        from priory.network.plots import plot_posterior

        return plot_posterior(self.prior, self.posterior)

    def _read(self, data: Any) -> Any:
        """List the observations once for all hypotheses; models read tables themselves."""
        tables = any(not isinstance(one, Single | Believing) for one in self._likelihoods)
        return data if tables else Observations.of(data)

    def __repr__(self) -> str:
        return aligned(self._rows())

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return html_together(html_table(head, rows))

    def _rows(self) -> list[tuple[str, ...]]:
        head = ("hypothesis", "P(h)", "P(h | D)", "L(h)", "L(D | h)", "bits")
        prior, posterior = self.prior, self.posterior
        rows: list[tuple[str, ...]] = [head]
        for name, length in self.description_lengths.items():
            bits = (f"{n:.3f}" for n in (length.hypothesis, length.data, length.total))
            rows.append((name, f"{prior[name]:.6g}", f"{posterior[name]:.6g}", *bits))
        return rows

    @property
    def _log_joint(self) -> FloatArray:
        # A hypothesis of prior 0 stays impossible, whatever its likelihood.
        return np.where(np.isneginf(self._log_prior), -inf, self._log_prior + self._log_likelihood)

    def _by_name(self, values: FloatArray) -> dict[str, float]:
        return dict(zip(self.names, values.tolist(), strict=True))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise SettingError(
                f"There is no hypothesis {name!r}. Hypotheses: {listing(self.names)}."
                f"{did_you_mean(name, self.names)}"
            )
        return self.names.index(name)


def _prior(
    names: tuple[str, ...],
    prior: Mapping[str, float] | None,
    lengths: Mapping[str, float] | None,
) -> tuple[FloatArray, FloatArray]:
    """Compute log P(h), and L(h) in bits."""
    if prior is None and lengths is None:
        even = np.full(len(names), -log(len(names)))
        return even, -even / log(2.0)
    what, given = ("prior", prior) if prior is not None else ("lengths", lengths)
    if not isinstance(given, Mapping) or set(given) != set(names):
        named = listing(given) if isinstance(given, Mapping) else repr(given)
        raise SettingError(
            f"{what} must give a number to each hypothesis: it names {named}, the hypotheses are "
            f"{listing(names)}."
        )
    for name in names:
        check_number(f"{what}[{name!r}]", given[name])
    numbers = np.array([float(given[name]) for name in names])
    if what == "lengths":
        log_prior = -numbers * log(2.0)
        return log_prior - _log_sum(log_prior), numbers
    if abs(fsum(numbers) - 1.0) > 1e-9:
        raise SettingError(f"prior must add up to 1, but adds up to {fsum(numbers)!r}.")
    with np.errstate(divide="ignore"):
        log_prior = np.log(numbers)
    return log_prior, np.where(np.isfinite(log_prior), -log_prior / log(2.0), inf)


def _log_sum(log_terms: FloatArray) -> float:
    top = float(log_terms.max())
    return top + log(fsum(np.exp(log_terms - top)))


def _first_largest(scores: FloatArray) -> int:
    """Find the largest score; of ties, within rounding, the first."""
    place = np.zeros(1, dtype=np.int32)
    argmax_rows(scores[None, :], place)
    return max(int(place[0]), 0)  # all impossible: the first, as good as any
