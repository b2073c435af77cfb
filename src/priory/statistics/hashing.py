"""A hash of each row that depends on its values and its class alone.

The hash is a sum over the columns, to which a missing value adds nothing: so neither the order of
the columns matters, nor whether a column that has been empty so far is there.
"""

from __future__ import annotations

from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any

import numpy as np

from priory.base.labels import label_token
from priory.base.parallel import in_parallel, stretches, thread_count
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Combined, Counts, Frame, Labels, Numbers, Pairs, SparseRows
from priory.data.texts import Texts
from priory.kernels.hashes import add_numbers, text_checksums

__all__ = ["class_hashes", "label_hashes", "number_hashes", "number_seed", "row_hashes"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(frame: Frame, y: Labels) -> AnyArray:
    """Hash each row's values and class to 64 bits.

    >>> y = Labels(np.zeros(3, dtype=np.int32), ("a",))
    >>> frame = Frame(3, {"x": Numbers(np.array([[1.0], [np.nan], [1.0]]))})
    >>> one, missing, again = row_hashes(frame, y).tolist()
    >>> one == again, one == missing, missing in row_hashes(Frame(3, {}), y)
    (True, False, True)
    """
    hashes = np.zeros(len(y), dtype=np.uint64)
    threads = thread_count()
    # The columns of pairs are hashed by themselves.
    columns = [(name, c) for name, c in frame.columns.items() if not isinstance(c, Pairs)]
    prepared = []
    for name, column in columns:
        seed = np.uint64(_of_label(name))
        prepared.append(
            (column, seed, _of_labels(column, seed) if isinstance(column, Labels) else None)
        )

    def add(rows: slice) -> None:
        _add_codes(hashes[rows], y.codes[rows], class_hashes(y))
        for column, seed, of_code in prepared:
            _add(hashes[rows], column.take(rows), seed, of_code)

    tasks = [partial(add, rows) for rows in stretches(len(y), 1 + len(columns), threads)]
    in_parallel(tasks, threads)
    return _mixed(hashes)


def class_hashes(y: Labels) -> AnyArray:
    """Find what each class adds to the hash of its rows, before all bits are mixed."""
    return _of_labels(y, GOLDEN)


def label_hashes(column: Labels, name: str) -> AnyArray:
    """Find what each label of a column adds to the hash of its rows."""
    return _of_labels(column, np.uint64(_of_label(name)))


def number_seed(name: str) -> int:
    """Find the seed of a column of numbers: x adds mixed(mixed(bits of x) ^ seed)."""
    return int(_mixed(np.uint64(_of_label(name)) ^ np.uint64(0)))


def number_hashes(values: FloatArray, name: str) -> AnyArray:
    """Find what each number of a column adds to the hash of its rows."""
    hashes = np.zeros(len(values), dtype=np.uint64)
    add_numbers(hashes, values, number_seed(name))
    return hashes


def _add(hashes: AnyArray, column: Any, seed: np.uint64, of_code: AnyArray | None) -> None:
    if of_code is not None:
        _add_codes(hashes, column.codes, of_code)
    elif isinstance(column, Numbers):
        for j in range(column.values.shape[1]):
            values = column.values[:, j].astype(np.float64, copy=False)
            add_numbers(hashes, values, int(_mixed(seed ^ np.uint64(j))))
    elif isinstance(column, Combined):
        for j, part in enumerate(column.parts):
            own = _of_labels(part, _mixed(seed ^ np.uint64(j)))
            _add_codes(hashes, part.codes, own)
    elif isinstance(column, Texts):
        hashes += _texts(column, seed)
    else:
        hashes += _counts(column, seed)


def _add_codes(hashes: AnyArray, codes: CodeArray, of_code: AnyArray) -> None:
    """Add the hash of each code; a missing value, which is −1, adds nothing."""
    hashes += np.append(of_code, np.uint64(0))[codes]


def _of_labels(column: Labels, seed: Any) -> AnyArray:
    own = np.array([_of_label(label) for label in column.labels], dtype=np.uint64)
    return _mixed(own ^ seed)


@lru_cache(1 << 16, typed=True)  # 1 and True are equal, but not the same label
def _of_label(label: Label) -> int:
    return int.from_bytes(blake2b(label_token(label).encode(), digest_size=8).digest(), "little")


def _texts(column: Texts, seed: np.uint64) -> AnyArray:
    hashes = np.zeros(len(column), dtype=np.uint64)
    text_checksums(
        np.ascontiguousarray(column.data, dtype=np.uint8),
        np.ascontiguousarray(column.offsets, dtype=np.int64),
        hashes,
    )
    return np.where(column.missing, 0, _mixed(hashes ^ seed))


def _counts(column: Counts, seed: np.uint64) -> AnyArray:
    matrix = column.matrix
    if not isinstance(matrix, SparseRows):
        hashes = np.zeros(len(matrix), dtype=np.uint64)
        for j in range(matrix.shape[1]):
            hashes += _entries(np.uint64(j), matrix[:, j], seed)
        return hashes
    first, last = int(matrix.indptr[0]), int(matrix.indptr[-1])
    places = matrix.indices[first:last].astype(np.uint64)
    entries = _entries(places, matrix.data[first:last], seed)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    ends = matrix.indptr - first
    return np.asarray(sums[ends[1:]] - sums[ends[:-1]])


def _entries(places: Any, values: AnyArray, seed: np.uint64) -> AnyArray:
    """Hash entries; one of 0 adds nothing, so that it may stand or not."""
    numbers = np.asarray(values, dtype=np.float64) + 0.0
    with np.errstate(over="ignore"):
        own = seed + places * GOLDEN
    bits = _mixed(_mixed(numbers.view(np.uint64)) ^ own)
    return np.where(numbers == 0, np.uint64(0), bits)


def _mixed(x: Any) -> Any:
    """Mix the bits well (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):  # scalars warn of what arrays do silently
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
