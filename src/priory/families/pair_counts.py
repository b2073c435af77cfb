"""One column given others and the class: the arithmetic that families of pairs share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from priory.base.errors import SettingError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Labels
from priory.data.schema import Block
from priory.families.base import EstimateTables, Lookup, Rng, log
from priory.families.categorical import draw
from priory.families.described import Support
from priory.families.loo import LooRows, distinct, own_pseudo, reduced
from priory.families.priors import Laplace, MEstimate, RowsPrior
from priory.statistics.tables import PairsTable

if TYPE_CHECKING:
    from priory.families.estimates import Exact

__all__ = ["MISSING", "NEVER", "PairCounts", "places_of"]

MISSING, NEVER = -1, -2
"""The places of a missing value and of one that was never learned."""

DENSE = 1 << 20
"""So many scores are worked out at once and kept; of more, those that the rows ask for."""

MOST_SCORES = 1 << 24
"""So many scores an exported table may have."""

LeftOut: TypeAlias = tuple[IntArray, FloatArray, BoolArray]
"""Of rows that are left out: the class, the weight, and whether they have all the values."""

_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Hold the counts of a child's values, and of them together with those of its parents.

        P(v | k)    = (n_vk + a_v) / (n_k + Σa)
        P(v | u, k) = (n_uvk + b_vk) / (n_uk + Σb)

    a are the prior's pseudo-counts. b are the same, but for an m-estimate towards the marginal,
    which here is P(v | u', k), the last of the parents dropped: b_vk = m · P(v | u', k), and of a
    lone parent m · P(v | k). n_uk counts rows that have all the values. A parent's value that is
    missing, or was never seen, is summed out; where no parent is known P(v | k) stands for it. So
    does P(v | u', k) where neither rows nor prior speak for the parents' values in a class.

    A context u numbers the parents' values in mixed radix, 0 for an unknown one, less 1: so a lone
    parent's contexts are the places of its values, and −1 says that no parent is known.
    """

    parents: tuple[tuple[Label, ...], ...]
    children: tuple[Label, ...]
    prior: RowsPrior
    keys: IntArray
    """u · V + v of the contexts that were seen, with every choice of parents unknown."""
    both: FloatArray
    both_rows: IntArray
    child: FloatArray
    child_rows: IntArray
    parent_rows: tuple[IntArray, ...]
    """How many rows have each value of each parent, over all classes."""

    @classmethod
    def read(
        cls, table: PairsTable, parents: Sequence[int], child: int, prior: RowsPrior
    ) -> PairCounts:
        """Take the counts of a column and its parents from a table, or of the column alone."""
        if isinstance(prior, MEstimate) and not isinstance(prior.p, str):
            raise SettingError("pairs of columns take an m-estimate with p='uniform' or 'marginal'")
        if isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
            raise SettingError("pairs of columns take one number as Laplace's α")
        starts = table.starts.tolist()
        of_child = slice(starts[child], starts[child + 1])
        columns = sorted((*parents, child)) if parents else []  # as they stand in a key
        some = np.full(len(table.keys), bool(parents))
        digits: dict[int, IntArray] = {}
        for place, j in zip(table.places if parents else (), columns, strict=True):
            some &= (place >= starts[j]) & (place < starts[j + 1])
            digits[j] = place - starts[j]
        contexts = _contexts([digits[j][some] + 1 for j in parents], table, parents)
        size = len(table.labels[child])
        found = [u * size + digits[child][some] for u in contexts]
        keys, where = np.unique(np.concatenate([_NOTHING, *found]), return_inverse=True)
        weight, rows = (
            _summed(np.ascontiguousarray(pairs[:, some].T), where, len(found), len(keys))
            for pairs in (table.pair_weight, table.pair_rows)
        )
        return cls(
            tuple(table.labels[j] for j in parents),
            table.labels[child],
            prior,
            keys,
            weight,
            rows,
            np.ascontiguousarray(table.weight[:, of_child].T),
            np.ascontiguousarray(table.rows[:, of_child].T),
            tuple(table.rows[:, starts[j] : starts[j + 1]].sum(axis=0) for j in parents),
        )

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.child.shape[1]

    @cached_property
    def n_contexts(self) -> int:
        """How many contexts there may be in which a parent is known."""
        return prod(len(values) + 1 for values in self.parents) - 1

    def context(self, places: Sequence[AnyArray]) -> IntArray:
        """Give the context of the parents' values, which are given as places."""
        u = np.zeros(len(places[0]) if places else 0, dtype=np.int64)
        for place, values in zip(places, self.parents, strict=True):
            u = u * (len(values) + 1) + np.maximum(place, MISSING) + 1
        return u - 1

    def values_of(self, u: AnyArray) -> list[IntArray]:
        """Find the places of the parents' values in contexts, −1 for an unknown one."""
        if not self.parents:
            return []
        sizes = [len(values) + 1 for values in self.parents]
        return [place - 1 for place in np.unravel_index(np.maximum(u, MISSING) + 1, sizes)]

    @cached_property
    def _by_context(self) -> tuple[IntArray, FloatArray, IntArray]:
        """The contexts that were seen, and n_uk with its rows, none for any other."""
        seen, where = np.unique(self.keys // max(len(self.children), 1), return_inverse=True)
        weight = np.zeros((len(seen) + 1, self.n_classes))
        rows = np.zeros(weight.shape, dtype=np.int64)
        np.add.at(weight, where, self.both)
        np.add.at(rows, where, self.both_rows)
        return seen, weight, rows

    @cached_property
    def _padded(self) -> tuple[FloatArray, IntArray]:
        """The counts of the pairs, and none for any other."""
        return np.pad(self.both, ((0, 1), (0, 0))), np.pad(self.both_rows, ((0, 1), (0, 0)))

    def _at(self, u: IntArray, v: IntArray) -> IntArray:
        """Find values in their contexts; one beyond the last for those never seen."""
        return _found(self.keys, np.where(u >= 0, u * len(self.children) + v, MISSING))

    def shares(
        self, u: IntArray, v: IntArray, left: LeftOut | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Give P(v | k) and P(v | u, k), rows × classes; u may be unknown, v may not.

        With `left` each row is taken out first; only one that has all the values is among the rows
        that are counted with their parents.
        """
        own = self.child[v]
        total = np.tile(self.child.sum(axis=0), (len(v), 1))
        if left is not None:
            y, amount, _ = left
            own = reduced(own, y, amount, self.child_rows[v, y] == 1)
            total = reduced(total, y, amount, self.child_rows.sum(axis=0)[y] == 1)
        pooled, everything = own.sum(axis=1), total.sum(axis=1)
        a, a_sum = (
            x[:, None] for x in own_pseudo(self.prior, self.children, v, pooled, everything)
        )
        whole = pooled / np.maximum(everything, np.finfo(float).tiny)
        alone = _share(own + a, total + a_sum, whole[:, None])
        given, places = alone, self.values_of(u)
        for place, here in zip(places, self._first(places), strict=True):
            count, context = self._counted(here, v, left)
            b, b_sum = a, a_sum
            if isinstance(self.prior, MEstimate) and self.prior.p == "marginal":
                b, b_sum = self.prior.m * given, np.full_like(a_sum, self.prior.m)
            known = (place >= 0)[:, None]
            given = np.where(known, _share(count + b, context + b_sum, given), given)
        return alone, given

    def _first(self, places: Sequence[IntArray]) -> list[IntArray]:
        """List the contexts in which the first parent alone is known, then the first two, …."""
        nothing = np.full(len(places[0]), MISSING) if places else _NOTHING
        return [
            self.context([p if j <= i else nothing for j, p in enumerate(places)])
            for i in range(len(places))
        ]

    def _counted(
        self, u: IntArray, v: IntArray, left: LeftOut | None
    ) -> tuple[FloatArray, FloatArray]:
        """Count n_uvk and n_uk, without the rows that are left out."""
        seen, in_context, context_rows = self._by_context
        at, among = self._at(u, v), _found(seen, u)
        count, context = self._padded[0][at], in_context[among]
        if left is None:
            return count, context
        y, amount, whole = left
        gone = np.where(whole, amount, 0.0)
        return (
            reduced(count, y, gone, whole & (self._padded[1][at, y] <= 1)),
            reduced(context, y, gone, whole & (context_rows[among, y] <= 1)),
        )

    def support(self, u: IntArray, v: IntArray) -> Support:
        """Count n_uvk and n_uk of rows, or n_vk and n_k where no parent is known."""
        count, context = self._counted(u, np.maximum(v, 0), None)
        alone, total = self.child[np.maximum(v, 0)], self.child.sum(axis=0)
        known = ((u >= 0) & (v >= 0))[:, None]
        count = np.where(known, count, np.where((v >= 0)[:, None], alone, 0.0))
        return Support(count, np.where(known, context, total))

    def lookup(self, u: IntArray, v: IntArray) -> Lookup:
        """Look up log P(v | u, k) of rows."""
        wide = np.maximum(u + 1, 0) * (len(self.children) + 1) + np.maximum(v + 1, 0)
        if self._size * self.n_classes <= DENSE:
            return Lookup(wide.astype(np.int32), *self._all_scores)
        found, where = distinct(wide, self._size)
        return Lookup(where.astype(np.int32), *self._scored(found))

    @property
    def _size(self) -> int:
        return (self.n_contexts + 1) * (len(self.children) + 1)

    @cached_property
    def _all_scores(self) -> tuple[AnyArray, FloatArray]:
        return self._scored(np.arange(self._size))

    def _scored(self, found: IntArray) -> tuple[AnyArray, FloatArray]:
        """Score some pairs of values, as places and scores for a look-up."""
        u, v = (x - 1 for x in np.divmod(found, len(self.children) + 1))
        told = v >= 0
        places = np.append(np.where(told, np.cumsum(told) - 1, -1), -1).astype(np.int32)
        return places, np.ascontiguousarray(log(self.shares(u[told], v[told])[1]))

    def grid(self) -> FloatArray:
        """Score all values, with an axis for each parent, the child and the classes.

        In each axis of values the last stands for a value that is missing or was never seen.
        """
        sizes = [len(values) + 1 for values in self.parents]
        if prod(sizes) * (len(self.children) + 1) * self.n_classes > MOST_SCORES:
            raise SettingError(
                f"the table of the column and its {len(sizes)} parents would have "
                f"{prod(sizes) * len(self.children):,} places; give it fewer parents"
            )
        places = np.indices((*sizes, len(self.children)))
        u = [
            np.where(p.ravel() == n - 1, MISSING, p.ravel())
            for p, n in zip(places, sizes, strict=False)  # the last is the child
        ]
        scores = np.zeros((*sizes, len(self.children) + 1, self.n_classes))
        found = log(self.shares(self.context(u), places[-1].ravel())[1])
        scores[..., :-1, :] = found.reshape(*places[0].shape, self.n_classes)
        return scores

    def estimates(self, block: Block, parents: Sequence[int], child: int) -> EstimateTables:
        """Yield P(v | u, k) for the parents' values that were seen, or P(v | k) of the child alone.

        The parents and the child are columns of the block.
        """
        from priory.families.estimates import Estimates, shares

        pairing = block.pairing

        def written(column: int, value: Any) -> str:
            return f"= {value}" if pairing is None else pairing.shown(column, value)

        values: list[Any] = list(self.children)
        if pairing is not None and pairing.edges[child] is not None:
            values = [written(child, value).removeprefix("in ") for value in values]
        v, columns = np.arange(len(values)), [block.columns[child]] * len(values)
        if not self.parents:
            alone, _ = self.shares(np.full(len(v), MISSING), v)
            counted = (self.child, self.prior, self.children, columns)
            yield shares("P(value | class)", values, log(alone), *counted)
            return
        for u, known in self._whole_contexts():
            where = np.full(len(v), u)
            _, p = self.shares(where, v)
            given = [
                f"{block.columns[j]} {written(j, value)}, "
                for j, value in zip(parents, known, strict=True)
            ]
            title = f"P(value | {''.join(given)}class)"
            count, total = self._counted(where, v, None)
            fractions = partial(self._exact, where, v)
            yield Estimates(title, values, p, count, total, columns, fractions)

    def draw(self, u: AnyArray, y: CodeArray, rng: Rng) -> IntArray:
        """Draw the place of a value of the child for each row, by its context and its class."""
        result, every = np.zeros(len(y), dtype=np.int64), np.arange(len(self.children))
        for context in np.unique(u).tolist():
            rows = np.flatnonzero(u == context)
            _, p = self.shares(np.full(len(every), context), every)
            result[rows] = draw(p.T / p.sum(axis=0)[:, None], y[rows], rng)
        return result

    def _whole_contexts(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the contexts in which all parents are known: of several, those that were seen."""
        every = np.arange(self.n_contexts) if len(self.parents) == 1 else self._by_context[0]
        for u, *places in zip(every, *self.values_of(every), strict=True):
            if min(places) >= 0:
                named = zip(self.parents, places, strict=True)
                yield int(u), [values[place] for values, place in named]

    def _exact(self, u: IntArray, v: IntArray) -> Exact | None:
        from priory.families.estimates import exact_conditional

        counts = [self._counted(here, v, None)[0] for here in self._first(self.values_of(u))]
        return exact_conditional(self.child, counts, self.prior, self.children)

    def loo_lookup(self, u: IntArray, v: IntArray, loo: LooRows) -> Lookup:
        """Look up the scores of rows, each taken out of the counts.

        A value that was the row's alone was never seen without it. NaN stands where a row was not
        learned.
        """
        amounts, _ = loo.ways
        kinds, width = len(amounts) * self.n_classes, len(self.children) + 2
        wide = ((u + 2) * width + v + 2) * kinds + loo.kinds(self.n_classes)
        found, where = distinct(wide, (self.n_contexts + 2) * width * kinds)
        pair, kind = np.divmod(found, kinds)
        way, y = np.divmod(kind, self.n_classes)
        u, v = (x - 2 for x in np.divmod(pair, width))
        places = self.values_of(u)
        whole = np.all([u >= 0, *(place >= 0 for place in places)], axis=0)
        rows = np.where(
            whole,
            self._padded[1][self._at(u, v), y],
            np.pad(self.child_rows, ((0, 2), (0, 0)))[v, y],
        )
        never = (u == NEVER) | (v == NEVER) | ((v >= 0) & (rows == 0))
        child_gone = (np.append(self.child_rows.sum(axis=1), [0, 0])[v] == 1) & (v >= 0)
        if places:  # a parent's value is gone with its only row
            of_parents = zip(places, self.parent_rows, strict=True)
            u = self.context([np.where(np.append(n, 0)[p] == 1, MISSING, p) for p, n in of_parents])
        told = (v >= 0) & ~child_gone & ~never
        scores = np.zeros((len(found) + 1, self.n_classes))
        left = y[told], amounts[way][told], whole[told]
        scores[:-1][told] = log(self.shares(u[told], v[told], left)[1])
        scores[:-1][never] = np.nan
        return Lookup(where.astype(np.int32), np.arange(len(scores), dtype=np.int32), scores)


def places_of(column: Labels, labels: Sequence[Label]) -> IntArray:
    """Find the place of each row's value among labels; NEVER for one that is not there."""
    known = {label_key(label): i for i, label in enumerate(labels)}
    places = [known.get(label_key(label), NEVER) for label in column.labels]
    return np.array([*places, MISSING], dtype=np.int64)[column.codes]


def _contexts(
    digits: Sequence[IntArray], table: PairsTable, parents: Sequence[int]
) -> Iterator[IntArray]:
    """Yield the context of each row of counts, with every choice of parents unknown."""
    for known in product((1, 0), repeat=len(parents)):
        if any(known):
            u: Any = 0
            for digit, j, here in zip(digits, parents, known, strict=True):
                u = u * (len(table.labels[j]) + 1) + here * digit
            yield u - 1


def _summed(pairs: AnyArray, where: IntArray, times: int, size: int) -> AnyArray:
    """Add up the counts that come to stand at the same place; they are given several times."""
    result = np.zeros((size, pairs.shape[1]), dtype=pairs.dtype)
    if times == 1:
        result[where] = pairs
    elif times:
        np.add.at(result, where, np.concatenate([pairs] * times))
    return result


def _found(keys: IntArray, wanted: IntArray) -> IntArray:
    """Find numbers among sorted ones; one beyond the last for those not there."""
    at = np.searchsorted(keys, wanted)
    return np.where(np.append(keys, NEVER)[at] == wanted, at, len(keys))


def _share(count: FloatArray, total: FloatArray, otherwise: FloatArray) -> FloatArray:
    known = total > 0
    return np.where(known, count / np.where(known, total, 1.0), otherwise)
