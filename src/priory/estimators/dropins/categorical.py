"""CategoricalNB on the core's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_non_negative

from priory.base.errors import InputError, SettingError
from priory.base.typing import AnyArray, FloatArray
from priory.data.coding import code_columns
from priory.data.columns import Frame
from priory.data.schema import Block, Kind, Schema
from priory.estimators.dropins.base import Discrete, Generative
from priory.families.categorical import Categorical
from priory.families.priors import Laplace, Prior
from priory.model.model import Choice
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable

__all__ = ["CategoricalNB", "a_block_each", "a_column_each", "choice_each", "count_of"]

MOST_CATEGORIES = 1_000_000
"""A larger code is no category of a column but an identifier, or a mistake."""


class CategoricalNB(Discrete, Generative):
    """Classify codes 0, 1, 2, … by a look-up table for each column and class.

        P(x_j = v | k) = (n_vk + α) / (n_k + α·categories)

    Parameters and attributes are scikit-learn's. A code never seen at fit is left out
    (`unseen="skip"`), counts as one more category ("smooth") or stops ("error").

    >>> X, y = [[0, 1], [0, 2], [1, 0]], ["a", "a", "b"]
    >>> CategoricalNB().fit(X, y).predict([[1, 7]]).tolist()
    ['b']
    """

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
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.missing = missing
        self.unseen = unseen
        self.new_classes = new_classes
        self.n_threads = n_threads

    _plain_dtypes: ClassVar[tuple[Any, ...]] = (np.int64, np.int32)

    def _data_rules(self) -> dict[str, Any]:
        return {**super()._data_rules(), "dtype": np.float64 if self.missing == "skip" else "int"}

    def _schema(self, columns: Sequence[str]) -> Schema:
        return a_block_each(columns)

    def _frame(self, X: Any, schema: Schema) -> Frame:
        return a_column_each(X, schema, f"{type(self).__name__} (input X)")

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
        """Return the number of categories of each column."""
        check_is_fitted(self)
        return self._n_categories(self._statistics)

    @property
    def category_count_(self) -> list[FloatArray]:
        """Return the weight of each category, classes × categories, for each column."""
        check_is_fitted(self)
        tables = self._statistics.tables.values()
        return [
            np.stack([count_of(table, v) for v in range(n)], axis=1)
            for table, n in zip(tables, self.n_categories_, strict=True)
        ]

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """Return log P(v | k), classes × categories, for each column."""
        terms = self._model().terms
        return [t.parameters.log_p[: len(t.parameters.labels)].T for t in terms]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


def a_block_each(columns: Sequence[str]) -> Schema:
    """Return a schema in which every column is a block of labels."""
    return Schema(columns, tuple(Block(c, (c,), Kind.LABELS, "declared") for c in columns))


def a_column_each(X: AnyArray, schema: Schema, whom: str) -> Frame:
    """Return each column of a matrix of codes as labels; NaN is a gap."""
    columns, wrong = code_columns(X, MOST_CATEGORIES)
    if wrong is not None:
        check_non_negative(np.nan_to_num(X), whom)
        raise InputError(
            f"Column {schema.columns[wrong]!r} holds a code too large for a category. Codes are "
            f"0, 1, 2, … below {MOST_CATEGORIES:,}: encode the column first, or leave its values "
            "as they are and use NaiveBayes(families='categorical')."
        )
    return Frame(len(X), dict(zip(schema.columns, columns, strict=True)))


def choice_each(schema: Schema, families: list[Any], prior: Prior) -> Mapping[str, Choice]:
    """Return a choice for each block, a prior with a number for each column shared out."""
    shares: list[Prior] = [prior] * len(schema.blocks)
    if len(schema.blocks) > 1 and isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
        shares = [Laplace(alpha) for alpha in prior.alpha]
    return {
        block.name: Choice(family, share)
        for block, family, share in zip(schema.blocks, families, shares, strict=False)
    }


def count_of(table: Any, value: int) -> FloatArray:
    """Return the weight of one value in each class."""
    labels: LabelsTable = table
    if value not in labels.labels:
        return np.zeros(len(labels.weight))
    return labels.weight[:, labels.labels.index(value)]
