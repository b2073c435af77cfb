"""Conditional: one column given another and the class, a branch of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray
from priory.data.columns import Labels, Pairs
from priory.data.schema import Block, Kind
from priory.families.base import Family, Lookup
from priory.families.categorical import draw
from priory.families.left_out import LeftOut
from priory.families.pair_counts import PairCounts, places_of
from priory.families.parts import assigned
from priory.families.priors import Laplace, MEstimate, Prior
from priory.statistics.tables import PairsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates

__all__ = ["Conditional", "pair_estimates", "pair_places"]


@dataclass(frozen=True)
class Conditional(Family):
    """Model a column given its parent in a tree, and the class (Friedman et al. 1997).

        P(v | u, k) = (n_uvk + m P(v | k)) / (n_uk + m)        m-estimate towards the marginal
        P(v | u, k) = (n_uvk + α) / (n_uk + αV)                Laplace

    Where the parent is missing, or has a value never seen, it is P(v | k); a missing or unseen
    value of the column itself is left out.

    >>> from priory.data.columns import Labels
    >>> column = Pairs((Labels(np.array([0, 0, 1]), ("a", "b")), Labels(np.array([0, 1, 1]), "xy")))
    >>> block, y = Block("a → x", ("a", "x"), Kind.PAIRS), np.zeros(3, dtype=np.int32)
    >>> table = PairsTable.count(block, column, y, None, 1)
    >>> parameters = Conditional().parameters(table, Laplace(1.0))
    >>> np.exp(Conditional().log_likelihood(column, parameters, 1)).round(3).tolist()
    [[0.5], [0.5], [0.667]]
    """

    name: ClassVar[str] = "conditional"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.PAIRS,)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)
    is_edge: ClassVar[bool] = False

    def parameters(self, table: PairsTable, prior: Laplace | MEstimate) -> PairCounts:
        """Return the counts of the child, alone and with its parent."""
        return PairCounts.read(table, 0, 1, prior)

    def add_log_likelihood(self, column: Pairs, parameters: PairCounts, out: FloatArray) -> None:
        """Look up each row's two values."""
        self.adder(column, parameters)(slice(None), out)

    def adder(self, column: Pairs, parameters: PairCounts) -> Lookup:
        """Find the places of the values once; the rows then need only a look-up."""
        return parameters.lookup(*pair_places(column, parameters), edge=self.is_edge)

    def adder_without(
        self, column: Pairs, left_out: LeftOut, table: PairsTable, prior: Laplace | MEstimate
    ) -> Lookup:
        """Take one from all the counts of the row's own values.

            P(v | u, k) = (n_uvk − [k=y] + b_vk) / (n_uk − [k=y] + Σb)

        A value that was the row's alone was never seen.
        """
        parameters = self.parameters(table, prior)
        places = pair_places(column, parameters)
        return parameters.lookup_without(*places, left_out, edge=self.is_edge)

    def leaves_out(self, column: Pairs, parameters: PairCounts) -> BoolArray:
        """Return which rows have no value of the column, or one never seen."""
        return np.asarray(pair_places(column, parameters)[1] < 0)

    def formula(self, block: Block, value: Any, parameters: PairCounts) -> str:
        """Return what the factor is of a row, such as "P(b = 1 | a = 2, class)"."""
        u, v = value
        known = u is not None and label_key(u) in set(map(label_key, parameters.parents))
        given = f"{assigned(block, (u, None))}, " if known else ""
        return f"P({assigned(block, (None, v))} | {given}class)"

    def estimates(
        self, block: Block, table: PairsTable, prior: Laplace | MEstimate, parameters: PairCounts
    ) -> Iterator[Estimates]:
        """Yield P(v | u, k) for each value of the parent."""
        yield from pair_estimates(block, parameters, 0, 1, self.is_edge)

    def sample(self, parameters: PairCounts, y: CodeArray, rng: np.random.Generator) -> AnyArray:
        """Draw a value of the column where nothing is known of its parent."""
        return self._drawn(parameters, np.full(len(y), -1), y, rng)

    def sample_beside(
        self,
        block: Block,
        parameters: PairCounts,
        y: CodeArray,
        drawn: Mapping[str, AnyArray],
        rng: np.random.Generator,
    ) -> dict[str, AnyArray]:
        """Draw a value of the column by the value that its parent has."""
        (parent, child), pairing = block.columns, block.pairing
        assert pairing is not None
        known = drawn[parent]
        if pairing.edges[0] is not None:
            codes = pairing.bins(0, np.asarray(known, dtype=np.float64))
            column = Labels(codes, tuple(range(pairing.n_bins(0))))
        else:
            values = {label_key(value): value for value in known.tolist()}
            places = {key: code for code, key in enumerate(values)}
            codes = np.array([places[label_key(v)] for v in known.tolist()], dtype=np.int32)
            column = Labels(codes, tuple(values.values()))
        u = places_of(column, parameters.parents)
        return {child: pairing.drawn(1, self._drawn(parameters, u, y, rng), rng)}

    def _drawn(
        self, parameters: PairCounts, u: AnyArray, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        labels = np.empty(len(parameters.children), dtype=object)
        labels[:] = parameters.children
        result = np.empty(len(y), dtype=object)
        every = np.arange(len(labels))
        for value in np.unique(u).tolist():
            rows = np.flatnonzero(u == value)
            _, p = parameters.shares(np.full(len(every), max(value, -1)), every)
            result[rows] = labels[draw(p.T / p.sum(axis=0)[:, None], y[rows], rng)]
        return result


def pair_estimates(
    block: Block, counts: PairCounts, parent: int, child: int, edge: bool = False
) -> Iterator[Estimates]:
    """Yield the estimates of one column of a block given another, their values as shown."""
    pairing, columns = block.pairing, block.columns

    def written(column: int, value: Any) -> str:
        return f"= {value}" if pairing is None else pairing.shown(column, value)

    def shown(value: Any) -> Any:
        is_bin = pairing is not None and pairing.edges[child] is not None
        return written(child, value).removeprefix("in ") if is_bin else value

    def given(value: Any) -> str:
        return f"{columns[parent]} {written(parent, value)}"

    yield from counts.estimates(columns[child], shown, given, edge)


def pair_places(column: Pairs, parameters: PairCounts) -> tuple[AnyArray, AnyArray]:
    """Return the places of each row's values of parent and child."""
    parent, child = column.parts
    return places_of(parent, parameters.parents), places_of(child, parameters.children)
