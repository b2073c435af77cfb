"""What coded rows must not hold: missing values where none may be, and numbers beyond any sum."""

from __future__ import annotations

import numpy as np

from priory.base.errors import MissingValueError
from priory.base.typing import AnyArray
from priory.data.columns import Frame, Numbers
from priory.data.finite import LARGEST, refuse_large
from priory.data.schema import Kind, Schema
from priory.tuning.settings import Settings

__all__ = ["check_missing", "check_size"]


def check_missing(frame: Frame, schema: Schema, settings: Settings) -> None:
    """Refuse missing values where there must be none."""
    if isinstance(settings.missing, str) and settings.missing != "error":
        return  # a single row should not pay for a look at every column
    for block in schema:
        if settings.missing_of(block) != "error" or block.kind is Kind.IDENTIFIER:
            continue
        if block.pairing is not None:  # its columns stand by themselves too
            continue
        there = block.kind.is_counted
        missing = frame[block.name].missing if there else np.ones(len(frame), dtype=np.bool_)
        if missing.any():
            raise MissingValueError(
                f"Column {block.name!r} has {int(missing.sum())} missing values, the first in "
                f"row {int(np.argmax(missing))}. Fill them in, or set missing='skip' or "
                "'category'."
            )


def check_size(frame: Frame, schema: Schema, name_row: bool) -> None:
    """Refuse a number that is infinite or too large to be squared, naming its column and row."""
    for block in schema.counted:
        column = frame[block.name]
        if isinstance(column, Numbers) and _has_large(column.values):
            refuse_large(block, column.values, name_row)


def _has_large(values: AnyArray) -> bool:
    """Say whether a number is infinite or too large to be squared; NaN is neither."""
    if values.size == 1:  # a single row should not pay for two reductions
        return bool(abs(values.item()) > LARGEST)
    least, most = (f.reduce(values, axis=None, initial=0.0) for f in (np.fmin, np.fmax))
    return max(-float(least), float(most)) > LARGEST
