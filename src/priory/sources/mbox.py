"""Messages of mbox files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from priory.base.errors import InputError
from priory.sources import files
from priory.sources.files import Location, message_text, too_big, unreadable

__all__ = ["iter_mbox", "mbox_messages", "read_mbox", "split_mbox"]

_PIECE = 2**20
_LAST_BLANK = re.compile(rb"(?<=\n)\r?\n\Z")
_YEAR = re.compile(rb"\d{4}")
_QUOTED = re.compile(rb"\n>(?=>*+From )")


def read_mbox(path: Location) -> list[str]:
    r"""Read the messages of an mbox file, without the "From " lines between them.

    A message begins with a line that begins with "From ", at the start of the file or after a blank
    line, and has a year in it if the file's first line has one. Lines quoted as ">From " are
    unquoted. Messages are decoded as UTF-8 if that fits, else as
    Latin-1, a character for each byte; `email_words` reads either.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "in.mbox")
    ...     _ = file.write_text("From a\nTo: b\n\n>From me\n\nFrom c\nTo: d\n\nHi\n")
    ...     read_mbox(file)
    ['To: b\n\nFrom me\n', 'To: d\n\nHi\n']
    """
    return list(iter_mbox(path))


def iter_mbox(path: Location) -> Iterator[str]:
    """Iterate over the messages of an mbox file, with one at a time in memory."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"No such file: {str(path)!r}.")
    return (message_text(data) for data in mbox_messages(path))


def mbox_messages(file: Path) -> Iterator[bytes]:
    """Iterate over the messages of an mbox file as bytes."""
    try:
        with file.open("rb") as opened:
            yield from split_mbox(file, opened)
    except OSError as error:
        raise unreadable(file, error) from error


def split_mbox(file: Path, opened: BinaryIO) -> Iterator[bytes]:
    """Cut the bytes of an mbox, which may come through a pipe, into messages."""
    buffer = bytearray(b"\n\n")  # so that the first message also follows a blank line
    begun, is_dated, searched, piece = False, False, 0, b"\n"
    while piece:
        piece = opened.read(_PIECE)
        buffer += piece
        while (at := buffer.find(b"\nFrom ", searched)) >= 0:
            end = at - 1 if buffer[at - 1 : at] == b"\r" else at
            last = buffer.find(b"\n", at + 1)
            if last < 0 and piece:
                searched = at  # the rest of the line is yet to come
                break
            year = _YEAR.search(buffer, at, last if last >= 0 else len(buffer))
            if buffer[end - 1 : end] != b"\n" or (is_dated and not year):
                searched = at + 1
                continue
            if begun:
                yield _message(file, buffer[:end])
            elif buffer[:end].strip():
                break
            else:
                is_dated = year is not None
            del buffer[: at + 1]
            begun, searched = True, 0
        else:
            searched = max(searched, len(buffer) - len(b"From "))
        start = b"" if begun else bytes(buffer.lstrip()[: len(b"From ")])
        if len(start) == len(b"From ") and start != b"From ":
            raise _no_mbox(file, buffer)
        if len(buffer) > files.LARGEST + _PIECE:
            raise too_big(file)
    if begun:
        yield _message(file, _LAST_BLANK.sub(b"", buffer))
    elif buffer.strip():
        raise _no_mbox(file, buffer)


def _message(file: Path, data: bytes | bytearray) -> bytes:
    """Remove the separator line of a message, and unquote it."""
    message = bytes(data.partition(b"\n")[2])
    if len(message) > files.LARGEST:
        raise too_big(file)
    return unquoted(message)


def unquoted(message: bytes) -> bytes:
    r"""Take a ">" from lines that quote "From ".

    >>> unquoted(b">From me\n>>From you\n> From")
    b'From me\n>From you\n> From'
    """
    if b">From " not in message:
        return message
    return _QUOTED.sub(b"\n", b"\n" + message)[1:]


def _no_mbox(file: Path, start: bytearray) -> InputError:
    return InputError(
        f"The file {str(file)!r} is not an mbox file: it must begin with 'From ', not with "
        f"{bytes(start.strip()[:40])!r}. The suffix of a single message is .eml."
    )
