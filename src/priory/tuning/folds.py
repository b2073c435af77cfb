"""Rows in folds, each scored by sums without its fold.

Rows fall into folds, ten or more, by their hash, so that every road to the same rows comes to the
same folds. A model follows from sums, so one without a fold follows from `total − fold`. All the
folds are taken out at once: the fold and the class of a row together are its class in one table, of
many more classes, and any family can read that as it reads any other.

Copies of a row share a fold where rows can be equal by copying alone; rows of a few labels are
equal by chance, and are dealt out like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Frame, Labels, Numbers
from priory.data.schema import Block, Kind
from priory.families.base import Family, log_shares
from priory.families.bernoulli import Bernoulli
from priory.families.cuts import equal_frequency, mdl_of_counts
from priory.families.histogram import Histogram
from priory.families.kernel_density import KernelDensity
from priory.families.loo_cells import cells_of
from priory.families.priors import Prior
from priory.families.student_t import StudentT
from priory.kernels.additive import cell_losses
from priory.model.term import Choice, presence, presence_of
from priory.statistics.dealing import FOLDS, deal
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CellsTable, MomentsTable, NumbersTable, Table
from priory.tuning.calibration import learn_temperature, log_loss
from priory.tuning.leave_one_out import class_codes, term_scores_loo

__all__ = ["FoldedRows", "Scored", "odds"]

LEAST_SCORE = -60.0
"""A factor says no more against a class than this: e^−60 is never, and −∞ has no gradient."""

MOST_POINTS = 256
"""A column of numbers is scored at so many of them, which stand for their neighbours."""

MOST_PLACES = 4_000_000
"""So many places (folds, classes and values) a table may have; else single rows leave."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What a factor says of each row without its fold, rows × classes (log-odds of two)."""

    loss: float
    """The log-loss of the class prior and this factor."""
    rows: AnyArray
    says: BoolArray
    """Whether it says anything of the row."""


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """The rows that are tuned on, their folds and weights, and the sums that they are part of."""

    statistics: Statistics
    frame: Frame
    y: CodeArray
    fold: CodeArray
    own: FloatArray
    """What each row weighs in the sums, and takes along when it is left out."""
    weight: FloatArray
    """How much the loss of each row counts: rows that are not here count by those that are."""

    @classmethod
    def of(cls, statistics: Statistics, sample: Sample, scale: float) -> FoldedRows:
        """Deal the rows of a sample out to folds."""
        row, fold, _, share = deal(sample.hashes, sample.rows, sample.copied)
        whole = sample if len(row) == len(sample) else sample.take(row)
        y, K = class_codes(whole.y, statistics), len(statistics.classes)
        own = whole.weight * share * scale
        there = np.bincount(y, own, K)
        lift = np.where(there > 0, statistics.weight / np.where(there > 0, there, 1.0), 1.0)
        weight = own if sample.is_whole else own * lift[y] * (own.sum() / (own @ lift[y]))
        folds = fold.astype(np.int32)
        return cls(statistics, whole.frame, y.astype(np.int32), folds, own, weight)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.statistics.classes)

    @cached_property
    def place(self) -> CodeArray:
        """The fold and the class of each row as one class of many."""
        return (self.fold * self.n_classes + self.y).astype(np.int32)

    @cached_property
    def own_or_none(self) -> FloatArray | None:
        """The weights that counting takes: none where every row weighs 1."""
        return None if (self.own == 1.0).all() else self.own

    @cached_property
    def without(self) -> FloatArray:
        """The weight of each class without each fold, folds × classes."""
        K = self.n_classes
        taken = np.bincount(self.place, self.own, FOLDS * K).reshape(-1, K)
        left = self.statistics.weight - taken
        return np.where(left > 1e-9 * self.statistics.weight, left, 0.0)

    @cached_property
    def log_prior(self) -> FloatArray:
        """Log (n_k + 1) / (n + K), the same without each fold.

        The rows of a fold take their shares of the classes along: of classes with few rows, every
        row would be of a class that is rarer where it is left out, and what the columns say would
        be learned to be worth less than it is.
        """
        n = self.statistics.weight
        prior = np.log((n + 1.0) / (n.sum() + (n > 0).sum()))
        found = np.where(n > 0, prior, LEAST_SCORE)  # one that was never seen is never right
        return np.repeat(found[None], FOLDS, axis=0)

    @cached_property
    def prior(self) -> FloatArray:
        """The prior of each row, rows × classes, or the log-odds of two."""
        return odds(self.log_prior)[self.fold]

    @cached_property
    def no_loss(self) -> float:
        """The log-loss of the prior alone."""
        return log_loss(self.prior, self.y, self.weight)

    def column(self, block: Block, table: Table) -> _FoldedColumn:
        """Prepare to score a block in several ways."""
        return _FoldedColumn(self, block, table)

    def loo(self, block: Block, table: Table, choice: Choice, at_best: bool = False) -> Scored:
        """Score a block that is not scored by folds, each row by the sums without it alone."""
        column = self.frame[block.name]
        given = (block, choice.family, choice.prior, table, column, self.y, self.own_or_none)
        scores = term_scores_loo(*given)
        rows, t = _clipped(scores), 1.0
        if at_best:  # words overstate their case so much that t decides
            t = learn_temperature(self.prior, rows, self.y, self.weight)
        loss = log_loss(self.prior + t * rows, self.y, self.weight)
        return Scored(loss, rows.astype(np.float32), np.asarray(scores.any(axis=1)))


