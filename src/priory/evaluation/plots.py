"""Plots of evaluations with matplotlib: confusion matrix, ROC curves, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import InputError
from priory.base.plotting import COLOURS, DASHES, GREY, plot_text, pyplot
from priory.base.typing import FloatArray, Label
from priory.evaluation.curves import Roc, macro_roc
from priory.evaluation.reliability import Reliability
from priory.evaluation.rendering import amount, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from priory.evaluation.comparison import Comparison
    from priory.evaluation.evaluation import Evaluation
    from priory.evaluation.thresholds import Threshold

__all__ = [
    "draw_curve",
    "plot_comparison",
    "plot_evaluation",
]

MOST_CURVES = len(COLOURS) - 1
MOST_NUMBERS = 25
"""With more classes the cells of a confusion matrix show no numbers."""
MOST_TICKS = 50
"""With more classes only some are named on the axes."""
LONGEST = 24
MARKED, APART = 6, 0.12
"""At most so many thresholds are marked on a ROC curve, at least so far apart."""


def plot_evaluation(e: Evaluation) -> Figure:
    """Plot an evaluation; without probabilities the confusion matrix alone."""
    plt = pyplot()
    k = len(e.classes)
    longest = max(len(_name(label)) for label in e.classes)
    side = float(np.clip(2.2 + 0.07 * longest + 0.34 * k, 3.7, 10.0))
    if not e.has_probabilities:
        figure, confusion = plt.subplots(figsize=(side + 0.6, side), layout="constrained")
    elif k <= MOST_CURVES:
        size, widths = (side + 8.2, max(4.0, side)), [side, 4, 4]
        made = plt.subplots(1, 3, figsize=size, layout="constrained", width_ratios=widths)
        figure, (confusion, roc, reliability) = made
    else:  # a large matrix, with the curves stacked beside it
        figure = plt.figure(figsize=(side + 4.4, max(8.4, side)), layout="constrained")
        left, beside = figure.subfigures(1, 2, width_ratios=[side, 4.2])
        confusion, (roc, reliability) = left.subplots(), beside.subplots(2, 1)
    _draw_confusion(confusion, e)
    if e.has_probabilities:
        _draw_roc(roc, e)
        _draw_reliability(reliability, e)
    figure.suptitle(
        f"{_name(e.how, None)}: {e.n_rows} rows, accuracy {e.accuracy:.3f}", fontsize=11
    )
    return figure


def plot_comparison(c: Comparison) -> Figure:
    """Plot the ROC curves of two models in one panel, and their reliability in another."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 5.3), layout="constrained")
    for which, (e, name) in enumerate(zip((c.first, c.second), c.names, strict=True)):
        style = {"color": COLOURS[which], "linestyle": DASHES[which]}
        false, true = _mean_curve(e)
        label = f"{_name(name)}, AUC {e.auc:.3f}"
        left.plot(false, true, label=label, linewidth=1.8, **style)
        table = e.reliability()
        label = f"{_name(name)}, error {table.error:.3f}"
        _draw_bins(right, table, color=COLOURS[which], marker="os"[which], label=label)
    several = len(c.first.classes) > 2
    title = "ROC, mean of the classes" if several else f"ROC of {_name(c.first.classes[1])}"
    _finish_square(left, "false positive rate", "true positive rate", title)
    _finish_square(right, "confidence", "accuracy, with 95 % intervals", "reliability")
    for axes in (left, right):  # below, where they cover nothing
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), fontsize=8, frameon=False)
    figure.suptitle(f"{c.first.n_rows} rows, McNemar's p = {c.p_value:.2g}", fontsize=11)
    return figure


