"""MixedNetwork: Gaussian nodes beside discrete ones, each with discrete parents.

What was measured is a child of the same parents that came true, with a probability in proportion
to the density: so every answer is that of a discrete network, and exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np

from priory.base.errors import InputError, NotFittedError, SettingError, check_number, listing
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.columns import Numbers
from priory.data.combinations import joined_codes
from priory.data.rawtables import RawTable, open_table
from priory.data.reading import read_weights
from priory.families.posteriors import tails
from priory.network.belief_network import BeliefNetwork
from priory.network.evidence import Interventions
from priory.network.expressions import EventLike
from priory.network.factors import Smoothing
from priory.network.graphs import graph_of
from priory.network.joint_table import JointTable, Variables
from priory.network.variables import code_of, read_coded

__all__ = ["MixedNetwork", "Mixture"]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Hold a mixture of normal distributions: Σ w_i Normal(mean_i, variance_i).

    >>> both = Mixture(np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1.0, 1.0]))
    >>> both.mean, both.variance, both.cdf(0.0)
    (0.0, 2.0, 0.5)
    """

    weights: FloatArray
    means: FloatArray
    variances: FloatArray

    @property
    def mean(self) -> float:
        """Σ w_i mean_i."""
        return float(self.weights @ self.means)

    @property
    def variance(self) -> float:
        """Σ w_i (variance_i + (mean_i − mean)²)."""
        return float(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    def pdf(self, x: float) -> float:
        """Compute the density of a number."""
        return float(self.weights @ np.exp(_log_density(float(x), self.means, self.variances)))

    def cdf(self, x: float) -> float:
        """Compute the probability of a number that is at most x."""
        from scipy.special import ndtr

        return float(self.weights @ ndtr((float(x) - self.means) / np.sqrt(self.variances)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Find the central interval that has this probability."""
        from scipy.optimize import brentq

        means, spread = self.means, 40 * np.sqrt(self.variances)
        ends = float((means - spread).min()), float((means + spread).max())

        def quantile(share: float) -> float:
            return float(brentq(lambda x: self.cdf(x) - share, *ends))

        low, high = tails(level)
        return quantile(low), quantile(high)


class MixedNetwork:
    """Model discrete variables, and numbers that are normal given discrete parents.

        P(d, x) = Π P(d_i | parents) · Π Normal(x_j; mean and variance given the parents of x_j)

    `edges` are those of a `BeliefNetwork`; `gaussian` names the nodes of numbers, or gives their
    parameters, {parent values: (mean, variance)}. Their parents are discrete, and they have no
    children. With `tables` those of the discrete nodes are given; else `update` learns
    everything. `smoothing` is that of the discrete nodes, and how many rows of the whole column the
    mean and the variance of each combination of parents are shrunk by: 0 is maximum likelihood.

    >>> network = MixedNetwork(
    ...     "sex->height",
    ...     gaussian={"height": {"f": (165, 49), "m": (178, 64)}},
    ...     tables={"sex": {"f": 0.5, "m": 0.5}},
    ... )
    >>> round(network.p("sex == m", given={"height": 180}), 4)
    0.8939
    >>> round(network.marginal("height").mean, 2), round(network.marginal("height").variance, 2)
    (171.5, 98.75)
    """

    def __init__(
        self,
        edges: Any,
        gaussian: Iterable[str] | Mapping[str, Any],
        tables: Mapping[str, Any] | None = None,
        values: Mapping[str, Iterable[Label]] | None = None,
        smoothing: Smoothing = 1.0,
        nodes: Iterable[str] = (),
    ) -> None:
        if isinstance(gaussian, str):
            raise SettingError(f"gaussian must be a sequence of names, not {gaussian!r}.")
        self.gaussian = tuple(gaussian)
        self.graph = graph_of(edges, [*dict.fromkeys([*nodes, *self.gaussian])])
        for name in self.gaussian:
            if self.graph.children[name]:
                raise SettingError(
                    f"A Gaussian node has no children; {name!r} is a parent of "
                    f"{listing(self.graph.children[name])}. Turn the edge, or bin the column."
                )
        discrete = {n: p for n, p in self.graph.parents.items() if n not in self.gaussian}
        if not discrete:
            raise SettingError("A mixed network needs a discrete node; see Normal for a lone one.")
        prior = smoothing if isinstance(smoothing, int | float) else 1.0
        check_number("smoothing", prior)
        self._shrink = float(prior)
        self.discrete = BeliefNetwork(discrete, tables, [*discrete], values, smoothing)
        self._sums: dict[str, FloatArray] = {}
        self._parameters: dict[str, tuple[FloatArray, FloatArray]] = {}
        if isinstance(gaussian, Mapping):
            if tables is None:
                raise SettingError("gaussian gives parameters, so tables must be given as well.")
            self._parameters = {name: self._given(name, gaussian[name]) for name in gaussian}
        elif tables is not None:
            raise SettingError("tables are given, so gaussian must give (mean, variance) as well.")

    # Learning

    def update(self, data: Any, sample_weight: Any = None) -> Self:
        """Count the rows of the discrete nodes, and sum up the numbers given their parents."""
        if self._parameters and not self._sums:
            raise SettingError("The parameters of this network were given; it does not learn.")
        raw = open_table(data)
        weight = read_weights(sample_weight, raw.n_rows)
        numbers = {name: _numbers(raw, name) for name in self.gaussian}
        before = self.discrete.values if self._sums else None
        self.discrete.update(data, weight)
        if before is not None and before != self.discrete.values:
            raise InputError(
                "New values of discrete nodes came after the first rows; declare them: values=...."
            )
        coded = read_coded(raw, self.discrete.nodes, self.discrete.values, fixed="or missing")
        for name, x in numbers.items():
            shape = self._shape(name)
            codes = [coded.codes[p] for p in self.graph.parents[name]]
            keys = joined_codes(codes, shape, raw.n_rows) if codes else np.zeros(raw.n_rows, int)
            there = (keys >= 0) & ~np.isnan(x)
            w = np.ones(raw.n_rows) if weight is None else weight
            k, x, w = keys[there].astype(np.intp), x[there], w[there]
            cells = prod(shape)
            n = np.bincount(k, w, cells)
            mean = np.bincount(k, w * x, cells) / np.where(n > 0, n, 1.0)
            scatter = np.bincount(k, w * (x - mean[k]) ** 2, cells)
            new = np.stack([n, mean, scatter])
            self._sums[name] = _merged(self._sums[name], new) if name in self._sums else new
            self._parameters[name] = self._estimated(name, self._sums[name])
        return self

    def _estimated(self, name: str, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        n, mean, scatter = sums
        if not n.sum() > 0:
            raise InputError(f"Column {name!r} has no number in a row that knows its parents.")
        pooled = float((n @ mean) / n.sum())
        whole = float((scatter + n * (mean - pooled) ** 2).sum() / n.sum())
        k = self._shrink
        total = np.where(n + k > 0, n + k, 1.0)
        means = np.where(n + k > 0, (k * pooled + n * mean) / total, pooled)
        apart = k * n / total * (mean - pooled) ** 2
        variances = np.where(n + k > 0, (k * whole + scatter + apart) / total, whole)
        if not (variances > 0).all():
            raise InputError(
                f"The numbers of {name!r} do not vary with some values of its parents; a smoothing "
                "above 0 lends them the variance of the whole column."
            )
        return means, variances

    # Questions

    def p(
        self,
        event: EventLike,
        given: Mapping[str, Any] | None = None,
        do: Interventions | None = None,
    ) -> float:
        """Compute the probability of an event of discrete nodes, given values and numbers."""
        network, known, _ = self._with(given)
        return network.p(event, known, do)

    def log_p(self, given: Mapping[str, Any]) -> float:
        """Compute the log density of numbers, and probability of values, together."""
        network, known, log_scale = self._with(given)
        return network.log_p(known) + log_scale

    def marginal(
        self,
        variables: Variables,
        given: Mapping[str, Any] | None = None,
        do: Interventions | None = None,
    ) -> JointTable | Mixture:
        """Compute the distribution of a Gaussian node, a `Mixture`, or a table of discrete ones."""
        network, known, _ = self._with(given)
        if not isinstance(variables, str) or variables not in self.gaussian:
            return network.marginal(variables, known, do)
        means, variances = self._ready(variables)
        parents = self.graph.parents[variables]
        if given is not None and variables in given:
            raise SettingError(f"{variables!r} is given, so it is not unknown.")
        weights = network.marginal(parents, known, do).to_array().ravel() if parents else np.ones(1)
        return Mixture(weights, means, variances)

    def most_probable(self, given: Mapping[str, Any] | None = None) -> dict[str, Label]:
        """Find the most probable values of all the discrete nodes together."""
        network, known, _ = self._with(given)
        return network.most_probable(known, variables=self.discrete.nodes)

    def sample(
        self,
        n: int,
        given: Mapping[str, Any] | None = None,
        random_state: int | np.random.Generator | None = None,
        do: Interventions | None = None,
    ) -> dict[str, AnyArray]:
        """Draw n rows, as columns; with `given`, exactly from the conditional distribution."""
        rng = np.random.default_rng(random_state)
        network, known, _ = self._with(given)
        rows = network.sample(n, known, rng, do)
        drawn = {name: rows[name] for name in self.discrete.nodes}
        for name in self.gaussian:
            means, variances = self._ready(name)
            if given is not None and name in given:
                drawn[name] = np.full(int(n), float(given[name]))
                continue
            parents = self.graph.parents[name]
            columns = {p: drawn[p] for p in parents}
            keys: AnyArray = np.zeros(int(n), dtype=np.intp)
            if parents and n:
                coded = read_coded(columns, parents, self.discrete.values, fixed=True)
                keys = joined_codes([coded.codes[p] for p in parents], self._shape(name), int(n))
            drawn[name] = rng.normal(means[keys], np.sqrt(variances[keys]))
        return {name: drawn[name] for name in self.graph.nodes}

    # Parts of the answers

    def _with(self, given: Mapping[str, Any] | None) -> tuple[BeliefNetwork, dict[str, Any], float]:
        """Turn what was measured into children that came true, with the log of their scale."""
        if given is not None and not isinstance(given, Mapping):
            raise SettingError(
                "given must be a mapping of nodes to values, numbers or likelihoods here, not "
                f"{given!r:.60}."
            )
        known = dict(given or {})
        measured = {name: known.pop(name) for name in self.gaussian if name in known}
        if not measured:
            return self.discrete, known, 0.0
        parents = dict(self.discrete.graph.parents)
        tables: dict[str, Any] = dict(self.discrete.tables)
        values: dict[str, Any] = dict(self.discrete.values)
        log_scale = 0.0
        for name, x in measured.items():
            if isinstance(x, bool) or not isinstance(x, int | float | np.number) or x != x:
                raise InputError(f"{name!r} is a number; given={{{name!r}: {x!r}}} is none.")
            log_density = _log_density(float(x), *self._ready(name))
            largest = float(log_density.max())
            share = np.exp(log_density - largest).reshape(self._shape(name))
            log_scale += largest
            parents[name], values[name] = self.graph.parents[name], (False, True)
            tables[name] = np.stack([1.0 - share, share], axis=-1)
            known[name] = True
        network = BeliefNetwork(parents, tables, [*parents], values)
        return network, known, log_scale

    def _ready(self, name: str) -> tuple[FloatArray, FloatArray]:
        if name not in self._parameters:
            raise NotFittedError("This network has no parameters yet: learn them, or give them.")
        return self._parameters[name]

    def _shape(self, name: str) -> tuple[int, ...]:
        return tuple(len(self.discrete.values[p]) for p in self.graph.parents[name])

    def _given(self, name: str, table: Any) -> tuple[FloatArray, FloatArray]:
        parents, shape = self.graph.parents[name], self._shape(name)
        rows = table if parents else {(): table}
        if not isinstance(rows, Mapping):
            raise InputError(
                f"gaussian[{name!r}] must have (mean, variance) for each combination of "
                f"{listing(parents)}, not {table!r:.60}."
            )
        found = np.full((2, *shape), np.nan)
        for key, row in rows.items():
            place = key if isinstance(key, tuple) else (key,)
            if len(place) != len(parents) or np.shape(row) != (2,):
                raise InputError(
                    f"gaussian[{name!r}] must map the values of {listing(parents)} to (mean, "
                    f"variance), not {key!r} to {row!r:.40}."
                )
            domains = [self.discrete.values[p] for p in parents]
            codes: tuple[Any, ...] = (slice(None), *map(code_of, place, parents, domains))
            found[codes] = row
        means, variances = found.reshape(2, -1)
        if not np.isfinite(found).all() or not (variances > 0).all():
            raise InputError(
                f"gaussian[{name!r}] must have a finite mean and a variance above 0 for every "
                f"combination of {listing(parents)}."
            )
        return means, variances


def _log_density(x: float, means: FloatArray, variances: FloatArray) -> FloatArray:
    return -0.5 * (np.log(2 * np.pi * variances) + (x - means) ** 2 / variances)


def _merged(a: FloatArray, b: FloatArray) -> FloatArray:
    """Add up numbers, means and scatters (Chan, Golub and LeVeque 1979)."""
    n = a[0] + b[0]
    some = np.where(n > 0, n, 1.0)
    mean = (a[0] * a[1] + b[0] * b[1]) / some
    return np.stack([n, mean, a[2] + b[2] + a[0] * b[0] / some * (a[1] - b[1]) ** 2])


def _numbers(raw: RawTable, name: str) -> FloatArray:
    if name not in raw.places:
        raise InputError(f"Column {name!r} was not found. Columns: {listing(raw.names, 10)}.")
    column = raw.column(name).column
    if not isinstance(column, Numbers):
        raise InputError(f"Column {name!r} of a Gaussian node must hold numbers.")
    values = column.values[:, 0].astype(np.float64)
    if np.isinf(values).any():
        raise InputError(f"Column {name!r} holds infinity; use NaN for a missing value.")
    return values
