"""Drop-ins for scikit-learn's naive Bayes classes: its signatures, attributes and results.

Each class only says how its data are counted and which family they have; the counting and the
formulas are those of the core. What scikit-learn lacks comes along: missing values
(`missing="skip"`), new classes (`new_classes="add"`), `forget`, `merge` and `+`.
"""

from __future__ import annotations

from priory.estimators.dropins.categorical import CategoricalNB
from priory.estimators.dropins.counts import BernoulliNB, ComplementNB, MultinomialNB
from priory.estimators.dropins.gaussian import GaussianNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]
