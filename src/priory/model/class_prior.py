"""The prior probability of each class, as it is asked for or as the rows have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from priory.base.errors import InputError, SettingError, listing
from priory.base.labels import label_key, label_token
from priory.base.typing import FloatArray, Label
from priory.statistics.statistics import Statistics

__all__ = ["ClassPrior", "class_probabilities", "n_words"]

ClassPrior = None | Literal["uniform", "words"] | Mapping[Label, float] | Sequence[float]
"""How likely each class is beforehand: None takes its share of the rows."""


def class_probabilities(statistics: Statistics, given: ClassPrior) -> FloatArray:
    """Compute P(k): the shares of the rows, or the prior that is given, checked."""
    classes = statistics.classes
    if given is None:
        total = statistics.weight.sum()
        if not total > 0:
            raise InputError(
                f"The {statistics.n_rows} rows that were learned weigh nothing any more: their "
                "weight has faded, or was lost in rounding beside larger ones that were forgotten."
            )
        return statistics.weight / total
    if isinstance(given, str):
        if given == "uniform":
            # A class that was declared but never seen has no likelihood to speak for it.
            seen = statistics.rows > 0
            return seen / seen.sum()
        if given == "words":
            words = n_words(statistics)
            return np.asarray(words / words.sum())
        raise SettingError(
            f"class_prior must be None, 'uniform', 'words' or a probability for each class, "
            f"not {given!r}."
        )
    if isinstance(given, Mapping):
        given = _by_class(given, classes)
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"class_prior must be numbers, not {given!r}.") from None
    if prior.shape != (len(classes),):
        raise SettingError(
            f"Number of priors must match number of classes: class_prior has {prior.size}, "
            f"the classes are {listing(classes)}."
        )
    if not (np.isfinite(prior).all() and (prior >= 0).all()):
        raise SettingError(f"Priors must be non-negative: class_prior is {prior.tolist()}.")
    if not np.isclose(prior.sum(), 1.0):
        raise SettingError(f"The sum of the priors should be 1: class_prior adds to {prior.sum()}.")
    return prior


def _by_class(given: Mapping[Label, Any], classes: Sequence[Label]) -> list[Any]:
    """List what is given for each class; one that is no string may be named by its text.

    From the shell every name is text: there the class 1 is named by "1".
    """
    own = set(map(label_key, classes))
    by_text: dict[Any, Label] = {t: k for k in classes for t in (str(k), label_token(k))}
    found = {}
    for name, p in given.items():
        by_name = label_key(name) in own or name not in by_text
        found[label_key(name if by_name else by_text[name])] = p
    if set(found) != own or len(found) < len(given):
        raise SettingError(
            f"class_prior must name every class: it names {listing(given)}, "
            f"the classes are {listing(classes)}."
        )
    return [found[label_key(label)] for label in classes]


def n_words(statistics: Statistics) -> FloatArray:
    """Count the words of each class, in columns of text and blocks of counts."""
    from priory.statistics.tables import CountsTable, WordsTable

    words = [
        table.per_label(table.pairs.count)
        if isinstance(table, WordsTable)
        else table.s1.sum(axis=1)
        for table in statistics.tables.values()
        if isinstance(table, WordsTable | CountsTable)
    ]
    if not words:
        raise SettingError(
            "class_prior='words' needs a column of text or a block of counts; there is none."
        )
    return np.asarray(np.sum(words, axis=0))
