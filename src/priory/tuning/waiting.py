"""A progress bar for tuning that takes longer than a second, and the way out of it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

__all__ = ["Interrupted", "Waiting"]

PATIENCE = 1.0
"""After so many seconds a bar is shown."""


class Interrupted(KeyboardInterrupt):
    """Someone who was shown the bar did not want to wait; where nobody looks it is Ctrl-C."""


class Waiting:
    """Count steps that are done; on a terminal show them, and let Ctrl-C end the wait.

    >>> with Waiting(3) as bar:
    ...     bar.step("columns")
    """

    def __init__(self, steps: int) -> None:
        self._steps, self._done = steps, 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def step(self, what: str) -> None:
        """Say what is done next."""
        self._done += 1
        if self._bar is None and time.monotonic() - self._began > PATIENCE and sys.stderr.isatty():
            self._start()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, what=what)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("Tuning"),
            BarColumn(),
            TextColumn("{task.fields[what]}; Ctrl-C keeps the plain model", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._steps, what="")
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            if kind is KeyboardInterrupt:
                raise Interrupted from None
