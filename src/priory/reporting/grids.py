"""Tables of points: what the values of several columns add together."""

from __future__ import annotations

from typing import Any

from priory.base.typing import FloatArray
from priory.reporting.axes import Axis
from priory.reporting.markup import Html, h
from priory.reporting.scales import signed

__all__ = ["cell_grid"]

ROW, NARROW, WIDE = 17.0, 46.0, 96.0
SHORT = 34.0
"""In narrower cells than this points have two digits."""

LETTER = 6.8


def cell_grid(axis: Axis, number: int, points: FloatArray, width: float) -> tuple[Html, float]:
    """Draw a table of points: the last column across, the others down; and tell how high it is."""
    across = list(dict.fromkeys(value[-1] for value in axis.values))
    down = list(dict.fromkeys(value[:-1] for value in axis.values))
    names = dict(zip(axis.values, axis.names, strict=True))
    parts = dict(zip(axis.values, axis.parts, strict=True))
    heads = {value[-1]: parts[value][-1] for value in axis.values}
    sides = {value[:-1]: ", ".join(parts[value][:-1]) for value in axis.values}
    flip = len(across) > len(down) and len(across) * NARROW + 150 > width
    at = dict(zip(axis.values, points.tolist(), strict=True))
    if flip:
        down, across, sides, heads = across, down, heads, sides
    left = min(max(len(str(side)) for side in sides.values()) * LETTER + 12, 220.0)
    cell = min((width - left) / len(across), WIDE)
    longest = max(len(str(head)) for head in heads.values())
    slant = longest * LETTER > cell - 4
    if slant:  # the last heading reaches out beyond its cell
        beyond = max(min(longest, 18) * LETTER * 0.77 - cell / 2, 0.0)
        cell = min(cell, (width - left - beyond) / len(across))
    top = 24.0 + (min(longest, 18) * LETTER * 0.64 + 8 if slant else 16.0)
    most = max(max(abs(x) for x in at.values() if abs(x) < 99.0), 1e-9)
    drawn: list[Any] = [h("text", axis.title, x=0, y=13, class_="name")]
    for i, column in enumerate(across):
        x = left + cell * (i + 0.5)
        head = _short(str(heads[column]), 18)
        turned = f"rotate(-40 {x - 6:.1f} {top - 5:.1f})" if slant else None
        anchor = "start" if slant else "middle"
        drawn.append(
            h("text", head, x=x - 6 * slant, y=top - 5, text_anchor=anchor, transform=turned)
        )
    for j, row in enumerate(down):
        y = top + ROW * j
        side = _short(str(sides[row]), int((left - 8) / LETTER))
        drawn.append(h("text", side, x=left - 8, y=y + 12.5, text_anchor="end"))
        for i, column in enumerate(across):
            key = (*column, row) if flip else (*row, column)
            drawn.append(_cell(at[key], names[key], left + cell * i, y, cell, most))
    return h("g", drawn, data_axis=number), top + ROW * len(down) + 12


def _cell(points: float, name: str, x: float, y: float, wide: float, most: float) -> Html:
    share = min(abs(points) / most, 1.0)
    return h(
        "g",
        h("title", f"{name}: {signed(points, 3)}"),
        h(
            "rect",
            x=x + 1,
            y=y + 1,
            width=wide - 2,
            height=ROW - 2,
            class_="for" if points > 0 else "against",
            fill_opacity=round(0.05 + 0.35 * share, 3),
        ),
        h(
            "text",
            signed(points, 3 if wide >= SHORT else 2),
            x=x + wide / 2,
            y=y + 12.5,
            text_anchor="middle",
            font_size=10 if wide >= SHORT else 8,
        ),
        data_cell=True,
    )


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"
