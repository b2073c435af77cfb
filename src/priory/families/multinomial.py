"""Multinomial: counts over many columns, such as the words of a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from priory.base.formatting import number
from priory.base.parallel import in_parallel, stretches, thread_count
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Counts, SparseRows
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Linear, log_gamma, log_shares, times
from priory.families.evidence import log_dirichlet_evidence
from priory.families.left_out import LeftOut, log_share
from priory.families.parts import Part, Parts
from priory.families.priors import DiscretePrior, MEstimate
from priory.kernels.score import add_counts_csr, add_counts_dense
from priory.kernels.score import log_shares as fast_log_shares
from priory.statistics.tables import CountsTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import DirichletPosterior

__all__ = [
    "Entries",
    "Multinomial",
    "MultinomialParameters",
    "add_counts",
    "orders_left_out",
    "rest",
    "row_totals",
]


@dataclass(frozen=True)
class Multinomial(Family):
    """Give each column its share of a class's counts: P(j | k) = (n_jk + α) / (n_k + α|V|).

        log P(x | k) = log(n! / Π x_j!) + Σ_j x_j log P(j | k)

    The coefficient is the same for every class and belongs to the evidence only: the log joint and
    the worked sum are those of the words (or whatever is counted) in their order.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> table = CountsTable(np.array([2]), np.array([2.0]), np.array([[2, 1]]),
    ...                     np.array([[2.0, 1.0]]), np.array([[3.0, 1.0]]))
    >>> np.exp(Multinomial().parameters(table, Laplace(1.0)).log_p).round(3).tolist()
    [[0.667], [0.333]]
    """

    name: ClassVar[str] = "multinomial"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.COUNTS,)

    def parameters(self, table: CountsTable, prior: DiscretePrior) -> MultinomialParameters:
        """Return log P(j | k) for each column."""
        columns = range(table.s1.shape[1])
        pseudo = prior.pseudo_counts(columns, table.s1.sum(axis=0))
        length = table.s1.sum(axis=1) / np.maximum(table.documents_weight, np.finfo(float).tiny)
        return MultinomialParameters(_log_shares(table.s1, pseudo), length)

    def n_free(self, table: CountsTable, prior: DiscretePrior) -> int:
        """Return V − 1 for each class."""
        return table.s1.shape[0] * max(table.s1.shape[1] - 1, 0)

    def log_likelihood_of(self, table: CountsTable, parameters: MultinomialParameters) -> float:
        """Return Σ n_jk log P(j | k), that of what was counted in its order."""
        return times(table.s1.T, parameters.log_p)

    def log_evidence(self, table: CountsTable, prior: DiscretePrior) -> float:
        """Return that of what was counted, in its order, under the Dirichlet of each class."""
        columns = range(table.s1.shape[1])
        return log_dirichlet_evidence(table.s1, prior.pseudo_counts(columns, table.s1.sum(axis=0)))

    def posterior(
        self,
        table: CountsTable,
        prior: DiscretePrior,
        block: Block,
        column: str,
        classes: tuple[Label, ...],
    ) -> DirichletPosterior:
        """Return the Dirichlet over the shares of all the block's columns."""
        from priory.families.posteriors import DirichletPosterior

        columns = range(table.s1.shape[1])
        after = table.s1 + prior.pseudo_counts(columns, table.s1.sum(axis=0))
        return DirichletPosterior(classes, block.columns, after)

    def add_log_likelihood(
        self, column: Counts, parameters: MultinomialParameters, out: FloatArray
    ) -> None:
        """Add Σ_j x_j log P(j | k), with 0 · (−∞) = 0."""
        add_counts(column, parameters.log_p, out)

    def adder_without(
        self, column: Counts, left_out: LeftOut, table: CountsTable, prior: DiscretePrior
    ) -> Adder:
        """Take the row's counts from those of its own class.

        Σ_j x_j log (n_jy − x_j + α) / (n_y − Σx + αV)
        """
        total, n_columns = table.s1.sum(axis=1), table.s1.shape[1]
        looks_at_counts = isinstance(prior, MEstimate) and prior.p == "marginal"
        pseudo = prior.pseudo_counts(range(n_columns), table.s1.sum(axis=0))
        parameters = self.parameters(table, prior)
        # Where the prior looks at the counts of all classes, or a class has to, each class changes.
        all_change = looks_at_counts or not (total + pseudo.sum() > 0).all()

        def scores(some: Entries, k: AnyArray, left: LeftOut) -> FloatArray:
            """Return the score of each row in a class, k."""
            own = k == left.y
            here = own[some.row]
            taken = left.amount[some.row] * some.x
            gone = here & (table.rows[k[some.row], some.column] == 1)
            count = np.maximum(table.s1[k[some.row], some.column] - taken * here, 0.0)
            pooled = np.maximum(table.s1[:, some.column].sum(axis=0) - taken, 0.0)
            n = rest(total[k], left.amount * some.total * own)
            everything = rest(total.sum(), left.amount * some.total)
            a, a_sum = pseudo[some.column], np.full(len(k), pseudo.sum())
            if looks_at_counts:
                m = float(prior.m)  # type: ignore[attr-defined]
                a = m * (pooled + 1.0) / (everything[some.row] + n_columns)
            log_p = log_share(
                *(np.where(gone, 0.0, count), n[some.row], a, a_sum[some.row]),
                *(pooled, everything[some.row]),
            )
            return _sums(some.row, some.x * log_p, len(k))

        def add(rows: slice, out: FloatArray) -> None:
            part, left = column.take(rows), left_out.take(rows)
            some = Entries.of(part)
            if all_change:
                for k in range(len(total)):
                    out[:, k] += scores(some, np.full(len(left), k), left)
                return
            here = np.arange(len(left)), left.y
            own = out[here] + scores(some, left.y, left)
            add_counts(part, parameters.log_p, out)
            out[here] = own

        return add

    def log_base_measure(self, column: Counts, parameters: MultinomialParameters) -> FloatArray:
        """Return the log of the multinomial coefficient."""
        matrix = column.matrix
        if isinstance(matrix, SparseRows):
            total, factorials = matrix.row_sums(np.asarray), matrix.row_sums(_log_factorial)
        else:
            total, factorials = matrix.sum(axis=1), _log_factorial(matrix).sum(axis=1)
        return _log_factorial(total) - factorials

    def parts(
        self, block: Block, row: Counts, parameters: MultinomialParameters, n_classes: int
    ) -> Parts:
        """Return P(j | k)^x_j of each column that is not 0."""
        some = Entries.of(row)
        each = [
            Part(f"P({block.columns[j]} | class)", x * parameters.log_p[j], x)
            for j, x in zip(some.column.tolist(), some.x.tolist(), strict=True)
        ]
        return Parts(each, notes=orders_left_out(self.log_base_measure(row, parameters)[0]))

    def sample(
        self, parameters: MultinomialParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw counts; the length, which the model does not speak of, is Poisson about its mean."""
        p = np.exp(parameters.log_p).T
        return rng.multinomial(rng.poisson(parameters.length[y]), p[y]).astype(np.float64)

    def linear(self, block: Block, parameters: MultinomialParameters) -> Linear:
        """Return w = log P(j | k), with no bias."""
        return Linear(block.columns, parameters.log_p, np.zeros(parameters.log_p.shape[1]))

    def estimates(
        self,
        block: Block,
        table: CountsTable,
        prior: DiscretePrior,
        parameters: MultinomialParameters,
    ) -> Iterator[Estimates]:
        """Yield P(j | k) of every column."""
        from priory.families.estimates import shares

        columns = block.columns
        counted = (table.s1.T, prior, range(len(columns)), columns)
        yield shares("P(column | class)", (None,) * len(columns), parameters.log_p, *counted)

    def feature_counts(self, table: CountsTable, parameters: MultinomialParameters) -> FloatArray:
        """Return the sum of each column in each class."""
        return table.s1.T


@dataclass(frozen=True, eq=False)
class MultinomialParameters:
    """Hold log P(j | k), columns × classes, and the mean length of a row of each class."""

    log_p: FloatArray
    length: FloatArray


def add_counts(column: Counts, weights: FloatArray, out: FloatArray) -> None:
    """Add Σ_j x_j weights[j, k] to `out`, with 0 · (−∞) = 0."""
    matrix = column.matrix
    if isinstance(matrix, SparseRows):
        add_counts_csr(matrix.data, matrix.indices, matrix.indptr, weights, out)
    else:
        add_counts_dense(matrix, weights, out)


@dataclass(frozen=True, eq=False)
class Entries:
    """Hold the counts of some rows that are not 0: row, column and count; and each row's total."""

    row: AnyArray
    column: AnyArray
    x: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, column: Counts) -> Entries:
        """Return the entries of dense or sparse rows."""
        matrix = column.matrix
        if isinstance(matrix, SparseRows):
            some = slice(int(matrix.indptr[0]), int(matrix.indptr[-1]))
            rows = np.repeat(np.arange(len(column)), np.diff(matrix.indptr))
            places, x = matrix.indices[some], matrix.data[some].astype(np.float64)
        else:
            rows, places = np.nonzero(matrix)
            x = matrix[rows, places].astype(np.float64)
        return cls(rows, places, x, _sums(rows, x, len(column)))


