"""Frames one below the other: the rows of several, columns aligned by name and labels by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from priory.base.labels import label_keys
from priory.base.typing import AnyArray, IntArray, Label
from priory.data.columns import Column, Combined, Counts, Frame, Labels, Numbers, Pairs, SparseRows
from priory.data.texts import Strings, Texts
from priory.kernels.utf8 import text_sizes

__all__ = ["stack", "stack_labels"]


def stack(frames: Sequence[Frame]) -> Frame:
    """Put the rows of several frames together; a column that one of them lacks is missing there.

    >>> a = Frame(1, {"x": Labels(np.array([0]), ("p",))})
    >>> b = Frame(2, {"x": Labels(np.array([0, 1]), ("q", "p")), "z": Numbers(np.ones((2, 1)))})
    >>> both = stack([a, b])
    >>> [both["x"].value(i) for i in range(3)], both["z"].missing.tolist()
    (['p', 'q', 'p'], [True, False, False])
    """
    if len(frames) == 1:
        return frames[0]
    examples: dict[str, Column] = {}
    for frame in frames:
        for name, column in frame.columns.items():
            examples.setdefault(name, column)
    columns = {
        name: _stacked([f.columns.get(name) or _missing(example, len(f)) for f in frames])
        for name, example in examples.items()
    }
    return Frame(sum(map(len, frames)), columns)


def stack_labels(parts: Sequence[Labels]) -> Labels:
    """Put the rows of several columns of labels together.

    >>> column = stack_labels([Labels(np.array([0]), ("a",)), Labels(np.array([-1, 0]), ("b",))])
    >>> column.codes.tolist(), column.labels
    ([0, -1, 1], ('a', 'b'))
    """
    first = parts[0].labels
    if all(part.labels is first for part in parts):
        return Labels(np.concatenate([part.codes for part in parts]), first)
    places: dict[Any, int] = {}
    labels: list[Label] = []
    codes = []
    for part in parts:
        where = [places.setdefault(key, len(places)) for key in label_keys(part.labels)]
        if len(labels) < len(places):
            for label, place in zip(part.labels, where, strict=True):
                if place == len(labels):
                    labels.append(label)
        codes.append(np.array([*where, -1], dtype=np.int32)[part.codes])
    return Labels(np.concatenate(codes), tuple(labels))


def _stacked(parts: Sequence[Any]) -> Column:
    first = parts[0]
    if isinstance(first, Labels):
        return stack_labels(parts)
    if isinstance(first, Numbers):
        return Numbers(np.concatenate([part.values for part in parts]))
    if isinstance(first, Counts):
        return Counts(_stacked_counts([part.matrix for part in parts]), first.threshold)
    if isinstance(first, Texts):
        return _stacked_texts(parts)
    together = [stack_labels(some) for some in zip(*(part.parts for part in parts), strict=True)]
    if isinstance(first, Pairs):
        return Pairs(tuple(together), first.is_conditional)
    return Combined(tuple(together))


def _stacked_counts(parts: Sequence[Any]) -> Any:
    if not isinstance(parts[0], SparseRows):
        return np.concatenate(parts)
    data, indices = [], []
    for part in parts:
        some = slice(int(part.indptr[0]), int(part.indptr[-1]))
        data.append(part.data[some])
        indices.append(part.indices[some])
    ends = _ends([part.indptr for part in parts])
    return SparseRows(np.concatenate(data), np.concatenate(indices), ends, parts[0].n_columns)


def _ends(parts: Sequence[AnyArray]) -> IntArray:
    """Put the ends of rows, after those of the parts before; a part may have no rows."""
    sizes = [np.diff(part.astype(np.int64)) for part in parts]
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.int64)])


def _stacked_texts(parts: Sequence[Texts]) -> Texts:
    gaps = np.concatenate([part.missing for part in parts])
    splitter = parts[0].splitter
    if all(isinstance(part, Strings) for part in parts):
        values = [value for part in parts for value in part.values]  # type: ignore[attr-defined]
        return Strings(values, text_sizes(values)[0], gaps if gaps.any() else None, splitter)
    data = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
    offsets = _ends([part.offsets for part in parts])
    return Texts(np.concatenate(data), offsets, gaps, splitter)


def _missing(like: Any, n: int) -> Column:
    """Make a column of nothing but missing values."""
    if isinstance(like, Labels):
        return Labels(np.full(n, -1, dtype=np.int32), ())
    if isinstance(like, Numbers):
        return Numbers(np.full((n, like.values.shape[1]), np.nan))
    if isinstance(like, Texts):
        nothing = np.zeros(n + 1, dtype=np.int64)
        return Texts(np.zeros(0, dtype=np.uint8), nothing, np.ones(n, np.bool_), like.splitter)
    if isinstance(like, Combined):
        return type(like)(tuple(_missing(part, n) for part in like.parts))  # type: ignore[misc]
    nothing = np.zeros(n + 1, dtype=np.int64)
    width = like.matrix.shape[1]
    return Counts(SparseRows(np.zeros(0), np.zeros(0, dtype=np.int32), nothing, width))
