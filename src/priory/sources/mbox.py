"""Read the messages of an mbox file one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from priory.errors import InputError
from priory.sources import files
from priory.sources.files import Location, message_text, too_big, unreadable

__all__ = ["iter_mbox", "read_mbox"]

_PIECE = 2**20


def read_mbox(path: Location) -> list[str]:
    r"""Return the messages of an mbox file, without the "From " lines between them.

    A message begins at the start of the file or after a blank line, with a line that begins with
    "From "; a line of text that begins so was quoted as ">From ", and is given unquoted. Messages
    are text where they are UTF-8, and else bytes as Latin-1; `email_words` reads either.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "in.mbox")
    ...     _ = file.write_text("From a\nTo: b\n\n>From me\n\nFrom c\nTo: d\n\nHi\n")
    ...     read_mbox(file)
    ['To: b\n\nFrom me\n', 'To: d\n\nHi\n']
    """
    return list(iter_mbox(path))


def iter_mbox(path: Location) -> Iterator[str]:
    """Give the messages of an mbox file one by one; one message at a time is in memory."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"No such file: {str(path)!r}.")
    return (message_text(data) for data in mbox_messages(path))


def mbox_messages(file: Path) -> Iterator[bytes]:
    """Give the messages of an mbox file as bytes."""
    try:
        with file.open("rb") as opened:
            yield from _split(file, opened)
    except OSError as error:
        raise unreadable(file, error) from error


def _split(file: Path, opened: BinaryIO) -> Iterator[bytes]:
    lines: list[bytes] = []
    size, begun, at_start, after_blank = 0, False, True, True
    for line in iter(lambda: opened.readline(_PIECE), b""):  # a line may be longer than memory
        if at_start and after_blank and line.startswith(b"From "):
            if begun:
                yield _joined(lines)
            lines, size, begun = [], 0, True
        elif begun:
            if at_start and line.startswith(b">") and line.lstrip(b">").startswith(b"From "):
                line = line[1:]
            lines.append(line)
            size += len(line)
            if size > files.LARGEST:
                raise too_big(file)
        elif line.strip():
            raise InputError(
                f"The file {str(file)!r} is no mbox file: it must begin with a line that begins "
                f"with 'From ', not with {line[:40]!r}. A single message ends in .eml."
            )
        after_blank = at_start and not line.strip(b"\r\n")
        at_start = line.endswith(b"\n")
    if begun:
        yield _joined(lines)


def _joined(lines: list[bytes]) -> bytes:
    """Return a message without the blank line that parts it from the next."""
    if len(lines) > 1 and not lines[-1].strip(b"\r\n"):
        lines.pop()
    return b"".join(lines)
