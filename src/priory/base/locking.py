"""One thread at a time: whatever changes a model locks it first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["Lock", "alone", "lock_of"]

P = ParamSpec("P")
R = TypeVar("R")
Owner = TypeVar("Owner")


class Lock:
    """Let one thread in at a time, the same one as often as it likes.

    Copied or pickled with its owner, it becomes a new lock that nobody holds.

    >>> from copy import deepcopy
    >>> lock = Lock()
    >>> with lock, lock:
    ...     deepcopy(lock) is lock
    False
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> Any:
        return Lock, ()


def lock_of(owner: object) -> Lock:
    """Return the lock of an object, which is made when it is first asked for.

    Estimators may have nothing but their parameters before they learn, so there is no better time.
    """
    held = owner.__dict__
    lock: Lock = held.get("_lock") or held.setdefault("_lock", Lock())  # setdefault is atomic
    return lock


def alone(method: Callable[Concatenate[Owner, P], R]) -> Callable[Concatenate[Owner, P], R]:
    """Let one thread at a time run the methods of an object that are marked so."""

    @wraps(method)
    def locked(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with lock_of(self):
            return method(self, *args, **kwargs)

    return locked
