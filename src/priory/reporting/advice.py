"""The doctor's advice: which columns depend on each other, and what to do about it."""

from __future__ import annotations

from typing import Any

from priory.reporting.content import Content
from priory.reporting.markup import Html, h
from priory.reporting.scales import percent
from priory.reporting.tables import section, table

__all__ = ["advice"]

MOST_PAIRS = 12


def advice(content: Content) -> Html | None:
    """Say where columns are not independent given the class, as naive Bayes takes them to be."""
    found = content.diagnosis
    if found is None or found.n_columns < 2:
        return None
    told = (
        "Naive Bayes takes columns to be independent given the class. Where two are not, what they "
        "say counts twice, unless the model weighs and corrects them."
    )
    inside: list[Any] = [h("p", told)]
    if not found.pairs:
        inside.append(h("p", str(found)))
        return section("advice", "Advice", inside)
    if sentences := found.advice():
        inside.append(h("ul", [h("li", sentence) for sentence in sentences], class_="advice"))
    rows = [
        (
            " × ".join(pair.columns),
            f"{pair.bits:.2f}",
            percent(pair.share, 0),
            f"{pair.gain:.3f}",
            "yes" if pair.is_joined else "no",
        )
        for pair in found.pairs[:MOST_PAIRS]
    ]
    head = ("columns", "bits shared", "share", "gain, bits a row", "joined")
    caption = "Pairs that depend on each other, the strongest first"
    if more := len(found.pairs) - len(rows):
        caption += f"; {more} weaker ones are not shown"
    return section("advice", "Advice", inside, table(head, rows, caption, (1, 2, 3)))
