"""The explanation of one prediction: the prior, the factors, their product, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from priory.base.errors import SettingError, listing
from priory.base.formatting import number, shown
from priory.base.labels import label_key
from priory.base.typing import FloatArray, IntArray, Label
from priory.families.described import FactorPart, Support
from priory.model.log_odds import log_odds

if TYPE_CHECKING:
    import pandas as pd

    from priory.text.analyzer import Analyzer

__all__ = ["BIAS", "PRIOR", "Interval", "Line", "RowExplanation", "RowFactor", "class_place"]

MOST_CLASSES = 6
MOST_PARTS = 8
PRIOR, BIAS = "P(class)", "bias"
"""How the class prior and the bias are named among the columns."""


class Line(NamedTuple):
    """One line of an explanation: its title and, unless it is a remark, its factors."""

    title: str
    log_p: FloatArray | None = None
    """The logarithm of the factor of each class; None for a remark."""
    left_out: bool = False
    support: Support | None = None
    """The counts that the factors were estimated from."""


class Interval(NamedTuple):
    """The ends of an interval of the probability of each class, its level, and what it is."""

    low: FloatArray
    high: FloatArray
    level: float
    how: str

    @property
    def title(self) -> str:
        """Its level, as a line of an explanation is titled."""
        return f"{100 * self.level:.4g} % interval"

    def shown(self, k: int) -> str:
        """Write the interval of one class."""
        return f"{self.low[k]:.3f}–{self.high[k]:.3f}"


@dataclass(frozen=True, eq=False, repr=False)
class RowFactor:
    """One factor of one row: its column, its value and log P(value | k) of each class."""

    column: str
    value: Any
    about: str
    left_out: bool
    log_likelihood: FloatArray
    weight: float = 1.0
    """The exponent of the factor: it contributes weight × log_likelihood."""
    parts: tuple[FactorPart, ...] = ()
    """Its factors by word or by column, if there are several."""
    together: tuple[FactorPart, ...] = ()
    """Sums over many words or columns; with `parts` they add up to log_likelihood."""
    notes: tuple[str, ...] = ()
    """Remarks, such as words that are not in the vocabulary."""
    formula: str = ""
    """Its formula, if it is one line."""
    noun: str = "columns"
    support: Support | None = None
    """The counts behind it, where it is one line."""
    analyzer: Analyzer | None = None
    """How its text was split into words, where it is one."""
    unknown: tuple[str, ...] = ()
    """The words and n-grams of its text that were never learned, or are left out."""
    told: str | None = None
    """The value as people know it, where it is counted as a number: a date, a category."""

    def __repr__(self) -> str:
        return f"<RowFactor {self.column} = {self.shown_value}>"

    @property
    def shown_value(self) -> str:
        """The value, briefly."""
        return shown(self.value) if self.told is None else self.told

    @property
    def log_factor(self) -> FloatArray:
        """What it adds to the score of each class: weight × log_likelihood."""
        if self.left_out or not self.weight:
            return np.zeros_like(self.log_likelihood)
        return self.weight * self.log_likelihood

    @property
    def title(self) -> str:
        """The column, or columns, and the value."""
        if self.about == "missing":
            return f"{self.column} is {'missing' if self.value else 'there'}"
        corrected = ", corrected" if self.about == "correction" else ""
        return f"{self.column} = {self.shown_value}{corrected}"

    def lines(self) -> list[Line]:
        """List the lines of the factor; their product is the factor."""
        if self.left_out and self.about == "correction":
            return []
        if self.left_out or not self.weight:
            return [Line(f"  {self._why_left_out()}", left_out=True)]
        remarks = [Line(f"    {note}") for note in self.notes]
        if not self.parts and not self.together:
            if self.unknown:  # nothing is said, not that every class is as probable
                return [Line(f"  {self.column} = {self.shown_value}"), *remarks]
            powered = _powered(self.formula, self.weight)
            line = Line(f"× {powered}", self.weight * self.log_likelihood, support=self.support)
            return [line, *remarks]
        heading = Line(f"  {self.column} = {self.shown_value}")
        return [heading, *self._part_lines(), *remarks]

    def _part_lines(self) -> list[Line]:
        parts = sorted(self.parts, key=lambda part: -_spread(part.log_p))
        lines = [
            (_powered(part.title, self.weight * part.exponent), part.log_p, part.support)
            for part in parts[:MOST_PARTS]
        ]
        if len(parts) > MOST_PARTS:
            rest = np.sum([part.log_p for part in parts[MOST_PARTS:]], axis=0)
            one = len(parts) == MOST_PARTS + 1
            noun = self.noun[:-1] if one else self.noun
            title = f"{len(parts) - MOST_PARTS} more {noun}"
            lines.append((_powered(title, self.weight), rest, None))
        lines += [(_powered(part.title, self.weight), part.log_p, None) for part in self.together]
        return [
            Line(f"×   {title}", self.weight * log_p, support=support)
            for title, log_p, support in lines
        ]

    def _why_left_out(self) -> str:
        if self.about == "missing":
            return f"whether {self.column} is missing has weight 0"
        if self.value is None or (self.left_out and _is_all_missing(self.value)):
            return f"{self.column} is missing"
        if not self.left_out:
            return f"{self.column} has weight 0"
        return f"{self.column} = {self.shown_value} was never seen"


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation:
    """The explanation of one prediction; print it to see every step.

    The product of `lines` is e^log_joint; normalised over the classes it is the posterior.

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook(smoothing=0)).update({"x": ["a", "b"]}, [0, 1])
    >>> row = classifier.explain({"x": "a"})[0]
    >>> print(row.text(counts=True))
                               0         1
    P(class)                 0.5       0.5
                          1 of 2    1 of 2
    × P(x = a | class)         1         0
                          1 of 1    0 of 1
    = P(class, row)          0.5         0
    P(class | row)        1.0000    0.0000
    """

    classes: tuple[Label, ...]
    log_prior: FloatArray
    factors: tuple[RowFactor, ...]
    log_joint: FloatArray
    posterior: FloatArray
    bias: FloatArray | None = None
    """The calibration bias of each class."""
    is_score: bool = False
    """Whether e^log_joint is a score, not a probability: because of weights, biases or a family
    without a likelihood."""
    prior_support: Support | None = None
    """How many rows of all rows are of each class, where the prior is their share."""
    interval: Interval | None = None
    """How sure the posterior is, where that was asked for."""

    @property
    def prediction(self) -> Label:
        """The most probable class."""
        return self.classes[self._best]

    @property
    def _best(self) -> int:
        return int(np.argmax(self.posterior))

    def lines(self) -> list[Line]:
        """List the prior, the factors and the bias, line by line."""
        lines = [Line(PRIOR, self.log_prior, support=self.prior_support)]
        for factor in self.factors:
            lines += factor.lines()
        if self.bias is not None:
            lines.append(Line("× bias of the class", self.bias))
        return lines

    def by_column(self) -> dict[str, FloatArray]:
        """Add up what each column, or pair, says: its factor, its being missing, its correction.

        With the class prior and the bias, under the name "bias", the sums are the score of each
        class, up to what is the same for all of them.
        """
        found: dict[str, FloatArray] = {}
        for factor in self.factors:
            if not factor.left_out and factor.weight:
                found[factor.column] = found.get(factor.column, 0.0) + factor.log_factor
        return found if self.bias is None else found | {BIAS: self.bias}

    def contributions(
        self, label: Any = None, against: Any = None
    ) -> list[tuple[str, float, RowFactor | None]]:
        """List what each factor adds to the log-odds of a class, the predicted one by default.

            log P(v | k)^w − mean over the other classes of log P(v | j)^w

        The prior comes first, the bias last; they add up to the log-odds of the class. With
        `against` the odds are those to one other class.

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"]}
        >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "No", "Yes"])
        >>> row = classifier.explain({"outlook": "Sunny"})[0]
        >>> [(title, round(said, 3)) for title, said, _ in row.contributions("No")]
        [('P(class)', 1.099), ('outlook = Sunny', 0.588)]
        """
        k = self._best if label is None else class_place(self.classes, label)
        other = None if against is None else class_place(self.classes, against, "against")
        found: list[tuple[str, FloatArray, RowFactor | None]] = [(PRIOR, self.log_prior, None)]
        for factor in self.factors:
            if not factor.left_out and factor.weight:
                found.append((factor.title, factor.log_factor, factor))
        if self.bias is not None:
            found.append((BIAS, self.bias, None))
        return [(title, float(log_odds(s, other)[k]), factor) for title, s, factor in found]

    @property
    def is_impossible(self) -> bool:
        """Whether no class allows the row; the posterior is then the class prior."""
        return bool(np.isneginf(self.log_joint).all())

    def cells(self, counts: bool = False) -> tuple[list[tuple[str, list[str]]], list[str]]:
        """Format the titles and numbers of all lines, and the remarks below them."""
        some = self.shown_classes()
        rows = [("", [shown(self.classes[k]) for k in some])]
        for line in self.lines():
            if line.log_p is None:
                numbers = ["–" for _ in some] if line.left_out else []
            else:
                numbers = _numbers(line.log_p, some)
            rows.append((_on_one_line(line.title), numbers))
            if counts and line.support is not None:
                rows.append(("", [line.support.shown(k) for k in some.tolist()]))
        title = "= score" if self.is_score else "= P(class, row)"
        rows.append((title, _numbers(self.log_joint, some)))
        rows.append(("P(class | row)", [f"{self.posterior[k]:.4f}" for k in some]))
        if (interval := self.interval) is not None:
            rows.append((interval.title, [interval.shown(k) for k in some.tolist()]))
        return rows, self.remarks()

    def shown_classes(self) -> IntArray:
        """Find the classes that are shown: the most probable ones, in their order."""
        return np.sort(np.argsort(-self.posterior, kind="stable")[:MOST_CLASSES])

    def remarks(self) -> list[str]:
        """List what is to be said below the numbers."""
        remarks = []
        if self.is_impossible:
            remarks.append("(impossible under every class: the class prior is used instead)")
        if (more := len(self.classes) - MOST_CLASSES) > 0:
            remarks.append(f"({more} less probable classes are not shown)")
        if self.interval is not None:
            remarks.append(f"(the interval: {self.interval.how})")
        return remarks

    def __repr__(self) -> str:
        return f"<RowExplanation: {self.prediction}, P = {self.posterior[self._best]:.4f}>"

    def _repr_html_(self) -> str:
        from priory.model.explanation_html import row_html

        return row_html(self)

    def __str__(self) -> str:
        return self.text()

    def text(self, counts: bool = False) -> str:
        """Write the lines as a table, with the counts behind each number if asked for."""
        lines, remarks = self.cells(counts)
        width = max(len(title) for title, numbers in lines if numbers)
        cell = max(8, *(len(number) for _, numbers in lines for number in numbers))
        rows = [
            (title.ljust(width) + "".join(f"  {number:>{cell}}" for number in numbers)).rstrip()
            for title, numbers in lines
        ]
        return "\n".join([*rows, *remarks])

    def plot(self, kind: str = "waterfall", label: Any = None, against: Any = None) -> Any:
        """Plot what each factor adds to the log-odds, with matplotlib.

        "waterfall" goes from the prior to the prediction, for one class (the predicted one) against
        another (the next probable one); "bars" shows all classes side by side.
        """
        from priory.model.explanation_plots import plot_bars, plot_waterfall

        if kind == "waterfall":
            return plot_waterfall(self, label, against)
        if kind != "bars":
            raise SettingError(f"kind must be 'waterfall' or 'bars', not {kind!r}.")
        if label is not None or against is not None:
            raise SettingError("kind='bars' shows all classes: leave label and against out.")
        return plot_bars(self)

    def to_frame(self) -> pd.DataFrame:
        """Tabulate it, a row for each factor and class; the words of a text are rows of their own.

        `log_odds` is what the factor adds to the log-odds of the class, `factor` what it multiplies
        its odds by; `count` of `total` is what it was estimated from.
        """
        import pandas as pd

        return pd.DataFrame(self._records())

    def _records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []

        def add(head: dict[str, Any], log_p: FloatArray, support: Support | None) -> None:
            odds = log_odds(log_p)
            with np.errstate(over="ignore"):
                factors = np.exp(odds)
            for k, label in enumerate(self.classes):
                count = None if support is None or support.seen is None else support.seen[k]
                total = None if support is None else support.total[k]
                told = {"class": label, "log_odds": odds[k], "factor": factors[k]}
                found.append({**head, **told, "count": count, "total": total})

        def head(column: str, value: Any, about: str, weight: float = 1.0) -> dict[str, Any]:
            return {"column": column, "value": value, "about": about, "weight": weight}

        add(head(PRIOR, None, "prior"), self.log_prior, self.prior_support)
        for factor in self.factors:
            own = factor.column, factor.value, factor.about, factor.weight
            if factor.left_out or not factor.weight:
                add(head(*own), np.zeros(len(self.classes)), None)
            elif factor.parts or factor.together:
                for part in (*factor.parts, *factor.together):
                    said = head(factor.column, part.name or part.title, factor.about, factor.weight)
                    add(said, factor.weight * part.log_p, part.support)
            else:
                add(head(*own), factor.log_factor, factor.support)
        if self.bias is not None:
            add(head(BIAS, None, "bias"), self.bias, None)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values; the logarithm of 0 is None.

        Numbers by class are listed in the order of `classes`, which are the labels as text.
        """
        names = [str(label) for label in self.classes]

        def by_class(values: FloatArray) -> dict[str, float | None]:
            return {
                name: float(x) if np.isfinite(x) else None
                for name, x in zip(names, values, strict=True)
            }

        def counted(support: Support | None) -> dict[str, Any] | None:
            if support is None:
                return None
            count = None if support.seen is None else by_class(support.seen)
            return {"count": count, "total": by_class(support.total)}

        return {
            "prediction": self.prediction,
            "log_prior": by_class(self.log_prior),
            "prior_counts": counted(self.prior_support),
            "factors": [
                {
                    "column": factor.column,
                    "value": factor.value,
                    "about": factor.about,
                    "left_out": factor.left_out,
                    "weight": factor.weight,
                    "log_likelihood": by_class(factor.log_likelihood),
                    "log_odds": by_class(log_odds(factor.log_factor)),
                    "counts": counted(factor.support),
                    "parts": [
                        {
                            "factor": part.title,
                            "exponent": part.exponent,
                            "log": by_class(part.log_p),
                            "counts": counted(part.support),
                        }
                        for part in (*factor.parts, *factor.together)
                    ],
                    "unknown": list(factor.unknown),
                    "notes": list(factor.notes),
                }
                for factor in self.factors
            ],
            "bias": None if self.bias is None else by_class(self.bias),
            "is_score": self.is_score,
            "log_joint": by_class(self.log_joint),
            "posterior": by_class(self.posterior),
            "interval": None
            if self.interval is None
            else {
                "level": self.interval.level,
                "how": self.interval.how,
                "low": by_class(self.interval.low),
                "high": by_class(self.interval.high),
            },
        }


