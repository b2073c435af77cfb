"""Which columns are counted together: with a parent in a tree, with several, or all.

The pairs of a tree are those that tell most of each other given the class (Chow & Liu 1968;
Friedman, Geiger & Goldszmidt 1997), of which only as much counts as is not to be expected by
chance. Several parents are found by hill climbing: each column's description length given its
parents and the class is what the graph's is the sum of. What is chosen here is fixed and declared,
so that counting stays a sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, prod

import numpy as np

from priory.base.errors import SchemaError, SettingError, did_you_mean, listing
from priory.base.graph import Graph
from priory.base.typing import CodeArray, FloatArray
from priory.data.columns import Frame, Labels
from priory.data.combinations import count_combinations
from priory.data.pairing import Pairing, every_pair
from priory.data.schema import Block, Kind, Schema
from priory.families.cuts import even_bins
from priory.statistics.bottom_k import bottom_rows
from priory.statistics.information import (
    HEIGHT,
    beyond_chance,
    bic,
    log_likelihood,
    pairwise_information,
)
from priory.statistics.statistics import Statistics
from priory.statistics.tables import NumbersTable, Table
from priory.tuning.choices import takes_part
from priory.tuning.climbing import climb
from priory.tuning.coded import CodedColumn
from priory.tuning.settings import Settings
from priory.tuning.trees import worthy_edges

__all__ = ["choose_structure"]

MOST_VALUES = 60
"""Columns of more values stay alone: too few rows would share a pair of them."""

MOST_PLACES = 4_000_000
"""So many places (two values and a class) all pairs together may have."""

MOST_COLUMNS = 200
"""So many columns all pairs are counted of, or climbed among: either costs their square."""

MOST_PRODUCTS = 4e10
"""So many products of two values may be summed to find a tree; else the sample is smaller."""

MOST_LOOKS = 4e8
"""So many rows of pairs of columns may be looked at to climb; else the sample is smaller."""

MOST_CLIMBED = 262_144
"""So many places a column may have with its parents and the class to be climbed to."""

JOINT_NAME, AODE_NAME = "all columns together", "every pair of columns"


def choose_structure(
    statistics: Statistics,
    settings: Settings,
    frame: Frame,
    y: Labels,
    weight: FloatArray | None = None,
    scale: float | None = None,
) -> tuple[Block, ...]:
    """Choose the blocks of several columns that the settings ask for, on some rows.

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
    if uses == ("given",):
        return _given(statistics, settings)
    columns = _columns(statistics, settings, uses[0])
    if len(columns) < 2:
        return ()
    if uses[0] in ("aode", "joint"):
        return (_block_of_all(statistics, columns, uses[0]),)
    size, is_climbed = sum(column.size for column in columns), uses == ("climbed",)
    many = MOST_LOOKS / len(columns) ** 2 if is_climbed else MOST_PRODUCTS / size**2
    rows = bottom_rows(frame, y, int(min(settings.sample_size, max(many, 2 * HEIGHT))))
    if rows is not None:
        frame, y = frame.take(rows), y.take(rows)
        weight = None if weight is None else weight[rows]
    codes = [column.codes(frame) for column in columns]
    sizes = [column.size for column in columns]
    if is_climbed:
        score = _GivenClass(codes, sizes, y.codes, weight)
        return _climbed(statistics.schema, columns, score, settings.max_parents)
    told = pairwise_information(codes, sizes, y.codes, weight)
    told = beyond_chance(told, sizes, len(np.unique(y.codes)))
    n = float(len(y) if weight is None else weight.sum())
    return tuple(
        _child(statistics.schema, (columns[i], columns[j]), "edge", _shared(told[i, j] / n))
        for i, j in worthy_edges(told)
    )


def _given(statistics: Statistics, settings: Settings) -> tuple[Block, ...]:
    """Make the blocks of the columns to which edges give parents; empty columns have none."""
    schema = statistics.schema
    found: dict[str, CodedColumn] = {}
    for name in dict.fromkeys(name for edge in settings.structure for name in edge):
        if name not in schema.known:
            raise SchemaError(
                f"structure names a column {name!r} that the data do not have. Columns: "
                f"{listing(schema.columns)}.{did_you_mean(name, schema.columns)} The class is a "
                "parent of every column as it is; a network in which it has parents is a "
                "BeliefNetwork, which predicts any of its nodes."
            )
        block = schema.by_name.get(name)
        if block is not None and block.kind is Kind.EMPTY:
            continue
        if block is None or block.kind not in (Kind.LABELS, Kind.NUMBERS):
            what = "part of a block" if block is None else f"counted as {block.kind}"
            raise SettingError(
                f"structure names column {name!r}, which is {what}; columns of labels and of "
                "numbers can have parents, and be some."
            )
        if any(child == name for _, child in settings.structure) and not takes_part(
            settings, block, statistics.tables[name]
        ):
            raise SettingError(
                f"structure gives column {name!r} parents, but it is a unique identifier or has a "
                "family of its own in families; take one of the two away."
            )
        table = statistics.tables[name]
        found[name] = CodedColumn.of(block, table, _bins(table))
    edges = [(a, b) for a, b in settings.structure if a in found and b in found]
    return _blocks(
        schema, found, edges, "given", dict.fromkeys(found, "structure names its parents")
    )


