"""Description length: how many bits it takes to tell a model, and the data once it is told.

    L(h) = ½ log2 n for each free parameter      L(D | h) = −log2 P(D | h)

Parameters learned from n rows are known to about 1/√n, so ½ log2 n bits tell each of them as well
as the rows do (Rissanen 1978). Of two models the one with the smaller sum explains better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log, log2
from typing import Any, NamedTuple

import numpy as np

from priory.base.formatting import aligned
from priory.base.typing import FloatArray
from priory.families import Family
from priory.families.base import times
from priory.families.priors import Prior
from priory.families.protocols import as_parametric
from priory.model.class_prior import ClassPrior
from priory.model.model import Model
from priory.model.term import Choice, presence
from priory.statistics.statistics import Statistics

__all__ = [
    "DescriptionLength",
    "DescriptionPart",
    "ModelDescription",
    "bits_of_classes",
    "bits_of_parameter",
    "describe",
]


class DescriptionLength(NamedTuple):
    """The bits that encode a hypothesis, and the data given the hypothesis."""

    hypothesis: float
    data: float

    @property
    def total(self) -> float:
        """L(h) + L(D | h)."""
        return self.hypothesis + self.data


class DescriptionPart(NamedTuple):
    """The contribution of the classes, or of one block of columns, to a description."""

    title: str
    parameters: int
    length: DescriptionLength


@dataclass(frozen=True, eq=False, repr=False)
class ModelDescription:
    """The description length of a model and its training data, part by part.

        L(h)     = Σ_parts ½ log2 n · parameters
        L(D | h) = −Σ_rows log2 P(k) − Σ_columns Σ_rows log2 P(x_j | k)

    This is the length of the whole table, classes and columns, and follows from the statistics
    alone. `classes_given_rows`, if rows were given, is the length of the classes given the rows:
    −Σ_rows log2 P(k | x), under the predictions of the model.

    For continuous numbers L(D | h) is defined up to a constant, which depends on their precision;
    it is the same for all models, and the length may be negative.
    """

    n_rows: float
    parts: tuple[DescriptionPart, ...]
    """The classes first, then each block; missing values that count are parts of their own."""
    classes_given_rows: float | None = None

    @property
    def hypothesis(self) -> float:
        """L(h), the bits of all parameters."""
        return sum(part.length.hypothesis for part in self.parts)

    @property
    def data(self) -> float:
        """L(D | h), the bits of classes and columns given the parameters."""
        return sum(part.length.data for part in self.parts)

    @property
    def total(self) -> float:
        """L(h) + L(D | h)."""
        return self.hypothesis + self.data

    @property
    def parameters(self) -> int:
        """The number of free parameters."""
        return sum(part.parameters for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Convert the description to plain JSON values."""
        return {
            "rows": self.n_rows,
            "parameters": self.parameters,
            "hypothesis": self.hypothesis,
            "data": self.data,
            "total": self.total,
            "classes_given_rows": self.classes_given_rows,
            "parts": [
                {
                    "part": part.title,
                    "parameters": part.parameters,
                    "hypothesis": part.length.hypothesis,
                    "data": part.length.data,
                }
                for part in self.parts
            ],
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n\n".join([aligned(self._rows(), right=True), *self._remarks()])

    def _repr_html_(self) -> str:
        from priory.base.html import html_table, html_together

        head, *rows = self._rows()
        return html_together(html_table(head, rows), remarks=self._remarks())

    def _remarks(self) -> list[str]:
        if self.classes_given_rows is None:
            return []
        return [f"the classes given the rows: {self.classes_given_rows:,.1f} bits"]

    def _rows(self) -> list[tuple[str, ...]]:
        """List the header, a row for each part, and the total."""

        def row(title: str, parameters: int, hypothesis: float, data: float) -> tuple[str, ...]:
            bits = (hypothesis, data, hypothesis + data)
            return (title, f"{parameters:,}", *(f"{x:,.1f}" for x in bits))

        return [
            ("bits", "parameters", "L(h)", "L(D | h)", "total"),
            *(row(part.title, part.parameters, *part.length) for part in self.parts),
            row("total", self.parameters, self.hypothesis, self.data),
        ]


def bits_of_parameter(n_rows: float) -> float:
    """Compute ½ log2 n, the bits of a parameter that was estimated from n rows.

    >>> bits_of_parameter(1024)
    5.0
    """
    return 0.5 * log2(max(n_rows, 1.0))


def describe(
    model: Model,
    statistics: Statistics,
    choices: Mapping[str, Choice],
    class_prior: ClassPrior,
    classes_given_rows: float | None = None,
) -> ModelDescription:
    """Compute the description length of a model, given its statistics and choices."""
    n_rows = float(statistics.weight.sum())
    each = bits_of_parameter(n_rows)
    counted = class_prior is None or (isinstance(class_prior, str) and class_prior == "words")
    free = int((statistics.rows > 0).sum()) - 1 if counted else 0
    of_classes = -times(statistics.weight, model.log_prior)
    parts = [
        DescriptionPart("the classes", free, DescriptionLength(each * free, _bits(of_classes)))
    ]
    for term in model.terms:
        if term.about == "correction":  # no part of what describes the rows
            continue
        name, prior = term.block.name, choices[term.block.name].prior
        table: Any = statistics.tables[name]
        if term.about == "missing":
            table, prior = presence(term.block, table, statistics.weight, prior)
        free, nats = _length(term.family, table, prior, term.parameters)
        parts.append(DescriptionPart(term.title, free, DescriptionLength(each * free, _bits(nats))))
    return ModelDescription(n_rows, tuple(parts), classes_given_rows)


def bits_of_classes(log_posterior: FloatArray, codes: Any, weight: FloatArray | None) -> float:
    """Compute −Σ log2 P(k | x) over the classes of the rows."""
    own = -log_posterior[np.arange(len(codes)), codes]
    return _bits(float((own if weight is None else own * weight).sum()))


def _length(family: Family, table: Any, prior: Prior | None, parameters: Any) -> tuple[int, float]:
    counted = as_parametric(family)
    return counted.n_free(table, prior), -counted.log_likelihood_of(table, parameters)


def _bits(nats: float) -> float:
    return nats / log(2.0) + 0.0 if nats < inf else inf
