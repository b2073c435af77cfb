"""Influence: how far each row that was learned moved a prediction, exactly.

A row is taken out of the sums, which is what never having learned it would have given, and the
prediction is made again. What was chosen by tuning, weights and corrections among it, stays as it
is: of the many rows that it was chosen on, one says little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.typing import CodeArray, FloatArray, IntArray, Label
from priory.data.columns import Frame, Labels
from priory.families.base import log
from priory.families.loo import LooRows, alike, loo_table
from priory.model.adding import times
from priory.model.class_prior import ClassPrior, class_probabilities
from priory.model.log_odds import log_odds
from priory.model.model import Model
from priory.model.row_explanation import class_place
from priory.model.term import Choice, Term, presence, presence_of
from priory.statistics.statistics import Statistics

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Influence", "influence"]

MOST_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Influence:
    """How far each row that was learned moved one prediction; print it to see the strongest.

    `log_odds` are rows × classes: the log-odds of a class as they are, less those without the row.
    `probability` is the same of P(k | x).

    >>> from priory import NaiveBayes
    >>> from priory.examples import play_tennis
    >>> X, y = play_tennis()
    >>> day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
    >>> found = NaiveBayes.textbook().fit(X, y).influence(day, X, y)
    >>> [int(row) for row in found.order("No")[:2]], found.log_odds[1].round(3).tolist()
    ([5, 1], [0.446, -0.446])
    """

    classes: tuple[Label, ...]
    prediction: Label
    labels: CodeArray
    log_odds: FloatArray
    probability: FloatArray

    def __len__(self) -> int:
        return len(self.log_odds)

    def order(self, label: Any = None) -> IntArray:
        """Sort the rows, those first that spoke most for a class, the predicted one by default."""
        return np.argsort(-self.log_odds[:, self._place(label)], kind="stable")

    def _place(self, label: Any) -> int:
        return class_place(self.classes, self.prediction if label is None else label)

    def __repr__(self) -> str:
        return f"<Influence of {len(self):,} rows on {self.prediction}>"

    def __str__(self) -> str:
        return aligned(self._rows())

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        return html_together(html_table(head, rows, words=(1,)))

    def _rows(self) -> list[tuple[str, ...]]:
        k, order = self._place(None), self.order()
        few = min(MOST_SHOWN, len(order))
        some = np.unique(np.concatenate([np.arange(few), np.arange(len(order) - few, len(order))]))
        head = ("row", "class", f"log-odds of {self.prediction}", "P")
        rows: list[tuple[str, ...]] = [head]
        return rows + [
            (
                str(i),
                str(self.classes[self.labels[i]]),
                f"{self.log_odds[i, k]:+.4f}",
                f"{self.probability[i, k]:+.4f}",
            )
            for i in order[some].tolist()
        ]

    def to_frame(self) -> pd.DataFrame:
        """Tabulate it: a row for each that was learned, the log-odds of each class."""
        import pandas as pd

        frame = pd.DataFrame(self.log_odds, columns=pd.Index(self.classes, name="class"))
        frame.index.name = "row"
        return frame


def influence(
    model: Model,
    weighed: Statistics,
    choices: Mapping[str, Choice],
    class_prior: ClassPrior,
    scale: float,
    row: Frame,
    learned: tuple[Frame, CodeArray, FloatArray | None],
) -> Influence:
    """Take each row out of the sums, and predict another row by the rest.

    `scale` is what the weights of rows were multiplied by.
    """
    if len(row) != 1:
        raise InputError(f"influence is on the prediction of one row, not of {len(row):,}.")
    if isinstance(class_prior, str) and class_prior == "words":
        raise SettingError("influence is not worked out for class_prior='words'.")
    frame, y, weight = learned
    amount = (np.ones(len(y)) if weight is None else weight) * scale
    loo = LooRows(y, amount)
    scores = np.tile(model.log_joint(row)[0], (len(frame), 1))
    scores += _prior_moved(model, weighed, class_prior, loo)
    for term in model.terms:
        if term.about != "correction" and term.weight:
            scores += _moved(term, choices[term.block.name], weighed, row, frame, loo)
    scores[amount == 0] = model.log_joint(row)[0]  # a row of weight 0 was never learned
    before, p = model.log_joint(row), model.posterior(row)[0]
    scores[np.isneginf(scores).all(axis=1)] = model.log_prior  # impossible without the row
    left = scores - scores.max(axis=1, keepdims=True)
    without = np.exp(left) / np.exp(left).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        odds = log_odds(before) - log_odds(scores)
    odds[np.isnan(odds)] = 0.0  # impossible, or certain, with the row and without it
    prediction = model.classes[int(model.predict(row)[0])]
    return Influence(model.classes, prediction, y, odds, p - without)


def _prior_moved(
    model: Model, statistics: Statistics, class_prior: ClassPrior, loo: LooRows
) -> FloatArray:
    """Work out log P(k) without each row, less log P(k)."""
    found = np.empty((len(loo), len(model.classes)))
    pairs, which = np.unique(np.stack([loo.y, loo.amount], axis=1), axis=0, return_inverse=True)
    for i, (k, amount) in enumerate(pairs.tolist()):
        rows, weight = statistics.rows.copy(), statistics.weight.copy()
        rows[int(k)] -= 1
        weight[int(k)] = max(weight[int(k)] - amount, 0.0) if rows[int(k)] > 0 else 0.0
        rest = replace(statistics, rows=rows, weight=weight)
        with np.errstate(invalid="ignore"):
            moved = log(class_probabilities(rest, class_prior)) - model.log_prior
        found[which.ravel() == i] = np.where(np.isnan(moved), 0.0, moved)
    return found


def _moved(
    term: Term, choice: Choice, statistics: Statistics, row: Frame, frame: Frame, loo: LooRows
) -> FloatArray:
    """Work out what a term says of the row without each other row, less what it says now.

    Rows that are alike in its columns, class and weight take the same away.
    """
    block, table = term.block, statistics.tables[term.block.name]
    column, asked = frame[block.name], term.column(row)
    now = _scored(term, asked, term.parameters)
    found = np.zeros((len(loo), len(now)))
    prior: Any = choice.prior
    take: Any = getattr(term.family, "loo_table", loo_table)
    if term.about == "missing":
        _, prior = presence(block, table, statistics.weight, choice.prior)
        column = Labels(column.missing.astype(np.int32), (False, True))
        take = partial(_presence_without, statistics.weight)
    leaders, where = alike(column, loo)
    moved = np.empty((len(leaders), len(now)))
    for i, leader in enumerate(leaders.tolist()):
        one = slice(leader, leader + 1)
        if loo.amount[leader] <= 0:
            moved[i] = 0.0
            continue
        rest = take(table, column.take(one), loo.take(one))
        after = _scored(term, asked, term.family.parameters(rest, prior))
        with np.errstate(invalid="ignore"):
            moved[i] = after - now
    found[:] = np.where(np.isnan(moved), 0.0, moved)[where]
    return found


def _presence_without(weight: FloatArray, table: Any, row: Labels, loo: LooRows) -> Any:
    """Count missing values without one row."""
    less = np.zeros_like(weight)
    less[loo.y[0]] = loo.amount[0]
    there = table.present - (0.0 if row.value(0) else less)
    return presence_of(np.maximum(there, 0.0), np.maximum(weight - less, 0.0))


def _scored(term: Term, column: Any, parameters: Any) -> FloatArray:
    """Score one row, with the weight of the term, and its offset where it says anything."""
    said = term.family.log_likelihood(column, parameters)[0]
    offset = 0.0 if term.offset is None or not said.any() else term.offset
    return times(term.weight, said) + offset
