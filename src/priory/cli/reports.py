"""What is printed of a model, for people and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Any

import numpy as np

from priory.base.formatting import aligned, shown
from priory.base.typing import FloatArray
from priory.classifier.classifier import Classifier
from priory.data.rawtables import RawTable
from priory.data.schema import Kind
from priory.model.explanation import RowExplanation
from priory.model.information import column_information
from priory.tuning.choices import is_identifier

__all__ = [
    "drawn",
    "one_row",
    "predictions",
    "print_summary",
    "records",
    "summary",
    "tabulated",
    "worked",
]

MOST_COLUMNS, MOST_CLASSES, MOST_INFORMATIVE = 60, 20, 8
NUMBERS = ("rows", "share", "bits", "weight", "figure")


UNTUNED = {
    "stale": "Stale: rows came or went since families and weights were chosen. "
    "Train anew, or train with --keep-sample, so that they are chosen anew by themselves.",
    "not tuned": "Not tuned: families and weights were not chosen on any rows.",
}


def summary(classifier: Classifier) -> dict[str, Any]:
    """Return what a model has learned as plain values."""
    statistics, kept = classifier.statistics, classifier.provenance
    schema = classifier.schema if statistics.n_rows else statistics.schema
    families, weights = dict(schema.families), dict(schema.weights)
    return {
        "rows": statistics.n_rows,
        "target": kept.target,
        "tuning": classifier.state,
        "classes": [
            {"class": label, "rows": int(rows), "weight": float(weight)}
            for label, rows, weight in zip(
                statistics.classes, statistics.rows, statistics.weight, strict=True
            )
        ],
        "columns": [
            {
                "column": block.title,
                "kind": block.kind.value,
                "family": families.get(block.name),
                **({"weight": weights.get(block.name)} if weights else {}),
                "why": block.why,
            }
            for block in schema
        ],
        "informative": [
            {"column": name, "bits": round(found.bits, 6)}
            for name, found in column_information(statistics).items()
        ],
        "words": _words(classifier),
        "gives_class_away": _giveaways(classifier),
        "figures": None if kept.figures is None else asdict(kept.figures),
        "provenance": kept.to_dict(),
    }


def print_summary(classifier: Classifier, file: IO[str], console: Any = None) -> None:
    """Print what a model has learned: columns with reasons, classes, what tells most."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if console is None:
        console = Console(file=file, width=None if file.isatty() else 120, highlight=False)
    found = summary(classifier)

    def table(*headings: str) -> Table:
        made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for heading in headings:
            made.add_column(heading, justify="right" if heading in NUMBERS else "left")
        return made

    columns = table(*(found["columns"][0] if found["columns"] else ("column",)))
    for row in found["columns"][:MOST_COLUMNS]:
        columns.add_row(*map(escape, map(_cell, row.values())))
    console.print(columns)
    _more(console, len(found["columns"]) - MOST_COLUMNS, "columns")
    classes = table("class", "rows", "share", "")
    total = sum(row["weight"] for row in found["classes"]) or 1.0
    for row in sorted(found["classes"], key=lambda r: -r["rows"])[:MOST_CLASSES]:
        share = row["weight"] / total
        bar = "█" * round(30 * share)
        classes.add_row(escape(str(row["class"])), f"{row['rows']:,}", f"{share:.1%}", bar)
    console.print(classes)
    _more(console, len(found["classes"]) - MOST_CLASSES, "classes")
    if found["figures"]:
        told = found["figures"]
        how = f"{told['rows']:,} rows, each as if not learned ({told['how']})"
        figures = table(how, "figure")
        figures.add_row("accuracy", f"{told['accuracy']:.1%}")
        figures.add_row("log-loss", f"{told['log_loss']:.3f}")
        figures.add_row("calibration error", f"{told['calibration_error']:.3f}")
        console.print(figures)
    if found["tuning"] in UNTUNED:
        console.print(f"[yellow]{UNTUNED[found['tuning']]}[/yellow]", soft_wrap=True)
    informative = table("tells most of the class", "bits")
    for row in found["informative"][:MOST_INFORMATIVE]:
        informative.add_row(escape(row["column"]), f"{row['bits']:.3f}")
    if found["informative"]:
        console.print(informative)
    if found["words"]:
        words = table("class", "words that speak for it")
        for label, features in list(found["words"].items())[:MOST_CLASSES]:
            words.add_row(escape(label), escape("  ".join(features)))
        console.print(words)
    for row in found["gives_class_away"]:
        console.print(
            f"[yellow]Column {row['column']!r} alone gives the class of {row['right']:.1%} of the "
            "rows.[/yellow] Is it known before the class is? If not, leave it out: "
            f"--drop {escape(row['column'])}",
            soft_wrap=True,
        )


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else str(value)


