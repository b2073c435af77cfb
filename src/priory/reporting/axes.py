"""What each column adds to the score of every class, value by value: the axes of a nomogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from priory.base.errors import SettingError
from priory.base.formatting import shown
from priory.base.typing import FloatArray, Label
from priory.classifier.fitted import Fitted
from priory.data.schema import Block, Kind
from priory.families.categorical import Categorical
from priory.families.histogram import Histogram
from priory.model.term import Term
from priory.statistics.tables import LabelsTable, NumbersTable

__all__ = ["Axes", "Axis", "axes_of"]

MOST_CELLS = 2_000
"""Columns that are counted together have an axis up to so many combinations of their values."""

MOST_STEPS = 12
"""Numbers with at most so many distinct values are single points, not a curve."""

FAR = 20.0
"""Scores beyond this count as this when axes are put in order."""

CURVE = 160
TAIL = 0.005
"""The share of the rows beyond either end of a curve."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One column, or columns that are counted together, and what each value adds.

    `added` has a row for each value and a place for each class; `missing` is what a missing value
    adds, None where it adds nothing.
    """

    columns: tuple[str, ...]
    kind: Literal["points", "curve", "cells", "constant"]
    values: tuple[Any, ...]
    names: tuple[str, ...]
    added: FloatArray
    missing: FloatArray | None = None
    weight: FloatArray | None = None
    """How many rows have each value, where that was counted."""
    parts: tuple[tuple[str, ...], ...] = ()
    """The names of cells, column by column."""

    @property
    def title(self) -> str:
        """The column, or the columns."""
        return (", " if self.kind == "constant" else " × ").join(self.columns)

    @property
    def spread(self) -> float:
        """How far the values stand apart: the deviation of their log-odds, by their rows."""
        if not len(self.values):
            return 0.0
        apart = np.clip(np.nan_to_num(self.added), -FAR, FAR)
        apart = apart - apart.mean(axis=1, keepdims=True)
        mean = np.average(apart, axis=0, weights=self.weight)
        return float(np.sqrt(np.average((apart - mean) ** 2, axis=0, weights=self.weight).max()))


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a model, and where a row begins: the class prior, and what all rows have.

    score(k) = start[k] + Σ_axes added[value of the row, k]
    """

    classes: tuple[Label, ...]
    start: FloatArray
    axes: tuple[Axis, ...]
    silent: tuple[str, ...] = ()
    """Columns that change nothing: left out, or of weight 0."""
    refused: tuple[tuple[str, str], ...] = ()
    """Factors that have no axis, and why: texts, and columns that no picture can add up."""


def axes_of(classifier: Fitted) -> Axes:
    """Work out the axes of a model, those that tell classes apart most first.

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook(smoothing=0))
    >>> axes = axes_of(classifier.update({"x": ["a", "b", "b"]}, [0, 1, 1]))
    >>> axes.axes[0].names, np.exp(axes.axes[0].added).tolist()
    (('a', 'b'), [[1.0, 0.0], [0.0, 1.0]])
    """
    model = classifier.model
    start, together, refused = model.log_prior.copy(), [], []
    alone: dict[str, list[Term]] = {}
    for term in model.terms:
        if not term.counts:
            continue
        columns = (term.block.columns[-1],) if term.about == "missing" else term.block.columns
        if why := _refusal(term):
            refused.append((term.block.title, why))
        elif term.about != "missing" and _is_together(term):
            together.append(term)
        else:
            if len(columns) > 1 and term.offset is not None:
                start = start + term.offset  # once for a row, whatever it has
            for column in columns:
                alone.setdefault(column, []).append(term)
    axes = _gathered([_alone(classifier, name, terms) for name, terms in alone.items()])
    axes.sort(key=lambda axis: -axis.spread)
    pairs = [_together(classifier, term) for term in together]
    pairs.sort(key=lambda axis: -axis.spread)
    for term in {id(t): t for terms in alone.values() for t in terms}.values():
        if term.block.kind is Kind.COUNTS:
            zero = _frame(classifier, {name: [0] for name in term.block.columns}, 1)
            start = start + _added(_bare(term), zero, len(start))[0]
    told = {column for axis in (*axes, *pairs) for column in axis.columns}
    told |= {column for title, _ in refused for column in title.split(", ")}
    silent = tuple(name for name in classifier.statistics.schema.columns if name not in told)
    return Axes(model.classes, start, (*axes, *pairs), silent, tuple(refused))


