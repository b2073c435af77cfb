"""Evaluate a model on the rows of a frame of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from priory.base.errors import InputError, PrioryWarning, SettingError, warn
from priory.base.labels import label_token, token_label
from priory.data.columns import Labels
from priory.evaluation import Evaluation
from priory.sources.base import Reading, check_columns, row_number
from priory.sources.counting import read_classes
from priory.sources.learned_forms import known_features
from priory.spark.carrying import carried, loaded, opened_model
from priory.spark.counting import PartSource, as_tables
from priory.spark.executing import on_executors
from priory.spark.failing import explained
from priory.spark.predicting import read_rows

__all__ = ["evaluate"]

MOST_NUMBERS = 50_000_000
"""So many probabilities come to the driver at most; of more rows it is a random share."""


def evaluate(model: Any, frame: Any, target: str | None = None) -> Evaluation:
    """Compare predictions with the classes of a frame's rows, which the model has not learned.

    Executors predict; the driver receives a class and the probabilities of each row, of a random
    share of them where these would be more than fifty million numbers.

    >>> print(priory.spark.evaluate("days.priory", spark.table("new")))  # doctest: +SKIP
    """
    classifier = opened_model(model)
    _ = classifier.model
    target = target or classifier.provenance.target
    if target is None:
        raise SettingError("The model does not know its target column; name it: target=…")
    check_columns([target], frame.columns, "The target column")
    features = known_features(classifier, PartSource((), "Spark frame", frame.columns, Reading()))
    with explained("Spark frame"):
        n = frame.count()
    share = min(1.0, MOST_NUMBERS / max(n * len(classifier.classes), 1))
    job = _Judge(carried(classifier, frame.sparkSession), features, target, share)
    with explained("Spark frame"):
        found = frame.mapInArrow(on_executors(job, in_rows=False), "y string, p binary").toArrow()
    unlabelled = found["y"].null_count
    found = found.filter(found["y"].is_valid())
    if not found.num_rows:
        raise InputError(f"No row has a class in column {target!r} to compare with.")
    p = np.frombuffer(b"".join(found["p"].to_pylist()), dtype=np.float64)
    p = p.reshape(found.num_rows, len(classifier.classes))
    codes, labels, known = _codes(found["y"], [label_token(k) for k in classifier.classes])
    p = np.pad(p, ((0, 0), (0, len(labels) - known)))  # P = 0 of a class that is not known
    if unlabelled:
        warn(f"{unlabelled:,} rows without a class were skipped.", PrioryWarning)
    how = "on the given rows" + (f", a random {share:.3g} of {n:,}" if share < 1 else "")
    classes = [token_label(token) for token in labels]
    return Evaluation(Labels(codes, tuple(classes)), p, classes, how=how)


def _codes(column: Any, known: list[str]) -> tuple[Any, list[str], int]:
    """Code the classes of rows: those of the model first, then others."""
    encoded = column.combine_chunks().dictionary_encode()
    if hasattr(encoded, "chunk"):
        encoded = encoded.chunk(0)
    tokens = encoded.dictionary.to_pylist()
    labels = [*known, *(token for token in tokens if token not in known)]
    place = np.array([labels.index(token) for token in tokens], dtype=np.int32)
    return place[encoded.indices.to_numpy()], labels, len(known)


class _Judge:
    """Predict the rows of a partition, and keep their classes beside."""

    def __init__(self, model: str, features: tuple[str, ...], target: str, share: float) -> None:
        self._model, self._features, self._target, self._share = model, features, target, share

    def __call__(self, batches: Iterator[Any], part: int) -> Iterator[Any]:
        """Yield the class of each row, as JSON, and its probabilities, as bytes."""
        import pyarrow as pa

        classifier, before = loaded(self._model), 0
        rng = np.random.default_rng(part)
        for table in as_tables(batches):
            if self._share < 1:
                table = table.filter(pa.array(rng.random(table.num_rows) < self._share))
            if not table.num_rows:
                continue
            X = read_rows(
                classifier, table, self._features, row_number(f"partition {part}", before)
            )
            before += table.num_rows
            classes = table[self._target]
            labels = read_classes(classes, self._target, Reading(), classifier.classes)
            names = pa.array([*map(label_token, labels.labels), None], pa.string())
            codes = np.where(labels.codes < 0, np.int64(len(labels.labels)), labels.codes)
            p = np.ascontiguousarray(classifier.predict_proba(X), dtype=np.float64)
            rows = pa.array([row.tobytes() for row in p], pa.binary())
            yield pa.RecordBatch.from_arrays([names.take(pa.array(codes)), rows], ["y", "p"])
