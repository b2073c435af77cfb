"""Sufficient reasons: the fewest columns that settle a prediction, whatever the others say."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError, check_number
from priory.base.formatting import shown
from priory.base.html import html_together
from priory.base.typing import Label
from priory.data.columns import Frame
from priory.explaining.candidates import Rules, candidates_of
from priory.explaining.changes import Changes
from priory.explaining.search import Problem, solve
from priory.explaining.what_if import SLACK
from priory.model.model import Model
from priory.statistics.statistics import Statistics

__all__ = ["Reasons", "sufficient_reasons"]


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """The columns that settle a prediction: with their values no others can change it.

    `is_sufficient` is always proved; `is_smallest` says that fewer columns would not be enough.
    (Marques-Silva et al. 2020 find such reasons of naive Bayes in log-linear time.)

    >>> from priory import NaiveBayes
    >>> X = {"smokes": ["yes", "yes", "no", "no"] * 9, "wet": [True, False] * 18}
    >>> model = NaiveBayes.textbook().fit(X, ["ill", "ill", "well", "well"] * 9)
    >>> print(model.sufficient_reasons({"smokes": "yes", "wet": True}))
    ill, because smokes = yes: no values of the 1 other column can change that.
    """

    prediction: Label
    values: dict[str, Any]
    others: tuple[str, ...]
    """The columns that may have any value that was learned."""
    is_smallest: bool

    def __repr__(self) -> str:
        return f"<Reasons: {self.prediction}, {len(self.values)} of {self._n} columns>"

    @property
    def _n(self) -> int:
        return len(self.values) + len(self.others)

    def __str__(self) -> str:
        because = " and ".join(f"{name} = {shown(v)}" for name, v in self.values.items())
        because = f", because {because}" if because else ", whatever the row is"
        n = len(self.others)
        rest = f"no values of the {n} other column{'s' * (n != 1)} can change that."
        smallest = "" if self.is_smallest else " Fewer columns may be enough."
        return f"{shown(self.prediction)}{because}: {rest}{smallest}"

    def _repr_html_(self) -> str:
        return html_together(remarks=[str(self)])

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        return {
            "prediction": self.prediction,
            "because": dict(self.values),
            "others": list(self.others),
            "is_smallest": self.is_smallest,
        }


def sufficient_reasons(
    model: Model,
    statistics: Statistics,
    row: Frame,
    fixed: Collection[str] = (),
    seconds: float = 2.0,
) -> Reasons:
    """Find the fewest columns of one row that settle its prediction."""
    if len(row) != 1:
        raise InputError(f"sufficient_reasons takes one row, not {len(row):,}.")
    check_number("seconds", seconds, above=0.0)
    rules = Rules.checked(statistics.schema.columns, None, fixed, None, None)
    columns, _ = candidates_of(model, statistics, row, rules)
    changes = Changes(model, statistics, row, columns)
    if not changes.is_tabulated:
        raise SettingError(
            "This model has factors of three columns and more, of which sufficient reasons are out "
            "of reach; structure='naive' has none."
        )
    here = int(model.predict(row)[0])
    rivals = [k for k in range(len(model.classes)) if k != here]

    def margins(scores: Any) -> Any:
        return scores[..., here, None] - scores[..., rivals]

    # The worst that free columns can do; two of them together at most what each pair of them can.
    worst = [np.minimum(margins(s), 0.0).min(axis=0, initial=0.0) for s in changes.alone]
    both = {
        pair: np.minimum(margins(s).min(axis=(0, 1)), 0.0) for pair, s in changes.together.items()
    }
    start = margins(changes.scores) + sum(worst) + sum(both.values())
    gains = [-w for w in worst]
    for (i, j), w in both.items():  # keeping either of two columns rules out what both could do
        gains[i], gains[j] = gains[i] - w, gains[j] - w
    problem = Problem(
        np.asarray(start),
        lambda m: np.asarray((m > SLACK).all(axis=-1)),
        [gain[None] for gain in gains],
        [np.ones(1) for _ in gains],
        {pair: w[None, None] for pair, w in both.items()},
    )
    found = solve(problem, seconds)
    kept = {c for c, _ in found.changes} if found.changes is not None else set(range(len(columns)))
    return Reasons(
        model.classes[here],
        {column.column: column.told(column.now) for i, column in enumerate(columns) if i in kept},
        tuple(column.column for i, column in enumerate(columns) if i not in kept),
        found.is_proved and not both and not changes.has_zeros,
    )
