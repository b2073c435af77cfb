"""MultinomialNB and ComplementNB on the core's counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_non_negative

from priory.base.errors import InputError
from priory.base.typing import FloatArray
from priory.data.columns import Counts, Frame
from priory.data.schema import Block, Kind, Schema
from priory.estimators.dropins.base import Discrete, Generative
from priory.families.base import Family
from priory.families.multinomial import Complement, Multinomial
from priory.model.model import Choice, Model
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CountsTable

__all__ = ["ComplementNB", "MultinomialNB", "OverCounts", "as_counts"]


class OverCounts(Discrete):
    """Do what the drop-ins over a matrix of counts share, dense or sparse."""

    _reads_sparse: ClassVar[bool] = True
    _plain_dtypes: ClassVar[tuple[Any, ...]] = (np.float64, np.float32, np.int64)

    @abstractmethod
    def _family(self) -> Family:
        """Return how the counts are read out."""

    def _data_rules(self) -> dict[str, Any]:
        return {**super()._data_rules(), "accept_sparse": "csr"}

    def _schema(self, columns: Sequence[str]) -> Schema:
        return Schema(columns, (Block("X", columns, Kind.COUNTS, "declared"),))

    def _frame(self, X: Any, schema: Schema) -> Frame:
        if self.missing == "skip":  # a count that is not known adds nothing
            X = _without_gaps(X)
        return Frame(X.shape[0], {"X": as_counts(X)})

    def _refuse(self, X: Any, error: InputError) -> None:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        super()._refuse(X, error)

    def _choices(self, statistics: Statistics) -> Mapping[str, Choice]:
        return {"X": Choice(self._family(), self._prior())}

    @property
    def _table(self) -> CountsTable:
        check_is_fitted(self)
        return cast(CountsTable, self._statistics.tables["X"])

    @property
    def feature_count_(self) -> FloatArray:
        """Return Σx of each class and column."""
        return self._table.s1


class MultinomialNB(OverCounts, Generative):
    """Classify counts, such as those of words, by a multinomial for each class.

        log P(x | k) = Σ_j x_j log θ_jk,   θ_jk = (n_jk + α) / (n_k + α·columns)

    Parameters and attributes are scikit-learn's; `alpha` may also be a prior such as
    `MEstimate(2)`. `missing="skip"` takes a NaN for a count that adds nothing.

    >>> X, y = [[2, 0], [3, 1], [0, 2]], ["a", "a", "b"]
    >>> MultinomialNB().fit(X, y).predict([[0, 3]]).tolist()
    ['b']
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        missing: str = "error",
        new_classes: str = "error",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.missing = missing
        self.new_classes = new_classes
        self.n_threads = n_threads

    def _family(self) -> Family:
        return Multinomial()

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Return log P(j | k), classes × columns."""
        return self._model().terms[0].parameters.table.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(OverCounts):
    """Classify counts by how unlike the other classes they are (Rennie et al. 2003).

    Parameters and attributes are scikit-learn's. The scores are no likelihood, so the
    probabilities only rank the classes, and `score_samples` refuses.

    >>> X, y = [[2, 0], [3, 1], [0, 2]], ["a", "a", "b"]
    >>> ComplementNB().fit(X, y).predict([[0, 3]]).tolist()
    ['b']
    """

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
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.missing = missing
        self.new_classes = new_classes
        self.n_threads = n_threads

    def _family(self) -> Family:
        return Complement(norm=self.norm)

    def _read_out(self, statistics: Statistics) -> Model:
        model = super()._read_out(statistics)
        self._log_prior = model.log_prior
        if len(model.classes) == 1:
            return model
        # The prior has no part in complement scores, but for telling a single class.
        return replace(model, log_prior=np.zeros(len(model.classes)))

    @property
    def class_log_prior_(self) -> FloatArray:
        """Return log P(k), which is used only when there is a single class."""
        check_is_fitted(self)
        return self._log_prior

    @property
    def feature_all_(self) -> FloatArray:
        """Return Σx of each column over all classes."""
        return self._table.s1.sum(axis=0)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Return the weights of the complements, classes × columns."""
        return self._model().terms[0].parameters.table.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def as_counts(X: Any) -> Counts:
    """Return a matrix as the kernels read it, with no copy where there need be none."""
    kernels_read = X.dtype in (np.float32, np.float64, np.int64)
    return Counts.of(X if kernels_read else X.astype(np.float64))


def _without_gaps(X: Any) -> Any:
    if hasattr(X, "tocsr"):
        X = X.copy()
        X.data = np.nan_to_num(X.data)
        return X
    return np.nan_to_num(X)
