"""A model as data for a page: what scoring.js needs to compute P(k | row) as Python does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import float_info
from typing import Any

import numpy as np

from priory.base.typing import FloatArray, Label
from priory.classifier.fitted import Fitted
from priory.export.plain import factor_to_json
from priory.families.student_t import StudentTParameters
from priory.families.words import WordsParameters
from priory.kernels.text import character_stretches
from priory.model.term import Term

__all__ = ["page_label", "page_model", "page_value"]

SAFE = 2**53
"""Integers beyond this are rounded by JavaScript."""

MANY = 64
"""Tables with more columns than this are written by their distinct columns."""


def page_model(
    classifier: Fitted, columns: Sequence[str], most_words: int | None = None
) -> dict[str, Any]:
    """Write a model as JSON values for scoring.js; `columns` are those of a row, in their order.

    It is `priory.export.to_json` with lists for the classes, and columns by their place. Tables of
    many values are written by their distinct columns: most words have been seen in few texts, so
    that few numbers stand for many. With `most_words` only so many words of a text are written,
    those that move most texts farthest; what is computed is then no longer what Python computes.

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook()).update({"x": ["a", "b", "b"]}, [0, 0, 1])
    >>> page_model(classifier, ["x"])["factors"][0]["parameters"]["probability"]
    [[0.5, 0.5], [0.3333333333333333, 0.6666666666666666]]
    """
    model, tables = classifier.model, classifier.statistics.tables
    place = {name: j for j, name in enumerate(columns)}
    return {
        "prior": np.exp(model.log_prior).tolist(),
        "factors": [
            _words(term, place, tables[term.block.name], most_words)
            if isinstance(term.parameters, WordsParameters) and most_words is not None
            else _factor(term, place)
            for term in model.terms
            if term.counts
        ],
    }


def _words(term: Term, place: dict[str, int], table: Any, most: int) -> dict[str, Any]:
    """Write the words alone that say most: in how many texts they are, times how much they say."""
    p: WordsParameters = term.parameters
    texts = table.per_word(table.pairs.rows)[: len(p.weights.kept)][p.weights.kept]
    weights = np.nan_to_num(p.table)
    said = texts * (weights.max(axis=1) - weights.min(axis=1))
    some = np.sort(np.argsort(-said, kind="stable")[:most])

    def by_class(values: Any) -> Any:
        table = np.asarray(values)
        return _by_class(table if table.ndim == 1 else table[:, some])

    told = _factor(term, place, by_class)
    told["parameters"]["words"] = p.words[some].tolist()
    if term.family.readout == "bernoulli":  # type: ignore[attr-defined]
        rest = np.setdiff1d(np.flatnonzero(p.weights.kept), np.flatnonzero(p.weights.kept)[some])
        absent = term.weight * p.weights.log_presence(rest)[1].sum(axis=0)
        told["bias"] = (np.asarray(told.get("bias", 0.0)) + absent).tolist()
    return told


def _factor(
    term: Term, place: dict[str, int], by_class: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    told = factor_to_json(term, by_class or _by_class)
    told["columns"] = [place[name] for name in told["columns"]]
    parameters = told["parameters"]
    if term.about != "missing" and isinstance(term.parameters, StudentTParameters):
        parameters["log norm"] = _by_class(term.parameters.log_norm)  # JavaScript has no log Γ
    for name in ("values", "domains", "combinations", "parent values", "columns"):
        if name in parameters:
            parameters[name] = _labels(parameters[name])
    splitting = parameters.get("splitting")
    if splitting is not None and splitting["unit"] == "word":
        splitting["kinds"] = character_stretches()  # 15 kB
    return told


def _by_class(values: Any) -> Any:
    """Write an array whose first axis are the classes."""
    table = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0)
    if table.ndim == 2 and table.shape[1] > MANY:
        distinct, at = np.unique(table, axis=1, return_inverse=True)
        if distinct.shape[1] * 2 <= table.shape[1]:
            return {"distinct": _listed(distinct), "at": at.ravel().tolist()}
    return _listed(table)


def _listed(table: FloatArray) -> Any:
    """List numbers; an infinite one becomes the largest, since JSON has no infinity."""
    return np.clip(table, -float_info.max, float_info.max).tolist()


def _labels(values: Any) -> Any:
    """Convert labels wherever they stand."""
    if isinstance(values, list | tuple):
        return [_labels(value) for value in values]
    if isinstance(values, dict):
        return {**values, "values": _labels(values["values"])}
    return page_label(values)


def page_label(label: Label) -> Any:
    """Convert a label for JavaScript: an integer that it would round becomes a string.

    >>> page_label("a"), page_label(True), page_label(2**60)
    ('a', True, '1152921504606846976')
    """
    if isinstance(label, int) and not isinstance(label, bool) and abs(label) > SAFE:
        return str(label)
    return label


def page_value(value: Any) -> Any:
    """Convert the value of a row: NaN and None are missing."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if value is None or value != value else page_label(value)
