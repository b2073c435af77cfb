"""Drift: whether new rows are distributed as those that were learned, column by column.

The values of a column fall into cells: labels, about ten bins of numbers, a missing value, a value
never seen. New rows and rows learned are two samples of them:

    X² = Σ_cells Σ_samples (count − expected)² / expected

which is χ² distributed where nothing drifted; cells of fewer than five expected rows, and what was
never learned, are one. Where that would be most of the rows, X² is compared with that of rows dealt
out to both samples by chance. The distance is the total variation ½ Σ |p_learned − p_new|. Of texts
and counts each common word is a cell of its own, there or not, and the least p-value counts as
often as there are words. p-values are corrected for the number of columns (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.base.formatting import aligned, printable
from priory.base.html import html_table, html_together, shown_once
from priory.data.columns import Frame
from priory.deciding.new_rows import NewRows
from priory.deciding.priors import PriorEstimate, estimate_prior
from priory.model.model import Model
from priory.statistics.statistics import Statistics

__all__ = ["ColumnDrift", "Drift", "compare", "drift_of"]

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


def drift_of(
    statistics: Statistics, model: Model, frames: Iterable[Frame], is_calibrated: bool
) -> Drift:
    """Compare new rows, which come in pieces, with those that were counted."""
    new, p = NewRows(statistics), [np.empty((0, len(model.log_prior)))]
    for frame in frames:
        new.add(frame)
        p.append(model.posterior(frame))
    if not new.n_rows:
        raise InputError("There are no rows to compare with those that were learned.")
    learned = np.exp(model.log_prior)
    prior = estimate_prior(np.concatenate(p), learned, model.classes, n=statistics.n_rows)
    return compare(new, prior, is_calibrated)


def compare(new: NewRows, prior: PriorEstimate, is_calibrated: bool) -> Drift:
    """Compare counts of new rows with what was learned, and correct for the number of columns."""
    found = sorted(new.differences(), key=lambda one: one.p)
    columns, so_far = [], 0.0
    for rank, one in enumerate(found):
        so_far = max(so_far, min(1.0, (len(found) - rank) * one.p))
        columns.append(ColumnDrift(*one, so_far))
    return Drift(tuple(columns), prior, new.n_rows, is_calibrated)
