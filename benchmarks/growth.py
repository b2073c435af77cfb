"""Log-loss against the number of rows learned, on the larger tables; a part of `make quality`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from benchmarks import models
from benchmarks.measure import in_processes, within
from benchmarks.models import DEFAULT, NAIVE
from benchmarks.report import draw_lines, markdown
from priory.evaluation.losses import log_losses

__all__ = ["draw", "measure", "section"]

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
LEAST, HELD_OUT, COLUMNS, LABELS = 12_000, 10_000, 100, 1_000
"""Tables of at least so many rows, at most so many columns and values of a label; so many rows,
and at most a fifth, are held out."""
DRAWN, MOST_DRAWS = 3_000, 5
"""As many draws as have so many rows in all, but one at least and so many at most."""
SHOWN: Mapping[str, int] = {
    DEFAULT: max(SIZES),
    NAIVE: max(SIZES),
    "logistic regression": max(SIZES),
    "LightGBM": max(SIZES),
    "histogram gradient boosting": max(SIZES),
    "EBM": 10_000,
}
"""The models, and the most rows that each learns: minutes are too long for one fit."""
MOST_SECONDS = 120
PICTURE = "results/growth.svg"

READING = f"""\
Up to {HELD_OUT:,} rows, and no more than a fifth, are held out, the same for all. The others are
drawn class by class in the proportion of the classes, and more rows contain the fewer; a class
that would have fewer than two of {min(SIZES)} rows is left out. From {DRAWN:,} rows on there is
one draw, below it is the mean of up to {MOST_DRAWS}. These are the tables of at least
{LEAST:,} rows, without free text. P is no less than 2.2e-16 in a log-loss. EBM
learns {SHOWN["EBM"]:,} rows at most, and what takes over {MOST_SECONDS} seconds of the
processor is left out."""

Curves = dict[str, dict[str, dict[int, float]]]


def measure(sets: Iterable[Any], jobs: int = 1) -> Curves:
    """Return the log-loss of each set, model and number of rows."""
    works = [
        (data.name, model, n, joblib.delayed(within)(MOST_SECONDS, loss, data.X, data.y, model, n))
        for data in sets
        if suits(data)
        for model in data.models
        if model in SHOWN
        for n in sizes(len(data.y))
        if n <= SHOWN[model]
    ]
    curves: Curves = {}
    results = in_processes([call for *_, call in works], jobs)
    for (name, model, n, _), found in zip(works, results, strict=True):
        if found is not None:
            curves.setdefault(name, {}).setdefault(model, {})[n] = found
    return curves


def suits(data: Any) -> bool:
    """Return whether a data set is a large table, not too wide and without free text."""
    if data.is_text or len(data.y) < LEAST or data.X.shape[1] > COLUMNS:
        return False
    labels = data.X.select_dtypes(exclude="number")
    return bool((labels.nunique() <= LABELS).all())


def held_out(rows: int) -> int:
    """Return how many rows are held out."""
    return min(HELD_OUT, rows // 5)


def sizes(rows: int) -> list[int]:
    """Return the numbers of rows that can be learned."""
    return [n for n in SIZES if n <= rows - held_out(rows)]


def loss(X: Any, y: np.ndarray, model: str, n: int) -> float:
    """Return the mean log-loss of the held-out rows over the draws of n others."""
    classes, counts = np.unique(y, return_counts=True)
    classes = classes[counts * min(SIZES) >= 2 * len(y)]
    kept = np.flatnonzero(np.isin(y, classes))
    order = kept[in_proportion(y[kept], np.random.default_rng(0))]
    test, others = np.split(order, [held_out(len(y))])
    gold = np.searchsorted(classes, y[test])
    found = []
    for draw in range(max(1, min(MOST_DRAWS, DRAWN // n))):
        rows = others[in_proportion(y[others], np.random.default_rng(draw + 1))[:n]]
        fitted = models.tables()[model]().fit(X.iloc[rows], y[rows])
        assert list(fitted.classes_) == list(classes)
        found.append(log_losses(gold, np.asarray(fitted.predict_proba(X.iloc[test]))).mean())
    return float(np.mean(found))


def in_proportion(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an order of the rows of which every beginning has the classes in their proportion."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    order = rng.permutation(len(y))
    by_class = order[np.argsort(codes[order], kind="stable")]
    within = np.concatenate([(np.arange(n) + rng.random(n)) / n for n in counts])
    return by_class[np.argsort(within)]


def draw(curves: Curves, folder: Path) -> None:
    """Draw the curves, one picture for all sets."""
    draw_lines(curves, folder / PICTURE, "rows", "log-loss")


def section(curves: Curves) -> Iterator[str]:
    """Give the section of the page."""
    yield "## Log-loss against rows\n"
    yield READING + "\n"
    for name, lines in curves.items():
        shown = sorted({n for points in lines.values() for n in points})
        cells = [
            (model, *(f"{points[n]:.3f}" if n in points else "" for n in shown))
            for model, points in lines.items()
        ]
        yield f"### {name}\n"
        heads = ("model", *(f"{n:,}" for n in shown))
        yield from (*markdown(heads, cells, range(1, len(heads))), "")
    if curves:
        yield f"![Log-loss against rows, logarithmic, of priory and its peers]({PICTURE})\n"
