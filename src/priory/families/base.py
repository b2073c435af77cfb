"""What a family is: a likelihood derived from a table of sums.

    table + prior ──parameters──▶ parameters ──log_likelihood──▶ log P(x | k)

A family never changes statistics and never sees a model: it sees a table, a column of coded values
and arrays. Three methods make one; whatever else is here has a default that is right for any. What
only some families can do are the protocols of `priory.families.protocols`, and
`priory.families.register` makes a family known by its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import lgamma
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from priory.base.errors import InputError, NoLikelihoodError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.data.columns import Combined, Labels, Numbers
from priory.data.schema import Block, Kind
from priory.families.described import FactorParts, Support, assigned, column_parts
from priory.families.priors import Dirichlet, Laplace, MEstimate, Prior
from priory.kernels.score import Lookups
from priory.statistics.tables import LabelsTable, NumbersTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates

__all__ = [
    "DISCRETE_PRIORS",
    "Adder",
    "EstimateTables",
    "Family",
    "Lookup",
    "Rng",
    "adder_of",
    "counted_values",
    "draw_counts",
    "log",
    "log_gamma",
    "log_shares",
    "looked_up",
    "n_classes",
    "times",
]

DISCRETE_PRIORS: tuple[type[Prior], ...] = (Laplace, MEstimate, Dirichlet)


Adder: TypeAlias = Callable[[slice, FloatArray], None]
"""A function that adds the log-likelihoods of a stretch of the rows to an array, in place."""

Rng: TypeAlias = "np.random.Generator"

EstimateTables: TypeAlias = "Iterator[Estimates]"
"""The parameters as tables for people, one for each kind of parameter."""


class Family(ABC):
    """Model one block of columns given the class. Families are frozen dataclasses.

    `parameters`, `log_likelihood` and `sample` are to be written.
    """

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]]
    """The kinds it can be estimated from, the one to count when asked for first."""
    priors: ClassVar[tuple[type[Prior], ...]] = DISCRETE_PRIORS
    """The priors it can use."""
    default_prior: ClassVar[Prior | None] = Laplace(1.0)
    """The prior it takes when the one given for all columns is not among them."""
    about: ClassVar[Literal["value", "correction"]] = "value"
    """What it tells of: a value, or what others that tell of it left over."""
    base_measure_in_joint: ClassVar[bool] = False
    """Whether `log_base_measure` belongs to the probability of the value as it is told: that of a
    count does; the width of a bin, which makes a density of it, and the orders of words do not."""

    @abstractmethod
    def parameters(self, table: Any, prior: Any) -> Any:
        """Estimate the parameters from a table of sums and a prior."""

    @abstractmethod
    def log_likelihood(self, column: Any, parameters: Any) -> FloatArray:
        """Score each row: log P(x | k), rows × classes; a missing value has 0 in all of them.

        Factors that are the same for every class may be left to `log_base_measure`.
        """

    @abstractmethod
    def sample(self, parameters: Any, y: CodeArray, rng: np.random.Generator) -> AnyArray:
        """Draw a value (or a row of values) for each class code of `y`."""

    def adder(self, column: Any, parameters: Any) -> Adder:
        """Prepare to add the log-likelihoods of a column, stretch by stretch.

        What all the stretches share is worked out here, once.
        """

        def add(rows: slice, out: FloatArray) -> None:
            out += self.log_likelihood(column.take(rows), parameters)

        return add

    def log_base_measure(self, column: Any, parameters: Any) -> FloatArray:
        """Give what log P(x | k) has beside `log_likelihood`, the same for every class."""
        return np.zeros(len(column))

    def leaves_out(self, column: Any, parameters: Any) -> BoolArray:
        """Tell which rows this factor leaves out: values that are missing or were never seen."""
        if isinstance(column, Numbers):  # with some of its columns there, a row is not left out
            return np.asarray(np.isnan(column.values).all(axis=1))
        return np.asarray(column.missing)

    @property
    def title(self) -> str:
        """How the family is shown."""
        return self.name

    @property
    def is_likelihood(self) -> bool:
        """Whether it gives a probability or a density of the data, not only a score."""
        return True

    def formula(self, block: Block, value: Any, parameters: Any) -> str:
        """Write the factor of one row as a formula; it must be what the factor's number is."""
        return f"P({assigned(block, value if isinstance(value, tuple) else (value,))} | class)"

    def parts(self, block: Block, row: Any, parameters: Any) -> FactorParts | None:
        """List the lines that one row's factor is the product of, where it is more than one.

        Several columns of numbers are taken to be independent given the class.
        """
        return column_parts(self, block, row, parameters) if isinstance(row, Numbers) else None

    def support(self, column: Any, table: Any, parameters: Any) -> Support | None:
        """Count what the factor of each row was estimated from, rows × classes.

        A family that counts values says how often it counted the row's; any other that it went by
        all the rows of the class.
        """
        present = getattr(table, "present", None)
        if present is None:
            return None
        return Support(None, np.broadcast_to(present, (len(column), len(present))))

    def part_support(self, row: Any, table: Any, parameters: Any) -> Support | None:
        """Count what each of the `parts` of a row was estimated from, parts × classes."""
        return None

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield the parameters as a table for people, with the counts behind them."""
        from priory.families.estimates import remark

        yield remark(f"{self.name} has no table of parameters")


@dataclass(frozen=True, eq=False)
class Lookup:
    """Add what a table says of a column of codes; the model looks several of them up at once.

    A code that is negative, or whose place in the table is, adds nothing. With `kinds`, a number
    for each row, a code's place is that of the first kind of row, and the others follow it.
    """

    codes: AnyArray
    places: CodeArray
    log_p: FloatArray
    kinds: CodeArray | None = None

    @property
    def parts(self) -> tuple[AnyArray, CodeArray, FloatArray, CodeArray | None]:
        """What the kernel reads."""
        return self.codes, self.places, self.log_p, self.kinds

    def __call__(self, rows: slice, out: FloatArray) -> None:
        """Add what the table says of a stretch of the rows."""
        kinds = None if self.kinds is None else self.kinds[rows]
        Lookups([(self.codes[rows], self.places, self.log_p, kinds)]).add(0, out)


def looked_up(lookup: Lookup, counts: FloatArray) -> Support:
    """Look counts, places × classes, up as a look-up does its scores; the total is that of all."""
    count = np.zeros((len(lookup.codes), counts.shape[1]))
    replace(lookup, log_p=np.ascontiguousarray(counts))(slice(0, len(count)), count)
    return Support(count, np.broadcast_to(counts.sum(axis=0), count.shape))


def adder_of(scores: FloatArray) -> Adder:
    """Make an adder of scores that are worked out already, rows × classes."""

    def add(rows: slice, out: FloatArray) -> None:
        out += scores[rows]

    return add


def counted_values(table: Any) -> tuple[Any, FloatArray]:
    """List every value that a table counted, once, and its weight, classes × values."""
    if isinstance(table, NumbersTable):
        return Numbers(table.cells.values[:, None]), table.cells.weight
    if not isinstance(table, LabelsTable):
        raise NoLikelihoodError(
            f"{type(table).__name__} keeps no values, so their likelihood cannot be told from it."
        )
    if table.labels and isinstance(table.labels[0], tuple):
        parts = tuple(_each(values) for values in zip(*table.labels, strict=True))
        return Combined(parts), table.weight
    return _each(table.labels), table.weight


def _each(values: Sequence[Label]) -> Labels:
    """Make labels of some values, each row its own."""
    return Labels(np.arange(len(values), dtype=np.int32), tuple(values))


def n_classes(table: Any) -> int:
    """Count the classes of a table of any kind."""
    first = getattr(table, table.per_class[0])
    return n_classes(first) if hasattr(first, "per_class") else len(first)


def log_gamma(x: AnyArray) -> FloatArray:
    """Give log Γ(x), once for equal numbers, without waiting for SciPy to load."""
    distinct, where = np.unique(x, return_inverse=True)
    values = np.fromiter(map(lgamma, distinct.tolist()), np.float64, len(distinct))
    return values[where].reshape(np.shape(x))


def log_shares(counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    """Give log (n_vk + a_v) / (n_k + Σa), values × (columns ×) classes.

    A class that never saw the column, with no prior to speak for it, takes the column's
    shares over all classes: what is not known must not decide.
    """
    shares = np.empty(np.broadcast_shapes(counts.shape, pseudo.shape))
    np.add(counts, pseudo, out=shares)
    totals = shares.sum(axis=0)
    unknown = totals <= 0
    if unknown.any() and len(shares):
        pooled = shares.sum(axis=-1, keepdims=True)
        shares = np.where(unknown, pooled, shares)
        totals = np.where(unknown, np.maximum(pooled.sum(axis=0), np.finfo(float).tiny), totals)
    shares /= totals
    with np.errstate(divide="ignore"):
        return np.log(shares, out=shares)


def log(p: FloatArray) -> FloatArray:
    """Give log p with log 0 = −∞, and no warning: a zero count is a zero probability."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def times(weight: FloatArray, scores: FloatArray) -> float:
    """Give Σ weight · score, with 0 · (−∞) = 0."""
    weight, scores = np.broadcast_arrays(weight, scores)
    some = weight > 0
    return float((weight[some] * scores[some]).sum())


def draw_counts(rng: Rng, mean: Any, most: float = 1e15) -> AnyArray:
    """Draw from Poisson's distribution, unless numbers would be beyond all counting.

    >>> draw_counts(np.random.default_rng(0), np.array([0.0])).tolist()
    [0]
    """
    if not (mean <= most).all():
        raise InputError(
            f"no row can be drawn: it would have {np.max(mean):.3g} counts on average, "
            f"and {most:g} are the most that are drawn"
        )
    return np.asarray(rng.poisson(mean))
