"""Which of two models is better on the same rows, and whether that can be chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.errors import InputError, NoProbabilitiesError, SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together, shown_once
from priory.base.typing import FloatArray
from priory.evaluation.auc_difference import AucDifference, delong
from priory.evaluation.evaluation import Evaluation
from priory.evaluation.intervals import Interval, bootstrap, mean_of
from priory.evaluation.losses import log_losses
from priory.evaluation.predictions import check_same_rows
from priory.evaluation.rendering import four_digits, plain, shown

__all__ = ["Comparison", "compare"]

FEW = 25
"""Below so many disagreements McNemar's test is the exact binomial one."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Hold two evaluations of the same rows, and what sets them apart.

    Differences are second minus first, with their intervals: DeLong's for the AUC, else by the
    bootstrap over the rows.

    >>> from priory.evaluation import Evaluation
    >>> labels = [0, 0, 0, 1, 1, 1] * 10
    >>> a = Evaluation(labels, [0.2, 0.3, 0.4, 0.6, 0.7, 0.8] * 10, [0, 1])
    >>> b = Evaluation(labels, [0.2, 0.3, 0.6, 0.6, 0.4, 0.8] * 10, [0, 1])
    >>> print(compare(a, b, names=("naive", "joint")))
    60 rows    naive   joint  difference  95 %
    accuracy  1.0000  0.6667     -0.3333  -0.4500 to -0.2167
    log-loss  0.3635  0.5244     +0.1608  +0.1007 to +0.2210
    AUC       1.0000  0.8333     -0.1667  -0.2657 to -0.0676
    <BLANKLINE>
    right alone: naive 20, joint 0; McNemar's exact test p = 1.9e-06
    accuracy: naive is better
    log-loss: naive is better
    AUC: naive is better by 0.1667 (DeLong's test p = 0.00097)
    """

    first: Evaluation
    second: Evaluation
    names: tuple[str, str]
    right_alone: tuple[int, int]
    """How many rows the one alone predicted right, and the other alone."""
    p_value: float
    """McNemar's: how probable so uneven a share of the disagreements is by chance."""
    test: str
    """Which form of McNemar's test it is."""
    accuracy_difference: float
    accuracy_interval: Interval
    log_loss_difference: float | None
    """None where one of the two has no probabilities."""
    log_loss_interval: Interval | None
    level: float

    @property
    def auc_difference(self) -> float | None:
        """Return the difference of the areas under the ROC curves."""
        if self.log_loss_difference is None:
            return None
        return self.second.auc - self.first.auc

    @cached_property
    def auc(self) -> AucDifference:
        """Return the difference of the areas with its interval and p-value; see `delong`."""
        return delong(self.first, self.second, self.level)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain JSON values."""
        kept = {
            "names": self.names,
            "rows": self.first.n_rows,
            "level": self.level,
            "right_alone": self.right_alone,
            "test": self.test,
            "p_value": self.p_value,
            "accuracy_difference": self.accuracy_difference,
            "accuracy_interval": self.accuracy_interval,
            "log_loss_difference": self.log_loss_difference,
            "log_loss_interval": self.log_loss_interval,
            "auc_difference": self.auc_difference,
            "auc_interval": None,
            "auc_p_value": None,
        }
        if isinstance(told := self._auc(), AucDifference):
            kept |= {"auc_interval": told.interval, "auc_p_value": told.p_value}
        return dict(plain(kept))

    def plot(self) -> Any:
        """Draw both ROC curves over each other, and both reliabilities; return the figure."""
        from priory.evaluation.plots import plot_comparison

        return shown_once(plot_comparison(self))

    def __str__(self) -> str:
        head, rows = self._table()
        lines = [head, *rows]
        cells = aligned([row[:4] for row in lines], right=True).splitlines()
        table = [
            f"{line:<{max(map(len, cells))}}  {row[4]}".rstrip()
            for line, row in zip(cells, lines, strict=True)
        ]
        return "\n".join([*table, "", *self._words()])

    def __repr__(self) -> str:
        first, second = self.names
        return f"<Comparison of {first} and {second}, {self.first.n_rows} rows>"

    def _repr_html_(self) -> str:
        return html_together(html_table(*self._table()), remarks=self._words())

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        a, b = self.first, self.second
        names = tuple(shown(name, 20) for name in self.names)
        rows = [
            _row(
                "accuracy", a.accuracy, b.accuracy, self.accuracy_difference, self.accuracy_interval
            )
        ]
        if self.log_loss_difference is not None:
            difference, ends = self.log_loss_difference, self.log_loss_interval
            rows.append(_row("log-loss", a.log_loss, b.log_loss, difference, ends))
            told = self._auc()
            ends = told.interval if isinstance(told, AucDifference) else None
            rows.append(_row("AUC", a.auc, b.auc, b.auc - a.auc, ends))
        return (f"{a.n_rows} rows", *names, "difference", f"{100 * self.level:g} %"), rows

    def _words(self) -> list[str]:
        names = [shown(name, 20) for name in self.names]
        alone = ", ".join(f"{name} {n}" for name, n in zip(names, self.right_alone, strict=True))
        lines = [f"right alone: {alone}; {self.test} p = {self.p_value:.2g}"]
        better = int(self.accuracy_difference > 0)
        told = self.p_value < 1 - self.level
        lines.append(f"accuracy: {f'{names[better]} is better' if told else NO_DIFFERENCE}")
        if self.log_loss_difference is not None and self.log_loss_interval is not None:
            low, high = self.log_loss_interval
            better = int(self.log_loss_difference < 0)
            told = low > 0 or high < 0
            lines.append(f"log-loss: {f'{names[better]} is better' if told else NO_DIFFERENCE}")
            area = self._auc()
            words = area.verdict(*names) if isinstance(area, AucDifference) else area
            lines.append(f"AUC: {words}")
        return lines

    def _auc(self) -> AucDifference | str:
        """Return the difference of the areas, or why there is none."""
        try:
            return self.auc
        except (InputError, NoProbabilitiesError) as error:
            return f"no test. {error}"


NO_DIFFERENCE = "the difference may be chance"


def compare(
    first: Evaluation,
    second: Evaluation,
    names: tuple[str, str] = ("first", "second"),
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> Comparison:
    """Compare two evaluations of the same rows.

    McNemar's test asks whether the rows that one alone predicts right are shared evenly. With b
    and c of them it is the exact binomial test if b + c < 25, else

        χ² = (|b − c| − 1)² / (b + c), one degree of freedom

    and with sample weights χ² = (Σ w d)² / Σ (w d)², d = ±1 where one alone is right.

    >>> from priory.evaluation import Evaluation
    >>> a = Evaluation.of_predictions([0, 1, 1, 0], [0, 1, 0, 0])
    >>> b = Evaluation.of_predictions([0, 1, 1, 0], [0, 0, 0, 0])
    >>> comparison = compare(a, b)
    >>> comparison.right_alone, comparison.p_value
    ((1, 0), 1.0)
    """
    check_same_rows(first, second)
    if len(tuple(names)) != 2 or isinstance(names, str):
        raise SettingError(f"names must be two names, not {names!r}.")
    d = second.correct.astype(np.float64) - first.correct
    weights = np.ones(first.n_rows) if first.weights is None else first.weights
    counted = d[weights > 0]
    p_value, test = mcnemar(d, first.weights)

    def difference(values: FloatArray) -> tuple[float, Interval]:
        ends = bootstrap(
            mean_of(values), weights, level, n_resamples=n_resamples, random_state=random_state
        )
        return float(np.average(values, weights=weights)), Interval(*ends)

    of_loss: tuple[float | None, Interval | None] = (None, None)
    if first.has_probabilities and second.has_probabilities:
        losses = [log_losses(e.true_codes, e.probabilities) for e in (first, second)]
        of_loss = difference(losses[1] - losses[0])
    return Comparison(
        first,
        second,
        (str(names[0]), str(names[1])),
        (int((counted < 0).sum()), int((counted > 0).sum())),
        p_value,
        test,
        *difference(d),
        *of_loss,
        level,
    )


def mcnemar(d: FloatArray, weights: FloatArray | None) -> tuple[float, str]:
    """Return the p-value of McNemar's test and its name; d is −1, 0 or +1 for each row.

    >>> mcnemar(np.array([1.0, 1.0, 1.0, -1.0]), None)
    (0.625, "McNemar's exact test")
    """
    from scipy.stats import binomtest, chi2

    if weights is not None:
        wd = weights * d / weights.max()
        among = float((wd**2).sum())
        statistic = wd.sum() ** 2 / among if among else 0.0
        return float(chi2.sf(statistic, 1)), "McNemar's weighted test"
    b, c = int((d < 0).sum()), int((d > 0).sum())
    if b + c < FEW:
        p = float(binomtest(b, b + c).pvalue) if b + c else 1.0
        return p, "McNemar's exact test"
    return float(chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1)), "McNemar's test"


def _row(
    name: str, a: float, b: float, difference: float, ends: Interval | None
) -> tuple[str, ...]:
    told = "–" if np.isnan(difference) else f"{difference:+.4f}"
    known = ends is not None and not np.isnan(ends.low)
    interval = f"{ends.low:+.4f} to {ends.high:+.4f}" if ends and known else ""
    return name, four_digits(a), four_digits(b), told, interval