class _FoldedColumn:
    """One column: its values as few points, and its table without each fold."""

    def __init__(self, rows: FoldedRows, block: Block, table: Table) -> None:
        self.rows, self.block, self.table = rows, block, table
        self.values: Any = rows.frame[block.name]
        self.n_places = FOLDS * rows.n_classes

    def is_foldable(self, choices: Sequence[Choice]) -> bool:
        """Tell whether it is a single column, and not of too many values and classes.

        The widths of kernels are those of all classes together, so that they cannot be read out of
        a table of many folds.
        """
        if any(isinstance(choice.family, KernelDensity) for choice in choices):
            return False
        if self.block.kind not in (Kind.LABELS, Kind.NUMBERS) or self.block.pairing is not None:
            return False
        table: Any = self.table
        width = len(table.cells.keys if isinstance(table, NumbersTable) else table.labels)
        return width * self.n_places <= MOST_PLACES

    @cached_property
    def left(self) -> Any:
        """The table without each fold, of folds × classes."""
        rows, K = self.rows, self.rows.n_classes
        whole: Any = self.table.only_classes(np.tile(np.arange(K), FOLDS))
        if not isinstance(whole, NumbersTable):
            given = self.block, self.values, rows.place, rows.own_or_none, self.n_places
            return whole - type(whole).count(*given)
        return NumbersTable(self.moments_left, self._cells_left(whole.cells))

    @cached_property
    def moments_left(self) -> MomentsTable:
        """The moments of numbers without each fold, of folds × classes."""
        rows, K = self.rows, self.rows.n_classes
        table: Any = self.table
        taken = MomentsTable.count(
            self.block, self.values, rows.place, rows.own_or_none, self.n_places
        )
        whole = table.moments.only_classes(np.tile(np.arange(K), FOLDS))
        left = whole - taken
        # Weights that leave may leave their rounding, of which no mean can be taken.
        return replace(left, rows=np.where(left.weight > 1e-9 * whole.weight, left.rows, 0))

    def _cells_left(self, whole: CellsTable) -> CellsTable:
        """Count the numbers of each cell without each fold, by the cells that rows are in."""
        known = np.flatnonzero(self.cell >= 0)
        at = self.rows.place[known].astype(np.int64) * len(whole.keys) + self.cell[known]
        taken = np.bincount(at, self.rows.own[known], whole.weight.size)
        left = whole.weight - taken.reshape(whole.weight.shape)
        left[left <= 1e-9 * whole.weight] = 0.0
        seen = left.any(axis=0)
        rows = np.where(left > 0, whole.rows, 0)
        return CellsTable(whole.level, whole.keys[seen], rows[:, seen], left[:, seen])

    @cached_property
    def cell(self) -> IntArray:
        """The cell of each row's number, negative for none."""
        table: Any = self.table
        return cells_of(table.cells, self.values.values[:, 0])

    @cached_property
    def points(self) -> tuple[CodeArray, Any]:
        """The point that stands for each row's value, −1 for none, and the values of the points."""
        if isinstance(self.values, Labels):
            every = np.arange(len(self.values.labels), dtype=np.int32)
            return self.values.codes, Labels(every, self.values.labels)
        table: Any = self.table
        starts, ends = self._groups
        group = np.append(np.repeat(np.arange(len(ends)), ends - starts + 1), -1)
        middle = table.cells.values[(starts + ends) // 2]
        return group[np.maximum(self.cell, -1)].astype(np.int32), Numbers(middle[:, None])

    @cached_property
    def _groups(self) -> tuple[IntArray, IntArray]:
        """The first and the last of the cells of numbers that each point stands for."""
        table: Any = self.table
        cells: CellsTable = table.cells
        n = len(cells.keys)
        whole = cells.level == 0 and bool((cells.lower == np.floor(cells.lower)).all())
        if n <= MOST_POINTS or whole:  # integers may be codes, each its own
            return np.arange(n), np.arange(n)
        ends = np.append(equal_frequency(cells, MOST_POINTS), n - 1)
        return np.append(0, ends[:-1] + 1), ends

    @cached_property
    def counts(self) -> FloatArray:
        """The weight of the rows at each point, points × folds × classes; the last: no value."""
        return self._counted(self.rows.weight)

    def _counted(self, weight: FloatArray) -> FloatArray:
        codes, points = self.points
        n, K = len(points) + 1, self.rows.n_classes
        known = np.where(codes < 0, np.int64(n - 1), codes)  # n − 1 may be more than codes hold
        code = known * self.n_places + self.rows.place
        counted = np.bincount(code, weight, n * self.n_places)
        return np.asarray(counted.reshape(n, FOLDS, K), dtype=np.float64)

    def grid(self, family: Family, prior: Prior | None) -> FloatArray:
        """Score the points without each fold, points × folds × classes."""
        if isinstance(family, Histogram):
            if family.cut == "mdl":  # they look at the classes, and are cut anew without each fold
                cuts = [mdl_of_counts(self._left_at[:, f]) for f in range(FOLDS)]
                return np.concatenate(
                    [self._binned(after, prior, slice(f, f + 1)) for f, after in enumerate(cuts)],
                    axis=1,
                )
            return self._binned(self._even(family), prior)
        points, left = self.points[1], None
        if isinstance(family, StudentT):
            family, left, points = self._student(family)
        left = self.left if left is None else left
        out = np.zeros((len(points), self.n_places))
        family.adder(points, family.parameters(left, prior))(slice(0, len(points)), out)
        return out.reshape(len(points), FOLDS, -1)

    def _student(self, family: StudentT) -> tuple[StudentT, MomentsTable, Numbers]:
        """Give the moments of transformed numbers, and the points; no class matters to those."""
        points = self.points[1]
        if family.transform is None:
            return family, self.moments_left, points
        t = family.transform_of(self.table)(points.values[:, 0])  # type: ignore[arg-type]
        left = np.ascontiguousarray(self._left_at.reshape(len(t), -1).T)
        sums = left @ np.stack([np.ones_like(t), t, t * t], axis=1)
        n, s1, s2 = (DoubleDouble.of(sums[:, i : i + 1]) for i in range(3))
        several = (left > 0).sum(axis=1, keepdims=True)
        moments = MomentsTable(several, n, s1, s2, np.zeros(several.shape))
        moments = replace(moments, passed=moments.scatter)
        return StudentT(most_dof=family.most_dof), moments, replace(points, values=t[:, None])

    @cached_property
    def _left_at(self) -> FloatArray:
        """The counts of numbers at each point without each fold, points × folds × classes."""
        table: Any = self.table
        every = np.add.reduceat(table.cells.weight, self._groups[0], axis=1).T
        own = self.rows.own
        taken = self.counts if own is self.rows.weight else self._counted(own)
        left = every[:, None] - taken[:-1]
        left[left <= 1e-9 * every[:, None]] = 0.0
        return left

    def _even(self, family: Histogram) -> IntArray:
        """Find after which points bins of equal frequency end; no class or fold matters."""
        cuts, _ = family.binned(self.table)  # type: ignore[arg-type]
        bins = np.searchsorted(cuts, self.points[1].values[:, 0], side="left")
        return np.flatnonzero(np.diff(bins))

    def _binned(self, after: IntArray, prior: Any, folds: slice = slice(None)) -> FloatArray:
        """Score the points by bins that end after some of them, without each of some folds."""
        counts = self._left_at[:, folds]
        ends = np.append(after, len(counts) - 1)
        of_bins = np.add.reduceat(counts, np.append(0, after + 1), axis=0)
        pseudo = prior.pseudo_counts(range(len(ends)), of_bins.sum(axis=2).T).T
        found = log_shares(of_bins, pseudo[:, :, None])
        return np.repeat(found, np.diff(ends, prepend=-1), axis=0)

    def may_beat(self, choice: Choice, loss: float) -> bool:
        """Tell whether a choice is worth the time that cutting anew without each fold takes.

        Bins that were cut with all rows know more than they should; if not even they are better,
        none are.
        """
        family = choice.family
        if not (isinstance(family, Histogram) and family.cut == "mdl"):
            return True
        after = mdl_of_counts(self._left_at.mean(axis=1))
        grid = np.concatenate([self._binned(after, choice.prior), self._nothing])
        return float(self.losses(grid, self.counts).sum()) < loss

    def losses(self, grid: FloatArray, counts: FloatArray) -> FloatArray:
        """Compute the log-loss of each fold, under the prior and what is said at each point."""
        scores = odds(self.rows.log_prior)[None] + _clipped(grid)
        return cell_losses(np.ascontiguousarray(scores), np.ascontiguousarray(counts))

    def score(self, choice: Choice) -> tuple[FloatArray, FloatArray]:
        """Compute the log-loss of each fold by one way to model the column, and the grid."""
        grid = np.concatenate([self.grid(choice.family, choice.prior), self._nothing])
        return self.losses(grid, self.counts), grid

    @property
    def _nothing(self) -> FloatArray:
        return np.zeros((1, FOLDS, self.rows.n_classes))

    def scored(self, losses: Sequence[FloatArray], grids: Sequence[FloatArray]) -> Scored:
        """Give what is said at the points to their rows, each fold by the way the others choose.

        So what was chosen by looking at rows is judged by rows that it was not chosen on.
        """
        codes, of_folds = self.points[0], np.array(losses)
        others = of_folds.sum(axis=1, keepdims=True) - of_folds
        chosen = others.argmin(axis=0)
        grid = np.stack([grids[c][:, f] for f, c in enumerate(chosen.tolist())], axis=1)
        loss = float(of_folds[chosen, np.arange(FOLDS)].sum())
        of_rows = _clipped(grid)[codes, self.rows.fold].astype(np.float32)
        return Scored(loss, of_rows, np.asarray(grid.any(axis=2))[codes, self.rows.fold])

    def missing_scored(self, prior: Prior | None) -> Scored:
        """Score whether the value of each row is missing."""
        rows, table = self.rows, self.table
        gone = np.asarray(self.values.missing).astype(np.int64)
        _, own = presence(self.block, table, rows.statistics.weight, prior)
        taken = np.bincount(rows.place, rows.own * (1 - gone), self.n_places)
        there = np.tile(table.present, FOLDS) - taken  # type: ignore[attr-defined]
        left = presence_of(np.maximum(there, 0.0), rows.without.ravel())
        family, points = Bernoulli(), Labels(np.arange(2, dtype=np.int8), (False, True))
        out = np.zeros((2, self.n_places))
        family.adder(points, family.parameters(left, own))(slice(0, 2), out)
        grid = out.reshape(2, FOLDS, -1)
        at = gone * self.n_places + rows.place
        counted = np.bincount(at, rows.weight, 2 * self.n_places).reshape(grid.shape)
        counts: FloatArray = np.asarray(counted, dtype=np.float64)
        of_rows = _clipped(grid)[gone, rows.fold].astype(np.float32)
        loss = float(self.losses(grid, counts).sum())
        return Scored(loss, of_rows, np.ones(len(gone), dtype=np.bool_))


def odds(scores: FloatArray) -> FloatArray:
    """Take the log-odds of the second of two classes; of more, the scores as they are."""
    return scores if scores.shape[-1] != 2 else scores[..., 1:] - scores[..., :1]


def _clipped(scores: FloatArray) -> FloatArray:
    """Take scores relative to the best class, none of them beyond all bounds.

    Of two classes they are the log-odds of the second.
    """
    if scores.shape[-1] == 2:
        with np.errstate(invalid="ignore"):
            told = scores[..., 1:] - scores[..., :1]
        told[np.isnan(told)] = 0.0  # impossible under either class: nothing to tell
        return np.clip(told, LEAST_SCORE, -LEAST_SCORE)
    top = scores.max(axis=-1, keepdims=True)
    top[np.isneginf(top)] = 0.0  # impossible under every class: nothing to tell
    about = np.maximum(scores - top, LEAST_SCORE)
    return np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 0.0, about)
