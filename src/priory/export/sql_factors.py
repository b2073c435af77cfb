"""What each factor of a model adds to the score of a class, as expressions of SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from typing import Any

from priory.base.typing import Label
from priory.data.schema import Kind
from priory.export.refusals import grid, no_form, writer
from priory.export.sql_expressions import (
    column_sql,
    double_sql,
    literal_sql,
    missing_sql,
    number_sql,
    sum_sql,
)
from priory.families.bernoulli import Bernoulli
from priory.families.binomial import Binomial
from priory.families.categorical import Categorical
from priory.families.conditional import Conditional
from priory.families.correction import Correction
from priory.families.gaussian import Gaussian
from priory.families.histogram import Histogram
from priory.families.multinomial import Complement, Multinomial
from priory.families.pair_counts import PairCounts
from priory.families.poisson import Poisson
from priory.families.student_t import StudentT
from priory.families.transforms import Identity, LogTransform
from priory.model.model import Model
from priory.model.term import Term

__all__ = ["biases", "is_text", "scores_sql", "weighted"]

FORMAT, NOTHING = "SQL", number_sql(0.0)


def weighted(scores: list[str], weight: float) -> list[str]:
    """Multiply the scores of all classes by the weight of a factor."""
    return scores if weight == 1.0 else [f"{number_sql(weight)} * ({score})" for score in scores]


def biases(model: Model, texts: Set[str]) -> list[list[str]]:
    """Add the bias of each class, scaled by the fraction of the columns that contribute."""
    terms = [term for term in model.terms if term.offset is not None]
    if model.bias is None or not model.bias.any():
        return []
    said = [_contributes(term, term.block.name in texts) for term in terms]
    there = sum_sql(f"CASE WHEN {some} THEN {number_sql(1.0)} ELSE {NOTHING} END" for some in said)
    return [[f"{number_sql(b / len(terms))} * ({there})" for b in model.bias]]


def _contributes(term: Term, text: bool) -> str:
    """Write the condition that a factor contributes: its value is neither missing nor unseen."""
    p, block = term.parameters, term.block
    if block.kind is Kind.COUNTS:
        if isinstance(term.family, Bernoulli):
            return "TRUE"
        return f"({' OR '.join(f'{double_sql(c)} > 0' for c in block.columns)})"
    labels: Sequence[Label] | None = None
    if isinstance(p, PairCounts):
        binned = block.pairing is not None and block.pairing.edges[-1] is not None
        labels = None if binned else p.children
    elif isinstance(term.family, Categorical) and term.family.unseen != "smooth":
        labels = [label for v, label in enumerate(p.labels) if p.log_p[v].any()]
    if labels is not None:
        known = ", ".join(literal_sql(label) for label in labels)
        return f"{column_sql(block.columns[-1])} IN ({known})" if known else "FALSE"
    columns = block.columns if block.pairing is None else block.columns[-1:]
    return f"NOT ({' OR '.join(missing_sql(c, text) for c in columns)})"


def scores_sql(term: Term, n_classes: int, text: bool) -> list[str]:
    """Write the contribution of a factor to the score of each class."""
    if term.about == "missing":
        p, missing = term.parameters, missing_sql(term.block.columns[-1], text)
        scores = zip(map(number_sql, p.log_on[0]), map(number_sql, p.log_off[0]), strict=True)
        return [f"CASE WHEN {missing} THEN {on} ELSE {off} END" for on, off in scores]
    write = writer(term, WRITERS, FORMAT)
    return [write(term, k) for k in range(n_classes)]


def is_text(term: Term) -> bool:
    """Tell whether a column holds strings or booleans, which cannot be NaN."""
    p = term.parameters
    return _are_texts(p.children if isinstance(p, PairCounts) else getattr(p, "labels", ()))


def _are_texts(labels: Sequence[Label]) -> bool:
    return any(isinstance(label, str | bool) for label in labels)


def _categorical(term: Term, k: int) -> str:
    family: Any = term.family
    if family.unseen == "error":
        raise no_form(term, FORMAT, "unseen='error' has no SQL form; use 'skip' or 'smooth'")
    column, p = column_sql(term.block.columns[0]), term.parameters
    cases = "".join(
        f" WHEN {column} = {literal_sql(label)} THEN {number_sql(p.log_p[v, k])}"
        for v, label in enumerate(p.labels)
    )
    unseen = p.log_p[len(p.labels), k] if family.unseen == "smooth" else 0.0
    missing = missing_sql(term.block.columns[0], is_text(term))
    return f"CASE WHEN {missing} THEN {NOTHING}{cases} ELSE {number_sql(unseen)} END"


def _bernoulli(term: Term, k: int) -> str:
    p, columns = term.parameters, term.block.columns
    if not term.block.kind.is_of_several:
        flag = f"CAST({column_sql(columns[0])} AS INT)"
        return (
            f"CASE WHEN {column_sql(columns[0])} IS NULL THEN {NOTHING} WHEN {flag} = 1 "
            f"THEN {number_sql(p.log_on[0, k])} ELSE {number_sql(p.log_off[0, k])} END"
        )
    return sum_sql(
        f"CASE WHEN {double_sql(c)} > 0 THEN {number_sql(p.log_on[j, k])} "
        f"ELSE {number_sql(p.log_off[j, k])} END"
        for j, c in enumerate(columns)
    )


def _counts(term: Term, k: int) -> str:
    w = term.parameters.table
    return sum_sql(
        f"CASE WHEN {double_sql(c)} > 0 THEN {double_sql(c)} * {number_sql(w[j, k])} "
        f"ELSE {NOTHING} END"
        for j, c in enumerate(term.block.columns)
    )


def _of_numbers(write: Callable[[Any, str, int, int], str]) -> Callable[[Term, int], str]:
    """Wrap the formula of a factor of numbers, so that missing values add nothing."""

    def written(term: Term, k: int) -> str:
        return sum_sql(
            f"CASE WHEN {missing_sql(c)} THEN {NOTHING} ELSE {write(term, double_sql(c), j, k)} END"
            for j, c in enumerate(term.block.columns)
        )

    return written


def _gaussian(term: Term, x: str, j: int, k: int) -> str:
    p = term.parameters
    about = f"({x} - {number_sql(p.mean[k, j])})"
    return (
        f"{number_sql(p.log_norm[k, j])} - {about} * {about} * {number_sql(p.half_precision[k, j])}"
    )


def _student(term: Term, x: str, j: int, k: int) -> str:
    p = term.parameters
    if isinstance(p.transform, LogTransform):
        least, scale = number_sql(p.transform.least), number_sql(p.transform.scale)
        x = f"LN({number_sql(1.0)} + GREATEST({x} - {least}, {NOTHING}) / {scale})"
    elif not isinstance(p.transform, Identity):
        raise no_form(
            term, FORMAT, "the rank-normal has no SQL form; use 'student-t' or 'histogram'"
        )
    about = f"({x} - {number_sql(p.location[k, j])})"
    spread = number_sql(1 / (p.dof[k, j] * p.scale2[k, j]))
    return (
        f"{number_sql(p.log_norm[k, j])} - {number_sql((p.dof[k, j] + 1) / 2)} * "
        f"LN({number_sql(1.0)} + {about} * {about} * {spread})"
    )


def _histogram(term: Term, x: str, j: int, k: int) -> str:
    p = term.parameters
    if not len(p.cuts):
        return number_sql(p.log_p[0, k])
    cases = " ".join(
        f"WHEN {x} <= {number_sql(cut)} THEN {number_sql(p.log_p[b, k])}"
        for b, cut in enumerate(p.cuts)
    )
    return f"CASE {cases} ELSE {number_sql(p.log_p[-1, k])} END"


def _pair(term: Term, k: int) -> str:
    """Select by each column in turn, the last of them the one that is told of."""
    p = term.parameters
    scores = grid(term, FORMAT)[..., :-1, k]

    def chosen(j: int, scores: Any) -> str:
        if j == len(p.parents):
            return _by_value(term, j, p.children, list(map(number_sql, scores)), NOTHING)
        each = [chosen(j + 1, of_value) for of_value in scores]
        return _by_value(term, j, p.parents[j], each[:-1], each[-1])

    return chosen(0, scores)


def _by_value(
    term: Term, j: int, labels: Sequence[Label], scores: list[str], otherwise: str
) -> str:
    """Write a CASE by the value, or the bin, of one of the columns."""
    name, pairing = term.block.columns[j], term.block.pairing
    assert pairing is not None
    ends = pairing.edges[j]
    missing = missing_sql(name, ends is None and _are_texts(labels))
    if ends is None:
        cases = [
            f"WHEN {column_sql(name)} = {literal_sql(label)} THEN {score}"
            for label, score in zip(labels, scores, strict=True)
        ]
        return f"CASE WHEN {missing} THEN {otherwise} {' '.join(cases)} ELSE {otherwise} END"
    of_bin = dict(zip(labels, scores, strict=True))
    cases = [
        f"WHEN {double_sql(name)} <= {number_sql(cut)} THEN {of_bin.get(b, otherwise)}"
        for b, cut in enumerate(ends[1:-1])
    ]
    last = of_bin.get(len(ends) - 2, otherwise)
    return f"CASE WHEN {missing} THEN {otherwise} {' '.join(cases)} ELSE {last} END"


def _poisson(term: Term, x: str, j: int, k: int) -> str:
    rate = float(term.parameters.rate[k, j])
    log_rate = math.log(rate) if rate > 0 else -math.inf
    return (
        f"CASE WHEN {x} < 0 OR {x} <> FLOOR({x}) THEN {number_sql(-math.inf)} "
        f"WHEN {x} = 0 THEN {number_sql(-rate)} "
        f"ELSE {x} * {number_sql(log_rate)} - {number_sql(rate)} END"
    )


def _binomial(term: Term, x: str, j: int, k: int) -> str:
    family: Any = term.family
    on, off = term.parameters.log_on[j, k], term.parameters.log_off[j, k]
    trials = family.trials
    return (
        f"CASE WHEN {x} < 0 OR {x} > {trials} OR {x} <> FLOOR({x}) THEN {number_sql(-math.inf)} "
        f"WHEN {x} = 0 THEN {number_sql(trials * off)} "
        f"WHEN {x} = {trials} THEN {number_sql(trials * on)} "
        f"ELSE {x} * {number_sql(on)} + ({trials} - {x}) * {number_sql(off)} END"
    )


WRITERS: dict[type, Callable[[Term, int], str]] = {
    Categorical: _categorical,
    Bernoulli: _bernoulli,
    Multinomial: _counts,
    Complement: _counts,
    Gaussian: _of_numbers(_gaussian),
    StudentT: _of_numbers(_student),
    Histogram: _of_numbers(_histogram),
    Poisson: _of_numbers(_poisson),
    Binomial: _of_numbers(_binomial),
    Conditional: _pair,
    Correction: _pair,
}
