"""How far each column moves predictions, beside what it tells of the class by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.formatting import aligned
from priory.base.html import html_table, shown_once
from priory.base.plotting import FOR, plot_text, pyplot
from priory.base.typing import FloatArray
from priory.model.information import column_information
from priory.model.log_odds import log_odds
from priory.model.row_explanation import BIAS

if TYPE_CHECKING:
    import pandas as pd

    from priory.model.explanation import Explanation

__all__ = ["Importance", "importance"]

MOST_SHOWN = 30
LONGEST = 38


@dataclass(frozen=True, eq=False, repr=False)
class Importance:
    """Columns and pairs, those first that move predictions most; print it to see them.

        mean |log-odds| = mean over rows and classes of |what the column adds to the log-odds|

    Of two classes it is the mean over the rows; it is ∞ where a value makes a class impossible.
    `bits` is the mutual information of a column with the class, NaN for pairs and texts; a column
    may tell much and move little, where others say the same.

    >>> from priory import NaiveBayes
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"], "windy": [1, 0, 1, 0]}
    >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
    >>> model.explain(days).importance().columns
    ('outlook', 'windy')
    """

    columns: tuple[str, ...]
    mean_log_odds: FloatArray
    bits: FloatArray
    n_rows: int

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<Importance of {len(self)} columns and pairs, in {self.n_rows:,} rows>"

    def __str__(self) -> str:
        return aligned(self._rows(), right=True)

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return html_table(head, rows)

    def _rows(self) -> list[tuple[str, ...]]:
        told = zip(self.columns, self.mean_log_odds.tolist(), self.bits.tolist(), strict=True)
        rows = [
            (name, _told(moved), "–" if bits != bits else f"{bits:.2f}")
            for name, moved, bits in told
        ]
        return [("column", "mean |log-odds|", "bits"), *rows]

    def to_frame(self) -> pd.DataFrame:
        """Tabulate it, a row for each column or pair."""
        import pandas as pd

        told = {"mean_log_odds": self.mean_log_odds, "bits": self.bits}
        return pd.DataFrame(told, index=pd.Index(self.columns, name="column"))

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Convert to plain JSON values, by column; what is infinite is None."""
        told = zip(self.columns, self.mean_log_odds.tolist(), self.bits.tolist(), strict=True)
        return {
            name: {
                "mean_log_odds": moved if np.isfinite(moved) else None,
                "bits": None if bits != bits else bits,
            }
            for name, moved, bits in told
        }

    def plot(self) -> Any:
        """Plot the columns that move predictions most as bars, with matplotlib."""
        n = min(len(self), MOST_SHOWN)
        plt = pyplot()
        figure, axes = plt.subplots(figsize=(7.2, 0.27 * n + 1.2), layout="constrained")
        moved = self.mean_log_odds[:n]
        most = moved[np.isfinite(moved)].max(initial=0.0) or 1.0
        axes.barh(np.arange(n), np.minimum(moved, 1.25 * most), color=FOR, height=0.66)
        for i in np.flatnonzero(np.isinf(moved)).tolist():
            at = (1.25 * most, i)
            axes.annotate("∞", at, xytext=(3, 0), textcoords="offset points", va="center")
        names = [c if len(c) <= LONGEST else f"{c[: LONGEST - 1]}…" for c in self.columns[:n]]
        axes.set_yticks(np.arange(n), [plot_text(name) for name in names], fontsize=9)
        axes.set_ylim(n - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        more = f", {len(self) - n} smaller ones are not shown" if len(self) > n else ""
        axes.set_xlabel(f"mean |log-odds| in {self.n_rows:,} rows{more}", fontsize=9)
        return shown_once(figure)


def importance(explanation: Explanation) -> Importance:
    """Measure how far each column moves the explained predictions."""
    said = {name: s for name, s in explanation.by_column().items() if name != BIAS}
    moved = np.array([_mean_size(scores) for scores in said.values()])
    order = np.argsort(-moved, kind="stable")
    statistics = explanation.statistics
    known = {} if statistics is None else column_information(statistics)
    bits = np.array([known[name].bits if name in known else np.nan for name in said])
    names = tuple(np.array(list(said), dtype=object)[order].tolist())
    return Importance(names, moved[order], bits[order], len(explanation))


def _told(moved: float) -> str:
    return f"{moved:.2f}" if np.isfinite(moved) else "∞"


def _mean_size(scores: FloatArray) -> float:
    return float(np.abs(log_odds(scores)).mean()) if len(scores) else 0.0
