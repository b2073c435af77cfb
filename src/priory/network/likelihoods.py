"""Likelihoods of hypotheses: log P(D | h), from a table, a function or a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import partial
from math import fsum, inf, isfinite, log
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import InputError, SettingError, did_you_mean, listing
from priory.base.labels import label_key
from priory.base.typing import FloatArray
from priory.data.rawtables import open_table
from priory.data.reading import read_labels
from priory.network.variables import places

__all__ = ["Likelihood", "check_comparable", "likelihood_of"]


Likelihood: TypeAlias = Callable[[Any, Any], "tuple[float, Likelihood]"]
"""Compute log P(D | h) of data and y; give with it the likelihood of the data that follow."""


def likelihood_of(name: str, given: Any, log_space: bool, learning: bool) -> Likelihood:
    """Read a hypothesis: a table, a function, a distribution or a model."""
    model = hasattr(given, "score_samples")
    if learning and not model:
        raise SettingError(
            f"learning=True is for models that learn; hypothesis {name!r} is {given!r:.60}."
        )
    if model:
        return partial(_learning if learning else _fitted, name, given)
    if isinstance(given, Mapping):
        return partial(_single, name, _table(name, given))
    for method in ("logpmf", "logpdf"):  # a frozen distribution of scipy.stats
        if callable(getattr(given, method, None)):
            return partial(_single, name, getattr(given, method))
    if not callable(given):
        raise SettingError(
            f"Hypothesis {name!r} must be a function of one observation, a table "
            f"{{observation: probability}}, a scipy.stats distribution or a fitted model, not "
            f"{given!r:.60}."
        )
    return partial(_single, name, given if log_space else _logarithm(name, given))


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


def _single(
    name: str, log_p: Callable[[Any], float], data: Any, y: Any
) -> tuple[float, Likelihood]:
    """Add up the observations: log P(D | h) = Σ log P(d | h)."""
    if y is not None:
        raise SettingError(f"y is for hypotheses that are classifiers; {name!r} is none.")
    values = []
    for observation in _observations(data):
        value = float(log_p(observation))
        if value != value or value == inf:
            raise InputError(
                f"Hypothesis {name!r} gives {observation!r} the log-likelihood {value!r}."
            )
        values.append(value)
    return (-inf if -inf in values else fsum(values)), partial(_single, name, log_p)


def _fitted(name: str, model: Any, data: Any, y: Any) -> tuple[float, Likelihood]:
    """Add up log P(x), or log P(x, y), of the rows by a fixed model."""
    return float(_log_p_rows(name, model, data, y).sum()), partial(_fitted, name, model)


def _learning(name: str, model: Any, data: Any, y: Any) -> tuple[float, Likelihood]:
    """Let the model learn each row: log P(D | h) = Σ log P(row | the rows before it).

    For a belief network the sum has a closed form, the marginal likelihood.
    """
    model = deepcopy(model)
    if hasattr(model, "log_evidence") and not hasattr(model, "predict_log_proba"):
        if y is not None:
            raise SettingError("A belief network takes all its variables as data, without y.")
        before = model.log_evidence() if model.n_rows else 0.0
        return model.update(data).log_evidence() - before, partial(_learning, name, model)
    if y is None:
        raise SettingError(f"Hypothesis {name!r} learns with classes: update(X, y).")
    learn = model.partial_fit if hasattr(model, "partial_fit") else model.update
    total = 0.0
    for row, label in _rows(data, y):
        total += float(_log_p_rows(name, model, row, [label])[0])
        learn(row, [label])
    return total, partial(_learning, name, model)


def _observations(data: Any) -> Iterable[Any]:
    """List the observations; a string, a number or a mapping is a single one."""
    if isinstance(data, str | bytes | Mapping) or not hasattr(data, "__iter__"):
        return [data]
    return data if not isinstance(data, np.ndarray) else data.tolist()


def _table(name: str, given: Mapping[Any, float]) -> Callable[[Any], float]:
    total = sum(given.values())
    if any(p < 0 or not isfinite(p) for p in given.values()) or abs(total - 1.0) > 1e-6:
        raise SettingError(
            f"The probabilities of hypothesis {name!r} must be at least 0 and add up to 1; "
            f"they add up to {total!r}."
        )
    known = {_key(value): log(p) if p > 0 else -inf for value, p in given.items()}

    def log_p(observation: Any) -> float:
        try:
            return known[_key(observation)]
        except (KeyError, TypeError):
            raise InputError(
                f"Hypothesis {name!r} does not know {observation!r}. It knows "
                f"{listing(given)}.{did_you_mean(str(observation), map(str, given))}"
            ) from None

    return log_p


def _key(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return label_key(value) if isinstance(value, bool | int | float | str) else value


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
