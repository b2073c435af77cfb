"""Joint: several columns of labels as one table of all their combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from priory.base.errors import SettingError
from priory.base.formatting import shown
from priory.base.labels import label_key, sorted_labels
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Combined
from priory.data.schema import Block, Kind
from priory.families.base import Adder, EstimateTables, Rng, adder_of, log
from priory.families.categorical import draw, pick
from priory.families.described import FactorParts, Support, assigned, known_values
from priory.families.evidence import log_dirichlet_evidence
from priory.families.loo import LooRows, log_share, reduced
from priory.families.pair_counts import MISSING, places_of
from priory.families.priors import Laplace, MEstimate, Prior, RowsPrior
from priory.families.protocols import ClosedFormLoo, Conjugate, Parametric
from priory.statistics.tables import LabelsTable

if TYPE_CHECKING:
    from priory.families.posteriors import DirichletPosterior

__all__ = ["Joint", "JointParameters"]


@dataclass(frozen=True)
class Joint(ClosedFormLoo, Parametric, Conjugate):
    """Give each combination of values its smoothed relative frequency, nothing assumed.

        P(v | k) = (n_vk + α) / (n_k + αV),   V = V_1 · V_2 · … combinations

    A missing value is summed out: the other columns keep the table that is left of them, in which
    each place stands for as many combinations as were summed. So is a value never seen.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = LabelsTable((("a", 0), ("b", 1)), np.array([[3, 1]]), np.array([[3.0, 1.0]]))
    >>> Joint().parameters(table, Laplace(1.0)).domains
    (('a', 'b'), (0, 1))
    """

    name: ClassVar[str] = "joint"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.JOINT,)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    def parameters(self, table: LabelsTable, prior: RowsPrior) -> JointParameters:
        """Find the counted combinations and the domain of each column."""
        if isinstance(prior, MEstimate) and not isinstance(prior.p, str):
            raise SettingError("joint takes an m-estimate with p='uniform' or 'marginal'")
        combinations: Sequence[Any] = table.labels
        n_columns = len(combinations[0]) if combinations else 0
        domains = tuple(sorted_labels(c[j] for c in combinations) for j in range(n_columns))
        places = [{label_key(v): i for i, v in enumerate(domain)} for domain in domains]
        codes = np.array(
            [[places[j][label_key(v)] for j, v in enumerate(c)] for c in combinations],
            dtype=np.int64,
        ).reshape(len(combinations), n_columns)
        return JointParameters(domains, codes, table.weight, prior)

    def n_free(self, table: LabelsTable, prior: RowsPrior) -> int:
        """Count V_1 · V_2 · … − 1 for each class."""
        return len(table.weight) * (self.parameters(table, prior).combinations - 1)

    def log_evidence(self, table: LabelsTable, prior: RowsPrior) -> float:
        """Give that of the combinations under the Dirichlet over all of them."""
        found = self.parameters(table, prior)
        return log_dirichlet_evidence(found.weight, found.pseudo_counts, found.pseudo_total)

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> DirichletPosterior:
        """Give the Dirichlet over the combinations that were seen and all others together."""
        from priory.families.posteriors import DirichletPosterior

        found = self.parameters(table, prior)
        after = found.weight + found.pseudo_counts
        everything = found.weight.sum(axis=1) + found.pseudo_total
        others = np.maximum(everything - after.sum(axis=1), 0.0)[:, None]
        values = (*table.labels, "any other")
        return DirichletPosterior(classes, values, np.concatenate([after, others], axis=1))

    def leaves_out(self, column: Combined, parameters: JointParameters) -> BoolArray:
        """Tell which rows have nothing but missing values."""
        return np.all([part.missing for part in column.parts], axis=0)

    def formula(self, block: Block, value: Any, parameters: JointParameters) -> str:
        """Write P of the values that are in the table; the others are summed out."""
        return f"P({assigned(block, known_values(value, parameters.domains))} | class)"

    def parts(self, block: Block, row: Combined, parameters: JointParameters) -> FactorParts | None:
        """List no lines, only a remark on the values that were never seen."""
        never = [
            f"{column} = {shown(part.value(0))}"
            for column, part, code in zip(
                block.columns, row.parts, parameters.codes_of(row)[0], strict=True
            )
            if not part.missing[0] and code < 0
        ]
        return (
            FactorParts((), notes=[f"never seen, summed out: {', '.join(never)}"])
            if never
            else None
        )

    def support(
        self, column: Combined, table: LabelsTable, parameters: JointParameters
    ) -> Support | None:
        """Count how often each row's values came together with each class."""
        if not parameters.domains:
            return None
        found = replace(parameters, weight=table.weight)
        codes = found.codes_of(column)
        count = np.zeros((len(column), len(found.weight)))
        patterns, where = np.unique(codes >= 0, axis=0, return_inverse=True)
        for i, pattern in enumerate(patterns):
            rows = np.flatnonzero(where.ravel() == i)
            place, counts = found.marginal(pattern, codes[rows], found.weight)
            count[rows] = counts[place]
        return Support(count, np.broadcast_to(found.weight.sum(axis=1), count.shape))

    def log_likelihood(self, column: Combined, parameters: JointParameters) -> FloatArray:
        """Look each row up in the table of the columns that it has."""
        out = np.zeros((len(column), len(parameters.weight)))
        if not parameters.domains:
            return out
        codes = parameters.codes_of(column)
        patterns, where = np.unique(codes >= 0, axis=0, return_inverse=True)
        for i, pattern in enumerate(patterns):
            if pattern.any():
                rows = np.flatnonzero(where.ravel() == i)
                out[rows] = parameters.log_marginal(pattern, codes[rows])
        return out

    def loo_adder(self, column: Combined, loo: LooRows, table: LabelsTable, prior: Any) -> Adder:
        """Take one from the combination's count, and from the domains values that were its alone.

            P(v | k) = (n_vk − [k=y] + α) / (n_k − [k=y] + αV)

        A value that has left its domain is summed out, as one never seen; a row with a missing
        value was never counted, and is scored by the whole table.
        """
        found = self.parameters(table, prior)
        scores = self.log_likelihood(column, found)
        whole = np.flatnonzero(~column.missing)
        if len(whole) and found.domains:
            scores[whole] = found.loo(found.codes_of(column)[whole], table.rows, loo.take(whole))
        elif len(whole):
            scores[whole] = np.nan
        return adder_of(scores)

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P of each combination that was seen, and of any one that was not."""
        from priory.families.estimates import Estimates, exact_joint

        combinations, n_columns = parameters.combinations, len(parameters.domains)
        n = len(table.labels) + (combinations > len(table.labels))
        codes = np.concatenate([parameters.codes, np.full((1, n_columns), MISSING)])
        counts = np.concatenate([table.weight.T, np.zeros((1, len(table.weight)))])[:n]
        values = [*(_shown(block, label) for label in table.labels), "any one never seen"]
        yield Estimates(
            "P(values | class)",
            values[:n],
            np.exp(parameters.log_marginal(np.ones(n_columns, dtype=bool), codes))[:n],
            counts,
            np.broadcast_to(table.weight.sum(axis=1), counts.shape),
            fractions=partial(exact_joint, counts, prior, combinations),
        )

    def sample(self, parameters: JointParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a counted combination, or any at all with the weight of the prior."""
        counted = parameters.weight
        n = counted.sum(axis=1)
        everything = n + parameters.pseudo_total
        share = n / np.where(everything > 0, everything, 1.0)
        frequencies = counted / np.where(n > 0, n, 1.0)[:, None]
        codes = parameters.codes[draw(frequencies, y, rng)]
        free = rng.random(len(y)) >= share[y]
        for j, domain in enumerate(parameters.domains):
            codes[free, j] = rng.integers(len(domain), size=int(free.sum()))
        return pick(parameters.domains, codes)


