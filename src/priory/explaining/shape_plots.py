"""Pictures of shapes: log-odds against values, with their band and the counts below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError
from priory.base.formatting import shown
from priory.base.html import shown_once
from priory.base.plotting import FOR, plot_text, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priory.explaining.shapes import Shape

__all__ = ["plot_shape", "plot_shapes"]

MOST_SHAPES = 12
MOST_LABELS = 16
LONGEST = 16


def plot_shape(shape: Shape, k: int, axes: Any = None) -> Any:
    """Plot one shape, on new axes if none are given."""
    if axes is not None:
        _draw(axes, shape, k)
        return axes.figure
    figure, new = pyplot().subplots(figsize=(5.4, 3.6), layout="constrained")
    _draw(new, shape, k)
    new.set_ylim(*_limits(shape, k))
    return shown_once(figure)


def plot_shapes(shapes: Sequence[Shape], k: int) -> Any:
    """Plot the shapes that move the log-odds most, side by side, with one scale."""
    if not shapes:
        raise InputError("The model has no column with a shape: of labels or of numbers.")
    order = sorted(shapes, key=lambda shape: -_moved(shape, k))[:MOST_SHAPES]
    wide = min(3, len(order))
    high = -(-len(order) // wide)
    size = (4.0 * wide, 2.9 * high)
    figure, grid = pyplot().subplots(
        high, wide, figsize=size, layout="constrained", squeeze=False, sharey=True
    )
    for axes, shape in zip(grid.flat, order, strict=False):
        _draw(axes, shape, k, axes in grid[:, 0])
    ends = np.array([_limits(shape, k) for shape in order])
    grid[0, 0].set_ylim(ends[:, 0].min(), ends[:, 1].max())
    for axes in grid.flat[len(order) :]:
        axes.set_visible(False)
    if len(shapes) > len(order):
        more = f"{len(shapes) - len(order)} columns that move less are not shown"
        figure.supxlabel(more, fontsize=8)
    return shown_once(figure)


def _moved(shape: Shape, k: int) -> float:
    """Measure how far a column moves the log-odds of a class, on average."""
    sizes = np.nan_to_num(np.abs(shape.log_odds[:, k]), posinf=1e3)
    return float((sizes * shape.counts).sum() / max(shape.counts.sum(), 1e-300))


def _limits(shape: Shape, k: int) -> tuple[float, float]:
    """Find what is to be seen: all log-odds, and bands as far as they are not much wider."""
    y = shape.log_odds[:, k]
    y = y[np.isfinite(y)]
    least, most = float(y.min(initial=0.0)), float(y.max(initial=0.0))
    room = 0.6 * max(most - least, 0.5)
    low = np.nan_to_num(shape.low[:, k], nan=least, neginf=-1e300).min(initial=least)
    high = np.nan_to_num(shape.high[:, k], nan=most, posinf=1e300).max(initial=most)
    return max(low, least - room) - 0.05 * room - 0.25 * room, min(high, most + room) + 0.05 * room


def _draw(axes: Axes, shape: Shape, k: int, is_named: bool = True) -> None:
    if len(shape.values):
        (_draw_labels if shape.edges is None else _draw_numbers)(axes, shape, k)
    axes.axhline(0, color="#555555", linewidth=0.8, zorder=1)
    axes.set_title(plot_text(shown(shape.column)), fontsize=10)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    if is_named:
        axes.set_ylabel(f"log-odds of {plot_text(shown(shape.classes[k]))}", fontsize=9)


def _draw_numbers(axes: Axes, shape: Shape, k: int) -> None:
    """Draw steps over the bins, the band, and a strip of counts along the bottom."""
    edges = shape.edges
    assert edges is not None
    y, low, high = (a[:, k] for a in (shape.log_odds, shape.low, shape.high))
    axes.stairs(y, edges, baseline=None, color=FOR, linewidth=1.8, zorder=4)
    axes.fill_between(
        edges,
        np.append(low, low[-1]),
        np.append(high, high[-1]),
        step="post",
        color=FOR,
        alpha=0.2,
        linewidth=0,
        zorder=3,
    )
    _counts(axes, edges[:-1], np.diff(edges), shape.counts / np.maximum(np.diff(edges), 1e-300))


def _draw_labels(axes: Axes, shape: Shape, k: int) -> None:
    """Draw a point with its band for each label, the commonest of them."""
    order = np.argsort(-shape.counts, kind="stable")[:MOST_LABELS]
    y = shape.log_odds[order, k]
    with np.errstate(invalid="ignore"):  # what is impossible is so for certain
        reach = np.stack([y - shape.low[order, k], shape.high[order, k] - y])
    reach = np.clip(np.nan_to_num(reach), 0.0, 1e3)
    place = np.arange(len(order))
    axes.errorbar(place, y, yerr=reach, fmt="o", color=FOR, markersize=5, elinewidth=1.4, zorder=4)
    _counts(axes, place - 0.4, np.full(len(order), 0.8), shape.counts[order])
    names = [shown(v) for v in shape.values[order]]
    names = [n if len(n) <= LONGEST else f"{n[: LONGEST - 1]}…" for n in names]
    upright = sum(map(len, names)) <= 30
    axes.set_xticks(place, [plot_text(n) for n in names], rotation=0 if upright else 90, fontsize=8)
    if len(shape.values) > len(order):
        axes.set_xlabel(f"{len(shape.values) - len(order)} rarer values are not shown", fontsize=8)


def _counts(axes: Axes, left: Any, width: Any, heights: Any) -> None:
    """Draw how often each was seen along the bottom, in a fifth of the height."""
    below = axes.twinx()
    below.bar(left, heights, width, align="edge", color="#bdbdbd", linewidth=0, zorder=0)
    below.set_ylim(0, 5 * max(float(np.max(heights, initial=0.0)), 1e-300))
    below.set_axis_off()
    axes.set_zorder(below.get_zorder() + 1)
    axes.patch.set_visible(False)
