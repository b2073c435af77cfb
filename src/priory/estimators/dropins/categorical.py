"""CategoricalNB on the core's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, FloatArray
from priory.data.columns import Frame
from priory.data.schema import Schema
from priory.estimators.dropins.base import Generative
from priory.estimators.dropins.discrete import (
    Discrete,
    choice_each,
    codes_frame,
    codes_schema,
    count_of,
)
from priory.families.categorical import Categorical
from priory.model.term import Choice
from priory.statistics.statistics import Statistics

__all__ = ["CategoricalNB"]


class CategoricalNB(Discrete, Generative):
    """Classify codes 0, 1, 2, … by a look-up table for each column and class.

        P(x_j = v | k) = (n_vk + α) / (n_k + α·categories)

    Parameters and attributes are scikit-learn's. A code never seen at fit is ignored
    (`unseen="skip"`), counts as one more category ("smooth") or is an error ("error").

    >>> X, y = [[0, 1], [0, 2], [1, 0]], ["a", "a", "b"]
    >>> CategoricalNB().fit(X, y).predict([[1, 7]]).tolist()
    ['b']
    """

    min_categories: Any
    unseen: str
    _plain_dtypes: ClassVar[tuple[Any, ...]] = (np.int64, np.int32)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        missing: str = "error",
        unseen: str = "skip",
        new_classes: str = "error",
        n_threads: int | None = None,
    ) -> None:
        self._keep(locals())

    def _data_rules(self) -> dict[str, Any]:
        return {**super()._data_rules(), "dtype": np.float64 if self.missing == "skip" else "int"}

    def _schema(self, columns: Sequence[str]) -> Schema:
        return codes_schema(columns)

    def _frame(self, X: Any, schema: Schema) -> Frame:
        return codes_frame(X, schema, type(self).__name__)

    def _choices(self, statistics: Statistics) -> Mapping[str, Choice]:
        unseen: Any = self.unseen
        families = [
            Categorical(values=tuple(range(n)), unseen=unseen)
            for n in self._n_categories(statistics)
        ]
        return choice_each(statistics.schema, families, self._prior())

    def _n_categories(self, statistics: Statistics) -> AnyArray:
        tables = statistics.tables.values()
        seen = np.array([int(max(t.labels, default=-1)) + 1 for t in tables])  # type: ignore[attr-defined]
        if self.min_categories is None:
            return seen
        least = np.asarray(self.min_categories)
        if least.dtype.kind != "i":
            raise SettingError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != seen.shape:
            raise SettingError(
                f"'min_categories' should have shape ({len(seen)},) when an array-like is "
                f"provided. Got {least.shape} instead."
            )
        return np.maximum(seen, least)

    @property
    def n_categories_(self) -> AnyArray:
        """The number of categories of each column."""
        self._check_fitted()
        return self._n_categories(self._statistics)

    @property
    def category_count_(self) -> list[FloatArray]:
        """The weight of each category, classes × categories, for each column."""
        self._check_fitted()
        tables = self._statistics.tables.values()
        return [
            np.stack([count_of(table, v) for v in range(n)], axis=1)
            for table, n in zip(tables, self.n_categories_, strict=True)
        ]

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """Log P(v | k), classes × categories, for each column."""
        terms = self.model_.terms
        return [t.parameters.log_p[: len(t.parameters.labels)].T for t in terms]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags
