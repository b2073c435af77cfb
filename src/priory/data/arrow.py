"""Arrow columns as NumPy arrays, without pandas, which Arrow's own conversion loads."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

__all__ = ["arrow_nulls", "arrow_values", "release"]


def arrow_values(column: Any, dtype: Any) -> Any:
    """Read the numbers of an Arrow column, anything where it is null.

    Arrow itself would load pandas to do this.
    """
    arrays = [
        # A buffer may be longer than its values, and no multiple of them.
        np.frombuffer(chunk.buffers()[1], dtype, chunk.offset + len(chunk))[chunk.offset :]
        for chunk in _chunks(column)
    ]
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=dtype)


def arrow_nulls(column: Any) -> Any:
    """Find which values of an Arrow column are null."""
    nulls = [np.zeros(0, dtype=np.bool_)]
    for chunk in _chunks(column):
        null = np.zeros(len(chunk), dtype=np.bool_)
        if chunk.null_count:
            bits = np.frombuffer(chunk.buffers()[0], dtype=np.uint8)
            valid = np.unpackbits(bits, bitorder="little")[chunk.offset :][: len(chunk)]
            null = valid == 0
        nulls.append(null)
    return np.concatenate(nulls)


def release() -> None:
    """Give back to the system what was freed, where the C library can be asked to.

    Thousands of columns leave as many holes behind, too small for any later array.
    """
    import ctypes

    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def _chunks(column: Any) -> list[Any]:
    import pyarrow as pa

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [chunk for chunk in chunks if len(chunk)]
