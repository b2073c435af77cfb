"""Learning that lasts: what is acknowledged is on the disk, and counted once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any, Literal

from priory.base.labels import label_key
from priory.base.replacing import locked
from priory.classifier.classifier import Classifier
from priory.classifier.drift import in_type_of
from priory.classifier.provenance import LearnedSource
from priory.data.reading import read_labels
from priory.serving.models import Loaded, ServedModel
from priory.serving.refusals import Refusal

__all__ = ["Change", "Writer"]

SOURCE = "rows learned by the service"
MOST_STREAMS = 1_000
AT_ONCE = 256
"""So many changes at most share one writing of the file."""


@dataclass(frozen=True, eq=False)
class Change:
    """Rows to be learned or forgotten.

    A client that numbers its changes, in a `stream` of its own, may send one again when it got no
    answer: it is not counted twice.
    """

    verb: Literal["learn", "forget"]
    rows: Any
    labels: Sequence[Any]
    new_classes: bool = False
    stream: str | None = None
    number: int = 0
    done: Future[dict[str, Any]] = field(default_factory=Future)


class Writer:
    """Change a model file, one change after the other, by a thread of its own.

    Changes that wait while the file is written share the next writing. The file is locked from
    reading it to replacing it, so that other processes may write too.
    """

    def __init__(self, model: ServedModel) -> None:
        self._model = model
        self._waiting: SimpleQueue[Change] = SimpleQueue()
        threading.Thread(target=self._run, name=f"priory-{model.name}", daemon=True).start()

    def submit(self, change: Change) -> Future[dict[str, Any]]:
        """Ask for a change; the future has its answer once it is on the disk."""
        self._waiting.put(change)
        return change.done

    def _run(self) -> None:
        while True:
            changes = [self._waiting.get()]
            while len(changes) < AT_ONCE and not self._waiting.empty():
                changes.append(self._waiting.get())
            waiting = [c for c in changes if c.done.set_running_or_notify_cancel()]
            try:
                with locked(self._model.path):
                    self._write(waiting)
            except Exception as error:
                for change in waiting:
                    if not change.done.done():
                        change.done.set_exception(error)

    def _write(self, changes: Sequence[Change]) -> None:
        loaded = self._model.refresh()
        classifier = loaded.classifier.copy()
        answers: list[tuple[Change, dict[str, Any]]] = []
        for change in changes:
            try:
                answers.append((change, {change.verb: _applied(classifier, change)}))
            except Exception as error:
                change.done.set_exception(error)
        if any(rows for _, answer in answers for rows in answer.values()):
            classifier.save(self._model.path, keep_sample=classifier.has_sample)
            loaded = self._model.saved(classifier)
        for change, answer in answers:
            change.done.set_result({**answer, **_told(loaded, self._model.name)})


def _applied(classifier: Classifier, change: Change) -> int:
    """Apply a change to a copy of the model; the result is how many rows it was."""
    streams = classifier.provenance.streams
    if change.stream is not None:
        if streams.get(change.stream, -1) >= change.number:
            return 0
        if change.stream not in streams and len(streams) >= MOST_STREAMS:
            raise Refusal(409, f"The model knows {MOST_STREAMS:,} streams already.", "stream")
    labels = in_type_of(read_labels(change.labels, "labels"), classifier.classes)
    if change.verb == "learn":
        if not change.new_classes:
            _refuse_new(labels.labels, classifier)
        classifier.update(change.rows, labels)
    else:
        classifier.forget(change.rows, labels)
    n = len(labels) if change.verb == "learn" else -len(labels)
    provenance = classifier.provenance
    *before, last = provenance.sources or (LearnedSource(SOURCE, 0),)
    if last.name != SOURCE:
        before, last = [*before, last], LearnedSource(SOURCE, 0)
    sources = (*before, LearnedSource(SOURCE, last.rows + n))
    if change.stream is not None:
        streams = {**streams, change.stream: change.number}
    classifier.provenance = replace(provenance, sources=sources, figures=None, streams=streams)
    return len(labels)


def _refuse_new(labels: Sequence[Any], classifier: Classifier) -> None:
    known = {label_key(label) for label in classifier.classes}
    for label in labels:
        if label_key(label) not in known:
            raise Refusal(
                400,
                f"labels holds {label!r:.60}, which is no class of the model. To learn a new "
                "class, give new_classes: true.",
                "labels",
            )


def _told(loaded: Loaded, name: str) -> dict[str, Any]:
    rows = loaded.classifier.statistics.n_rows
    return {"rows": rows, "model": name, "version": loaded.version}
