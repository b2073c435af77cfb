"""A sample of rows that depends on the rows alone, not on their order or on how they came.

Each row has a hash of its values and its class; the sample is the rows with the least hashes. So
any order and any machine choose the same rows, and so does any chunking. Rows that are all alike
have hashes of their own, or they would be in the sample all or none: the second, the third … of
them is hashed with its number.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from priory.columns import (
    Column,
    Combined,
    Counts,
    Frame,
    Labels,
    Numbers,
    Pairs,
    SparseRows,
    Texts,
)
from priory.kernels.hashes import Numbering, mix_codes, mix_numbers
from priory.labels import label_token
from priory.typing import AnyArray, IntArray, Label

__all__ = ["Numbering", "bottom_rows", "row_hashes"]

GAP = np.uint64(0x9E3779B97F4A7C15)


def bottom_rows(frame: Frame, y: Labels, size: int) -> IntArray | None:
    """Return the rows of the sample in their order, or None where all of them are in it.

    >>> y = Labels(np.zeros(5, dtype=np.int32), ("a",))
    >>> frame = Frame(5, {"x": Numbers(np.arange(5.0)[:, None])})
    >>> backwards = Frame(5, {"x": Numbers(np.arange(5.0)[::-1, None])})
    >>> there, back = bottom_rows(frame, y, 2), bottom_rows(backwards, y, 2)
    >>> sorted(there) == sorted(4 - back)
    True
    """
    if len(frame) <= size:
        return None
    hashes = row_hashes(frame, y)
    return np.sort(np.argpartition(hashes, size - 1)[:size])


def row_hashes(frame: Frame, y: Labels, numbering: Numbering | None = None) -> AnyArray:
    """Return a 64-bit hash of each row's values and class, and of its number among equal rows.

    The rows may be a part of many; a `numbering` then goes on from part to part.
    """
    hashes = _of_labels(y)[y.codes]
    for name in sorted(frame.columns):
        _mix(hashes, frame[name])
    number = (Numbering() if numbering is None else numbering).of(hashes)
    again = np.flatnonzero(number)
    hashes[again] = _mixed(hashes[again] + number[again].astype(np.uint64) * GAP)
    return hashes


def _mix(hashes: AnyArray, column: Column) -> None:
    """Mix a column into the hashes of the rows."""
    if isinstance(column, Pairs):  # its columns are hashed by themselves
        return
    if isinstance(column, Labels):
        mix_codes(hashes, np.ascontiguousarray(column.codes), _of_labels(column))
    elif isinstance(column, Numbers) and column.values.shape[1] == 1:
        mix_numbers(hashes, column.values[:, 0].astype(np.float64, copy=False), int(GAP))
    else:
        hashes[:] = _mixed(hashes * np.uint64(31) + _column(column))


def _column(column: Numbers | Combined | Texts | Counts) -> AnyArray:
    if isinstance(column, Numbers):
        return _together([_bits(column.values[:, j]) for j in range(column.values.shape[1])])
    if isinstance(column, Combined):
        return _together([_of_labels(part)[part.codes] for part in column.parts])
    if isinstance(column, Texts):
        return _texts(column)
    return _counts(column)


def _of_labels(column: Labels) -> AnyArray:
    """Return the hash of each label, and last that of a gap, whose code is −1."""
    return np.array([*map(_of_label, column.labels), int(GAP)], dtype=np.uint64)


@lru_cache(1 << 16, typed=True)  # 1 and True are equal, but not the same label
def _of_label(label: Label) -> int:
    return int.from_bytes(blake2b(label_token(label).encode(), digest_size=8).digest(), "little")


def _bits(values: AnyArray) -> AnyArray:
    numbers = values.astype(np.float64) + 0.0  # −0.0 and 0.0 are one number
    return np.where(np.isnan(numbers), GAP, _mixed(numbers.view(np.uint64)))


def _texts(column: Texts) -> AnyArray:
    data, ends = np.ascontiguousarray(column.data).data, column.offsets.tolist()
    missing = column.missing
    hashes = np.array([zlib.crc32(data[a:b]) for a, b in pairwise(ends)], dtype=np.uint64)
    lengths = np.diff(column.offsets).astype(np.uint64)
    return np.where(missing, GAP, _mixed(hashes | lengths << np.uint64(32)))


def _counts(column: Counts) -> AnyArray:
    matrix = column.matrix
    if not isinstance(matrix, SparseRows):
        return _together([_bits(matrix[:, j]) for j in range(matrix.shape[1])])
    first, last = int(matrix.indptr[0]), int(matrix.indptr[-1])
    places = matrix.indices[first:last].astype(np.uint64)
    entries = _mixed(places * GAP + _bits(matrix.data[first:last]))
    # A sum, so that the order of the entries does not matter; rows of no entries have 0.
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    ends = matrix.indptr - first
    return np.asarray(sums[ends[1:]] - sums[ends[:-1]])


def _together(hashes: list[AnyArray]) -> AnyArray:
    total = hashes[0]
    for more in hashes[1:]:
        total = _mixed(total * np.uint64(31) + more)
    return total


def _mixed(x: Any) -> AnyArray:
    """Return the bits well mixed (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
