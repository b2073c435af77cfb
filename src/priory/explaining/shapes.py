"""Shapes: what each value of a column adds to the log-odds, how often it came, how sure that is.

The band is that of the posterior, from which parameters are drawn:

    shares     θ_k ~ Dirichlet(n_vk + a_v)
    numbers    σ² ~ InverseGamma(α, β), μ ~ Normal(m, σ²/κ)
    counts     λ ~ Gamma(a, b)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import SettingError, did_you_mean, listing
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.columns import Frame, Labels, Numbers
from priory.data.schema import Block
from priory.families.base import Lookup
from priory.families.bernoulli import Bernoulli
from priory.families.categorical import Categorical
from priory.families.cuts import between_cells, equal_frequency
from priory.families.histogram import Histogram
from priory.families.posteriors import GammaPosterior, NormalInverseGammaPosterior, tails
from priory.families.protocols import Conjugate, DirichletFamily
from priory.families.student_t import StudentT
from priory.model.log_odds import log_odds
from priory.model.model import Model
from priory.model.row_explanation import class_place
from priory.model.term import Choice, Term
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Shape", "Shapes", "shapes"]

BINS = 40
"""So many places of a column of numbers are looked at, where its factor is a curve."""

DRAWS, MOST_DRAWN = 1000, 10_000_000
"""So many draws make a band; of many classes and values fewer."""

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """What each value of one column adds to the log-odds of each class.

    `log_odds` are values × classes, as in `Explanation`, with the corrections of the column; `low`
    and `high` are a band that holds the true log-odds of its factor with a probability of `level`,
    NaN where the family has none. Corrections are in it as they are.
    """

    column: str
    classes: tuple[Label, ...]
    values: AnyArray
    """Labels, or numbers that stand for their bins."""
    edges: FloatArray | None
    """Of numbers, the ends of the bins that were counted."""
    counts: FloatArray
    """How often each was seen, over all classes."""
    log_odds: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    is_corrected: bool

    def __repr__(self) -> str:
        return f"<Shape of {self.column}: {len(self.values)} values, {len(self.classes)} classes>"

    def to_frame(self) -> pd.DataFrame:
        """Tabulate it, a row for each value and class."""
        import pandas as pd

        n, k = self.log_odds.shape
        return pd.DataFrame(
            {
                "column": self.column,
                "value": np.repeat(self.values, k),
                "class": np.tile(np.array(self.classes, dtype=object), n),
                "count": np.repeat(self.counts, k),
                "log_odds": self.log_odds.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values; a band that is not known is None."""

        def plain(values: FloatArray) -> list[list[float | None]]:
            return [[x if np.isfinite(x) else None for x in row] for row in values.tolist()]

        return {
            "column": self.column,
            "classes": list(self.classes),
            "values": self.values.tolist(),
            "edges": None if self.edges is None else self.edges.tolist(),
            "counts": self.counts.tolist(),
            "log_odds": plain(self.log_odds),
            "low": plain(self.low),
            "high": plain(self.high),
            "level": self.level,
            "is_corrected": self.is_corrected,
        }

    def plot(self, label: Any = None, axes: Any = None) -> Any:
        """Plot the log-odds of one class, the last by default, against the values."""
        from priory.explaining.shape_plots import plot_shape

        k = len(self.classes) - 1 if label is None else class_place(self.classes, label)
        return plot_shape(self, k, axes)


