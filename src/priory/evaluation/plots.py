"""Pictures of evaluations, by matplotlib: confusion matrix, ROC curves, reliability.

The colours are those of Okabe and Ito (2008), which colour-blind people can tell apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from priory.errors import InputError
from priory.evaluation.curves import Roc, macro_roc
from priory.evaluation.rendering import amount, shown
from priory.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from priory.evaluation.comparison import Comparison
    from priory.evaluation.evaluation import Evaluation

__all__ = ["draw_curve", "plot_comparison", "plot_evaluation"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6A00", "#000000")
DASHES = ("-", "--", "-.", ":")
GREY = "#9a9a9a"
MOST_CURVES = len(COLOURS) - 1
MOST_NUMBERS = 25
"""With more classes than this the cells of a confusion matrix have no numbers."""
MOST_TICKS = 50
"""With more classes than this not every one has its name at the axes."""
LONGEST = 18


def plot_evaluation(e: Evaluation) -> Figure:
    """Draw the three pictures of an evaluation, or the one that needs no probabilities."""
    plt = _pyplot()
    k = len(e.classes)
    longest = max(len(shown(label, LONGEST)) for label in e.classes)
    side = float(np.clip(2.2 + 0.07 * longest + 0.32 * k, 3.6, 10.0))
    if not e.has_probabilities:
        figure, axes = plt.subplots(figsize=(side + 0.6, side), layout="constrained")
        _draw_confusion(axes, e)
    elif k <= MOST_CURVES:
        size, shape = (side + 7.9, max(3.7, side)), [["confusion", "roc", "reliability"]]
        figure, places = plt.subplot_mosaic(
            shape, figsize=size, layout="constrained", width_ratios=[side, 3.9, 3.9]
        )
    else:  # a large matrix, and the curves one above the other beside it
        size, shape = (
            (side + 4.6, max(7.6, side)),
            [["confusion", "roc"], ["confusion", "reliability"]],
        )
        figure, places = plt.subplot_mosaic(
            shape, figsize=size, layout="constrained", width_ratios=[side, 4.2]
        )
    if e.has_probabilities:
        _draw_confusion(places["confusion"], e)
        _draw_roc(places["roc"], e)
        _draw_reliability(places["reliability"], e)
    figure.suptitle(f"{e.how}: {e.n_rows} rows, accuracy {e.accuracy:.3f}", fontsize=11)
    return figure


def plot_comparison(c: Comparison) -> Figure:
    """Draw the ROC curves of two models over each other, and their reliabilities."""
    plt = _pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
    for which, (e, name) in enumerate(zip((c.first, c.second), c.names, strict=True)):
        style = {"color": COLOURS[which], "linestyle": DASHES[which]}
        false, true = _mean_curve(e)
        label = f"{shown(name, LONGEST)}, AUC {e.auc:.3f}"
        left.plot(false, true, label=label, linewidth=1.8, **style)
        table = e.reliability()
        some = table.weight > 0
        label = f"{shown(name, LONGEST)}, error {table.error:.3f}"
        marker = "os"[which]
        right.plot(table.confidence[some], table.right[some], marker, label=label, ms=4, **style)
    several = len(c.first.classes) > 2
    title = (
        "ROC, mean of the classes" if several else f"ROC of {shown(c.first.classes[1], LONGEST)}"
    )
    _finish_square(left, "false positive rate", "true positive rate", title)
    _finish_square(right, "confidence", "share right", "reliability")
    left.legend(loc="lower right", fontsize=8)
    right.legend(loc="upper left", fontsize=8)
    return figure


def draw_curve(
    axes: Axes | None,
    points: tuple[FloatArray, FloatArray],
    label: str,
    names: tuple[str, str],
    steps: bool,
    diagonal: bool,
) -> Axes:
    """Draw one curve on axes, or on new ones."""
    if axes is None:
        axes = _pyplot().subplots(figsize=(4.4, 4.2), layout="constrained")[1]
    style: Any = {"drawstyle": "steps-post"} if steps else {}
    axes.plot(*points, label=label, linewidth=1.8, **style)
    _finish_square(axes, *names, "", diagonal)
    axes.legend(loc="lower right" if diagonal else "lower left", fontsize=8)
    return axes


def _draw_confusion(axes: Axes, e: Evaluation) -> None:
    """Draw the matrix: colours are shares of each gold label, numbers are rows."""
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
    names = [shown(e.classes[i], LONGEST) for i in ticks]
    upright = k <= 4 and max(map(len, names)) <= 10
    axes.set_xticks(ticks, names, rotation=0 if upright else 90, fontsize=8)
    axes.set_yticks(ticks, names, fontsize=8)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold label")
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
            label=f"{shown(curve.positive, LONGEST)}  {curve.auc:.3f}" if named else None,
        )
    if len(curves) > 1:
        axes.plot(*macro_roc(curves), color="black", linewidth=2, label=f"mean  {e.auc:.3f}")
    title = "ROC, each class against the rest" if len(curves) > 1 else "ROC"
    _finish_square(axes, "false positive rate", "true positive rate", title)
    if curves:
        named_so = "AUC" if few else "AUC, the three lowest"
        axes.legend(loc="lower right", fontsize=7.5, title=named_so, title_fontsize=8)
    else:
        axes.text(0.5, 0.5, "all rows are of one class", ha="center", fontsize=9)


def _draw_reliability(axes: Axes, e: Evaluation) -> None:
    table = e.reliability()
    some = table.weight > 0
    share = table.weight / table.weight.sum()
    width = np.diff(table.edges)
    axes.bar(
        table.edges[:-1], share, width, align="edge", color="#d9d9d9", label="share of the rows"
    )
    x, y = table.confidence[some], table.right[some]
    ends = np.clip([y - table.low[some], table.high[some] - y], 0, None)
    axes.errorbar(
        x,
        y,
        yerr=ends,
        fmt="o-",
        ms=4,
        linewidth=1.5,
        elinewidth=0.9,
        color=COLOURS[0],
        label="share right, with 95 %",
    )
    _finish_square(
        axes, "confidence", "share right", f"reliability, error {e.calibration_error:.3f}"
    )
    axes.legend(loc="upper left", fontsize=7.5)


def _finish_square(axes: Axes, x: str, y: str, title: str, diagonal: bool = True) -> None:
    if diagonal:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel=y)
    axes.set_title(title, fontsize=10)
    axes.set_aspect("equal")
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _curves(e: Evaluation) -> list[Roc]:
    return [e.roc(e.classes[k]) for k in e._separable]


def _mean_curve(e: Evaluation) -> tuple[FloatArray, FloatArray]:
    curves = _curves(e)
    if not curves:
        raise InputError("There is no ROC curve to draw: all rows are of one class.")
    return macro_roc(curves[1:] if len(e.classes) == 2 else curves)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Pictures need matplotlib: pip install 'priory[plot]'.") from None
    return plt
