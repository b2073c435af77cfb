"""The words of messages."""

from __future__ import annotations

from collections.abc import Iterable

from priory.kernels.text import Splitter
from priory.text.messages import email_lines

__all__ = ["encoded_words", "words_of"]

SEPARATOR = b"\xff"
"""What parts words that are given as such; UTF-8 never has it."""


def words_of(message: bytes) -> list[str]:
    r"""Split a message into the words that the filter counts.

    >>> words_of(b"Subject: Free lunch\n\nsee you")[:2]
    ['subject:free', 'subject:lunch']
    """
    words = email_lines(message, _lines)
    return words.split("\n") if words else []


def encoded_words(messages: Iterable[bytes]) -> list[bytes]:
    """Encode the words of each message, as the kernels that count take words that are given."""
    # No word has white space, so one encoding serves for all.
    return [
        email_lines(message, _lines).encode("utf-8", "surrogatepass").replace(b"\n", SEPARATOR)
        for message in messages
    ]


_SPLITTER = Splitter()
"""That of `Analyzer("email")`, which would load NumPy."""


def _lines(text: str, tag: str) -> str:
    return _SPLITTER.split_lines(text, tag.encode("ascii"))
