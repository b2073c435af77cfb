"""Likelihoods of hypotheses: log P(D | h), from a table, a function or a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import fsum, inf, isfinite, log
from typing import Any, Protocol

import numpy as np

from priory.base.errors import InputError, SettingError, did_you_mean, listing
from priory.base.labels import label_array
from priory.base.typing import AnyArray, FloatArray
from priory.data.rawtables import open_table
from priory.data.reading import read_labels
from priory.network.beliefs import Belief, Beta, Dirichlet
from priory.network.observations import Observations, observation_key
from priory.network.variables import places

__all__ = [
    "Believing",
    "Likelihood",
    "Single",
    "check_comparable",
    "likelihood_of",
    "predict_rows",
]


class Likelihood(Protocol):
    """Compute log P(D | h) of data and y; give with it the likelihood of the data that follow."""

    def __call__(self, data: Any, y: Any) -> tuple[float, Likelihood]:
        """Compute it."""
        ...

    def values(self) -> tuple[Any, ...]:
        """List the observations that the hypothesis knows, if it has a list."""
        ...

    def model(self) -> Any:
        """Give the classifier that predicts rows, or None."""
        ...


def likelihood_of(name: str, given: Any, log_space: bool, learning: bool) -> Likelihood:
    """Read a hypothesis: a table, a function, a distribution, a belief or a model."""
    if isinstance(given, Belief):
        return Believing(name, given)
    model = hasattr(given, "score_samples")
    if learning and not model:
        raise SettingError(
            f"learning=True is for models that learn; hypothesis {name!r} is {given!r:.60}."
        )
    if model:
        return _Learning(name, given) if learning else _Fitted(name, given)
    if isinstance(given, Mapping):
        return Single(name, _table(name, given), tuple(given))
    for method in ("logpmf", "logpdf"):  # a frozen distribution of scipy.stats
        if callable(getattr(given, method, None)):
            return Single(name, getattr(given, method), vectorised=True)
    if not callable(given):
        raise SettingError(
            f"Hypothesis {name!r} must be a function of one observation, a table "
            f"{{observation: probability}}, a scipy.stats distribution, a belief or a fitted "
            f"model, not {given!r:.60}."
        )
    return Single(name, given if log_space else _logarithm(name, given))


def check_comparable(given: Mapping[str, Any]) -> None:
    """Refuse networks that are not over the same nodes: their evidence is of different data."""
    networks = {name: set(model.nodes) for name, model in given.items() if hasattr(model, "nodes")}
    if not networks:
        return
    first = next(iter(networks))
    for name, nodes in networks.items():
        if nodes != networks[first]:
            more = sorted(nodes - networks[first])
            raise SettingError(
                "Networks that learn are hypotheses about the same data if they have the same "
                f"nodes; {name!r} "
                + (f"also has {listing(more)}." if more else "lacks ")
                + ("" if more else f"{listing(sorted(networks[first] - nodes))}.")
            )


@dataclass(frozen=True, eq=False)
class Single:
    """Add up the observations: log P(D | h) = Σ log P(d | h), each distinct one worked out once."""

    name: str
    log_p: Callable[[Any], Any]
    known: tuple[Any, ...] = ()
    vectorised: bool = False

    def __call__(self, data: Any, y: Any) -> tuple[float, Likelihood]:
        """Compute log P(D | h)."""
        _without_classes(self.name, y)
        pairs = Observations.of(data).pairs
        values = self._values([observation for observation, _ in pairs])
        for (observation, _), value in zip(pairs, values, strict=True):
            if value != value or value == inf:
                raise InputError(
                    f"Hypothesis {self.name!r} gives {observation!r} the log-likelihood {value!r}."
                )
        if -inf in values:
            return -inf, self
        return fsum(n * value for (_, n), value in zip(pairs, values, strict=True)), self

    def _values(self, observations: list[Any]) -> list[float]:
        if self.vectorised and all(isinstance(x, int | float | np.number) for x in observations):
            return list(np.asarray(self.log_p(np.array(observations)), dtype=np.float64).tolist())
        return [float(self.log_p(observation)) for observation in observations]

    def values(self) -> tuple[Any, ...]:
        """List the observations that it knows."""
        return self.known

    def model(self) -> Any:
        """Give None: it is no classifier."""
        return None


@dataclass(frozen=True, eq=False)
class Believing:
    """Integrate over what is believed, and believe anew: log P(D | h) in closed form."""

    name: str
    belief: Belief

    def __call__(self, data: Any, y: Any) -> tuple[float, Likelihood]:
        """Compute log P(D | h)."""
        _without_classes(self.name, y)
        try:
            seen = Observations.of(data)
            return self.belief.log_evidence(seen), replace(self, belief=self.belief.update(seen))
        except InputError as error:
            raise InputError(f"Hypothesis {self.name!r}: {error}") from None

    def values(self) -> tuple[Any, ...]:
        """List the observations that it knows."""
        if isinstance(self.belief, Beta):
            return self.belief.values
        return tuple(self.belief.counts) if isinstance(self.belief, Dirichlet) else ()

    def model(self) -> Any:
        """Give None: it is no classifier."""
        return None


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Add up log P(x), or log P(x, y), of the rows by a fixed model."""

    name: str
    fitted: Any

    def __call__(self, data: Any, y: Any) -> tuple[float, Likelihood]:
        return float(_log_p_rows(self.name, self.fitted, data, y).sum()), self

    def values(self) -> tuple[Any, ...]:
        return ()

    def model(self) -> Any:
        return self.fitted if hasattr(self.fitted, "predict_log_proba") else None


