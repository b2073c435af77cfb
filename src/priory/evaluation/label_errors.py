"""Label errors: rows whose class surprises a model that has not seen them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.formatting import aligned, shown
from priory.base.html import html_table, html_together
from priory.base.labels import label_array
from priory.base.typing import AnyArray, FloatArray, IntArray, Label
from priory.evaluation.validation import leave_one_out

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LabelErrors", "find_label_errors", "rank_labels"]

MOST_SHOWN = 20
TINY = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class LabelErrors:
    """All rows, those first whose label is most likely wrong; print it to see the first.

        log-odds = log P(label | row) − log of the largest P of any other class

    P(· | row) is that of a model that has not learned the row. Below 0 another class is more
    probable than the label.

    >>> y = np.arange(64) % 2
    >>> X = {"x": np.random.default_rng(0).normal(5 * y)}
    >>> y[10] = 1
    >>> errors = find_label_errors(X, y)
    >>> int(errors.rows[0]), errors.labels[0].item(), errors.suggested[0].item(), len(errors)
    (10, 1, 0, 64)
    """

    rows: IntArray
    """The numbers of the rows, counting from 0."""
    labels: AnyArray
    """The label of each."""
    suggested: AnyArray
    """The most probable class of each."""
    log_odds: FloatArray
    probability: FloatArray
    """P(label | row), without the row."""
    how: str

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_suspicious(self) -> int:
        """How many rows have another class that is more probable than their label."""
        return int((self.log_odds < 0).sum())

    def __repr__(self) -> str:
        return f"<LabelErrors, {self.how}: {self.n_suspicious:,} of {len(self):,} rows suspicious>"

    def __str__(self) -> str:
        return "\n".join([aligned(self._table()), *self._remarks()])

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        return html_together(html_table(head, rows, words=(1, 2)), remarks=self._remarks())

    def _table(self) -> list[tuple[str, ...]]:
        n = min(self.n_suspicious, MOST_SHOWN)
        told = zip(self.rows, self.labels, self.suggested, self.probability, strict=True)
        rows = [
            (str(row), shown(label), shown(other), f"{p:.4f}")
            for (row, label, other, p), _ in zip(told, range(n), strict=False)
        ]
        return [("row", "label", "rather", "P(label)"), *rows]

    def _remarks(self) -> list[str]:
        n, more = self.n_suspicious, self.n_suspicious - MOST_SHOWN
        rest = f"{more:,} more of them are not shown; " if more > 0 else ""
        return [f"({rest}{n:,} of {len(self):,} rows are suspicious, {self.how})"]

    def to_frame(self) -> pd.DataFrame:
        """Tabulate all rows, the most suspicious first."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def to_dict(self) -> dict[str, list[Any]]:
        """Convert to plain JSON values, column by column."""
        return {name: values.tolist() for name, values in self._columns().items()}

    def _columns(self) -> dict[str, AnyArray]:
        return {
            "row": self.rows,
            "label": self.labels,
            "suggested": self.suggested,
            "log_odds": self.log_odds,
            "probability": self.probability,
        }


def find_label_errors(X: Any, y: Any, model: Any = None, sample_weight: Any = None) -> LabelErrors:
    """Rank all rows by how likely their label is wrong.

    Each row is scored by a model that has not learned it: what was tuned is cross-fitted, and a
    row is subtracted from the sums, so this takes one fit and a few passes, not a fit for each
    fold. The model is `NaiveBayes()` unless given, fitted on these rows or not at all.

    >>> X = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"] * 9}
    >>> y = ["No", "No", "Yes", "Yes"] * 9
    >>> y[5] = "Yes"
    >>> find_label_errors(X, y).rows[:1]
    array([5])
    """
    from priory.estimators import NaiveBayes  # and scikit-learn

    if model is not None and not hasattr(model, "held_out"):
        raise SettingError(
            f"model must be one of priory's, whose sums can be subtracted, not {model!r:.60}."
        )
    left = leave_one_out(NaiveBayes() if model is None else model, X, y, sample_weight)
    return rank_labels(np.asarray(left.probabilities), left.true_codes, left.classes, left.how)


def rank_labels(
    probabilities: FloatArray, codes: AnyArray, classes: Sequence[Label], how: str
) -> LabelErrors:
    """Rank rows by the log-odds of their labels, given held-out probabilities, rows × classes.

    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    >>> rank_labels(p, np.array([1, 1, 1]), ("a", "b"), "held-out").rows.tolist()
    [0, 2, 1]
    """
    if len(classes) < 2:
        raise InputError("y must have two classes or more: of one alone no label can be wrong.")
    at = np.arange(len(probabilities))
    p = probabilities[at, codes]
    others = probabilities.copy()
    others[at, codes] = -1.0
    other = others.argmax(axis=1)
    odds = np.log(np.maximum(p, TINY)) - np.log(np.maximum(others[at, other], TINY))
    order = np.argsort(odds, kind="stable")
    names = label_array(classes)
    suggested = np.where(odds < 0, other, codes)
    given = (names[codes[order]], names[suggested[order]], odds[order], p[order])
    return LabelErrors(order, *given, how)
