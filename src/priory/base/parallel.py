"""Several threads: each takes a stretch of rows; what they count is added up.

The kernels let go of Python's lock, so the stretches really run side by side. A process that
forks starts with no threads and makes its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from priory.base.errors import SettingError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = [
    "at_most",
    "check_threads",
    "in_own_threads",
    "in_parallel",
    "stretches",
    "thread_count",
    "worthwhile",
]

T = TypeVar("T")
P = ParamSpec("P")

WORTHWHILE = 500_000
"""So many entries are worth a thread: fewer are done sooner than it starts and reports."""


def thread_count() -> int:
    """Count the threads to use here: those of `at_most`, PRIORY_NUM_THREADS, or the cores at hand.

    >>> with at_most(3):
    ...     thread_count()
    3
    """
    value = _limit.get()
    if value is not None:
        return value
    text = os.environ.get("PRIORY_NUM_THREADS", "").strip()
    if not text:
        return _cores()
    return check_threads(int(text) if text.isdecimal() else -1, "PRIORY_NUM_THREADS")


def check_threads(value: int, name: str = "n_threads") -> int:
    """Refuse a number of threads that is none.

    >>> check_threads(2)
    2
    """
    if isinstance(value, bool) or value != int(value) or value < 1:
        raise SettingError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return int(value)


_limit: ContextVar[int | None] = ContextVar("n_threads", default=None)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Let nothing that is called here use more threads; None leaves the number as it is.

    >>> with at_most(1):
    ...     thread_count()
    1
    """
    before = _limit.set(_limit.get() if n_threads is None else check_threads(n_threads))
    try:
        yield
    finally:
        _limit.reset(before)


class Threaded(Protocol):
    """Something that says how many threads its methods may use."""

    @property
    def n_threads(self) -> int | None:
        """Threads at most, or None for the cores at hand."""


Owner = TypeVar("Owner", bound=Threaded)


def in_own_threads(
    method: Callable[Concatenate[Owner, P], T],
) -> Callable[Concatenate[Owner, P], T]:
    """Let a method, and whatever it calls, use the `n_threads` of its object."""

    @wraps(method)
    def limited(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        n_threads = self.n_threads
        if n_threads is None:  # nothing to change: a single row should not pay for it
            return method(self, *args, **kwargs)
        with at_most(n_threads):
            return method(self, *args, **kwargs)

    return limited


def stretches(n_rows: int, entries_per_row: int, threads: int | None = None) -> list[slice]:
    """Return the stretches of rows that threads share, one for each thread at work.

    >>> stretches(1_000_000, 30, 2)
    [slice(0, 500000, None), slice(500000, 1000000, None)]
    >>> stretches(10, 30, 2)
    [slice(0, 10, None)]
    """
    parts = worthwhile(n_rows * entries_per_row, threads)
    if parts == 1:
        return [slice(0, n_rows)]
    ends = [n_rows * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def worthwhile(entries: int, threads: int | None = None) -> int:
    """Say how many of the threads, those at hand unless given, so much work keeps busy.

    >>> worthwhile(30_000_000, 2), worthwhile(300, 2)
    (2, 1)
    """
    busy = entries // WORTHWHILE
    if busy < 2:  # a single row should not wait for threads to be counted
        return 1
    return min(thread_count() if threads is None else threads, busy)


def in_parallel(tasks: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Return the results of all the tasks, in their order; this thread does its share.

    A task has one thread, its own, so that it may call this again and never waits for another.
    """
    if threads <= 1 or len(tasks) <= 1:
        return [task() for task in tasks]
    from concurrent.futures import wait  # a single prediction does without threads

    shares = [tasks[i::threads] for i in range(threads)]
    helpers = [_pool(threads).submit(_all, share) for share in shares[1:]]
    try:
        done = [_all(shares[0])]
    finally:
        wait(helpers)  # nobody may still write to the caller's arrays
    done += [helper.result() for helper in helpers]
    return [done[i % threads][i // threads] for i in range(len(tasks))]


def _all(tasks: Sequence[Callable[[], T]]) -> list[T]:
    with at_most(1):
        return [task() for task in tasks]


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads that wait for work; starting them anew would take milliseconds."""
    from concurrent.futures import ThreadPoolExecutor

    if threads not in _pools:  # of two callers that find none, one makes it in vain
        _pools.setdefault(threads, ThreadPoolExecutor(threads - 1, thread_name_prefix="priory"))
    return _pools[threads]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # a child has none of its parent's threads


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
