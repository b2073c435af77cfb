"""Columns of 0 and 1 that may be booleans, which are no numbers to PostgreSQL.

What was counted does not tell 1 from TRUE, and the table that is asked may hold either.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from priory.classifier.classifier import Classifier
from priory.data.schema import Kind

__all__ = ["as_numbers", "zeros_and_ones"]


def as_numbers(tree: Any, names: Collection[str]) -> None:
    """Rewrite each column of these that is cast to a number so that it may be a boolean."""
    from sqlglot import exp, parse_one

    for column in list(tree.find_all(exp.Column)):
        cast = column.parent
        if isinstance(cast, exp.Cast) and cast.is_type("double") and column.name in names:
            text = exp.cast(column.copy(), "text").sql("duckdb")
            cast.set(
                "this",
                parse_one(
                    f"CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END",
                    read="duckdb",
                ),
            )


def zeros_and_ones(classifier: Classifier) -> set[str]:
    """Find the columns with no other values: Σx = Σx², of counts Σx = the rows that have some."""
    found: set[str] = set()
    for block in classifier.statistics.schema.counted:
        table: Any = classifier.statistics.tables[block.name]
        is_one: Any = [False] * len(block.columns)
        if block.kind is Kind.LABELS:
            is_one = [all(value in (0, 1) for value in table.labels)]
        elif block.kind is Kind.NUMBERS:
            is_one = [np.isin(table.cells.values, (0.0, 1.0)).all()]
        elif block.kind is Kind.COUNTS:
            is_one = (table.s1 == table.weight).all(axis=0)
        elif block.kind is Kind.MOMENTS:
            is_one = (table.s1.hi == table.s2.hi).all(axis=0)
        found.update(name for name, is_so in zip(block.columns, is_one, strict=True) if is_so)
    return found
