"""How much each column tells of the class, read out of its table alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from priory.families.cuts import equal_frequency
from priory.statistics import Statistics
from priory.tables import LabelsTable, NumbersTable, Table
from priory.typing import FloatArray

__all__ = ["Informative", "column_information"]

BINS = 20


@dataclass(frozen=True)
class Informative:
    """Hold what a column alone tells: bits of the class, and how often it gives it away.

    `bits` is the mutual information; `right` is the share of rows whose class is the most frequent
    one of their value, `by_chance` that of the most frequent class of all.
    """

    bits: float
    right: float
    by_chance: float
    values: int

    @property
    def gives_class_away(self) -> bool:
        """Return whether the column all but names the class, though it does not name its rows."""
        return self.right >= 0.99 and self.by_chance <= 0.95


def column_information(statistics: Statistics) -> Mapping[str, Informative]:
    """Return what each column tells of the class, the most telling first.

        I(X; Y) = Σ P(v, k) log2( P(v, k) / (P(v) P(k)) )

    over the rows that have a value; numbers are cut into 20 bins of equal frequency.

    >>> from priory import Classifier, Settings
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"], "windy": [True, False, True, False]}
    >>> classifier = Classifier(Settings.textbook()).learn(days, ["No", "No", "Yes", "Yes"])
    >>> {name: found.bits for name, found in column_information(classifier.statistics).items()}
    {'outlook': 1.0, 'windy': 0.0}
    """
    found = {}
    for name, table in statistics.tables.items():
        counts = _counts(table)
        if counts is not None and counts.sum() > 0:
            found[name] = _informative(counts)
    return dict(sorted(found.items(), key=lambda item: -item[1].bits))


def _counts(table: Table) -> FloatArray | None:
    """Return classes × values, where a table has values."""
    if isinstance(table, LabelsTable):
        return table.weight
    if not isinstance(table, NumbersTable) or not len(table.cells.keys):
        return None
    starts = np.concatenate([[0], equal_frequency(table.cells, BINS) + 1])
    return np.asarray(np.add.reduceat(table.cells.weight, starts, axis=1))


def _informative(counts: FloatArray) -> Informative:
    p = counts / counts.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    some = p > 0
    bits = float((p[some] * np.log2(p[some] / outer[some])).sum())
    return Informative(
        max(bits, 0.0),
        float(p.max(axis=0).sum()),
        float(p.sum(axis=1).max()),
        counts.shape[1],
    )