def _refusal(term: Term) -> str | None:
    """Say why no axis can show a factor."""
    if term.block.kind is Kind.WORDS and term.about == "value":
        return "its words are too many for axes"
    if term.family.name == "aode":
        return "averaged one-dependence estimators are no product"
    if term.family.name == "multivariate-gaussian":
        return "its columns are told of together, as a Gaussian of several numbers"
    if term.about != "missing" and _is_together(term) and prod(map(len, _cells(term))) > MOST_CELLS:
        return f"its columns have more than {MOST_CELLS:,} combinations of values"
    return None


def _is_together(term: Term) -> bool:
    return len(term.block.columns) > 1 and term.block.kind in (Kind.PAIRS, Kind.JOINT)


# Columns by themselves


def _gathered(axes: Sequence[Axis]) -> list[Axis]:
    """Put columns on one axis that add the same whatever they hold: their share of the bias."""
    found: dict[Any, list[Axis]] = {}
    for axis in axes:
        same = axis.missing is None and len(axis.values) and not np.ptp(axis.added, axis=0).any()
        found.setdefault(axis.added[0].tobytes() if same else axis.columns, []).append(axis)
    gathered = []
    for key, some in found.items():
        if not isinstance(key, bytes):
            gathered += some
        elif some[0].added[0].any():
            name = "any value" if len(some) == 1 else "each that is not missing"
            columns = tuple(column for axis in some for column in axis.columns)
            gathered.append(Axis(columns, "constant", (None,), (name,), some[0].added[:1]))
    return gathered


def _alone(classifier: Fitted, column: str, terms: Sequence[Term]) -> Axis:
    """Make the axis of a column from all the factors that are of it alone."""
    block = _block(classifier, column)
    table = classifier.statistics.tables.get(block.name)
    kind, values, weight = _values(block, table, terms)
    names = _names(block, values, kind)
    n = len(classifier.classes)
    several = any(len(t.block.columns) > 1 for t in terms)
    rest = [_bare(t) if len(t.block.columns) > 1 else t for t in terms]
    counts = block.kind is Kind.COUNTS
    others = {name: [0] for name in block.columns} if counts else {}

    def added(given: Sequence[Any]) -> FloatArray:
        filled = {name: list(value) * len(given) for name, value in others.items()}
        frame = _frame(classifier, {**filled, column: list(given)}, len(given))
        return sum((_added(term, frame, n) for term in rest), np.zeros((len(given), n)))

    found = added(values)
    if counts:
        found = found - added([0])
    missing = None if several else added([None])[0]
    if missing is not None and not missing.any():
        missing = None
    if kind == "curve" and not np.ptp(found, axis=0).any():
        kind, values, names, found = "points", values[:1], ["any value"], found[:1]
    return Axis((column,), kind, tuple(values), tuple(names), found, missing, weight)


def _values(
    block: Block, table: Any, terms: Sequence[Term]
) -> tuple[Literal["points", "curve"], list[Any], FloatArray | None]:
    """Choose the values of a column that its axis shows, and how many rows have each."""
    labels = [
        term.parameters.labels
        for term in terms
        if term.about == "value" and isinstance(term.family, Categorical)
    ]
    if isinstance(table, LabelsTable):
        places = block.in_order(table.labels)
        weight = table.weight.sum(axis=0)[places]
        return "points", [table.labels[i] for i in places], weight
    if not isinstance(table, NumbersTable):
        if labels:
            return "points", list(labels[0]), None
        return "curve", _spread(terms, block), None
    cells, weight = table.cells, table.cells.weight.sum(axis=0)
    if labels:
        known = {float(x): w for x, w in zip(cells.values, weight, strict=True)}
        counted = np.array([known.get(float(x), np.nan) for x in labels[0]])
        return "points", list(labels[0]), None if np.isnan(counted).any() else counted
    if cells.level == 0 and len(cells.keys) <= MOST_STEPS:
        return "points", cells.values.tolist(), weight
    order = np.argsort(cells.values)
    share = np.cumsum(weight[order]) / weight.sum()
    inner = cells.values[order][
        (share >= TAIL) & (share - weight[order] / weight.sum() <= 1 - TAIL)
    ]
    return "curve", _grid(float(inner[0]), float(inner[-1]), terms), None


