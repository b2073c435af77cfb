"""Give the rows of a source to a classifier that has learned, in the types it learned them in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from priory.base.errors import SchemaError
from priory.base.parallel import at_most
from priory.classifier.classifier import Classifier
from priory.data.columns import Labels
from priory.data.natural import natural
from priory.data.rawtables import RawTable
from priory.data.schema import Kind
from priory.sources.base import Batch, Form, check_columns
from priory.sources.counting import in_known_types
from priory.sources.opening import open_source
from priory.sources.progress import Progress
from priory.sources.training import forms_for

__all__ = ["classes_of", "rows_of"]


def rows_of(
    classifier: Classifier,
    source: Any,
    *,
    keep: Sequence[str] = (),
    progress: bool | None = None,
    most: int | None = None,
    **opening: Any,
) -> Iterator[tuple[RawTable, Batch]]:
    """Return the rows of a source, batch by batch: what the classifier looks at, and all columns.

    `keep` names further columns to be read as they are. Columns that were not there when the model
    learned are not looked at; one that was must be there.

    >>> from priory import train
    >>> classifier = train("examples/play_tennis.csv", "play")
    >>> [X.n_rows for X, batch in rows_of(classifier, "examples/play_tennis.csv")]
    [14]
    """
    with at_most(classifier.n_threads):
        opened = open_source(source, **opening)
    try:
        schema = classifier.statistics.schema
        needed = [c for b in schema if b.kind is not Kind.IDENTIFIER for c in b.columns]
        check_columns(needed, opened.columns, "Column")
        check_columns(keep, opened.columns, "Column")
        forms = forms_for(classifier.statistics, opened)
        features = [c for c in schema.columns if c in opened.columns]
        natural_form = Form.TEXT if opened.is_text else Form.NATURAL
        wanted = {name: forms[name] for name in features}
        wanted |= {name: natural_form for name in keep if name not in wanted}
        with Progress(opened, progress, "Predicting") as bar:
            for batch in opened.batches(wanted, most):
                for name in sorted(batch.misread):
                    value = opened.example(name, forms[name])
                    raise SchemaError(
                        f"Column {name!r} is read as {forms[name]}, but holds {value!r:.60}. Is it "
                        "a gap? Then name it in na_values."
                    )
                yield batch.table(features), batch
                bar.add(batch.n_rows)
    finally:
        opened.close()


def classes_of(classifier: Classifier, batch: Batch, target: str) -> Labels:
    """Return the class that each row of a batch has, in the type that the classifier learned."""
    labels = natural(batch.columns[target], target).column.as_labels()
    return in_known_types(labels, classifier.classes)
