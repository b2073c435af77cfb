"""MultinomialNB, ComplementNB and BernoulliNB on the core's counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.preprocessing import binarize as binarized
from sklearn.utils.validation import check_non_negative

from priory.base.errors import InputError
from priory.base.typing import FloatArray
from priory.data.columns import Counts, Frame
from priory.data.schema import Block, Kind, Schema
from priory.estimators.dropins.base import Generative, as_floats
from priory.estimators.dropins.discrete import (
    Discrete,
    choice_each,
    codes_frame,
    codes_schema,
    count_of,
)
from priory.families.base import Family
from priory.families.bernoulli import Bernoulli
from priory.families.multinomial import Complement, Multinomial
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CountsTable

__all__ = ["BernoulliNB", "ComplementNB", "MultinomialNB"]


class _OverCounts(Discrete):
    """Base of the drop-ins over a matrix of counts, dense or sparse."""

    _reads_sparse: ClassVar[bool] = True
    _plain_dtypes: ClassVar[tuple[Any, ...]] = (np.float64, np.float32, np.int64)

    @abstractmethod
    def _family(self) -> Family: ...

    def _data_rules(self) -> dict[str, Any]:
        return {**super()._data_rules(), "accept_sparse": "csr"}

    def _schema(self, columns: Sequence[str]) -> Schema:
        return Schema(columns, (Block("X", columns, Kind.COUNTS, "declared"),))

    def _frame(self, X: Any, schema: Schema) -> Frame:
        if self.missing == "skip":  # a count that is not known adds nothing
            if hasattr(X, "tocsr"):
                X = X.copy()
                X.data = np.nan_to_num(X.data)
            else:
                X = np.nan_to_num(X)
        return Frame(X.shape[0], {"X": _as_counts(X)})

    def _refuse(self, X: Any, error: InputError) -> None:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        super()._refuse(X, error)

    def _choices(self, statistics: Statistics) -> Mapping[str, Choice]:
        return {"X": Choice(self._family(), self._prior())}

    @property
    def _table(self) -> CountsTable:
        self._check_fitted()
        return cast(CountsTable, self._statistics.tables["X"])

    @property
    def feature_count_(self) -> FloatArray:
        """Σx of each class and column."""
        return self._table.s1

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Log P(j | k), or the weights of the complements, classes × columns."""
        return self.model_.terms[0].parameters.table.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class MultinomialNB(_OverCounts, Generative):
    """Classify counts, such as those of words, by a multinomial for each class.

        log P(x | k) = Σ_j x_j log θ_jk,   θ_jk = (n_jk + α) / (n_k + α·columns)

    Parameters and attributes are scikit-learn's; `alpha` may also be a prior such as
    `MEstimate(2)`. With `missing="skip"` a NaN is a count that adds nothing.

    >>> X, y = [[2, 0], [3, 1], [0, 2]], ["a", "a", "b"]
    >>> MultinomialNB().fit(X, y).predict([[0, 3]]).tolist()
    ['b']
    """

    def _family(self) -> Family:
        return Multinomial()


class ComplementNB(_OverCounts):
    """Classify counts by how unlike the other classes they are (Rennie et al. 2003).

    Parameters and attributes are scikit-learn's. The scores are no likelihood, so the
    probabilities only rank the classes, and there is no `score_samples`.

    >>> X, y = [[2, 0], [3, 1], [0, 2]], ["a", "a", "b"]
    >>> ComplementNB().fit(X, y).predict([[0, 3]]).tolist()
    ['b']
    """

    norm: bool

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        missing: str = "error",
        new_classes: str = "error",
        n_threads: int | None = None,
    ) -> None:
        self._keep(locals())

    def _family(self) -> Family:
        return Complement(norm=self.norm)

    def _estimate(self, statistics: Statistics) -> Model:
        model = super()._estimate(statistics)
        self._log_prior = model.log_prior
        if len(model.classes) == 1:
            return model
        # The prior has no part in complement scores, except for a single class.
        return replace(model, log_prior=np.zeros(len(model.classes)))

    @property
    def class_log_prior_(self) -> FloatArray:
        """Log P(k), which is used only when there is a single class."""
        self._check_fitted()
        return self._log_prior

    @property
    def feature_all_(self) -> FloatArray:
        """Σx of each column over all classes."""
        return self._table.s1.sum(axis=0)


class BernoulliNB(_OverCounts, Generative):
    """Classify by which columns are present: a Bernoulli for each column and class.

        log P(x | k) = Σ_j x_j log p_jk + (1 − x_j) log(1 − p_jk),   p_jk = (n_jk + α) / (n_k + 2α)

    Parameters and attributes are scikit-learn's; a column is present above `binarize`, or above
    0 when that is None. `missing="skip"` omits the factor of a NaN (dense data only).

    >>> X, y = [[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]
    >>> BernoulliNB().fit(X, y).predict([[0, 1]]).tolist()
    ['b']
    """

    binarize: float | None

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
        self._keep(locals())

    def _family(self) -> Family:
        return Bernoulli()

    def _is_plain(self, X: Any) -> bool:
        return super()._is_plain(X) and not (self.missing == "skip" and hasattr(X, "tocsr"))

    def _data_rules(self) -> dict[str, Any]:
        rules = super()._data_rules()
        return {**rules, "accept_sparse": False} if self.missing == "skip" else rules

    def _schema(self, columns: Sequence[str]) -> Schema:
        # Other rows are missing in each column, so that each is its own block.
        return codes_schema(columns) if self.missing == "skip" else super()._schema(columns)

    def _frame(self, X: Any, schema: Schema) -> Frame:
        threshold = 0.0 if self.binarize is None else self.binarize
        if self.missing == "skip":
            X = as_floats(X)
            present = np.where(np.isnan(X), np.nan, threshold < X)
            return codes_frame(present, schema, "BernoulliNB")
        if hasattr(X, "tocsr"):
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            return Frame(X.shape[0], {"X": _as_counts(binarized(X, threshold=threshold))})
        return Frame(len(X), {"X": replace(_as_counts(X), threshold=threshold)})

    def _refuse(self, X: Any, error: InputError) -> None:
        super(_OverCounts, self)._refuse(X, error)  # negative numbers are below the threshold

    def _choices(self, statistics: Statistics) -> Mapping[str, Choice]:
        return choice_each(statistics.schema, [self._family()] * self.n_features_in_, self._prior())

    @property
    def feature_count_(self) -> FloatArray:
        """The weight of the rows of each class in which each column is present."""
        self._check_fitted()
        if "X" in self._statistics.tables:
            return self._table.weight
        return np.stack([count_of(t, 1) for t in self._statistics.tables.values()], axis=1)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Log P(column j is present | k), classes × columns."""
        return np.concatenate([term.parameters.log_on for term in self.model_.terms]).T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.missing != "skip"
        tags.input_tags.positive_only = False
        return tags


def _as_counts(X: Any) -> Counts:
    """Wrap a matrix as the kernels read it, with no copy where there need be none."""
    kernels_read = X.dtype in (np.float32, np.float64, np.int64)
    return Counts.of(X if kernels_read else X.astype(np.float64))
