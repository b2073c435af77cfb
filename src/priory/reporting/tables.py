"""The pieces that sections are made of: a section, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from priory.reporting.markup import Html, h

__all__ = ["MOST_CLASSES", "section", "table"]

MOST_CLASSES = 20
"""So many classes a table has: the largest."""


def section(name: str, title: str, *inside: Any) -> Html:
    """Make a section that the contents can point at."""
    return h(
        "section",
        h("h2", title, id=f"{name}-title"),
        inside,
        id=name,
        aria_labelledby=f"{name}-title",
    )


def table(
    head: Sequence[Any], rows: Iterable[Sequence[Any]], caption: str, numbers: Any = ()
) -> Html:
    """Make a table that scrolls where it is too wide; `numbers` are the columns of numbers."""

    def cell(i: int, value: Any) -> Html:
        classes = "n" if i in numbers else "wide" if isinstance(value, Html) else None
        if i == 0:
            return h("th", value, scope="row")
        return h("td", value, class_=classes)

    top = [
        h("th", name, scope="col", class_="n" if i in numbers else None) if name else h("td")
        for i, name in enumerate(head)
    ]
    body = [h("tr", [cell(i, value) for i, value in enumerate(row)]) for row in rows]
    inside = h("table", h("caption", caption), h("thead", h("tr", top)), h("tbody", body))
    return h("div", inside, class_="scroll", tabindex=0, role="region", aria_label=caption)