def orders_left_out(log_coefficient: float) -> list[str]:
    """Return the remark that what was counted could have come in other orders.

    >>> orders_left_out(np.log(12.0)), orders_left_out(0.0)
    (['left out: n! / Π x! = 12 orders, the same for every class'], [])
    """
    if log_coefficient < 1e-9:
        return []
    return [
        f"left out: n! / Π x! = {number(float(log_coefficient))} orders, the same for every class"
    ]


def _sums(row: AnyArray, values: FloatArray, n_rows: int) -> FloatArray:
    return np.bincount(row, weights=values, minlength=n_rows).astype(np.float64, copy=False)


def rest(total: FloatArray, taken: FloatArray) -> FloatArray:
    """Return what is left of a sum; what only rounding leaves of weights is nothing."""
    left = total - taken
    return np.where(left > 1e-12 * total, left, 0.0)


def row_totals(column: Counts) -> FloatArray:
    """Return Σ_j x_j of each row, as it was counted."""
    if isinstance(column.matrix, SparseRows):
        return column.matrix.row_sums(np.asarray)
    matrix = column.matrix if column.threshold is None else column.matrix > column.threshold
    return np.asarray(matrix.sum(axis=1), dtype=np.float64)


def _log_shares(counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    """Return what `log_shares` does, fast for many columns: a vocabulary has very many."""
    totals = counts.sum(axis=1) + pseudo.sum()
    if not (totals > 0).all():
        return log_shares(counts.T, pseudo[:, None])
    out = np.empty(counts.shape[::-1])
    parts = stretches(len(out), len(counts), thread_count())
    given = (np.ascontiguousarray(counts), np.ascontiguousarray(pseudo), totals)
    tasks = [partial(fast_log_shares, *given, part.start, part.stop, out) for part in parts]
    in_parallel(tasks, len(parts))
    return out


def _log_factorial(x: AnyArray) -> FloatArray:
    distinct, where = np.unique(x, return_inverse=True)
    if not len(distinct):
        return np.zeros(np.shape(x))
    result: FloatArray = log_gamma(distinct + 1.0)[where].reshape(np.shape(x))
    return result
