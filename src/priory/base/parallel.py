"""Threads: each counts a stretch of rows, and the counts are added.

The kernels release the global interpreter lock, so the stretches run in parallel. A forked process
starts without threads and makes its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

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
"""A thread pays off from so many entries: fewer are done before it starts."""


def thread_count() -> int:
    """Count the threads to use: that of `at_most`, PRIORY_NUM_THREADS, or the cores.

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


def check_threads(value: Any, name: str = "n_threads") -> int:
    """Refuse what is not a number of threads.

    >>> check_threads(2)
    2
    """
    is_number = isinstance(value, int | float) or hasattr(value, "__index__")
    if not is_number or isinstance(value, bool) or value != value // 1 or value < 1:
        raise SettingError(f"{name} must be an integer of at least 1, not {value!r}.")
    return int(value)


_limit: ContextVar[int | None] = ContextVar("n_threads", default=None)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Limit the number of threads in this context; None keeps the current limit.

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
    """An object with a limit on the threads of its methods."""

    @property
    def n_threads(self) -> int | None:
        """The largest number of threads, or None for the available cores."""


Owner = TypeVar("Owner", bound=Threaded)


def in_own_threads(
    method: Callable[Concatenate[Owner, P], T],
) -> Callable[Concatenate[Owner, P], T]:
    """Limit a method, and all that it calls, to the `n_threads` of its object."""

    @wraps(method)
    def limited(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        n_threads = self.n_threads
        if n_threads is None:  # nothing to change: a single row should not pay for it
            return method(self, *args, **kwargs)
        with at_most(n_threads):
            return method(self, *args, **kwargs)

    return limited


def stretches(n_rows: int, entries_per_row: int, threads: int | None = None) -> list[slice]:
    """Divide rows into stretches, one for each thread.

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
    """Count the threads, of those at hand unless given, that so many entries keep busy.

    >>> worthwhile(30_000_000, 2), worthwhile(300, 2)
    (2, 1)
    """
    busy = entries // WORTHWHILE
    if busy < 2:  # a single row should not wait for threads to be counted
        return 1
    return min(thread_count() if threads is None else threads, busy)


def in_parallel(tasks: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Run tasks in threads, this one included, and collect the results in order.

    Each task is limited to its own thread, so that nested calls cannot deadlock.
    """
    if threads <= 1 or len(tasks) <= 1:
        return [task() for task in tasks]
    from concurrent.futures import wait  # a single prediction needs no threads

    shares = [tasks[i::threads] for i in range(threads)]
    helpers = [_pool(threads).submit(_all, share) for share in shares[1:]]
    try:
        done = [_all(shares[0])]
    finally:
        wait(helpers)  # no thread may still write to the caller's arrays
    done += [helper.result() for helper in helpers]
    return [done[i % threads][i // threads] for i in range(len(tasks))]


def _all(tasks: Sequence[Callable[[], T]]) -> list[T]:
    with at_most(1):
        return [task() for task in tasks]


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """Get the pool of threads; starting new ones would take milliseconds."""
    from concurrent.futures import ThreadPoolExecutor

    if threads not in _pools:  # if two callers race, one pool is discarded
        _pools.setdefault(threads, ThreadPoolExecutor(threads - 1, thread_name_prefix="priory"))
    return _pools[threads]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
