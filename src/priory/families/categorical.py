"""Categorical: a look-up table of probabilities, one for each value and class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from priory.base.errors import SettingError, UnseenValueError, listing
from priory.base.labels import are_in_order, label_key, label_keys, sorted_labels
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Column, Labels
from priory.data.schema import Block, Kind
from priory.families.base import EstimateTables, Lookup, Rng, log_shares, looked_up
from priory.families.described import Support
from priory.families.loo import LooRows, log_share, own_pseudo, reduced, tabulate
from priory.families.priors import DiscretePrior
from priory.families.protocols import ClosedFormLoo, DirichletFamily, InPlace, Linear, LinearFamily
from priory.statistics.tables import LabelsTable, NumbersTable
from priory.statistics.tables.base import spread_keys

__all__ = ["Categorical", "CategoricalParameters", "draw", "pick"]

ValuesTable: TypeAlias = LabelsTable | NumbersTable
"""What has the counts of a column's values."""


@dataclass(frozen=True)
class Categorical(InPlace, ClosedFormLoo, DirichletFamily, LinearFamily):
    """Give each value its smoothed relative frequency: P(v | k) = (n_vk + a_v) / (n_k + Σa).

    `values` declares values that may come, beside those seen. `unseen` says what a value outside
    of the domain does: "skip" leaves the factor out, "smooth" gives all such values together
    one more place in the domain, "error" refuses them.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = LabelsTable(("a", "b"), np.array([[3, 1]]), np.array([[3.0, 1.0]]))
    >>> np.exp(Categorical().parameters(table, Laplace(1.0)).log_p).round(3).tolist()
    [[0.667], [0.333]]
    """

    name: ClassVar[str] = "categorical"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.LABELS, Kind.NUMBERS)

    values: tuple[Label, ...] = ()
    unseen: Literal["skip", "smooth", "error"] = "skip"

    def __post_init__(self) -> None:
        if self.unseen not in ("skip", "smooth", "error"):
            raise SettingError(f"unseen must be 'skip', 'smooth' or 'error', not {self.unseen!r}.")

    def parameters(self, table: ValuesTable, prior: DiscretePrior) -> CategoricalParameters:
        """Estimate log P(v | k) for each value of the domain."""
        labels, counts, pseudo = self._counts(table, prior)
        return CategoricalParameters(labels, log_shares(counts.T, pseudo[:, None]))

    def _counts(
        self, table: ValuesTable, prior: DiscretePrior
    ) -> tuple[tuple[Label, ...], FloatArray, FloatArray]:
        """Find the domain's labels, and counts and pseudo-counts of all its places."""
        table = table.as_labels()
        labels = sorted_labels([*table.labels, *prior.values(), *self.values])
        domain = self._domain(labels)
        counts = _spread(table.weight, table.labels, labels, len(domain))
        return labels, counts, prior.pseudo_counts(domain, counts.sum(axis=0))

    def _domain(self, labels: Sequence[Label]) -> list[Label | None]:
        return [*labels, None] if self.unseen == "smooth" else [*labels]

    def counted(
        self, table: ValuesTable, prior: DiscretePrior
    ) -> tuple[tuple[Label, ...], FloatArray, FloatArray]:
        """Count the values of the domain, and those that were never seen if they have a place."""
        labels, counts, pseudo = self._counts(table, prior)
        return (*labels, "any other") if self.unseen == "smooth" else labels, counts, pseudo

    def leaves_out(self, column: Column, parameters: CategoricalParameters) -> BoolArray:
        """Tell which rows have no value, or one that is skipped."""
        coded = column.as_labels()
        return self._lookup(coded, parameters)[coded.codes] < 0

    def adder(self, column: Column, parameters: CategoricalParameters) -> Lookup:
        """Find the place of each label once; the rows then need only a look-up."""
        coded = column.as_labels()
        return Lookup(coded.codes, self._lookup(coded, parameters), parameters.log_p)

    def loo_adder(self, column: Column, loo: LooRows, table: ValuesTable, prior: Any) -> Lookup:
        """Take one from the value's count, and from the domain a value that was the row's alone.

            P(v | k) = (n_vk − [k=y] + a_v) / (n_k − [k=y] + Σa)

        A value that has left the domain was never seen: it is skipped, smoothed or refused.
        """
        labels, counts, _ = self._counts(table, prior)
        places, coded, known = _places(labels), column.as_labels(), table.as_labels()
        never = len(labels)
        where = np.array([places.get(label_key(v), never) for v in coded.labels] + [-1], np.int32)
        domain = self._domain(labels)
        declared = {label_key(v) for v in (*prior.values(), *self.values)}
        rows = _spread(known.rows, known.labels, labels, never + 1)  # the last: never learned
        alone = np.array([label_key(v) not in declared for v in labels] + [False])
        alone &= rows.sum(axis=0) == 1
        counts = np.concatenate([counts[:, :never], np.zeros((len(counts), 1))], axis=1)
        if self.unseen == "error":
            self._refuse_alone(coded, where, alone)

        def scores(v: IntArray, y: IntArray, amount: FloatArray) -> FloatArray:
            gone = alone[v]
            count = reduced(counts.T[v], y, amount, rows[y, v] == 1)
            n = np.tile(counts.sum(axis=1), (len(v), 1))
            total = reduced(n, y, amount, rows.sum(axis=1)[y] == 1)
            pooled, everything = count.sum(axis=1), total.sum(axis=1)
            a, a_sum = own_pseudo(prior, domain, v, pooled, everything)
            if gone.any() and self.unseen == "smooth":
                # The domain is one value smaller, and the row's value is the place of all others.
                smaller = domain[1:]
                last = np.full(int(gone.sum()), len(smaller) - 1)
                a[gone], a_sum[gone] = own_pseudo(
                    prior, smaller, last, pooled[gone], everything[gone]
                )
            result = log_share(
                count, total, a[:, None], a_sum[:, None], pooled[:, None], everything[:, None]
            )
            if self.unseen != "smooth":
                result[gone] = 0.0
            result[rows[y, v] == 0] = np.nan
            return result

        return Lookup(*tabulate(coded.codes, where[:-1], never + 1, len(counts), loo, scores))

    def support(
        self, column: Column, table: ValuesTable, parameters: CategoricalParameters
    ) -> Support:
        """Count how often each row's value was seen with each class."""
        counts = self.feature_counts(table, parameters)
        if len(counts) < len(parameters.log_p):  # the place of values that were never seen
            counts = np.pad(counts, ((0, 1), (0, 0)))
        return looked_up(self.adder(column, parameters), counts)

    def _refuse_alone(self, column: Labels, where: CodeArray, alone: BoolArray) -> None:
        rows = np.flatnonzero(alone[where[column.codes]] & (column.codes >= 0))
        if len(rows):
            raise UnseenValueError(
                f"value {column.value(int(rows[0]))!r} was learned in a single row, so without "
                "that row it was never learned. Set unseen='skip' or 'smooth' to allow this"
            )

    def _lookup(self, column: Labels, parameters: CategoricalParameters) -> CodeArray:
        """Find the place of each label in the domain, and of a missing value; −1: left out."""
        unseen = len(parameters.labels) if self.unseen == "smooth" else -1
        places = [parameters.places.get(label_key(label), unseen) for label in column.labels]
        if self.unseen == "error":
            used = np.unique(column.codes[column.codes >= 0])
            never = [column.labels[code] for code in used if places[code] < 0]
            if never:
                raise UnseenValueError(
                    f"value {listing(never)} was never learned. Values: "
                    f"{listing(parameters.labels)}. Set unseen='skip' or 'smooth' to allow others"
                )
        return np.array([*places, -1], dtype=np.int32)

    def sample(self, parameters: CategoricalParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a value of the domain by its probability."""
        p = np.exp(parameters.log_p[: len(parameters.labels)]).T
        drawn = draw(p / p.sum(axis=1, keepdims=True), y, rng)
        return pick([parameters.labels], drawn[:, None])[:, 0]

    def linear(self, block: Block, parameters: CategoricalParameters) -> Linear:
        """Write the one-hot form: a feature for each value."""
        features = tuple(f"{block.name}={label}" for label in parameters.labels)
        log_p = parameters.log_p[: len(features)]
        return Linear(features, log_p, np.zeros(log_p.shape[1]))

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(v | k) of every value of the domain."""
        from priory.families.estimates import shares

        values, counts, _ = self.counted(table, prior)
        domain = self._domain(parameters.labels)
        yield shares("P(value | class)", values, parameters.log_p, counts.T, prior, domain)

    def feature_counts(self, table: ValuesTable, parameters: CategoricalParameters) -> FloatArray:
        """Count how often each value was seen with each class."""
        seen = table.as_labels()
        return _spread(seen.weight, seen.labels, parameters.labels, len(parameters.labels)).T


@dataclass(frozen=True, eq=False)
class CategoricalParameters:
    """Hold log P(v | k), values × classes; a last row beyond the labels is for unseen values."""

    labels: tuple[Label, ...]
    log_p: FloatArray

    @cached_property
    def places(self) -> Mapping[Any, int]:
        """The place of each label, by its key."""
        return _places(self.labels)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.log_p.shape[1]


def draw(p: FloatArray, y: CodeArray, rng: Rng) -> AnyArray:
    """Draw a column index for each row, by the row of `p` that `y` names."""
    cumulative = np.cumsum(p, axis=1)
    cumulative[:, -1] = np.inf  # rounding must not let a draw of 0.999… fall off the end
    return (rng.random(len(y))[:, None] > cumulative[y]).sum(axis=1)


def pick(domains: Sequence[Sequence[Label]], codes: AnyArray) -> AnyArray:
    """Take the labels of codes, rows × columns, each column from its domain."""
    result = np.empty(codes.shape, dtype=object)
    for j, domain in enumerate(domains):
        labels = np.empty(len(domain), dtype=object)
        labels[:] = domain
        result[:, j] = labels[codes[:, j]]
    return result


def _places(labels: Sequence[Label]) -> dict[Any, int]:
    return dict(zip(label_keys(labels), range(len(labels)), strict=True))


def _spread(
    sums: AnyArray, labels: Sequence[Label], domain: Sequence[Label], size: int
) -> AnyArray:
    """Put the sums of labels at their places among those of a domain, classes × places."""
    if len(labels) == len(domain) and are_in_order(labels):  # the domain has all of them
        return spread_keys(sums, np.arange(len(labels)), size)
    places = _places(domain)
    where = np.array([places[key] for key in label_keys(labels)], dtype=np.intp)
    return spread_keys(sums, where, size)
