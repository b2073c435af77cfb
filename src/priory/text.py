"""Plain text for people: columns that line up."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["aligned"]


def aligned(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows of cells as lines whose columns line up.

    >>> print(aligned([("a", "bb"), ("ccc", "d")]))
    a    bb
    ccc  d
    """
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
