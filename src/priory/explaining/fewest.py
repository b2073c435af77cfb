"""How many columns of each of many rows would have to change for another prediction."""

from __future__ import annotations

import numpy as np

from priory.base.errors import SettingError, listing
from priory.base.typing import FloatArray, IntArray
from priory.data.columns import Frame
from priory.explaining.candidates import Rules, candidates_of
from priory.explaining.changes import IMPOSSIBLE, Changes
from priory.explaining.what_if import SLACK
from priory.model.model import Model
from priory.statistics.statistics import Statistics

__all__ = ["fewest_changes"]

NEVER = -1
CHUNK = 4096


def fewest_changes(model: Model, statistics: Statistics, frame: Frame) -> IntArray:
    """Count the columns that must change, −1 where no changes are enough; exact, by sorting.

    To leave class p for class k, the n columns help most whose best values gain most on p. So the
    gains are sorted, and k needs the fewest that close the gap; the best k is taken.
    """
    n = len(frame)
    if not n:
        return np.zeros(0, dtype=np.int64)
    nobody = Rules({}, (), {}, {})
    columns, _ = candidates_of(model, statistics, frame.take(slice(0, 1)), nobody)
    if not columns:
        raise SettingError(
            "The model has no column of labels or numbers, whose values could be changed one by "
            "one; explain says what each word speaks for."
        )
    changes = Changes(model, statistics, frame.take(slice(0, 1)), columns)
    if not changes.is_tabulated or changes.together:
        pairs = [t.block.title for t in model.terms if t.counts and len(t.block.columns) > 1]
        raise SettingError(
            f"Columns of this model depend on each other ({listing(pairs, 4)}), so gains do not "
            "add up. Ask what_if row by row, or set pairs=None and structure='naive'."
        )
    tables = [changes.said_alone(i) for i in range(len(columns))]
    if any((said <= IMPOSSIBLE / 2).any() for said in tables):
        raise SettingError(
            "The model has factors of 0, which no sum can outweigh: give it a smoothing above 0."
        )
    found = np.empty(n, dtype=np.int64)
    best = np.stack([_most_lead(said) for said in tables])
    for first in range(0, n, CHUNK):
        rows = slice(first, min(first + CHUNK, n))
        some = frame.take(rows)
        said = [_said(model, some, column.column) for column in columns]
        found[rows] = _counted(model, some, np.stack(said), best)
    return found


def _most_lead(said: FloatArray) -> FloatArray:
    """Find the most by which class k can lead class p in one column: classes × classes."""
    return np.stack([(said - said[:, p, None]).max(axis=0) for p in range(said.shape[1])], axis=1)


def _said(model: Model, frame: Frame, column: str) -> FloatArray:
    """Add up what a column says of each row now, rows × classes."""
    out = np.zeros((len(frame), len(model.classes)))
    for term in model.terms:
        if term.counts and column in term.block.columns:
            term.adder(frame, weighted=True)(slice(0, len(frame)), out)
    return np.maximum(out, IMPOSSIBLE)


def _counted(model: Model, frame: Frame, said: FloatArray, best: FloatArray) -> IntArray:
    """Count the changes of each row: `said` is columns × rows × classes."""
    scores, here = np.maximum(model.log_joint(frame), IMPOSSIBLE), model.predict(frame)
    rows = np.arange(len(frame))
    fewest = np.full(len(frame), len(said) + 1)
    for k in range(scores.shape[1]):
        lead = said[:, :, k] - said[:, rows, here]
        gains = np.sort(np.maximum(best[:, k, here] - lead, 0.0), axis=0)[::-1].cumsum(axis=0)
        behind = scores[rows, here] - scores[:, k]
        count = 1 + (gains <= behind + SLACK).sum(axis=0)
        fewest = np.where(here == k, fewest, np.minimum(fewest, count))
    return np.where(fewest > len(said), NEVER, fewest)
