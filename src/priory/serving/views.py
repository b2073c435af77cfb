"""The views of the page, made of the same components as a report."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np

from priory.base.errors import PrioryError, SettingError
from priory.base.formatting import shown
from priory.evaluation.evaluation import Evaluation
from priory.reporting.content import Content, drawn_examples
from priory.reporting.drifting import drifting
from priory.reporting.figures import figures, overview
from priory.reporting.markup import Html, h, joined
from priory.reporting.page_data import page_data
from priory.reporting.reading import reading
from priory.reporting.reports import learned_figures
from priory.reporting.shapes import columns
from priory.reporting.tables import section
from priory.reporting.trial import trial
from priory.reporting.waterfall import explained_row
from priory.reporting.working import flips, probabilities, worked_sum
from priory.serving.asked import STEP, AskedDrift
from priory.serving.models import Loaded

__all__ = [
    "ask_view",
    "content_of",
    "drift_view",
    "explained_view",
    "overview_view",
    "quality_view",
]

ROOM = 8_000_000
"""So many bytes the model may take that the browser computes with."""

MOST_POINTS = 400
"""A curve has so many points at most."""


def content_of(loaded: Loaded) -> Content:
    """Work out what the views are made of, once for each version of a model."""
    if "content" not in loaded.kept:
        classifier = loaded.classifier
        evaluation = learned_figures(classifier)
        loaded.kept["content"] = Content(
            classifier,
            classifier.provenance.target,
            evaluation,
            drawn_examples(classifier),
            False,
            classifier.tuning_sample,
        )
    found: Content = loaded.kept["content"]
    return found


def overview_view(loaded: Loaded) -> dict[str, Any]:
    """Say what the model is, how good, what it goes by, and what was read."""
    content = content_of(loaded)
    title = f"What the model knows of {content.of_target}"
    rows = "a sample of its rows" if loaded.classifier.has_sample else "no row of the data"
    holds = (
        f"The model’s file holds its counts and settings, and {rows}. This page shows of them the "
        "values of columns, the words that were counted, and figures over rows; never a row."
    )
    inside = joined(overview(content), columns(content), reading(content, holds))
    return {"title": title, "html": str(inside)}


def ask_view(loaded: Loaded) -> dict[str, Any]:
    """Give the form, and the data that the browser computes with."""
    content = content_of(loaded)
    data = page_data(content, ROOM)
    told = None if data.text is None else json.loads(data.text)
    ending = "The server works the row out below, and keeps nothing of it."
    return {"html": str(trial(content, data, "A row", ending)), "data": told}


def explained_view(loaded: Loaded, row: dict[str, Any]) -> dict[str, Any]:
    """Work one row out: probabilities with intervals, waterfall, what would flip it, the sum."""
    classifier, schema = loaded.classifier, loaded.classifier.statistics.schema
    worked = classifier.explain([row])[0]
    names = [shown(label) for label in classifier.classes]
    bounds, how = None, "This model keeps no rows, so its probabilities have no intervals."
    try:
        found = classifier.predict_interval([row])
        bounds, how = (found.low[0], found.high[0]), found.how
    except SettingError:
        pass
    parts: list[tuple[str, Html]] = [
        ("Probabilities", probabilities(names, worked.posterior, bounds, how)),
        ("Why", explained_row(names, worked)),
    ]
    try:
        parts.append(("What would flip it", flips(classifier.what_if([row], seconds=0.5), schema)))
    except PrioryError as error:
        parts.append(("What would flip it", h("p", str(error), class_="soft")))
    parts.append(("The worked sum", worked_sum(worked)))
    inside = [h("section", h("h3", title), made) for title, made in parts]
    p = dict(zip(map(str, classifier.classes), worked.posterior.tolist(), strict=True))
    return {"html": str(joined(*inside)), "probabilities": p}


def quality_view(loaded: Loaded) -> dict[str, Any]:
    """Show every figure, the reliability and the confusions; and curves to choose thresholds on."""
    content = content_of(loaded)
    e = content.evaluation
    if e is None:
        told = (
            "How good the model is can be shown when its file holds a sample of rows: train it "
            "with --keep-sample."
        )
        kept = loaded.classifier.provenance.figures
        inside: list[Any] = [h("p", told)]
        if kept is not None:
            inside.insert(
                0, h("p", f"Accuracy {kept.accuracy:.1%} of {kept.rows:,} rows, {kept.how}.")
            )
        return {"html": str(section("figures", "How good it is", *inside)), "curves": []}
    return {"html": str(figures(content)), "curves": _curves(e) if e.has_probabilities else []}


def drift_view(found: AskedDrift) -> dict[str, Any]:
    """Show how the rows asked lately differ from those learned."""
    n, since = found.asked, ""
    if found.since is not None:
        since = f" since {datetime.fromtimestamp(found.since, UTC):%d %B %Y, %H:%M} UTC"
    rows = f"{n:,} row{'s' * (n != 1)} {'was' if n == 1 else 'were'} asked{since}"
    told = f"{rows}; the model learned {found.learned:,}. Counts alone are kept, and no row."
    parts: list[Any] = [h("p", told, class_="lead")]
    if found.drift is None:
        parts.append(h("p", f"From {STEP} rows on they are compared with those learned."))
    else:
        parts.append(drifting(found.drift))
    if found.left_out:
        names = ", ".join(found.left_out)
        why = "the model has their means alone, and sums of what is asked are not kept"
        parts.append(h("p", f"Not compared: {names}; {why}.", class_="soft"))
    told = (
        f"Counted by the process {found.worker}; where there are several workers, each has its own."
    )
    parts.append(h("p", told, class_="soft"))
    return {"html": str(joined(*parts)), "drift": found.to_dict()}


def _curves(e: Evaluation) -> list[dict[str, Any]]:
    """List, for each class against the others, what every threshold would do."""
    found = []
    for k in e.separable:
        roc = e.roc(e.classes[k])
        n = len(roc.thresholds)
        some = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(int))
        positive = float(e.support[k])
        found.append(
            {
                "class": shown(e.classes[k]),
                "positive": positive,
                "negative": float(e.support.sum()) - positive,
                "thresholds": np.clip(roc.thresholds[some], 0.0, 1.0).tolist(),
                "true": roc.true_positive_rate[some].tolist(),
                "false": roc.false_positive_rate[some].tolist(),
            }
        )
    return found
