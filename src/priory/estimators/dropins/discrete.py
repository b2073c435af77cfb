"""What the drop-ins over counts and categories share: alpha, the class prior, columns of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_non_negative

from priory.base.errors import InputError, SettingError, warn
from priory.base.typing import AnyArray, FloatArray
from priory.data.coding import code_columns
from priory.data.columns import Frame
from priory.data.schema import Block, Kind, Schema
from priory.estimators.dropins.base import DropIn
from priory.families.priors import Laplace, Prior
from priory.model.class_prior import ClassPrior
from priory.model.term import Choice
from priory.statistics.tables import LabelsTable

__all__ = ["Discrete", "choice_each", "codes_frame", "codes_schema", "count_of"]

ALPHA_MIN = 1e-10
"""What scikit-learn raises a smaller alpha to, unless `force_alpha`."""

MOST_CATEGORIES = 1_000_000
"""A larger code is no category of a column but an identifier, or a mistake."""


class Discrete(DropIn):
    """Base of the drop-ins over counts and categories."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

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
        self._keep(locals())

    def _class_prior(self) -> ClassPrior:
        if self.class_prior is not None:
            return self.class_prior
        return None if self.fit_prior else "uniform"

    def _prior(self) -> Prior:
        """Check alpha: a number, one for each column, or a prior as it is."""
        if isinstance(self.alpha, Prior):
            return self.alpha
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            raise SettingError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.size} elements instead of {self.n_features_in_}."
            )
        if not (alpha >= 0).all():
            raise SettingError(
                f"All values in alpha must be greater than 0. alpha is {self.alpha!r}."
            )
        if not self.force_alpha and alpha.min() < ALPHA_MIN:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {ALPHA_MIN:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
            alpha = np.maximum(alpha, ALPHA_MIN)
        return Laplace(tuple(alpha.tolist()) if alpha.ndim else float(alpha))

    @property
    def class_log_prior_(self) -> FloatArray:
        """Log P(k)."""
        return self.model_.log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags


def codes_schema(columns: Sequence[str]) -> Schema:
    """Make every column a block of labels."""
    return Schema(columns, tuple(Block(c, (c,), Kind.LABELS, "declared") for c in columns))


def codes_frame(X: AnyArray, schema: Schema, estimator: str) -> Frame:
    """Read each column of a matrix of codes as labels; NaN is missing."""
    columns, wrong = code_columns(X, MOST_CATEGORIES)
    if wrong is not None:
        check_non_negative(np.nan_to_num(X), f"{estimator} (input X)")
        raise InputError(
            f"Column {schema.columns[wrong]!r} holds a code too large for a category. Codes are "
            f"0, 1, 2, … below {MOST_CATEGORIES:,}: encode the column first, or leave its values "
            "as they are and use NaiveBayes(families='categorical')."
        )
    return Frame(len(X), dict(zip(schema.columns, columns, strict=True)))


def choice_each(schema: Schema, families: list[Any], prior: Prior) -> Mapping[str, Choice]:
    """Choose a family for each block, and its share of a prior with a number for each column."""
    shares: list[Prior] = [prior] * len(schema.blocks)
    if len(schema.blocks) > 1 and isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
        shares = [Laplace(alpha) for alpha in prior.alpha]
    return {
        block.name: Choice(family, share)
        for block, family, share in zip(schema.blocks, families, shares, strict=False)
    }


def count_of(table: Any, value: int) -> FloatArray:
    """Look up the weight of one value in each class."""
    labels: LabelsTable = table
    if value not in labels.labels:
        return np.zeros(len(labels.weight))
    return labels.weight[:, labels.labels.index(value)]
