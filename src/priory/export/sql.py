"""Export to SQL: one SELECT that predicts every row of a table.

    score_k = log P(k) + s b_k + Σ w_j log P(x_j | k)
    P(k | x) = e^(score_k − m) / Σ e^(score − m)

with m the largest score and s the fraction of the columns that are not missing. A missing value,
NULL or NaN, adds nothing to a score. Scores that are tied, up to rounding, are made equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import Label
from priory.classifier.classifier import Classifier
from priory.data.schema import Kind
from priory.deciding.rules import Rule
from priory.export.decisions import Exported, decision_levels, labels_of, with_rule
from priory.export.reasons import reason_levels
from priory.export.refusals import grid, no_form, writer
from priory.export.truths import as_numbers, zeros_and_ones
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
from priory.kernels.score import TIE, TIE_SHARE
from priory.model.model import Model
from priory.model.term import Term

__all__ = ["to_sql"]

FORMAT, DIALECTS = "SQL", ("duckdb", "postgres", "sqlite")
SMALLEST = -700.0
"""Below this the exponential is an underflow error in PostgreSQL; it is 0 in effect."""


def to_sql(
    classifier: Exported,
    table: str = "data",
    dialect: str = "duckdb",
    view: str | None = None,
    reasons: int = 3,
) -> str:
    """Export a model as a SELECT that adds the predicted class and the probability of each class.

    `table` is the name of a table, or anything that may follow FROM. The columns must have the
    names and types of the training data. `dialect` is that of DuckDB, PostgreSQL or SQLite (3.35
    or newer, with its mathematical functions). With a `view`, it is the statement that creates a
    view of this name, which adds the predicted class, its probability, and as many `reasons`: the
    columns that speak most for the likeliest class (`export.reasons`). What `classifier.decide`
    gives decides in SQL as it does here: by costs, a threshold, another prior.

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook())
    >>> _ = classifier.update({"x": ["a", "b", "b"]}, ["no", "yes", "yes"])
    >>> to_sql(classifier, "days").split()[:3]
    ['SELECT', 'rows.*,', 'CASE']
    """
    try:
        import sqlglot
    except ImportError:
        raise SettingError("Export to SQL needs sqlglot: pip install 'priory[sql]'.") from None
    if dialect not in DIALECTS:
        known = "', '".join(DIALECTS)
        raise SettingError(f"dialect must be one of '{known}', not {dialect!r}.")
    if not isinstance(reasons, int) or isinstance(reasons, bool) or reasons < 0:
        raise SettingError(f"reasons must be an integer of at least 0, not {reasons!r}.")
    lite = dialect == "sqlite"
    told = None if view is None else reasons
    bare, rule = with_rule(classifier)
    # PostgreSQL would put an expression wherever it is used, level upon level.
    is_deep = view is not None or rule is not None
    barrier = " OFFSET 0" if dialect == "postgres" and is_deep else ""
    join = _materialized if lite else partial(_lateral, barrier=barrier)
    query = _query(bare, rule, table, join, told)
    if lite:  # it knows no such constants, and keeps NULL where others have NaN
        query = query.replace(" = CAST('NaN' AS DOUBLE)", " IS NULL")
        query = query.replace("Infinity' AS DOUBLE)", "9e999' AS DOUBLE)")
    tree = sqlglot.parse_one(query, read="duckdb")
    if dialect == "postgres":
        as_numbers(tree, zeros_and_ones(bare))
    text = str(tree.sql(dialect=dialect, pretty=True))
    return text if view is None else f"CREATE VIEW {_name(view)} AS\n{text}"


Levels: TypeAlias = dict[str, dict[str, str]]
"""Expressions by name, level upon level: each may use those of the levels before it."""


def _query(
    classifier: Classifier,
    rule: Rule | None,
    table: str,
    join: Callable[..., str],
    reasons: int | None,
) -> str:
    model = classifier.model
    n = range(len(model.classes))
    texts = {term.block.name for term in model.terms if _is_text(term)}
    terms = [term for term in model.terms if term.weight]  # else not even impossible values count
    by_term = [
        _weighted(_scores(term, len(n), term.block.name in texts), term.weight) for term in terms
    ]
    levels: Levels = {}
    if reasons is not None and terms:  # which look at each factor once more
        levels["terms"] = {f"e{j}_{k}": by_term[j][k] for j in range(len(terms)) for k in n}
        by_term = [[f"{AT}e{j}_{k}" for k in n] for j in range(len(terms))]
    by_term += _biases(model, texts)
    s, scored, p = ([f"{name}{k}" for k in n] for name in ("s", "t", "p"))
    rounding = f"GREATEST({_number(TIE)}, {_number(TIE_SHARE)} * ABS({AT}most))"
    impossible = f"{AT}most = {_number(-math.inf)}"
    sums = (_sum([_number(model.log_prior[k]), *(term[k] for term in by_term)]) for k in n)
    levels |= {
        "summed": dict(zip(s, sums, strict=True)),
        "compared": {"most": _largest([f"{AT}{name}" for name in s])},
        "scored": {
            scored[k]: f"CASE WHEN {AT}{s[k]} >= {AT}most - {rounding} THEN {AT}most "
            f"ELSE {AT}{s[k]} END"
            for k in n
        },
        "raised": {
            p[k]: f"CASE WHEN {impossible} THEN {_number(float(np.exp(model.log_prior[k])))} "
            f"WHEN {AT}{scored[k]} - {AT}most < {SMALLEST} THEN {_number(0.0)} "
            f"ELSE EXP({AT}{scored[k]} - {AT}most) END"
            for k in n
        },
        "added": {"total": _sum([f"{AT}{name}" for name in p])},
    }
    # Ties go to the first class, impossible rows to the class with the highest prior.
    first = int(np.argmax(model.log_prior))
    cases = " ".join(
        f"WHEN {AT}{scored[k]} = {AT}most THEN {_literal(model.classes[k])}" for k in n
    )
    highest = _literal(model.classes[first])
    answers = {"prediction": f"CASE WHEN {impossible} THEN {highest} {cases} END"}
    shares = [f"{AT}{name} / {AT}total" for name in p]
    probability = f"{_largest([f'{AT}{name}' for name in p])} / {AT}total"
    if rule is not None:
        levels |= decision_levels(rule, shares, AT, _number)
        answers, shares, probability = _decided(rule)
    if reasons is None:
        answers |= {f"P({label})": shares[k] for k, label in enumerate(model.classes)}
    else:
        answers["probability"] = probability
        answers |= _reasons(levels, terms, len(n), min(reasons, len(terms)), impossible)
    columns = list(dict.fromkeys(c for term in model.terms for c in term.block.columns))
    return join(levels, answers, columns, table)


def _decided(rule: Rule) -> tuple[dict[str, str], list[str], str]:
    """Write the decision, the probability of each class, and that of the class decided for."""
    labels = " ".join(f"WHEN {d} THEN {_literal(x)}" for d, x in enumerate(labels_of(rule)))
    answers = {"prediction": f"CASE {AT}place {labels} END"}
    if rule.costs is not None:
        answers["expected cost"] = f"{AT}cheapest"
    shares = [f"{AT}w{k}" for k in range(len(rule.classes))]
    own = " ".join(f"WHEN {k} THEN {share}" for k, share in enumerate(shares))
    return answers, shares, f"CASE {AT}place {own} ELSE {_largest(shares)} END"


def _reasons(
    levels: Levels, terms: Sequence[Term], n_classes: int, n_reasons: int, impossible: str
) -> dict[str, str]:
    """Add the levels of the reasons, and write each as the name of its column."""
    if n_classes < 2 or not n_reasons:
        return {}
    titles = [term.title for term in terms]
    levels |= reason_levels(titles, n_classes, n_reasons, AT, _largest)
    named = " ".join(f"WHEN {j} THEN {_literal(title)}" for j, title in enumerate(titles))
    reasons = [f"CASE {AT}place{i} {named} END" for i in range(n_reasons)]
    return {
        f"reason {i}": f"CASE WHEN {impossible} THEN NULL ELSE {reason} END"
        for i, reason in enumerate(reasons, start=1)
    }


def _largest(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"GREATEST({', '.join(values)})"


AT = "priory_"
"""How names begin that stand beside those of the user."""


def _selected(named: dict[str, str], prefix: str = AT) -> str:
    return ", ".join(f"{sql} AS {_name(prefix + name)}" for name, sql in named.items())


def _lateral(
    levels: Levels, answers: dict[str, str], columns: list[str], table: str, barrier: str = ""
) -> str:
    """Put each level beside the rows."""
    joined = " ".join(
        f"CROSS JOIN LATERAL (SELECT {_selected(named)}{barrier}) AS {AT}{level}"
        for level, named in levels.items()
    )
    return f"SELECT rows.*, {_selected(answers, '')} FROM {table} AS rows {joined}"


def _materialized(levels: Levels, answers: dict[str, str], columns: list[str], table: str) -> str:
    """Answer each distinct row once, level by level, and join: SQLite has no LATERAL.

    It would also work out an expression again wherever it is used, unless a level is materialized.
    """
    names = ", ".join(map(_column, columns)) or "1 AS priory_nothing"
    parts = [f"{AT}rows AS MATERIALIZED (SELECT DISTINCT {names} FROM {table} AS rows)"]
    before = f"{AT}rows"
    for level, named in levels.items():
        chosen = f"SELECT rows.*, {_selected(named)} FROM {before} AS rows"
        parts.append(f"{AT}{level} AS MATERIALIZED ({chosen})")
        before = f"{AT}{level}"
    same = " AND ".join(f"{_column(c)} IS NOT DISTINCT FROM answered.{_name(c)}" for c in columns)
    return (
        f"WITH {', '.join(parts)} SELECT rows.*, {_selected(answers, '')} FROM {table} AS rows "
        f"CROSS JOIN {before} AS answered WHERE {same or 'TRUE'}"
    )


def _weighted(scores: list[str], weight: float) -> list[str]:
    return scores if weight == 1.0 else [f"{_number(weight)} * ({score})" for score in scores]


def _biases(model: Model, texts: Set[str]) -> list[list[str]]:
    """Add the bias of each class, scaled by the fraction of the columns that contribute."""
    terms = [term for term in model.terms if term.offset is not None]
    if model.bias is None or not model.bias.any():
        return []
    said = [_contributes(term, term.block.name in texts) for term in terms]
    there = _sum(f"CASE WHEN {some} THEN {_number(1.0)} ELSE {_number(0.0)} END" for some in said)
    return [[f"{_number(b / len(terms))} * ({there})" for b in model.bias]]


def _contributes(term: Term, text: bool) -> str:
    """Write the condition that a factor contributes: its value is neither missing nor unseen."""
    p, block = term.parameters, term.block
    if block.kind is Kind.COUNTS:
        if isinstance(term.family, Bernoulli):
            return "TRUE"
        return f"({' OR '.join(f'{_double(c)} > 0' for c in block.columns)})"
    labels: Sequence[Label] | None = None
    if isinstance(p, PairCounts):
        binned = block.pairing is not None and block.pairing.edges[-1] is not None
        labels = None if binned else p.children
    elif isinstance(term.family, Categorical) and term.family.unseen != "smooth":
        labels = [label for v, label in enumerate(p.labels) if p.log_p[v].any()]
    if labels is not None:
        known = ", ".join(_literal(label) for label in labels)
        return f"{_column(block.columns[-1])} IN ({known})" if known else "FALSE"
    columns = block.columns if block.pairing is None else block.columns[-1:]
    return f"NOT ({' OR '.join(_missing(c, text) for c in columns)})"


def _scores(term: Term, n_classes: int, text: bool) -> list[str]:
    """Write the contribution of a factor to the score of each class."""
    if term.about == "missing":
        p, missing = term.parameters, _missing(term.block.columns[-1], text)
        scores = zip(map(_number, p.log_on[0]), map(_number, p.log_off[0]), strict=True)
        return [f"CASE WHEN {missing} THEN {on} ELSE {off} END" for on, off in scores]
    write = writer(term, WRITERS, FORMAT)
    return [write(term, k) for k in range(n_classes)]


def _is_text(term: Term) -> bool:
    """Tell whether a column holds strings or booleans, which cannot be NaN."""
    p = term.parameters
    return _are_texts(p.children if isinstance(p, PairCounts) else getattr(p, "labels", ()))


def _are_texts(labels: Sequence[Label]) -> bool:
    return any(isinstance(label, str | bool) for label in labels)


def _categorical(term: Term, k: int) -> str:
    family: Any = term.family
    if family.unseen == "error":
        raise no_form(term, FORMAT, "unseen='error' has no SQL form; use 'skip' or 'smooth'")
    column, p = _column(term.block.columns[0]), term.parameters
    cases = "".join(
        f" WHEN {column} = {_literal(label)} THEN {_number(p.log_p[v, k])}"
        for v, label in enumerate(p.labels)
    )
    unseen = p.log_p[len(p.labels), k] if family.unseen == "smooth" else 0.0
    missing = _missing(term.block.columns[0], _is_text(term))
    return f"CASE WHEN {missing} THEN {_number(0.0)}{cases} ELSE {_number(unseen)} END"


def _bernoulli(term: Term, k: int) -> str:
    p, columns = term.parameters, term.block.columns
    if not term.block.kind.is_of_several:
        flag = f"CAST({_column(columns[0])} AS INT)"
        return (
            f"CASE WHEN {_column(columns[0])} IS NULL THEN {_number(0.0)} WHEN {flag} = 1 "
            f"THEN {_number(p.log_on[0, k])} ELSE {_number(p.log_off[0, k])} END"
        )
    return _sum(
        f"CASE WHEN {_double(c)} > 0 THEN {_number(p.log_on[j, k])} "
        f"ELSE {_number(p.log_off[j, k])} END"
        for j, c in enumerate(columns)
    )


def _counts(term: Term, k: int) -> str:
    w = term.parameters.table
    return _sum(
        f"CASE WHEN {_double(c)} > 0 THEN {_double(c)} * {_number(w[j, k])} ELSE {_number(0.0)} END"
        for j, c in enumerate(term.block.columns)
    )


def _of_numbers(write: Callable[[Any, str, int, int], str]) -> Callable[[Term, int], str]:
    """Wrap the formula of a factor of numbers, so that missing values add nothing."""

    def written(term: Term, k: int) -> str:
        return _sum(
            f"CASE WHEN {_missing(c)} THEN {_number(0.0)} ELSE {write(term, _double(c), j, k)} END"
            for j, c in enumerate(term.block.columns)
        )

    return written


def _gaussian(term: Term, x: str, j: int, k: int) -> str:
    p = term.parameters
    about = f"({x} - {_number(p.mean[k, j])})"
    return f"{_number(p.log_norm[k, j])} - {about} * {about} * {_number(p.half_precision[k, j])}"


def _student(term: Term, x: str, j: int, k: int) -> str:
    p = term.parameters
    if isinstance(p.transform, LogTransform):
        least, scale = _number(p.transform.least), _number(p.transform.scale)
        x = f"LN({_number(1.0)} + GREATEST({x} - {least}, {_number(0.0)}) / {scale})"
    elif not isinstance(p.transform, Identity):
        raise no_form(
            term, FORMAT, "the rank-normal has no SQL form; use 'student-t' or 'histogram'"
        )
    about = f"({x} - {_number(p.location[k, j])})"
    spread = _number(1 / (p.dof[k, j] * p.scale2[k, j]))
    return (
        f"{_number(p.log_norm[k, j])} - {_number((p.dof[k, j] + 1) / 2)} * "
        f"LN({_number(1.0)} + {about} * {about} * {spread})"
    )


def _histogram(term: Term, x: str, j: int, k: int) -> str:
    p = term.parameters
    if not len(p.cuts):
        return _number(p.log_p[0, k])
    cases = " ".join(
        f"WHEN {x} <= {_number(cut)} THEN {_number(p.log_p[b, k])}" for b, cut in enumerate(p.cuts)
    )
    return f"CASE {cases} ELSE {_number(p.log_p[-1, k])} END"


def _pair(term: Term, k: int) -> str:
    """Select by each column in turn, the last of them the one that is told of."""
    p, nothing = term.parameters, _number(0.0)
    scores = grid(term, FORMAT)[..., :-1, k]

    def chosen(j: int, scores: Any) -> str:
        if j == len(p.parents):
            return _by_value(term, j, p.children, list(map(_number, scores)), nothing)
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
    missing = _missing(name, ends is None and _are_texts(labels))
    if ends is None:
        cases = [
            f"WHEN {_column(name)} = {_literal(label)} THEN {score}"
            for label, score in zip(labels, scores, strict=True)
        ]
        return f"CASE WHEN {missing} THEN {otherwise} {' '.join(cases)} ELSE {otherwise} END"
    of_bin = dict(zip(labels, scores, strict=True))
    cases = [
        f"WHEN {_double(name)} <= {_number(cut)} THEN {of_bin.get(b, otherwise)}"
        for b, cut in enumerate(ends[1:-1])
    ]
    last = of_bin.get(len(ends) - 2, otherwise)
    return f"CASE WHEN {missing} THEN {otherwise} {' '.join(cases)} ELSE {last} END"


def _poisson(term: Term, x: str, j: int, k: int) -> str:
    rate = float(term.parameters.rate[k, j])
    log_rate = math.log(rate) if rate > 0 else -math.inf
    return (
        f"CASE WHEN {x} < 0 OR {x} <> FLOOR({x}) THEN {_number(-math.inf)} "
        f"WHEN {x} = 0 THEN {_number(-rate)} ELSE {x} * {_number(log_rate)} - {_number(rate)} END"
    )


def _binomial(term: Term, x: str, j: int, k: int) -> str:
    family: Any = term.family
    on, off = term.parameters.log_on[j, k], term.parameters.log_off[j, k]
    trials = family.trials
    return (
        f"CASE WHEN {x} < 0 OR {x} > {trials} OR {x} <> FLOOR({x}) THEN {_number(-math.inf)} "
        f"WHEN {x} = 0 THEN {_number(trials * off)} "
        f"WHEN {x} = {trials} THEN {_number(trials * on)} "
        f"ELSE {x} * {_number(on)} + ({trials} - {x}) * {_number(off)} END"
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


def _sum(terms: Any) -> str:
    """Write a sum as a balanced tree, which limits the depth of parsing."""
    terms = list(terms)
    if len(terms) == 1:
        return str(terms[0])
    if not terms:
        return _number(0.0)
    half = len(terms) // 2
    return f"({_sum(terms[:half])} + {_sum(terms[half:])})"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _column(name: str) -> str:
    return f"rows.{_name(name)}"


def _double(name: str) -> str:
    return f"CAST({_column(name)} AS DOUBLE)"


def _missing(name: str, text: bool = False) -> str:
    """Write the condition that a value is missing; text cannot be NaN."""
    if text:
        return f"{_column(name)} IS NULL"
    return f"({_column(name)} IS NULL OR {_double(name)} = CAST('NaN' AS DOUBLE))"


def _number(x: float) -> str:
    """Write a float64 without loss."""
    x = float(x)
    if math.isinf(x):
        return f"CAST('{'-' if x < 0 else ''}Infinity' AS DOUBLE)"
    return f"CAST({x!r} AS DOUBLE)"


def _literal(label: Label) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, str):
        return "'" + label.replace("'", "''") + "'"
    return repr(label)
