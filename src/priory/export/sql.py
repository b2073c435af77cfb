"""Export to SQL: one SELECT that predicts every row of a table.

    score_k = log P(k) + s b_k + Σ w_j log P(x_j | k)
    P(k | x) = e^(score_k − m) / Σ e^(score − m)

with m the largest score and s the fraction of the columns that are not missing. A missing value,
NULL or NaN, adds nothing to a score. Scores that are tied, up to rounding, are made equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from priory.base.errors import SettingError
from priory.classifier.classifier import Classifier
from priory.deciding.rules import Rule
from priory.export.decisions import Exported, decision_levels, labels_of, with_rule
from priory.export.reasons import reason_levels
from priory.export.sql_expressions import column_sql, literal_sql, name_sql, number_sql, sum_sql
from priory.export.sql_factors import biases, is_text, scores_sql, weighted
from priory.export.truths import as_numbers, zeros_and_ones
from priory.kernels.score import TIE, TIE_SHARE
from priory.model.term import Term

__all__ = ["to_sql"]

DIALECTS = ("duckdb", "postgres", "sqlite")
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
    return text if view is None else f"CREATE VIEW {name_sql(view)} AS\n{text}"


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
    texts = {term.block.name for term in model.terms if is_text(term)}
    terms = [term for term in model.terms if term.weight]  # else not even impossible values count
    by_term = [
        weighted(scores_sql(term, len(n), term.block.name in texts), term.weight) for term in terms
    ]
    levels: Levels = {}
    if reasons is not None and terms:  # which look at each factor once more
        levels["terms"] = {f"e{j}_{k}": by_term[j][k] for j in range(len(terms)) for k in n}
        by_term = [[f"{AT}e{j}_{k}" for k in n] for j in range(len(terms))]
    by_term += biases(model, texts)
    s, scored, p = ([f"{name}{k}" for k in n] for name in ("s", "t", "p"))
    rounding = f"GREATEST({number_sql(TIE)}, {number_sql(TIE_SHARE)} * ABS({AT}most))"
    impossible = f"{AT}most = {number_sql(-math.inf)}"
    sums = (sum_sql([number_sql(model.log_prior[k]), *(term[k] for term in by_term)]) for k in n)
    levels |= {
        "summed": dict(zip(s, sums, strict=True)),
        "compared": {"most": _largest([f"{AT}{name}" for name in s])},
        "scored": {
            scored[k]: f"CASE WHEN {AT}{s[k]} >= {AT}most - {rounding} THEN {AT}most "
            f"ELSE {AT}{s[k]} END"
            for k in n
        },
        "raised": {
            p[k]: f"CASE WHEN {impossible} THEN {number_sql(float(np.exp(model.log_prior[k])))} "
            f"WHEN {AT}{scored[k]} - {AT}most < {SMALLEST} THEN {number_sql(0.0)} "
            f"ELSE EXP({AT}{scored[k]} - {AT}most) END"
            for k in n
        },
        "added": {"total": sum_sql([f"{AT}{name}" for name in p])},
    }
    # Ties go to the first class, impossible rows to the class with the highest prior.
    first = int(np.argmax(model.log_prior))
    cases = " ".join(
        f"WHEN {AT}{scored[k]} = {AT}most THEN {literal_sql(model.classes[k])}" for k in n
    )
    highest = literal_sql(model.classes[first])
    answers = {"prediction": f"CASE WHEN {impossible} THEN {highest} {cases} END"}
    shares = [f"{AT}{name} / {AT}total" for name in p]
    probability = f"{_largest([f'{AT}{name}' for name in p])} / {AT}total"
    if rule is not None:
        levels |= decision_levels(rule, shares, AT, number_sql)
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
    labels = " ".join(f"WHEN {d} THEN {literal_sql(x)}" for d, x in enumerate(labels_of(rule)))
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
    named = " ".join(f"WHEN {j} THEN {literal_sql(title)}" for j, title in enumerate(titles))
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
    return ", ".join(f"{sql} AS {name_sql(prefix + name)}" for name, sql in named.items())


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
    names = ", ".join(map(column_sql, columns)) or "1 AS priory_nothing"
    parts = [f"{AT}rows AS MATERIALIZED (SELECT DISTINCT {names} FROM {table} AS rows)"]
    before = f"{AT}rows"
    for level, named in levels.items():
        chosen = f"SELECT rows.*, {_selected(named)} FROM {before} AS rows"
        parts.append(f"{AT}{level} AS MATERIALIZED ({chosen})")
        before = f"{AT}{level}"
    same = " AND ".join(
        f"{column_sql(c)} IS NOT DISTINCT FROM answered.{name_sql(c)}" for c in columns
    )
    return (
        f"WITH {', '.join(parts)} SELECT rows.*, {_selected(answers, '')} FROM {table} AS rows "
        f"CROSS JOIN {before} AS answered WHERE {same or 'TRUE'}"
    )
