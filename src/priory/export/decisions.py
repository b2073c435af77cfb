"""Decisions in other programs: by costs, thresholds or another prior, as `decide` makes them.

    decision = argmin_d Σ_k P(k | x) · cost[k, d]

What is exported is a model, or a model and the rule that it decides by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from priory.base.typing import Label
from priory.classifier.classifier import Classifier
from priory.classifier.decisions import Decided
from priory.deciding.rules import Rule

__all__ = ["Exported", "decision_levels", "labels_of", "rule_to_json", "with_rule"]

Exported: TypeAlias = Classifier | Decided


def with_rule(given: Any) -> tuple[Any, Rule | None]:
    """Part a model and the rule that it decides by, if it has one.

    >>> classifier = Classifier()
    >>> with_rule(classifier)[1] is None
    True
    """
    is_decided = isinstance(given, Decided)
    return (given.classifier, given.rule) if is_decided else (given, None)


def decision_levels(
    rule: Rule, p: Sequence[str], at: str, number: Callable[[float], str]
) -> dict[str, dict[str, str]]:
    """Write the levels of SQL that decide, above the one of the probabilities `p`.

    They end with the probabilities under the wanted prior (w0, …), the place of the decision among
    `rule.labels` (`place`), and what each is expected to cost (c0, …) where there are costs.
    """
    n = range(len(rule.classes))
    levels: dict[str, dict[str, str]] = {}
    if rule.shift is None:
        levels["wanted"] = {f"w{k}": p[k] for k in n}
    else:
        factors = np.exp(rule.shift - np.max(rule.shift))
        levels["shares"] = {f"q{k}": p[k] for k in n}
        levels["shifted"] = {f"r{k}": f"{at}q{k} * {number(factors[k])}" for k in n}
        levels["shifts"] = {"whole": " + ".join(f"{at}r{k}" for k in n)}
        levels["wanted"] = {
            f"w{k}": f"CASE WHEN {at}whole > 0 THEN {at}r{k} / {at}whole ELSE {at}q{k} END"
            for k in n
        }
    w = [f"{at}w{k}" for k in n]
    if rule.costs is not None:
        costs = rule.costs
        decisions = range(costs.shape[1])
        levels["costs"] = {
            f"c{d}": " + ".join(f"{w[k]} * {number(costs[k, d])}" for k in n) for d in decisions
        }
        c = [f"{at}c{d}" for d in decisions]
        slack = number(1e-12 * float(np.abs(costs).max(initial=0.0)))
        levels["cheapest"] = {"cheapest": _of("LEAST", c)}
        found = [f"WHEN {c[d]} <= {at}cheapest + {slack} THEN {d}" for d in decisions]
    else:
        levels["likeliest"] = {"likeliest": _of("GREATEST", w)}
        found = [f"WHEN {w[k]} = {at}likeliest THEN {k}" for k in n]
    if rule.threshold is not None and rule.positive is not None:
        others = [k for k in n if k != rule.positive]
        levels["others"] = {"others": _of("GREATEST", [w[k] for k in others] or ["0"])}
        found = [f"WHEN {w[rule.positive]} >= {number(rule.threshold)} THEN {rule.positive}"]
        found += [f"WHEN {w[k]} = {at}others THEN {k}" for k in others]
    levels["found"] = {"found": f"CASE {' '.join(found)} END"}
    place = f"{at}found"
    if rule.least is not None:
        own = " ".join(f"WHEN {k} THEN {w[k]}" for k in n)
        sure = f"CASE {at}found {own} ELSE {w[-1]} END >= {number(rule.least)}"
        place = f"CASE WHEN {sure} THEN {at}found ELSE {len(n)} END"
    levels["decided"] = {"place": place}
    return levels


def _of(function: str, values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{function}({', '.join(values)})"


def labels_of(rule: Rule) -> list[Label]:
    """List the decisions; as texts where they are of several types, which a column cannot be."""
    labels = list(rule.labels)
    return labels if len({type(label) for label in labels}) == 1 else [str(x) for x in labels]


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """Convert a rule to plain JSON values."""
    return {
        "decisions": list(rule.labels),
        "prior factor": None if rule.shift is None else np.exp(rule.shift).tolist(),
        "costs": None if rule.costs is None else rule.costs.tolist(),
        "least probability": rule.least,
        "positive": None if rule.positive is None else rule.classes[rule.positive],
        "threshold": rule.threshold,
    }
