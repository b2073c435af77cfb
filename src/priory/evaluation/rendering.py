"""Evaluations as text, HTML and plain JSON values."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.formatting import aligned
from priory.base.html import html_table
from priory.base.typing import Label

if TYPE_CHECKING:
    from priory.evaluation.evaluation import Evaluation

__all__ = [
    "amount",
    "as_dict",
    "as_html",
    "as_text",
    "four_digits",
    "plain",
    "probability",
    "shown",
]

MOST_CLASSES, MOST_MISTAKES, LONGEST_LABEL = 25, 10, 24


def shown(label: Label, longest: int | None = LONGEST_LABEL) -> str:
    """Format a label for one line: shortened, unprintable characters escaped.

    >>> shown("ham"), shown(True), shown(""), shown("a" * 30)
    ('ham', 'True', "''", 'aaaaaaaaaaaaaaaaaaaaaaa…')
    """
    text = str(label)
    if not text or not text.isprintable():
        text = repr(text)[1:-1] if text else "''"
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def four_digits(value: float | None) -> str:
    """Format a metric with four digits, or as a dash if it is undefined.

    >>> four_digits(2 / 3), four_digits(float("nan")), four_digits(None)
    ('0.6667', '–', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:.4f}"


def probability(value: float) -> str:
    """Format a probability with six digits, or in full if it is close to 1.

    >>> probability(1 / 3), probability(0.99999999), probability(0.5)
    ('0.333333', '0.99999999', '0.5')
    """
    return f"{value:.6g}" if value < 0.999 or value == 1 else repr(float(value))


def amount(value: float) -> str:
    """Format a number of rows, or their weight, as briefly as possible.

    >>> amount(12.0), amount(0.125), amount(1234567.0)
    ('12', '0.125', '1234567')
    """
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"


def plain(value: Any) -> Any:
    """Convert NumPy values to JSON values; what is not finite becomes None.

    >>> plain({"a": np.float64("nan"), "b": (np.int64(1), True)})
    {'a': None, 'b': [1, True]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_text(e: Evaluation) -> str:
    """Format an evaluation as text."""
    parts = [_title(e), aligned(_headline(e))]
    if e.has_probabilities and e.impossible_rows:
        parts[-1] += "\n" + _impossible(e)
    head, rows = _by_class(e)
    parts.append(aligned([head, *rows], right=True))
    if len(rows) < len(e.classes):
        parts[-1] += f"\n({len(e.classes) - len(rows)} classes with fewer rows are not shown)"
    table = e.confusion_table
    if table.fits:
        parts.append(str(table))
    elif mistakes := table.mistakes(MOST_MISTAKES):
        lines = [("true label", "predicted as", e.amounts)]
        lines += [(shown(label), shown(taken), amount(n)) for label, taken, n in mistakes]
        parts.append(aligned(lines))
    return "\n\n".join(parts)


def as_html(e: Evaluation) -> str:
    """Format an evaluation as HTML."""
    metrics = html_table(["metric", "value", ""], _headline(e), words=(0, 2))
    head, rows = _by_class(e)
    note = f"<p>{escape(_impossible(e))}</p>" if e.has_probabilities and e.impossible_rows else ""
    left_out = len(e.classes) - len(rows)
    more = f"<p>{left_out} classes with fewer rows are not shown.</p>" if left_out else ""
    confusion = e.confusion_table._repr_html_() if len(e.classes) <= MOST_CLASSES else ""
    title = f"<p><strong>{escape(_title(e))}</strong></p>"
    return f"<div>{title}{metrics}{note}{html_table(head, rows)}{more}{confusion}</div>"


def as_dict(e: Evaluation) -> dict[str, Any]:
    """Convert an evaluation to plain JSON values."""
    result: dict[str, Any] = {
        "how": e.how,
        "rows": e.n_rows,
        "weight": e.support.sum(),
        "classes": e.classes,
        "accuracy": e.accuracy,
        "accuracy_interval": e.interval("accuracy"),
        "balanced_accuracy": e.balanced_accuracy,
        "matthews": e.matthews,
    }
    if e.has_probabilities:
        table = e.reliability()
        result |= {
            "log_loss": e.log_loss,
            "impossible_rows": e.impossible_rows,
            "brier": e.brier,
            "calibration_error": table.error,
            "auc": e.auc,
            "average_precision": e.average_precision,
            "reliability": {
                "edges": table.edges,
                "rows": table.rows,
                "weight": table.weight,
                "confidence": table.confidence,
                "accuracy": table.accuracy,
            },
        }
    result["by_class"] = [metrics._asdict() for metrics in e.by_class]
    result["confusion_matrix"] = e.confusion_matrix
    return dict(plain(result))


def _title(e: Evaluation) -> str:
    weight = "" if e.weights is None else f" (weight {amount(e.support.sum())})"
    some = "rows" if e.n_rows != 1 else "row"
    kinds = "classes" if len(e.classes) != 1 else "class"
    return f"{e.how}: {e.n_rows} {some}{weight}, {len(e.classes)} {kinds}"


def _headline(e: Evaluation) -> list[tuple[str, str, str]]:
    rows = [
        ("accuracy", four_digits(e.accuracy), f"95 %: {e.interval('accuracy')}"),
        ("balanced accuracy", four_digits(e.balanced_accuracy), "mean recall"),
        ("Matthews correlation", four_digits(e.matthews), ""),
    ]
    if e.has_probabilities:
        several = "mean of one class against the rest"
        of = several if len(e.classes) > 2 else f"of {shown(e.classes[-1])}"
        rows += [
            ("log-loss", four_digits(e.log_loss), "lower is better, also for the next two"),
            ("Brier score", four_digits(e.brier), ""),
            ("calibration error", four_digits(e.calibration_error), ""),
            ("AUC", four_digits(e.auc), of),
            ("average precision", four_digits(e.average_precision), of),
        ]
    return rows


def _impossible(e: Evaluation) -> str:
    n = e.impossible_rows
    some = "1 row has" if n == 1 else f"{n} rows have"
    return f"{some} P = 0 for the true class; the log-loss counts 36.04 for each."


def _by_class(e: Evaluation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """List the header and the rows of the table of classes, the largest only if there are many."""
    places = range(len(e.classes))
    if len(e.classes) > MOST_CLASSES:
        places = sorted(np.argsort(-e.support, kind="stable")[:MOST_CLASSES])  # type: ignore[assignment]
    head = ["class", e.amounts, "precision", "recall", "F1"]
    rows = []
    for metrics in (e.by_class[k] for k in places):
        row = [shown(metrics.label), amount(metrics.rows)]
        row += map(four_digits, (metrics.precision, metrics.recall, metrics.f1))
        rows.append((*row, *([four_digits(metrics.auc)] if e.has_probabilities else [])))
    return (*head, *(["AUC"] if e.has_probabilities else [])), rows
