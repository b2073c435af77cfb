"""Rows explained: what each column adds, one bar after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from priory.model.log_odds import log_odds
from priory.model.row_explanation import BIAS, RowExplanation, RowFactor
from priory.model.shading import spans_of_words
from priory.reporting.charts import signed_bar
from priory.reporting.content import Content
from priory.reporting.markup import Html, h
from priory.reporting.scales import percent, signed
from priory.reporting.tables import section, table

__all__ = ["examples", "explained_row"]

MOST_LINES, LONGEST, FAR = 12, 5_000, 99.0


def examples(content: Content) -> Html | None:
    """Explain some rows, factor by factor."""
    if not content.examples:
        return None
    told = (
        "Rows that were asked for, explained."
        if content.has_given_rows
        else "Rows drawn from the model, not taken from the data. Each bar begins where the one "
        "above ends; the sum of all gives the probability."
    )
    cards = [
        explained_row(content.names, example.row, f"Example {i + 1}, {example.title}: ")
        for i, example in enumerate(content.examples)
    ]
    return section("examples", "Examples, explained", h("p", told), cards)


def explained_row(names: Sequence[str], row: RowExplanation, title: str = "") -> Html:
    """Draw what each column of a row adds, one bar after the other; texts have their words marked.

    `names` are the classes as they are shown, `title` is what stands before the answer.
    """
    k = int(np.argmax(row.posterior))
    added = [(name, float(log_odds(scores)[k])) for name, scores in row.by_column().items()]
    added.sort(key=lambda item: -abs(item[1]))
    lines: list[tuple[str, str, str, float]] = [
        ("class prior", "", _counted(row.prior_support, k), float(log_odds(row.log_prior)[k]))
    ]
    lines += [(_name(name), *_told(row, name, k), x) for name, x in added[:MOST_LINES]]
    if rest := added[MOST_LINES:]:
        lines.append((f"{len(rest)} more", "", "", sum(x for _, x in rest)))
    steps = [float(np.clip(x, -FAR, FAR)) for *_, x in lines]
    ends = np.cumsum(steps)
    most = max(float(np.abs(ends).max()), 0.5)
    rows = [
        (name, value, counted, signed(x, 2), signed_bar(step, most, float(end) - step))
        for (name, value, counted, x), step, end in zip(lines, steps, ends.tolist(), strict=True)
    ]
    best = names[k]
    total = signed(float(ends[-1]), 2)
    title = f"{title}{best}, {percent(float(row.posterior[k]))}"
    caption = f"What speaks for {best} (right) and against it (left), in log-odds"
    head = ("", "value", f"of {best}", "adds", "")
    made = table(head, rows, f"{caption}; the sum is {total}", (2, 3))
    return h("div", h("h3", title), [_text(factor, k) for factor in row.factors], made)


def _name(name: str) -> str:
    return "calibration" if name == BIAS else name


def _told(row: RowExplanation, name: str, k: int) -> tuple[str, str]:
    """Find the value of a column, and how many rows of a class have it."""
    factors = [factor for factor in row.factors if factor.column == name and not factor.left_out]
    for factor in sorted(factors, key=lambda factor: factor.about == "missing"):
        is_gap = factor.about == "missing"
        value = ("missing" if factor.value else "") if is_gap else factor.shown_value
        return value, _counted(factor.support, k)
    return "", ""


def _counted(support: Any, k: int) -> str:
    return "" if support is None else str(support.shown(k))


def _text(factor: RowFactor, k: int) -> Html | None:
    """Show a text with its words marked: for the class, or against it."""
    if factor.analyzer is None or factor.left_out or not factor.parts:
        return None
    parts = {part.name: part for part in factor.parts if part.name}
    said = {name: factor.weight * float(log_odds(part.log_p)[k]) for name, part in parts.items()}
    told = {name: f"{name}: {signed(x, 2)}" for name, x in said.items()}
    text, pieces, at = str(factor.value)[:LONGEST], [], 0
    for start, stop, value, title in spans_of_words(text, said, told, factor.analyzer):
        kind = "for" if value > 0 else "against"
        pieces += [text[at:start], h("mark", text[start:stop], class_=kind, title=title)]
        at = stop
    return h("p", pieces, text[at:], class_="text")
