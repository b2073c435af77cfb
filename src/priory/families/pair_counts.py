"""One column given another and the class: the arithmetic that families of pairs share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import SettingError
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray, IntArray, Label
from priory.data.columns import Labels
from priory.families.base import Lookup, log
from priory.families.left_out import LeftOut, distinct, own_pseudo, reduced
from priory.families.priors import Laplace, MEstimate
from priory.statistics.tables import PairsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates, Exact

__all__ = ["GAP", "NEVER", "PairCounts", "places_of"]

GAP, NEVER = -1, -2
"""The places of a gap and of a value that was never learned."""

DENSE = 1 << 20
"""So many scores are worked out at once and kept; of more, those that the rows ask for."""


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Hold the counts of a child's values, and of them together with those of a parent.

        P(v | k)    = (n_vk + a_v) / (n_k + Σa)
        P(v | u, k) = (n_uvk + b_vk) / (n_uk + Σb)

    a are the prior's pseudo-counts. b are the same, but for an m-estimate towards the marginal,
    which here is that of the class: b_vk = m · P(v | k). n_uk counts rows that have both values. A
    parent that is missing, or was never seen, tells nothing: then P(v | k) stands for both; so it
    does where neither rows nor prior speak for a parent's value in a class.
    """

    parents: tuple[Label, ...]
    children: tuple[Label, ...]
    prior: Laplace | MEstimate
    keys: IntArray
    """u · V + v of the pairs that were seen."""
    both: FloatArray
    both_rows: IntArray
    child: FloatArray
    child_rows: IntArray
    parent_rows: IntArray
    """How many rows have each value of the parent, over all classes."""

    @classmethod
    def read(
        cls, table: PairsTable, parent: int | None, child: int, prior: Laplace | MEstimate
    ) -> PairCounts:
        """Return the counts of two columns of a table, or of the child alone."""
        check_prior(prior)
        starts = table.starts.tolist()
        of_child = slice(starts[child], starts[child + 1])
        of_parent = slice(0, 0) if parent is None else slice(starts[parent], starts[parent + 1])
        first, second = table.places
        if parent is not None and parent > child:  # counted the other way round
            first, second = second, first
        some = (first >= of_parent.start) & (first < of_parent.stop)
        some &= (second >= of_child.start) & (second < of_child.stop)
        size = of_child.stop - of_child.start
        keys = (first[some] - of_parent.start) * size + second[some] - of_child.start
        order = np.argsort(keys)
        return cls(
            () if parent is None else table.labels[parent],
            table.labels[child],
            prior,
            keys[order],
            np.ascontiguousarray(table.pair_weight[:, some][:, order].T),
            np.ascontiguousarray(table.pair_rows[:, some][:, order].T),
            np.ascontiguousarray(table.weight[:, of_child].T),
            np.ascontiguousarray(table.rows[:, of_child].T),
            table.rows[:, of_parent].sum(axis=0),
        )

    @property
    def n_classes(self) -> int:
        """Return how many classes there are."""
        return self.child.shape[1]

    @cached_property
    def context(self) -> FloatArray:
        """Return n_uk, parents × classes."""
        return self._by_parent(self.both)

    @cached_property
    def context_rows(self) -> IntArray:
        """Return the rows behind n_uk."""
        return self._by_parent(self.both_rows)

    def _by_parent(self, both: AnyArray) -> AnyArray:
        result = np.zeros((len(self.parents) + 1, self.n_classes), dtype=both.dtype)
        np.add.at(result, self.keys // max(len(self.children), 1), both)
        return result

    def _at(self, u: IntArray, v: IntArray) -> IntArray:
        """Return where pairs of values stand, one beyond the last for those never seen."""
        wanted = u * len(self.children) + v
        at = np.searchsorted(self.keys, wanted)
        found = np.append(self.keys, -1)[at] == wanted
        return np.where(found & (u >= 0), at, len(self.keys))

    @cached_property
    def _padded(self) -> tuple[FloatArray, IntArray]:
        """Return the counts of the pairs, and none for any other."""
        none = np.zeros((1, self.n_classes))
        return (
            np.concatenate([self.both, none]),
            np.concatenate([self.both_rows, none.astype(np.int64)]),
        )

    def shares(
        self,
        u: IntArray,
        v: IntArray,
        left: tuple[IntArray, FloatArray] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return P(v | k) and P(v | u, k), rows × classes; u may be a gap, v may not.

        With `left` each row is taken out first: its class and its weight.
        """
        both, both_rows = self._padded
        at = self._at(u, v)
        own, count, context = self.child[v], both[at], self.context[u]
        total = np.tile(self.child.sum(axis=0), (len(v), 1))
        if left is not None:
            y, amount = left
            own = reduced(own, y, amount, self.child_rows[v, y] == 1)
            total = reduced(total, y, amount, self.child_rows.sum(axis=0)[y] == 1)
            count = reduced(count, y, amount, both_rows[at, y] <= 1)
            context = reduced(context, y, amount, self.context_rows[u, y] <= 1)
        pooled, everything = own.sum(axis=1), total.sum(axis=1)
        a, a_sum = (
            x[:, None] for x in own_pseudo(self.prior, self.children, v, pooled, everything)
        )
        alone = _share(own + a, total + a_sum, pooled[:, None] / _above_0(everything)[:, None])
        b, b_sum = a, a_sum
        if isinstance(self.prior, MEstimate) and self.prior.p == "marginal":
            b, b_sum = self.prior.m * alone, np.full_like(a_sum, self.prior.m)
        given = _share(count + b, context + b_sum, alone)
        return alone, np.where((u >= 0)[:, None], given, alone)

    def lookup(self, u: IntArray, v: IntArray, edge: bool = False) -> Lookup:
        """Return log P(v | u, k) of rows; of an `edge`, log P(v | u, k) − log P(v | k)."""
        wide = np.maximum(u + 1, 0) * (len(self.children) + 1) + np.maximum(v + 1, 0)
        if self._size * self.n_classes <= DENSE:
            return Lookup(wide.astype(np.int32), *(self._ratios if edge else self._given))
        found, where = distinct(wide, self._size)
        return Lookup(where.astype(np.int32), *self._scored(found, edge))

    @property
    def _size(self) -> int:
        return (len(self.parents) + 1) * (len(self.children) + 1)

    @cached_property
    def _given(self) -> tuple[AnyArray, FloatArray]:
        return self._scored(np.arange(self._size), edge=False)

    @cached_property
    def _ratios(self) -> tuple[AnyArray, FloatArray]:
        return self._scored(np.arange(self._size), edge=True)

    def _scored(self, found: IntArray, edge: bool) -> tuple[AnyArray, FloatArray]:
        """Return places and scores for a look-up of some pairs of values."""
        u, v = (x - 1 for x in np.divmod(found, len(self.children) + 1))
        told = (v >= 0) & ((u >= 0) | (not edge))
        places = np.append(np.where(told, np.cumsum(told) - 1, -1), -1).astype(np.int32)
        return places, np.ascontiguousarray(_score(self.shares(u[told], v[told]), edge))

    def grid(self, edge: bool = False) -> FloatArray:
        """Return the scores of all pairs of values, parents × children × classes.

        In both the last stands for a gap, and for a value never seen.
        """
        u, v = np.indices((len(self.parents) + 1, len(self.children)))
        u[-1] = GAP
        scores = np.zeros((len(u), len(self.children) + 1, self.n_classes))
        found = _score(self.shares(u.ravel(), v.ravel()), edge)
        scores[:, :-1] = found.reshape(*u.shape, self.n_classes)
        return scores

    def estimates(
        self, child: str, shown: Callable[[Any], Any], given: Callable[[Any], str], edge: bool
    ) -> Iterator[Estimates]:
        """Yield P(v | u, k) for each value of the parent, or P(v | k) of the child alone.

        Of an `edge`, P(v | u, k) / P(v | k). `shown` and `given` say how values of the child and of
        the parent are written.
        """
        from priory.families.estimates import Estimates, shares

        v, columns = np.arange(len(self.children)), [child] * len(self.children)
        values = [shown(value) for value in self.children]
        if not self.parents:
            alone, _ = self.shares(np.full(len(v), GAP), v)
            counted = (self.child, self.prior, self.children, columns)
            yield shares("P(value | class)", values, log(alone), *counted)
            return
        for u, parent in enumerate(self.parents):
            where = np.full(len(v), u)
            alone, p = self.shares(where, v)
            title = f"P(value | {given(parent)}, class)"
            if edge:
                title += " / P(value | class)"
                p = np.where(alone > 0, p / np.where(alone > 0, alone, 1.0), 1.0)
            count, total = self._padded[0][self._at(where, v)], self.context[where]
            fractions = partial(self._exact, count, edge)
            yield Estimates(title, values, p, count, total, columns, fractions)

    def _exact(self, count: FloatArray, edge: bool) -> Exact | None:
        """Return P(v | u, k) as fractions, given n_uvk of one value u of the parent."""
        from priory.families.estimates import exact_conditional

        return exact_conditional(self.child, count, self.prior, self.children, edge)

    def lookup_without(
        self, u: IntArray, v: IntArray, left_out: LeftOut, edge: bool = False
    ) -> Lookup:
        """Return the scores of rows, each with that row taken out of the counts.

        A value that was the row's alone was never seen without it. NaN stands where a row was not
        learned.
        """
        amounts, _ = left_out.ways
        kinds, width = len(amounts) * self.n_classes, len(self.children) + 2
        wide = ((u + 2) * width + v + 2) * kinds + left_out.kinds(self.n_classes)
        found, where = distinct(wide, (len(self.parents) + 2) * width * kinds)
        pair, kind = np.divmod(found, kinds)
        way, y = np.divmod(kind, self.n_classes)
        u, v = (x - 2 for x in np.divmod(pair, width))
        amount = amounts[way]
        rows = np.where(u >= 0, self._padded[1][self._at(u, v), y], _padded(self.child_rows)[v, y])
        never = (u == NEVER) | (v == NEVER) | ((v >= 0) & (rows == 0))
        child_gone = (np.append(self.child_rows.sum(axis=1), [0, 0])[v] == 1) & (v >= 0)
        parent_gone = (np.append(self.parent_rows, [0, 0])[u] == 1) & (u >= 0)
        u = np.where(parent_gone, GAP, u)
        told = (v >= 0) & ~child_gone & ~never & ((u >= 0) | (not edge))
        scores = np.zeros((len(found) + 1, self.n_classes))
        left = y[told], amount[told]
        scores[:-1][told] = _score(self.shares(u[told], v[told], left), edge)
        scores[:-1][never] = np.nan
        return Lookup(where.astype(np.int32), np.arange(len(scores), dtype=np.int32), scores)


def check_prior(prior: Laplace | MEstimate) -> None:
    """Refuse a prior of which a pair of columns has no reading."""
    if isinstance(prior, MEstimate) and not isinstance(prior.p, str):
        raise SettingError("pairs of columns take an m-estimate with p='uniform' or 'marginal'")
    if isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
        raise SettingError("pairs of columns take one number as Laplace's α")


def places_of(column: Labels, labels: Sequence[Label]) -> IntArray:
    """Return the place of each row's value among labels; GAP, or NEVER for one not there."""
    known = {label_key(label): i for i, label in enumerate(labels)}
    places = [known.get(label_key(label), NEVER) for label in column.labels]
    return np.array([*places, GAP], dtype=np.int64)[column.codes]


def _score(shares: tuple[FloatArray, FloatArray], edge: bool) -> FloatArray:
    alone, given = shares
    if not edge:
        return log(given)
    some = alone > 0  # where neither can be, the edge has nothing to say
    return np.where(some, log(given) - log(np.where(some, alone, 1.0)), 0.0)


def _share(count: FloatArray, total: FloatArray, otherwise: FloatArray) -> FloatArray:
    known = total > 0
    return np.where(known, count / np.where(known, total, 1.0), otherwise)


def _above_0(x: FloatArray) -> FloatArray:
    return np.maximum(x, np.finfo(float).tiny)


def _padded(rows: IntArray) -> IntArray:
    """Return the rows, with none for a gap and for a value never learned, which come last."""
    return np.concatenate([rows, np.zeros((2, rows.shape[1]), dtype=rows.dtype)])
