"""A model as JSON: every parameter by its name, for people and programs to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from priory.classifier import Classifier
from priory.families.words import WordsParameters

__all__ = ["to_json"]


def to_json(classifier: Classifier) -> dict[str, Any]:
    """Return the parameters of a model as JSON values.

    A class's score is its log_prior, its bias times the share of the columns that the row has, and
    each column's factor times its weight. −∞, the logarithm of a probability of 0, is written as
    the string "-inf".

    >>> from priory import Settings
    >>> classifier = Classifier(Settings.textbook()).learn({"x": ["a", "b", "b"]}, [0, 1, 1])
    >>> to_json(classifier)["columns"][0]["parameters"]["labels"]
    ['a', 'b']
    """
    model = classifier.model
    return {
        "classes": list(model.classes),
        "log_prior": _plain(model.log_prior),
        "bias": _plain(np.zeros(len(model.classes)) if model.bias is None else model.bias),
        "columns": [
            {
                "columns": list(term.block.columns),
                "about": term.about,
                "kind": term.block.kind.value,
                "family": term.family.name,
                "weight": term.weight,
                "parameters": _parameters(term.parameters),
            }
            for term in model.terms
        ],
    }


def _parameters(value: Any) -> dict[str, Any]:
    if isinstance(value, WordsParameters):
        return {"words": _plain(value.words), "weights": _plain(value.table)}
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name != "places"}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if is_dataclass(value):
        return {"type": type(value).__name__, **_parameters(value)}
    return value
