"""Where results go: stdout or a file, as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from priory.base.errors import SettingError

__all__ = ["Output", "dumped"]

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
        self._file: Any = sys.stdout
        self._writer: Any = None

    def __enter__(self) -> Self:
        if self._path is not None:
            folder = self._path.parent
            handle, self._made = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=folder)
            if self._format == "parquet":
                os.close(handle)
            else:
                self._file = os.fdopen(handle, "w", encoding="utf-8", newline="")
        return self

    def add(self, columns: dict[str, Any]) -> None:
        """Write some rows."""
        if self._format == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = pa.table(columns)
            if self._writer is None:
                self._writer = pq.ParquetWriter(self._made, table.schema)
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._format == "parquet" and self._writer is not None:
            self._writer.close()
        if self._path is None or self._made is None:
            return
        if self._file is not sys.stdout:
            self._file.close()
        if kind is None:
            os.chmod(self._made, 0o644)
            os.replace(self._made, self._path)
        else:
            os.unlink(self._made)


def _listed(values: Any) -> list[Any]:
    to_list = getattr(values, "tolist", None) or getattr(values, "to_pylist", values.__iter__)
    return [None if value != value else value for value in to_list()]
