"""How things are measured: calls in turn, the medians of their times, and the memory of a fit."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import multiprocessing
import resource
import signal
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

__all__ = [
    "Measured", "Options", "available_memory", "fit_memory", "in_processes", "in_turn", "within",
]  # fmt: skip

MEGABYTE = 1e6


@dataclass(frozen=True)
class Options:
    """Say how a run was asked for."""

    quick: bool = False
    """Tiny data, to see that it works: the times say nothing."""
    tables: Path | None = None
    """A folder of public tables, for what is judged on them."""
    gigabytes: float = 5.0
    """The size of the file larger than memory."""
    folder: Path | None = None
    """Where that file is drawn, and kept for the next run."""


@dataclass(frozen=True)
class Measured:
    """Say what repeated measurements of one thing came to, in seconds or megabytes."""

    median: float
    least: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Measured:
        """Return the summary of some measurements."""
        return cls(statistics.median(values), min(values), len(values))

    def times(self, factor: float) -> Measured:
        """Return the same of so many times as much."""
        return Measured(factor * self.median, factor * self.least, self.n)


def in_turn(
    calls: Mapping[str, Callable[[], Any]], seconds: float, least: int, most: int
) -> tuple[dict[str, Measured], dict[str, Any]]:
    """Time every call in turn (A B C A B C ...), and return the times and the last results.

    Each call is warmed up once. There are as many rounds as fit into `seconds`, within bounds,
    and as many for one as for the other; if there is no round at all, the warm-up is what was
    measured. The garbage collector is off while the clock runs.
    """
    results: dict[str, Any] = {}
    warm = {name: _timed(name, call, results) for name, call in calls.items()}
    rounds = max(least, min(most, int(seconds / max(sum(warm.values()), 1e-9))))
    times: dict[str, list[float]] = {name: [] if rounds else [warm[name]] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(_timed(name, call, results))
    return {name: Measured.of(values) for name, values in times.items()}, results


def _timed(name: str, call: Callable[[], Any], results: dict[str, Any]) -> float:
    results.pop(name, None)  # the last result's memory is free again before the next
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        result = call()
        elapsed = time.perf_counter() - start
    finally:
        gc.enable()
    results[name] = result
    return elapsed


def in_processes(calls: Sequence[Any], jobs: int) -> Iterator[Any]:
    """Give the results of joblib's delayed calls in their order, so many running at a time.

    More than one have a process each, with its share of the cores as threads; warnings are off.
    """
    import joblib

    quiet = [joblib.delayed(_quietly)(call) for call in calls]
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(f"{len(calls)} calls", total=len(calls))
        for result in joblib.Parallel(jobs, return_as="generator")(quiet):
            progress.advance(task)
            yield result


def _quietly(call: Any) -> Any:
    function, args, kwargs = call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def within(seconds: float, call: Callable[..., Any], *args: Any) -> Any:
    """Call in a process of its own; None if it takes more of the processor, and then it is ended.

    A busy machine changes nothing of it. What waits instead of working is ended after ten times
    as long.
    """
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(send, ceil(seconds), call, args))
    process.start()
    send.close()
    try:
        found = receive.recv() if receive.poll(10 * seconds) else None
    except EOFError:
        process.join()
        if process.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
            raise
        found = None
    finally:
        process.kill()
        process.join()
    if isinstance(found, Exception):
        raise found
    return found


def _send(connection: Any, seconds: int, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    used = ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 5))
    try:
        connection.send(call(*args))
    except Exception as error:
        connection.send(error)


def fit_memory(name: str, size: int, repeats: int, words: int = 0) -> Measured | None:
    """Return the megabytes a fit takes beyond its data, or None if not measurable.

    It is a GaussianNB of `size` rows or, with `words`, a TextNB of so many bytes of text.

    Every fit runs in a fresh process that makes the data, fits a thousand rows to load what is
    loaded late, hands free memory back to the system, sets the kernel's high-water mark of
    resident memory back, and fits.
    """
    command = [sys.executable, "-m", "benchmarks.measure", name, str(size), str(words)]
    values = []
    for _ in range(repeats):
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=Path(__file__).parents[1]
        )
        if done.returncode:
            return None
        values.append(float(done.stdout.split()[-1]))
    return Measured.of(values)


def available_memory() -> float:
    """Return the bytes that can be had without swapping; infinite where nobody says."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return next(1024.0 * int(line.split()[1]) for line in lines if "MemAvailable" in line)


def _status(key: str) -> float:
    """Return an entry of the process's status in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key)) / MEGABYTE


def _measure_fit_memory(name: str, size: int, words: int) -> float:
    if words:
        texts = importlib.import_module("benchmarks.texts")
        fit, (X, y) = texts.TEXT_FITS[name](), texts.zipf_texts(size, words)
    else:
        works = importlib.import_module("benchmarks.works")
        fit, (X, y) = works.GAUSSIAN_FITS[name](), works.gaussian_data(size)
    fit(X[:1000].copy(), y[:1000].copy())
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # where the C library is not glibc
        ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM := VmRSS
    before = _status("VmRSS:")
    model = fit(X, y)
    after = _status("VmHWM:")
    del model
    return after - before


if __name__ == "__main__":
    print(_measure_fit_memory(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
