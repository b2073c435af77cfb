"""Learn from a stream of Spark, micro-batch by micro-batch, each once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from priory.base.errors import SettingError
from priory.base.replacing import locked
from priory.classifier.classifier import load
from priory.spark.frames import quoted
from priory.spark.training import update

__all__ = ["learn_batch", "update_stream"]


def update_stream(
    path: str | os.PathLike[str],
    stream: Any,
    checkpoint: str,
    *,
    trigger: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Let a model file learn a stream of Spark; the result is Spark's query, which runs on.

    Every micro-batch is counted on the cluster, and the file is replaced in one step. With the sums
    it holds the number of the last batch of the stream, by the id that Spark keeps in the
    `checkpoint`: a batch that is sent again after a failure is not counted twice. `trigger` is
    passed to Spark, such as {"availableNow": True}; `options` to `update`.

    >>> query = priory.spark.update_stream("days.priory", stream, "/data/seen")  # doctest: +SKIP
    >>> query.awaitTermination()  # doctest: +SKIP
    """
    if not getattr(stream, "isStreaming", False):
        raise SettingError("stream must be a streaming frame, of spark.readStream; see update.")
    load(path)  # refuse what is no model before the stream begins
    writer = stream.writeStream.foreachBatch(_learner(os.path.abspath(path), checkpoint, options))
    writer = writer.option("checkpointLocation", checkpoint)
    return (writer if trigger is None else writer.trigger(**trigger)).start()


def _learner(path: str, checkpoint: str, options: dict[str, Any]) -> Callable[[Any, int], None]:
    def learn(frame: Any, batch: int) -> None:
        told = frame.sparkSession.read.text(f"{checkpoint.rstrip('/')}/metadata").first()[0]
        learn_batch(path, frame, json.loads(told)["id"], batch, **options)

    return learn


def learn_batch(
    path: str | os.PathLike[str], frame: Any, stream: str, batch: int, **options: Any
) -> bool:
    """Learn one batch of a stream into a model file, unless the file says that it has; say which.

    For whoever writes a `foreachBatch` of their own: `stream` names the stream, `batch` counts up.
    """
    with locked(path):
        classifier = load(path)
        if classifier.provenance.streams.get(stream, -1) >= batch:
            return False
        target = options.get("target") or classifier.provenance.target
        known = target in frame.columns  # else update says that it is not there
        if known and frame.where(f"{quoted(str(target))} is not null").isEmpty():
            return False
        update(classifier, frame, **options)
        seen = {**classifier.provenance.streams, stream: batch}
        classifier.provenance = replace(classifier.provenance, streams=seen)
        classifier.save(path, keep_sample=classifier.has_sample)
    return True
