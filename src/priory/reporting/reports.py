"""A report on a model: one file of HTML, to hand over."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError
from priory.base.replacing import replacing
from priory.base.typing import FloatArray
from priory.base.version import __version__
from priory.classifier.fitted import Fitted
from priory.data.columns import Frame, Labels
from priory.data.reading import read_weights
from priory.evaluation import leave_one_out
from priory.evaluation.evaluation import Evaluation
from priory.evaluation.held_out import evaluate
from priory.evaluation.validation import trained
from priory.reporting.advice import advice
from priory.reporting.content import Content, classifier_of, drawn_examples, given_examples
from priory.reporting.figures import figures, overview
from priory.reporting.markup import asset, h, raw
from priory.reporting.page_data import page_data
from priory.reporting.reading import reading
from priory.reporting.shapes import columns
from priory.reporting.trial import trial
from priory.reporting.waterfall import examples as explained
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics

__all__ = ["Report", "make_report", "report"]

LIMIT = 380_000
"""So many bytes a report has about at most; the model is cut, or left out, to keep to it."""

SAMPLE = 20_000
"""Averages are over so many rows at most, of each class a part."""

ORDER = ("figures", "columns", "trial", "examples", "advice", "reading")


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report: `html` is the whole file. A notebook shows it in a frame.

    >>> from priory import NaiveBayes
    >>> model = NaiveBayes.textbook().fit({"x": ["a", "b", "b"]}, ["no", "yes", "yes"])
    >>> model.report().html[:15]
    '<!doctype html>'
    """

    html: str

    def __repr__(self) -> str:
        return f"<Report, {len(self.html.encode()) / 1000:.0f} kB: save it to a file of HTML>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="Report" '
            'style="width: 100%; height: 40rem; border: 1px solid #aaa" sandbox="allow-scripts">'
            "</iframe>"
        )

    def save(self, path: Any) -> None:
        """Write the report to a file."""
        with replacing(path) as made:
            Path(made).write_text(self.html, encoding="utf-8")


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    learned: bool | None = None,
    rows: Sequence[int] = (),
    title: str | None = None,
) -> Report:
    """Write a report on a model: how good it is, what it goes by, and a form to try it in.

    Figures are of the rows X with their classes y. Are they the very rows that were learned, as
    their counts tell, then each is judged by models without it; `learned` says so of other rows
    that were learned, or were not. Without rows, the figures are of the sample that the model was
    tuned on, where it is at hand.

    No row of the data is in the report, unless `rows` asks for some of X by their numbers, from 0,
    to be explained in it.

    >>> from priory import NaiveBayes
    >>> from priory.examples import play_tennis
    >>> X, y = play_tennis()
    >>> model = NaiveBayes.textbook().fit(X, y)
    >>> found = report(model, X, y)
    >>> "exact leave-one-out" in found.html, len(found.html) < 400_000
    (True, True)
    """
    classifier = classifier_of(model)
    if (X is None) != (y is None):
        raise SettingError("report takes rows and their classes, X and y, or neither.")
    target = classifier.provenance.target or getattr(y, "name", None)
    told: dict[str, Any] = {"target": target, "title": title}
    if X is None:
        if len(rows):
            raise SettingError("rows asks for rows of X: give X and y too.")
        return make_report(classifier, learned_figures(classifier), **told)
    frame, labels = model.read_rows(X, y)
    told["examples"] = given_examples(classifier, frame, _titles(rows, len(labels)))
    weight = read_weights(sample_weight, len(labels))
    told["sample"] = Sample.of(frame, labels, weight, SAMPLE)
    if learned is None:
        learned = _are_learned(classifier, frame, labels, weight)
    if not learned:
        found = evaluate(model, X, y, sample_weight)
    elif weight is None and classifier.tuning is not None and classifier.has_sample:
        found = learned_figures(classifier) or leave_one_out(model, X, y)
    else:
        found = leave_one_out(model, X, y, sample_weight)
    return make_report(classifier, found, **told)


