"""The sample of rows in a model file, where its owner asked to keep it: plain arrays in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from priory.base.errors import SettingError
from priory.base.labels import label_token, token_label
from priory.base.typing import AnyArray, Label
from priory.classifier.packing import packed, unpacked
from priory.data.columns import Column, Combined, Counts, Frame, Labels, Numbers, SparseRows, Texts
from priory.data.schema import Block, Kind, Schema
from priory.statistics.hashing import row_hashes
from priory.statistics.sampling import Sample

__all__ = ["sample_from_plain", "sample_to_plain"]


def sample_to_plain(sample: Sample) -> dict[str, Any]:
    """Write a sample as JSON values; its inverse is `sample_from_plain`."""
    return {
        "size": int(sample.size),
        "classes": _labels(sample.y),
        "bounds": [int(bound) for bound in sample.bounds],
        "rows": packed(sample.rows, "<i8"),
        "weight": packed(sample.weight, "<f8"),
        "squares": packed(sample.squares, "<f8"),
        "columns": {name: _column(column) for name, column in sample.frame.columns.items()},
    }


def sample_from_plain(plain: Any, schema: Schema, classes: tuple[Label, ...]) -> Sample:
    """Read the sample of JSON values; it must be of columns and classes that are counted."""
    if not isinstance(plain, dict):
        raise SettingError(f"{plain!r:.60} is no sample")
    rows = unpacked(plain["rows"], "<i8")
    n = len(rows)
    y = _read_labels(plain["classes"], n)
    weight, squares = (unpacked(plain[name], "<f8", n) for name in ("weight", "squares"))
    if n and (rows.min() < 1 or not (np.isfinite(weight).all() and weight.min() > 0)):
        raise SettingError("its sample has rows that are none")
    if not (np.isfinite(squares).all() and (squares >= 0).all() and (y.codes >= 0).all()):
        raise SettingError("its sample has rows that are none")
    if not set(map(label_token, y.labels)) <= set(map(label_token, classes)):
        raise SettingError("its sample has a class that is not counted")
    bounds = np.array(plain["bounds"], dtype=np.uint64)
    if bounds.shape != (len(y.labels),):
        raise SettingError("the bounds of its sample are not one for each class")
    blocks = {block.name: block for block in schema.counted if block.pairing is None}
    columns = {
        name: _read_column(column, blocks[name], n) for name, column in plain["columns"].items()
    }
    frame, size = Frame(n, columns), int(plain["size"])
    return Sample(frame, y, row_hashes(frame, y), rows, weight, squares, size, bounds).in_order()


def _labels(column: Labels) -> dict[str, Any]:
    return {
        "labels": [label_token(label) for label in column.labels],
        "codes": packed(column.codes, "<i4"),
    }


def _read_labels(plain: Mapping[str, Any], n: int) -> Labels:
    labels, codes = tuple(map(token_label, plain["labels"])), unpacked(plain["codes"], "<i4", n)
    if n and (codes.min() < -1 or codes.max() >= len(labels)):
        raise SettingError("a code of its sample stands for nothing")
    return Labels(codes, labels)


def _column(column: Column) -> dict[str, Any]:
    if isinstance(column, Labels):
        return _labels(column)
    if isinstance(column, Numbers):
        return {"values": packed(column.values, "<f8")}
    if isinstance(column, Texts):
        first, last = int(column.offsets[0]), int(column.offsets[-1])
        return {
            "offsets": packed(column.offsets - first, "<i8"),
            "bytes": packed(column.data[first:last], "|u1"),
            "gaps": packed(column.missing, "|u1"),
        }
    if isinstance(column, Combined):
        return {"parts": [_labels(part) for part in column.parts]}
    sparse = _sparse(column.matrix)
    return {
        "offsets": packed(sparse.indptr, "<i8"),
        "places": packed(sparse.indices, "<i4"),
        "counts": packed(sparse.data, "<f8"),
    }


def _sparse(matrix: Any) -> SparseRows:
    if isinstance(matrix, SparseRows):
        first, last = int(matrix.indptr[0]), int(matrix.indptr[-1])
        ends = matrix.indptr - first
        return SparseRows(
            matrix.data[first:last], matrix.indices[first:last], ends, matrix.n_columns
        )
    row, place = np.nonzero(matrix)
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))])
    return SparseRows(matrix[row, place], place, ends, matrix.shape[1])


def _read_column(plain: Mapping[str, Any], block: Block, n: int) -> Column:
    d = len(block.columns)
    if block.kind is Kind.LABELS:
        return _read_labels(plain, n)
    if block.kind in (Kind.NUMBERS, Kind.MOMENTS, Kind.SCATTER):
        return Numbers(unpacked(plain["values"], "<f8", n * d).reshape(n, d))
    if block.kind is Kind.JOINT:
        if len(plain["parts"]) != d:
            raise SettingError(f"its sample has other columns than block {block.name!r:.60}")
        return Combined(tuple(_read_labels(part, n) for part in plain["parts"]))
    offsets = unpacked(plain["offsets"], "<i8", n + 1)
    if block.kind is Kind.WORDS and block.analyzer is not None:
        data, gaps = unpacked(plain["bytes"], "|u1"), unpacked(plain["gaps"], "|u1", n)
        _check_offsets(offsets, len(data))
        return Texts(data, offsets, gaps != 0, block.analyzer.splitter)
    places, counts = unpacked(plain["places"], "<i4"), unpacked(plain["counts"], "<f8")
    _check_offsets(offsets, len(places))
    if len(places) != len(counts) or (len(places) and not 0 <= places.min() <= places.max() < d):
        raise SettingError("a count of its sample stands in no column")
    return Counts(SparseRows(counts, places, offsets, d))


def _check_offsets(offsets: AnyArray, n: int) -> None:
    if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        raise SettingError("its sample has rows that begin nowhere")
