"""What a family is: a likelihood read out of a table of sums.

    table + prior ──parameters──▶ parameters ──log_likelihood──▶ log P(x | k)
    table + prior ──log_likelihood_without──▶ log P(x_i | k), each row i left out of the table

A family never changes statistics and never sees a model: it sees a table, a column of
coded values and arrays. To add one, write these methods and list it in `priory.families`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from priory.base.errors import NoLikelihoodError, NoPosteriorError, NotLinearError, SettingError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.data.columns import Column, Combined, Counts, Labels, Numbers, Texts
from priory.data.schema import Block, Kind
from priory.families.left_out import LeftOut, distinct
from priory.families.parts import Parts, assigned
from priory.families.priors import Dirichlet, Laplace, MEstimate, Prior
from priory.kernels.score import Lookups
from priory.statistics.tables import LabelsTable, NumbersTable

if TYPE_CHECKING:
    from priory.families.estimates import Estimates
    from priory.families.posteriors import ParameterPosterior

__all__ = [
    "DISCRETE_PRIORS",
    "Adder",
    "Family",
    "Linear",
    "Lookup",
    "adder_of",
    "counted_values",
    "log",
    "log_gamma",
    "log_shares",
    "n_classes",
    "times",
    "without",
]

DISCRETE_PRIORS: tuple[type[Prior], ...] = (Laplace, MEstimate, Dirichlet)


Adder: TypeAlias = Callable[[slice, FloatArray], None]


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
        """Return what the kernel reads."""
        return self.codes, self.places, self.log_p, self.kinds

    def __call__(self, rows: slice, out: FloatArray) -> None:
        """Add what the table says of a stretch of the rows."""
        kinds = None if self.kinds is None else self.kinds[rows]
        Lookups([(self.codes[rows], self.places, self.log_p, kinds)]).add(0, out)


@dataclass(frozen=True, eq=False)
class Linear:
    """Hold a family's linear form: log P(x | k) = Σ_f weights[f, k] · feature_f + bias[k]."""

    features: Sequence[str]
    weights: FloatArray
    bias: FloatArray


