"""Classes whose numbers do not vary: said aloud, since a spike would decide in silence.

The maximum-likelihood variance of a single row is 0. A density needs some variance, so a least
one is taken; then the class is certain where its number comes, and impossible elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from priory.base.errors import listing
from priory.model.model import Term
from priory.statistics.statistics import Statistics

__all__ = ["about_spikes"]

ALONE = (
    "do not vary, so that its density is a spike: it is certain where that number comes and all "
    "but impossible elsewhere. Give the column a prior, smoothing={{{0}: NormalInverseGamma()}}, "
    "a variance that all classes share, families={{{0}: 'gaussian-shared'}}, or more rows."
)
TOGETHER = (
    "have no covariance that can be inverted: there are too few rows, or columns that follow from "
    "others. A least one, or that of all classes, was taken. Draw correlations towards 0, "
    "MultivariateGaussian(shrinkage='auto'), or let classes share it, "
    "MultivariateGaussian(shared=True)."
)


def about_spikes(terms: Iterable[Term], statistics: Statistics) -> dict[str, str]:
    """Return what is to be said of columns in which a class has no spread, by their names.

    >>> from priory.families import Gaussian
    >>> from priory.model.model import Choice, Model
    >>> from priory.data.reading import infer, read, read_labels
    >>> X, y = {"x": [1.5, 2.0, 3.0]}, read_labels(["a", "a", "b"])
    >>> statistics = Statistics.count(read(X, infer(X)), y, infer(X))
    >>> model = Model.read(statistics, {"x": Choice(Gaussian(), None)})
    >>> about_spikes(model.terms, statistics)["x"][:50]
    "The numbers of column 'x' in class 'b' do not vary"
    """
    found = {}
    for term in terms:
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