@dataclass(frozen=True, eq=False, repr=False)
class Shapes(Mapping[str, Shape]):
    """The shapes of all columns that have a factor of their own, by column.

    >>> from priory import NaiveBayes
    >>> from priory.examples import play_tennis
    >>> shapes = NaiveBayes.textbook().fit(*play_tennis()).shapes()
    >>> print(shapes["wind"].to_frame().drop(columns="column").round(2).to_string(index=False))
     value class  count  log_odds   low  high
    Strong    No    6.0      0.45 -0.40  1.42
    Strong   Yes    6.0     -0.45 -1.42  0.40
      Weak    No    8.0     -0.40 -1.47  0.27
      Weak   Yes    8.0      0.40 -0.27  1.47
    """

    by_column: dict[str, Shape]

    def __getitem__(self, column: str) -> Shape:
        if column not in self.by_column:
            raise SettingError(
                f"There is no shape of {column!r}. Columns: {listing(list(self.by_column))}."
                f"{did_you_mean(str(column), list(self.by_column))}"
            )
        return self.by_column[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_column)

    def __len__(self) -> int:
        return len(self.by_column)

    def __repr__(self) -> str:
        return f"<Shapes of {len(self)} columns>"

    def to_frame(self) -> pd.DataFrame:
        """Tabulate all of them, a row for each value and class."""
        import pandas as pd

        return pd.concat([shape.to_frame() for shape in self.values()], ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values, by column."""
        return {name: shape.to_dict() for name, shape in self.items()}

    def plot(self, label: Any = None) -> Any:
        """Plot the shapes that move the log-odds of one class most, the last class by default."""
        from priory.explaining.shape_plots import plot_shapes

        shapes = list(self.values())
        classes = shapes[0].classes if shapes else ()
        k = len(classes) - 1 if label is None else class_place(classes, label)
        return plot_shapes(shapes, k)


def shapes(
    model: Model,
    statistics: Statistics,
    choices: Mapping[str, Choice],
    columns: Sequence[str] | None,
    level: float,
    scale: float = 1.0,
) -> Shapes:
    """Work out the shape of each column of labels or numbers, or of some columns.

    `scale` makes the weights in the statistics those of the rows.
    """
    tails(level)  # refuses what is no level
    if isinstance(columns, str):
        raise SettingError(f"columns must be a list of columns, not {columns!r}.")
    own: dict[str, list[Term]] = {}
    for term in model.terms:
        if term.counts and len(term.block.columns) == 1 and term.about != "missing":
            own.setdefault(term.block.columns[0], []).append(term)
    table_types = (LabelsTable, NumbersTable)
    known = [
        block
        for block in statistics.schema.counted
        if block.name in own and isinstance(statistics.tables[block.name], table_types)
    ]
    if columns is not None:
        names = [block.name for block in known]
        for column in columns:
            if column not in names:
                raise SettingError(
                    f"columns must be columns of labels or numbers that the model uses, not "
                    f"{column!r}. They are {listing(names)}.{did_you_mean(str(column), names)}"
                )
        known = [block for block in known if block.name in columns]
    return Shapes(
        {
            block.name: _shape(model, statistics, choices, block, own[block.name], level, scale)
            for block in known
        }
    )


def _shape(
    model: Model,
    statistics: Statistics,
    choices: Mapping[str, Choice],
    block: Block,
    terms: Sequence[Term],
    level: float,
    scale: float,
) -> Shape:
    table: Any = statistics.tables[block.name]
    edges: FloatArray | None = None
    column: Labels | Numbers
    if isinstance(table, LabelsTable):
        values = np.empty(len(table.labels), dtype=object)
        values[:] = table.labels
        counts = table.weight.sum(axis=0)
        column = Labels(np.arange(len(values), dtype=np.int32), table.labels)
    else:
        values, edges, counts = _binned(table, terms)
        column = Numbers(values[:, None])
    frame = Frame(len(values), {block.name: column})
    K = len(model.classes)
    total, drawn = np.zeros((len(values), K)), np.zeros((1, len(values), K))
    rng = np.random.default_rng(0)  # the same band for the same counts
    for term in terms:
        said = np.zeros((len(values), K))
        term.adder(frame)(slice(0, len(values)), said)
        if term.weight:
            total += term.weight * said
            draws = said
            if term.about == "value":
                choice = choices[block.name]
                draws = _draws(term, choice, table, column, said, model.classes, rng)
            drawn = drawn + term.weight * draws
    odds = log_odds(total)
    low, high = _band(odds, drawn, level)
    corrected = any(term.about == "correction" for term in terms)
    return Shape(
        block.name,
        model.classes,
        values,
        edges,
        counts * scale,
        odds,
        low,
        high,
        level,
        corrected,
    )


def _band(odds: FloatArray, drawn: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Find the ends of the band; what is impossible is so in every draw."""
    if np.isnan(drawn).any():
        return np.full_like(odds, np.nan), np.full_like(odds, np.nan)
    known = np.isfinite(odds)
    low, high = np.quantile(np.where(known, log_odds(drawn), 0.0), tails(level), axis=0)
    return np.where(known, low, odds), np.where(known, high, odds)


def _binned(
    table: NumbersTable, terms: Sequence[Term]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Choose numbers to look at: the middle of each bin of the factors, or of even bins."""
    cells = table.cells
    if not len(cells.keys):
        return np.zeros(0), np.zeros(1), np.zeros(0)
    cuts: list[FloatArray] = []
    for term in terms:
        if isinstance(term.family, Histogram):
            cuts.append(np.asarray(term.parameters.cuts))
        elif term.block.pairing is not None:
            cuts.append(np.array((term.block.pairing.edges[0] or ())[1:-1]))
        elif isinstance(term.family, Categorical | Bernoulli):
            cuts.append(np.asarray(between_cells(cells, np.arange(len(cells.keys) - 1))))
        else:
            cuts.append(np.asarray(between_cells(cells, equal_frequency(cells, BINS))))
    every = np.unique(np.concatenate([np.zeros(0), *cuts]))
    x, weight = cells.values, cells.weight.sum(axis=0)
    bins = np.searchsorted(every, x, side="left")
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    counts = np.add.reduceat(weight, starts)
    means = np.add.reduceat(weight * x, starts) / np.maximum(counts, 1e-300)
    ends = np.append(starts[1:], len(x))
    values = np.array(  # a number that was seen: a mean of counts need not be a count
        [x[a + np.argmin(np.abs(x[a:b] - m))] for a, b, m in zip(starts, ends, means, strict=True)]
    )
    inner = every[np.maximum(bins[starts[1:]] - 1, 0)]
    edges = np.array([cells.lower[0], *inner, cells.upper[-1]])
    return values, edges, counts


def _draws(
    term: Term,
    choice: Choice,
    table: Any,
    column: Labels | Numbers,
    said: FloatArray,
    classes: tuple[Label, ...],
    rng: np.random.Generator,
) -> FloatArray:
    """Draw log P(v | k) from what is believed of it, draws × values × classes.

    What is the same for all classes may be left out. All of them are NaN where the family has no
    posterior.
    """
    family, parameters = term.family, term.parameters
    n = max(100, min(DRAWS, MOST_DRAWN // max(said.size, 1)))
    lookup = family.adder(column, parameters)
    if isinstance(family, DirichletFamily) and isinstance(lookup, Lookup):
        _, counted, pseudo = family.counted(table, choice.prior)
        counted = counted[:, 0] if counted.ndim == 3 else counted
        after = counted + (pseudo[0] if np.ndim(pseudo) == 2 else pseudo)
        places = np.asarray(lookup.places)[np.asarray(lookup.codes)]
        shares = np.zeros((n, *said.shape))
        for k, a in enumerate(after):
            # log Gamma(a) = log Gamma(a + 1) + log U / a, which does not vanish for a small a
            with np.errstate(divide="ignore"):
                uniform = np.log(rng.random((n, len(a)))) / np.where(a > 0, a, 1.0)
                log_g = np.where(
                    a > 0, np.log(rng.gamma(a + 1.0, size=(n, len(a)))) + uniform, -np.inf
                )
            log_g = log_g - np.logaddexp.reduce(log_g, axis=1, keepdims=True)
            shares[:, :, k] = np.where(places >= 0, log_g[:, places], 0.0)
        return shares
    if isinstance(family, Conjugate) and family.is_conjugate and isinstance(column, Numbers):
        belief = family.posterior(table, choice.prior, term.block, term.block.columns[0], classes)
        x = column.values[:, 0].astype(np.float64)
        if isinstance(family, StudentT):  # the slope of a transform is the same for all classes
            x = parameters.transform(x)
        if isinstance(belief, NormalInverseGammaPosterior):
            return _normal_draws(belief, x[:, None], n, rng)
        if isinstance(belief, GammaPosterior):
            known = np.where(belief.rate > 0, belief.rate, np.nan)
            rate = rng.gamma(belief.shape, size=(n, 1, len(classes))) / known
            return np.asarray(x[:, None] * np.log(np.maximum(rate, TINY)) - rate)
    return np.full((1, *said.shape), np.nan)


def _normal_draws(
    belief: NormalInverseGammaPosterior, x: FloatArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Draw a mean and a variance for each class: neighbours go up and down together."""
    variance = belief.beta / np.maximum(
        rng.gamma(belief.alpha, size=(n, 1, len(belief.beta))), TINY
    )
    normal = rng.standard_normal(variance.shape)
    mean = belief.location + np.sqrt(variance / belief.kappa) * normal
    return np.asarray(-0.5 * (np.log(variance) + (x - mean) ** 2 / variance))
