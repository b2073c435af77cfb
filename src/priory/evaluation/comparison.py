"""Two models on the same rows: which is better, and whether the difference is significant."""

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
"""With fewer disagreements McNemar's test is the exact binomial test."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two evaluations of the same rows, and their differences.

    Differences are second minus first. Their intervals are DeLong's for the AUC, otherwise
    bootstrapped over the rows.

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
    correct where the other is wrong: naive 20, joint 0; McNemar's exact test p = 1.9e-06
    accuracy: naive is better
    log-loss: naive is better
    AUC: naive is better by 0.1667 (DeLong's test p = 0.00097)
    """

    first: Evaluation
    second: Evaluation
    names: tuple[str, str]
    only_correct: tuple[int, int]
    """How many rows only the first predicted correctly, and how many only the second."""
    p_value: float
    """The p-value of McNemar's test: of a split of the disagreements at least this uneven."""
    test: str
    """Which form of McNemar's test was used."""
    accuracy_difference: float
    accuracy_interval: Interval
    log_loss_difference: float | None
    """None if one of the two has no probabilities."""
    log_loss_interval: Interval | None
    level: float

    @property
    def auc_difference(self) -> float | None:
        """The difference of the areas under the ROC curves."""
        if self.log_loss_difference is None:
            return None
        return self.second.auc - self.first.auc

    @cached_property
    def auc(self) -> AucDifference:
        """The difference of the areas with its interval and p-value; see `delong`."""
        return delong(self.first, self.second, self.level)

    def to_dict(self) -> dict[str, Any]:
        """Convert the comparison to plain JSON values."""
        kept = {
            "names": self.names,
            "rows": self.first.n_rows,
            "level": self.level,
            "only_correct": self.only_correct,
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
        """Plot both ROC curves and both reliability curves; return the matplotlib figure."""
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
        difference, ends = self.accuracy_difference, self.accuracy_interval
        rows = [_row("accuracy", a.accuracy, b.accuracy, difference, ends)]
        if self.log_loss_difference is not None:
            loss, of_loss = self.log_loss_difference, self.log_loss_interval
            rows.append(_row("log-loss", a.log_loss, b.log_loss, loss, of_loss))
            told = self._auc()
            of_area = told.interval if isinstance(told, AucDifference) else None
            rows.append(_row("AUC", a.auc, b.auc, b.auc - a.auc, of_area))
        return (f"{a.n_rows} rows", *names, "difference", f"{100 * self.level:g} %"), rows

    def _words(self) -> list[str]:
        names = [shown(name, 20) for name in self.names]
        alone = ", ".join(f"{name} {n}" for name, n in zip(names, self.only_correct, strict=True))
        lines = [f"correct where the other is wrong: {alone}; {self.test} p = {self.p_value:.2g}"]

        def add(metric: str, second_is_better: bool, significant: bool) -> None:
            better = f"{names[second_is_better]} is better"
            lines.append(f"{metric}: {better if significant else 'no significant difference'}")

        add("accuracy", self.accuracy_difference > 0, self.p_value < 1 - self.level)
        if self.log_loss_difference is not None and self.log_loss_interval is not None:
            low, high = self.log_loss_interval
            add("log-loss", self.log_loss_difference < 0, low > 0 or high < 0)
            area = self._auc()
            words = area.verdict(*names) if isinstance(area, AucDifference) else area
            lines.append(f"AUC: {words}")
        return lines

    def _auc(self) -> AucDifference | str:
        """Test the areas, or say why there is no test."""
        try:
            return self.auc
        except (InputError, NoProbabilitiesError) as error:
            return f"no test. {error}"


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

    McNemar's test asks whether the rows that only one model predicts correctly are split evenly.
    With b and c of them it is the exact binomial test if b + c < 25, else

        χ² = (|b − c| − 1)² / (b + c), one degree of freedom

    and with sample weights χ² = (Σ w d)² / Σ (w d)², d = ±1 where only one is correct.

    >>> from priory.evaluation import Evaluation
    >>> a = Evaluation.of_predictions([0, 1, 1, 0], [0, 1, 0, 0])
    >>> b = Evaluation.of_predictions([0, 1, 1, 0], [0, 0, 0, 0])
    >>> comparison = compare(a, b)
    >>> comparison.only_correct, comparison.p_value
    ((1, 0), 1.0)
    """
    check_same_rows(first, second)
    if len(tuple(names)) != 2 or isinstance(names, str):
        raise SettingError(f"names must be two names, not {names!r}.")
    d = second.correct.astype(np.float64) - first.correct
    weights = first.row_weights
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
    """Compute the p-value of McNemar's test, and name the test; d is −1, 0 or +1 for each row.

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
