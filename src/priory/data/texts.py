"""Columns of texts, as Arrow holds them or as Python strings."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from priory.base.errors import InputError
from priory.base.typing import AnyArray, BoolArray
from priory.kernels.text import Splitter
from priory.kernels.utf8 import borrow_texts, encode_texts, text_sizes

__all__ = ["Strings", "Texts", "texts"]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts as Arrow holds it: UTF-8 bytes, text i from offsets[i] to offsets[i + 1].

    `gaps` says which are missing, None where none is; `splitter` what the words of a text are.
    """

    data: AnyArray
    offsets: AnyArray
    gaps: BoolArray | None
    splitter: Splitter

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def missing(self) -> BoolArray:
        """Which rows have no text; an empty text is a text."""
        return np.zeros(len(self), dtype=np.bool_) if self.gaps is None else self.gaps

    @property
    def buffers(self) -> tuple[Any, AnyArray | None, BoolArray | None]:
        """What the kernels read: bytes, where each text begins, and which are missing."""
        return self.data, self.offsets, self.gaps

    @property
    def n_bytes(self) -> int:
        """About how many bytes the texts have."""
        return int(self.starts[-1] - self.starts[0])

    @property
    def starts(self) -> AnyArray:
        """About where each text begins, in bytes, and where the last one ends."""
        return self.offsets

    def split_by(self, splitter: Splitter) -> Texts:
        """Let something else be the words of the same texts."""
        return replace(self, splitter=splitter)

    def take(self, rows: Any) -> Texts:
        """Take rows by an index, a slice or a mask; a slice copies nothing."""
        gaps = None if self.gaps is None else self.gaps[rows]
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            return Texts(self.data, offsets, gaps, self.splitter)
        chosen = np.arange(len(self))[rows]
        pieces = [self.data[self.offsets[i] : self.offsets[i + 1]] for i in chosen.tolist()]
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        data = np.concatenate([np.zeros(0, dtype=np.uint8), *pieces])
        return Texts(data, offsets, gaps, self.splitter)

    def stretches(self, n_bytes: int) -> list[slice]:
        """Part the rows into stretches of about so many bytes."""
        starts, n = self.starts, len(self)
        cuts = np.arange(int(starts[0]) + n_bytes, int(starts[-1]), n_bytes)
        ends = np.unique(np.searchsorted(starts[1:], cuts)) + 1
        return [slice(a, b) for a, b in pairwise([0, *ends[ends < n].tolist(), n])]

    def value(self, row: int) -> str | None:
        """Look up one text, None where it is missing."""
        if self.gaps is not None and self.gaps[row]:
            return None
        text = self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()
        return text.replace(b"\xff", b" ").decode("utf-8", "replace")  # \xff parts given words

    def as_labels(self) -> NoReturn:
        """Refuse: a text is not a label."""
        raise InputError("a text cannot be read as a label; name a family for words")


class Strings(Texts):
    """A column of Python strings, to be encoded when their bytes are asked for.

    The kernels read them where they are, except those that are not ASCII: whoever takes them piece
    by piece never has a second copy of all of them.
    """

    def __init__(
        self, values: list[Any], ends: AnyArray, gaps: BoolArray | None, splitter: Splitter
    ) -> None:
        given = {"values": values, "ends": ends, "gaps": gaps, "splitter": splitter}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    values: list[Any]
    ends: AnyArray

    @cached_property
    def _encoded(self) -> tuple[AnyArray, AnyArray]:
        data, offsets, _ = encode_texts(self.values)
        return data, offsets

    @property
    def data(self) -> AnyArray:
        """The bytes."""
        return self._encoded[0]

    @property
    def offsets(self) -> AnyArray:
        """Where each text begins, and where the last one ends."""
        return self._encoded[1]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def buffers(self) -> tuple[Any, AnyArray | None, BoolArray | None]:
        """What the kernels read, without a copy of the strings that are ASCII."""
        data, _, _ = borrow_texts(self.values)
        return data, None, self.gaps

    @property
    def starts(self) -> AnyArray:
        """Where each string would begin if all had the most bytes they can have."""
        return self.ends

    def split_by(self, splitter: Splitter) -> Strings:
        """Let something else be the words of the same texts."""
        return Strings(self.values, self.ends, self.gaps, splitter)

    def take(self, rows: Any) -> Texts:
        """Take rows by an index, a slice or a mask."""
        gaps = None if self.gaps is None else self.gaps[rows]
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            ends = self.ends[start : max(start, stop) + 1]
            return Strings(self.values[rows], ends, gaps, self.splitter)
        values = [self.values[i] for i in np.arange(len(self))[rows].tolist()]
        return Strings(values, text_sizes(values)[0], gaps, self.splitter)


def texts(values: Any, name: str, takes_bytes: bool = False) -> Texts:
    """Read a column of texts; Arrow's in place, strings when they are needed.

    Bytes are those of messages (`takes_bytes`): what is no UTF-8 of them comes as surrogates.
    """
    if takes_bytes:
        values = _messages(values)
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


def _messages(values: Any) -> Any:
    """Decode the bytes among messages, so that their reader can have them again."""
    dtype = str(getattr(values, "type", getattr(values, "dtype", "")))
    if not (isinstance(values, list | tuple) or "binary" in dtype.lower() or dtype == "object"):
        return values
    plain = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    if not any(isinstance(value, bytes) for value in plain):
        return values
    decoded = [v.decode("utf-8", "surrogateescape") if isinstance(v, bytes) else v for v in plain]
    return np.array([*decoded, None], dtype=object)[:-1]


def _strings(values: list[Any], name: str) -> Strings:
    try:
        ends, missing = text_sizes(values)
    except TypeError as error:
        value = values[error.args[0]]
        hint = "turn it into strings"
        if isinstance(value, bytes):
            hint = "decode bytes first (the analyzer 'email' takes them as they are)"
        raise InputError(
            f"Column {name!r} is read as text, but holds {value!r:.60} in row {error.args[0]}, of "
            f"type {type(value).__name__}; {hint}."
        ) from None
    return Strings(values, ends, missing if missing.any() else None, Splitter())


def _large_strings(array: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):  # one of views has no cast
        return array.dictionary.cast(pa.large_string()).take(array.indices)
    return array.cast(pa.large_string())


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
    if array.null_count == len(array):  # of nothing but missing values the type says nothing
        array, kind = pa.nulls(len(array), pa.string()), pa.string()
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()):
        raise InputError(
            f"Column {name!r} is read as text, but has the type {array.type}; turn it into strings."
        )
    if isinstance(array, pa.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)
    if isinstance(array, pa.ChunkedArray):  # several pieces may be more than 32 bits can number
        chunks = [_large_strings(chunk) for chunk in array.chunks]
        array = pa.chunked_array(chunks, pa.large_string()).combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    elif not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        array = _large_strings(array)
    _, starts, data = array.buffers()
    dtype = np.int32 if pa.types.is_string(array.type) else np.int64
    if starts is None or not len(array):
        offsets = np.zeros(len(array) + 1, dtype=dtype)
    else:
        offsets = np.frombuffer(starts, dtype)[array.offset : array.offset + len(array) + 1]
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return Texts(np.frombuffer(data or b"", np.uint8), offsets, missing, Splitter())
