"""Where results go: stdout or a file, as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import glob
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from priory.base.errors import SettingError
from priory.base.replacing import replacing
from priory.cli.failing import tell
from priory.sources.addresses import file_of, is_address
from priory.sources.opening import SQL

__all__ = ["Output", "check_output", "dumped"]

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


def dumped(plain: Any) -> str:
    """Format plain values as readable JSON."""
    return json.dumps(plain, indent=1, ensure_ascii=False)


def check_output(
    path: Path | None, data: Sequence[str] = (), files: Sequence[str | Path] = ()
) -> None:
    """Refuse to write over what is read: the data, or other files."""
    if path is None or not path.exists():
        return
    for file in (*map(str, files), *(found for text in data for found in _files(text, path))):
        if os.path.exists(file) and os.path.samefile(file, path):
            raise SettingError(
                f"-o {path} would overwrite {file}, which is read. Name another file with -o."
            )


def _files(text: str, path: Path) -> Iterator[str]:
    """Find the files that an argument names: itself, by a pattern, in a query or in a folder."""
    if text == "-":
        yield "/dev/stdin"  # a file, where it was redirected from one
    elif is_address(text):
        yield file_of(text) or ""
    elif SQL.match(text):
        for a, b in re.findall(r"""'((?:[^']|'')*)'|"((?:[^"]|"")*)\"""", text):
            yield from glob.glob((a or b).replace("''", "'").replace('""', '"'), recursive=True)
    elif os.path.isdir(text):
        inside = os.path.relpath(path.resolve(), os.path.realpath(text))
        if not inside.startswith(os.pardir) and os.path.dirname(inside):  # in the folder of a class
            yield str(path)
    else:
        yield from [text] if os.path.exists(text) else glob.glob(text, recursive=True)


class Output:
    """Write tables one after the other; a file gets its name once it is complete."""

    def __init__(self, path: Path | None, as_lines: bool = False) -> None:
        self._path = path
        self._format = "json" if as_lines else "csv"
        if path is not None:
            found = SUFFIXES.get(path.suffix.lower())
            if found is None:
                raise SettingError(f"-o writes {', '.join(SUFFIXES)} files, not {path.name!r}.")
            self._format = found
        self._made: str | None = None
        self._file: Any = _Terminal() if sys.stdout.isatty() else sys.stdout
        self._writer: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if self._path is not None:
            self._made = self._open.enter_context(replacing(self._path))
            if self._format != "parquet":
                self._file = self._open.enter_context(
                    open(self._made, "w", encoding="utf-8", newline="")
                )
        return self

    def add(self, columns: dict[str, Any]) -> None:
        """Write some rows."""
        if self._format == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = pa.table(columns)
            if self._writer is None:
                self._writer = self._open.enter_context(pq.ParquetWriter(self._made, table.schema))
            self._writer.write_table(table)
            return
        names = list(columns)
        rows = zip(*(_listed(values) for values in columns.values()), strict=True)
        if self._format == "json":
            for row in rows:
                line = json.dumps(
                    dict(zip(names, row, strict=True)), ensure_ascii=False, default=str
                )
                self._file.write(line + "\n")
            return
        if self._writer is None:
            delimiter = "\t" if self._format == "tsv" else ","
            self._writer = csv.writer(self._file, delimiter=delimiter, lineterminator="\n")
            self._writer.writerow(names)
        self._writer.writerows(rows)

    def __exit__(self, *given: Any) -> None:
        self._open.__exit__(*given)


class _Terminal:
    """Stdout, as it may be shown."""

    def write(self, text: str) -> None:
        tell(text, end="")


def _listed(values: Any) -> list[Any]:
    to_list = getattr(values, "tolist", None) or getattr(values, "to_pylist", values.__iter__)
    return [None if value != value else value for value in to_list()]
