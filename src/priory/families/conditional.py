"""Conditional: one column given its parents and the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import AnyArray, BoolArray, CodeArray
from priory.data.columns import Labels, Pairs
from priory.data.pairing import Pairing
from priory.data.schema import Block, Kind
from priory.families.base import EstimateTables, Lookup, Rng
from priory.families.categorical import pick
from priory.families.described import Support, assigned, known_values
from priory.families.loo import LooRows
from priory.families.pair_counts import MISSING, NEVER, PairCounts, places_of
from priory.families.priors import Laplace, MEstimate, Prior, RowsPrior
from priory.families.protocols import ClosedFormLoo, Dependent, InPlace
from priory.statistics.tables import PairsTable

__all__ = ["Conditional"]


@dataclass(frozen=True)
class Conditional(InPlace, ClosedFormLoo, Dependent):
    """Model a column given its parents among the others, and the class (Friedman et al. 1997).

        P(v | u, k) = (n_uvk + m P(v | u', k)) / (n_uk + m)     m-estimate towards the marginal
        P(v | u, k) = (n_uvk + α) / (n_uk + αV)                Laplace

    u are the values of the parents, u' those of all but the last; of one parent P(v | u', k) is
    P(v | k). A parent that is missing, or has a value never seen, is summed out of the counts; a
    missing or unseen value of the column itself is left out.

    >>> from priory.data.columns import Labels
    >>> column = Pairs((Labels(np.array([0, 0, 1]), ("a", "b")), Labels(np.array([0, 1, 1]), "xy")))
    >>> block, y = Block("a → x", ("a", "x"), Kind.PAIRS), np.zeros(3, dtype=np.int32)
    >>> table = PairsTable.count(block, column, y, None, 1)
    >>> parameters = Conditional().parameters(table, Laplace(1.0))
    >>> np.exp(Conditional().log_likelihood(column, parameters)).round(3).tolist()
    [[0.5], [0.5], [0.667]]
    """

    name: ClassVar[str] = "conditional"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.PAIRS,)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    def parameters(self, table: PairsTable, prior: RowsPrior) -> PairCounts:
        """Take the counts of the child, alone and with its parents."""
        last = len(table.labels) - 1
        return PairCounts.read(table, range(last), last, prior)

    def adder(self, column: Pairs, parameters: PairCounts) -> Lookup:
        """Find the places of the values once; the rows then need only a look-up."""
        return parameters.lookup(*_pair_places(column, parameters))

    def loo_adder(self, column: Pairs, loo: LooRows, table: PairsTable, prior: RowsPrior) -> Lookup:
        """Take one from all the counts of the row's own values.

            P(v | u, k) = (n_uvk − [k=y] + b_vk) / (n_uk − [k=y] + Σb)

        A value that was the row's alone was never seen.
        """
        parameters = self.parameters(table, prior)
        u, v = _pair_places(column, parameters)
        never = np.any([p == NEVER for p in _parent_places(column, parameters)], axis=0)
        u = np.where(never, NEVER, u)
        return parameters.loo_lookup(u, v, loo)

    def leaves_out(self, column: Pairs, parameters: PairCounts) -> BoolArray:
        """Tell which rows have no value of the column, or one never seen."""
        return np.asarray(_pair_places(column, parameters)[1] < 0)

    def support(self, column: Pairs, table: PairsTable, parameters: PairCounts) -> Support:
        """Count how often each row's value came with those of its parents, and they at all."""
        counts = self.parameters(table, parameters.prior)
        return counts.support(*_pair_places(column, counts))

    def formula(self, block: Block, value: Any, parameters: PairCounts) -> str:
        """Write the factor of a row, such as "P(b = 1 | a = 2, class)"."""
        *u, v = value
        known = known_values(u, parameters.parents)
        given = "".join(f"{told}, " for told in [assigned(block, (*known, None))] if told)
        return f"P({assigned(block, (*[None] * len(u), v))} | {given}class)"

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(v | u, k) for each value of the parent, or the values of several that came."""
        last = len(block.columns) - 1
        yield from parameters.estimates(block, range(last), last)

    def sample(self, parameters: PairCounts, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a value of the column where nothing is known of its parents."""
        return _drawn(parameters, np.full(len(y), MISSING), y, rng)

    def sample_given(
        self,
        block: Block,
        parameters: PairCounts,
        y: CodeArray,
        drawn: Mapping[str, AnyArray],
        rng: Rng,
    ) -> dict[str, AnyArray]:
        """Draw a value of the column by the values that its parents have."""
        (*parents, child), pairing = block.columns, block.pairing
        assert pairing is not None
        places = [
            places_of(_as_counted(drawn[parent], pairing, j), parameters.parents[j])
            for j, parent in enumerate(parents)
        ]
        u = parameters.context(places)
        return {child: pairing.drawn(len(parents), _drawn(parameters, u, y, rng), rng)}


def _drawn(parameters: PairCounts, u: AnyArray, y: CodeArray, rng: Rng) -> AnyArray:
    return pick([parameters.children], parameters.draw(u, y, rng)[:, None])[:, 0]


def _pair_places(column: Pairs, parameters: PairCounts) -> tuple[AnyArray, AnyArray]:
    """Find each row's context, the values of the parents, and the place of the child's value."""
    u = parameters.context(_parent_places(column, parameters))
    return u, places_of(column.parts[-1], parameters.children)


def _parent_places(column: Pairs, parameters: PairCounts) -> list[AnyArray]:
    of_parents = zip(column.parts[:-1], parameters.parents, strict=True)
    return [places_of(part, labels) for part, labels in of_parents]


def _as_counted(values: AnyArray, pairing: Pairing, column: int) -> Labels:
    """Code drawn values of a column as they are counted with others: labels or bins."""
    if pairing.edges[column] is not None:
        codes = pairing.bins(column, np.asarray(values, dtype=np.float64))
        return Labels(codes, tuple(range(pairing.n_bins(column))))
    seen = {label_key(value): value for value in values.tolist()}
    places = {key: code for code, key in enumerate(seen)}
    codes = np.array([places[label_key(value)] for value in values.tolist()], dtype=np.int32)
    return Labels(codes, tuple(seen.values()))
