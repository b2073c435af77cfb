"""Files of tables: their paths, their formats, and the header of a CSV file."""

from __future__ import annotations

import csv
import glob
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from priory.base.errors import InputError, SchemaError, SettingError, did_you_mean, listing
from priory.base.secrets import secrets_of, without_secrets
from priory.sources.addresses import refuse_address
from priory.sources.packed import SUFFIXES, read_start

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
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
}
UNSURE = (".arrow", ".feather", ".ipc", ".arrows", ".db", ".json", ".txt", ".data")
"""Suffixes of files of several formats: their bytes are looked at first."""
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"FEA1": "old feather",
    b"SQLite format 3": "sqlite",
    b"PK\x03\x04": "excel",  # read_start unpacks other zip files
    b"\xd0\xcf\x11\xe0": "old excel",
    b"PGDMP": "dump of PostgreSQL",
    b"%PDF": "PDF",
    b"\x89HDF": "HDF5",
}
DELIMITERS = (",", ";", "\t", "|")
LONGEST_HEAD = 16 * 2**20


@dataclass(frozen=True)
class CsvHead:
    """The delimiter and the columns of a CSV file."""

    path: str
    delimiter: str
    columns: tuple[str, ...]
    size: int = 0
    """How many bytes it takes, as UTF-8, with the blank lines before it."""
    lines: int = 1
    lone: bool = False
    """Whether lines end in a carriage return alone."""


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """List the files that match a path or a pattern."""
    name = os.fspath(path)
    refuse_address(name)
    if "://" in name:
        name = without_secrets(name, secrets_of(name))
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
        raise InputError(f"No file matches {without_secrets(name)}.")
    if os.path.exists(name):
        return [name]  # a pipe or a device
    folder = Path(name).parent
    known = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    hint = did_you_mean(Path(name).name, known)
    raise InputError(f"There is no file {without_secrets(name)}.{hint}")  # or a mistyped address


def format_of(path: str) -> str:
    """Find the format of a file by its name, else its bytes; a compressed one by what is inside.

    >>> format_of("days.csv.gz"), format_of("days.parquet")
    ('csv', 'parquet')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in SUFFIXES:
        suffixes = suffixes[:-1]
    if suffixes and suffixes[-1] in FORMATS and suffixes[-1] not in UNSURE:
        return FORMATS[suffixes[-1]]
    start = read_start(path, 4096)
    for magic, found in MAGIC.items():
        if start.startswith(magic):
            return found
    if start[8:12] == b"DUCK":
        return "duckdb"
    if suffixes and suffixes[-1] in FORMATS:
        return FORMATS[suffixes[-1]]
    return "json" if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv"


def read_head(path: str, encoding: str, delimiter: str | None = None) -> CsvHead:
    """Read the columns and the delimiter of a CSV file.

    Blank lines before the header are left out, and so is the line ``sep=;`` that Excel writes.
    """
    start = read_start(path, 65_536)
    if len(start) == 65_536 and start.count(b"\n") < 2:
        start = read_start(path, LONGEST_HEAD)
    if not start.strip(b"\xef\xbb\xbf \r\n\t"):
        raise InputError(f"{path} is empty.")
    if b"\0" in start and not encoding.lower().startswith(("utf-16", "utf-32")):
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
    lines = io.StringIO(text, newline="")
    before, line = [], lines.readline()
    while not line.strip() or line.lower().startswith("sep="):
        if line.strip() and delimiter is None:
            delimiter = line.rstrip("\r\n")[4:5] or None
        before.append(line)
        line = lines.readline()
    rest = text[sum(map(len, before)) :]
    if delimiter is None:
        delimiter = _delimiter(path, rest)
    taken: list[str] = []
    first = next(csv.reader(_noted(io.StringIO(rest, newline=""), taken), delimiter=delimiter), [])
    columns = tuple(" ".join(name.split()) or f"column{i}" for i, name in enumerate(first))
    twice = [name for name in dict.fromkeys(columns) if columns.count(name) > 1]
    if twice:
        raise SchemaError(
            f"Column {listing(twice)} stands more than once in {path}; give each column its own "
            "name."
        )
    head = "".join([*before, *taken])
    lone = "\r" in head and "\n" not in text
    return CsvHead(
        path, delimiter, columns, len(head.encode()), head.count("\r" if lone else "\n"), lone
    )


def _noted(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    """Pass on lines, and keep them."""
    for line in lines:
        taken.append(line)
        yield line


def same_columns(heads: Sequence[CsvHead]) -> None:
    """Refuse files with different columns; the order may differ."""
    wanted = set(heads[0].columns)
    for head in heads[1:]:
        if set(head.columns) != wanted:
            missing, extra = wanted - set(head.columns), set(head.columns) - wanted
            what = f"lacks {listing(sorted(missing))}" if missing else f"has {listing(extra)} more"
            raise SchemaError(f"{head.path} {what} than {heads[0].path}: columns must be the same.")


def _decoded(start: bytes, encoding: str) -> str:
    """Decode bytes whose last character may be incomplete."""
    import codecs

    name = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    return codecs.getincrementaldecoder(name)().decode(start)


def _delimiter(path: str, text: str) -> str:
    if {".tsv", ".tab"} & {suffix.lower() for suffix in Path(path).suffixes[-2:]}:
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
