"""One row worked out: its probabilities with intervals, the sum behind them, what would flip it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from priory.base.formatting import shown
from priory.base.typing import FloatArray
from priory.data.schema import Schema
from priory.explaining.candidates import UNUSED
from priory.explaining.what_if import WhatIf
from priory.families.described import listed
from priory.model.row_explanation import RowExplanation
from priory.reporting.charts import bar, interval_bar
from priory.reporting.markup import Html, h
from priory.reporting.scales import percent
from priory.reporting.tables import MOST_CLASSES, table

__all__ = ["flips", "probabilities", "worked_sum"]


def probabilities(
    names: Sequence[str], p: FloatArray, bounds: tuple[FloatArray, FloatArray] | None, how: str
) -> Html:
    """Tabulate the probability of each class, with its interval where there is one."""
    order = sorted(range(len(p)), key=lambda k: -float(p[k]))[:MOST_CLASSES]
    if bounds is None:
        rows: list[Any] = [(names[k], percent(float(p[k])), bar(float(p[k]))) for k in order]
        made = table(("class", "probability", ""), rows, "What the model says", (1,))
        return h("div", made, h("p", how, class_="soft"))
    low, high = bounds
    rows = [
        (
            names[k],
            percent(float(p[k])),
            f"{percent(float(low[k]))} – {percent(float(high[k]))}",
            interval_bar(float(p[k]), float(low[k]), float(high[k]), 0.0, 1.0),
        )
        for k in order
    ]
    head = ("class", "probability", "90 % interval", "")
    return table(head, rows, f"What the model says; {how}", (1, 2))


def worked_sum(row: RowExplanation) -> Html:
    """Write the sum out, line by line, with the counts behind each number."""
    (_, classes), *lines = row.cells(counts=True)[0]
    n = len(classes)
    body: list[list[Any]] = []
    for title, numbers in lines:
        if title:
            body.append([title, *numbers, *[""] * (n - len(numbers))])
        else:  # the counts of the line before
            for k, counted in enumerate(numbers, 1):
                body[-1][k] = (body[-1][k], h("small", counted, class_="under"))
    caption = "The sum behind it; below each number the counts that it comes from"
    made = table(("", *classes), body, caption, range(1, n + 1))
    return h("div", made, [h("p", remark, class_="soft") for remark in row.remarks()])


def flips(found: WhatIf, schema: Schema) -> Html:
    """Say which changes of the row would change the answer, at the least cost."""
    left = [f"{shown(name)} ({why})" for name, why in found.left.items() if why != UNUSED]
    remark = h("p", f"Not tried: {listed(left)}.", class_="soft") if left else None
    if found.changes is None:
        sure = "no change of a value is enough" if found.is_proved else "nothing was found in time"
        return h("div", h("p", f"It stays {shown(found.prediction)}: {sure}."), remark)
    rows = [(c.column, *map(schema[c.column].shown, (c.old, c.new))) for c in found.changes]
    made = table(("column", "from", "to"), rows, "The fewest changes that change the answer")
    after = percent(float(found.new_probability or 0.0))
    proved = "Nothing less is enough." if found.is_proved else "Something less may be enough."
    told = h("p", f"It becomes {shown(found.becomes)}, {after}. {proved}")
    return h("div", made, told, remark)
