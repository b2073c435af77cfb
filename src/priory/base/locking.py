"""Locks: one thread at a time may change a model."""

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
    """A reentrant lock that can be copied and pickled: the copy is a new, released lock.

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
    """Get the lock of an object, made on first use.

    scikit-learn's estimators must hold nothing but their parameters before they are fitted.
    """
    held = owner.__dict__
    lock: Lock = held.get("_lock") or held.setdefault("_lock", Lock())  # setdefault is atomic
    return lock


def alone(method: Callable[Concatenate[Owner, P], R]) -> Callable[Concatenate[Owner, P], R]:
    """Let one thread at a time run the decorated methods of an object."""

    @wraps(method)
    def locked(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with lock_of(self):
            return method(self, *args, **kwargs)

    return locked
