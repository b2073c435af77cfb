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
        nobody = math.isinf(self.threshold)
        told = (
            f"none: no row is predicted {shown(self.positive)}"
            if nobody
            else probability(self.threshold)
        )
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
    (name, value) = given.popitem()
    curve = _Curve(swept)
    if name == "cost":
        costs = _check_cost(value)
        best = curve.cheapest(costs)
        words = f"for costs of {costs[0]:g} (false positive) and {costs[1]:g} (false negative)"
        return curve.at(best, positive, words, float(curve.costs(costs)[best]))
    _check_rate(name, value)
    words = (
        f"for a {name.replace('_', ' ')} of at {'most' if name[0] == 'f' else 'least'} {value:g}"
    )
    return curve.at(curve.best(name, float(value)), positive, words, None)  # type: ignore[arg-type]


class _Curve:
    """The metrics of each threshold, the highest first; at the first no row is positive."""

    def __init__(self, swept: Sweep) -> None:
        self.thresholds, hits, alarms = swept
        self.hits, self.alarms = hits, alarms
        with np.errstate(invalid="ignore"):  # without positive predictions the precision is NaN
            self.precision = hits / (hits + alarms)
        self.recall, self.false_positive_rate = hits / hits[-1], alarms / alarms[-1]

    def best(self, name: str, value: float) -> int:
        """Find the index of the best threshold that meets one rate."""
        rates: FloatArray = getattr(self, name)
        if name == "false_positive_rate":
            keeps, aim = rates <= value + ROUNDING, self.recall
        else:
            keeps = rates >= value - ROUNDING  # NaN never does
            aim = self.recall if name == "precision" else self.precision
        keeps[0] = False  # predicting no row positive is no solution
        if not keeps.any():
            self._refuse(name, value, rates[1:])
        return _argmax(aim, keeps)

    def _refuse(self, name: str, value: float, rates: FloatArray) -> None:
        least = name == "false_positive_rate"
        place = int(rates.argmin() if least else rates.argmax())
        raise SettingError(
            f"No threshold gives a {name.replace('_', ' ')} of at {'most' if least else 'least'} "
            f"{value:g}: the {'lowest' if least else 'highest'} is {rates[place]:.4g}, at "
            f"P ≥ {self.thresholds[place + 1]:.4g}."
        )

    def costs(self, costs: tuple[float, float]) -> FloatArray:
        """Compute the mean cost per row at each threshold."""
        missed = self.hits[-1] - self.hits
        total = self.hits[-1] + self.alarms[-1]
        return np.asarray((costs[0] * self.alarms + costs[1] * missed) / total)

    def cheapest(self, costs: tuple[float, float]) -> int:
        """Find the index of the threshold with the lowest cost."""
        return _argmax(-self.costs(costs), np.ones(len(self.thresholds), dtype=np.bool_))

    def at(self, place: int, positive: Label, asked: str, cost: float | None) -> Threshold:
        """Collect the metrics of one threshold."""
        precision, recall, false_positive_rate = (
            float(rate[place]) for rate in (self.precision, self.recall, self.false_positive_rate)
        )
        threshold = float(self.thresholds[place])
        return Threshold(threshold, positive, precision, recall, false_positive_rate, cost, asked)


def _argmax(aim: FloatArray, keeps: BoolArray) -> int:
    """Find the first index of the maximum, up to rounding."""
    among = np.flatnonzero(keeps)
    best = aim[among].max()
    return int(among[np.argmax(aim[among] >= best - ROUNDING * max(1.0, abs(best)))])


def _check_rate(name: str, value: object) -> None:
    check_number(name, value)
    if float(value) > 1:  # type: ignore[arg-type]
        raise SettingError(f"{name} must be between 0 and 1, not {value!r}.")


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
