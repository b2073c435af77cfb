"""A progress bar for reading that takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from priory.sources.base import Source

__all__ = ["Progress"]

PATIENCE = 1.0


class Progress:
    """Show rows, progress, rate and remaining time on stderr, after one second.

    By default it is shown if stderr is a terminal.
    """

    def __init__(self, source: Source, shown: bool | None = None, title: str = "Reading") -> None:
        self._source, self._title = source, title
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def add(self, rows: int) -> None:
        """Report that more rows were read."""
        self.rows += rows
        seconds = time.monotonic() - self._began
        if not self._shown or seconds < PATIENCE:
            return
        if self._bar is None:
            self._start()
        share = self._source.fraction_done()
        self._bar.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            rows=f"{self.rows:,} rows",
            rate=f"{self.rows / seconds:,.0f} rows/s",
        )

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]}"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._title, total=None, rows="", rate="")
        self._bar.start()
