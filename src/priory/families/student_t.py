"""Student-t: a normal whose mean and variance are not known, only believed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import (
    Adder,
    EstimateTables,
    Rng,
    adder_of,
    counted_values,
    log_gamma,
    times,
)
from priory.families.loo import LooRows, loo_columns
from priory.families.loo_cells import LooCells, log_transforms, rank_transforms
from priory.families.moments import (
    ClassMoments,
    NumericTable,
    class_moments,
    loo_sums,
    variance_floor,
    weighted_moments,
)
from priory.families.priors import NormalInverseGamma, Prior
from priory.families.protocols import ClosedFormLoo, Conjugate, InPlace, Parametric
from priory.families.transforms import Identity, Transform, log_transform, rank_transform
from priory.kernels.loo_rows import add_student_t_loo
from priory.kernels.score import add_student_t
from priory.statistics.tables import CellsTable, MomentsTable, NumbersTable

if TYPE_CHECKING:
    from priory.families.posteriors import NormalInverseGammaPosterior

__all__ = ["StudentT", "StudentTParameters"]


@dataclass(frozen=True)
class StudentT(InPlace, ClosedFormLoo, Parametric, Conjugate):
    """Give the predictive density of a normal under a Normal-Inverse-Gamma prior.

        x | k ~ t with 2α dof, location μ and scale² = β(κ + 1) / (ακ), all after the data

    Few rows give wide tails and a class with one row is no special case. With `transform` "log"
    or "rank" the normal is that of log(1 + (x − least)/scale) or of the normal quantile of x's
    rank among all rows; both are derived from the cells. Of many rows the tails are those of a
    normal, and one number far out says more than all other columns together; with `most_dof` there
    are no more degrees of freedom than that, and what it says grows as its logarithm alone.

    >>> import numpy as np
    >>> from priory.data.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [-1.2], [2.2]])), np.zeros(3, dtype=np.int32)
    >>> table = MomentsTable.count(Block("x", ("x",), Kind.MOMENTS), column, y, None, 1)
    >>> StudentT().parameters(table, NormalInverseGamma()).dof.tolist()
    [[4.0]]
    """

    name: ClassVar[str] = "student-t"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS, Kind.MOMENTS)
    priors: ClassVar[tuple[type[Prior], ...]] = (NormalInverseGamma,)
    default_prior: ClassVar[Prior | None] = NormalInverseGamma()

    transform: Literal["log", "rank"] | None = None
    most_dof: float | None = None

    def __post_init__(self) -> None:
        if self.most_dof is not None and not self.most_dof > 0:
            raise SettingError(f"most_dof must be above 0, or None, not {self.most_dof!r}.")
        if self.transform not in (None, "log", "rank"):
            raise SettingError(f"transform must be None, 'log' or 'rank', not {self.transform!r}.")

    @property
    def title(self) -> str:
        """How the family is shown: by its transform, where there is one."""
        return "student-t" if self.transform is None else f"{self.transform}-normal"

    def parameters(self, table: NumericTable, prior: NormalInverseGamma) -> StudentTParameters:
        """Derive degrees of freedom, location and scale² of each class and column."""
        transform, moments = self.moments(table)
        return _read(moments, prior, transform, self.most_dof)

    def n_free(self, table: NumericTable, prior: NormalInverseGamma) -> int:
        """Count a mean and a variance for each class and column, and what a transform needs.

        A logarithm needs its origin and its scale, ranks the place of every cell.
        """
        n = 2 * table.moments.weight.size
        if self.transform == "rank" and isinstance(table, NumbersTable):
            return n + len(table.cells.keys)
        return n + (2 if self.transform == "log" else 0)

    def log_evidence(self, table: NumericTable, prior: NormalInverseGamma) -> float:
        """Give that of the (transformed) numbers under the Normal-Inverse-Gamma."""
        transform, moments = self.moments(table)
        result = moments.log_evidence(prior)
        if isinstance(table, NumbersTable):
            column, weight = counted_values(table)
            result += times(weight, transform.log_slope(column.values[:, 0]))
        return result

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> NormalInverseGammaPosterior:
        """Give what is believed of mean and variance, of the transformed numbers if any."""
        return self.moments(table)[1].belief(prior, block.columns.index(column), classes)

    def moments(self, table: NumericTable) -> tuple[Transform, ClassMoments]:
        """Find the transform, and the moments of the transformed numbers."""
        transform = self.transform_of(table)
        if self.transform is None:
            return transform, class_moments(table.moments)
        return transform, _cell_moments(table.cells, transform)  # type: ignore[union-attr]

    def transform_of(self, table: NumericTable) -> Transform:
        """Find the transform of a column."""
        if self.transform is None:
            return Identity()
        if not isinstance(table, NumbersTable):
            raise SettingError(f"transform={self.transform!r} needs the cells of a single column.")
        make = log_transform if self.transform == "log" else rank_transform
        return make(table.cells)

    def adder(self, column: Numbers, parameters: StudentTParameters) -> Adder:
        """Add the log density of every column that is not missing."""
        dof, location, log_norm = parameters.dof, parameters.location, parameters.log_norm
        precision, power = 1 / (dof * parameters.scale2), (dof + 1) / 2
        transform = None if self.transform is None else parameters.transform

        def add(rows: slice, out: FloatArray) -> None:
            values = column.values[rows]
            if transform is not None:
                values = transform(values[:, 0])[:, None]
            add_student_t(values, location, precision, power, log_norm, out)

        return add

    def loo_adder(self, column: Numbers, loo: LooRows, table: NumericTable, prior: Any) -> Adder:
        """Take x from the sums of its own class, and of the column as a whole.

        A transform is that of the column without the row: the median, the least number or the
        ranks that it follows from are taken anew, once for each cell.
        """
        if self.transform is not None:
            if not isinstance(table, NumbersTable):
                self.moments(table)  # says why not
            return self._loo_transformed(column, loo, table.cells, prior)  # type: ignore[union-attr]
        moments, most = table.moments, math.inf if self.most_dof is None else self.most_dof
        return loo_columns(
            column, loo, lambda j, x, some: _loo_scores(moments, j, x, some, prior, most)
        )

    def _loo_transformed(
        self, column: Numbers, loo: LooRows, cells: CellsTable, prior: NormalInverseGamma
    ) -> Adder:
        x = column.values[:, 0].astype(np.float64)
        pairs = LooCells.of(cells, x, loo)
        scores = np.zeros((len(x), len(cells.weight)))
        scores[pairs.never] = np.nan
        make = log_transforms if self.transform == "log" else rank_transforms
        for left, rows, table in pairs.batches():
            t, transformed = make(left)
            found = _read(left.moments(t), prior, Identity(), self.most_dof)
            scores[rows] = found.take(table).log_density(transformed(table, x[rows])[:, None])
        return adder_of(scores)

    def log_base_measure(self, column: Numbers, parameters: StudentTParameters) -> FloatArray:
        """Give the log slope of the transform."""
        return parameters.transform.log_slope(column.values[:, 0])

    def formula(self, block: Block, value: Any, parameters: StudentTParameters) -> str:
        """Write p of the number, or of what it is transformed to."""
        if self.transform is None:
            return super().formula(block, value, parameters)
        t = float(parameters.transform(np.array([value], dtype=np.float64))[0])
        return f"P({parameters.transform.formula(block.columns[0])} = {t:.4g} | class)"

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield location, scale² and degrees of freedom, and the transform where there is one."""
        from priory.families.estimates import Estimates, remark

        if self.transform is not None:
            yield remark("transform", parameters.transform.formula(block.columns[0]))
        n, columns = table.moments.weight.T, block.columns
        none = (None,) * len(columns)
        for name, of in (
            ("location", parameters.location),
            ("scale²", parameters.scale2),
            ("degrees of freedom", parameters.dof),
        ):
            yield Estimates(name, none, of.T, total=n, columns=columns)

    def sample(self, parameters: StudentTParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw from the t of each row's class."""
        scale = np.sqrt(parameters.scale2[y])
        drawn = parameters.location[y] + scale * rng.standard_t(parameters.dof[y])
        return parameters.transform.inverse(drawn[:, 0] if drawn.shape[1] == 1 else drawn)


@dataclass(frozen=True, eq=False)
class StudentTParameters:
    """Hold degrees of freedom, location and squared scale, classes × columns."""

    dof: FloatArray
    location: FloatArray
    scale2: FloatArray
    transform: Transform

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.location)

    @cached_property
    def log_norm(self) -> FloatArray:
        """Log Γ((ν+1)/2) − log Γ(ν/2) − ½ log νπs²."""
        return _gammas(self.dof / 2) - 0.5 * np.log(self.dof * np.pi * self.scale2)

    def take(self, rows: AnyArray) -> StudentTParameters:
        """Take the parameters of some rows, where each row has its own."""
        fields = (self.dof[rows], self.location[rows], self.scale2[rows])
        taken = StudentTParameters(*fields, self.transform)
        taken.__dict__["log_norm"] = self.log_norm[rows]
        return taken

    def log_density(self, x: FloatArray) -> FloatArray:
        """Give the log density of x in each class, where each row has its own parameters."""
        z = (x - self.location) ** 2 / (self.dof * self.scale2)
        return np.asarray(self.log_norm - (self.dof + 1) / 2 * np.log1p(z))


