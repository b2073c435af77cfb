"""The worked sum of one prediction: prior, factors, joint and posterior, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.columns import Frame
from priory.errors import NoLikelihoodError
from priory.model import Model, Term
from priory.typing import FloatArray, IntArray, Label

__all__ = ["Explanation", "Factor", "WorkedRow", "explain"]

MOST_CLASSES = 6
MOST_PARTS = 8
LONGEST_VALUE = 40


@dataclass(frozen=True, eq=False)
class Factor:
    """Hold one factor of one row: what it is about and log P(value | k) of each class."""

    column: str
    value: Any
    about: str
    left_out: bool
    log_likelihood: FloatArray
    weight: float = 1.0
    """How far the factor is trusted: what it adds is weight × log_likelihood."""
    parts: tuple[tuple[str, FloatArray], ...] = ()
    """Of a text: what each of its words adds, those that tell classes apart most first."""
    formula: str | None = None
    """How the factor is written, where it is not P(column = value | class)."""


@dataclass(frozen=True, eq=False)
class WorkedRow:
    """Hold the sum of one row; print it to see it written out."""

    classes: tuple[Label, ...]
    log_prior: FloatArray
    factors: tuple[Factor, ...]
    log_joint: FloatArray
    posterior: FloatArray
    bias: FloatArray | None = None
    """What was learned to be added to each class, beside its prior and the factors."""

    def __str__(self) -> str:
        shown = np.sort(np.argsort(-self.posterior, kind="stable")[:MOST_CLASSES])
        lines = [("", [str(self.classes[k]) for k in shown])]
        lines.append(("P(class)", _numbers(self.log_prior, shown)))
        for factor in self.factors:
            lines.append((_title(factor), _factor_numbers(factor, shown)))
            lines += [(f"    {of}", _numbers(p, shown)) for of, p in factor.parts[:MOST_PARTS]]
            if len(factor.parts) > MOST_PARTS:
                lines.append((f"    and {len(factor.parts) - MOST_PARTS} more words", []))
        if self.bias is not None:
            lines.append(("× bias of the class", _numbers(self.bias, shown)))
        lines.append(("= P(class, row)", _numbers(self.log_joint, shown)))
        lines.append(("P(class | row)", [f"{self.posterior[k]:.4f}" for k in shown]))
        width = max(len(title) for title, _ in lines)
        cell = max(8, *(len(number) for _, numbers in lines for number in numbers))
        rows = [
            title.ljust(width) + "".join(f"  {number:>{cell}}" for number in numbers)
            for title, numbers in lines
        ]
        if len(shown) < len(self.classes):
            rows.append(f"({len(self.classes) - len(shown)} less probable classes are not shown)")
        return "\n".join(rows)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Hold the worked sums of some rows: a sequence of `WorkedRow`."""

    rows: tuple[WorkedRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> WorkedRow:
        return self.rows[row]

    def __iter__(self) -> Iterator[WorkedRow]:
        return iter(self.rows)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.rows))


def explain(model: Model, frame: Frame) -> Explanation:
    """Return the sum behind each row's prediction."""
    n, k = len(frame), len(model.classes)
    scores = []
    for term in model.terms:
        score = np.zeros((n, k))
        term.add_log_likelihood(frame, score)
        scores.append(score + _shared(term, frame)[:, None])
    columns = [term.column(frame) for term in model.terms]
    left_out = [
        term.family.leaves_out(column, term.parameters)
        for term, column in zip(model.terms, columns, strict=True)
    ]
    trust = [term.weight for term in model.terms]
    weighted = [w * score for w, score in zip(trust, scores, strict=True) if w]
    bias = model.biases(frame)
    start = model.log_prior + (0.0 if bias is None else bias)
    log_joint, posterior = start + sum(weighted, np.zeros((n, k))), model.posterior(frame)
    rows = []
    for i in range(n):
        factors = tuple(
            Factor(
                term.block.columns[-1] if term.about == "missing" else term.block.title,
                _value(term, column.value(i)),
                term.about,
                bool(out[i]),
                score[i],
                term.weight,
                _parts(term, column.take(slice(i, i + 1))),
                None if out[i] else _formula(term, column.value(i)),
            )
            for term, column, out, score in zip(model.terms, columns, left_out, scores, strict=True)
        )
        of_row = (log_joint[i], posterior[i], None if bias is None else bias[i])
        rows.append(WorkedRow(model.classes, model.log_prior, factors, *of_row))
    return Explanation(tuple(rows))


def _formula(term: Term, value: Any) -> str | None:
    return None if term.about == "missing" else term.family.formula(term.block, value)


def _value(term: Term, value: Any) -> Any:
    """Return a value as it is shown: a bin by its ends."""
    pairing = term.block.pairing
    if pairing is None or not isinstance(value, tuple):
        return value
    if pairing.is_of_two and None in (value if term.about == "edge" else value[-1:]):
        return None
    return tuple(
        v if v is None or pairing.edges[j] is None else pairing.shown(j, v).removeprefix("in ")
        for j, v in enumerate(value)
    )


def _parts(term: Term, row: Any) -> tuple[tuple[str, FloatArray], ...]:
    parts = term.family.parts(row, term.parameters)
    return tuple((title, term.weight * adds) for title, adds in parts)


def _shared(term: Term, frame: Frame) -> FloatArray:
    """Return what belongs to log P(value | class) although it is the same for every class."""
    try:
        shared = term.log_base_measure(frame)
    except NoLikelihoodError:
        return np.zeros(len(frame))
    return np.where(np.isnan(shared), 0.0, shared)


def _title(factor: Factor) -> str:
    power = "" if factor.weight == 1.0 else f"^{factor.weight:.2f}"
    if factor.about == "missing":
        return f"× P({factor.column} is {'missing' if factor.value else 'there'} | class){power}"
    if factor.formula is not None:
        return f"× [{factor.formula}]{power}" if power else f"× {factor.formula}"
    if factor.value is None or (factor.left_out and _is_all_gaps(factor.value)):
        return f"  {factor.column} is missing"
    value = _shown(factor.value)
    if factor.left_out:
        return f"  {factor.column} = {value} was never seen"
    return f"× P({factor.column} = {value} | class){power}"


def _is_all_gaps(value: Any) -> bool:
    return isinstance(value, tuple) and all(part is None for part in value)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value))
    if value is None:
        return "missing"
    if isinstance(value, float):
        return f"{value:g}"
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _factor_numbers(factor: Factor, shown: IntArray) -> list[str]:
    if factor.left_out:
        return ["–" for _ in shown]
    return _numbers(factor.weight * factor.log_likelihood, shown)


def _numbers(logs: FloatArray, shown: IntArray) -> list[str]:
    return [_number(float(logs[k])) for k in shown]


def _number(log_p: float) -> str:
    """Return a probability or density in four digits, as a power of e when it is tiny."""
    if -700 < log_p < 700 or log_p == -np.inf:
        return f"{np.exp(log_p):.4g}"
    return f"e^{log_p:.1f}"
