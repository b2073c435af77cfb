"""Messages from where people keep them: mbox files, Maildirs, folders, single files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from priory.base.errors import InputError
from priory.sources.files import Location, read_bytes, unreadable
from priory.sources.mbox import mbox_messages, split_mbox

__all__ = ["check_there", "is_single", "read_mail", "read_piped"]

_MAILDIR = ("cur", "new")


def read_mail(path: Location) -> Iterator[tuple[str, bytes]]:
    r"""Iterate over the messages at a path, with a name for each, as bytes.

    A file that begins with "From " is an mbox; any other file is one message. Of a Maildir those in
    `cur` and `new` are read, of another folder all files at any depth but hidden ones, by name.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1.eml").write_bytes(b"To: a\n\nHi")
    ...     [(Path(name).name, data) for name, data in read_mail(folder)]
    [('1.eml', b'To: a\n\nHi')]
    """
    check_there(path)
    place = Path(path)
    if not place.is_dir():
        yield from _file(place)
        return
    if all(os.path.isdir(place / name) for name in _MAILDIR):
        for name in _MAILDIR:
            yield from _folder(place / name)
        return
    yield from _folder(place)


def check_there(path: Location) -> None:
    """Refuse a path at which there is nothing."""
    if not os.path.exists(path):
        raise InputError(f"No such file or folder: {os.fspath(path)!r}.")


def is_single(path: Location) -> bool:
    """Tell whether a path is a file that holds one message."""
    place = Path(path)
    if place.is_dir():
        return False
    try:
        with place.open("rb") as file:
            return file.read(5) != b"From "
    except OSError as error:
        raise unreadable(place, error) from None


def read_piped(data: bytes) -> list[bytes]:
    r"""Cut what came through a pipe into messages: an mbox, or a single message.

    >>> read_piped(b"From a Mon Jan 1 00:00:00 2001\nTo: b\n\nx\n\nFrom c Mon 2001\nTo: d\n\ny\n")
    [b'To: b\n\nx\n', b'To: d\n\ny\n']
    """
    if not data.startswith(b"From "):
        return [data] if data.strip() else []
    return list(split_mbox(Path("-"), BytesIO(data)))


def _folder(place: Path) -> Iterator[tuple[str, bytes]]:
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        raise unreadable(place, error) from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():  # which may lead back here
                yield from _folder(Path(entry.path))
        elif entry.is_file():
            yield from _file(Path(entry.path))


def _file(place: Path) -> Iterator[tuple[str, bytes]]:
    if is_single(place):
        data = read_bytes(place)
        if data.strip():
            yield str(place), data
        return
    for number, data in enumerate(mbox_messages(place), 1):
        yield f"{place}:{number}", data