@dataclass(frozen=True, eq=False)
class JointParameters:
    """Hold each column's domain, the counted combinations as codes, and their weights."""

    domains: tuple[tuple[Label, ...], ...]
    codes: AnyArray
    weight: FloatArray
    prior: RowsPrior

    @property
    def combinations(self) -> int:
        """How many combinations of values there are."""
        return prod(map(len, self.domains))

    @property
    def pseudo_total(self) -> float:
        """The pseudo-count of all combinations together."""
        return _pseudo_total(self.prior, self.combinations)

    @property
    def pseudo_counts(self) -> FloatArray:
        """The pseudo-count of each counted combination."""
        return self._pseudo(np.ones(len(self.domains), dtype=bool), self.weight.sum(axis=0))

    def codes_of(self, column: Combined) -> AnyArray:
        """Code each row by the places of its values in the domains, −1 for other values."""
        parts = zip(column.parts, self.domains, strict=True)
        return np.stack(
            [np.maximum(places_of(part, known), MISSING) for part, known in parts], axis=1
        )

    def log_marginal(self, pattern: BoolArray, codes: AnyArray) -> FloatArray:
        """Look up log P(values of the columns in the pattern | k), rows × classes."""
        where, counts = self.marginal(pattern, codes, self.weight)
        n = self.weight.sum(axis=1)
        smoothed = counts + self._pseudo(pattern, counts.sum(axis=1))[:, None]
        total = n + self.pseudo_total
        # A class that saw no whole row, with no prior to speak for it, must not decide.
        pooled = smoothed.sum(axis=1) / max(float(n.sum()), np.finfo(float).tiny)
        known = total > 0
        p = np.where(known, smoothed / np.where(known, total, 1.0), pooled[:, None])
        return log(p)[where]

    def loo(self, codes: AnyArray, rows: IntArray, loo: LooRows) -> FloatArray:
        """Score combinations, log P(v | k), rows × classes, each row taken out of the table."""
        place = {tuple(combination): i for i, combination in enumerate(self.codes.tolist())}
        wanted, which = np.unique(codes, axis=0, return_inverse=True)
        at = np.array([place.get(tuple(c), -1) for c in wanted.tolist()])[which.ravel()]
        y, amount = loo.y, loo.amount
        learned = (at >= 0) & (rows[y, at] > 0)
        gone = rows.sum(axis=0)[at] == 1
        stays = np.ones(codes.shape, dtype=bool)
        for j, domain in enumerate(self.domains):
            rows_of = np.bincount(self.codes[:, j], weights=rows.sum(axis=0), minlength=len(domain))
            stays[:, j] = ~(gone & (rows_of[codes[:, j]] == 1))
        everything = np.tile(self.weight.sum(axis=1), (len(y), 1))
        total = reduced(everything, y, amount, rows.sum(axis=1)[y] == 1)
        result = np.zeros(total.shape)
        patterns, where = np.unique(stays, axis=0, return_inverse=True)
        sizes = np.array([len(domain) for domain in self.domains], dtype=np.float64)
        for i, pattern in enumerate(patterns):
            if not pattern.any():
                continue  # nothing of the row was seen in any other
            some = np.flatnonzero((where.ravel() == i) & learned)
            mine, counts, rows_at = self.marginal(pattern, codes[some], self.weight, rows)
            count = reduced(counts[mine], y[some], amount[some], rows_at[mine, y[some]] == 1)
            pooled, n = count.sum(axis=1), total[some].sum(axis=1)
            combinations = float(np.prod(sizes - ~pattern))
            summed = float(np.prod((sizes - 1)[~pattern]))
            a = _pseudo_count(self.prior, pooled, n, summed, combinations)
            a_sum = np.array(_pseudo_total(self.prior, combinations))
            columns = (a[:, None], a_sum, pooled[:, None], n[:, None])
            result[some] = log_share(count, total[some], *columns)
        result[~learned] = np.nan
        return result

    def _pseudo(self, pattern: BoolArray, totals: FloatArray) -> FloatArray:
        """Derive the pseudo-counts of the places in the table of some columns."""
        summed = prod(len(self.domains[j]) for j in np.flatnonzero(~pattern))
        n = float(self.weight.sum())
        return _pseudo_count(self.prior, totals, n, summed, self.combinations)

    def marginal(self, pattern: BoolArray, codes: AnyArray, *sums: AnyArray) -> list[AnyArray]:
        """Sum over all but some columns: where codes are in the table, and its sums."""
        both = np.concatenate([self.codes, codes])[:, pattern]
        places, where = np.unique(both, axis=0, return_inverse=True)
        here, there = np.split(where.ravel(), [len(self.codes)])
        tables = [np.zeros((len(places), len(x)), dtype=x.dtype) for x in sums]
        for table, x in zip(tables, sums, strict=True):
            np.add.at(table, here, x.T)
        return [there, *tables]


def _pseudo_count(
    prior: RowsPrior, totals: FloatArray, n: FloatArray | float, summed: float, combinations: float
) -> FloatArray:
    """Derive the pseudo-count of places that each stand for some of the combinations."""
    if isinstance(prior, Laplace):
        return np.full(totals.shape, np.max(prior.alpha) * summed)
    if prior.p == "marginal":
        return prior.m * (totals + summed) / (n + combinations)
    return np.full(totals.shape, prior.m * summed / combinations)


def _pseudo_total(prior: RowsPrior, combinations: float) -> float:
    if isinstance(prior, Laplace):
        return float(np.max(prior.alpha)) * combinations
    return float(prior.m)


def _shown(block: Block, values: Any) -> Any:
    """Write a combination as it is shown: bins by their ends."""
    pairing = block.pairing
    if pairing is None:
        return values
    return tuple(
        v if pairing.edges[j] is None else pairing.shown(j, v).removeprefix("in ")
        for j, v in enumerate(values)
    )
