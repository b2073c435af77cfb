"""The bytes of a model file: Parquet with a seal, whose layout is checked before Arrow sees it.

Sizes are checked before anything is allocated. Pages are not compressed (codes and dictionaries
make them small), so no file can unpack to more than it is.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from priory.base.errors import ModelFileError, listing
from priory.classifier.footer import Chunk, page_sizes, read_footer
from priory.classifier.soundness import TEXTS, DamageError
from priory.data.arrow import arrow_values
from priory.statistics.longtable import COLUMNS, SUMS

try:  # a prediction must not wait for OpenSSL, which hashlib loads
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["HEADER", "LONGEST_HEADER", "check_layout", "parquet", "read_table", "seal_of", "sealed"]

HEADER = b"priory"
SEAL = b"priory:1"
"""Stands with a digest of all other bytes between the pages and the footer, where no one looks."""

PHYSICAL = dict.fromkeys(TEXTS, 6) | {"rows": 2} | dict.fromkeys(SUMS, 5)
"""Parquet's numbers for its types: bytes, an integer, a number; all of 64 bits."""

FEW_ROWS = 250_000
ROWS_PER_BYTE = 2
"""Rows differ in class or key, which takes some bits; more rows than this are a trick."""

LONGEST_PAGE_HEADER = 4096
LONGEST_HEADER = 64 * 2**20


def parquet(table: pa.Table, header: bytes) -> bytes:
    """Write a table and a header as the bytes of a file, with their seal."""
    content = io.BytesIO()
    writer = _writer(content, table.schema)
    writer.write_table(table, row_group_size=max(table.num_rows, 1))
    writer.add_key_value_metadata({HEADER: header})
    writer.close()
    return sealed(content.getbuffer())


def _writer(content: io.BytesIO, schema: pa.Schema) -> Any:
    options = {
        "compression": "NONE",
        "store_schema": False,
        "write_statistics": False,
        "dictionary_pagesize_limit": 2**30,  # strings stay codes, however many there are
    }
    try:
        # What stands behind pyarrow.parquet, which would load file systems and TLS as well.
        from pyarrow._parquet import ParquetWriter

        form = {"version": "2.6", "data_page_version": "1.0", "writer_engine_version": "V2"}
        return ParquetWriter(content, schema, **form, **options)
    except (ImportError, AttributeError, TypeError, ValueError):
        import pyarrow.parquet as pq

        return pq.ParquetWriter(content, schema, **options)


def sealed(content: bytes | memoryview) -> bytes:
    """Add a digest of its bytes to a Parquet file, just before the footer.

    Readers of Parquet find pages by their offsets and the footer from the end: they never see it.
    """
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return b"".join((content[:end], SEAL, _digest(content), content[end:]))


def _digest(*parts: bytes | memoryview) -> bytes:
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part)
    return found.digest()


def seal_of(content: bytes) -> bytes:
    """Find the digest that a file carries."""
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[max(end - 16, 0) : max(end, 0)]


def read_table(file: Any) -> pa.Table:
    """Read the table, once its layout was checked."""
    limits = {"thrift_string_size_limit": LONGEST_HEADER, "pre_buffer": False}
    try:
        from pyarrow._parquet import ParquetReader  # as in `_writer`

        reader = ParquetReader()
        reader.open(file, read_dictionary=list(TEXTS), **limits)
        return _column_by_column(reader)
    except (ImportError, AttributeError, TypeError):
        import pyarrow.parquet as pq

        return pq.ParquetFile(file, read_dictionary=list(TEXTS), **limits).read(use_threads=False)


def _column_by_column(reader: Any) -> pa.Table:
    """Read one column after the other; those of zeros alone, which are most, share one array."""
    import numpy as np
    import pyarrow as pa

    columns: list[Any] = []
    zeros = None
    for i, name in enumerate(COLUMNS + SUMS):
        column = reader.read_all(column_indices=[i], use_threads=False).column(0)
        if name in SUMS and not column.null_count and not arrow_values(column, np.float64).any():
            zeros = column = column if zeros is None else zeros
        columns.append(column)
    return pa.table(columns, names=[*COLUMNS, *SUMS])


def check_layout(content: bytes) -> bytes:
    """Find the header; refuse what is not whole or would unpack to far more than it is."""
    size = len(content)
    end = size - 8 - int.from_bytes(content[-8:-4], "little")
    start = end - len(SEAL) - 16
    if start < 4 or content[start : start + len(SEAL)] != SEAL:
        if content[:4] == b"PAR1" and 4 <= end < size and b"priory" not in content[end:]:
            raise ModelFileError("is a Parquet file, but no model file of priory.")
        raise DamageError("it was changed after it was written")
    view = memoryview(content)  # slices of it are no copies
    if content[end - 16 : end] != _digest(view[:start], view[end:]):
        raise DamageError("it was changed after it was written")
    footer = read_footer(content[end:-8])
    names = [name for name, _ in footer.columns]
    if names != [*COLUMNS, *SUMS]:
        raise DamageError(f"its columns are {listing(names, 20)}")
    if footer.rows > max(FEW_ROWS, ROWS_PER_BYTE * size):
        raise DamageError(f"it promises {footer.rows:,} rows in {size:,} bytes")
    if len(footer.groups) > 1:
        raise DamageError(f"it has {len(footer.groups)} groups of rows instead of one")
    for chunk in (chunk for group in footer.groups for chunk in group):
        _check_chunk(chunk, view[:start], footer.rows)
    return footer.metadata.get(HEADER, b"null")


def _check_chunk(chunk: Chunk, content: memoryview, rows: int) -> None:
    """Refuse a column of another type or packing, or with pages that promise more than is there."""
    name = f"column {chunk.name!r:.40}"
    if chunk.physical != PHYSICAL[chunk.name]:
        raise DamageError(f"{name} is of Parquet's type {chunk.physical}")
    if chunk.codec != 0:
        raise DamageError(f"{name} is compressed, which priory never does")
    if chunk.values != rows:
        raise DamageError(f"{name} has {chunk.values:,} values instead of {rows:,}")
    at, end = chunk.start, chunk.start + chunk.size
    if not rows:
        return
    if not 4 <= at < end <= len(content):
        raise DamageError(f"{name} is beyond the end")
    while at < end:
        length, (unpacked, packed, n) = page_sizes(
            bytes(content[at : min(at + LONGEST_PAGE_HEADER, end)])
        )
        at += length + packed
        if unpacked != packed or at > end:
            raise DamageError(f"{name} has a page of a wrong size")
        if n > max(rows, packed):
            raise DamageError(f"{name} has a page of {n:,} values")