def _grid(low: float, high: float, terms: Sequence[Term]) -> list[float]:
    """Choose the numbers of a curve: both sides of every step, and enough in between."""
    smooth, cuts = False, [low, high]
    for term in terms:
        if term.about == "missing":
            continue
        if term.block.pairing is not None:
            cuts += (term.block.pairing.edges[0] or ())[1:-1]
        elif isinstance(term.family, Histogram):
            cuts += term.parameters.cuts.tolist()
        else:
            smooth = True
    steps = np.array([x for x in cuts if low <= x <= high])
    beyond = np.nextafter(steps, np.inf)
    even = np.linspace(low, high, CURVE) if smooth else np.zeros(0)
    grid = np.unique(np.concatenate([steps, beyond, even]))
    return grid[grid <= high].tolist()


def _spread(terms: Sequence[Term], block: Block) -> list[float]:
    """Choose numbers of a column that has no table of its own: about the means that it has."""
    counts = block.kind is Kind.COUNTS
    return list(range(11)) if counts else np.linspace(-3.0, 3.0, CURVE).tolist()


def _names(block: Block, values: Sequence[Any], kind: str) -> list[str]:
    is_plain = kind == "curve" and not block.order and block.unit != "date"
    return [f"{x:.4g}" if is_plain else block.shown(x) for x in values]


def _bare(term: Term) -> Term:
    """Leave the bias of a term out."""
    return replace(term, offset=None)


# Columns together


def _cells(term: Term) -> list[list[Any]]:
    """List the values, or the places of bins, of each column; None is a parent that is missing."""
    p = term.parameters
    if hasattr(p, "domains"):
        return [list(domain) for domain in p.domains]
    if term.about == "correction":
        return [list(labels) for labels in p.labels]
    return [*([*parents, None] for parents in p.parents), list(p.children)]


def _together(classifier: Fitted, term: Term) -> Axis:
    """Make the axis of columns that are counted together: one value for each cell."""
    pairing, cells = term.block.pairing, _cells(term)
    edges = pairing.edges if pairing is not None else (None,) * len(cells)
    values = [
        [_inside(ends, value) if ends else value for value in some]
        for some, ends in zip(cells, edges, strict=True)
    ]
    names = [
        [_named(ends, value) for value in some] for some, ends in zip(cells, edges, strict=True)
    ]
    combinations = list(product(*values))
    columns = dict(zip(term.block.columns, map(list, zip(*combinations, strict=True)), strict=True))
    frame = _frame(classifier, columns, len(combinations))
    added = _added(term, frame, len(classifier.classes))
    parts = tuple(product(*names))
    told = (tuple(product(*cells)), tuple(map(", ".join, parts)), added)
    return Axis(tuple(term.block.columns), "cells", *told, parts=parts)


def _named(ends: Sequence[float] | None, value: Any) -> str:
    """Name a value or a bin."""
    if value is None or ends is None:
        return shown(value)
    if value == 0:
        return f"≤ {ends[1]:.4g}" if len(ends) > 2 else "any"
    if value == len(ends) - 2:
        return f"> {ends[value]:.4g}"
    return f"{ends[value]:.4g} – {ends[value + 1]:.4g}"


def _inside(ends: Sequence[float], bin_: int | None) -> float | None:
    """Take a number of a bin: the bins include their upper ends."""
    if bin_ is None:
        return None
    if bin_ < len(ends) - 2:
        return float(ends[bin_ + 1])
    return max(float(ends[-1]), float(np.nextafter(ends[-2], np.inf)))


# Asking the model


def _frame(classifier: Fitted, columns: dict[str, list[Any]], n: int) -> Any:
    schema = classifier.statistics.schema
    table = {name: columns.get(name, [None] * n) for name in schema.columns}
    return classifier.frame(table)


def _added(term: Term, frame: Any, n_classes: int) -> FloatArray:
    out = np.zeros((len(frame), n_classes))
    term.adder(frame, weighted=True)(slice(0, len(frame)), out)
    return out


def _block(classifier: Fitted, column: str) -> Block:
    for block in classifier.statistics.schema:
        if block.pairing is None and column in block.columns:
            return block
    raise SettingError(f"The model has no column {column!r}.")
