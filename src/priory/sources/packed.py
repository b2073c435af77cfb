"""Compressed files: what is in them, as bytes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from typing import Any

from priory.base.errors import InputError, listing

__all__ = ["SUFFIXES", "open_bytes", "read_start", "reading", "unpacked"]

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    b"PK\x03\x04": "zip",
}
SUFFIXES = (".gz", ".gzip", ".bz2", ".zst", ".zstd", ".xz", ".zip")
OTHERS = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "RAR"}
"""What is recognized, but not read."""


def open_bytes(path: str) -> tuple[Any, Any]:
    """Open a file for what is in it, and the file itself, whose position tells how far it is."""
    file = open(path, "rb")  # noqa: SIM115
    try:
        return _unpacking(path, file), file
    except BaseException:
        file.close()
        raise


def _unpacking(path: str, file: Any) -> Any:
    how = _packed_by(path, file.peek(8))
    if how == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=file)
    if how == "bz2":
        import bz2

        return bz2.BZ2File(file)
    if how == "xz":
        import lzma

        return lzma.LZMAFile(file)
    if how == "zip":
        return _only_member(path, file)
    if how == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
    return file


def read_start(path: str, size: int) -> bytes:
    """Read the first bytes of a file, decompressed if necessary."""
    with reading(path):
        opened, file = open_bytes(path)
        with file, opened:
            return opened.read(size)


@contextlib.contextmanager
def unpacked(path: str) -> Iterator[str]:
    """Unpack a file that is compressed into a temporary one; others stay where they are."""
    with open(path, "rb") as start:
        how = _packed_by(path, start.read(8))
    if how is None:
        yield path
        return
    handle, name = tempfile.mkstemp(prefix="priory-unpacked-")
    try:
        with reading(path), os.fdopen(handle, "wb") as target:
            opened, file = open_bytes(path)
            with file, opened:
                shutil.copyfileobj(opened, target, 1 << 20)
        yield name
    finally:
        os.unlink(name)


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Say of a file what is wrong with it, in one line."""
    import lzma
    import zlib

    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name} could not be read: {reason}.") from None


def _packed_by(path: str, start: bytes) -> str | None:
    for magic, how in OTHERS.items():
        if start.startswith(magic):
            raise InputError(
                f"{path} is a {how} archive, which is not read. Unpack it, or pack it by gzip, "
                "bzip2, zstd, xz or zip."
            )
    found = next((how for magic, how in MAGIC.items() if start.startswith(magic)), None)
    # A workbook of Excel is a zip file of its own.
    return None if found == "zip" and _is_workbook(path) else found


def _is_workbook(path: str) -> bool:
    with reading(path), zipfile.ZipFile(path) as archive:
        return "[Content_Types].xml" in archive.namelist()


def _only_member(path: str, file: Any) -> Any:
    archive = zipfile.ZipFile(file)
    names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
    if len(names) != 1:
        raise InputError(
            f"{path} holds {len(names)} files: {listing(names) or 'none'}. Unpack it, and name the "
            "one that is meant."
        )
    if archive.getinfo(names[0]).flag_bits & 1:
        raise InputError(f"{path} is encrypted. Unpack it first.")
    return archive.open(names[0])
