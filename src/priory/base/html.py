"""Notebook output: results as HTML tables, and figures shown once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["Html", "hover", "html_table", "html_together", "shown_once"]

LEFT = ' style="text-align: left"'


class Html(str):
    """Text that is HTML already; its author has escaped what came from outside."""


def hover(text: Any, told: str) -> Html:
    """Make text that tells more when the pointer is on it; both are escaped.

    >>> hover("0.6", '"3" of 5')
    '<span title="&quot;3&quot; of 5">0.6</span>'
    """
    return Html(f'<span title="{escape(told)}">{escape(str(text))}</span>')


def html_table(
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    caption: str | None = None,
    words: Collection[int] = (0,),
    bold: Collection[int] | None = None,
) -> str:
    """Make an HTML table; markup in cells is escaped.

    The columns in `words` are aligned on the left, the others, numbers, on the right. The first
    cell of a row is its heading, unless `bold` lists the rows that are bold.

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
    """Make the cells of a row, the first `bold` of them bold."""
    cells = []
    for i, cell in enumerate(row):
        tag, style = "th" if i < bold else "td", LEFT if i in words else ""
        text = cell if isinstance(cell, Html) else _text(str(cell))
        cells.append(f"<{tag}{style}>{text}</{tag}>")
    return "".join(cells)


def _text(text: str) -> str:
    """Escape text; leading spaces, an indent, are kept."""
    indent = len(text) - len(text.lstrip(" "))
    return "&emsp;" * (indent // 2) + escape(text[indent:])


def html_together(*parts: str, remarks: Iterable[str] = ()) -> str:
    """Join tables, with remarks below them.

    >>> html_together("<table></table>", remarks=["a < b"])
    '<div><table></table><p>a &lt; b</p></div>'
    """
    under = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return f"<div>{''.join(parts)}{under}</div>"


def shown_once(figure: Any) -> Any:
    """Close a matplotlib figure in a notebook, so that it is shown once, as the value of its cell.

    A notebook also shows every figure that is open at the end of a cell. Elsewhere the figure
    stays open, for `pyplot.show`.
    """
    plt = sys.modules["matplotlib.pyplot"]
    if "inline" in plt.get_backend():
        plt.close(figure)
    return figure