def draw_curve(
    axes: Axes | None,
    points: tuple[FloatArray, FloatArray],
    label: str,
    names: tuple[str, str],
    steps: bool = False,
    marks: tuple[Roc, Threshold | None] | None = None,
) -> Axes:
    """Plot one curve, on new axes if none are given, and mark the thresholds of a ROC curve."""
    if axes is None:
        axes = pyplot().subplots(figsize=(4.4, 4.2), layout="constrained")[1]
    style: Any = {"drawstyle": "steps-post"} if steps else {}
    axes.plot(*points, label=_name(label, None), linewidth=1.8, **style)
    if marks is not None:
        curve, chosen = marks
        colour, point, name = axes.lines[-1].get_color(), None, ""
        if chosen is not None:
            point = (chosen.false_positive_rate, chosen.recall)
            name = f"threshold {_threshold(chosen.threshold)}"
        _mark_thresholds(axes, curve, colour, point, name)
    _finish_square(axes, *names, "", diagonal=not steps)
    axes.legend(loc="lower left" if steps else "lower right", fontsize=8)
    return axes


def _mark_thresholds(
    axes: Axes, curve: Roc, colour: Any, point: tuple[float, float] | None, label: str
) -> None:
    """Mark one point, and some thresholds with their values, evenly spaced along a curve."""
    style: Any = {"color": colour, "linestyle": "none", "marker": "o", "zorder": 5}
    taken = [(0.0, 0.0), (1.0, 1.0)]
    if point is not None:
        axes.plot(*point, markersize=8, label=label, **style)
        taken.append(point)
    x, y = curve.false_positive_rate, curve.true_positive_rate
    for aim in np.linspace(0, 2, MARKED + 2)[1:-1]:
        i = int(np.abs(x + y - aim).argmin())  # both rates rise together
        if any(max(abs(x[i] - at[0]), abs(y[i] - at[1])) < APART for at in taken):
            continue
        taken.append((x[i], y[i]))
        axes.plot(x[i], y[i], markersize=4, markerfacecolor="white", **style)
        axes.annotate(  # below and to the right, where a ROC curve leaves room
            _threshold(curve.thresholds[i]),
            (x[i], y[i]),
            xytext=(5, -4),
            textcoords="offset points",
            fontsize=7,
            va="top",
            color="#333333",
            zorder=6,
        )


def _threshold(value: float) -> str:
    """Format a threshold in few digits, also close to 1, where confident models have many.

    >>> _threshold(0.25), _threshold(3.14159e-7), _threshold(0.999999), _threshold(1.0)
    ('0.25', '3.1e-07', '1−1e-06', '1')
    """
    return f"{value:.2g}" if value < 0.995 or value == 1 else f"1−{1 - value:.0e}"


def _draw_confusion(axes: Axes, e: Evaluation) -> None:
    """Plot the matrix: colours are fractions of each true label, numbers are rows."""
    counts, k = np.asarray(e.confusion_matrix, dtype=np.float64), len(e.classes)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    if k <= MOST_NUMBERS:
        longest = max(len(amount(x)) for x in counts.flat)
        size = float(np.clip(min(10.0, 46 / max(longest, 2)), 5, 10)) if k > 8 else 9.0
        for i, j in np.argwhere((counts > 0) | np.eye(k, dtype=np.bool_)):
            colour = "white" if shares[i, j] > 0.55 else "black"
            axes.text(
                j, i, amount(counts[i, j]), ha="center", va="center", color=colour, fontsize=size
            )
    every = -(-k // MOST_TICKS)
    ticks = np.arange(0, k, every)
    names = [_name(e.classes[i]) for i in ticks]
    upright = k <= 4 and max(map(len, names)) <= 10
    axes.set_xticks(ticks, names, rotation=0 if upright else 90, fontsize=8)
    axes.set_yticks(ticks, names, fontsize=8)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true label")
    axes.set_title("confusion matrix", fontsize=10)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(k + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(k + 1) - 0.5, minor=True)
    if k <= MOST_TICKS:
        axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="minor", length=0)


