"""What some families can do beyond a likelihood: each inherits what it offers.

| protocol | what the family can do |
|---|---|
| `InPlace` | add its scores to an array in place, by a kernel or a look-up |
| `ClosedFormLoo` | score each row as if it had not been counted, by arithmetic on the sums |
| `Parametric` | count its free parameters, and so have a description length |
| `Conjugate` | integrate its parameters out: a posterior and an evidence in closed form |
| `DirichletFamily` | both of these, for shares of counts |
| `LinearFamily` | write its log-likelihood as a weighted sum of features |
| `Dependent` | draw a column beside those that it depends on |
| `Floored` | tell where a variance had to be raised to the least one |

A family that may or may not, by its options, says so in `is_conjugate` or `is_linear`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import NoLikelihoodError, NoPosteriorError, NotLinearError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.data.schema import Block, Kind
from priory.families.base import Adder, Family, Rng, counted_values, times
from priory.families.evidence import log_dirichlet_evidence
from priory.families.registry import names_of

if TYPE_CHECKING:
    from priory.families.loo import LooRows
    from priory.families.posteriors import DirichletPosterior, ParameterPosterior

__all__ = [
    "ClosedFormLoo",
    "Conjugate",
    "Dependent",
    "DirichletFamily",
    "Floored",
    "InPlace",
    "Linear",
    "LinearFamily",
    "Parametric",
    "as_conjugate",
    "as_linear",
    "as_parametric",
    "sample_block",
]


class InPlace(Family):
    """Score by adding: the family writes `adder`, its parameters know their `n_classes`."""

    @abstractmethod
    def adder(self, column: Any, parameters: Any) -> Adder:
        """Prepare to add the log-likelihoods of a column, stretch by stretch."""

    def log_likelihood(self, column: Any, parameters: Any) -> FloatArray:
        """Add to nothing."""
        out = np.zeros((len(column), parameters.n_classes))
        self.adder(column, parameters)(slice(0, len(column)), out)
        return out


class ClosedFormLoo(Family):
    """Leave each row out by arithmetic on the sums."""

    @abstractmethod
    def loo_adder(self, column: Any, loo: LooRows, table: Any, prior: Any) -> Adder:
        """Prepare to add the scores of rows that are each taken out of the table.

        It must give what estimating the parameters anew would; see `priory.families.loo`.
        """


class Parametric(Family):
    """Count the free parameters, so that a model has a description length."""

    @abstractmethod
    def n_free(self, table: Any, prior: Any) -> int:
        """Count the numbers to be told for the parameters of all classes together."""

    def log_likelihood_of(self, table: Any, parameters: Any) -> float:
        """Give Σ log P(x | k) over everything that a table counted.

        It is exact while the cells of numbers hold every value, which they do up to 1,024. Of
        counts and words it is that of the words in their order, without the coefficient.
        """
        column, weight = counted_values(table)
        scores = self.log_likelihood(column, parameters)
        scores += self.log_base_measure(column, parameters)[:, None]
        return times(weight.T, scores)


class Conjugate(Family):
    """Integrate the parameters out under a conjugate prior."""

    @property
    def is_conjugate(self) -> bool:
        """Whether it is, with the options that it has."""
        return True

    @abstractmethod
    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> ParameterPosterior:
        """Give the distribution of a column's parameters after the data."""

    @abstractmethod
    def log_evidence(self, table: Any, prior: Any) -> float:
        """Give log P(x of all rows | their classes), the parameters integrated out.

        Where the prior is taken from the column itself, it is so here too.
        """


class DirichletFamily(Parametric, Conjugate):
    """Have shares of counted values as parameters, with Dirichlet priors."""

    @abstractmethod
    def counted(
        self, table: Any, prior: Any
    ) -> tuple[Sequence[Any] | None, FloatArray, FloatArray]:
        """Count: the values (None for the block's columns), their counts and pseudo-counts.

        Counts are classes × (columns ×) values.
        """

    def n_free(self, table: Any, prior: Any) -> int:
        """Count V − 1 for each class and column: the last share follows from the others."""
        *shape, n_values = self.counted(table, prior)[1].shape
        return prod(shape) * max(n_values - 1, 0)

    def log_evidence(self, table: Any, prior: Any) -> float:
        """Give that of the counts of each class under the Dirichlet."""
        return log_dirichlet_evidence(*self.counted(table, prior)[1:])

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> DirichletPosterior:
        """Give the Dirichlet over P(v | k): counts and pseudo-counts together."""
        from priory.families.posteriors import DirichletPosterior

        values, counts, pseudo = self.counted(table, prior)
        after = counts + pseudo
        if after.ndim > 2:
            after = after[:, block.columns.index(column)]
        return DirichletPosterior(classes, block.columns if values is None else values, after)


