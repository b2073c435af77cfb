"""Averaged one-dependence estimators: every column in turn the parent of all the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from priory.base.errors import check_number
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray
from priory.data.columns import Pairs
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Lookup, Rng, adder_of
from priory.families.categorical import pick
from priory.families.described import assigned, known_values
from priory.families.loo import LooRows
from priory.families.pair_counts import MISSING, NEVER, PairCounts, places_of
from priory.families.priors import Laplace, MEstimate, Prior, RowsPrior
from priory.families.protocols import ClosedFormLoo, InPlace
from priory.kernels.score import Lookups
from priory.statistics.tables import PairsTable

__all__ = ["Aode", "AodeParameters"]

ROUNDING = 1e-9


@dataclass(frozen=True)
class Aode(InPlace, ClosedFormLoo):
    """Average the models in which one column is the parent of all others (Webb et al. 2005).

        P(x | k) = 1/|I| Σ_{i in I} P(x_i | k) Π_j P(x_j | x_i, k)

    I are the columns whose value was seen at least `least` times; where there are none it is naive
    Bayes. A value that is missing or was never seen is left out as a parent and as a child. The
    estimates are those of `Conditional`.

    >>> from priory.data.columns import Labels
    >>> from priory.data.schema import Block
    >>> column = Pairs((Labels(np.array([0, 0, 1]), ("a", "b")), Labels(np.array([0, 1, 1]), "xy")))
    >>> block, y = Block("pairs", ("a", "x"), Kind.PAIRS), np.zeros(3, dtype=np.int32)
    >>> parameters = Aode().parameters(PairsTable.count(block, column, y, None, 1), Laplace(1.0))
    >>> np.exp(Aode().log_likelihood(column, parameters)).round(3).tolist()
    [[0.283], [0.3], [0.283]]
    """

    name: ClassVar[str] = "aode"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.PAIRS,)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    least: float = 1.0

    def __post_init__(self) -> None:
        check_number("least", self.least)

    def parameters(self, table: PairsTable, prior: RowsPrior) -> AodeParameters:
        """Take the counts of each column alone, and given each of the others."""
        every = range(len(table.labels))
        starts = table.starts.tolist()
        weight = table.weight.sum(axis=0)
        return AodeParameters(
            tuple(PairCounts.read(table, (), i, prior) for i in every),
            tuple(
                tuple(PairCounts.read(table, (i,), j, prior) for j in every if j != i)
                for i in every
            ),
            tuple(weight[starts[i] : starts[i + 1]] for i in every),
        )

    def adder(self, column: Pairs, parameters: AodeParameters) -> Adder:
        """Find the places of the values once."""
        places = parameters.places(column)
        often = [
            np.append(weight >= self.least - ROUNDING, [False, False])[x]
            for weight, x in zip(parameters.weight, places, strict=True)
        ]

        def add(rows: slice, out: FloatArray) -> None:
            x = [place[rows] for place in places]
            nowhere = np.full(len(x[0]), MISSING)
            alone = [one.lookup(nowhere, v) for one, v in zip(parameters.alone, x, strict=True)]
            given = parameters.lookups(x, PairCounts.lookup)
            out += _averaged(alone, given, [o[rows] for o in often], out.shape)

        return add

    def loo_adder(self, column: Pairs, loo: LooRows, table: PairsTable, prior: RowsPrior) -> Adder:
        """Take one from all the counts of the row's own values.

        A value that was the row's alone, or is too rare without it, is no parent.
        """
        parameters = self.parameters(table, prior)
        x = parameters.places(column)
        nowhere = np.full(len(column), MISSING)
        alone, often = [], []
        never = np.zeros(len(column), dtype=np.bool_)
        for i, one in enumerate(parameters.alone):
            alone.append(one.loo_lookup(nowhere, x[i], loo))
            there = x[i] >= 0
            last = np.append(one.child_rows.sum(axis=1), [0, 0])[x[i]] == 1
            left = np.append(parameters.weight[i], [0.0, 0.0])[x[i]] - loo.amount
            often.append(there & ~last & (left >= self.least - ROUNDING))
            rows = np.pad(one.child_rows, ((0, 2), (0, 0)))
            never |= (x[i] == NEVER) | (there & (rows[x[i], loo.y] == 0))
        given = parameters.lookups(x, partial(PairCounts.loo_lookup, loo=loo))
        scores = _averaged(alone, given, often, (len(column), len(table.weight)))
        scores[never] = np.nan
        return adder_of(scores)

    def leaves_out(self, column: Pairs, parameters: AodeParameters) -> BoolArray:
        """Tell which rows have only values that are missing or were never seen."""
        return np.all([x < 0 for x in parameters.places(column)], axis=0)

    def support(self, column: Pairs, table: PairsTable, parameters: AodeParameters) -> None:
        """Count nothing: an average over all columns has no counts of its own."""

    def formula(self, block: Block, value: Any, parameters: AodeParameters) -> str:
        """Write P of the values that were seen; others are left out."""
        seen = known_values(value, [one.children for one in parameters.alone])
        return f"P({assigned(block, seen)} | class)"

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(v | k) of each column, and P(v | u, k) given each of the others."""
        every = range(len(parameters.alone))
        for i in every:
            yield from parameters.alone[i].estimates(block, (), i)
        for i in every:
            others = (j for j in every if j != i)
            for j, counts in zip(others, parameters.given[i], strict=True):
                yield from counts.estimates(block, (i,), j)

    def sample(self, parameters: AodeParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a column, its value, and the others by that value."""
        d = len(parameters.alone)
        codes = np.zeros((len(y), d), dtype=np.int64)
        parent = rng.integers(d, size=len(y))
        for i, one in enumerate(parameters.alone):
            mine = np.flatnonzero(parent == i)
            codes[mine, i] = one.draw(np.full(len(mine), MISSING), y[mine], rng)
            others = [j for j in range(d) if j != i]
            for j, pair in zip(others, parameters.given[i], strict=True):
                codes[mine, j] = pair.draw(codes[mine, i], y[mine], rng)
        return pick([one.children for one in parameters.alone], codes)


@dataclass(frozen=True, eq=False)
class AodeParameters:
    """Hold the counts of each column alone and of the others given it, and its values' weights."""

    alone: tuple[PairCounts, ...]
    given: tuple[tuple[PairCounts, ...], ...]
    weight: tuple[FloatArray, ...]

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.alone[0].n_classes

    def places(self, column: Pairs) -> list[AnyArray]:
        """Find the places of each row's values, column by column."""
        return [
            places_of(part, one.children)
            for part, one in zip(column.parts, self.alone, strict=True)
        ]

    def lookups(
        self, x: list[AnyArray], find: Callable[[PairCounts, AnyArray, AnyArray], Lookup]
    ) -> Iterator[list[Lookup]]:
        """Look up, parent by parent, the values of all the other columns given the parent's."""
        for i, pairs in enumerate(self.given):
            yield [find(p, x[i], v) for p, v in zip(pairs, x[:i] + x[i + 1 :], strict=True)]


def _averaged(
    alone: list[Lookup],
    given: Iterable[list[Lookup]],
    often: list[BoolArray],
    shape: tuple[int, ...],
) -> FloatArray:
    """Take the logarithm of the average over the parents that are seen often, rows × classes.

    Parents come one by one: all of their look-ups together would fill the memory.
    """
    total = np.full(shape, -np.inf)
    for first, others, some in zip(alone, given, often, strict=True):
        part = _sum([first, *others], shape)
        part[~some] = -np.inf
        np.logaddexp(total, part, out=total)
    parents = np.sum(often, axis=0)
    total -= np.log(np.maximum(parents, 1))[:, None]
    naive = np.flatnonzero(parents == 0)
    if len(naive):
        total[naive] = _sum(alone, shape)[naive]
    return total


def _sum(lookups: list[Lookup], shape: tuple[int, ...]) -> FloatArray:
    out = np.zeros(shape)
    Lookups([one.parts for one in lookups]).add(0, out)
    return out
