"""A form for one row, made from the schema: a control for each column, read by page.js."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.formatting import shown
from priory.base.typing import FloatArray
from priory.classifier.fitted import Fitted
from priory.data.schema import Block, Kind
from priory.families.categorical import Categorical
from priory.model.samples import is_integer
from priory.reporting.markup import Html, h
from priory.reporting.page_model import page_label
from priory.statistics.tables import LabelsTable, NumbersTable

__all__ = ["controls", "form_columns"]

TAIL = 0.002
"""The share of the rows beyond either end of a slider; its box takes any number."""


def form_columns(classifier: Fitted) -> list[dict[str, Any]]:
    """Describe the columns of a row for a form: their kinds, values and typical values.

    The typical value is the median of numbers and the most frequent label: no row of the data.

    >>> from priory import Classifier
    >>> classifier = Classifier().update({"x": ["a", "b", "b"], "n": [1.5, 2.0, 3.0]}, [0, 0, 1])
    >>> [(column["name"], column["kind"], column["typical"]) for column in form_columns(classifier)]
    [('x', 'labels', 'b'), ('n', 'numbers', 2.0)]
    """
    schema, tables = classifier.statistics.schema, classifier.statistics.tables
    alone = {name: b for b in schema if b.pairing is None for name in b.columns}
    used = {name for term in classifier.model.terms if term.counts for name in term.block.columns}
    listed = _listed_numbers(classifier)
    found = []
    for name in schema.columns:
        block = alone[name]
        told = {"name": name, "used": name in used}
        table = tables.get(block.name)
        if name in used:
            told |= _described(classifier, name, block, table, listed.get(name))
            if _mostly_missing(classifier, table):
                told["typical"] = None
        else:
            told |= {"kind": "none", "typical": None}
        found.append(told)
    return found


def _described(
    classifier: Fitted, name: str, block: Block, table: Any, listed: list[Any] | None
) -> dict[str, Any]:
    if block.kind is Kind.WORDS:
        return {"kind": "text", "typical": None}
    if isinstance(table, LabelsTable) and block.kind is Kind.LABELS:
        typical = table.labels[int(table.weight.sum(axis=0).argmax())]
        values = [page_label(table.labels[i]) for i in block.in_order(table.labels)]
        return {"kind": "labels", "values": values, "typical": page_label(typical)}
    if block.kind is Kind.JOINT:
        place = block.columns.index(name)
        values = list(dict.fromkeys(label[place] for label in table.labels))
        return {"kind": "labels", "values": [page_label(v) for v in values], "typical": None}
    if block.kind is Kind.COUNTS:
        return {"kind": "numbers", "low": 0, "high": 10, "step": 1, "typical": 0}
    if not isinstance(table, NumbersTable):
        low, high = _about(table, list(block.columns).index(name))
        return {"kind": "numbers", **_steps(low, high, False), "typical": (low + high) / 2}
    weight, order = table.cells.weight.sum(axis=0), np.argsort(table.cells.values)
    numbers, share = table.cells.values[order], np.cumsum(weight[order]) / weight.sum()
    typical = float(numbers[np.searchsorted(share, 0.5)])
    if block.order:
        names = [shown(label) for label in block.order]
        places = list(range(len(names)))
        return {"kind": "labels", "values": places, "names": names, "typical": round(typical)}
    if listed is not None:
        nearest = min(listed, key=lambda x: abs(float(x) - typical))
        return {"kind": "listed", "values": listed, "typical": nearest}
    ends = np.minimum(np.searchsorted(share, [TAIL, 1 - TAIL]), len(numbers) - 1)
    low, high = numbers[ends].tolist()
    whole = is_integer(name, classifier.statistics)
    steps = _steps(low, high, whole)
    told = {"kind": "date" if block.unit == "date" else "numbers", **steps}
    return {**told, "typical": int(typical) if whole else _round(typical, steps["step"] / 10)}


def _mostly_missing(classifier: Fitted, table: Any) -> bool:
    if not isinstance(table, LabelsTable | NumbersTable):
        return False
    return float(table.present.sum()) < 0.5 * float(classifier.statistics.weight.sum())


def _listed_numbers(classifier: Fitted) -> dict[str, list[Any]]:
    """Find numbers that are read as categories: only those that were learned say anything."""
    found = {}
    for term in classifier.model.terms:
        if term.about == "value" and isinstance(term.family, Categorical) and term.weight:
            labels = term.parameters.labels
            if labels and all(isinstance(x, int | float) and x is not bool(x) for x in labels):
                found[term.block.columns[0]] = sorted(labels)
    return found


def _about(table: Any, place: int) -> tuple[float, float]:
    """Guess the range of a column of which only moments are known."""
    mean = np.asarray(table.mean)[:, place]
    return float(mean.min() - 3.0), float(mean.max() + 3.0)


def _steps(low: float, high: float, whole: bool) -> dict[str, float]:
    if whole:
        return {"low": int(low), "high": int(max(high, low + 1)), "step": 1}
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-12) / 100))
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    return {"low": _round(low, step), "high": _round(high, step), "step": _round(step, step)}


def _round(x: FloatArray | float, step: float) -> float:
    return float(round(float(x), max(0, -int(np.floor(np.log10(step))))))


def controls(columns: list[dict[str, Any]], order: list[int]) -> Html:
    """Make the rows of the form, with room for what page.js draws beside each."""
    return h("div", [_control(i, columns[i]) for i in order], class_="columns")


def _control(i: int, column: dict[str, Any]) -> Html:
    name, kind, place = column["name"], column["kind"], f"column-{i}"
    if kind == "text":
        control: Any = h("textarea", id=place, rows=5, spellcheck="false")
    elif kind == "labels":
        control = h("select", id=place)  # page.js fills it: the values stand in the data once
    elif kind == "date":
        control = h("input", id=place, type="date")
    else:
        control = (
            h("input", type="range", aria_label=f"{name}, slider", class_="slider"),
            h("input", id=place, type="number", step="any", placeholder="missing"),
        )
    clear = None
    if kind not in ("labels", "text"):
        clear = h(
            "button",
            "×",
            type="button",
            class_="clear",
            aria_label=f"{name} is missing",
            title="missing",
        )
    return h(
        "div",
        h("label", name, for_=place),
        h("div", control, clear, class_="control"),
        h("div", class_="strip"),
        h("output", for_=place, class_="adds"),
        class_="column text" if kind == "text" else "column",
        data_column=i,
    )