class Family(ABC):
    """Model one block of columns given the class. Families are frozen dataclasses."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]]
    """The kinds it can be read out of, the one to count when asked for first."""
    priors: ClassVar[tuple[type[Prior], ...]] = DISCRETE_PRIORS
    """The priors it can use."""
    default_prior: ClassVar[Prior | None] = Laplace(1.0)
    """The prior it takes when the one given for all columns is not among them."""
    about: ClassVar[Literal["value", "edge"]] = "value"
    """What it tells of: a value, or two values that others tell of as well."""
    base_measure_in_joint: ClassVar[bool] = False
    """Whether `log_base_measure` belongs to the probability of the value as it is told: that of a
    count does; the width of a bin, which makes a density of it, and the orders of words do not."""

    @property
    def title(self) -> str:
        """Return how the family is shown."""
        return self.name

    @property
    def is_likelihood(self) -> bool:
        """Return whether it gives a probability or a density of the data, not only a score."""
        return True

    @abstractmethod
    def parameters(self, table: Any, prior: Any) -> Any:
        """Return the parameters that a table of sums and a prior give."""

    @abstractmethod
    def add_log_likelihood(self, column: Any, parameters: Any, out: FloatArray) -> None:
        """Add log P(x | k) to `out`, rows × classes; a missing value adds nothing.

        Factors that are the same for every class may be left to `log_base_measure`.
        """

    def adder(self, column: Any, parameters: Any) -> Adder:
        """Return a function that adds the log-likelihood of a stretch of the rows.

        What all the stretches share is worked out here, once.
        """
        return lambda rows, out: self.add_log_likelihood(column.take(rows), parameters, out)

    def log_likelihood(self, column: Column, parameters: Any, n_classes: int) -> FloatArray:
        """Return log P(x | k), rows × classes."""
        out = np.zeros((len(column), n_classes))
        self.add_log_likelihood(column, parameters, out)
        return out

    def log_likelihood_without(
        self, column: Any, y: CodeArray, weight: FloatArray | None, table: Any, prior: Any
    ) -> FloatArray:
        """Return log P(x_i | k), rows × classes, with each row i taken out of the table.

        The rows, with their classes and their weights, must be among those that the table
        counted; NaN stands where one cannot be. A row goes with all its weight. The
        result is that of reading the parameters out again after every such subtraction; what is
        not in the table stays as it is: the level of the cells, and declared values.
        """
        out = np.zeros((len(column), n_classes(table)))
        if weight is None or weight.all():
            self.adder_without(column, LeftOut(y, weight), table, prior)(slice(0, len(column)), out)
            return out
        some = weight > 0  # a row of weight 0 was never counted
        out[some] = self.log_likelihood_without(
            column.take(some), y[some], weight[some], table, prior
        )
        parameters = self.parameters(table, prior)
        out[~some] = self.log_likelihood(column.take(~some), parameters, out.shape[1])
        return out

    def adder_without(self, column: Any, left_out: LeftOut, table: Any, prior: Any) -> Adder:
        """Return a function that adds `log_likelihood_without` of a stretch of the rows.

        No row may have weight 0.

        This one is right for any family, by brute force: once for each value, class and weight
        that differ it takes a row out of the table and reads the rest. A family with a closed
        form has its own.
        """
        leaders, where = _alike(column, left_out)
        scores = np.empty((len(leaders), n_classes(table)))
        for i, row in enumerate(leaders.tolist()):
            one = slice(row, row + 1)
            rest = self.table_without(table, column.take(one), left_out.take(one))
            parameters = self.parameters(rest, prior)
            scores[i] = self.log_likelihood(column.take(one), parameters, scores.shape[1])[0]
        return Lookup(where.astype(np.int32), np.arange(len(leaders), dtype=np.int32), scores)

    def table_without(self, table: Any, row: Any, left_out: LeftOut) -> Any:
        """Return the table to read out when one row is left out."""
        return without(table, row, left_out)

    def log_base_measure(self, column: Any, parameters: Any) -> FloatArray:
        """Return what log P(x | k) has beside `add_log_likelihood`, the same for every class."""
        return np.zeros(len(column))

    @abstractmethod
    def sample(self, parameters: Any, y: CodeArray, rng: np.random.Generator) -> AnyArray:
        """Return a value (or a row of values) drawn for each class code of `y`."""

    def sample_beside(
        self,
        block: Block,
        parameters: Any,
        y: CodeArray,
        drawn: Mapping[str, AnyArray],
        rng: np.random.Generator,
    ) -> dict[str, AnyArray]:
        """Return values by column, drawn for each class beside the columns drawn so far."""
        values = self.sample(parameters, y, rng)
        if block.kind is Kind.NUMBERS:  # also where they were read as categories
            values = values.astype(np.float64)
        spread = [values] if values.ndim == 1 else list(values.T)
        if block.pairing is not None:  # bins become numbers
            spread = [block.pairing.drawn(j, column, rng) for j, column in enumerate(spread)]
        return dict(zip(block.columns, spread, strict=True))

    def posterior(
        self, table: Any, prior: Any, block: Block, column: str, classes: tuple[Label, ...]
    ) -> ParameterPosterior:
        """Return what is believed of a column's parameters after the data."""
        raise NoPosteriorError(
            f"Column {column!r} is modelled by {self.name}, whose parameters have no conjugate "
            "distribution. categorical, bernoulli, binomial, multinomial, histogram, poisson, "
            "gaussian, student-t and joint have one."
        )

    def n_free(self, table: Any, prior: Any) -> int:
        """Return how many numbers have to be told for the parameters of all classes together."""
        raise NoLikelihoodError(
            f"{self.name} does not say how many free parameters it has, so it has no description "
            "length."
        )

    def log_likelihood_of(self, table: Any, parameters: Any) -> float:
        """Return Σ log P(x | k) over everything that a table counted.

        It is exact while the cells of numbers hold every value, which they do up to 1,024. Of
        counts and words it is that of the words in their order, without the coefficient.
        """
        column, weight = counted_values(table)
        scores = self.log_likelihood(column, parameters, len(weight))
        scores += self.log_base_measure(column, parameters)[:, None]
        return times(weight.T, scores)

    def log_evidence(self, table: Any, prior: Any) -> float:
        """Return log P(x of all rows | their classes), the parameters integrated out.

        Where the prior is taken from the column itself, it is so here too.
        """
        raise NoPosteriorError(
            f"{self.name} has no conjugate prior, so its evidence has no closed form. categorical, "
            "bernoulli, binomial, multinomial, histogram, poisson, joint, student-t, and gaussian "
            "with a NormalInverseGamma prior have one."
        )

    def vanishing(self, table: Any, parameters: Any) -> BoolArray | None:
        """Return where rows give no spread, so that a least one was taken: classes × columns.

        A family that models several columns together says it of all of them, classes × 1.
        """
        return None

    def leaves_out(self, column: Any, parameters: Any) -> BoolArray:
        """Return which rows this factor says nothing of: gaps, and values never seen."""
        if isinstance(column, Numbers):  # with some of its columns there, a row is not left out
            return np.asarray(np.isnan(column.values).all(axis=1))
        return np.asarray(column.missing)

    def linear(self, block: Block, parameters: Any) -> Linear:
        """Return the linear form, for the families that have one."""
        raise NotLinearError(
            f"Column {block.title!r} is modelled by {self.name}, which is not linear in the data. "
            "Linear are bernoulli, multinomial, categorical, histogram, poisson and "
            "Gaussian(shared=True)."
        )

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

    def formula(self, block: Block, value: Any, parameters: Any) -> str:
        """Return how the factor of one row is written; it must be what the factor's number is."""
        return f"P({assigned(block, value if isinstance(value, tuple) else (value,))} | class)"

    def parts(self, block: Block, row: Any, parameters: Any, n_classes: int) -> Parts | None:
        """Return the lines that one row's factor is the product of, where it is more than one."""
        return None

    def estimates(
        self, block: Block, table: Any, prior: Any, parameters: Any
    ) -> Iterator[Estimates]:
        """Yield the parameters as a table for people, with the counts behind them."""
        from priory.families.estimates import remark

        yield remark(f"{self.name} has no table of parameters")

    def feature_counts(self, table: Any, parameters: Any) -> FloatArray | None:
        """Return how often each feature of the linear form was seen with each class."""
        return None

    def check_prior(self, prior: Prior, block: Block) -> None:
        """Refuse a prior that this family cannot honour."""
        if not isinstance(prior, self.priors):
            wanted = ", ".join(p.__name__ for p in self.priors) or "no prior"
            raise SettingError(
                f"smoothing of column {block.title!r} is {prior!r}, but {self.name} takes {wanted}."
            )