def class_place(classes: tuple[Label, ...], label: Any, name: str = "label") -> int:
    """Find a class among the classes, or say which there are.

    >>> class_place(("No", "Yes"), "Yes")
    1
    """
    for k, known in enumerate(classes):
        if known is label or label_key(known) == label_key(label):
            return k
    raise SettingError(f"{name} must be one of the classes, {listing(classes)}, not {label!r:.60}.")


def _powered(formula: str, exponent: float) -> str:
    """Add an exponent to a formula, in brackets if it is a product or a quotient."""
    if exponent == 1.0:
        return formula
    is_plain = formula.startswith("P(") and ") / P(" not in formula
    return f"{formula}^{exponent:.4g}" if is_plain else f"[{formula}]^{exponent:.4g}"


def _spread(log_p: FloatArray) -> float:
    """Measure how far a part separates the classes; infinite if some become impossible."""
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(np.ptp(log_p), nan=np.inf))


def _is_all_missing(value: Any) -> bool:
    return isinstance(value, tuple) and all(part is None for part in value)


def _on_one_line(title: str) -> str:
    """Replace line breaks, which names of columns may have."""
    return "".join(" " if c in "\n\r\t\v\f" else c for c in title)


def _numbers(logs: FloatArray, some: IntArray) -> list[str]:
    return [number(float(logs[k])) for k in some]
