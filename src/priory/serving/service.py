"""What can be asked of served models: predict, explain, describe, learn and forget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import FloatArray
from priory.data.rawtables import open_table
from priory.serving.arrow_streams import read_arrow
from priory.serving.asked import Asked, AskedDrift
from priory.serving.bodies import (
    ARROW,
    JSON,
    LINES,
    answered,
    checked_rows,
    kind_of,
    parsed,
    read_lines,
    wanted_kind,
)
from priory.serving.configuration import Configuration
from priory.serving.gathering import Gathering
from priory.serving.metrics import Metrics
from priory.serving.models import Loaded, ServedModel, watch
from priory.serving.refusals import Refusal
from priory.serving.writing import Change, Writer

__all__ = ["Service"]

T = TypeVar("T")

SMALL = 8_192
"""Bodies up to so many bytes are answered at once, without a thread."""

LONGEST_STREAM = 100

PREDICT = {"rows": "a list"}
EXPLAIN = {"rows": "a list", "intervals": "true or false", "what_if": "true or false"}
CHANGE = {
    "rows": "a list",
    "labels": "a list",
    "new_classes": "true or false",
    "stream": "a string",
    "number": "a whole number",
}


class Service:
    """Models by name, and the answers to what is asked of them."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration, self.limits = configuration, configuration.limits
        self.models = {
            name: ServedModel(name, path, Asked() if configuration.drift else None)
            for name, path in configuration.models.items()
        }
        watch(self.models.values())
        self._writers = {name: Writer(model) for name, model in self.models.items()}
        self._threads = ThreadPoolExecutor(4, "priory-answers")
        self._gathering = Gathering()
        self._running = 0
        self.metrics = Metrics()

    def model(self, name: str | None) -> ServedModel:
        """Find a model by its name; without one it is the first."""
        found = self.models.get(self.configuration.first if name is None else name)
        if found is None:
            raise Refusal(404, f"There is no model {name!r:.60}.", "name")
        return found

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Work out an answer that takes long, while others are answered; so many at most."""
        if self._running >= self.limits.at_once:
            raise Refusal(429, f"{self._running} requests are worked on; try again in a moment.")
        self._running += 1
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        done.add_done_callback(self._finished)
        return await asyncio.wait_for(asyncio.shield(done), self.limits.seconds)

    def _finished(self, done: asyncio.Future[Any]) -> None:
        self._running -= 1
        if not done.cancelled():
            done.exception()  # asked for: whoever waited may have gone

    # Asking

    async def predict(
        self, name: str | None, body: bytes, content_type: str, accept: str
    ) -> tuple[str, bytes]:
        """Predict rows; the answer is of the kind that is accepted."""
        model, given = self.model(name), kind_of(content_type)
        wanted = wanted_kind(accept, given)
        if len(body) > SMALL or given != JSON:
            return wanted, await self.in_thread(lambda: self._batch(model, body, given, wanted))
        loaded, rows = model.current(), self._rows(body, given)
        if len(rows) == 1:
            p = await self._gathering.ask(loaded, rows[0])
        else:
            p = probabilities(loaded, rows)
        return wanted, self._told(model, loaded, p, wanted)

    def _batch(self, model: ServedModel, body: bytes, given: str, wanted: str) -> bytes:
        loaded, rows = model.current(), self._rows(body, given)
        return self._told(model, loaded, probabilities(loaded, rows), wanted)

    def _told(self, model: ServedModel, loaded: Loaded, p: FloatArray, wanted: str) -> bytes:
        self.metrics.rows(model.name, "predict", len(p))
        told = {"model": model.name, "version": loaded.version}
        return answered(wanted, loaded.classifier.classes, p, told)

    def _rows(self, body: bytes, kind: str) -> Any:
        if kind == ARROW:
            return read_arrow(body, self.limits.rows)
        if kind == LINES:
            return read_lines(body, self.limits.rows)
        return checked_rows(required(parsed(body, PREDICT), "rows"), self.limits.rows)

    async def explain(self, name: str | None, body: bytes, content_type: str) -> dict[str, Any]:
        """Work out the sum behind each prediction, with intervals and what would change it."""
        model = self.model(name)
        only_json(content_type)
        asked = parsed(body, EXPLAIN)
        rows = checked_rows(required(asked, "rows"), self.limits.explained)
        loaded = model.current()
        share = min(1.0, 0.5 * self.limits.seconds / max(len(rows), 1))

        def work() -> list[dict[str, Any]]:
            return [explained(loaded, row, asked, share) for row in rows]

        found = await self.in_thread(work)
        self.metrics.rows(model.name, "explain", len(found))
        return {"explanations": found, "model": model.name, "version": loaded.version}

    def describe(self, name: str | None) -> dict[str, Any]:
        """Describe a model: its classes and its columns, as a form asks for them."""
        from priory.reporting.form import form_columns

        model = self.model(name)
        loaded = model.current()
        if "schema" not in loaded.kept:
            classifier = loaded.classifier
            columns = form_columns(classifier) if classifier.statistics.n_rows else []
            loaded.kept["schema"] = {
                "model": model.name,
                "version": loaded.version,
                "target": classifier.provenance.target,
                "classes": list(classifier.classes),
                "rows": classifier.statistics.n_rows,
                "state": classifier.state,
                "columns": columns,
                "learns": self.configuration.learn,
                "tries": self.configuration.tries,
                "drifts": self.configuration.drift,
            }
        found: dict[str, Any] = loaded.kept["schema"]
        return found

    async def drift(self, name: str | None) -> AskedDrift:
        """Compare what was asked of a model lately with what it learned."""
        asked = self.model(name).asked
        if asked is None:
            raise Refusal(409, "What is asked is not counted: start the server with --drift.")
        return await self.in_thread(asked.compared)

    # Changing

    async def change(
        self,
        verb: Literal["learn", "forget"],
        name: str | None,
        body: bytes,
        content_type: str,
    ) -> dict[str, Any]:
        """Learn or forget rows; the answer comes when it is on the disk."""
        if not self.configuration.learn:
            raise Refusal(403, "Learning is off: start the server with --learn and --token-file.")
        model = self.model(name)
        only_json(content_type)
        asked = parsed(body, CHANGE)
        rows = checked_rows(required(asked, "rows"), self.limits.rows)
        change = Change(
            verb,
            rows,
            _labels(required(asked, "labels"), len(rows)),
            bool(asked.get("new_classes")),
            *_numbered(asked),
        )
        done = asyncio.wrap_future(self._writers[model.name].submit(change))
        found = await asyncio.wait_for(done, self.limits.seconds)
        self.metrics.rows(model.name, verb, found[verb])
        return found

    # Telling how it is

    @property
    def is_ready(self) -> bool:
        """Whether every model is what its file holds."""
        return all(model.problem is None for model in self.models.values())

    def states(self) -> dict[str, str]:
        """Say of each model that it is ok, or why it is not what its file holds."""
        return {name: model.problem or "ok" for name, model in self.models.items()}

    def gauges(self) -> dict[str, dict[str, float]]:
        """Count what is known of each model, for the metrics."""
        every = self.models.items()
        return {
            "model_rows": {n: m.current().classifier.statistics.n_rows for n, m in every},
            "model_reloads": {n: m.reloads for n, m in every},
            "model_failed_reloads": {n: m.failed_reloads for n, m in every},
        }


def probabilities(loaded: Loaded, rows: Any) -> FloatArray:
    """Compute P(k | row) of a table, or of rows as a list."""
    classifier = loaded.classifier
    if isinstance(rows, list) and len(rows) < 2:
        if not rows:
            return np.empty((0, len(classifier.classes)))
        rows = rows[0]
    elif not isinstance(rows, list):  # a column that is not there is a gap, as a key is
        rows = replace(open_table(rows), of_rows=True, tidy=True)
    return loaded.probabilities(rows)


def explained(
    loaded: Loaded, row: dict[str, Any], asked: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Explain one row: the worked sum, and what else was asked for; a search has so long."""
    classifier = loaded.classifier
    found = dict(classifier.explain([row])[0].to_dict())
    names = [str(label) for label in classifier.classes]
    if asked.get("intervals"):
        found["intervals"] = None
        try:
            bounds = classifier.predict_interval([row])
            low, high = (ends[0].tolist() for ends in bounds)
            found["intervals"] = {
                "how": bounds.how,
                "low": dict(zip(names, low, strict=True)),
                "high": dict(zip(names, high, strict=True)),
            }
        except SettingError:  # a model that keeps no rows has none
            found["intervals"] = None
    if asked.get("what_if"):
        found["what_if"] = classifier.what_if([row], seconds=seconds).to_dict()
    return found


