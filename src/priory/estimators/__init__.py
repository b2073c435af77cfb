"""The scikit-learn face: NaiveBayes, TextNB and the drop-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.estimators.decider import Decider
    from priory.estimators.dropins import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
    )
    from priory.estimators.loading import load
    from priory.estimators.naive_bayes import NaiveBayes
    from priory.estimators.text import TextNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "Decider",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "TextNB",
    "load",
]

_HOME = {"Decider": "decider", "NaiveBayes": "naive_bayes", "TextNB": "text", "load": "loading"}

__getattr__ = importer(globals(), dict.fromkeys(__all__, "dropins") | _HOME)
