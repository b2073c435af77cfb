"""What was read, what was left out, and what a report holds."""

from __future__ import annotations

from priory.reporting.content import Content
from priory.reporting.markup import Html, h
from priory.reporting.tables import MOST_CLASSES, section, table

__all__ = ["reading"]


def reading(content: Content, holds: str | None = None) -> Html:
    """Say what was read, what left out, and what this file holds, or what `holds` says instead."""
    classifier = content.classifier
    schema, kept = classifier.schema, classifier.provenance
    families, weights = dict(schema.families), dict(schema.weights)
    rows = [
        (
            block.title,
            block.kind.value,
            families.get(block.name, "–"),
            *((f"{weights[block.name]:.2f}" if block.name in weights else "–",) if weights else ()),
            block.why,
        )
        for block in schema
    ]
    head = ("column", "kind", "family", *(("weight",) if weights else ()), "why")
    facts: list[str] = []
    sources = kept.sources[:MOST_CLASSES]
    facts += [f"{_without_folders(source.name)}: {source.rows:,} rows" for source in sources]
    if kept.dropped:
        facts.append("left out on purpose: " + ", ".join(kept.dropped))
    if silent := content.axes.silent:
        facts.append("columns that change no prediction: " + ", ".join(silent))
    if kept.min_count:
        facts.append(f"values in fewer than {kept.min_count} rows were removed")
    holds = holds or (
        "This file holds the model’s parameters, among them the values of columns and the words "
        "that were counted, and figures over rows. "
        + (
            "It holds the rows of the examples, which were asked for, and no other row of the data."
            if content.has_given_rows
            else "It holds no row of the data."
        )
    )
    return section(
        "reading",
        "What was read, and what left out",
        table(head, rows, "Columns, how they were read, and why", (3,) if weights else ()),
        h("ul", [h("li", fact) for fact in facts]) if facts else None,
        h("p", holds),
    )


def _without_folders(source: str) -> str:
    """Name a file without its folders, which are nobody's business; a query stays as it is.

    >>> _without_folders("/home/ada/days.csv"), _without_folders("SELECT a / b FROM days")
    ('days.csv', 'SELECT a / b FROM days')
    """
    is_file = "://" not in source and not any(c.isspace() for c in source)
    return source.replace("\\", "/").rpartition("/")[2] or source if is_file else source
