"""Reports on models and predictions, as tables and as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import IO, Any

import numpy as np

from priory.base.formatting import aligned, printable, shown
from priory.base.labels import label_array
from priory.base.typing import FloatArray
from priory.classifier.classifier import Classifier
from priory.data.schema import Kind
from priory.model.information import column_information
from priory.model.samples import is_integer
from priory.statistics.cells import CELL_LIMIT
from priory.statistics.tables import NumbersTable
from priory.tuning.choices import is_identifier

__all__ = [
    "drawn",
    "predictions",
    "print_summary",
    "records",
    "summary",
    "tabulated",
]

MOST_COLUMNS, MOST_CLASSES, MOST_INFORMATIVE = 60, 20, 8
NUMBERS = ("rows", "share", "bits", "weight", "value")
UNTUNED = {
    "stale": "Stale: rows came or went since families and weights were chosen. "
    "Train anew, or train with --keep-sample, so that they are chosen anew automatically.",
    "not tuned": "Not tuned: families and weights were not chosen on any rows.",
}


def summary(classifier: Classifier) -> dict[str, Any]:
    """Summarize a model as plain values."""
    statistics, kept = classifier.statistics, classifier.provenance
    schema = classifier.schema if statistics.n_rows else statistics.schema
    families, weights = dict(schema.families), dict(schema.weights)
    classes = zip(statistics.classes, statistics.rows, statistics.weight, strict=True)
    information = column_information(statistics)
    return {
        "rows": statistics.n_rows,
        "target": kept.target,
        "tuning": classifier.state,
        "classes": [
            {"class": label, "rows": int(rows), "weight": float(weight)}
            for label, rows, weight in classes
        ],
        "columns": [
            {
                "column": block.title,
                "kind": block.kind.value,
                "family": families.get(block.name),
                **({"weight": weights.get(block.name)} if weights else {}),
                "why": _why(block.why, statistics.tables.get(block.name)),
            }
            for block in schema
        ],
        "informative": [
            {"column": name, "bits": round(found.bits, 6)} for name, found in information.items()
        ],
        "words": _words(classifier),
        "target_leakage": [
            {"column": name, "right": round(found.right, 6)}
            for name, found in information.items()
            if found.gives_class_away
            and not is_identifier(statistics.schema[name], statistics.tables[name])
            and found.values * 10 <= statistics.n_rows
        ],
        "metrics": None if kept.figures is None else asdict(kept.figures),
        "provenance": kept.to_dict(),
    }


def print_summary(classifier: Classifier, file: IO[str], console: Any = None) -> None:
    """Print a summary: columns with reasons, classes, metrics, mutual information.

    It goes to a file, or to a console of Rich that records it.
    """
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    width = None if file.isatty() else 120
    console = console or Console(file=file, width=width, highlight=False)
    found = summary(classifier)

    def show(headings: Sequence[str], rows: Iterable[Sequence[str]], more: str = "") -> None:
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for heading in headings:
            table.add_column(heading, justify="right" if heading in NUMBERS else "left")
        for row in rows:
            table.add_row(*(escape(printable(cell)) for cell in row))
        console.print(table)
        if more:
            console.print(more)

    def rest(of: str, most: int) -> str:
        n = len(found[of]) - most
        return f"  … and {n:,} more {of}; all of them with --json" if n > 0 else ""

    columns = found["columns"]
    cells = ([*map(_cell, row.values())] for row in columns[:MOST_COLUMNS])
    show(list(columns[0]) if columns else ["column"], cells, rest("columns", MOST_COLUMNS))
    show(("class", "rows", "share", ""), _class_rows(found), rest("classes", MOST_CLASSES))
    if metrics := found["metrics"]:
        rows = [
            ("accuracy", f"{metrics['accuracy']:.1%}"),
            ("log-loss", f"{metrics['log_loss']:.3f}"),
            ("calibration error", f"{metrics['calibration_error']:.3f}"),
        ]
        show((f"{metrics['how']}, {metrics['rows']:,} rows", "value"), rows)
    if found["tuning"] in UNTUNED:
        console.print(f"[yellow]{UNTUNED[found['tuning']]}[/yellow]", soft_wrap=True)
    if best := found["informative"][:MOST_INFORMATIVE]:
        bits = [(row["column"], f"{row['bits']:.3f}") for row in best]
        show(("mutual information with the target", "bits"), bits)
    if found["words"]:
        words = [(label, "  ".join(top)) for label, top in found["words"].items()]
        show(("class", "top words"), words[:MOST_CLASSES])
    for row in found["target_leakage"]:
        console.print(
            f"[yellow]Target leakage? Column {escape(repr(row['column']))} alone gives the class "
            f"of {row['right']:.1%} of the rows.[/yellow] If it is not known before the class is, "
            f"leave it out: --drop {escape(printable(row['column']))}",
            soft_wrap=True,
        )


def _why(why: str, table: Any) -> str:
    """Add the number of distinct values to what is said of integers."""
    if not why.startswith("integer") or not isinstance(table, NumbersTable):
        return why
    cells = table.cells
    n = f"more than {CELL_LIMIT:,}" if cells.level else f"{len(cells.keys):,}"
    return f"integer, {n} distinct value{'' if n == '1' else 's'}{why.removeprefix('integer')}"


def _class_rows(found: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    total = sum(row["weight"] for row in found["classes"]) or 1.0
    for row in sorted(found["classes"], key=lambda r: -r["rows"])[:MOST_CLASSES]:
        share = row["weight"] / total
        yield str(row["class"]), f"{row['rows']:,}", f"{share:.1%}", "█" * round(30 * share)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else str(value)


def _words(classifier: Classifier) -> dict[str, list[str]]:
    """List the top words of each class, if there are texts."""
    if not any(block.kind is Kind.WORDS for block in classifier.statistics.schema.counted):
        return {}
    best = classifier.top_features(MOST_INFORMATIVE)
    return {str(label): [found.feature for found in best[label]] for label in best}


def predictions(
    classifier: Classifier, p: FloatArray, proba: bool, batch: Any, keep: Sequence[str]
) -> dict[str, Any]:
    """Collect the columns of an answer: the kept ones, the class and its probability, or all."""
    best = p.argmax(axis=1)
    columns = {name: batch.columns[name] for name in keep}
    columns["prediction"] = label_array(classifier.classes)[best]
    columns["probability"] = p[np.arange(len(p)), best]
    if proba:
        columns |= {f"P({label})": p[:, k] for k, label in enumerate(classifier.classes)}
    return columns


def drawn(
    columns: dict[str, Any], labels: Any, target: str, classifier: Classifier
) -> dict[str, Any]:
    """Collect the columns of drawn rows, the class last; integers have no decimal point."""
    found = dict(columns)
    for name, values in columns.items():
        if values.dtype.kind == "f" and is_integer(name, classifier.statistics):
            rounded = [None if x != x else round(x) for x in values.tolist()]
            found[name] = np.array(rounded, dtype=object if None in rounded else np.int64)
    return {**found, target: labels}


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Convert a table of parameters to a list of its rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def tabulated(columns: dict[str, list[Any]]) -> str:
    """Format a table of parameters as text, numbers in six digits."""

    def cell(value: Any) -> str:
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else shown(value)

    rows = zip(*([cell(value) for value in values] for values in columns.values()), strict=True)
    return aligned([tuple(columns), *rows])