def _climbed(
    schema: Schema, columns: list[CodedColumn], score: _GivenClass, max_parents: int
) -> tuple[Block, ...]:
    """Find parents by climbing, and make the blocks of their children, the best parent first."""
    parents = climb(score, [frozenset[int]()] * len(columns), max_parents=max_parents)
    edges, why = [], {}
    for child, of in enumerate(parents):
        name = columns[child].block.name
        best = sorted(of, key=lambda p, child=child: -score(child, frozenset({p})))  # type: ignore[misc]
        edges += [(columns[p].block.name, name) for p in best]
        why[name] = _shared(score.told(child, of))
    named = {column.block.name: column for column in columns}
    return _blocks(schema, named, edges, "climbed", why)


class _GivenClass:
    """The score of a column with some parents beside the class: its BIC, in nats.

    Only values of the class and the parents that came together have parameters. A row counts where
    the column is known. A missing parent is a value of its own here, so that every choice of
    parents is scored on the same rows.
    """

    def __init__(
        self,
        codes: Sequence[CodeArray],
        sizes: Sequence[int],
        y: CodeArray,
        weight: FloatArray | None,
    ) -> None:
        classes, self.y = np.unique(y, return_inverse=True)
        self.children, self.sizes, self.weight = codes, sizes, weight
        each = list(zip(codes, sizes, strict=True))
        self.parents = [np.where(c < 0, np.int64(size), c) for c, size in each]
        self.values = [size + bool((c < 0).any()) for c, size in each]
        self.n, self.n_classes = float(len(y) if weight is None else weight.sum()), len(classes)

    def __call__(self, child: int, parents: frozenset[int]) -> float:
        """Compute the score; −∞ where the table would have too many places."""
        places = self.n_classes * prod(self.values[p] for p in parents) * self.sizes[child]
        return bic(self._counts(child, parents), self.n) if places <= MOST_CLIMBED else -np.inf

    def told(self, child: int, parents: frozenset[int]) -> float:
        """Compute the information of column and parents given the class, in nats a row."""
        given, alone = (log_likelihood(self._counts(child, of)) for of in (parents, frozenset()))
        return (given - alone) / self.n

    def _counts(self, child: int, parents: frozenset[int]) -> FloatArray:
        """Count values, contexts × values, of contexts that came."""
        above = sorted(parents)
        columns = [self.y, *(self.parents[p] for p in above), self.children[child]]
        sizes = [self.n_classes, *(self.values[p] for p in above), self.sizes[child]]
        counts = count_combinations(columns, sizes, self.weight).reshape(-1, self.sizes[child])
        return np.asarray(counts[counts.any(axis=1)], dtype=np.float64)


def _columns(statistics: Statistics, settings: Settings, use: str) -> list[CodedColumn]:
    """List the columns that take part; where places are many, those of the fewest values."""
    found = []
    for block in statistics.schema.counted:
        table = statistics.tables[block.name]
        if takes_part(settings, block, table):
            column = CodedColumn.of(block, table, _bins(table))
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
    kept = kept[:MOST_COLUMNS] if use in ("aode", "climbed") else kept
    return [found[i] for i in np.sort(kept).tolist()]


def _bins(table: Table) -> int:
    """Find how many bins a column of numbers has."""
    if not isinstance(table, NumbersTable):
        return 0
    return even_bins(float(table.cells.weight.sum()))


def _blocks(
    schema: Schema,
    columns: Mapping[str, CodedColumn],
    edges: list[tuple[str, str]],
    use: str,
    why: Mapping[str, str],
) -> tuple[Block, ...]:
    """Make a block for each column with its parents; parents stand before their children."""
    graph = Graph.of(edges)
    return tuple(
        _child(schema, [columns[name] for name in (*graph.parents[child], child)], use, why[child])
        for child in graph.order
        if graph.parents[child]
    )


def _child(schema: Schema, columns: Sequence[CodedColumn], use: str, why: str) -> Block:
    """Make the block of a column, the last, with its parents."""
    *parents, child = (column.block.name for column in columns)
    pairing = Pairing.of_child(use, tuple(column.edges for column in columns))
    name = f"{', '.join(parents)} → {child}"
    return _new(schema, name, (*parents, child), Kind.PAIRS, why, pairing)


def _shared(told: float) -> str:
    return f"they share {told / log(2.0):.2g} bits given the class"


def _block_of_all(statistics: Statistics, columns: list[CodedColumn], use: str) -> Block:
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
