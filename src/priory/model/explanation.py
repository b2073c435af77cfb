"""Explanations: the prior, factors, joint and posterior of a prediction, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from priory.base.formatting import number, shown
from priory.base.html import html_table, html_together
from priory.base.typing import FloatArray, IntArray, Label
from priory.data.columns import Frame
from priory.families.described import FactorPart, FactorParts
from priory.model.model import Model
from priory.model.term import Term

__all__ = ["Explanation", "Line", "RowExplanation", "RowFactor", "explain"]

MOST_CLASSES = 6
MOST_PARTS = 8
MOST_ROWS = 20
"""The number of rows that a notebook shows."""


class Line(NamedTuple):
    """One line of an explanation: its title and, unless it is a remark, its factors."""

    title: str
    log_p: FloatArray | None = None
    """The logarithm of the factor of each class; None for a remark."""
    left_out: bool = False


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

    def __repr__(self) -> str:
        return f"<RowFactor {self.column} = {shown(self.value)}>"

    def lines(self) -> list[Line]:
        """List the lines of the factor; their product is the factor."""
        if self.left_out and self.about == "correction":
            return []
        if self.left_out or not self.weight:
            return [Line(f"  {self._why_left_out()}", left_out=True)]
        remarks = [Line(f"    {note}") for note in self.notes]
        if not self.parts and not self.together:
            powered = _powered(self.formula, self.weight)
            return [Line(f"× {powered}", self.weight * self.log_likelihood), *remarks]
        heading = Line(f"  {self.column} = {shown(self.value)}")
        return [heading, *self._part_lines(), *remarks]

    def _part_lines(self) -> list[Line]:
        parts = sorted(self.parts, key=lambda part: -_spread(part.log_p))
        lines = [
            (_powered(part.title, self.weight * part.exponent), part.log_p)
            for part in parts[:MOST_PARTS]
        ]
        if len(parts) > MOST_PARTS:
            rest = np.sum([part.log_p for part in parts[MOST_PARTS:]], axis=0)
            one = len(parts) == MOST_PARTS + 1
            noun = self.noun[:-1] if one else self.noun
            title = f"{len(parts) - MOST_PARTS} more {noun}"
            lines.append((_powered(title, self.weight), rest))
        lines += [(_powered(part.title, self.weight), part.log_p) for part in self.together]
        return [Line(f"×   {title}", self.weight * log_p) for title, log_p in lines]

    def _why_left_out(self) -> str:
        if self.about == "missing":
            return f"whether {self.column} is missing has weight 0"
        if self.value is None or (self.left_out and _is_all_missing(self.value)):
            return f"{self.column} is missing"
        if not self.left_out:
            return f"{self.column} has weight 0"
        return f"{self.column} = {shown(self.value)} was never seen"


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation:
    """The explanation of one prediction; print it to see every step.

    The product of `lines` is e^log_joint; normalised over the classes it is the posterior.

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook(smoothing=0)).update({"x": ["a", "b"]}, [0, 1])
    >>> print(classifier.explain({"x": "a"})[0])
                               0         1
    P(class)                 0.5       0.5
    × P(x = a | class)         1         0
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

    def lines(self) -> list[Line]:
        """List the prior, the factors and the bias, line by line."""
        lines = [Line("P(class)", self.log_prior)]
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
                said = factor.weight * factor.log_likelihood
                found[factor.column] = found.get(factor.column, 0.0) + said
        return found if self.bias is None else found | {"bias": self.bias}

    @property
    def is_impossible(self) -> bool:
        """Whether no class allows the row; the posterior is then the class prior."""
        return bool(np.isneginf(self.log_joint).all())

    def cells(self) -> tuple[list[tuple[str, list[str]]], list[str]]:
        """Format the titles and numbers of all lines, and the remarks below them."""
        some = np.sort(np.argsort(-self.posterior, kind="stable")[:MOST_CLASSES])
        rows = [("", [str(self.classes[k]) for k in some])]
        for line in self.lines():
            if line.log_p is None:
                numbers = ["–" for _ in some] if line.left_out else []
            else:
                numbers = _numbers(line.log_p, some)
            rows.append((_on_one_line(line.title), numbers))
        title = "= score" if self.is_score else "= P(class, row)"
        rows.append((title, _numbers(self.log_joint, some)))
        rows.append(("P(class | row)", [f"{self.posterior[k]:.4f}" for k in some]))
        remarks = []
        if self.is_impossible:
            remarks.append("(impossible under every class: the class prior is used instead)")
        if len(some) < len(self.classes):
            more = len(self.classes) - len(some)
            remarks.append(f"({more} less probable classes are not shown)")
        return rows, remarks

    def __repr__(self) -> str:
        best = int(np.argmax(self.posterior))
        return f"<RowExplanation: {self.classes[best]}, P = {self.posterior[best]:.4f}>"

    def _repr_html_(self) -> str:
        ((_, classes), *rows), remarks = self.cells()
        blank = [""] * len(classes)
        lines = [(title, *(numbers or blank)) for title, numbers in rows]
        results = range(len(lines) - 2, len(lines))
        return html_together(html_table(("", *classes), lines, bold=results), remarks=remarks)

    def __str__(self) -> str:
        lines, remarks = self.cells()
        width = max(len(title) for title, numbers in lines if numbers)
        cell = max(8, *(len(number) for _, numbers in lines for number in numbers))
        rows = [
            (title.ljust(width) + "".join(f"  {number:>{cell}}" for number in numbers)).rstrip()
            for title, numbers in lines
        ]
        return "\n".join([*rows, *remarks])


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanations of predictions: a sequence of `RowExplanation`.

    >>> from priory import Classifier
    >>> classifier = Classifier().update({"x": ["a", "b", "b"]}, [0, 1, 1])
    >>> explanation = classifier.explain({"x": ["a", "b"]})
    >>> len(explanation), explanation[0].factors[0].column
    (2, 'x')
    """

    rows: tuple[RowExplanation, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> RowExplanation:
        return self.rows[row]

    def __iter__(self) -> Iterator[RowExplanation]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} row{'s' * (len(self) != 1)}>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.rows))

    def _repr_html_(self) -> str:
        more = len(self) - MOST_ROWS
        remarks = [f"({more:,} more rows are not shown)"] if more > 0 else []
        some = (row._repr_html_() for row in self.rows[:MOST_ROWS])
        return html_together(*some, remarks=remarks)


def explain(model: Model, frame: Frame) -> Explanation:
    """Explain the prediction of each row."""
    n, k = len(frame), len(model.classes)
    columns = [term.column(frame) for term in model.terms]
    scores, left_out = [], []
    for term, column in zip(model.terms, columns, strict=True):
        score = np.zeros((n, k))
        term.add_log_likelihood(frame, score)
        if term.family.base_measure_in_joint and term.about == "value":
            score += term.family.log_base_measure(column, term.parameters)[:, None]
        scores.append(score)
        left_out.append(term.family.leaves_out(column, term.parameters))
    bias = model.biases(frame)
    if bias is not None and not bias.any():
        bias = None
    log_joint = model.log_joint(frame) + model.log_constants(frame)[:, None]
    posterior = model.posterior(frame)
    is_score = bias is not None or any(
        term.weight != 1.0 or not term.family.is_likelihood for term in model.terms
    )
    rows = []
    for i in range(n):
        factors = tuple(
            _factor(term, column.take(slice(i, i + 1)), score[i], bool(out[i]))
            for term, column, out, score in zip(model.terms, columns, left_out, scores, strict=True)
        )
        of_row = (log_joint[i], posterior[i], None if bias is None else bias[i], is_score)
        rows.append(RowExplanation(model.classes, model.log_prior, factors, *of_row))
    return Explanation(tuple(rows))


def _factor(term: Term, row: Any, score: FloatArray, left_out: bool) -> RowFactor:
    block, value = term.block, row.value(0)
    name = block.columns[-1] if term.about == "missing" else block.title
    if term.about == "correction" and not left_out:
        formula = term.family.formula(block, value, term.parameters)
        return RowFactor(name, _value(term, value), term.about, False, score, formula=formula)
    told = (name, _value(term, value), term.about, left_out, score, term.weight)
    if left_out:
        return RowFactor(*told)
    if term.about == "missing":
        return RowFactor(*told, formula=f"P({name} is {'missing' if value else 'there'} | class)")
    parts = term.family.parts(block, row, term.parameters) or FactorParts(())
    is_one_line = not parts.each and not parts.together
    return RowFactor(
        *told,
        tuple(parts.each),
        tuple(parts.together),
        tuple(parts.notes),
        term.family.formula(block, value, term.parameters) if is_one_line else "",
        parts.noun,
    )


def _value(term: Term, value: Any) -> Any:
    """Convert a value for display: a bin to its ends."""
    pairing = term.block.pairing
    if pairing is None or not isinstance(value, tuple):
        return value
    if pairing.is_conditional and value[-1] is None:
        return None
    return tuple(
        v if v is None or pairing.edges[j] is None else pairing.shown(j, v).removeprefix("in ")
        for j, v in enumerate(value)
    )


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
