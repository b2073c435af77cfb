"""Rows explained: what each column adds, one bar after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.formatting import shown
from priory.reporting.charts import signed_bar
from priory.reporting.content import Content, Example, log_odds
from priory.reporting.markup import Html, h
from priory.reporting.scales import percent, signed
from priory.reporting.tables import section, table

__all__ = ["examples"]

MOST_LINES = 12


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
    cards = [_example(content, i, example) for i, example in enumerate(content.examples)]
    return section("examples", "Examples, explained", h("p", told), cards)


def _example(content: Content, number: int, example: Example) -> Html:
    row = example.row
    k = int(np.argmax(row.posterior))
    added = [(name, float(log_odds(scores)[k])) for name, scores in row.by_column().items()]
    added.sort(key=lambda item: -abs(item[1]))
    start = float(log_odds(row.log_prior)[k])
    lines = [
        ("class prior", "", start),
        *((name, _value(row, name), x) for name, x in added[:MOST_LINES]),
    ]
    if rest := added[MOST_LINES:]:
        lines.append((f"{len(rest)} more", "", sum(x for _, x in rest)))
    ends = np.cumsum([np.clip(x, -99, 99) for *_, x in lines])
    most = max(float(np.abs(ends).max()), 0.5)
    rows, running = [], 0.0
    for name, value, x in lines:
        step = float(np.clip(x, -99, 99))
        rows.append((name, value, signed(x, 2), signed_bar(step, most, running)))
        running += step
    best = content.names[k]
    title = f"Example {number + 1}, {example.title}: {best}, {percent(float(row.posterior[k]))}"
    caption = f"What speaks for {best} (right) and against it (left), in log-odds"
    caption += f"; the sum is {signed(running, 2)}"
    return h("div", h("h3", title), table(("", "value", "adds", ""), rows, caption, (2,)))


def _value(row: Any, name: str) -> str:
    for factor in row.factors:
        if factor.column == name and factor.about != "missing":
            return shown(factor.value)
    for factor in row.factors:
        if factor.column == name:
            return "missing" if factor.value else ""
    return ""
