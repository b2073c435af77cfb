"""The words of many messages, by two processes where that pays."""

from __future__ import annotations

import marshal
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import cache

from priory.text.messages import email_words

__all__ = ["encoded_words", "words_of"]

SEPARATOR = b"\xff"
"""What parts words that are given as such; UTF-8 never has it."""

CHUNK = 50
MANY = 400
"""Fewer messages are read sooner than a second process returns them."""


def words_of(message: bytes) -> list[str]:
    r"""Split a message into the words that the filter counts.

    >>> words_of(b"Subject: Free lunch\n\nsee you")[:2]
    ['subject:free', 'subject:lunch']
    """
    return email_words(message, _split())


def encoded_words(messages: Sequence[bytes]) -> list[bytes]:
    """Encode the words of each message, as the kernels that count take words that are given.

    Before NumPy is imported, and so while the process has one thread, it can fork: the second one
    reads messages while this one imports what learning needs.
    """
    alone = threading.active_count() == 1 and "numpy" not in sys.modules
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if len(messages) < MANY or not alone or cores < 2 or not hasattr(os, "fork"):
        return [_encoded(message) for message in messages]
    return _by_two(messages)


def _by_two(messages: Sequence[bytes]) -> list[bytes]:
    """Share chunks between two processes: a byte in a pipe is a chunk that is still to do."""
    n = -(-len(messages) // CHUNK)
    todo, fill = os.pipe()
    with tempfile.TemporaryFile() as answers:
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(fill)
                marshal.dump(_chunks(messages, todo), answers)
                answers.flush()
                code = 0
            finally:
                os._exit(code)
        with os.fdopen(fill, "wb") as file:
            for i in range(n):
                file.write(i.to_bytes(4, "little"))
        import priory.mail.filtering  # noqa: F401  # what learning needs, meanwhile

        found = _chunks(messages, todo)
        os.close(todo)
        _, status = os.waitpid(child, 0)
        if status:
            raise ChildProcessError("the process that read messages ended early")
        answers.seek(0)
        found |= marshal.load(answers)
    return [words for i in range(n) for words in found[i]]


def _chunks(messages: Sequence[bytes], todo: int) -> dict[int, list[bytes]]:
    found = {}
    while number := os.read(todo, 4):
        i = int.from_bytes(number, "little")
        found[i] = [_encoded(message) for message in messages[i * CHUNK : (i + 1) * CHUNK]]
    return found


def _encoded(message: bytes) -> bytes:
    # No word has white space, so one encoding serves for all.
    text = "\n".join(words_of(message))
    return text.encode("utf-8", "surrogatepass").replace(b"\n", SEPARATOR)


@cache
def _split() -> Callable[[str], list[str]]:
    from priory.text.analyzer import Analyzer

    return Analyzer("email").plain_words
