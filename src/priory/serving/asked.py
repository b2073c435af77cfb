"""What was asked lately, as counts: enough to tell drift from, and no row.

Counts are kept in a few windows; the oldest goes when a new one begins. They are in the cells of
the model as it was when counting began (`priory.deciding.new_rows`), and begin anew when another
takes its place, when it forgets, or when it has grown by a tenth.
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from priory.base.errors import NotFittedError, PrioryError
from priory.base.typing import FloatArray
from priory.classifier.classifier import Classifier
from priory.data.columns import Frame
from priory.deciding.drift import Drift, compare
from priory.deciding.new_rows import NewRows
from priory.deciding.priors import estimate_prior
from priory.deciding.probability_cells import ProbabilityCells
from priory.statistics.statistics import Statistics

__all__ = ["Asked", "AskedDrift"]

WINDOWS, WINDOW = 4, 2_500
"""So many windows are kept, of so many rows each; a batch is counted into one."""

STEP = 20
"""What is told follows the counts in steps of so many rows, since the difference of two answers
would else be a row."""

MANY = 1_000
"""So many rows are counted before others are kept waiting."""

GROWN = 1.1


@dataclass(frozen=True)
class AskedDrift:
    """How the rows asked of a model differ from those that it learned.

    `drift` is None while there are fewer than twenty rows.
    """

    drift: Drift | None
    asked: int
    since: float | None
    learned: int
    left_out: tuple[str, ...]
    worker: int = field(default_factory=os.getpid)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        nothing = {"rows": 0, "columns": [], "prior": None}
        found = nothing if self.drift is None else self.drift.to_dict()
        return {
            **found,
            "asked": self.asked,
            "since": self.since,
            "learned": self.learned,
            "calibrated": None if self.drift is None else self.drift.is_calibrated,
            "left_out": list(self.left_out),
            "worker": self.worker,
        }


class Asked:
    """Counts of the rows lately asked of one model, by one process.

    >>> from priory import train
    >>> days = train("examples/play_tennis.csv", "play")
    >>> asked, frame = Asked(), days.frame({"wind": "Gale"})
    >>> asked.follow(days)
    >>> for _ in range(20):
    ...     asked.add(days, frame, days.model.posterior(frame))
    >>> found = asked.compared().to_dict()
    >>> found["rows"], {one["column"]: one["unseen"] for one in found["columns"]}["wind"]
    (20, 1.0)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._classifier: Classifier | None = None
        self._learned: Statistics | None = None
        self._windows: deque[_Window] = deque(maxlen=WINDOWS)
        self._told: Drift | None = None
        self._n = self._told_at = 0

    def follow(self, classifier: Classifier) -> None:
        """Take the model that answers from now on; begin anew unless it is about the same."""
        statistics, learned = classifier.statistics, self._learned
        if learned is not None and _has_grown_a_little(learned, statistics):
            with self._lock:
                self._classifier = classifier
            return
        begun = []
        if statistics.n_rows:
            cells = ProbabilityCells(len(classifier.model.classes))
            begun = [_Window(NewRows(statistics, only_counts=True), cells)]
        with self._lock:
            self._classifier, self._learned, self._told = classifier, statistics, None
            self._windows, self._n, self._told_at = deque(begun, WINDOWS), 0, 0

    def add(self, classifier: Classifier, frame: Frame, p: FloatArray) -> None:
        """Count rows with the probabilities that were answered."""
        many = self._empty() if len(frame) > MANY else None
        if many is not None:
            many.add(frame, p)
        with self._lock:
            if classifier is not self._classifier:  # another took its place meanwhile
                return
            last = self._windows[-1]
            if many is None or not many.rows.fits(last.rows):
                last.add(frame, p)
            else:
                self._windows[-1] = last = last + many
            self._n += len(frame)
            if last.rows.n_rows >= WINDOW:
                self._windows.append(_Window.like(last))

    def compared(self) -> AskedDrift:
        """Compare what was asked with what was learned."""
        with self._lock:
            if not self._windows or self._classifier is None or self._learned is None:
                raise NotFittedError("The model has learned no rows to compare with.")
            classifier, first, n_learned = self._classifier, self._windows[0], self._learned.n_rows
            asked = sum(window.rows.n_rows for window in self._windows)
            total = None
            if self._n - self._told_at >= STEP:
                self._told_at, total = self._n, _Window.like(first)
                for window in self._windows:
                    total += window
        if total is not None:
            told = _drift(classifier, total, n_learned)
            with self._lock:
                if self._windows and total.rows.fits(self._windows[0].rows):
                    self._told = told
        since = first.since if asked else None
        return AskedDrift(self._told, asked, since, n_learned, first.rows.left_out)

    def _empty(self) -> _Window | None:
        with self._lock:
            return _Window.like(self._windows[-1]) if self._windows else None


def _drift(classifier: Classifier, total: _Window, n_learned: int) -> Drift:
    model = classifier.model
    p, counts = total.probabilities.table()
    learned = np.exp(model.log_prior)
    prior = estimate_prior(p, learned, model.classes, n=n_learned, counts=counts)
    return compare(total.rows, prior, classifier.is_calibrated)


def _has_grown_a_little(old: Statistics, new: Statistics) -> bool:
    if old.classes != new.classes or old.schema != new.schema or new.n_rows > GROWN * old.n_rows:
        return False
    try:
        _ = new - old  # which is refused unless every row of the old is in the new
    except PrioryError:
        return False
    return True


@dataclass
class _Window:
    rows: NewRows
    probabilities: ProbabilityCells
    since: float = field(default_factory=time.time)

    @classmethod
    def like(cls, other: _Window) -> _Window:
        """Make an empty one with the same cells."""
        return cls(other.rows.empty(), other.probabilities.empty())

    def add(self, frame: Frame, p: FloatArray) -> None:
        self.rows.add(frame)
        self.probabilities.add(p)

    def __add__(self, other: _Window) -> _Window:
        both = self.rows + other.rows, self.probabilities + other.probabilities
        return _Window(*both, min(self.since, other.since))
