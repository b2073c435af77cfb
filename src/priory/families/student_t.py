"""Student-t: a normal whose mean and variance are not known, only believed."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import ClassVar

import numpy as np

from priory.columns import Numbers
from priory.families.base import Family
from priory.families.gaussian import class_moments
from priory.kernels.score import add_student_t
from priory.priors import NormalInverseGamma, Prior
from priory.schema import Kind
from priory.tables import MomentsTable, NumbersTable
from priory.typing import AnyArray, CodeArray, FloatArray

__all__ = ["StudentT", "StudentTParameters"]


@dataclass(frozen=True)
class StudentT(Family):
    """Give the predictive density of a normal under a Normal-Inverse-Gamma prior.

        x | k ~ t with 2α dof, location μ and scale² = β(κ + 1) / (ακ), all after the data

    Few rows give wide tails and a class with one row is no special case.

    >>> import numpy as np
    >>> from priory.schema import Block
    >>> column, y = Numbers(np.array([[2.0], [-1.2], [2.2]])), np.zeros(3, dtype=np.int32)
    >>> table = MomentsTable.count(Block("x", ("x",), Kind.MOMENTS), column, y, None, 1)
    >>> StudentT().parameters(table, NormalInverseGamma()).dof.tolist()
    [[4.0]]
    """

    name: ClassVar[str] = "student-t"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS, Kind.MOMENTS)
    priors: ClassVar[tuple[type[Prior], ...]] = (NormalInverseGamma,)
    default_prior: ClassVar[Prior | None] = NormalInverseGamma()

    def parameters(
        self, table: MomentsTable | NumbersTable, prior: NormalInverseGamma
    ) -> StudentTParameters:
        """Return degrees of freedom, location and scale² of each class and column."""
        after = class_moments(table.moments).posterior(prior)
        scale2 = after.beta * (after.kappa + 1) / (after.alpha * after.kappa)
        return StudentTParameters(2 * after.alpha, after.mean, scale2)

    def add_log_likelihood(
        self, column: Numbers, parameters: StudentTParameters, out: FloatArray
    ) -> None:
        """Add the log density of every column that is not missing."""
        dof, scale2 = parameters.dof, parameters.scale2
        add_student_t(
            column.values,
            parameters.location,
            1 / (dof * scale2),
            (dof + 1) / 2,
            _log_gamma((dof + 1) / 2) - _log_gamma(dof / 2) - 0.5 * np.log(dof * np.pi * scale2),
            out,
        )

    def sample(
        self, parameters: StudentTParameters, y: CodeArray, rng: np.random.Generator
    ) -> AnyArray:
        """Draw from the t of each row's class."""
        scale = np.sqrt(parameters.scale2[y])
        drawn = parameters.location[y] + scale * rng.standard_t(parameters.dof[y])
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn


@dataclass(frozen=True, eq=False)
class StudentTParameters:
    """Hold degrees of freedom, location and squared scale, classes × columns."""

    dof: FloatArray
    location: FloatArray
    scale2: FloatArray


_log_gamma = np.vectorize(lgamma, otypes=[np.float64])
