"""Files of tables: their paths, their formats, and the header of a CSV file."""

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
    """The delimiter and the columns of a CSV file."""

    path: str
    delimiter: str
    columns: tuple[str, ...]


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """List the files that match a path or a pattern."""
    name = os.fspath(path)
    if "://" in name:
        raise InputError(
            f"{name} is a URL. Read it by a query: \"SELECT * FROM '{name}'\" (DuckDB fetches it)."
        )
    if os.path.isdir(name):
        raise InputError(f"{name} is a folder. Give a pattern for its files: {name}/*.csv")
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
    """Find the format of a file, csv, parquet, json or arrow, by its name, else its bytes.

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
            f"{path} is a database. Attach it and query it: attach={{'db': {path!r}}}, "
            '"SELECT * FROM db.some_table".'
        )
    return "json" if start.lstrip()[:1] == b"{" else "csv"


def read_head(path: str, encoding: str, delimiter: str | None = None) -> CsvHead:
    """Read the columns and the delimiter of a CSV file."""
    start = _start(path, 65_536)
    if not start.strip(b"\xef\xbb\xbf \r\n"):
        raise InputError(f"{path} is empty.")
    if b"\0" in start and not encoding.lower().startswith("utf-16"):
        raise InputError(
            f"{path} contains NUL bytes, so it is not text; for UTF-16 give encoding='utf-16'."
        )
    try:
        text = _decoded(start, encoding)
    except LookupError:
        raise SettingError(
            f"There is no encoding {encoding!r}; try 'utf-8', 'latin-1' or 'utf-16'."
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not in {encoding}: byte {error.start} is "
            f"{start[error.start : error.start + 1]!r}. Give its encoding, such as "
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
    """Refuse files with different columns; the order may differ."""
    wanted = set(heads[0].columns)
    for head in heads[1:]:
        if set(head.columns) != wanted:
            missing, extra = wanted - set(head.columns), set(head.columns) - wanted
            what = f"lacks {listing(sorted(missing))}" if missing else f"has {listing(extra)} more"
            raise SchemaError(f"{head.path} {what} than {heads[0].path}: columns must be the same.")


def _start(path: str, size: int) -> bytes:
    """Read the first bytes of a file, decompressed if necessary."""
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
    """Decode bytes whose last character may be incomplete."""
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
