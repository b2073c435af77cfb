"""How a model that has learned reads a source: which columns, and in which form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priory.base.errors import (
    PrioryWarning,
    SchemaError,
    did_you_mean,
    listing,
    warn,
)
from priory.classifier.classifier import Classifier
from priory.data.schema import Block, Kind
from priory.sources.base import Form, Source
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable

__all__ = ["form_of", "forms_for", "known_features", "learned_forms"]


def known_features(classifier: Classifier, source: Source) -> tuple[str, ...]:
    """List the columns that a classifier uses; those that a source does not have are missing.

    What is misspelt must not count as missing, and something must be there.
    """
    schema = classifier.statistics.schema
    needed = [c for block in schema if block.kind is not Kind.IDENTIFIER for c in block.columns]
    absent = [column for column in dict.fromkeys(needed) if column not in source.columns]
    if not absent:
        return tuple(c for c in schema.columns if c in source.columns)
    strange = [c for c in source.columns if c not in schema.known]
    for column in strange:
        if column != classifier.provenance.target and (hint := did_you_mean(column, absent)):
            raise SchemaError(
                f"Column {column!r} was not there when the model learned.{hint} A column that is "
                "missing on purpose has no similar name."
            )
    if len(absent) == len(set(needed)):
        raise SchemaError(
            f"No column that the model learned was found in {source.name}: it learned "
            f"{listing(needed, 10)}, and there is {listing(source.columns, 10)}."
        )
    warn(
        f"{source.name} has no column {listing(absent)}: missing in every row.",
        PrioryWarning,
    )
    known = {*source.columns, *absent}
    return tuple(c for c in schema.columns if c in known)


def forms_for(statistics: Statistics, source: Source) -> Mapping[str, Form]:
    """Find the form of each column of a source in which its values have the types learned."""
    if not source.is_text:
        return source.forms()
    learned = learned_forms(statistics)
    empty = {c for b in statistics.schema if b.kind is Kind.EMPTY for c in b.columns}
    found = source.forms() if empty else {}  # whatever they turn out to be
    return {
        column: found[column] if column in empty else learned.get(column, Form.TEXT)
        for column in source.columns
    }


def learned_forms(statistics: Statistics) -> dict[str, Form]:
    """Find the form of each column that was learned, but for empty ones."""
    return {
        column: form_of(block, statistics.tables.get(block.name), i)
        for block in statistics.schema
        if block.pairing is None and block.kind is not Kind.EMPTY  # pairs have their own blocks
        for i, column in enumerate(block.columns)
    }


def form_of(block: Block, table: Any, place: int) -> Form:
    """Find the form of the values that a table has counted."""
    if isinstance(table, LabelsTable):
        labels = [v[place] if isinstance(v, tuple) else v for v in table.labels]
        if any(isinstance(label, str) for label in labels):
            return Form.TEXT
        booleans = bool(labels) and all(isinstance(label, bool) for label in labels)
        return Form.BOOLEAN if booleans else Form.NUMBER
    if block.kind is Kind.NUMBERS and block.why.startswith("date"):
        return Form.DATE
    numbers = (Kind.NUMBERS, Kind.MOMENTS, Kind.COUNTS, Kind.SCATTER, Kind.EMPTY)
    return Form.NUMBER if block.kind in numbers else Form.TEXT
