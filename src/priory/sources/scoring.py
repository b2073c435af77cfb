"""The rows of a source, in the types that a classifier was trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from priory.base.errors import SchemaError
from priory.base.parallel import at_most
from priory.classifier.classifier import Classifier
from priory.data.rawtables import RawTable
from priory.sources.base import Batch, Form, check_columns
from priory.sources.opening import open_source
from priory.sources.progress import Progress
from priory.sources.training import forms_for, known_features

__all__ = ["rows_of"]


def rows_of(
    classifier: Classifier,
    source: Any,
    *,
    keep: Sequence[str] = (),
    progress: bool | None = None,
    most: int | None = None,
    **opening: Any,
) -> Iterator[tuple[RawTable, Batch]]:
    """Iterate over a source: the features of each batch, and the batch itself.

    `keep` names further columns, which are read as they are. Columns that the training data did not
    have are ignored; those that they had must be there.

    >>> from priory import train
    >>> classifier = train("examples/play_tennis.csv", "play")
    >>> [X.n_rows for X, batch in rows_of(classifier, "examples/play_tennis.csv")]
    [14]
    """
    with at_most(classifier.n_threads):
        opened = open_source(source, **opening)
    with closing(opened):
        features = known_features(classifier, opened)
        check_columns(keep, opened.columns, "Column")
        forms = forms_for(classifier.statistics, opened)
        wanted = dict.fromkeys(keep, Form.TEXT if opened.is_text else Form.NATURAL)
        wanted |= {name: forms[name] for name in features}
        with Progress(opened, progress, "Predicting") as bar:
            for batch in opened.batches(wanted, most):
                for name in sorted(batch.misread):
                    value = opened.example(name, forms[name])
                    raise SchemaError(
                        f"Column {name!r} is read as {forms[name]}, but holds {value!r:.60}. If "
                        "that stands for a missing value, name it in na_values."
                    )
                yield batch.table(features), batch
                bar.add(batch.n_rows)
