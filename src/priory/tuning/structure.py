"""Which columns are counted together: a tree of pairs, all pairs, or all columns.

The pairs of a tree are those that tell most of each other given the class (Chow & Liu 1968;
Friedman, Geiger & Goldszmidt 1997):

    I(A; B | C) = Σ P(a, b, k) log( P(a, b | k) / (P(a | k) P(b | k)) )

of which only as much counts as is not to be expected by chance. What is chosen here is fixed and
declared, so that counting stays a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.errors import SchemaError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, CodeArray, FloatArray
from priory.data.columns import Frame, Labels, Numbers
from priory.data.pairing import Pairing, every_pair
from priory.data.schema import Block, Kind, Schema
from priory.families.cuts import between_cells, equal_frequency
from priory.statistics.bottom_k import bottom_rows
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CellsTable, LabelsTable, NumbersTable, Table
from priory.tuning.choices import takes_part
from priory.tuning.settings import Settings
from priory.tuning.trees import spanning_tree

__all__ = ["choose_structure", "information"]

FEWEST_BINS, MOST_BINS = 5, 8
"""A column of numbers has about n^¼ bins of equal frequency, but not fewer and not more."""

MOST_VALUES = 60
"""Columns of more values stay alone: too few rows would share a pair of them."""

MOST_PLACES = 4_000_000
"""So many places (two values and a class) all pairs together may have."""

MOST_COLUMNS = 200
"""So many columns all pairs are counted of: predictions cost their square."""

MOST_PRODUCTS = 4e10
"""So many products of two values may be summed to find a tree; else the sample is smaller."""

HEIGHT = 4096
JOINT_NAME, AODE_NAME = "all columns together", "every pair of columns"


def choose_structure(
    statistics: Statistics,
    settings: Settings,
    frame: Frame,
    y: Labels,
    weight: FloatArray | None = None,
    scale: float | None = None,
) -> tuple[Block, ...]:
    """Return the blocks of several columns that the settings ask for, chosen on some rows.

    `statistics` are those of the single columns; the bins of numbers are cut from their cells.
    Where weights say how rows compare, they are multiplied by `scale`, by default so that they are
    those of as many rows as they are worth.
    """
    uses = settings.together
    if not uses:
        return ()
    if weight is not None and settings.is_tuned:
        scale = float(weight.sum() / (weight @ weight)) if scale is None else scale
        statistics, weight = statistics * scale, weight * scale
    if weight is not None and not weight.all():
        some = weight > 0
        frame, y, weight = frame.take(some), y.take(some), weight[some]
    columns = _columns(statistics, settings, uses[0])
    if len(columns) < 2:
        return ()
    if "edge" not in uses:
        return (_block_of_all(statistics, columns, uses[0]),)
    size = sum(column.size for column in columns)
    most = int(min(settings.sample_size, max(MOST_PRODUCTS / size**2, 2 * HEIGHT)))
    rows = bottom_rows(frame, y, most)
    if rows is not None:
        frame, y = frame.take(rows), y.take(rows)
        weight = None if weight is None else weight[rows]
    codes = [column.codes(frame) for column in columns]
    told = information(codes, [column.size for column in columns], y.codes, weight)
    tree = [pair for pair in spanning_tree(told) if told[pair] > 0]
    more = _further(told, tree) if "pair" in uses else []
    n = float(len(y) if weight is None else weight.sum())
    return tuple(
        _pair(statistics.schema, columns[i], columns[j], use, told[i, j] / n)
        for use, pairs in (("edge", tree), ("pair", more))
        for i, j in pairs
    )


def information(
    codes: Sequence[AnyArray], sizes: Sequence[int], y: AnyArray, weight: FloatArray | None = None
) -> FloatArray:
    """Return n · I(A; B | class) of all pairs of columns in nats, less what chance gives.

    Where columns are independent, 2 n I is about χ² with f = K (V_a − 1) (V_b − 1) degrees of
    freedom, whose mean is f; two standard deviations, 2 √(2f), are taken off as well. Gaps,
    negative codes, leave a row out of the pairs they are in.

    >>> a, y = np.tile([0, 1], 50), np.zeros(100, dtype=int)
    >>> information([a, a, np.repeat([0, 1], 50)], [2, 2, 2], y).round(2).tolist()
    [[0.0, 67.4, -1.91], [67.4, 0.0, -1.91], [-1.91, -1.91, 0.0]]
    """
    starts = np.concatenate([[0], np.cumsum(sizes)])
    total, classes = np.zeros((len(codes), len(codes))), np.unique(y)
    for k in classes:
        rows = np.flatnonzero(y == k)
        together = _together(
            [c[rows] for c in codes], starts, None if weight is None else weight[rows]
        )
        # n I = Σ n_ab log n_ab + n log n − Σ n_a log n_a − Σ n_b log n_b, all of rows with both.
        by_value = np.add.reduceat(together, starts[:-1], axis=1)  # n_a among those that have b
        both = np.add.reduceat(by_value, starts[:-1], axis=0)
        of_a = np.add.reduceat(_n_log_n(by_value), starts[:-1], axis=0)
        of_ab = np.add.reduceat(
            np.add.reduceat(_n_log_n(together), starts[:-1], axis=0), starts[:-1], axis=1
        )
        total += of_ab + _n_log_n(both) - of_a - of_a.T
    free = np.array(sizes, dtype=np.float64) - 1.0
    chance = len(classes) * np.outer(free, free)
    total -= 0.5 * (chance + 2.0 * np.sqrt(2.0 * chance))
    np.fill_diagonal(total, 0.0)
    return total


def _further(told: FloatArray, tree: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs beside a tree that share most, at most as many as there are columns."""
    known = {frozenset(pair) for pair in tree}
    found = [(i, j) for i, j in every_pair(len(told)) if told[i, j] > 0]
    found = [pair for pair in found if frozenset(pair) not in known]
    return sorted(found, key=lambda pair: -told[pair])[: len(told)]  # ties in order of the columns


