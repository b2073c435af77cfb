"""Joint: several columns of labels as one table of all their combinations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from priory.base.errors import SettingError
from priory.base.formatting import shown
from priory.base.labels import label_key, sorted_labels
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Combined, Labels
from priory.data.schema import Block, Kind
from priory.families.base import Adder, adder_of, log
from priory.families.categorical import draw
from priory.families.described import Parts, assigned
from priory.families.evidence import log_dirichlet_evidence
from priory.families.loo import LooRows, log_share, reduced
from priory.families.priors import Laplace, MEstimate, Prior
from priory.families.protocols import ClosedFormLoo, Conjugate, Parametric
from priory.statistics.tables import LabelsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import DirichletPosterior

__all__ = ["Joint", "JointParameters"]


@dataclass(frozen=True)
class Joint(ClosedFormLoo, Parametric, Conjugate):
    """Give each combination of values its smoothed relative frequency, nothing assumed.

        P(v | k) = (n_vk + α) / (n_k + αV),   V = V_1 · V_2 · … combinations

    A gap is summed out: the other columns keep the table that is left of them, in which each
    place stands for as many combinations as were summed. So is a value never seen.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = LabelsTable((("a", 0), ("b", 1)), np.array([[3, 1]]), np.array([[3.0, 1.0]]))
    >>> Joint().parameters(table, Laplace(1.0)).domains
    (('a', 'b'), (0, 1))
    """

    name: ClassVar[str] = "joint"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.JOINT,)
    priors: ClassVar[tuple[type[Prior], ...]] = (Laplace, MEstimate)

    def parameters(self, table: LabelsTable, prior: Laplace | MEstimate) -> JointParameters:
        """Return the counted combinations and the domain of each column."""
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

    def n_free(self, table: LabelsTable, prior: Laplace | MEstimate) -> int:
        """Return V_1 · V_2 · … − 1 for each class."""
        sizes = [len(domain) for domain in self.parameters(table, prior).domains]
        return len(table.weight) * (prod(sizes) - 1)

    def log_evidence(self, table: LabelsTable, prior: Laplace | MEstimate) -> float:
        """Return that of the combinations under the Dirichlet over all of them."""
        found = self.parameters(table, prior)
        whole = np.ones(len(found.domains), dtype=bool)
        pseudo = np.broadcast_to(
            found.pseudo(whole, found.weight.sum(axis=0)), found.weight.shape[1:]
        )
        return log_dirichlet_evidence(found.weight, pseudo, found.pseudo(np.ones(0, dtype=bool)))

    def posterior(
        self,
        table: LabelsTable,
        prior: Laplace | MEstimate,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> DirichletPosterior:
        """Return the Dirichlet over the combinations that were seen and all others together."""
        from priory.families.posteriors import DirichletPosterior

        found = self.parameters(table, prior)
        whole = np.ones(len(found.domains), dtype=bool)
        after = found.weight + found.pseudo(whole, found.weight.sum(axis=0))
        everything = found.weight.sum(axis=1) + found.pseudo(np.ones(0, dtype=bool))
        others = np.maximum(everything - after.sum(axis=1), 0.0)[:, None]
        values = (*table.labels, "any other")
        return DirichletPosterior(classes, values, np.concatenate([after, others], axis=1))

    def leaves_out(self, column: Combined, parameters: JointParameters) -> BoolArray:
        """Return which rows have nothing but gaps."""
        return np.all([part.missing for part in column.parts], axis=0)

    def formula(self, block: Block, value: Any, parameters: JointParameters) -> str:
        """Return P of the values that are in the table; gaps and others are summed out."""
        known = [set(map(label_key, domain)) for domain in parameters.domains]
        seen = [
            v if v is not None and label_key(v) in domain else None
            for v, domain in zip(value, known, strict=True)
        ]
        return f"P({assigned(block, seen)} | class)"

    def parts(self, block: Block, row: Combined, parameters: JointParameters) -> Parts | None:
        """Return no lines, only a remark on the values that were never seen."""
        never = [
            f"{column} = {shown(part.value(0))}"
            for column, part, domain in zip(
                block.columns, row.parts, parameters.domains, strict=True
            )
            if not part.missing[0] and _codes(part, domain)[0] < 0
        ]
        return Parts((), notes=[f"never seen, summed out: {', '.join(never)}"]) if never else None

    def log_likelihood(self, column: Combined, parameters: JointParameters) -> FloatArray:
        """Look each row up in the table of the columns that are there."""
        out = np.zeros((len(column), len(parameters.weight)))
        if not parameters.domains:
            return out
        codes = np.stack(
            [
                _codes(part, domain)
                for part, domain in zip(column.parts, parameters.domains, strict=True)
            ],
            axis=1,
        )
        patterns, where = np.unique(codes >= 0, axis=0, return_inverse=True)
        where = where.ravel()
        for i, pattern in enumerate(patterns):
            if pattern.any():
                rows = np.flatnonzero(where == i)
                out[rows] = parameters.log_marginal(pattern, codes[rows])
        return out

    def loo_adder(
        self, column: Combined, loo: LooRows, table: LabelsTable, prior: Laplace | MEstimate
    ) -> Adder:
        """Take one from the combination's count, and from the domains values that were its alone.

            P(v | k) = (n_vk − [k=y] + α) / (n_k − [k=y] + αV)

        A value that has left its domain is summed out, as one never seen; a row with a gap was
        never counted, and is scored by the whole table.
        """
        found = self.parameters(table, prior)
        scores = self.log_likelihood(column, found)
        whole = np.flatnonzero(~column.missing)
        if len(whole) and found.domains:
            codes = np.stack(
                [
                    _codes(part, domain)[whole]
                    for part, domain in zip(column.parts, found.domains, strict=True)
                ],
                axis=1,
            )
            scores[whole] = found.loo(codes, table.rows, loo.take(whole))
        elif len(whole):
            scores[whole] = np.nan
        return adder_of(scores)

    def estimates(
        self,
        block: Block,
        table: LabelsTable,
        prior: Laplace | MEstimate,
        parameters: JointParameters,
    ) -> Iterator[Estimates]:
        """Yield P of each combination that was seen, and of any one that was not."""
        from priory.families.estimates import Estimates, exact_joint

        sizes = [len(domain) for domain in parameters.domains]
        whole, never = np.ones(len(sizes), dtype=bool), np.full((1, len(sizes)), -1)
        codes = np.concatenate([parameters.codes, never])
        counts = np.concatenate([table.weight.T, np.zeros((1, len(table.weight)))])
        values = [*(_told(block, label) for label in table.labels), "any one never seen"]
        n = len(values) - (prod(sizes) == len(table.labels))
        yield Estimates(
            "P(values | class)",
            values[:n],
            np.exp(parameters.log_marginal(whole, codes))[:n],
            counts[:n],
            np.broadcast_to(table.weight.sum(axis=1), counts[:n].shape),
            fractions=partial(exact_joint, counts[:n], prior, prod(sizes)),
        )

    def sample(
        self, parameters: JointParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw a counted combination, or any at all with the weight of the prior."""
        counted, pseudo = parameters.weight, parameters.pseudo(np.ones(0, dtype=bool))
        n = counted.sum(axis=1)
        everything = n + pseudo
        share = n / np.where(everything > 0, everything, 1.0)
        frequencies = counted / np.where(n > 0, n, 1.0)[:, None]
        codes = parameters.codes[draw(frequencies, y, rng)]
        free = rng.random(len(y)) >= share[y]
        for j, domain in enumerate(parameters.domains):
            codes[free, j] = rng.integers(len(domain), size=int(free.sum()))
        result = np.empty(codes.shape, dtype=object)
        for j, domain in enumerate(parameters.domains):
            values = np.empty(len(domain), dtype=object)
            values[:] = domain
            result[:, j] = values[codes[:, j]]
        return result


