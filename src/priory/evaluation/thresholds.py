"""Decision thresholds that meet a precision, a recall, a false positive rate or a cost."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from priory.base.errors import SettingError, check_number
from priory.base.formatting import aligned
from priory.base.html import html_table
from priory.base.typing import BoolArray, FloatArray, Label
from priory.evaluation.curves import Sweep
from priory.evaluation.rendering import four_digits, plain, probability, shown

__all__ = ["Threshold", "choose"]

ROUNDING = 1e-12
"""The rounding error allowed in sums of weights."""


@dataclass(frozen=True)
class Threshold:
    """A threshold and its metrics: a row is predicted positive if P(positive | x) ≥ threshold.

    It was chosen on these rows; on new ones it will do slightly worse.

    >>> from priory.evaluation import Evaluation
    >>> e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1])  # P(1 | x)
    >>> print(e.threshold(recall=0.9))
    threshold            0.35  for a recall of at least 0.9
    precision            0.6667
    recall               1.0000
    false positive rate  0.5000
    """

    threshold: float
    positive: Label
    precision: float
    """NaN if no row is predicted positive."""
    recall: float
    false_positive_rate: float
    cost: float | None
    """The mean cost per row, if costs were given."""
    asked: str
    """The requirement, in words."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values; an infinite threshold is None."""
        return dict(plain(asdict(self)))

    def __str__(self) -> str:
        return aligned(self._rows())

    def _repr_html_(self) -> str:
        return html_table(("", shown(self.positive)), self._rows(), words=(0, 1))

    def _rows(self) -> list[tuple[str, str]]:
        told = probability(self.threshold)
        if math.isinf(self.threshold):
            told = f"none: no row is predicted {shown(self.positive)}"
        rows = [
            ("threshold", f"{told}  {self.asked}"),
            ("precision", four_digits(self.precision)),
            ("recall", four_digits(self.recall)),
            ("false positive rate", four_digits(self.false_positive_rate)),
        ]
        if self.cost is not None:
            rows.append(("cost per row", f"{self.cost:.4g}"))
        return rows


def choose(
    swept: Sweep,
    positive: Label,
    precision: float | None = None,
    recall: float | None = None,
    false_positive_rate: float | None = None,
    cost: tuple[float, float] | None = None,
) -> Threshold:
    """Find the best threshold that meets one requirement.

    Of those that meet a precision or a false positive rate, the one with the highest recall; of
    those that meet a recall, the one with the highest precision; or the one with the lowest cost.
    Ties go to the highest threshold.
    """
    asked = {
        "precision": precision,
        "recall": recall,
        "false_positive_rate": false_positive_rate,
        "cost": cost,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    if len(given) != 1:
        raise SettingError(
            "Give exactly one of precision, recall, false_positive_rate and cost; there "
            f"{'are ' + ' and '.join(given) if given else 'is none'}."
        )
    name, value = given.popitem()
    thresholds, hits, alarms = swept
    with np.errstate(invalid="ignore"):  # without positive predictions the precision is NaN
        rates = {
            "precision": hits / (hits + alarms),
            "recall": hits / hits[-1],
            "false_positive_rate": alarms / alarms[-1],
        }
    per_row = None
    if name == "cost":
        of_alarm, of_miss = _check_cost(value)
        costs = (of_alarm * alarms + of_miss * (hits[-1] - hits)) / (hits[-1] + alarms[-1])
        best = _argmax(-costs, np.ones(len(costs), dtype=np.bool_))
        per_row = float(costs[best])
        words = f"for costs of {of_alarm:g} (false positive) and {of_miss:g} (false negative)"
    else:
        best = _best(thresholds, rates, name, _check_rate(name, value))
        words = f"for a {_bound(name)} {value:g}"
    found = {rate: float(values[best]) for rate, values in rates.items()}
    return Threshold(float(thresholds[best]), positive, **found, cost=per_row, asked=words)


def _best(thresholds: FloatArray, rates: dict[str, FloatArray], name: str, value: float) -> int:
    """Find the index of the best threshold that meets one rate."""
    rate, least = rates[name], name == "false_positive_rate"
    keeps = rate <= value + ROUNDING if least else rate >= value - ROUNDING  # NaN never does
    keeps[0] = False  # predicting no row positive is no solution
    if not keeps.any():
        place = 1 + int(rate[1:].argmin() if least else rate[1:].argmax())
        raise SettingError(
            f"No threshold gives a {_bound(name)} {value:g}: the {'lowest' if least else 'highest'}"
            f" is {rate[place]:.4g}, at P ≥ {thresholds[place]:.4g}."
        )
    return _argmax(rates["precision" if name == "recall" else "recall"], keeps)


def _bound(name: str) -> str:
    return f"{name.replace('_', ' ')} of at {'most' if name == 'false_positive_rate' else 'least'}"


def _argmax(aim: FloatArray, keeps: BoolArray) -> int:
    """Find the first index of the maximum, up to rounding."""
    among = np.flatnonzero(keeps)
    best = aim[among].max()
    return int(among[np.argmax(aim[among] >= best - ROUNDING * max(1.0, abs(best)))])


def _check_rate(name: str, value: Any) -> float:
    check_number(name, value)
    if float(value) > 1:
        raise SettingError(f"{name} must be between 0 and 1, not {value!r}.")
    return float(value)


def _check_cost(cost: Any) -> tuple[float, float]:
    try:
        false_positive, false_negative = cost
    except (TypeError, ValueError):
        raise SettingError(
            f"cost must be a pair, (of a false positive, of a false negative), not {cost!r}."
        ) from None
    for value in (false_positive, false_negative):
        check_number("cost", value)
    if not (false_positive or false_negative):
        raise SettingError("cost must be above 0 for at least one kind of error, not (0, 0).")
    return float(false_positive), float(false_negative)
