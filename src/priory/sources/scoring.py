"""The rows of a source, in the types that a classifier was trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from priory.base.parallel import at_most
from priory.classifier.classifier import Classifier
from priory.data.rawtables import RawTable
from priory.sources.base import Batch, Form, check_columns
from priory.sources.fitting import fitted, split_by_fit
from priory.sources.learned_forms import forms_for, known_features, learned_forms
from priory.sources.opening import open_source
from priory.sources.progress import Progress

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
    have are ignored; those that they had and the source has not are missing, with a warning. Rows
    before one that cannot be read come first; then it is an error, or left out.

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
        learned = learned_forms(classifier.statistics)
        forms = forms_for(classifier.statistics, opened)
        wanted = dict.fromkeys(keep, Form.TEXT if opened.is_text else Form.NATURAL)
        wanted |= {name: forms[name] for name in features if name in forms}
        with Progress(opened, progress, "Predicting") as bar:
            for batch in opened.batches(wanted, most):
                given = fitted(batch, learned, opened.reading)
                good, error = split_by_fit(given, opened, {**forms, **learned})
                if good.n_rows:
                    yield good.table(features), good
                bar.add(batch.n_rows)
                if error is not None:
                    raise error
        opened.skipped.tell(opened.name)