def without(table: Any, row: Any, left_out: LeftOut) -> Any:
    """Return a table of sums with one row taken out of it."""
    weight = 1.0 if left_out.weight is None else float(left_out.weight[0])
    width = len(row.parts) if hasattr(row, "parts") else _width(row)
    block = Block("", ("",) * width, Kind.EMPTY)

    return table - type(table).count(block, row, left_out.y, np.array([weight]), n_classes(table))


def counted_values(table: Any) -> tuple[Any, FloatArray]:
    """Return every value that a table counted, once, and its weight, classes × values."""
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
    """Return some values as labels, each row its own."""
    return Labels(np.arange(len(values), dtype=np.int32), tuple(values))


def times(weight: FloatArray, scores: FloatArray) -> float:
    """Return Σ weight · score, with 0 · (−∞) = 0."""
    weight, scores = np.broadcast_arrays(weight, scores)
    some = weight > 0
    return float((weight[some] * scores[some]).sum())


def adder_of(scores: FloatArray) -> Adder:
    """Return a function that adds scores which are worked out already, rows × classes."""

    def add(rows: slice, out: FloatArray) -> None:
        out += scores[rows]

    return add


def n_classes(table: Any) -> int:
    """Return how many classes a table of any kind has."""
    first = getattr(table, table.per_class[0])
    return n_classes(first) if hasattr(first, "per_class") else len(first)


log_gamma = np.vectorize(lgamma, otypes=[np.float64])
"""log Γ(x) for arrays of parameters, without waiting for SciPy to load."""


def log_shares(counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    """Return log (n_vk + a_v) / (n_k + Σa), values × (columns ×) classes.

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
    """Return log p with log 0 = −∞, and no warning: a zero count is a zero probability."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def _width(column: Any) -> int:
    if isinstance(column, Labels | Texts):
        return 1
    return int((column.matrix if isinstance(column, Counts) else column.values).shape[1])


def _alike(column: Any, left_out: LeftOut) -> tuple[AnyArray, AnyArray]:
    """Return a row of each kind that differs in value, class or weight, and each row's kind."""
    if isinstance(column, Labels):
        codes = column.codes.astype(np.int64) + 1
    elif isinstance(column, Numbers) and column.values.shape[1] == 1:
        codes = np.unique(column.values[:, 0], return_inverse=True)[1]
    else:
        return np.arange(len(column)), np.arange(len(column))
    weight = np.zeros(len(codes)) if left_out.weight is None else left_out.weight
    which = np.unique(weight, return_inverse=True)[1]
    K = int(left_out.y.max(initial=0)) + 1
    combined = (codes * (int(np.max(which, initial=0)) + 1) + which) * K + left_out.y
    found, where = distinct(combined, int(combined.max(initial=0)) + 1)
    leaders = np.zeros(len(found), dtype=np.int64)
    leaders[where] = np.arange(len(where))
    return leaders, where
