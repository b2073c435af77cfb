"""Files as bytes, messages as text, and errors that name the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from priory.base.errors import InputError

__all__ = ["LARGEST", "Location", "message_text", "read_bytes", "too_big", "unreadable"]

Location: TypeAlias = str | os.PathLike[str]

LARGEST = 2**28
"""The largest text, in bytes: larger files are not texts."""


def read_bytes(file: Path) -> bytes:
    """Read a file that holds one text."""
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise unreadable(file, error) from error
    if len(data) > LARGEST:
        raise too_big(file)
    return data


def message_text(data: bytes) -> str:
    r"""Decode a message as UTF-8 if that fits, else as Latin-1, a character for each byte.

    Its parts may differ in charset, which only its headers tell. Nothing is lost: `email_words`
    restores the bytes.

    >>> message_text(b"caf\xc3\xa9"), message_text(b"caf\xe9 \xc3\xa9")
    ('café', 'café Ã©')
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def unreadable(path: Path, error: OSError) -> InputError:
    """Make the error for a file or folder that cannot be read."""
    return InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.")


def too_big(file: Path) -> InputError:
    """Make the error for a file with too large a text."""
    return InputError(
        f"The file {str(file)!r} has a text of more than {LARGEST:,} bytes, the limit for "
        "one text. The suffix of a file of messages is .mbox; split other files."
    )
