"""Warnings about vanishing variance, which makes a class certain or impossible.

The maximum-likelihood variance of a single row is 0. A density needs a positive variance, so a
minimum is used; the class is then certain at its number, and impossible elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from priory.base.errors import listing
from priory.families.protocols import Floored
from priory.model.term import Term
from priory.statistics.statistics import Statistics

__all__ = ["about_spikes"]

ALONE = (
    "have variance 0, so that its density is a spike: the class is certain at that number and all "
    "but impossible elsewhere. Give the column a prior, smoothing={{{0}: NormalInverseGamma()}}, "
    "a variance shared by all classes, families={{{0}: 'gaussian-shared'}}, or more rows."
)
TOGETHER = (
    "have a singular covariance matrix: there are too few rows, or linearly dependent columns. A "
    "minimum variance, or the covariance of all classes, is used. Shrink the correlations, "
    "MultivariateGaussian(shrinkage='auto'), or share the covariance, "
    "MultivariateGaussian(shared=True)."
)


def about_spikes(terms: Iterable[Term], statistics: Statistics) -> dict[str, str]:
    """Describe the columns in which the variance of a class vanishes, by name.

    >>> from priory.families import Gaussian
    >>> from priory.model.model import Model
    >>> from priory.model.term import Choice
    >>> from priory.data.reading import infer, read, read_labels
    >>> X, y = {"x": [1.5, 2.0, 3.0]}, read_labels(["a", "a", "b"])
    >>> statistics = Statistics.count(read(X, infer(X)), y, infer(X))
    >>> model = Model.read(statistics, {"x": Choice(Gaussian(), None)})
    >>> about_spikes(model.terms, statistics)["x"][:52]
    "The numbers of column 'x' in class 'b' have variance"
    """
    found = {}
    for term in terms:
        if not isinstance(term.family, Floored):
            continue
        vanishing = term.family.vanishing(statistics.tables[term.block.name], term.parameters)
        if vanishing is None or not vanishing.any():
            continue
        together = vanishing.shape[1] < len(term.block.columns)
        for j in np.flatnonzero(vanishing.any(axis=0)).tolist():
            name = term.block.title if together else term.block.columns[j]
            classes = [statistics.classes[k] for k in np.flatnonzero(vanishing[:, j]).tolist()]
            of = f"class {listing(classes)}" if len(classes) == 1 else f"classes {listing(classes)}"
            key = repr(name if len(term.block.columns) == 1 else tuple(term.block.columns))
            what = TOGETHER if together else ALONE.format(key if len(key) < 80 else "(...)")
            found[name] = f"The numbers of column {name!r} in {of} {what}"
    return found
