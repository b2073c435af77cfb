"""Drift: whether new rows are distributed as those that were learned, column by column.

The values of a column fall into cells: labels, about ten bins of numbers, a missing value, a value
never seen. New rows and rows learned are two samples of them:

    X² = Σ_cells Σ_samples (count − expected)² / expected

which is χ² distributed where nothing drifted; cells of fewer than five expected rows are one. The
distance is the total variation ½ Σ |p_learned − p_new|. Of texts and counts each common word is a
cell of its own, there or not, and the least p-value counts as often as there are words. p-values
are corrected for the number of columns (Holm 1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.base.formatting import aligned, printable
from priory.base.html import html_table, html_together, shown_once
from priory.base.labels import label_key
from priory.base.typing import AnyArray, FloatArray
from priory.data.columns import Frame
from priory.data.schema import Block
from priory.deciding.priors import PriorEstimate
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

__all__ = ["ColumnDrift", "Drift", "compare"]

BINS, FEWEST, MOST_WORDS = 10, 5.0, 100
SURE = 0.05


@dataclass(frozen=True)
class ColumnDrift:
    """How the values of one column differ from those learned."""

    column: str
    unseen: float
    """The share of its values that were never learned: labels, words, numbers beyond all seen."""
    missing: float
    """The share of the new rows without a value."""
    learned_missing: float
    distance: float
    """Total variation between what was learned and the new rows; of words the largest one."""
    p: float
    """Of no drift, for this column alone."""
    p_corrected: float
    """Of no drift in any column."""

    @property
    def has_drifted(self) -> bool:
        """Whether chance explains it in fewer than one of twenty tables."""
        return self.p_corrected <= SURE


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """New rows beside those learned: every column, the most suspicious first, and the classes."""

    columns: tuple[ColumnDrift, ...]
    prior: PriorEstimate
    n_rows: int
    is_calibrated: bool
    """Whether the model is tuned: if not, the prior that is estimated is not to be trusted."""

    @property
    def drifted(self) -> tuple[str, ...]:
        """The columns whose corrected p-value is at most 0.05."""
        return tuple(one.column for one in self.columns if one.has_drifted)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        names = ("column", "unseen", "missing", "learned_missing", "distance", "p", "p_corrected")
        columns = [{name: getattr(one, name) for name in names} for one in self.columns]
        return {"rows": self.n_rows, "columns": columns, "prior": self.prior.to_dict()}

    def to_frame(self) -> Any:
        """Convert the columns to a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["columns"])

    def __repr__(self) -> str:
        return (
            f"<Drift of {self.n_rows:,} rows: {len(self.drifted)} of {len(self.columns)} columns>"
        )

    def __str__(self) -> str:
        told = "" if self.is_calibrated else " (not to be trusted: the model is not tuned)"
        return f"{aligned(self._rows())}\n\nclass prior{told}\n{self.prior}"

    def _rows(self) -> list[tuple[str, ...]]:
        head: tuple[str, ...] = ("column", "unseen", "missing", "distance", "p corrected", "")
        return [head] + [
            (
                printable(one.column),
                f"{one.unseen:.1%}",
                f"{one.learned_missing:.1%} → {one.missing:.1%}",
                f"{one.distance:.3f}",
                f"{one.p_corrected:.3g}",
                "drifted" if one.has_drifted else "",
            )
            for one in self.columns
        ]

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return html_together(html_table(head, rows), self.prior._repr_html_())

    def plot(self, most: int = 30) -> Any:
        """Draw the distance of each column, those that drifted in another colour."""
        import matplotlib.pyplot as plt

        shown = sorted(self.columns, key=lambda one: one.distance)[-most:]
        figure, axes = plt.subplots(figsize=(6, max(1.6, 0.28 * len(shown) + 0.9)))
        colours = ["#c0504d" if one.has_drifted else "#9aa7cf" for one in shown]
        places = np.arange(len(shown))
        axes.barh(places, [one.distance for one in shown], color=colours)
        axes.set_yticks(places, [one.column.replace("$", r"\$")[:40] for one in shown])
        axes.set(xlabel="distance from what was learned", xlim=(0, None))
        axes.set_title(f"{len(self.drifted)} of {len(self.columns)} columns drifted (red)")
        figure.tight_layout()
        return shown_once(figure)


def compare(
    statistics: Statistics, frame: Frame, prior: PriorEstimate, is_calibrated: bool
) -> Drift:
    """Compare the columns of new rows with those that were counted."""
    if not len(frame):
        raise InputError("There are no rows to compare with those that were learned.")
    found = []
    for block in statistics.schema.counted:
        if block.pairing is None:
            found += _compared(block, statistics.tables[block.name], frame, statistics)
    order = sorted(range(len(found)), key=lambda i: found[i][-1])
    corrected, so_far = np.ones(len(found)), 0.0
    for rank, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(found) - rank) * found[i][-1]))
        corrected[i] = so_far
    columns = [ColumnDrift(*found[i], float(corrected[i])) for i in order]
    return Drift(tuple(columns), prior, len(frame), is_calibrated)


_Found = tuple[str, float, float, float, float, float]


