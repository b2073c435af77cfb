"""Plain Parquet files, which executors read by themselves: each takes row groups of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.base.parallel import in_parallel, thread_count
from priory.sources.tables import find_files

__all__ = ["Files", "Other", "Piece", "ReadPieces", "find_parquet"]

VALUES_AT_ONCE = 2_500_000
PIECE_BYTES = 64 << 20
"""A task reads about so many bytes of a file; a row group at least."""
FEWEST = 8
"""There are so many tasks at least, where there are row groups enough."""


class Other(Exception):  # noqa: N818
    """Says why executors cannot read files by themselves, so that Spark must."""


@dataclass(frozen=True)
class Piece:
    """Row groups of a file, from the first to before the last, and how many rows they have."""

    path: str
    first: int
    last: int
    rows: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.path)}, row groups {self.first} to {self.last - 1}"


@dataclass(frozen=True)
class Files:
    """Parquet files of one schema, and the row groups that each has."""

    paths: tuple[str, ...]
    schema: Any
    groups: tuple[tuple[tuple[int, int], ...], ...]
    """The rows and the bytes of each row group, file by file."""

    @classmethod
    def of(cls, paths: Sequence[str]) -> Files:
        """Read the footers; files of other schemas are for Spark to join."""

        def footer(path: str) -> tuple[Any, tuple[tuple[int, int], ...]]:
            try:
                with _opened(path) as file:
                    found, schema = file.metadata, file.schema_arrow.remove_metadata()
            except Exception as error:
                raise InputError(f"{path} could not be read as Parquet: {error}") from None
            groups = [found.row_group(i) for i in range(found.num_row_groups)]
            return schema, tuple((g.num_rows, g.total_byte_size) for g in groups)

        found = in_parallel([partial(footer, path) for path in paths], thread_count())
        schema = found[0][0]
        for path, (other, _) in zip(paths, found, strict=True):
            if not other.equals(schema):
                raise Other(
                    f"{os.path.basename(path)} has other columns or types than the first file"
                )
        twice = [name for name in schema.names if schema.names.count(name) > 1]
        if twice:
            raise InputError(f"Column {twice[0]!r} stands more than once in {paths[0]}.")
        return cls(tuple(paths), schema, tuple(groups for _, groups in found))

    def pieces(self, n: int | None = None) -> list[Piece]:
        """Cut the files into tasks of like size, `n` of them where so many row groups are there."""
        sizes = [size for groups in self.groups for _, size in groups]
        most = PIECE_BYTES if n is None else max(sum(sizes) / n, 1)
        if n is None:
            most = min(most, max(sum(sizes) / FEWEST, 1))
        pieces = []
        for path, groups in zip(self.paths, self.groups, strict=True):
            cuts = _cuts([size for _, size in groups], most)
            pieces += [
                Piece(path, first, last, sum(rows for rows, _ in groups[first:last]))
                for first, last in pairwise(cuts)
            ]
        return pieces


def _cuts(sizes: Sequence[int], most: float) -> list[int]:
    """Cut a row of sizes into stretches of about `most` each.

    >>> _cuts([3, 3, 3, 3], 6), _cuts([9, 1], 5), _cuts([], 5)
    ([0, 2, 4], [0, 1, 2], [0])
    """
    n = max(1, round(sum(sizes) / most))
    ends = np.cumsum([0, *sizes])
    wanted = np.linspace(0, ends[-1], n + 1)[1:-1]
    inner = [int(np.argmin(np.abs(ends - x))) for x in wanted]
    return sorted({0, *inner, len(sizes)})


class ReadPieces:
    """Read the pieces whose numbers Spark sends to a partition."""

    def __init__(self, pieces: Sequence[Piece], columns: Sequence[str]) -> None:
        self._pieces, self._columns = list(pieces), list(columns)

    def __call__(self, batches: Iterator[Any], part: int) -> Iterator[Any]:
        """Yield tables of their rows."""
        for batch in batches:
            for i in batch.column(0).to_pylist():
                yield from read_piece(self._pieces[i], self._columns)

    def name(self, part: int) -> str:
        """Name a partition by what it reads."""
        return f"partition {part} ({self._pieces[part]})"


def read_piece(piece: Piece, columns: Sequence[str]) -> Iterator[Any]:
    """Read the row groups of a piece, some rows at a time."""
    import pyarrow as pa

    size = int(np.clip(VALUES_AT_ONCE // max(len(columns), 1), 8192, 131_072))
    groups, rows = range(piece.first, piece.last), 0
    try:
        with _opened(piece.path) as file:
            if file.metadata.num_row_groups >= piece.last:
                for batch in file.iter_batches(size, groups, list(columns), use_threads=False):
                    rows += batch.num_rows
                    yield _plain(pa.Table.from_batches([batch]))
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"{piece.path} could not be read on an executor: {error}. Files must be where every "
            "executor sees them; road='frame' lets Spark read them."
        ) from None
    if rows != piece.rows:
        raise InputError(f"{piece.path} changed while it was read.")


def _opened(path: str) -> Any:
    """Open a file; Spark writes points in time whose years no count of nanoseconds reaches."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us")


def _plain(table: Any) -> Any:
    """Decode what only Arrow's own note in a file makes of it: dictionaries, and durations.

    Which values a file lists says nothing of the data, and all others read durations as integers.
    """
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) or pa.types.is_duration(kind):
            plain = pa.int64() if pa.types.is_duration(kind) else kind.value_type
            table = table.set_column(i, field.name, table.column(i).cast(plain))
    return table


def find_parquet(source: Any) -> list[str]:
    """List the files of a path, a pattern, a folder or several, or say why Spark must read them."""
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    return [file for path in given for file in _files(os.fspath(path))]


def _files(path: str) -> list[str]:
    scheme, colon, rest = path.partition(":")
    if colon and "/" in rest[:1]:
        if scheme != "file":
            raise Other(f"{scheme}:// is read with the credentials that Spark has")
        path = "/" + rest.lstrip("/")
    folder = Path(path)
    if not folder.is_dir():
        return [os.path.abspath(file) for file in _sound(find_files(path))]
    if (folder / "_delta_log").is_dir() or (folder / "metadata").is_dir():
        raise InputError(
            f"{path} holds a table whose log says which of its files and rows still count. Give "
            "the table's name, or spark.read.format('delta').load(…)."
        )
    names = sorted(entry.name for entry in folder.iterdir() if entry.name[0] not in "._")
    if any((folder / name).is_dir() for name in names):
        raise Other(f"{path} has folders within, whose names may be columns")
    if not names:
        raise InputError(f"{path} holds no files.")
    return _sound([os.path.abspath(folder / name) for name in names])


def _sound(files: list[str]) -> list[str]:
    for file in files:
        with open(file, "rb") as opened:
            if opened.read(4) != b"PAR1":
                raise InputError(
                    f"{file} is no plain Parquet file, which a path must name. Read it to a frame, "
                    "say by spark.read.csv(…, header=True, inferSchema=True), and give that."
                )
    return files
