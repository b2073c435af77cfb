"""How much each column tells of the class, read out of its table alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from priory.base.typing import FloatArray
from priory.data.schema import Block, Kind
from priory.families.cuts import equal_frequency
from priory.model.model import Model
from priory.model.term import presence
from priory.statistics.information import by_chance, mutual_information, shared
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable, Table

__all__ = ["Informative", "column_importances", "column_information", "word_importances"]

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
    """Compute the mutual information of each column with the target, the highest first.

        I(X; Y) = Σ P(v, k) log2( P(v, k) / (P(v) P(k)) )

    over the rows that have a value; numbers are cut into 20 bins of equal frequency.

    >>> from priory import Classifier, Settings
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"], "windy": [True, False, True, False]}
    >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"])
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
    return Informative(
        mutual_information(counts) / log(2.0),
        float(p.max(axis=0).sum()),
        float(p.sum(axis=1).max()),
        counts.shape[1],
    )


def column_importances(model: Model, statistics: Statistics) -> Mapping[str, float]:
    """Compute the importance of each column in a model's predictions; they sum to 1.

        importance ∝ weight · (share of the rows that have a value) · I(X; Y)

    weight is that of the column's factor, 0 if it has none. I(X; Y) is in bits, as in
    `column_information`, less what chance adds to it (Miller 1955), (values − 1)(classes − 1) / 2n
    nats, and never below 0. A factor for being missing adds its own. Where a table has no values it
    is

        moments  Σ_k P(k) ½ log2(σ² / σ_k²), as of Gaussians
        counts   tokens in a row · P(w) Σ_k P(k | w) log2( P(k | w) / P(k) ), of each column w
        texts    the same, added up over the words

    and no column tells more than the entropy of the class. The columns of a joint table share
    evenly what they tell together; what pairs add beyond their two columns is left out.

    >>> from priory import Classifier, Settings
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"], "windy": [True, False, True, False]}
    >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"])
    >>> dict(column_importances(classifier.model, classifier.statistics))
    {'outlook': 1.0, 'windy': 0.0}
    """
    schema, weight = statistics.schema, statistics.weight
    trusted = dict.fromkeys(schema.columns, 0.0)
    told = dict.fromkeys(schema.columns, 0.0)
    for term in model.terms:
        if term.about == "value":
            for column in term.block.columns:
                trusted[column] = max(trusted[column], term.weight)
        elif term.about == "missing":
            block, table = term.block, statistics.tables[term.block.name]
            gaps, _ = presence(block, table, weight, None)
            told[block.columns[-1]] += term.weight * _bits(gaps.weight, statistics.rows.sum())
    for block in schema.counted:
        if block.pairing is None:  # else its columns have tables of their own
            bits = _column_bits(block, statistics.tables[block.name], statistics)
            for column, found in zip(block.columns, bits.tolist(), strict=True):
                told[column] += trusted[column] * found
    total = sum(told.values())
    return {column: found / total if total else 0.0 for column, found in told.items()}


def word_importances(table: Any) -> FloatArray:
    """Compute the contribution of each word to the mutual information of a token and the class.

        P(w) Σ_k P(k | w) log2( P(k | w) / P(k) ) − (classes − 1) / (2n ln 2)

    and never below 0, n being how often a text has a word. Their sum is I(W; Y), what one token
    tells, less what chance adds.

    >>> from priory import TextNB
    >>> model = TextNB.textbook().fit(["cash now", "lunch now"] * 8, [1, 0] * 8)
    >>> bits = word_importances(model.statistics_.tables["text"])
    >>> sorted(zip(model.words_.tolist(), bits.round(4).tolist(), strict=True))
    [('cash', 0.2275), ('lunch', 0.2275), ('now', 0.0)]
    """
    pairs, count = table.pairs, table.pairs.count.astype(np.float64)
    total = float(count.sum())
    if not total:
        return np.zeros(table.n_words)
    of_word, of_class = table.per_word(count), table.per_label(count)
    told = table.per_word(shared(count, of_word[pairs.word], of_class[pairs.label], total))
    chance = by_chance(int((of_class > 0).sum()) - 1) / float(pairs.rows.sum())
    return np.maximum(told / total - chance, 0.0) / log(2.0)


def _column_bits(block: Block, table: Any, statistics: Statistics) -> FloatArray:
    """Return what each column of a block tells of the class of a row, in bits."""
    n, weight = float(statistics.weight.sum()), statistics.weight
    p = weight[weight > 0] / n
    most = float(-(p * np.log2(p)).sum())
    if block.kind is Kind.WORDS:
        tokens = float(table.pairs.count.sum()) / n
        bits = np.array([tokens * word_importances(table).sum()])
    elif block.kind is Kind.COUNTS:
        bits = _count_bits(table.s1, table.rows.sum()) * table.s1.sum() / n
    elif block.kind in (Kind.MOMENTS, Kind.SCATTER):
        bits = _moment_bits(table, n)
    else:
        counts = _counts(table)
        if counts is None or counts.sum() <= 0:
            return np.zeros(len(block.columns))
        rows = table.rows if isinstance(table, LabelsTable) else table.moments.rows
        together = _bits(counts, float(rows.sum())) * counts.sum() / n
        bits = np.full(len(block.columns), together / len(block.columns))
    return np.minimum(bits, most)


def _bits(counts: FloatArray, rows: float) -> float:
    """Return I(X; Y) of classes × values, less what chance adds to it."""
    values, classes = ((counts.sum(axis=axis) > 0).sum() for axis in (0, 1))
    chance = float(by_chance(int((values - 1) * (classes - 1)))) / rows
    return max(mutual_information(counts) - chance, 0.0) / log(2.0)


def _count_bits(s1: FloatArray, rows: float) -> FloatArray:
    """Return the bits that each column of counts adds to a token."""
    if not s1.sum():
        return np.zeros(s1.shape[1])
    of_class, total = s1.sum(axis=1, keepdims=True), s1.sum()
    told = shared(s1, of_class, s1.sum(axis=0, keepdims=True), total).sum(axis=0) / total
    chance = by_chance(int((of_class > 0).sum()) - 1) / rows
    return np.maximum(told - chance, 0.0) / log(2.0)


def _moment_bits(table: Any, n: float) -> FloatArray:
    """Return the bits of Gaussians with the moments of each class, over one for all."""
    squares = np.maximum(table.squares, 0.0)
    weight = np.broadcast_to(table.weight.reshape(len(squares), -1), squares.shape)
    there = weight.sum(axis=0)
    mean = np.divide(
        (weight * table.mean).sum(axis=0), there, out=np.zeros_like(there), where=there > 0
    )
    between = (weight * (table.mean - mean) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # no rows, or all of them equal
        whole, own = (squares.sum(axis=0) + between) / there, squares / weight
        ratio = np.where((weight > 0) & (whole > 0), np.log2(whole / own), 0.0)
        bits = (np.where(weight > 0, weight * ratio, 0.0)).sum(axis=0) / 2 / n
    rows = max(float(table.rows.sum(axis=0).max()), 1.0)
    classes = int((weight.sum(axis=1) > 0).sum())
    return np.maximum(bits - by_chance(2 * (classes - 1)) / rows / log(2.0), 0.0)