def learned_figures(classifier: Fitted) -> Evaluation | None:
    """Judge a model on the sample of the rows learned that it has, each without itself."""
    _ = classifier.model
    sample = classifier.tuning_sample
    return None if sample is None else trained(classifier, sample)  # type: ignore[arg-type]


def _are_learned(
    classifier: Fitted, frame: Frame, labels: Labels, weight: FloatArray | None
) -> bool:
    """Tell whether rows are the very rows that were learned: their counts are the same."""
    statistics = classifier.statistics
    if len(labels) != statistics.n_rows:
        return False
    return bool(Statistics.count(frame, labels, statistics.schema, weight) == statistics)


def _titles(rows: Any, n: int) -> dict[str, int]:
    """Name the rows that are asked for."""
    found = {}
    for i in rows:
        whole = isinstance(i, int | np.integer) and not isinstance(i, bool)
        if not whole or not 0 <= i < n:
            raise InputError(f"rows must be numbers of rows from 0 to {n - 1}, not {i!r}.")
        found[f"row {i}"] = int(i)
    return found


def make_report(
    classifier: Fitted,
    evaluation: Evaluation | None,
    *,
    target: str | None = None,
    title: str | None = None,
    examples: Any = (),
    sample: Sample | None = None,
) -> Report:
    """Write a report on a classifier whose figures are known.

    Averages over rows are of the sample that the classifier keeps, or of the given one.

    >>> from priory import Classifier
    >>> classifier = Classifier().update({"x": ["a", "b", "b"]}, ["no", "yes", "yes"])
    >>> "What colour?" in make_report(classifier, None, title="What colour?").html
    True
    """
    if len(classifier.classes) < 2:
        raise InputError("A report is on a model that tells classes apart; it has learned one.")
    given = bool(examples)
    shown_rows = examples or drawn_examples(classifier)
    sample = classifier.tuning_sample or sample
    content = Content(classifier, target, evaluation, tuple(shown_rows), given, sample)
    parts = {
        "figures": ("How good it is", figures(content)),
        "columns": ("What it goes by", columns(content)),
        "examples": ("Examples", explained(content)),
        "advice": ("Advice", advice(content)),
        "reading": ("What was read", reading(content)),
    }
    others = sum(len(inside.encode()) for _, inside in parts.values() if inside is not None)
    data = page_data(content, LIMIT - others - len(_script()) - len(asset("page.css")))
    parts["trial"] = ("Try it", trial(content, data))
    chosen = [(name, *parts[name]) for name in ORDER if parts[name][1] is not None]
    heading = title or f"What the model knows of {content.of_target}"
    links = [h("li", h("a", name, href=f"#{place}")) for place, name, _ in chosen]
    contents = h("nav", h("ul", links), aria_label="Contents")
    body = (
        h("a", "To the report", href="#main", class_="skip"),
        h("header", h("h1", heading), overview(content), contents),
        h("main", [inside for *_, inside in chosen], id="main"),
        h("footer", f"Made by priory {__version__}. This file needs no network and sends nothing."),
    )
    scripts = None
    if data.text is not None:
        holder = h("script", raw(data.text), type="application/json", id="priory-data")
        scripts = (holder, h("script", raw(_script())))
    return Report(_page(heading, (body, scripts)))


def _page(title: str, body: Any) -> str:
    style, script = asset("page.css"), _script()
    rules = [
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        f"script-src '{_digest(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    head = h(
        "head",
        h("meta", charset="utf-8"),
        raw(f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("meta", name="generator", content=f"priory {__version__}"),
        h("title", title),
        h("style", raw(style)),
    )
    return f"<!doctype html>\n{h('html', head, h('body', body), lang='en')}\n"


@cache
def _script() -> str:
    return asset("scoring.js") + asset("page.js")


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
