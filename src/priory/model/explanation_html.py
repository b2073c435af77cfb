"""One explanation as HTML: a table of factors, bars, and texts that are shaded word by word."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from priory.base.formatting import number
from priory.base.html import Html, hover, html_table, html_together
from priory.base.typing import FloatArray
from priory.model.log_odds import log_odds
from priory.model.row_explanation import Line, RowExplanation, RowFactor
from priory.model.shading import shade, shaded_text

__all__ = ["row_html"]

WIDTH = 90
"""The width of the bars, in pixels, of which half is for each side."""


def row_html(row: RowExplanation) -> str:
    """Write a table of the factors of each class, with the counts behind them under the pointer.

    The bars show how far each line moves the odds of the predicted class.
    """
    best = int(np.argmax(row.posterior))
    some = row.shown_classes().tolist()
    lines = row.lines()
    odds = [None if line.log_p is None else float(log_odds(line.log_p)[best]) for line in lines]
    most = max((abs(x) for x in odds if x is not None and np.isfinite(x)), default=0.0)
    table: list[tuple[Any, ...]] = [
        (line.title, *_cells(line, some), _bar(value, most))
        for line, value in zip(lines, odds, strict=True)
    ]
    joint = "= score" if row.is_score else "= P(class, row)"
    table.append((joint, *_numbers(row.log_joint, some), ""))
    table.append(("P(class | row)", *(f"{row.posterior[k]:.4f}" for k in some), ""))
    bold = range(len(table) - 2, len(table))
    if (interval := row.interval) is not None:
        table.append((interval.title, *(interval.shown(k) for k in some), ""))
    head = ("", *(row.classes[k] for k in some), f"for {row.classes[best]}")
    texts = [_shaded(factor, row, best) for factor in row.factors if factor.analyzer is not None]
    made = html_table(head, table, bold=bold)
    return html_together(
        f'<div style="overflow-x: auto">{made}</div>', *texts, remarks=row.remarks()
    )


def _cells(line: Line, some: list[int]) -> list[Any]:
    if line.log_p is None:
        return ["–" if line.left_out else "" for _ in some]
    numbers = _numbers(line.log_p, some)
    if line.support is None:
        return [*numbers]
    return [hover(n, line.support.shown(k)) for n, k in zip(numbers, some, strict=True)]


def _numbers(logs: FloatArray, some: list[int]) -> list[str]:
    return [number(float(logs[k])) for k in some]


def _bar(value: float | None, most: float) -> Html:
    """Draw a bar to the right for what speaks for the class, to the left for what is against."""
    if not value or not most:
        return Html("")
    width = WIDTH / 2 * min(abs(value) / most, 1.0)
    left = WIDTH / 2 if value > 0 else WIDTH / 2 - width
    told = "impossible" if value == -np.inf else f"log-odds {value:+.3f}, odds × {number(value)}"
    return Html(
        f'<div title="{escape(told)}" style="position: relative; width: {WIDTH}px; height: 0.8em">'
        f'<div style="position: absolute; left: {left:.1f}px; width: {width:.1f}px; height: 100%; '
        f'{shade(value, abs(value))}"></div></div>'
    )


def _shaded(factor: RowFactor, row: RowExplanation, k: int) -> str:
    """Shade a text, unless nothing of it is known."""
    if factor.analyzer is None or factor.left_out or not factor.parts:
        return ""
    parts = {part.name: part for part in factor.parts if part.name}
    return shaded_text(str(factor.value), parts, factor.analyzer, k, row.classes, factor.weight)
