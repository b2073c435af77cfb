"""Text files of networks: gzipped or not, in UTF-8 or Latin-1."""

from __future__ import annotations

import gzip
import zlib
from os import PathLike, fspath
from pathlib import Path

from priory.base.errors import InputError

__all__ = ["read_bytes", "read_text", "write_text"]


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Read a file; what begins as gzip does is unpacked."""
    data = Path(path).read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{fspath(path)!r} is gzipped, but cannot be unpacked: {error}.") from None


def read_text(path: str | PathLike[str]) -> str:
    """Read a text in UTF-8, or where it is none in Latin-1."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text in UTF-8, gzipped if the file's name ends in .gz."""
    data = text.encode("utf-8")
    Path(path).write_bytes(gzip.compress(data, mtime=0) if fspath(path).endswith(".gz") else data)