@dataclass(frozen=True, eq=False)
class _Learning(_Fitted):
    """Let the model learn each row: log P(D | h) = Σ log P(row | the rows before it).

    For a belief network the sum has a closed form, the marginal likelihood.
    """

    def __call__(self, data: Any, y: Any) -> tuple[float, Likelihood]:
        model = deepcopy(self.fitted)
        if hasattr(model, "log_evidence") and not hasattr(model, "predict_log_proba"):
            if y is not None:
                raise SettingError("A belief network takes all its variables as data, without y.")
            before = model.log_evidence() if model.n_rows else 0.0
            return model.update(data).log_evidence() - before, replace(self, fitted=model)
        if y is None:
            raise SettingError(f"Hypothesis {self.name!r} learns with classes: update(X, y).")
        learn = model.partial_fit if hasattr(model, "partial_fit") else model.update
        total = 0.0
        for row, label in _rows(data, y):
            total += float(_log_p_rows(self.name, model, row, [label])[0])
            learn(row, [label])
        return total, replace(self, fitted=model)


def _without_classes(name: str, y: Any) -> None:
    if y is not None:
        raise SettingError(f"y is for hypotheses that are classifiers; {name!r} is none.")


def _table(name: str, given: Mapping[Any, float]) -> Callable[[Any], float]:
    total = sum(given.values())
    if any(p < 0 or not isfinite(p) for p in given.values()) or abs(total - 1.0) > 1e-6:
        raise SettingError(
            f"The probabilities of hypothesis {name!r} must be at least 0 and add up to 1; "
            f"they add up to {total!r}."
        )
    known = {observation_key(value): log(p) if p > 0 else -inf for value, p in given.items()}

    def log_p(observation: Any) -> float:
        try:
            return known[observation_key(observation)]
        except (KeyError, TypeError):
            raise InputError(
                f"Hypothesis {name!r} does not know {observation!r}. It knows "
                f"{listing(given)}.{did_you_mean(str(observation), map(str, given))}"
            ) from None

    return log_p


def _logarithm(name: str, function: Callable[[Any], float]) -> Callable[[Any], float]:
    def log_p(observation: Any) -> float:
        p = float(function(observation))
        if not (0.0 <= p < inf):
            raise InputError(
                f"Hypothesis {name!r} gives {observation!r} the likelihood {p!r}; it must be a "
                "number of at least 0. Functions that give logarithms need log=True."
            )
        return log(p) if p > 0 else -inf

    return log_p


def _log_p_rows(name: str, model: Any, data: Any, y: Any) -> FloatArray:
    """Compute log P(x) of every row, or log P(x, y) = log P(x) + log P(y | x)."""
    log_p = np.asarray(model.score_samples(data), dtype=np.float64)
    if y is None:
        return log_p
    if not hasattr(model, "predict_log_proba"):
        raise SettingError(f"y is for classifiers; hypothesis {name!r} is none.")
    wanted = read_labels(y)
    classes = model.classes_ if hasattr(model, "classes_") else model.classes
    classes = np.asarray(classes, dtype=object).tolist()
    place = places(wanted.labels, classes)
    if -1 in place:
        raise InputError(
            f"Hypothesis {name!r} does not know the class {wanted.labels[place.index(-1)]!r}. "
            f"Classes: {listing(classes)}."
        )
    codes = np.array(place, dtype=np.intp)[wanted.codes]
    posterior = np.asarray(model.predict_log_proba(data), dtype=np.float64)
    return np.asarray(log_p + posterior[np.arange(len(codes)), codes])


def _rows(data: Any, y: Any) -> Iterable[tuple[dict[str, list[Any]], Any]]:
    """Give the rows one at a time, as tables of one row."""
    raw, labels = open_table(data), read_labels(y)
    if len(labels) != raw.n_rows:
        raise InputError(f"X has {raw.n_rows} rows, y has {len(labels)}.")
    columns = [raw.column(name).column for name in raw.names]
    for i in range(raw.n_rows):
        row = {name: [column.value(i)] for name, column in zip(raw.names, columns, strict=True)}
        yield row, labels.value(i)


def predict_rows(
    names: Sequence[str],
    likelihoods: Sequence[Likelihood],
    rows: Any,
    weight: FloatArray,
    method: str,
    rng: np.random.Generator,
) -> AnyArray:
    """Predict the class of every row by the classifiers together, or each by one that is drawn."""
    models = [likelihood.model() for likelihood in likelihoods]
    if None in models:
        raise SettingError(
            f"rows are predicted by classifiers; {names[models.index(None)]!r} is none."
        )
    classes, all_p = list[Any](), []
    for model in models:
        found = getattr(model, "classes_", None)
        known = np.asarray(model.classes if found is None else found, dtype=object).tolist()
        classes += [
            k for k, place in zip(known, places(known, tuple(classes)), strict=True) if place < 0
        ]
        all_p.append((known, np.exp(np.asarray(model.predict_log_proba(rows), dtype=np.float64))))
    n = len(all_p[0][1])
    drawn = rng.choice(len(weight), size=n, p=weight / weight.sum()) if method == "gibbs" else None
    total = np.zeros((n, len(classes)))
    for i, (known, p) in enumerate(all_p):
        share = weight[i] if drawn is None else (drawn == i)[:, None]
        total[:, places(known, tuple(classes))] += share * p
    return label_array(classes)[total.argmax(axis=1)]
