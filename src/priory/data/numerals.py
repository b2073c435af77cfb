"""Labels where numbers were learned: numerals, dates as they are written, ordered categories."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np

from priory.base.errors import SchemaError, listing
from priory.base.typing import Label
from priory.data.columns import Labels, Numbers
from priory.data.gaps import GAP_WORDS
from priory.data.schema import Block

__all__ = ["NUMERAL", "labels_to_numbers", "parse_date"]

NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number as text files have it; Python itself would also take nan, 1_000 and the like."""

DATE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ]\s*(\S.*))?", re.ASCII)


def labels_to_numbers(column: Labels, name: str, block: Block | None) -> Numbers:
    """Convert labels to numbers: numbers, booleans and missing values, or strings of such."""
    numbers = np.full(len(column.labels) + 1, np.nan)
    for code, label in enumerate(column.labels):
        if isinstance(label, str):
            number = _number(label, block)
            if number is None and (column.codes == code).any():
                raise SchemaError(_no_number(label, name, block))
            numbers[code] = np.nan if number is None else number
            continue
        try:
            numbers[code] = float(label)
        except OverflowError:
            numbers[code] = np.inf  # to be refused like any infinite number
    return Numbers(numbers[column.codes].reshape(-1, 1))  # missing, code -1, takes the last: NaN


def _number(text: str, block: Block | None) -> float | None:
    """Parse a place in an order, a gap word, a date, or a numeral; None where it is none."""
    if block is not None and block.order:
        return float(block.order.index(text)) if text in block.order else None
    text = text.strip()
    if text.lower() in GAP_WORDS:
        return np.nan
    if block is not None and block.unit == "date":
        moment = parse_date(text)
        return None if moment is None else moment.timestamp()
    return float(text) if NUMERAL.fullmatch(text) else None


def parse_date(text: str) -> datetime | None:
    """Parse an ISO date, with a time or without; where no zone is told it is UTC.

    >>> parse_date("2020-12-31T23:59:59+01:00").isoformat(), parse_date("31.12.2020")
    ('2020-12-31T22:59:59+00:00', None)
    """
    found = DATE.fullmatch(text)
    if found is None:
        return None
    time = "" if found[5] is None else f" {found[5].replace(' +', '+')}"
    try:
        moment = datetime.fromisoformat(f"{found[1]}-{found[3]:0>2}-{found[4]:0>2}{time}")
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _no_number(text: str, name: str, block: Block | None) -> str:
    if block is not None and block.order:
        return (
            f"Column {name!r} has the ordered categories {listing(block.order)}, but holds "
            f"{_shown(text)}."
        )
    if block is not None and block.unit == "date":
        return (
            f"Column {name!r} is read as dates, but holds {_shown(text)}. Give dates, or strings "
            "such as '2020-12-31' or '2020-12-31 23:59:59'."
        )
    return (
        f"Column {name!r} is read as numbers, but holds {_shown(text)}. Give it numbers "
        f"alone, or have it learned as categories: families={{{name!r}: 'categorical'}}."
    )


def _shown(label: Label) -> str:
    text = repr(label)
    return text if len(text) <= 40 else text[:37] + "..."
