"""How good a model is: in sentences, in figures with intervals, and in pictures."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np

from priory.base.formatting import shown
from priory.evaluation.evaluation import Evaluation
from priory.evaluation.rendering import amount
from priory.reporting.charts import bar, interval_bar, reliability_chart
from priory.reporting.content import Content
from priory.reporting.markup import Html, h
from priory.reporting.scales import percent
from priory.reporting.tables import MOST_CLASSES, section, table

__all__ = ["figures", "overview"]

MANY_ROWS = 20_000
"""Of more rows than this intervals are bootstrapped by fewer resamples."""

FIGURES = {
    "accuracy": ("accuracy", "share of rows whose class is predicted right"),
    "balanced_accuracy": ("balanced accuracy", "mean share over the classes"),
    "auc": ("AUC", "how often a row of the class scores above another"),
    "average_precision": ("average precision", "mean precision over all thresholds"),
    "matthews": ("Matthews correlation", "1 is perfect, 0 is chance"),
    "log_loss": ("log-loss", "lower is better: mean −log P of the true class"),
    "brier": ("Brier score", "lower is better: mean squared error of the probabilities"),
    "calibration_error": ("calibration error", "lower is better: how far sureness is off"),
}


def overview(content: Content) -> Html:
    """Say in sentences what the model is, and how good."""
    classifier, e = content.classifier, content.evaluation
    statistics = classifier.statistics
    used = sum(column["used"] for column in content.columns)
    n = len(classifier.classes)
    told = [
        h(
            "p",
            f"This model predicts {content.of_target}, one of {n} classes, from {used} "
            f"column{'s' * (used != 1)}. It learned {statistics.n_rows:,} rows. ",
            _quality(content),
            class_="lead",
        )
    ]
    if e is not None and e.has_probabilities:
        told.append(_tiles(content, e))
    return h("div", told, _classes(content))


def _quality(content: Content) -> str:
    e, kept = content.evaluation, content.classifier.provenance.figures
    if e is None:
        if kept is None:
            return "How good it is was not measured: no rows were given."
        return f"It is right in {percent(kept.accuracy)} of {kept.rows:,} rows ({kept.how})."
    low, high = e.interval("accuracy")
    largest = int(e.support.argmax())
    chance = float(e.support[largest] / e.support.sum())
    return (
        f"It is right in {percent(e.accuracy)} of {e.n_rows:,} rows ({e.how}; 95 % interval "
        f"{percent(low)} to {percent(high)}). Always answering “{shown(e.classes[largest])}” "
        f"would be right in {percent(chance)}."
    )


def _tiles(content: Content, e: Evaluation) -> Html:
    found = [
        ("accuracy", percent(e.accuracy)),
        ("AUC", _number(e.auc)),
        ("log-loss", _number(e.log_loss)),
    ]
    found.append(("calibration error", percent(e.calibration_error)))
    tiles = [h("div", h("dt", name), h("dd", h("strong", value))) for name, value in found]
    return h("dl", tiles, class_="tiles")


def _number(x: float) -> str:
    return "–" if isnan(x) else f"{x:.3f}"


def _classes(content: Content) -> Html:
    statistics = content.classifier.statistics
    weight, total = statistics.weight, float(statistics.weight.sum()) or 1.0
    order = np.argsort(-weight, kind="stable")[:MOST_CLASSES].tolist()
    rows = [
        (
            content.names[k],
            amount(float(weight[k])),
            percent(weight[k] / total),
            bar(weight[k] / total),
        )
        for k in order
    ]
    more = len(weight) - len(order)
    caption = f"The classes, of {statistics.n_rows:,} rows learned" + (
        f"; {more} smaller ones are not shown" if more else ""
    )
    return table(("class", "rows", "share", ""), rows, caption, numbers=(1, 2))


def figures(content: Content) -> Html | None:
    """Show every figure with its interval, the reliability and the confusions."""
    e = content.evaluation
    if e is None:
        return None
    names = FIGURES if e.has_probabilities else ("accuracy", "balanced_accuracy", "matthews")
    rows = [row for name in names if (row := _figure(e, name)) is not None]
    honest = (
        "These rows took no part in what is judged here."
        if "given" not in e.how and "held-out" not in e.how
        else "This is honest only if the model was not trained on these rows."
    )
    pictures = []
    if e.has_probabilities:
        caption = (
            "Where dots lie on the diagonal, the model is right as often as it says. A dot is "
            "larger the more rows it stands for; lines are 95 % intervals."
        )
        pictures.append(
            h(
                "figure",
                h("h3", "Reliability"),
                reliability_chart(e.reliability()),
                h("figcaption", caption),
            )
        )
    pictures.append(h("div", h("h3", "Confusion"), _confusion(e)))
    return section(
        "figures",
        "How good it is",
        h("p", f"{e.n_rows:,} rows, {e.how}. {honest}", class_="soft"),
        table(
            ("figure", "value", "95 % interval", ""),
            rows,
            "Figures with intervals",
            (1, 2),
        ),
        h("div", pictures, class_="pair"),
        _by_class(e),
    )


def _figure(e: Evaluation, name: str) -> tuple[Any, ...] | None:
    value = float(getattr(e, name))
    if isnan(value):
        return None
    resamples = 1000 if e.n_rows <= MANY_ROWS else 200
    low, high = e.interval(name, n_resamples=resamples)
    least, most = (0.5 if low > 0.5 else 0.0 if low > 0 else -1.0), 1.0
    if name in ("log_loss", "brier", "calibration_error"):
        least = 0.0
        most = max(high * 1.25, _chance(e) if name == "log_loss" else 0.25)
    title, told = FIGURES[name]
    drawn = interval_bar(value, low, high, least, most)
    name_of = (title, h("small", told, class_="under"))
    return name_of, f"{value:.3f}", f"{low:.3f} – {high:.3f}", drawn


def _chance(e: Evaluation) -> float:
    p = e.support[e.support > 0] / e.support.sum()
    return float(-(p * np.log(p)).sum())


def _confusion(e: Evaluation) -> Html:
    counts, n = e.confusion_matrix, len(e.classes)
    if n > MOST_CLASSES:
        rows = [
            (shown(true), shown(taken), amount(float(count)))
            for true, taken, count in e.confusion_table.mistakes(MOST_CLASSES)
        ]
        return table(
            ("true class", "predicted as", "rows"), rows, "The most frequent mistakes", (2,)
        )
    names = [shown(label) for label in e.classes]
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    body = []
    for j, name in enumerate(names):
        cells = []
        for k in range(n):
            share = float(counts[j, k] / totals[j, 0])
            level = 0 if not share else min(1 + int(share * 5), 5)
            classes = f"h{level}{' right' if j == k else ''}"
            told = (amount(float(counts[j, k])), h("small", percent(share, 0)))
            cells.append(h("td", told, class_=classes))
        body.append(h("tr", h("th", name, scope="row"), cells))
    head = h(
        "tr", h("th", "true ↓ predicted →", scope="col"), [h("th", k, scope="col") for k in names]
    )
    caption = "Rows by their true class and by what was predicted; per cent are of the true class"
    inside = h(
        "table", h("caption", caption), h("thead", head), h("tbody", body), class_="confusion"
    )
    return h("div", inside, class_="scroll", tabindex=0, role="region", aria_label="Confusion")


def _by_class(e: Evaluation) -> Html:
    order = np.argsort(-e.support, kind="stable")[:MOST_CLASSES].tolist()
    rows = [
        (
            shown(m.label),
            amount(m.rows),
            *(_number(x) for x in (m.precision, m.recall, m.f1)),
            *((_number(m.auc),) if e.has_probabilities else ()),
        )
        for m in (e.by_class[k] for k in order)
    ]
    head = (
        "class",
        "rows",
        "precision",
        "recall",
        "F1",
        *(("AUC",) if e.has_probabilities else ()),
    )
    return table(head, rows, "Each class against the others", range(1, len(head)))
