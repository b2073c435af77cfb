"""All that page.js reads: the model, the columns of a form, and the rows of the examples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from priory.base.errors import SettingError
from priory.base.formatting import shown
from priory.data.schema import Kind
from priory.reporting.content import Content
from priory.reporting.page_model import page_model
from priory.text.analyzer import Analyzer

__all__ = ["PageData", "page_data"]

FEWEST_WORDS = 500
SPLIT = ("word", "sklearn", "char", "char_wb")
"""The units of text that scoring.js can split."""

SEPARABLE = frozenset(
    ["gaussian", "student-t", "bernoulli", "binomial", "multinomial", "complement", "poisson"]
)
"""Families of several columns that page.js shows column by column."""


class PageData(NamedTuple):
    """Data as JSON, or None where the browser cannot compute, and what is to be said of that."""

    text: str | None
    remark: str | None = None
    pairs: Sequence[str] = ()
    """The columns of each factor that no column can claim."""


def page_data(content: Content, room: int) -> PageData:
    """Write what page.js reads in so much room; nothing in it can end the element that holds it."""
    texts = [t.block for t in content.classifier.model.terms if t.block.kind is Kind.WORDS]
    strange = [b.title for b in texts if b.analyzer is not None and not _can_split(b.analyzer)]
    if strange:
        return PageData(None, f"A browser cannot split the texts of column “{strange[0]}”.")
    try:
        told = _told(content, None)
    except SettingError as error:  # a family of the user's own
        return PageData(None, str(error))
    text, n = _dumped(told), _words(told)
    most = n
    while len(text) > room and most // 2 >= FEWEST_WORDS:
        most //= 2
        told = _told(content, most)
        text = _dumped(told)
    if len(text) > room:
        return PageData(None, f"The model is too large for a page: {len(text) / 1e6:,.1f} MB.")
    remark = None
    if most < n:
        remark = (
            f"This page holds {most:,} of the model’s {n:,} words, so its answers are near ones."
        )
    return PageData(text, remark, _pairs(told))


def _told(content: Content, most_words: int | None) -> dict[str, Any]:
    weight = content.classifier.statistics.weight
    two = len(weight) == 2
    names = [column["name"] for column in content.columns]
    return {
        "model": page_model(content.classifier, names, most_words),
        "classes": content.names,
        "columns": content.columns,
        "examples": [example.values for example in content.examples],
        "target": 1 if two else int(weight.argmax()),
        "against": 0 if two else -1,
    }


def _can_split(analyzer: Analyzer) -> bool:
    return analyzer.unit in SPLIT and analyzer.takes_texts_as_they_are


def _dumped(told: Any) -> str:
    text = json.dumps(told, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _words(told: dict[str, Any]) -> int:
    factors = told["model"]["factors"]
    return max((len(f["parameters"].get("words", ())) for f in factors), default=0)


def _pairs(told: dict[str, Any]) -> list[str]:
    """Name the factors of several columns, in the order of page.js."""
    names = [column["name"] for column in told["columns"]]
    return [
        " × ".join(shown(names[j]) for j in factor["columns"])
        for factor in told["model"]["factors"]
        if len(factor["columns"]) > 1 and factor["family"] not in SEPARABLE
    ]
