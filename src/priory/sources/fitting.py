"""Batches in the forms that a model has learned: one contract for the rows of every source.

A column that is not there is missing in every row, one that was not learned is not looked at, and a
row with a value that does not fit is refused with its line, or left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priory.base.errors import SchemaError
from priory.sources.base import Batch, Form, Reading, Source
from priory.sources.casting import cast, strings_of

__all__ = ["fitted", "not_fitting", "split_by_fit", "without_rows"]

PARSED = (Form.INTEGER, Form.NUMBER, Form.BOOLEAN, Form.DATE)


def fitted(batch: Batch, learned: Mapping[str, Form], reading: Reading) -> Batch:
    """Convert strings of a typed source where numbers, dates or booleans were learned."""
    columns, misread = dict(batch.columns), dict(batch.misread)
    for name, form in learned.items():
        if form not in PARSED or name not in columns:
            continue
        texts = strings_of(columns[name])
        if texts is not None:
            columns[name], odd = cast(texts, form, reading)
            if odd is not None:
                misread[name] = odd
    return Batch(columns, batch.n_rows, misread, batch.place)


def not_fitting(name: str, form: Form, value: str) -> str:
    """Say that a value does not fit its column."""
    kind = Form.NUMBER if form is Form.INTEGER else form
    return (
        f"column {name!r} is read as {kind}, but holds {value!r:.60}. If that stands for a missing "
        "value, name it in na_values"
    )


def without_rows(batch: Batch, wrong: Mapping[int, str], source: Source) -> Batch:
    """Leave out the rows that are wrong, or refuse the first of them."""
    for row, why in sorted(wrong.items()):
        told = f"{batch.place(row)}: {why}"
        if not source.reading.skips:
            raise SchemaError(f"{told[0].upper()}{told[1:]}.")
        source.skipped.add(told.partition(". If")[0])
    rows = [row for row in range(batch.n_rows) if row not in wrong]
    return batch.take(rows).with_misread(batch.misread, rows)


def split_by_fit(batch: Batch, source: Source, forms: Mapping[str, Form]) -> tuple[Batch, Any]:
    """Take the rows before the first that does not fit, and what is wrong with it; or all that do.

    >>> import numpy as np
    >>> from priory.sources.base import Misread
    >>> from priory.sources.memory import TableSource
    >>> odd = {"x": Misread([1], ["seven"])}
    >>> batch = Batch({"x": np.array([1.0, np.nan, 3.0])}, 3, odd, "line {} of a.csv".format)
    >>> good, error = split_by_fit(batch, TableSource({"x": [1]}), {"x": Form.NUMBER})
    >>> print(good.n_rows, error)
    1 Line 1 of a.csv: column 'x' is read as numbers, but holds 'seven'. If that stands for a
    missing value, name it in na_values.
    """
    wrong: dict[int, str] = {}
    for name, odd in batch.misread.items():
        for row, value in zip(*odd, strict=True):
            wrong.setdefault(row, not_fitting(name, forms[name], value))
    if not wrong:
        return batch, None
    if source.reading.skips:
        return without_rows(batch, wrong, source), None
    first = min(wrong)
    told = f"{batch.place(first)}: {wrong[first]}."
    return batch.take(range(first)), SchemaError(f"{told[0].upper()}{told[1:]}")
