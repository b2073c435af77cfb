"""Code integers as labels: a column of any of them, or a matrix of codes from 0 on."""

from __future__ import annotations

from functools import partial

import numpy as np

from priory.base.parallel import in_parallel, stretches
from priory.base.typing import AnyArray
from priory.data.columns import Labels
from priory.kernels.labels import encode_integers, encode_range, pack_codes

__all__ = ["code_columns", "integer_labels"]

SMALL = 4096
"""Fewer entries are looked at one by one: a look at all of them first saves nothing."""

CLOSE = 65_536
"""Integers that are closer together than this need no hashing."""


def integer_labels(values: AnyArray) -> Labels:
    """Code integers as a column of labels.

    >>> column = integer_labels(np.array([7, 3, 7]))
    >>> column.codes.tolist(), column.labels
    ([0, 1, 0], (7, 3))
    """
    values = np.ascontiguousarray(values, dtype=np.int64)
    if len(values) >= SMALL:
        low, high = int(values.min()), int(values.max())
        if high - low < CLOSE:
            parts = stretches(len(values), 1)
            return _close_integers(values, low, high, parts)
    codes, distinct = encode_integers(values)
    return Labels(codes, tuple(distinct.tolist()))


def _close_integers(values: AnyArray, low: int, high: int, parts: list[slice]) -> Labels:
    """Code integers between two limits as labels, in their order."""
    codes = np.empty(len(values), dtype=np.int32)
    marks = [np.zeros(high - low + 1, dtype=np.uint8) for _ in parts]
    tasks = [
        partial(encode_range, values[rows], low, codes[rows], marked)
        for rows, marked in zip(parts, marks, strict=True)
    ]
    in_parallel(tasks, len(parts))
    seen = np.bitwise_or.reduce(marks)
    labels = np.flatnonzero(seen)
    if len(labels) < len(seen):
        codes = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[codes]
    return Labels(codes, tuple((labels + low).tolist()))


def code_columns(X: AnyArray, most: int) -> tuple[tuple[Labels, ...], int | None]:
    """Take the columns of a matrix of codes 0, 1, 2, … as labels; NaN is a missing value.

    Codes are packed column by column, a byte each where they fit. With a code that is negative, or
    not below `most`, there are no columns but the position of the first that is at fault.

    >>> columns, _ = code_columns(np.array([[0, 2], [1, 0]]), most=10)
    >>> [column.codes.tolist() for column in columns], columns[1].labels
    ([[0, 1], [2, 0]], (0, 1, 2))
    """
    known = X.dtype in (np.float32, np.float64, np.int32, np.int64)
    X = np.ascontiguousarray(X if known else X.astype(np.float64))
    parts = stretches(len(X), X.shape[1])
    for dtype in (np.int8, np.int32):
        codes = np.empty(X.shape[::-1], dtype=dtype)
        largest = np.full((len(parts), X.shape[1]), -1, dtype=np.int64)
        tasks = [
            partial(pack_codes, X[rows], codes, rows.start, largest[i])
            for i, rows in enumerate(parts)
        ]
        wrong = max(in_parallel(tasks, len(parts)))
        if wrong < 0:
            break
    top = largest.max(axis=0)
    if wrong >= 0 or (top >= most).any():
        return (), int(wrong if wrong >= 0 else np.argmax(top >= most))
    columns = [Labels(codes[j], tuple(range(top[j] + 1))) for j in range(X.shape[1])]
    return tuple(columns), None