@dataclass(frozen=True, eq=False)
class Linear:
    """Hold a family's linear form: log P(x | k) = Σ_f weights[f, k] · feature_f + bias[k]."""

    features: Sequence[str]
    weights: FloatArray
    bias: FloatArray


class LinearFamily(Family):
    """Write the log-likelihood as a weighted sum of features, but for what all classes share."""

    @property
    def is_linear(self) -> bool:
        """Whether it is, with the options that it has."""
        return True

    @abstractmethod
    def linear(self, block: Block, parameters: Any) -> Linear:
        """Give the linear form."""

    def feature_counts(self, table: Any, parameters: Any) -> FloatArray | None:
        """Count how often each feature was seen with each class, if it is a word or a value."""
        return None

    def features(
        self, block: Block, table: Any, parameters: Any
    ) -> Iterator[tuple[Sequence[str], FloatArray, FloatArray]]:
        """Yield the words or values that speak for a class: names, weights and counts.

        Weights and counts are features × classes; a family of numbers has no values to name.
        """
        counts = self.feature_counts(table, parameters)
        if counts is not None:
            form = self.linear(block, parameters)
            yield form.features, form.weights, counts


class Dependent(Family):
    """Model a column that depends on another one, which has a factor of its own."""

    @abstractmethod
    def sample_given(
        self, block: Block, parameters: Any, y: CodeArray, drawn: Mapping[str, AnyArray], rng: Rng
    ) -> dict[str, AnyArray]:
        """Draw values by column, for each class and beside the columns drawn so far."""


class Floored(Family):
    """Have variances that may not vanish."""

    @abstractmethod
    def vanishing(self, table: Any, parameters: Any) -> BoolArray | None:
        """Tell where rows give no spread, so that a least one was taken: classes × columns.

        A family that models several columns together says it of all of them, classes × 1.
        """


def as_conjugate(family: Family, title: str) -> Conjugate:
    """Take the family of a column for a conjugate one, or say which are."""
    if isinstance(family, Conjugate) and family.is_conjugate:
        return family
    raise NoPosteriorError(
        f"Column {title!r}: {family.title} has no conjugate prior, so neither its posterior nor "
        f"its evidence has a closed form. Conjugate are {names_of(Conjugate, 'is_conjugate')}."
    )


def as_linear(family: Family, title: str) -> LinearFamily:
    """Take the family of a column for a linear one, or say which are."""
    if isinstance(family, LinearFamily) and family.is_linear:
        return family
    raise NotLinearError(
        f"Column {title!r} is modelled by {family.title}, which is not linear in the data. "
        f"Linear are {names_of(LinearFamily, 'is_linear')}."
    )


def as_parametric(family: Family) -> Parametric:
    """Take a family for one that counts its parameters, or refuse it."""
    if isinstance(family, Parametric) and family.is_likelihood:
        return family
    gives = "does not count its parameters"
    if not family.is_likelihood:
        gives = "gives no probability of the data"
    raise NoLikelihoodError(
        f"{family.title} {gives}, so it has no description length. {names_of(Parametric)} have one."
    )


def sample_block(
    family: Family,
    block: Block,
    parameters: Any,
    y: CodeArray,
    drawn: Mapping[str, AnyArray],
    rng: Rng,
) -> dict[str, AnyArray]:
    """Draw values by column, for each class and beside the columns drawn so far."""
    if isinstance(family, Dependent):
        return family.sample_given(block, parameters, y, drawn, rng)
    values = family.sample(parameters, y, rng)
    if block.kind is Kind.NUMBERS:  # also where they were read as categories
        values = values.astype(np.float64)
    spread = [values] if values.ndim == 1 else list(values.T)
    if block.pairing is not None:  # bins become numbers
        spread = [block.pairing.drawn(j, column, rng) for j, column in enumerate(spread)]
    return dict(zip(block.columns, spread, strict=True))
