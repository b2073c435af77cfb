"""Read ahead: the next batch is fetched while the last one is counted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["ahead"]

T = TypeVar("T")


def ahead(items: Iterable[T], most: int = 1) -> Iterator[T]:
    """Return the same items, so many of them fetched by another thread before they are wanted.

    What goes wrong there goes wrong here; and who stops early stops the other thread too.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]
    """
    done = object()
    waiting: queue.Queue[object] = queue.Queue(most)
    stop = threading.Event()
    errors: list[BaseException] = []

    def put(item: object) -> bool:
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
            put(done)

    thread = threading.Thread(target=fetch, name="priory-ahead", daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not done:
            yield item  # type: ignore[misc]
        if errors:
            raise errors[0]
    finally:
        stop.set()
        thread.join()