def _draw_roc(axes: Axes, e: Evaluation) -> None:
    curves = _curves(e)
    if len(e.classes) == 2:
        curves = curves[1:]
    few = len(curves) <= MOST_CURVES
    worst = sorted(curves, key=lambda curve: curve.auc)[:3]
    for i, curve in enumerate(curves):
        named = few or curve in worst
        place = i if few else worst.index(curve) if named else 0
        axes.plot(
            curve.false_positive_rate,
            curve.true_positive_rate,
            color=COLOURS[place] if named else GREY,
            linestyle=DASHES[place % len(DASHES)] if named else "-",
            linewidth=1.5 if named else 0.6,
            zorder=3 if named else 2,
            label=f"{_name(curve.positive)}  {curve.auc:.3f}" if named else None,
        )
        if few and len(curves) > 1:
            axes.plot(*_rates(e, curve.positive), "o", color=COLOURS[place], zorder=4)
    if len(curves) > 1:
        axes.plot(*macro_roc(curves), color="black", linewidth=2, label=f"mean  {e.auc:.3f}")
        if few:  # in the legend, for the points of all curves
            axes.plot([], [], "o", color="#555555", label="as predicted")
    elif curves:
        rates, label = _rates(e, curves[0].positive), f"as predicted{_decision(e, curves[0])}"
        _mark_thresholds(axes, curves[0], COLOURS[0], rates, label)
    title = "ROC, each class against the rest" if len(curves) > 1 else "ROC, with thresholds"
    _finish_square(axes, "false positive rate", "true positive rate", title)
    if curves:
        named_so = "AUC" if few else "AUC, the three lowest"
        axes.legend(loc="lower right", fontsize=7.5, title=named_so, title_fontsize=8)
    else:
        axes.text(0.5, 0.5, "all rows are of one class", ha="center", fontsize=9)


def _rates(e: Evaluation, positive: Label) -> tuple[float, float]:
    """Find the false and true positive rates of the predictions."""
    k = e.class_index(positive)
    return float(e.false_positive_rate()[k]), float(e.recall()[k])


def _decision(e: Evaluation, curve: Roc) -> str:
    """Describe the threshold behind the predictions, if there is one."""
    k = e.class_index(curve.positive)
    called = e.predicted_codes == k
    least = e.probabilities[called, k].min(initial=np.inf)
    below = e.probabilities[~called, k].max(initial=-np.inf)
    if least <= below:
        return ""
    return f", P ≥ {_threshold(0.5 if below <= 0.5 <= least else float(least))}"


def _draw_reliability(axes: Axes, e: Evaluation) -> None:
    table = e.reliability()
    share = table.weight / table.weight.sum()
    axes.bar(table.edges[:-1], share, np.diff(table.edges), align="edge", color="#d9d9d9", zorder=0)
    _draw_bins(axes, table, color=COLOURS[0])
    _finish_square(
        axes,
        "confidence (grey: fraction of the rows)",
        "accuracy, with 95 % intervals",
        f"reliability, error {table.error:.3f}",
    )


def _draw_bins(axes: Axes, table: Reliability, **style: Any) -> None:
    """Plot a point for each bin, sized by its weight, with its interval."""
    some = table.weight > 0
    x, y = table.confidence[some], table.accuracy[some]
    ends = np.clip([y - table.low[some], table.high[some] - y], 0, None)
    size = 18 + 82 * table.weight[some] / table.weight.sum()
    axes.errorbar(x, y, yerr=ends, fmt="none", elinewidth=0.9, ecolor=style["color"], zorder=3)
    axes.scatter(x, y, s=size, zorder=4, edgecolors="white", linewidths=0.5, **style)


def _finish_square(axes: Axes, x: str, y: str, title: str, diagonal: bool = True) -> None:
    if diagonal:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel=y)
    axes.set_title(title, fontsize=10)
    axes.set_box_aspect(1)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _curves(e: Evaluation) -> list[Roc]:
    return [e.roc(e.classes[k]) for k in e.separable]


def _mean_curve(e: Evaluation) -> tuple[FloatArray, FloatArray]:
    curves = _curves(e)
    if not curves:
        raise InputError("There is no ROC curve to plot: all rows are of one class.")
    return macro_roc(curves[1:] if len(e.classes) == 2 else curves)


def _name(label: Label, longest: int | None = LONGEST) -> str:
    """Format a label for matplotlib: no mathematics, and never hidden."""
    return plot_text(shown(label, longest))
