"""Plain text for people: columns that line up."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["aligned"]


def aligned(rows: Iterable[tuple[str, ...]], right: bool = False) -> str:
    """Return rows of cells as lines whose columns line up.

    `right` is for numbers: every column but the first ends where the others end.

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
