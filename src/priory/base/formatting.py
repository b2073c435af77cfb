"""Text output: aligned columns, shortened values, numbers of any size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["aligned", "dated", "number", "printable", "shown"]

LONGEST_VALUE = 40
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Escape what a terminal would obey rather than show; line breaks and tabs stay.

    Those are control characters, escape sequences among them, and marks that turn the direction of
    writing. Inside of JSON it stays JSON.

    >>> print(printable("red\x1b[31m, \x9b2J, \u202etxt.exe"))
    red\x1b[31m, \u009b2J, \u202etxt.exe
    """
    return _CONTROL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 32 else f"\\u{code:04x}"


def aligned(rows: Iterable[tuple[str, ...]], right: bool = False) -> str:
    """Join rows of cells into lines with aligned columns.

    `right` is for numbers: every column but the first is aligned on the right.

    >>> print(aligned([("a", "bb"), ("ccc", "d")]))
    a    bb
    ccc  d
    >>> print(aligned([("a", "10"), ("ccc", "5")], right=True))
    a    10
    ccc   5
    """
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = (
        "  ".join(
            cell.rjust(width) if right and i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def shown(value: Any) -> str:
    """Format a value briefly, on one line; a missing one as "missing".

    >>> shown(("up", 0.25, None)), shown("so many words that no line would be long enough")
    ('up, 0.25, missing', 'so many words that no line would be lon…')
    """
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    if value is None:
        return "missing"
    if isinstance(value, float):
        return f"{value:g}"
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def dated(seconds: float) -> str:
    """Write seconds since 1970 as a date, with the time of day where it is not midnight.

    >>> dated(1718841600.0), dated(1718841661), dated(1e300)
    ('2024-06-20', '2024-06-20 00:01:01', '1e+300')
    """
    try:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=round(seconds))
    except (OverflowError, ValueError):  # no date of a calendar
        return shown(seconds)
    return f"{found:%Y-%m-%d %H:%M:%S}".removesuffix(" 00:00:00")


def number(log_x: float) -> str:
    """Format e^x with four digits, however small or large it is.

    >>> number(math.log(0.25)), number(-math.inf), number(-2000.0), number(2000.0), number(math.inf)
    ('0.25', '0', '2.577e-869', '3.881e+868', '∞')
    """
    if log_x == math.inf:
        return "∞"
    if -700 < log_x < 700 or log_x == -math.inf:
        return f"{math.exp(log_x):.4g}"
    power, rest = divmod(log_x / math.log(10), 1.0)
    digits = f"{10**rest:.4g}"
    return f"1e{int(power) + 1:+}" if digits == "10" else f"{digits}e{int(power):+}"
