"""Prefetching: the next batch is read while the last one is counted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

__all__ = ["prefetch"]

T = TypeVar("T")


class _End:
    """The end of the queue."""


def prefetch(items: Iterable[T], most: int = 1) -> Generator[T, None, None]:
    """Iterate over items, up to `most` of them fetched ahead by another thread.

    Exceptions of that thread are raised here, and stopping early stops that thread.

    >>> list(prefetch(range(5)))
    [0, 1, 2, 3, 4]
    """
    waiting: queue.Queue[T | _End] = queue.Queue(most)
    stop = threading.Event()
    errors: list[BaseException] = []

    def put(item: T | _End) -> bool:
        while not stop.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def fetch() -> None:
        try:
            for item in items:
                if not put(item):
                    return
        except BaseException as error:
            errors.append(error)
        finally:
            put(_End())

    thread = threading.Thread(target=fetch, name="priory-prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := waiting.get(), _End):
            yield item
        if errors:
            raise errors[0]
    finally:
        stop.set()
        thread.join()
