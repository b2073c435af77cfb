"""Models by name: each as its file is now, replaced whole or not at all when that changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from priory.base.errors import PrioryError
from priory.base.typing import FloatArray
from priory.classifier.classifier import Classifier, load
from priory.classifier.layout import seal_of
from priory.data.columns import Frame
from priory.serving.asked import Asked
from priory.serving.refusals import Refusal

__all__ = ["Loaded", "ServedModel", "watch"]

AGAIN = 0.1
"""Seconds between two looks at the files."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A classifier that no one changes any more, and the version of the file that it is of."""

    classifier: Classifier
    version: str
    kept: dict[str, Any] = field(default_factory=dict)
    """What was worked out for this version."""
    asked: Asked | None = None
    """Counts of what is asked of the model, of all its versions, where that is wanted."""

    def probabilities(self, X: Any) -> FloatArray:
        """Compute P(k | x) of rows."""
        frame = self.classifier.frame(X)
        return self.count(frame, self.classifier.model.posterior(frame))

    def count(self, frame: Frame, p: FloatArray) -> FloatArray:
        """Count rows with what is answered, where that is wanted."""
        if self.asked is not None and len(frame):
            self.asked.add(self.classifier, frame, p)
        return p


class ServedModel:
    """A model file that is read by many requests and changed by few.

    `current` is what answers. When the file changes, by this process or another, `look` loads the
    new one beside the old, which answers on until it is there; a file that cannot be read changes
    nothing, and is told by `problem`.

    >>> from priory import train
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "days.priory"
    >>> train("examples/play_tennis.csv", "play").save(path)
    >>> ServedModel("days", path).current().classifier.classes
    ('No', 'Yes')
    """

    def __init__(self, name: str, path: str | os.PathLike[str], asked: Asked | None = None) -> None:
        self.name, self.path, self.asked = name, os.fspath(path), asked
        self.problem: str | None = None
        self.reloads = self.failed_reloads = 0
        self._reading = threading.RLock()
        self._loaded, self._stamp = self._read()
        self._follow()

    def current(self) -> Loaded:
        """Get the model as it answers now."""
        return self._loaded

    def refresh(self) -> Loaded:
        """Wait until the model is that of the file: whoever changes it must begin there."""
        self.look()
        if self.problem is not None:
            raise Refusal(503, f"The model cannot be changed: {self.problem}.")
        return self._loaded

    def saved(self, classifier: Classifier) -> Loaded:
        """Take a model that was just saved, under the lock of its file, as the current one."""
        with self._reading:
            self._stamp = self._stamp_now()
            version = _version(Path(self.path).read_bytes())
            self._loaded, self.problem = Loaded(classifier, version, asked=self.asked), None
            self._follow()
            return self._loaded

    def look(self) -> None:
        """Load the file if it changed; what cannot be read is not asked for again until it does."""
        with self._reading:
            stamp = self._stamp_now()
            if stamp == self._stamp:
                return
            try:
                if stamp is None:
                    self.problem = "its file is gone"
                else:
                    self._loaded, stamp = self._read()
                    self.problem = None
                    self._follow()
                self.reloads += stamp is not None
            except (PrioryError, OSError):
                self.failed_reloads += 1
                self.problem = "its file changed, and cannot be read"
            self._stamp = stamp

    def _read(self) -> tuple[Loaded, Any]:
        while True:
            stamp = self._stamp_now()
            classifier, content = load(self.path), Path(self.path).read_bytes()
            if stamp == self._stamp_now():  # else another took its place meanwhile
                break
        if classifier.statistics.n_rows:
            _ = classifier.model  # derived here, not by the first who asks
        return Loaded(classifier, _version(content), asked=self.asked), stamp

    def _follow(self) -> None:
        if self.asked is not None:
            self.asked.follow(self._loaded.classifier)

    def _stamp_now(self) -> Any:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def watch(models: Iterable[ServedModel]) -> None:
    """Look at the files of models again and again, in a thread of its own."""
    every = list(models)

    def run() -> None:
        while True:
            time.sleep(AGAIN)
            for model in every:
                model.look()

    threading.Thread(target=run, name="priory-watch", daemon=True).start()


def _version(content: bytes) -> str:
    return seal_of(content).hex()[:16]
