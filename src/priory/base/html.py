"""What a notebook shows: results as HTML tables, and a figure once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["html_table", "html_together", "shown_once"]

LEFT = ' style="text-align: left"'


def html_table(
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    caption: str | None = None,
    words: Collection[int] = (0,),
    bold: Collection[int] | None = None,
) -> str:
    """Return an HTML table; what could be markup is escaped.

    `words` are the columns that begin at the left; the others are numbers, which end at the right.
    The first cell of a row is its heading, unless `bold` says which rows are to stand out.

    >>> html_table(["<"], [["&"]], words=())
    '<table><thead><tr><th>&lt;</th></tr></thead><tbody><tr><th>&amp;</th></tr></tbody></table>'
    """
    above = "" if caption is None else f"<caption{LEFT}>{escape(caption)}</caption>"
    top = _cells(head, words, len(head))
    body = "".join(
        f"<tr>{_cells(row, words, 1 if bold is None else len(row) * (i in bold))}</tr>"
        for i, row in enumerate(rows)
    )
    return f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[Any], words: Collection[int], bold: int) -> str:
    """Return the cells of a row, so many of them bold."""
    cells = []
    for i, cell in enumerate(row):
        tag, style = "th" if i < bold else "td", LEFT if i in words else ""
        cells.append(f"<{tag}{style}>{_text(str(cell))}</{tag}>")
    return "".join(cells)


def _text(text: str) -> str:
    """Return escaped text that keeps the spaces it begins with: they are an indent."""
    indent = len(text) - len(text.lstrip(" "))
    return "&emsp;" * (indent // 2) + escape(text[indent:])


def html_together(*parts: str, remarks: Iterable[str] = ()) -> str:
    """Return tables one after the other, and remarks under them.

    >>> html_together("<table></table>", remarks=["a < b"])
    '<div><table></table><p>a &lt; b</p></div>'
    """
    under = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return f"<div>{''.join(parts)}{under}</div>"


def shown_once(figure: Any) -> Any:
    """Return a matplotlib figure that a notebook shows as the value of its cell, and only so.

    A notebook also shows every figure that is open at the end of a cell, which would be the same
    picture again. Elsewhere the figure stays open, for `pyplot.show`.
    """
    plt = sys.modules["matplotlib.pyplot"]
    if "inline" in plt.get_backend():
        plt.close(figure)
    return figure
