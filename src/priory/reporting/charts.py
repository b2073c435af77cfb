"""Pictures of a report, in SVG: reliability, bars, and the shapes of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from priory.base.formatting import shown
from priory.base.typing import FloatArray
from priory.evaluation.intervals import wilson
from priory.evaluation.reliability import Reliability
from priory.reporting.markup import Html, h
from priory.reporting.scales import percent, signed, ticks

__all__ = ["bar", "curve_chart", "interval_bar", "points_chart", "reliability_chart", "signed_bar"]

MOST_POINTS = 14
LONGEST = 20


def bar(share: float) -> Html:
    """Draw a bar that fills a share of its cell."""
    return h(
        "svg",
        h("rect", class_="track", width="100%", height="100%", rx=2),
        h(
            "rect",
            class_="fill",
            width=f"{100 * min(max(share, 0.0), 1.0):.2f}%",
            height="100%",
            rx=2,
        ),
        class_="bar",
        aria_hidden="true",
    )


def signed_bar(value: float, most: float, start: float = 0.0) -> Html:
    """Draw a bar from `start` to the right for what speaks for a class, to the left against it."""
    end = start + value
    low, high = (50 + 48 * min(max(x / most, -1.0), 1.0) for x in sorted((start, end)))
    return h(
        "svg",
        h("line", class_="zero", x1="50%", x2="50%", y1=0, y2="100%"),
        h(
            "rect",
            class_="for" if value > 0 else "against",
            x=f"{low:.2f}%",
            width=f"{max(high - low, 0.3):.2f}%",
            y="15%",
            height="70%",
            rx=1.5,
        ),
        class_="bar",
        aria_hidden="true",
    )


def interval_bar(value: float, low: float, high: float, least: float, most: float) -> Html:
    """Draw a figure as a dot, with its interval as a line."""

    def at(x: float) -> str:
        return f"{4 + 92 * min(max((x - least) / (most - least), 0.0), 1.0):.2f}%"

    return h(
        "svg",
        h("line", class_="zero", x1="4%", x2="96%", y1="50%", y2="50%"),
        h("line", class_="whisker", x1=at(low), x2=at(high), y1="50%", y2="50%"),
        h("circle", class_="dot", cx=at(value), cy="50%", r=4),
        class_="bar",
        aria_hidden="true",
    )


def reliability_chart(found: Reliability) -> Html:
    """Draw how often predictions are right, against how sure they were."""
    left, top, size = 58, 14, 250

    def place(x: float, y: float) -> tuple[float, float]:
        return left + size * x, top + size * (1 - y)

    drawn: list[Any] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = place(share, share)
        drawn += [
            h("line", class_="level", x1=left, x2=left + size, y1=y, y2=y),
            h("text", percent(share, 0), x=left - 6, y=y + 4, text_anchor="end"),
            h("text", percent(share, 0), x=x, y=top + size + 16, text_anchor="middle"),
        ]
    (x1, y1), (x2, y2) = place(0, 0), place(1, 1)
    drawn.append(h("line", class_="diagonal", x1=x1, y1=y1, x2=x2, y2=y2))
    most = max(float(found.weight.max()), 1e-12)
    for rows, weight, sure, right in zip(
        found.rows, found.weight, found.confidence, found.accuracy, strict=True
    ):
        if not rows:
            continue
        hits = np.arange(int(rows)) < round(float(right * rows))
        low, high = wilson(hits, None)
        x, y = place(float(sure), float(right))
        told = f"{int(rows):,} rows, {percent(sure)} sure: {percent(right)} right"
        told += f" ({percent(low)} – {percent(high)})"
        drawn.append(
            h(
                "g",
                h("title", told),
                h("line", class_="whisker", x1=x, x2=x, y1=place(0, low)[1], y2=place(0, high)[1]),
                h("circle", class_="dot", cx=x, cy=y, r=2.5 + 6 * float(np.sqrt(weight / most))),
            )
        )
    drawn += [
        h(
            "text",
            "how sure the model was",
            x=left + size / 2,
            y=top + size + 36,
            text_anchor="middle",
        ),
        h(
            "text",
            "how often it was right",
            transform=f"translate(11 {top + size / 2}) rotate(-90)",
            text_anchor="middle",
        ),
    ]
    return _chart(
        drawn, 310, 310, "Reliability: how often predictions were right, by how sure they were"
    )


def points_chart(
    names: Sequence[str],
    points: FloatArray,
    weight: FloatArray | None,
    band: FloatArray,
    told: str,
) -> Html:
    """Draw the log-odds of single values, one below the other, each with its band.

    `band` has the lower and the upper ends, NaN where none is known; a `weight` of ∞ is not told.
    """
    order = np.arange(len(names))
    if len(names) > MOST_POINTS:
        order = np.argsort(-(np.abs(points) if weight is None else weight), kind="stable")
        order = np.sort(order[:MOST_POINTS])
    low, high = _range(points[order], band[:, order])
    at = _linear(low, high, 112, 288)
    drawn: list[Any] = [_levels(low, high, at, len(order) * 17 + 8)]
    for row, i in enumerate(order.tolist()):
        y = 12 + 17 * row
        x = float(np.clip(points[i], low, high))
        rows = "" if weight is None or np.isinf(weight[i]) else f", {weight[i]:,.0f} rows"
        drawn.append(
            h(
                "g",
                h("title", f"{names[i]}: {signed(float(points[i]), 2)}{rows}"),
                h("text", _short(names[i]), x=104, y=y + 4, text_anchor="end"),
                _whisker(np.clip(band[:, i], low, high), at, y),
                h("line", class_="stem", x1=at(0.0), x2=at(x), y1=y, y2=y),
                h("circle", class_="dot", cx=at(x), cy=y, r=4),
            )
        )
    height = len(order) * 17 + 28
    return _chart(drawn, 300, height, told)


def curve_chart(
    values: FloatArray,
    points: FloatArray,
    counts: tuple[FloatArray, FloatArray] | None,
    band: FloatArray,
    told: str,
) -> Html:
    """Draw the log-odds of a number, with how many rows have it below and a band about it.

    `counts` are the edges of bins and the rows in each, `band` the lower and the upper ends.
    """
    low, high = _range(points, band)
    first, last = float(values[0]), float(values[-1])
    x, y = _linear(first, last, 40, 290), _linear(low, high, 128, 12)
    drawn: list[Any] = []
    for level in ticks(low, high, 4):
        drawn += [
            h("line", class_="level" if level else "zero", x1=40, x2=290, y1=y(level), y2=y(level)),
            h("text", signed(level), x=34, y=y(level) + 4, text_anchor="end"),
        ]
    if counts is not None and counts[1].max(initial=0.0) > 0:
        edges, rows = counts
        for a, b, n in zip(edges[:-1].tolist(), edges[1:].tolist(), rows.tolist(), strict=True):
            tall = 24 * n / float(rows.max())
            wide = max(x(min(b, last)) - x(max(a, first)) - 0.6, 0.5)
            drawn.append(
                h("rect", class_="count", x=x(max(a, first)), y=156 - tall, width=wide, height=tall)
            )
    if not np.isnan(band).any():
        lower, upper = (_pairs(values, ends, low, high) for ends in band)
        around = " L".join(f"{x(v):.2f} {y(p):.2f}" for v, p in [*upper, *lower[::-1]])
        drawn.append(h("path", class_="band", d=f"M{around}Z"))
    line = " L".join(f"{x(v):.2f} {y(p):.2f}" for v, p in _pairs(values, points, low, high))
    drawn.append(h("path", class_="curve", d=f"M{line}"))
    drawn += [
        h("text", f"{level:g}", x=x(level), y=170, text_anchor="middle")
        for level in ticks(first, last, 5)
    ]
    return _chart(drawn, 300, 176, told)


def _pairs(
    values: FloatArray, points: FloatArray, low: float, high: float
) -> list[tuple[float, float]]:
    return list(zip(values.tolist(), np.clip(points, low, high).tolist(), strict=True))


def _range(points: FloatArray, band: FloatArray) -> tuple[float, float]:
    """Find the ends of a scale: of all points, and of bands that are not much wider than they."""
    finite = np.clip(np.append(points[np.isfinite(points)], 0.0), -9.0, 9.0)
    low, high = float(finite.min()), float(finite.max())
    room, ends = 0.4 * (high - low), band[np.isfinite(band)]
    low = max(-9.0, low - room, float(ends.min(initial=low)))
    high = min(9.0, high + room, float(ends.max(initial=high)))
    room = 0.04 * (high - low) + 0.05
    return low - room, high + room


def _linear(low: float, high: float, first: float, last: float) -> Any:
    wide = (high - low) or 1.0
    return lambda x: round(first + (x - low) / wide * (last - first), 3)


def _levels(low: float, high: float, at: Any, bottom: float) -> list[Html]:
    found = []
    for level in ticks(low, high, 4):
        found += [
            h(
                "line",
                class_="level" if level else "zero",
                x1=at(level),
                x2=at(level),
                y1=2,
                y2=bottom,
            ),
            h("text", signed(level), x=at(level), y=bottom + 13, text_anchor="middle"),
        ]
    return found


def _whisker(ends: FloatArray, at: Any, y: float) -> Html | None:
    if np.isnan(ends).any():
        return None
    low, high = ends.tolist()
    return h("line", class_="whisker", x1=at(low), x2=at(high), y1=y, y2=y)


def _short(name: str) -> str:
    name = shown(name)
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _chart(drawn: Any, width: float, height: float, told: str) -> Html:
    return h(
        "svg",
        h("title", told),
        drawn,
        class_="chart",
        role="img",
        aria_label=told,
        viewBox=f"0 0 {width:g} {height:g}",
    )
