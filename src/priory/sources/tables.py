"""Files: which ones are meant, what they are written in, and the head of a CSV."""

from __future__ import annotations

import csv
import glob
import gzip
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from priory.base.errors import InputError, SchemaError, SettingError, did_you_mean, listing

__all__ = ["CsvHead", "find_files", "format_of", "read_head"]

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
DELIMITERS = (",", ";", "\t", "|")
LONGEST_HEAD = 4 * 2**20


@dataclass(frozen=True)
class CsvHead:
    """Hold how a CSV file is written, and the names of its columns."""

    path: str
    delimiter: str
    columns: tuple[str, ...]


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files that a path or a pattern means, or say that there are none."""
    name = os.fspath(path)
    if "://" in name:
        raise InputError(
            f"{name} is not on this machine. Read it by a query: "
            f"\"SELECT * FROM '{name}'\" (DuckDB fetches it)."
        )
    if os.path.isdir(name):
        raise InputError(f"{name} is a folder. Name its files by a pattern: {name}/*.csv")
    if os.path.isfile(name):
        return [name]
    if glob.has_magic(name):
        found = sorted(file for file in glob.glob(name, recursive=True) if os.path.isfile(file))
        if found:
            return found
        raise InputError(f"No file matches {name}.")
    if os.path.exists(name):
        return [name]  # a pipe or a device
    folder = Path(name).parent
    known = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    raise InputError(f"There is no file {name}.{did_you_mean(Path(name).name, known)}")


def format_of(path: str) -> str:
    """Return what a file is written in: csv, parquet, json or arrow; by its name, else its bytes.

    >>> format_of("days.csv.gz"), format_of("days.parquet")
    ('csv', 'parquet')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".gzip"):
        suffixes = suffixes[:-1]
    if suffixes and suffixes[-1] in FORMATS:
        return FORMATS[suffixes[-1]]
    start = _start(path, 4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "arrow"
    if start.startswith((b"SQLite format 3", b"DUCK")) or start[8:12] == b"DUCK":
        raise InputError(
            f"{path} is a database. Attach it and ask it a query: attach={{'db': {path!r}}}, "
            '"SELECT * FROM db.some_table".'
        )
    return "json" if start.lstrip()[:1] == b"{" else "csv"


def read_head(path: str, encoding: str, delimiter: str | None = None) -> CsvHead:
    """Return the columns of a CSV file and what stands between its values."""
    start = _start(path, 65_536)
    if not start.strip(b"\xef\xbb\xbf \r\n"):
        raise InputError(f"{path} is empty.")
    if b"\0" in start and not encoding.lower().startswith("utf-16"):
        raise InputError(
            f"{path} holds NUL bytes, so it is no text; if it is UTF-16, say encoding='utf-16'."
        )
    try:
        text = _decoded(start, encoding)
    except LookupError:
        raise SettingError(
            f"There is no encoding {encoding!r}; try 'utf-8', 'latin-1' or 'utf-16'."
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not written in {encoding}: byte {error.start} is "
            f"{start[error.start : error.start + 1]!r}. Say which encoding it has, such as "
            "encoding='latin-1'."
        ) from None
    if delimiter is None:
        delimiter = _delimiter(path, text)
    first = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    columns = tuple(name.strip() or f"column{i}" for i, name in enumerate(first))
    twice = [name for name in dict.fromkeys(columns) if columns.count(name) > 1]
    if twice:
        raise SchemaError(
            f"Column {listing(twice)} stands more than once in {path}; give each column its own "
            "name."
        )
    return CsvHead(path, delimiter, columns)


def same_columns(heads: Sequence[CsvHead]) -> None:
    """Refuse files that do not have the same columns, in whatever order."""
    wanted = set(heads[0].columns)
    for head in heads[1:]:
        if set(head.columns) != wanted:
            missing, extra = wanted - set(head.columns), set(head.columns) - wanted
            what = f"lacks {listing(sorted(missing))}" if missing else f"has {listing(extra)} more"
            raise SchemaError(f"{head.path} {what} than {heads[0].path}: columns must be the same.")


def _start(path: str, size: int) -> bytes:
    """Return the first bytes of a file, unpacked if it is packed."""
    try:
        with open(path, "rb") as file:
            start = file.read(size)
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(path, "rb") as unpacked:
                start = unpacked.read(size)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} could not be read: {reason}.") from None
    return start


def _decoded(start: bytes, encoding: str) -> str:
    """Return text of which the last character may have been cut."""
    import codecs

    name = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    return codecs.getincrementaldecoder(name)().decode(start)


def _delimiter(path: str, text: str) -> str:
    if path.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    quoted, counts = False, dict.fromkeys(DELIMITERS, 0)
    for character in text:
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "\r\n":
            break
        elif not quoted and character in counts:
            counts[character] += 1
    return max(counts, key=lambda delimiter: counts[delimiter])
