"""All parameters of a model in one tidy table: P(v | k), μ, σ², P(word | k), the class prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.typing import FloatArray, Label
from priory.families.estimates import Estimates, Exact, exact, exact_sums, remark
from priory.model.class_prior import ClassPrior, n_words
from priory.model.model import Model
from priory.model.term import Choice, presence
from priory.statistics.statistics import Statistics

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_frame", "estimate_columns"]


def as_frame(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Convert the table to a DataFrame."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("tables() returns a DataFrame, which needs pandas.") from None
    numbers = ("estimate", "count", "total")
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype="float64" if name in numbers else object)
            for name, values in columns.items()
        }
    )


def estimate_columns(
    model: Model,
    statistics: Statistics,
    choices: Mapping[str, Choice],
    class_prior: ClassPrior,
    fractions: bool,
) -> dict[str, list[Any]]:
    """List the columns of the table; numbers that a parameter does not have are None."""
    names = ["column", "parameter", "value", "class", "estimate", "count", "total"]
    columns: dict[str, list[Any]] = {name: [] for name in [*names, "fraction"][: 7 + fractions]}
    for column, found in _all(model, statistics, choices, class_prior):
        labels: tuple[Label | None, ...] = model.classes if found.by_class else (None,)
        n, k = len(found.values), len(labels)
        which = [column] * n if found.columns is None else list(found.columns)
        columns["column"] += [name for name in which for _ in labels]
        columns["parameter"] += [found.parameter] * (n * k)
        columns["value"] += [value for value in found.values for _ in labels]
        columns["class"] += list(labels) * n
        for name in ("estimate", "count", "total"):
            numbers: FloatArray | None = getattr(found, name)
            columns[name] += _numbers(numbers, n, k)
        if fractions:
            told = found.fractions() if found.fractions is not None else None
            columns["fraction"] += _texts(told, n, k)
    return columns


def _all(
    model: Model,
    statistics: Statistics,
    choices: Mapping[str, Choice],
    class_prior: ClassPrior,
) -> Iterator[tuple[str | None, Estimates]]:
    """Iterate over the parameters, each with its column."""
    yield None, _class_prior(model, statistics, class_prior)
    if model.bias is not None and model.bias.any():
        yield None, Estimates("bias", (None,), model.bias[None])
    for term in model.terms:
        if term.about == "correction":
            for found in term.family.estimates(term.block, None, None, term.parameters):
                yield term.block.title, found
            continue
        block, table = term.block, statistics.tables[term.block.name]
        prior = choices[block.name].prior
        if term.about == "missing":
            derived, prior = presence(block, table, statistics.weight, prior)
            (found,) = term.family.estimates(block, derived, prior, term.parameters)
            yield block.columns[-1], _of_true(found)
        else:
            for found in term.family.estimates(block, table, prior, term.parameters):
                yield block.title, found if len(found.values) else remark("no data")
        if term.weight != 1.0:
            name = "weight of P(missing | class)" if term.about == "missing" else "weight"
            weight = np.full((1, 1), term.weight)
            yield term.title, Estimates(name, (None,), weight, by_class=False)


def _of_true(found: Estimates) -> Estimates:
    """Keep the estimates of True only."""
    assert found.count is not None
    assert found.total is not None

    def fractions() -> Exact | None:
        told = found.fractions() if found.fractions is not None else None
        return None if told is None else told[1:]

    numbers = (found.estimate[1:], found.count[1:], found.total[1:])
    return Estimates("P(missing | class)", (None,), *numbers, fractions=fractions)


def _class_prior(model: Model, statistics: Statistics, given: ClassPrior) -> Estimates:
    """Estimate P(k): a fraction of the rows or of the words, or the given prior."""
    counts: FloatArray | None = None
    if given is None:
        counts = statistics.weight
    elif isinstance(given, str):
        counts = n_words(statistics) if given == "words" else (statistics.rows > 0).astype(float)

    def fractions() -> Exact | None:
        if counts is None:
            p = [given[k] for k in model.classes] if isinstance(given, Mapping) else list(given)  # type: ignore[arg-type]
            return [[exact(x) for x in p]]
        n = exact_sums(counts[None])
        return None if n is None else [[x / sum(n[0], Fraction()) for x in n[0]]]

    seen = None if counts is None or given == "uniform" else counts[None]
    total = None if seen is None else np.full_like(seen, seen.sum())
    prior = np.exp(model.log_prior)[None]
    return Estimates("P(class)", (None,), prior, seen, total, fractions=fractions)


def _numbers(numbers: FloatArray | None, n: int, k: int) -> list[float | None]:
    if numbers is None:
        return [None] * (n * k)
    flat = np.broadcast_to(numbers, (n, k)).ravel().tolist()
    return [None if x != x else x for x in flat]


def _texts(fractions: Exact | None, n: int, k: int) -> list[str | None]:
    if fractions is None:
        return [None] * (n * k)
    return [None if x is None else str(x) for row in fractions for x in row]