def _together(codes: Sequence[AnyArray], starts: AnyArray, weight: FloatArray | None) -> FloatArray:
    """Return how often any two values come together, values × values, as a product of matrices."""
    size, n = int(starts[-1]), len(codes[0])
    result = np.zeros((size, size))
    for first in range(0, n, HEIGHT):
        some = slice(first, min(first + HEIGHT, n))
        # Up to 2^24 float32 counts exactly; weights need more digits.
        there = np.zeros((some.stop - first, size), dtype=np.float32 if weight is None else None)
        for c, start in zip(codes, starts.tolist(), strict=False):
            known = np.flatnonzero(c[some] >= 0)
            there[known, c[some][known] + start] = 1.0
        weighted = there if weight is None else there * weight[some, None]
        with np.errstate(invalid="ignore"):  # of what BLAS reads beside the numbers
            result += weighted.T @ there
    return result


def _n_log_n(n: FloatArray) -> FloatArray:
    return n * np.log(np.where(n > 0, n, 1.0))


@dataclass(frozen=True, eq=False)
class _Column:
    """Hold one column that may be counted with others, and what its values are."""

    block: Block
    labels: tuple[object, ...] | None
    edges: tuple[float, ...] | None

    @property
    def size(self) -> int:
        return len(self.labels) if self.labels is not None else len(self.edges or ()) - 1

    def codes(self, frame: Frame) -> CodeArray:
        column = frame[self.block.name]
        if self.labels is not None:
            assert isinstance(column, Labels)
            place = {label_key(label): i for i, label in enumerate(self.labels)}  # type: ignore[arg-type]
            where = [place.get(label_key(label), -1) for label in column.labels]
            return np.array([*where, -1], dtype=np.int32)[column.codes]
        assert isinstance(column, Numbers)
        return Pairing("joint", (self.edges,), ()).bins(0, column.values[:, 0])


def _columns(statistics: Statistics, settings: Settings, use: str) -> list[_Column]:
    """Return the columns that take part; where places are many, those of the fewest values."""
    found = []
    for block in statistics.schema.counted:
        table = statistics.tables[block.name]
        if takes_part(settings, block, table):
            column = _Column(block, *_values(table))
            if 2 <= column.size <= MOST_VALUES:
                found.append(column)
    most = np.inf
    if use == "aode":
        most = np.sqrt(2 * MOST_PLACES / max(len(statistics.classes), 1))
    elif use == "edge":
        most = np.sqrt(MOST_PRODUCTS / HEIGHT)
    sizes = np.array([column.size for column in found])
    order = np.argsort(sizes, kind="stable")
    kept = order[np.cumsum(sizes[order]) <= most] if len(sizes) else order
    kept = kept[:MOST_COLUMNS] if use == "aode" else kept
    return [found[i] for i in np.sort(kept).tolist()]


def _values(table: Table) -> tuple[tuple[object, ...] | None, tuple[float, ...] | None]:
    """Return the labels of a column, or the ends of its bins."""
    if isinstance(table, LabelsTable):
        return table.labels, None
    assert isinstance(table, NumbersTable)
    return None, _bins(table.cells)


def _bins(cells: CellsTable) -> tuple[float, ...]:
    if not len(cells.keys):
        return (0.0, 0.0)
    bins = int(np.clip(round(float(cells.weight.sum()) ** 0.25), FEWEST_BINS, MOST_BINS))
    cuts = between_cells(cells, equal_frequency(cells, bins))
    return (float(cells.lower[0]), *map(float, cuts), float(cells.upper[-1]))


def _pair(schema: Schema, parent: _Column, child: _Column, use: Any, told: float) -> Block:
    a, b = parent.block.name, child.block.name
    pairing = Pairing(use, (parent.edges, child.edges), ((0, 1),))
    why = f"they share {told / np.log(2):.2g} bits given the class"
    return _new(schema, f"{a} → {b}", (a, b), Kind.PAIRS, why, pairing)


def _block_of_all(statistics: Statistics, columns: list[_Column], use: str) -> Block:
    names = tuple(column.block.name for column in columns)
    edges = tuple(column.edges for column in columns)
    if use == "joint":
        pairing = Pairing("joint", edges, ())
        return _new(statistics.schema, JOINT_NAME, names, Kind.JOINT, "structure='joint'", pairing)
    pairing = Pairing("aode", edges, every_pair(len(names)))
    return _new(statistics.schema, AODE_NAME, names, Kind.PAIRS, "structure='aode'", pairing)


def _new(
    schema: Schema, name: str, columns: tuple[str, ...], kind: Kind, why: str, pairing: Pairing
) -> Block:
    if name in schema.by_name:
        raise SchemaError(f"{name!r} is both a column and a block of columns; rename the column.")
    return Block(name, columns, kind, why, None, pairing)
