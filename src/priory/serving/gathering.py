"""Single rows that arrive together are scored together: the work of a call is shared by all."""

from __future__ import annotations

import asyncio
from typing import Any

from priory.base.typing import FloatArray
from priory.data.stacking import stack
from priory.serving.models import Loaded

__all__ = ["Gathering"]

AT_ONCE = 128


class Gathering:
    """Rows that wait for the end of this turn of the event loop.

    Each is read by itself, so that it means what it would mean alone, and an error is its own; the
    model scores them all at once. A row has the same bits in any company, and nobody waits for
    rows that are not there yet.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Loaded, Any, asyncio.Future[FloatArray]]] = []

    def ask(self, loaded: Loaded, row: dict[str, Any]) -> asyncio.Future[FloatArray]:
        """Ask for P(k | row), 1 × classes."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[FloatArray] = loop.create_future()
        frame = loaded.classifier.frame(row)
        if not self._waiting:
            loop.call_soon(self._answer)
        self._waiting.append((loaded, frame, done))
        return done

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        by_model: dict[int, list[Any]] = {}
        for one in waiting:
            by_model.setdefault(id(one[0]), []).append(one)
        for rows in by_model.values():
            for first in range(0, len(rows), AT_ONCE):
                _score(rows[first : first + AT_ONCE])


def _score(rows: list[tuple[Loaded, Any, asyncio.Future[FloatArray]]]) -> None:
    loaded = rows[0][0]
    try:
        together = stack([frame for _, frame, _ in rows])
        p = loaded.count(together, loaded.classifier.model.posterior(together))
        for i, (_, _, done) in enumerate(rows):
            if not done.done():  # else whoever asked has gone
                done.set_result(p[i : i + 1])
    except Exception as error:
        if len(rows) > 1:  # one of them; who?
            for one in rows:
                _score([one])
        elif not rows[0][2].done():
            rows[0][2].set_exception(error)
