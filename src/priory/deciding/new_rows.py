"""New rows as counts: of each column how many fall into each of the cells that the model knows.

Drift is told from these sums alone, so they can be added up over pieces of any size, and rows need
not be kept. A value that was never learned is one more in a count; what it was is not in them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray
from priory.data.columns import Frame
from priory.data.schema import Block
from priory.families.cuts import between_cells, equal_frequency
from priory.families.words import Words
from priory.statistics.statistics import Statistics
from priory.statistics.tables import (
    CountsTable,
    LabelsTable,
    MomentsTable,
    NumbersTable,
    WordsTable,
)

__all__ = ["Difference", "NewRows", "homogeneity"]

BINS, FEWEST, MOST_WORDS = 10, 5.0, 100

FEW, MANY, ENOUGH = 999, 19_999, 50
"""So many samples are drawn; many more where fewer than enough are as far apart as those given."""


class Difference(NamedTuple):
    """How new values of a column differ from those learned; shares, a distance and a p-value."""

    column: str
    unseen: float
    missing: float
    learned_missing: float
    distance: float
    p: float


class NewRows:
    """Counts of new rows, in the cells of what was learned.

    With `only_counts` columns of which the model has nothing but means and variances are
    `left_out`: they would take sums of values, and the sum over one row is a value.

    >>> from priory import Classifier, Settings
    >>> model = Classifier(Settings.textbook()).update({"c": ["a", "b", "a"]}, [0, 1, 1])
    >>> new = NewRows(model.statistics)
    >>> for label in "abz":
    ...     new.add(model.frame({"c": label}))
    >>> [round(one.unseen, 2) for one in new.differences()]
    [0.33]
    """

    def __init__(self, statistics: Statistics, only_counts: bool = False) -> None:
        every = [_cells(block, statistics) for block in statistics.schema.counted]
        known = [one for one in every if one is not None]
        self._columns = [c for c in known if not (only_counts and isinstance(c, _Moments))]
        self.left_out = tuple(name for c in known if c not in self._columns for name in c.names)
        self._sums = [np.zeros(column.size) for column in self._columns]
        self.n_rows = 0

    def add(self, frame: Frame) -> None:
        """Count some rows."""
        self.n_rows += len(frame)
        for column, sums in zip(self._columns, self._sums, strict=True):
            column.add(frame[column.block.name], sums)

    def empty(self) -> NewRows:
        """Make counts of no rows, in the same cells."""
        found: NewRows = object.__new__(NewRows)
        found._columns, found.left_out, found.n_rows = self._columns, self.left_out, 0
        found._sums = [np.zeros_like(sums) for sums in self._sums]
        return found

    def fits(self, other: NewRows) -> bool:
        """Whether both count in the same cells, so that they can be added."""
        return self._columns is other._columns

    def __add__(self, other: NewRows) -> NewRows:
        """Add up counts in the same cells."""
        found = self.empty()
        found.n_rows = self.n_rows + other.n_rows
        found._sums = [a + b for a, b in zip(self._sums, other._sums, strict=True)]
        return found

    def differences(self) -> Iterator[Difference]:
        """Compare each column with what was learned."""
        for column, sums in zip(self._columns, self._sums, strict=True):
            yield from column.differences(sums)


class _Cells(ABC):
    """What is counted of one block of columns."""

    size: int
    block: Block

    @property
    def names(self) -> tuple[str, ...]:
        return (self.block.title,)

    @abstractmethod
    def add(self, column: Any, sums: FloatArray) -> None:
        """Count values into sums."""

    @abstractmethod
    def differences(self, sums: FloatArray) -> list[Difference]:
        """Compare sums with what was learned."""


def _cells(block: Block, statistics: Statistics) -> _Cells | None:
    table, n = statistics.tables[block.name], statistics.n_rows
    if block.pairing is not None:  # its columns stand by themselves too
        return None
    if isinstance(table, WordsTable):
        return _Texts(block, table)
    if isinstance(table, CountsTable):
        return _Counts(block, table)
    if isinstance(table, LabelsTable):
        return _Labels(block, table, n)
    if isinstance(table, NumbersTable) and len(table.cells.keys):
        return _Bins(block, table, n)
    return _Moments(block, table) if isinstance(table, MomentsTable | NumbersTable) else None


class _Labels(_Cells):
    """A cell for each label that was learned, one for all others, one for none."""

    def __init__(self, block: Block, table: LabelsTable, n_rows: int) -> None:
        known = table.rows.sum(axis=0)
        self.block, self.size = block, len(known) + 2
        self._learned = np.append(known, [0, max(n_rows - int(known.sum()), 0)]).astype(np.float64)
        self._places = {label_key(label): i for i, label in enumerate(table.labels)}

    def add(self, column: Any, sums: FloatArray) -> None:
        coded, other = column.as_labels(), len(self._places)
        at = [self._places.get(label_key(label), other) for label in coded.labels]
        places = np.array([*at, other + 1])[coded.codes]  # a negative code is the last
        sums += np.bincount(places, minlength=self.size)

    def differences(self, sums: FloatArray) -> list[Difference]:
        unseen = float(sums[:-1][self._learned[:-1] == 0].sum())
        return [_of_cells(self.block.title, self._learned, sums, unseen)]


class _Bins(_Cells):
    """About ten bins of the numbers learned, one cell for none; and how many lie beyond all."""

    def __init__(self, block: Block, table: NumbersTable, n_rows: int) -> None:
        cells = table.cells
        after = equal_frequency(cells, BINS)
        known = np.add.reduceat(cells.rows.sum(axis=0), np.append(0, after + 1))
        self.block, self.size = block, len(known) + 2
        self._learned = np.append(known, max(n_rows - int(known.sum()), 0)).astype(np.float64)
        self._cuts = between_cells(cells, after)
        self._low, self._high = float(cells.lower[0]), float(cells.upper[-1])

    def add(self, column: Any, sums: FloatArray) -> None:
        x = np.asarray(column.values[:, 0], dtype=np.float64)
        places = np.searchsorted(self._cuts, x, side="left")
        places[np.isnan(x)] = self.size - 2
        sums[:-1] += np.bincount(places, minlength=self.size - 1)
        with np.errstate(invalid="ignore"):
            sums[-1] += np.count_nonzero((x < self._low) | (x > self._high))

    def differences(self, sums: FloatArray) -> list[Difference]:
        return [_of_cells(self.block.title, self._learned, sums[:-1], float(sums[-1]))]


def _of_cells(title: str, learned: FloatArray, new: FloatArray, unseen: float) -> Difference:
    """Compare counts of cells, of which the last are missing values."""
    share_learned, share_new = learned / max(learned.sum(), 1.0), new / max(new.sum(), 1.0)
    distance = min(0.5 * float(np.abs(share_learned - share_new).sum()), 1.0)
    there = max(float(new[:-1].sum()), 1.0)
    return Difference(
        title,
        unseen / there,
        float(share_new[-1]),
        float(share_learned[-1]),
        distance,
        homogeneity(learned, new),
    )


def homogeneity(learned: FloatArray, new: FloatArray) -> float:
    """Test whether two samples of cells have one distribution: the p-value of X².

    It is χ² distributed where all but a few rows are in cells of five expected rows and more. Where
    a sample is too small for that, it is compared with that of samples drawn anew from all rows.

    >>> homogeneity(np.array([50.0, 50.0]), np.array([25.0, 25.0]))
    1.0
    >>> homogeneity(np.full(10, 100.0), np.array([0.0] * 9 + [6.0])) < 0.001
    True
    """
    from scipy.stats import chi2

    both = np.stack([learned, new])
    totals = both.sum(axis=1)
    if not totals.all():
        return 1.0
    counts = both.sum(axis=0)
    table = _merged(both, counts * totals.min() / totals.sum())
    is_small = table[:, 0].sum() > 0.5 * totals.sum()  # most rows are in what was merged
    if is_small:
        table = _merged(both, counts)
    table = table[:, table.any(axis=0)]
    if table.shape[1] < 2:
        return 1.0
    if is_small:
        return _drawn_anew(table)
    return float(chi2.sf(_distances(table[:1], table)[0], table.shape[1] - 1))


def _merged(both: FloatArray, size: FloatArray) -> FloatArray:
    """Merge rare cells into one, the first.

    Which cells are rare must not depend on the sample that they are in: all of them are one. What
    was never learned is among them, since a value that is rare may be in the new rows alone.
    """
    rare = (size < FEWEST) | (both[0] == 0)
    if size[rare].sum() < FEWEST and not rare.all():
        rare[np.where(rare, np.inf, size).argmin()] = rare.any()
    return np.column_stack([both[:, rare].sum(axis=1), both[:, ~rare]])


def _distances(first: FloatArray, table: FloatArray) -> FloatArray:
    """Work out X² of tables with the margins of one, given the first rows of each."""
    totals, both = table.sum(axis=1), table.sum(axis=0)
    wanted = totals[0] * both / totals.sum()
    return np.asarray(((first - wanted) ** 2 / wanted).sum(axis=1) * totals.sum() / totals[1])


def _drawn_anew(table: FloatArray) -> float:
    """Compare X² with that of rows dealt out to both samples by chance."""
    rng = np.random.default_rng(0)  # the same rows have the same p-value
    both, n = table.sum(axis=0).astype(np.int64), int(table[0].sum())
    least = _distances(table[:1], table)[0] * (1 - 1e-9)
    for draws in FEW, MANY:
        dealt = rng.multivariate_hypergeometric(both, n, draws, "marginals").astype(np.float64)
        as_far = int((_distances(dealt, table) >= least).sum())
        if as_far >= ENOUGH:
            break
    return (1 + as_far) / (1 + draws)


class _Counts(_Cells):
    """Of many columns of counts, in how many rows each is above 0; and the rows."""

    def __init__(self, block: Block, table: CountsTable) -> None:
        self.block, self.size = block, table.rows.shape[1] + 1
        self._learned, self._n = table.rows.sum(axis=0), int(table.documents.sum())

    def add(self, column: Any, sums: FloatArray) -> None:
        matrix = column.matrix
        if hasattr(matrix, "indptr"):
            first, last = int(matrix.indptr[0]), int(matrix.indptr[-1])
            places = matrix.indices[first:last][matrix.data[first:last] > 0]
            np.add.at(sums, places, 1.0)
        else:
            sums[:-1] += (np.asarray(matrix) > (column.threshold or 0.0)).sum(axis=0)
        sums[-1] += len(column)

    def differences(self, sums: FloatArray) -> list[Difference]:
        distance, p = _of_words(self._learned, self._n, sums[:-1], float(sums[-1]))
        return [Difference(self.block.title, 0.0, 0.0, 0.0, distance, p)]


class _Texts(_Cells):
    """In how many texts each word is that was learned; words, those known, texts, and none."""

    def __init__(self, block: Block, table: WordsTable) -> None:
        self.block, self.size = block, len(table.vocabulary) + 4
        self._table, self._n = table, int(table.documents.sum())
        self._learned = np.bincount(table.pairs.word, table.pairs.rows, len(table.vocabulary))

    def add(self, column: Any, sums: FloatArray) -> None:
        rows = Words().rows(column, self._table)
        every = WordsTable.count(self.block, column, np.zeros(len(column), np.int32), None, 1)
        np.add.at(sums, rows.indices, 1.0)
        gone = np.count_nonzero(column.missing)
        sums[-4:] += (every.pairs.count.sum(), rows.data.sum(), len(column) - gone, gone)

    def differences(self, sums: FloatArray) -> list[Difference]:
        words, known, texts, gone = sums[-4:].tolist()
        unseen = max(1.0 - known / words, 0.0) if words else 0.0
        distance, p = _of_words(self._learned, self._n, sums[:-4], texts)
        missing = gone / max(texts + gone, 1.0)
        return [Difference(self.block.title, unseen, missing, 0.0, distance, p)]


def _of_words(
    learned: AnyArray, n_learned: int, new: FloatArray, n_new: float
) -> tuple[float, float]:
    """Compare in how many rows each common word is: the largest distance, and a p-value for all."""
    best = np.argsort(-(learned + new), kind="stable")[:MOST_WORDS]
    p, far = [1.0], [0.0]
    for w in best.tolist():
        a, b = float(learned[w]), float(new[w])
        p.append(homogeneity(np.array([a, n_learned - a]), np.array([b, n_new - b])))
        far.append(abs(a / max(n_learned, 1) - b / max(n_new, 1)))
    return max(far), min(1.0, min(p) * max(len(best), 1))


class _Moments(_Cells):
    """Numbers, their sum and that of their squares, where no cells were kept; and gaps.

    They are summed from the learned mean on, in learned deviations, so that nothing cancels.
    """

    def __init__(self, block: Block, table: MomentsTable | NumbersTable) -> None:
        pooled = table.moments.pooled()
        self.block, self._n, self._mean = block, pooled.rows[0], np.asarray(pooled.mean[0])
        scatter = np.maximum(np.asarray(pooled.scatter[0]), 0.0)
        self._deviation = np.sqrt(scatter / np.maximum(self._n - 1, 1))
        self._scale = np.where(self._deviation > 0, self._deviation, 1.0)
        self.size = 4 * len(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.block.columns)

    def add(self, column: Any, sums: FloatArray) -> None:
        z = (np.asarray(column.values, dtype=np.float64) - self._mean) / self._scale
        there = ~np.isnan(z)
        z = np.where(there, z, 0.0)
        parts = (there.sum(axis=0), z.sum(axis=0), (z * z).sum(axis=0), (~there).sum(axis=0))
        sums += np.concatenate(parts)

    def differences(self, sums: FloatArray) -> list[Difference]:
        return [
            self._difference(j, name, *four)
            for j, (name, four) in enumerate(
                zip(self.names, sums.reshape(4, -1).T.tolist(), strict=True)
            )
        ]

    def _difference(
        self, j: int, name: str, n: float, total: float, squares: float, gone: float
    ) -> Difference:
        """Compare the means (Welch's test)."""
        from scipy.stats import ttest_ind_from_stats

        missing, n_learned = gone / max(n + gone, 1.0), int(self._n[j])
        if n < 2 or n_learned < 2:
            return Difference(name, 0.0, missing, 0.0, 0.0, 1.0)
        off = total / n
        spread = np.sqrt(max(squares - total * off, 0.0) / (n - 1))
        deviation = float(self._deviation[j] / self._scale[j])
        if deviation == 0 and spread == 0:
            return Difference(name, 0.0, missing, 0.0, float(off != 0), float(off == 0))
        test = ttest_ind_from_stats(0.0, deviation, n_learned, off, spread, int(n), False)
        distance = abs(off) / max(deviation, spread)
        return Difference(name, 0.0, missing, 0.0, float(distance), float(test.pvalue))