def _read(
    moments: ClassMoments,
    prior: NormalInverseGamma,
    transform: Transform,
    most_dof: float | None,
) -> StudentTParameters:
    after = moments.posterior(prior)
    scale2 = after.beta * (after.kappa + 1) / (after.alpha * after.kappa)
    dof = 2 * after.alpha if most_dof is None else np.minimum(2 * after.alpha, most_dof)
    return StudentTParameters(dof, after.mean, scale2, transform)


def _loo_scores(
    table: MomentsTable,
    column: int,
    x: FloatArray,
    loo: LooRows,
    prior: NormalInverseGamma,
    most_dof: float,
) -> FloatArray:
    """Give the log densities of numbers, each left out of its class and of the column."""
    whole = loo_sums(table.pooled(), column, x, loo, loo.y * 0)
    own = loo_sums(table, column, x, loo, loo.y)
    every = class_moments(table)
    guess = whole.mean if prior.mean is None else np.full(len(x), prior.mean)
    spread = np.maximum(whole.variance, variance_floor(whole.variance))
    beta = prior.alpha * spread if prior.beta is None else np.full(len(x), prior.beta)

    def half(n: FloatArray) -> FloatArray:
        return np.minimum(prior.alpha + n / 2, most_dof / 2)

    n, mean, variance = (of[:, column] for of in (every.n, every.mean, every.variance))
    if loo.weight is None:  # then all of a class have as many others
        gammas = _gammas(half(np.maximum(n - 1.0, 0.0)))[loo.y]
    else:
        gammas = _gammas(half(own.n))
    out = np.zeros((len(x), len(n)))
    add_student_t_loo(
        x,
        np.ascontiguousarray(loo.y, dtype=np.int32),
        np.column_stack([own.n, own.mean, own.n * own.variance, gammas]),
        np.column_stack([guess, beta]),
        np.column_stack([n, mean, n * variance, _gammas(half(n))]),
        prior.kappa,
        prior.alpha,
        most_dof,
        out,
    )
    return out


def _gammas(half: FloatArray) -> FloatArray:
    """Give log Γ((ν+1)/2) − log Γ(ν/2) for ν/2."""
    return log_gamma(half + 0.5) - log_gamma(half)


def _cell_moments(cells: CellsTable, transform: Transform) -> ClassMoments:
    """Find the moments of the transformed numbers, each taken at its cell."""
    t, weight = transform(cells.values), cells.weight
    mean, variance = weighted_moments(t, weight.sum(axis=0, keepdims=True))
    n, rows = (sums.sum(axis=1, keepdims=True) for sums in (weight, cells.rows))
    pooled = mean[0], variance[0]
    return ClassMoments.filled(n, *weighted_moments(t, weight), rows == 0, pooled)