def required(asked: dict[str, Any], key: str) -> Any:
    """Take a key that must be there."""
    if asked.get(key) is None:
        raise Refusal(400, f"{key} is missing.", key)
    return asked[key]


def only_json(content_type: str) -> None:
    """Refuse anything but JSON."""
    if kind_of(content_type) != JSON:
        raise Refusal(415, f"Content-Type must be {JSON} here.", "Content-Type")


def _labels(labels: list[Any], n: int) -> list[Any]:
    if len(labels) != n:
        raise Refusal(400, f"labels must have one class a row: {len(labels)} for {n}.", "labels")
    if not n:
        raise Refusal(400, "rows must hold one row or more.", "rows")
    for i, label in enumerate(labels):
        if type(label) not in (str, int, bool, float) or label != label or label in INFINITE:
            told = f"labels[{i}] must be a string, a number, true or false."
            raise Refusal(400, told, f"labels[{i}]")
        if isinstance(label, str) and not label.strip():
            raise Refusal(400, f"labels[{i}] is empty: a row needs its class.", f"labels[{i}]")
    return labels


INFINITE = (float("inf"), float("-inf"))


def _numbered(asked: dict[str, Any]) -> tuple[str | None, int]:
    stream, number = asked.get("stream"), asked.get("number")
    if (stream is None) != (number is None):
        missing = "number" if number is None else "stream"
        raise Refusal(400, f"{missing} is missing: stream and number go together.", missing)
    if stream is None:
        return None, 0
    if not 1 <= len(stream) <= LONGEST_STREAM or not stream.isprintable():
        raise Refusal(400, f"stream must have 1 to {LONGEST_STREAM} characters.", "stream")
    assert isinstance(number, int)
    if not 0 <= number < 2**53:
        raise Refusal(400, "number must be at least 0, and below 2^53.", "number")
    return stream, number
