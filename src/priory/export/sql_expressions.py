"""The smallest expressions of SQL: names, values, numbers without loss, and sums."""

from __future__ import annotations

import math
from typing import Any

from priory.base.typing import Label

__all__ = [
    "column_sql", "double_sql", "literal_sql", "missing_sql", "name_sql", "number_sql", "sum_sql",
]  # fmt: skip


def sum_sql(terms: Any) -> str:
    """Write a sum as a balanced tree, which limits the depth of parsing."""
    terms = list(terms)
    if len(terms) == 1:
        return str(terms[0])
    if not terms:
        return number_sql(0.0)
    half = len(terms) // 2
    return f"({sum_sql(terms[:half])} + {sum_sql(terms[half:])})"


def name_sql(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def column_sql(name: str) -> str:
    """Name a column of the rows."""
    return f"rows.{name_sql(name)}"


def double_sql(name: str) -> str:
    """Read a column as numbers."""
    return f"CAST({column_sql(name)} AS DOUBLE)"


def missing_sql(name: str, text: bool = False) -> str:
    """Write the condition that a value is missing; text cannot be NaN."""
    if text:
        return f"{column_sql(name)} IS NULL"
    return f"({column_sql(name)} IS NULL OR {double_sql(name)} = CAST('NaN' AS DOUBLE))"


def number_sql(x: float) -> str:
    """Write a float64 without loss."""
    x = float(x)
    if math.isinf(x):
        return f"CAST('{'-' if x < 0 else ''}Infinity' AS DOUBLE)"
    return f"CAST({x!r} AS DOUBLE)"


def literal_sql(label: Label) -> str:
    """Write a label or a class."""
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, str):
        return "'" + label.replace("'", "''") + "'"
    return repr(label)
