"""Decisions from the shell: the options of `predict` beyond the likeliest class, and drift."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from priory.base.errors import SettingError
from priory.base.labels import label_array
from priory.classifier.classifier import Classifier
from priory.cli.inputs import parse_class_prior
from priory.sources.scoring import rows_of

__all__ = ["Deciding", "check_has_rows", "decided", "drift_of", "parse_costs"]


def parse_costs(path: Path) -> dict[str, dict[str, float]]:
    """Read costs from a CSV file: true classes in the first column, decisions in the header."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"--costs {path} cannot be read: {error}.") from None
    if len(rows) < 2 or len(rows[0]) < 2:
        raise SettingError(
            f"--costs {path} must have a header with the decisions, and a row for each true class."
        )
    decisions = [cell.strip() for cell in rows[0][1:]]
    costs: dict[str, dict[str, float]] = {}
    for i, row in enumerate(rows[1:], 2):
        true, *cells = (cell.strip() for cell in row)
        if len(cells) != len(decisions) or true in costs:
            what = "comes twice" if true in costs else f"has {len(cells)} costs"
            raise SettingError(f"--costs {path}, line {i}: class {true!r} {what}.")
        try:
            given = zip(decisions, cells, strict=True)
            costs[true] = {name: float(cell) for name, cell in given if cell}
        except ValueError:
            raise SettingError(f"--costs {path}, line {i}: {cells} must be numbers.") from None
    return costs


class Deciding:
    """What `predict` is asked for beyond the likeliest class."""

    def __init__(
        self,
        classifier: Classifier,
        costs: Path | None,
        unsure: float | None,
        unsure_cost: float | None,
        prior: str | None,
        threshold: float | None,
        positive: str | None,
        interval: float | None,
        coverage: float | None,
        novelty: bool,
    ) -> None:
        asked = (costs, unsure, unsure_cost, prior, threshold, positive)
        made = decided(classifier, *asked)
        is_plain = isinstance(made, Classifier)
        self.classifier: Any = made if is_plain else made.classifier
        self.rule = None if is_plain else made.rule
        self.interval, self.coverage, self.novelty = interval, coverage, novelty
        drawn = interval is not None and classifier.tuning is not None
        needed = [("--set", coverage is not None), ("--novelty", novelty), ("--interval", drawn)]
        for option, is_asked in needed:
            check_has_rows(classifier, option, is_asked)

    def predictions(self, X: Any, proba: bool, batch: Any, keep: Sequence[str]) -> dict[str, Any]:
        """Collect the columns of an answer: those kept, the decision, what else is asked for."""
        classifier, rule = self.classifier, self.rule
        p = classifier.predict_proba(X)
        columns = {name: batch.columns[name] for name in keep}
        best, labels = p.argmax(axis=1), classifier.classes
        if rule is not None:
            best, labels = rule.codes(p), rule.labels
            decided = label_array(labels)[best]
            expected = rule.expected_costs(p) if rule.costs is not None else None
            p = rule.posterior(p)
            best = np.where(best < len(classifier.classes), best, p.argmax(axis=1))
        else:
            decided, expected = label_array(labels)[best], None
        rows = np.arange(len(p))
        columns["prediction"], columns["probability"] = decided, p[rows, best]
        if expected is not None:
            columns["expected cost"] = expected.min(axis=1)
        if self.interval is not None:
            found = classifier.predict_interval(X, self.interval)
            columns["low"], columns["high"] = found.low[rows, best], found.high[rows, best]
        if self.coverage is not None:
            sets = classifier.predict_set(X, self.coverage).labels()
            columns["set"] = np.array([" ".join(map(str, one)) for one in sets], dtype=object)
        if self.novelty:
            columns["novelty p"] = classifier.novelty(X)
        if proba:
            names = classifier.classes
            columns |= {f"P({label})": p[:, k] for k, label in enumerate(names)}
        return columns


def decided(
    classifier: Classifier,
    costs: Path | None,
    unsure: float | None,
    unsure_cost: float | None,
    prior: str | None,
    threshold: float | None,
    positive: str | None,
) -> Any:
    """Give the classifier, under the prior asked for; with its rule, if it decides by one."""
    if prior is not None:
        classifier = _with_prior(classifier, prior)
    options = {
        "costs": None if costs is None else parse_costs(costs),
        "unsure": unsure,
        "unsure_cost": unsure_cost,
        "threshold": threshold,
        "positive": positive,
    }
    is_asked = any(value is not None for value in options.values())
    return classifier.decide(**options) if is_asked else classifier


def check_has_rows(classifier: Classifier, option: str, is_needed: bool) -> None:
    """Refuse an option that looks at rows learned, where the model holds none of them."""
    if is_needed and not classifier.has_sample:
        raise SettingError(
            f"{option} looks at rows that were learned, and this model holds none of them: "
            "train it with --keep-sample, and not with --textbook."
        )


def _with_prior(classifier: Classifier, text: str) -> Classifier:
    try:
        return classifier.with_prior(parse_class_prior(text))
    except SettingError as error:
        spelled = str(error).replace("--class-prior", "--prior").replace("class_prior", "--prior")
        raise SettingError(spelled) from None


def drift_of(classifier: Classifier, source: Any, **opening: Any) -> Any:
    """Compare the rows of a source with those that were learned."""
    from priory.deciding.drift import drift_of as compared

    frames = (classifier.frame(X) for X, _ in rows_of(classifier, source, **opening))
    return compared(classifier.statistics, classifier.model, frames, classifier.is_calibrated)