def _compared(block: Block, table: Any, frame: Frame, statistics: Statistics) -> list[_Found]:
    column: Any = frame[block.name]
    if isinstance(table, WordsTable | CountsTable):
        return [_of_words(block, table, column)]
    if isinstance(table, LabelsTable):
        known = table.rows.sum(axis=0)
        places = {label_key(label): i for i, label in enumerate(table.labels)}
        for label in column.labels:  # each that was never seen has a cell of its own
            places.setdefault(label_key(label), len(places))
        at = [places[label_key(label)] for label in column.labels]
        code = np.array([*at, len(places)])[column.codes]
        every = np.append(known, np.zeros(len(places) - len(known), dtype=np.int64))
        return [_of_cells(block.title, every, code, statistics.n_rows)]
    if isinstance(table, NumbersTable) and len(table.cells.keys):
        x, cells = np.asarray(column.values[:, 0], dtype=np.float64), table.cells
        after = equal_frequency(cells, BINS)
        known = np.add.reduceat(cells.rows.sum(axis=0), np.append(0, after + 1))
        code = np.searchsorted(between_cells(cells, after), x, side="left")
        code[np.isnan(x)] = len(known)
        title, *rest = _of_cells(block.title, known, code, statistics.n_rows)
        with np.errstate(invalid="ignore"):
            beyond = (x < cells.lower[0]) | (x > cells.upper[-1])
        rest[0] = float(beyond.sum() / max((~np.isnan(x)).sum(), 1))
        return [(title, rest[0], rest[1], rest[2], rest[3], rest[4])]
    if isinstance(table, MomentsTable | NumbersTable):
        return [_of_moments(name, j, table.moments, column) for j, name in enumerate(block.columns)]
    return []


def _of_cells(title: str, known: AnyArray, code: AnyArray, n_rows: int) -> _Found:
    """Compare counts of cells, and one more of missing values."""
    learned = np.append(known, max(n_rows - int(known.sum()), 0)).astype(np.float64)
    new = np.bincount(code, minlength=len(learned)).astype(np.float64)
    there = max(new[:-1].sum(), 1.0)
    share_learned, share_new = learned / max(learned.sum(), 1.0), new / new.sum()
    distance = 0.5 * float(np.abs(share_learned - share_new).sum())
    return (
        title,
        float(new[:-1][learned[:-1] == 0].sum() / there),
        float(share_new[-1]),
        float(share_learned[-1]),
        distance,
        homogeneity(learned, new),
    )


def homogeneity(learned: FloatArray, new: FloatArray) -> float:
    """Test whether two samples of cells have one distribution: the p-value of χ².

    >>> homogeneity(np.array([50.0, 50.0]), np.array([25.0, 25.0]))
    1.0
    """
    from scipy.stats import chi2

    both = np.stack([learned, new])
    totals = both.sum(axis=1)
    if not totals.all():
        return 1.0
    expected = both.sum(axis=0) * totals.min() / totals.sum()
    # Which cells are rare must not depend on the sample that they are in: all of them are one.
    rare = expected < FEWEST
    if expected[rare].sum() < FEWEST and not rare.all():
        rare[np.where(rare, np.inf, expected).argmin()] = rare.any()
    table = np.column_stack([both[:, ~rare], both[:, rare].sum(axis=1)])
    table = table[:, table.any(axis=0)]
    if table.shape[1] < 2:
        return 1.0
    wanted = totals[:, None] * table.sum(axis=0) / totals.sum()
    return float(chi2.sf(((table - wanted) ** 2 / wanted).sum(), table.shape[1] - 1))


def _of_words(block: Block, table: Any, column: Any) -> _Found:
    """Compare in how many texts each common word is."""
    n_learned = int(table.documents.sum())
    unseen = 0.0
    if isinstance(table, WordsTable):
        learned = np.bincount(table.pairs.word, table.pairs.rows, len(table.vocabulary))
        rows = Words().rows(column, table)
        y = np.zeros(len(column), dtype=np.int32)
        fresh = WordsTable.count(block, column, y, None, 1)
        total = float(fresh.pairs.count.sum())
        unseen = 1.0 - float(rows.data.sum()) / total if total else 0.0
        new = np.bincount(rows.indices, minlength=len(learned))
        missing = np.asarray(column.missing)
    else:
        learned = table.rows.sum(axis=0)
        matrix = column.matrix
        if hasattr(matrix, "indptr"):
            new = np.bincount(matrix.indices[matrix.data > 0], minlength=len(learned))
        else:
            new = (np.asarray(matrix) > 0).sum(axis=0)
        missing = np.zeros(len(column), dtype=np.bool_)
    n_new = int((~missing).sum())
    best = np.argsort(-(learned + new), kind="stable")[:MOST_WORDS]
    p, far = [1.0], [0.0]
    for w in best.tolist():
        a, b = float(learned[w]), float(new[w])
        p.append(homogeneity(np.array([a, n_learned - a]), np.array([b, n_new - b])))
        far.append(abs(a / max(n_learned, 1) - b / max(n_new, 1)))
    least = min(1.0, min(p) * max(len(best), 1))
    return block.title, max(unseen, 0.0), float(missing.mean()), 0.0, max(far), least


def _of_moments(name: str, j: int, moments: MomentsTable, column: Any) -> _Found:
    """Compare the means where no values were kept (Welch's test)."""
    from scipy.stats import ttest_ind_from_stats

    x = np.asarray(column.values[:, j], dtype=np.float64)
    known, pooled = x[~np.isnan(x)], moments.pooled()
    n = int(pooled.rows[0, j])
    gone = float(np.isnan(x).mean())
    if len(known) < 2 or n < 2:
        return name, 0.0, gone, 0.0, 0.0, 1.0
    mean = float(pooled.mean[0, j])
    deviation = float(np.sqrt(max(float(pooled.scatter[0, j]), 0.0) / (n - 1)))
    spread = float(known.std(ddof=1))
    if deviation == 0 and spread == 0:
        return name, 0.0, gone, 0.0, float(mean != known.mean()), float(mean == known.mean())
    test = ttest_ind_from_stats(mean, deviation, n, known.mean(), spread, len(known), False)
    scale = max(deviation, spread)
    return name, 0.0, gone, 0.0, float(abs(known.mean() - mean) / scale), float(test.pvalue)
