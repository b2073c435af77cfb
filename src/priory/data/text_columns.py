"""Columns of texts: Arrow's are read in place, strings when they are needed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.data.columns import Strings, Texts
from priory.kernels.text import Splitter, text_sizes

__all__ = ["texts"]


def texts(values: Any, name: str) -> Texts:
    """Return a column of texts; Arrow's are read in place, strings when they are needed."""
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and values.dtype == object:
        return _strings(values.to_numpy().tolist(), name)
    if module in ("pandas", "pyarrow") or hasattr(values, "__arrow_c_stream__"):
        return _encoded_arrow(values, name)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{name!r} must be one-dimensional, but has shape {values.shape}.")
        return _strings(values.tolist(), name)
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        raise InputError(
            f"{name!r} must be a sequence with a text for each row, not {values!r:.50}, of type "
            f"{type(values).__name__}."
        )
    return _strings(list(values), name)


def _strings(values: list[Any], name: str) -> Strings:
    try:
        ends, missing = text_sizes(values)
    except TypeError as error:
        value = values[error.args[0]]
        hint = "decode bytes first" if isinstance(value, bytes) else "turn it into strings"
        raise InputError(
            f"Column {name!r} is read as text, but holds {value!r:.60} in row {error.args[0]}, of "
            f"type {type(value).__name__}; {hint}."
        ) from None
    return Strings(values, ends, missing if missing.any() else None, Splitter())


def _encoded_arrow(values: Any, name: str) -> Texts:
    import pyarrow as pa

    try:
        if type(values).__module__.startswith("pandas"):
            array = pa.array(values, from_pandas=True)
        elif isinstance(values, pa.Array | pa.ChunkedArray):
            array = values
        else:
            array = pa.chunked_array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # lone surrogates have no UTF-8
        return _strings(np.asarray(values, dtype=object).tolist(), name)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_null(kind):
        kind = pa.string()
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()):
        raise InputError(
            f"Column {name!r} is read as text, but has the type {array.type}; turn it into strings."
        )
    if isinstance(array, pa.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)
    if isinstance(array, pa.ChunkedArray):  # several pieces may be more than 32 bits can number
        array = array.cast(pa.large_string()).combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    elif not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        array = array.cast(pa.large_string())
    _, starts, data = array.buffers()
    dtype = np.int32 if pa.types.is_string(array.type) else np.int64
    if starts is None or not len(array):
        offsets = np.zeros(len(array) + 1, dtype=dtype)
    else:
        offsets = np.frombuffer(starts, dtype)[array.offset : array.offset + len(array) + 1]
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return Texts(np.frombuffer(data or b"", np.uint8), offsets, missing, Splitter())