def _words(classifier: Classifier) -> dict[str, list[str]]:
    """Return the words that weigh most for each class, where texts were learned."""
    if not any(block.kind is Kind.WORDS for block in classifier.statistics.schema.counted):
        return {}
    best = classifier.top_features(MOST_INFORMATIVE)
    return {str(label): [found.feature for found in best[label]] for label in best}


def _giveaways(classifier: Classifier) -> list[dict[str, Any]]:
    """Return columns that all but name the class, unless they name the rows."""
    statistics = classifier.statistics
    return [
        {"column": name, "right": round(found.right, 6)}
        for name, found in column_information(statistics).items()
        if found.gives_class_away
        and not is_identifier(statistics.schema[name], statistics.tables[name])
        and found.values * 10 <= statistics.n_rows
    ]


def _more(console: Any, n: int, what: str) -> None:
    if n > 0:
        console.print(f"  … and {n:,} more {what}; all of them with --json")


def predictions(
    classifier: Classifier, p: FloatArray, proba: bool, batch: Any, keep: Sequence[str]
) -> dict[str, Any]:
    """Return the columns of an answer: what is kept, the class, its probability, if wanted all."""
    from priory.base.labels import label_array

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
    """Return the columns of drawn rows, the class last; whole numbers without a point."""
    from priory.model.samples import is_integer

    def whole(values: Any) -> Any:
        rounded = [None if x != x else round(x) for x in values.tolist()]
        return np.array(rounded, dtype=object if None in rounded else np.int64)

    return {
        **{
            name: whole(values)
            if values.dtype.kind == "f" and is_integer(name, classifier.statistics)
            else values
            for name, values in columns.items()
        },
        target: labels,
    }


def one_row(X: RawTable, i: int) -> RawTable:
    """Return one row of a table."""
    return RawTable(X.names, 1, X.named, lambda j: X.get(j)[i : i + 1])


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table of parameters as plain values; a tuple becomes a list."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def tabulated(columns: dict[str, list[Any]]) -> str:
    """Return a table of parameters as text, numbers in six digits."""

    def cell(value: Any) -> str:
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else shown(value)

    rows = zip(*([cell(value) for value in values] for values in columns.values()), strict=True)
    return aligned([tuple(columns), *rows])


def worked(row: RowExplanation) -> dict[str, Any]:
    """Return a worked sum as plain values; an impossible value has no logarithm."""
    classes = [str(label) for label in row.classes]

    def by_class(values: Any) -> dict[str, float | None]:
        return {
            name: float(x) if np.isfinite(x) else None
            for name, x in zip(classes, values, strict=True)
        }

    return {
        "prediction": row.classes[int(np.argmax(row.posterior))],
        "log_prior": by_class(row.log_prior),
        "factors": [
            {
                "column": factor.column,
                "value": factor.value,
                "about": factor.about,
                "left_out": factor.left_out,
                "weight": factor.weight,
                "log_likelihood": by_class(factor.log_likelihood),
                "parts": [
                    {"factor": part.title, "exponent": part.exponent, "log": by_class(part.log_p)}
                    for part in (*factor.parts, *factor.together)
                ],
                "notes": list(factor.notes),
            }
            for factor in row.factors
        ],
        "bias": None if row.bias is None else by_class(row.bias),
        "is_score": row.is_score,
        "log_joint": by_class(row.log_joint),
        "posterior": by_class(row.posterior),
    }