@dataclass(frozen=True, eq=False)
class JointParameters:
    """Hold each column's domain, the counted combinations as codes, and their weights."""

    domains: tuple[tuple[Label, ...], ...]
    codes: AnyArray
    weight: FloatArray
    prior: Laplace | MEstimate

    def pseudo(self, pattern: BoolArray, totals: FloatArray | float = 0.0) -> Any:
        """Return the pseudo-count of one place in the table of some columns.

        `totals` is the weight of that place over all classes; with an empty pattern the
        place is the whole table.
        """
        sizes = np.array([len(domain) for domain in self.domains], dtype=np.float64)
        summed = np.prod(sizes[~pattern]) if len(pattern) else np.prod(sizes)
        everything = np.prod(sizes)
        if isinstance(self.prior, Laplace):
            return float(np.max(self.prior.alpha)) * summed
        if self.prior.p == "marginal" and len(pattern):
            return self.prior.m * (totals + summed) / (self.weight.sum() + everything)
        return self.prior.m * summed / everything

    def log_marginal(self, pattern: BoolArray, codes: AnyArray) -> FloatArray:
        """Return log P(values of the columns in the pattern | k), rows × classes."""
        places, where = np.unique(self.codes[:, pattern], axis=0, return_inverse=True)
        counts = np.zeros((len(self.weight), len(places) + 1))  # the last place: never seen
        np.add.at(counts.T, where.ravel(), self.weight.T)
        index = {tuple(place): i for i, place in enumerate(places.tolist())}
        wanted, rows = np.unique(codes[:, pattern], axis=0, return_inverse=True)
        found = np.array([index.get(tuple(place), len(places)) for place in wanted.tolist()])
        n = self.weight.sum(axis=1, keepdims=True)
        smoothed = counts + self.pseudo(pattern, counts.sum(axis=0))
        total = n + self.pseudo(np.ones(0, dtype=bool))
        # A class that saw no whole row, with no prior to speak for it, must not decide.
        pooled = smoothed.sum(axis=0) / max(float(n.sum()), np.finfo(float).tiny)
        p = np.where(total > 0, smoothed / np.where(total > 0, total, 1.0), pooled)
        return log(p).T[found][rows.ravel()]

    def loo(self, codes: AnyArray, rows: IntArray, loo: LooRows) -> FloatArray:
        """Return log P(combination | k), rows × classes, each row taken out of the table."""
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
        for i, pattern in enumerate(patterns):
            if not pattern.any():
                continue  # nothing of the row was seen in any other
            some = np.flatnonzero((where.ravel() == i) & learned)
            counts, rows_at, mine = self._marginal(pattern, rows, codes[some])
            last = rows_at[y[some], mine] == 1
            count = reduced(counts.T[mine], y[some], amount[some], last)
            pooled, n = count.sum(axis=1), total[some].sum(axis=1)
            sizes = np.array([len(domain) for domain in self.domains], dtype=np.float64)
            combinations = float(np.prod(sizes - ~pattern))
            summed = float(np.prod((sizes - 1)[~pattern]))
            if isinstance(self.prior, Laplace):
                alpha = float(np.max(self.prior.alpha))
                a, a_sum = np.full(len(some), alpha * summed), alpha * combinations
            elif self.prior.p == "marginal":
                a, a_sum = self.prior.m * (pooled + summed) / (n + combinations), self.prior.m
            else:
                a, a_sum = np.full(len(some), self.prior.m * summed / combinations), self.prior.m
            result[some] = log_share(
                count, total[some], a[:, None], np.array(a_sum), pooled[:, None], n[:, None]
            )
        result[~learned] = np.nan
        return result

    def _marginal(
        self, pattern: BoolArray, rows: IntArray, codes: AnyArray
    ) -> tuple[FloatArray, IntArray, AnyArray]:
        """Return weights and rows of the table of some columns, and where codes are in it."""
        both = np.concatenate([self.codes[:, pattern], codes[:, pattern]])
        places, where = np.unique(both, axis=0, return_inverse=True)
        here, there = np.split(where.ravel(), [len(self.codes)])
        counts = np.zeros((len(self.weight), len(places)))
        rows_at = np.zeros(counts.shape, dtype=np.int64)
        np.add.at(counts.T, here, self.weight.T)
        np.add.at(rows_at.T, here, rows.T)
        return counts, rows_at, there


def _told(block: Block, values: Any) -> Any:
    """Return a combination as it is shown: bins by their ends."""
    pairing = block.pairing
    if pairing is None:
        return values
    return tuple(
        v if pairing.edges[j] is None else pairing.shown(j, v).removeprefix("in ")
        for j, v in enumerate(values)
    )


def _codes(column: Labels, domain: Sequence[Label]) -> CodeArray:
    """Return the place of each row's value in the domain, -1 for gaps and values never seen."""
    places = {label_key(value): i for i, value in enumerate(domain)}
    lookup = np.array([places.get(label_key(v), -1) for v in column.labels] + [-1], dtype=np.int32)
    return lookup[column.codes]
