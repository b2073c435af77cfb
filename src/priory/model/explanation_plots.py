"""Pictures of one explanation: a waterfall from prior to prediction, bars of all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError
from priory.base.formatting import shown
from priory.base.html import shown_once
from priory.base.plotting import AGAINST, COLOURS, FOR, plot_text, pyplot
from priory.base.typing import FloatArray
from priory.model.log_odds import log_odds
from priory.model.row_explanation import PRIOR, RowExplanation, class_place

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_bars", "plot_waterfall"]

MOST_FACTORS = 12
"""So many factors have a bar of their own; the others share one."""
MOST_CLASSES = 7
LONGEST = 38


def plot_waterfall(row: RowExplanation, label: Any = None, against: Any = None) -> Figure:
    """Plot how each factor moves the log-odds of a class, from the prior to the prediction."""
    if len(row.classes) < 2:
        raise InputError("There is one class only, so there are no odds to plot.")
    k = int(np.argmax(row.posterior)) if label is None else class_place(row.classes, label)
    rival = _rival(row, k) if against is None else class_place(row.classes, against, "against")
    if rival == k:
        raise InputError(f"label and against are both {row.classes[k]!r}: there are no odds.")
    said = row.contributions(row.classes[k], row.classes[rival])
    names, values = _largest([title for title, _, _ in said], np.array([x for _, x, _ in said]))
    finite = np.isfinite(values)
    reach = float(np.abs(values[finite]).sum()) + 1.0
    steps = np.where(finite, values, np.sign(values) * reach)
    ends = np.cumsum(steps)
    starts = ends - steps
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7.2, 0.34 * len(names) + 1.7), layout="constrained")
    place = np.arange(len(names))
    colours = np.where(steps >= 0, FOR, AGAINST)
    axes.barh(place, steps, left=starts, color=colours, height=0.66, zorder=3)
    for i in place[:-1].tolist():  # a thin line leads from each bar to the next
        axes.plot([ends[i]] * 2, [i - 0.33, i + 1.33], color="#888888", linewidth=0.7, zorder=2)
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    room = 0.14 * max(high - low, 1e-9)
    for i, value in enumerate(values.tolist()):
        right = steps[i] >= 0
        x = max(starts[i], ends[i]) if right else min(starts[i], ends[i])
        text = f"{value:+.2f}" if np.isfinite(value) else f"{'+' if right else '−'}∞"
        axes.annotate(
            text,
            (x, i),
            xytext=(3 if right else -3, 0),
            textcoords="offset points",
            va="center",
            ha="left" if right else "right",
            fontsize=8,
            color="#333333",
        )
    axes.axvline(0, color="#555555", linewidth=0.8, zorder=1)
    axes.set(xlim=(low - room, high + room), ylim=(len(names) - 0.4, -0.6))
    axes.set_yticks(place, [plot_text(name) for name in names], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    a, b = (plot_text(shown(row.classes[i])) for i in (k, rival))
    axes.set_xlabel(f"log-odds of {a} to {b}", fontsize=9)
    prior = np.exp(row.log_prior - np.logaddexp.reduce(row.log_prior))
    axes.set_title(
        f"P({a}) goes from {prior[k]:.3g} to {row.posterior[k]:.3g}", fontsize=10, loc="left"
    )
    return shown_once(figure)


def plot_bars(row: RowExplanation) -> Figure:
    """Plot what each factor adds to the log-odds of every class, side by side."""
    if len(row.classes) < 2:
        raise InputError("There is one class only, so there are no odds to plot.")
    some = np.argsort(-row.posterior, kind="stable")[:MOST_CLASSES]
    factors = [f for f in row.factors if not f.left_out and f.weight]
    scores = [row.log_prior, *(f.log_factor for f in factors)]
    names = [PRIOR, *(f.title for f in factors)]
    if row.bias is not None:
        scores, names = [*scores, row.bias], [*names, "bias"]
    odds = np.stack([log_odds(s) for s in scores])[:, some]
    names, odds = _largest_rows(names, odds)
    finite = np.abs(odds[np.isfinite(odds)]).max(initial=1.0)
    drawn = np.clip(odds, -1.25 * finite, 1.25 * finite)
    plt = pyplot()
    thick = 0.8 / len(some)
    height = max(0.34, 0.11 * len(some)) * len(names) + 1.6
    figure, axes = plt.subplots(figsize=(7.2, height), layout="constrained")
    place = np.arange(len(names))
    for j, k in enumerate(some.tolist()):
        at = place - 0.4 + thick * (j + 0.5)
        title = f"{plot_text(shown(row.classes[k]))}, P = {row.posterior[k]:.3g}"
        axes.barh(at, drawn[:, j], height=0.92 * thick, color=COLOURS[j], label=title, zorder=3)
    axes.axvline(0, color="#555555", linewidth=0.8, zorder=1)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(place, [plot_text(name) for name in names], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("log-odds to the other classes", fontsize=9)
    legend_columns = min(3, len(some))
    figure.legend(loc="outside upper left", ncols=legend_columns, fontsize=8, frameon=False)
    return shown_once(figure)


def _rival(row: RowExplanation, k: int) -> int:
    """Find the most probable class beside one."""
    others = np.where(np.arange(len(row.classes)) == k, -1.0, row.posterior)
    return int(np.argmax(others))


def _largest(names: list[str], values: FloatArray) -> tuple[list[str], FloatArray]:
    kept, rows = _largest_rows(names, values[:, None])
    return kept, rows[:, 0]


def _largest_rows(names: list[str], values: FloatArray) -> tuple[list[str], FloatArray]:
    """Keep the prior first and the factors that say most; all others become one."""
    size = np.abs(values).max(axis=1)
    order = 1 + np.argsort(-size[1:], kind="stable")
    kept = [0, *order[:MOST_FACTORS].tolist()]
    named = [_short(names[i]) for i in kept]
    rest = order[MOST_FACTORS:]
    if not len(rest):
        return named, values[kept]
    together = values[rest].sum(axis=0, keepdims=True)
    return [*named, f"{len(rest)} more"], np.concatenate([values[kept], together])


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
