"""Correction: what rows say beyond the factors of one or two columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from priory.base.errors import NoLikelihoodError
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Combined
from priory.data.schema import Block, Kind
from priory.families.base import EstimateTables, Lookup, Rng
from priory.families.described import assigned
from priory.families.pair_counts import places_of
from priory.families.priors import Prior
from priory.families.protocols import InPlace, Linear, LinearFamily

__all__ = ["Correction", "CorrectionParameters"]


@dataclass(frozen=True)
class Correction(InPlace, LinearFamily):
    """Add v_k(cell of x) to the score of each class: a number for each cell of the columns.

    The cells are the values of a column of labels, the bins of a column of numbers, or the pairs
    of those of two columns. The numbers are learned on a sample of rows, with the factors of the
    columns as they are (see `priory.tuning.additive`); they are no probabilities. A row adds
    nothing where a value is missing or has no cell.

    >>> from priory.data.columns import Labels
    >>> scores = CorrectionParameters((("a", "b"),), np.array([[0.5, -0.5], [0.0, 0.0]]))
    >>> rows = Combined((Labels(np.array([0, 1, -1]), ("a", "c")),))
    >>> Correction().log_likelihood(rows, scores).tolist()
    [[0.5, -0.5], [0.0, 0.0], [0.0, 0.0]]
    """

    name: ClassVar[str] = "correction"
    kinds: ClassVar[tuple[Kind, ...]] = ()
    priors: ClassVar[tuple[type[Prior], ...]] = ()
    default_prior: ClassVar[Prior | None] = None
    about: ClassVar[Literal["value", "correction"]] = "correction"

    def parameters(self, table: Any, prior: Any) -> CorrectionParameters:
        """Refuse: a correction is learned from rows, not from sums."""
        raise NoLikelihoodError("A correction is learned by tuning; no sums tell of it.")

    def adder(self, column: Combined, parameters: CorrectionParameters) -> Lookup:
        """Find the cell of each row once; the rows then need only a look-up."""
        table = parameters.flat
        places = np.append(np.arange(len(table)), -1).astype(np.int32)
        return Lookup(parameters.codes_of(column), places, table)

    def leaves_out(self, column: Combined, parameters: CorrectionParameters) -> BoolArray:
        """Tell which rows have no cell."""
        return np.asarray(parameters.codes_of(column) < 0)

    @property
    def is_likelihood(self) -> bool:
        """Whether it gives a probability: no, it is a score."""
        return False

    def formula(self, block: Block, value: Any, parameters: CorrectionParameters) -> str:
        """Name the cell that is corrected."""
        return f"correction of {assigned(block, value)}"

    def linear(self, block: Block, parameters: CorrectionParameters) -> Linear:
        """Write the one-hot form: a feature for each cell."""
        names = tuple(assigned(block, cell) for cell in product(*parameters.labels))
        return Linear(names, parameters.flat, np.zeros(parameters.flat.shape[1]))

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield e^v of each cell: the factor by which it changes the odds."""
        from priory.families.estimates import Estimates

        names = [assigned(block, cell) for cell in product(*parameters.labels)]
        yield Estimates("correction", names, np.exp(parameters.flat))

    def sample(self, parameters: CorrectionParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Refuse: a score is no distribution."""
        raise NoLikelihoodError("A correction is a score, of which nothing can be drawn.")


@dataclass(frozen=True, eq=False)
class CorrectionParameters:
    """Hold the cells of each column, labels or the places of bins, and the scores of all cells.

    `scores` has an axis for each column, and one for the classes.
    """

    labels: tuple[tuple[Label, ...], ...]
    scores: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.scores.shape[-1]

    @property
    def parents(self) -> tuple[tuple[Label, ...], ...]:
        """The cells of all columns but the last."""
        return self.labels[:-1]

    @property
    def children(self) -> tuple[Label, ...]:
        """The cells of the last column."""
        return self.labels[-1]

    def grid(self) -> FloatArray:
        """Give the scores, in each axis of cells one more for a value without a cell."""
        return np.pad(self.scores, [(0, 1)] * len(self.labels) + [(0, 0)])

    @property
    def flat(self) -> FloatArray:
        """The scores, cells × classes."""
        return self.scores.reshape(-1, self.n_classes)

    def codes_of(self, column: Combined) -> CodeArray:
        """Find the cell of each row, −1 where it has none."""
        code: IntArray = np.zeros(len(column), dtype=np.int64)
        known = np.ones(len(column), dtype=np.bool_)
        for part, labels in zip(column.parts, self.labels, strict=True):
            place = places_of(part, labels)
            known &= place >= 0
            code = code * len(labels) + place
        return np.where(known, code, -1).astype(np.int32)
