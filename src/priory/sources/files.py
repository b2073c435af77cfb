"""Files as bytes and messages as text, with errors that name the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from priory.base.errors import InputError

__all__ = ["LARGEST", "Location", "message_text", "read_bytes", "too_big", "unreadable"]

Location: TypeAlias = str | os.PathLike[str]

LARGEST = 2**28
"""No text has more bytes than this: what is larger is a file of another kind."""


def read_bytes(file: Path) -> bytes:
    """Return the bytes of a file that holds one text."""
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise unreadable(file, error) from error
    if len(data) > LARGEST:
        raise too_big(file)
    return data


def message_text(data: bytes) -> str:
    r"""Return a message as UTF-8 if it is that, else as Latin-1, a character for each byte.

    Its parts may differ in charset, so it is not decoded before its headers are read. Either way
    nothing is lost: `email_words` gets the bytes back.

    >>> message_text(b"caf\xc3\xa9"), message_text(b"caf\xe9 \xc3\xa9")
    ('café', 'café Ã©')
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error that names a file, or folder, and why it cannot be read."""
    return InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.")


def too_big(file: Path) -> InputError:
    """Return the error that names a file with a text too large to be one."""
    return InputError(
        f"The file {str(file)!r} holds a text of more than {LARGEST:,} bytes, the most that is "
        "read as one text. A file of many messages ends in .mbox; other files are best split."
    )
