"""BernoulliNB on the core's counts, or on its labels where there are gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.preprocessing import binarize as binarized
from sklearn.utils.validation import check_is_fitted

from priory.base.errors import InputError
from priory.base.typing import FloatArray
from priory.data.columns import Frame
from priory.data.schema import Schema
from priory.estimators.dropins.base import Generative, as_floats
from priory.estimators.dropins.categorical import a_block_each, a_column_each, choice_each, count_of
from priory.estimators.dropins.counts import OverCounts, as_counts
from priory.families.base import Family
from priory.families.bernoulli import Bernoulli
from priory.model.model import Choice
from priory.statistics.statistics import Statistics

__all__ = ["BernoulliNB"]


class BernoulliNB(OverCounts, Generative):
    """Classify by which columns are present: a Bernoulli for each column and class.

        log P(x | k) = Σ_j x_j log p_jk + (1 − x_j) log(1 − p_jk),   p_jk = (n_jk + α) / (n_k + 2α)

    Parameters and attributes are scikit-learn's; a column is present above `binarize`, or above
    0 when that is None. `missing="skip"` leaves the factor of a NaN out (dense data only).

    >>> X, y = [[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]
    >>> BernoulliNB().fit(X, y).predict([[0, 1]]).tolist()
    ['b']
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        missing: str = "error",
        new_classes: str = "error",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.missing = missing
        self.new_classes = new_classes
        self.n_threads = n_threads

    def _family(self) -> Family:
        return Bernoulli()

    def _is_plain(self, X: Any) -> bool:
        return super()._is_plain(X) and not (self.missing == "skip" and hasattr(X, "tocsr"))

    def _data_rules(self) -> dict[str, Any]:
        rules = super()._data_rules()
        return {**rules, "accept_sparse": False} if self.missing == "skip" else rules

    def _schema(self, columns: Sequence[str]) -> Schema:
        if self.missing == "skip":  # gaps differ from column to column, so each is its own block
            return a_block_each(columns)
        return super()._schema(columns)

    def _frame(self, X: Any, schema: Schema) -> Frame:
        threshold = 0.0 if self.binarize is None else self.binarize
        if self.missing == "skip":
            X = as_floats(X)
            present = np.where(np.isnan(X), np.nan, threshold < X)
            return a_column_each(present, schema, "BernoulliNB (input X)")
        if hasattr(X, "tocsr"):
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            return Frame(X.shape[0], {"X": as_counts(binarized(X, threshold=threshold))})
        return Frame(len(X), {"X": replace(as_counts(X), threshold=threshold)})

    def _refuse(self, X: Any, error: InputError) -> None:
        super(OverCounts, self)._refuse(X, error)  # negative numbers are below the threshold

    def _choices(self, statistics: Statistics) -> Mapping[str, Choice]:
        return choice_each(statistics.schema, [self._family()] * self.n_features_in_, self._prior())

    @property
    def feature_count_(self) -> FloatArray:
        """Return the weight of the rows of each class in which each column is present."""
        check_is_fitted(self)
        if "X" in self._statistics.tables:
            return self._table.weight
        return np.stack([count_of(t, 1) for t in self._statistics.tables.values()], axis=1)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Return log P(column j is present | k), classes × columns."""
        return np.concatenate([term.parameters.log_on for term in self._model().terms]).T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.missing != "skip"
        return tags
