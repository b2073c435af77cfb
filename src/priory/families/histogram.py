"""Histogram: bins of a column of numbers, cut by frequency or by description length."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, CodeArray, FloatArray, IntArray
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.base import (
    EstimateTables,
    Lookup,
    Rng,
    counted_values,
    log_shares,
    looked_up,
    times,
)
from priory.families.categorical import draw
from priory.families.cuts import between_cells, equal_frequency, mdl
from priory.families.described import Support
from priory.families.loo import LooRows, log_share, own_pseudo, reduced
from priory.families.loo_cells import LooCells, LooCellTables, loo_cell_table
from priory.families.priors import DiscretePrior
from priory.families.protocols import ClosedFormLoo, DirichletFamily, InPlace, Linear, LinearFamily
from priory.statistics.tables import CellsTable, LabelsTable, NumbersTable

__all__ = ["Histogram", "HistogramParameters"]


@dataclass(frozen=True)
class Histogram(InPlace, ClosedFormLoo, DirichletFamily, LinearFamily):
    """Give each bin its smoothed relative frequency: p(x | k) = P(bin | k) / width.

    Bins are cut from the cells, so they can be chosen anew without the data: of equal frequency
    (`bins` of them, by default √n between 5 and 20) or by minimum description length, which
    looks at the classes. The first and the last bin reach outwards: as a density, one number more
    than the n seen in such a bin lies beyond them with the probability t = 1 / (n + 2), in an
    exponential tail as wide as the bin; the numbers within keep 1 − t.

    >>> import numpy as np
    >>> from priory.data.schema import Block
    >>> from priory.families.priors import Laplace
    >>> column, y = Numbers(np.arange(8.0)[:, None]), np.zeros(8, dtype=np.int32)
    >>> table = NumbersTable.count(Block("x", ("x",), Kind.NUMBERS), column, y, None, 1)
    >>> Histogram(bins=2).parameters(table, Laplace(1.0)).cuts.tolist()
    [3.5]
    """

    name: ClassVar[str] = "histogram"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS,)

    cut: Literal["equal-frequency", "mdl"] = "equal-frequency"
    bins: int | None = None

    def __post_init__(self) -> None:
        if self.cut not in ("equal-frequency", "mdl"):
            raise SettingError(f"cut must be 'equal-frequency' or 'mdl', not {self.cut!r}.")
        if self.bins is not None and (self.bins < 1 or self.cut == "mdl"):
            raise SettingError(
                f"bins must be at least 1 and is for equal-frequency cuts alone, not {self.bins!r}."
            )

    def parameters(self, table: NumbersTable, prior: DiscretePrior) -> HistogramParameters:
        """Find the cuts and estimate log P(bin | k)."""
        cells, (cuts, bins) = table.cells, self.binned(table)
        pseudo = prior.pseudo_counts(bins.labels, bins.weight.sum(axis=0))
        log_p = log_shares(bins.weight.T, pseudo[:, None])
        ends = (cells.lower[:1].tolist() + cells.upper[-1:].tolist()) or [0.0, 0.0]
        n = bins.weight.sum(axis=0)
        return HistogramParameters(cuts, log_p, ends[0], ends[1], 1.0 / (n[[0, -1]] + 2.0))

    def _after(self, cells: CellsTable) -> IntArray:
        """Find after which cells the bins end."""
        if self.cut == "mdl":
            return mdl(cells)
        n = float(cells.weight.sum())
        return equal_frequency(cells, self.bins or int(np.clip(np.sqrt(round(n, 6)), 5, 20)))

    def binned(self, table: NumbersTable) -> tuple[FloatArray, LabelsTable]:
        """Give the cuts, and the counts of the bins 0, 1, 2, … as those of labels."""
        cells = table.cells
        after = self._after(cells)
        starts = np.concatenate([[0], after + 1])
        shape = (len(cells.weight), len(starts))
        rows, weight = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        if len(cells.keys):
            rows, weight = (np.add.reduceat(a, starts, axis=1) for a in (cells.rows, cells.weight))
        return between_cells(cells, after), LabelsTable(tuple(range(len(starts))), rows, weight)

    def counted(
        self, table: NumbersTable, prior: DiscretePrior
    ) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        """Count the numbers of each bin."""
        cuts, bins = self.binned(table)
        pseudo = prior.pseudo_counts(bins.labels, bins.weight.sum(axis=0))
        return bin_names(cuts), bins.weight, pseudo

    def n_free(self, table: NumbersTable, prior: DiscretePrior) -> int:
        """Count B − 1 cuts, and as many shares for each class."""
        return len(self._after(table.cells)) * (len(table.cells.weight) + 1)

    def log_evidence(self, table: NumbersTable, prior: DiscretePrior) -> float:
        """Give that of the bins' counts under the Dirichlet, numbers spread over each bin."""
        column, weight = counted_values(table)
        spread = self.log_base_measure(column, self.parameters(table, prior))
        return super().log_evidence(table, prior) + times(weight, spread)

    def adder(self, column: Numbers, parameters: HistogramParameters) -> Lookup:
        """Find the bin of each number once; the rows then need only a look-up."""
        bins = np.arange(len(parameters.log_p), dtype=np.int32)
        return Lookup(parameters.bin_of(column.values[:, 0]), bins, parameters.log_p)

    def loo_adder(self, column: Numbers, loo: LooRows, table: NumbersTable, prior: Any) -> Lookup:
        """Cut the cells anew without the number, and take it from its bin.

            P(bin | k) = (n_bk − [k=y] + a_b) / (n_k − [k=y] + Σa)

        Cuts of equal frequency look at no class, so they are the same for a cell in all classes.
        """
        cells, x = table.cells, column.values[:, 0].astype(np.float64)
        pairs = LooCells.of(cells, x, loo)
        low, high, place, bins = self._loo_bins(pairs, x)
        y, inside = pairs.y, (low <= pairs.at) & (pairs.at < high)
        spans, span = np.unique(low * (len(cells.keys) + 1) + high, return_inverse=True)
        ends = [divmod(int(code), len(cells.keys) + 1) for code in spans]
        shape = (len(ends), len(cells.weight))
        weight = np.reshape([cells.weight[:, a:b].sum(axis=1) for a, b in ends], shape)
        rows = np.reshape([cells.rows[:, a:b].sum(axis=1) for a, b in ends], shape)
        last = inside & (rows[span, y] == 1)
        count = reduced(weight[span], y, pairs.amount * inside, last)
        every = np.tile(cells.weight.sum(axis=1), (len(y), 1))
        n = reduced(every, y, pairs.amount, cells.rows.sum(axis=1)[y] == 1)
        pooled, total = count.sum(axis=1), n.sum(axis=1)
        a, a_sum = np.empty((2, len(y)))
        for size in np.unique(bins).tolist():
            some = bins == size
            a[some], a_sum[some] = own_pseudo(
                prior, range(size), place[some], pooled[some], total[some]
            )
        scores = log_share(count, n, a[:, None], a_sum[:, None], pooled[:, None], total[:, None])
        return pairs.lookup(len(x), scores)

    def support(
        self, column: Numbers, table: NumbersTable, parameters: HistogramParameters
    ) -> Support:
        """Count the numbers of each class in each row's bin."""
        counts = np.zeros(parameters.log_p.shape)
        np.add.at(counts, parameters.bin_of(table.cells.values), table.cells.weight.T)
        return looked_up(self.adder(column, parameters), counts)

    def _loo_bins(self, pairs: LooCells, x: FloatArray) -> tuple[IntArray, ...]:
        """Find `_loo_bin` of each pair."""
        cells, a_row = pairs.cells, np.zeros(len(pairs.at), dtype=np.int64)
        a_row[pairs.pair] = pairs.rows
        taken = LooCellTables(cells, pairs.at, pairs.y, pairs.amount).taken
        if self.cut != "mdl":  # which looks at no class
            rows, weight = cells.rows, cells.weight
            sums = (rows.sum(axis=0, keepdims=True), weight.sum(axis=0, keepdims=True))
            cells = CellsTable(cells.level, cells.keys, *sums)
        found: dict[tuple[Any, ...], tuple[int, int, int, int]] = {}
        keys = []
        for i, row in enumerate(a_row.tolist()):
            at, y, amount = pairs.one(i)
            key = (at, y, amount) if self.cut == "mdl" else (at, 0, float(taken[i]))
            if key not in found:
                found[key] = self._loo_bin(cells, float(x[row]), *key)
            keys.append(key)
        return tuple(np.array([found[key] for key in keys], dtype=np.int64).reshape(-1, 4).T)

    def _loo_bin(
        self, cells: CellsTable, x: float, at: int, y: int, amount: float
    ) -> tuple[int, int, int, int]:
        """Find the bin that a number falls into once it is gone.

        It is given by its first cell and the one after its last, by its place, and how many
        bins there are.
        """
        left = loo_cell_table(cells, at, y, amount)
        after = self._after(left)
        if len(left.keys) == len(cells.keys):
            place = int(np.searchsorted(after, at))
            shifted = after
        else:
            place = int(np.searchsorted(between_cells(left, after), x))
            shifted = after + (after >= at)
        low = int(shifted[place - 1]) + 1 if place else 0
        high = int(shifted[place]) + 1 if place < len(after) else len(cells.keys)
        return low, high, place, len(after) + 1

    def log_base_measure(self, column: Numbers, parameters: HistogramParameters) -> FloatArray:
        """Give −log of the bin's width; beyond the numbers seen log t/w − (how far)/w."""
        x, edges = column.values[:, 0], parameters.edges
        widths = np.diff(edges)
        widths[widths <= 0] = 1.0  # a lone value is a point mass
        codes, last = parameters.bin_of(x), len(widths) - 1
        below, above = parameters.tails
        inside = -np.log(widths)
        inside[0] += np.log1p(-below)
        inside[last] += np.log1p(-above)
        with np.errstate(invalid="ignore"):
            far = np.maximum(np.maximum(edges[0] - x, x - edges[-1]), 0.0) / widths[codes]
        tail = np.log(np.where(codes == 0, below, above) / widths[codes]) - far
        if last == 0:
            with np.errstate(invalid="ignore"):
                share = np.where(x < edges[0], below, above)
            inside[0] = np.log1p(-below - above) - np.log(widths[0])
            tail = np.log(share / widths[0]) - far
        return np.where(codes < 0, 0.0, np.where(far > 0, tail, inside[codes]))

    def formula(self, block: Block, value: Any, parameters: HistogramParameters) -> str:
        """Write P(the number's bin | class)."""
        i = int(parameters.bin_of(np.array([value], dtype=np.float64))[0])
        ends = [-np.inf, *parameters.cuts.tolist(), np.inf]
        low, high = block.shown(ends[i]), block.shown(ends[i + 1])
        return f"P({block.columns[0]} in ({low}, {high}] | class)"

    def sample(self, parameters: HistogramParameters, y: CodeArray, rng: Rng) -> AnyArray:
        """Draw a bin by its probability, and a number evenly inside of it, or from its tail."""
        bins = draw(np.exp(parameters.log_p).T, y, rng)
        edges, u = parameters.edges, rng.random(len(y))
        below, above = parameters.tails
        drawn = rng.uniform(edges[bins], edges[bins + 1])
        far = rng.standard_exponential(len(y)) * (edges[bins + 1] - edges[bins])
        drawn = np.where((bins == 0) & (u < below), edges[0] - far, drawn)
        return np.where((bins == len(edges) - 2) & (u > 1.0 - above), edges[-1] + far, drawn)

    def linear(self, block: Block, parameters: HistogramParameters) -> Linear:
        """Write the one-hot form: a feature for each bin."""
        features = tuple(f"{block.name} in {name}" for name in bin_names(parameters.cuts))
        return Linear(features, parameters.log_p, np.zeros(parameters.log_p.shape[1]))

    def estimates(self, block: Block, table: Any, prior: Any, parameters: Any) -> EstimateTables:
        """Yield P(bin | k)."""
        from priory.families.estimates import shares

        names, counts, _ = self.counted(table, prior)
        counted = (counts.T, prior, list(range(len(names))))
        yield shares("P(bin | class)", names, parameters.log_p, *counted)

    def feature_counts(self, table: NumbersTable, parameters: HistogramParameters) -> FloatArray:
        """Count the numbers of each class in each bin."""
        return self.binned(table)[1].weight.T


@dataclass(frozen=True, eq=False)
class HistogramParameters:
    """Hold the cuts, log P(bin | k), bins × classes, and the least and greatest number seen.

    `tails` are the shares of the first and of the last bin that lie beyond these two.
    """

    cuts: FloatArray
    log_p: FloatArray
    least: float
    greatest: float
    tails: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.log_p.shape[1]

    @property
    def edges(self) -> FloatArray:
        """The ends of all the bins."""
        return np.array([self.least, *self.cuts, self.greatest])

    def bin_of(self, x: AnyArray) -> CodeArray:
        """Find the bin of each number, −1 where it is missing."""
        codes = np.searchsorted(self.cuts, x, side="left").astype(np.int32)
        codes[np.isnan(x)] = -1
        return codes


def bin_names(cuts: FloatArray) -> tuple[str, ...]:
    ends = [-np.inf, *cuts.tolist(), np.inf]
    return tuple(f"({low:g}, {high:g}]" for low, high in pairwise(ends))
