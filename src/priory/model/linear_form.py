"""A model as a linear classifier: weights of features and a bias for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from priory.base.errors import NotLinearError
from priory.base.formatting import aligned
from priory.base.typing import FloatArray, Label
from priory.families.protocols import as_linear

if TYPE_CHECKING:
    from priory.model.model import Model

__all__ = ["LinearForm", "linear_form"]

MOST_FEATURES = 20
"""So many weights of a linear form are printed."""


@dataclass(frozen=True, eq=False, repr=False)
class LinearForm:
    """A linear form log P(k, x) = Σ_f weights[f, k] · x_f + bias[k], up to what all classes share.

    For two classes `w` and `b` are those of the log-odds: P(second | x) = 1 / (1 + e^−(w·x + b)).
    """

    classes: tuple[Label, ...]
    features: tuple[str, ...]
    weights: FloatArray
    bias: FloatArray

    def __repr__(self) -> str:
        return f"<LinearForm: {len(self.features)} features, {len(self.classes)} classes>"

    def __str__(self) -> str:
        rows, more = self._rows()
        return "\n".join([aligned(rows, right=True), *more])

    def _repr_html_(self) -> str:
        from priory.base.html import html_table, html_together

        (head, *rows), more = self._rows()
        return html_together(html_table(head, rows), remarks=more)

    def _rows(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """List the biases and the weights that tell classes apart most, and what is left out."""
        order = np.argsort(-np.ptp(self.weights, axis=1), kind="stable")[:MOST_FEATURES]
        rows = [("", *map(str, self.classes)), ("bias", *(f"{b:.4g}" for b in self.bias))]
        rows += [(self.features[f], *(f"{w:.4g}" for w in self.weights[f])) for f in order.tolist()]
        more = len(self.features) - len(order)
        return rows, [f"({more} more features are not shown)"] if more else []

    @property
    def w(self) -> FloatArray:
        """The weights of the log-odds of the second class of two."""
        self._check_two()
        return self.weights[:, 1] - self.weights[:, 0]

    @property
    def b(self) -> float:
        """The bias of the log-odds of the second class of two."""
        self._check_two()
        return float(self.bias[1] - self.bias[0])

    def _check_two(self) -> None:
        if len(self.classes) != 2:
            raise NotLinearError(
                f"w and b are for two classes; there are {len(self.classes)}. "
                "Use weights and bias, which have a column for each class."
            )


def linear_form(model: Model) -> LinearForm:
    """Derive the weights and biases with which every log P(k, x) is a weighted sum."""
    forms = [
        as_linear(term.family, term.block.title).linear(term.block, term.parameters)
        for term in model.terms
    ]
    features = [
        term.title if term.about == "missing" else feature
        for term, form in zip(model.terms, forms, strict=True)
        for feature in form.features
    ]
    trust = [term.weight for term in model.terms]
    weighted = [w * form.weights for w, form in zip(trust, forms, strict=True)]
    weights = np.concatenate(weighted or [np.zeros((0, len(model.classes)))])
    bias = model.log_prior + (0.0 if model.bias is None else model.bias)
    bias = sum((w * form.bias for w, form in zip(trust, forms, strict=True)), bias)
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise NotLinearError(
            "A probability of this model is 0, so a weight would be infinite. "
            "Give every column a smoothing above 0."
        )
    return LinearForm(model.classes, tuple(features), weights, bias)
