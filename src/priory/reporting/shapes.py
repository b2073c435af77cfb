"""What a model goes by: the shapes of its columns, and its words."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.formatting import shown
from priory.base.typing import FloatArray
from priory.data.schema import Kind
from priory.evaluation.rendering import amount
from priory.explaining.shapes import Shape
from priory.model.log_odds import log_odds
from priory.reporting.axes import Axis
from priory.reporting.charts import bar, curve_chart, points_chart
from priory.reporting.content import Content
from priory.reporting.markup import Html, h
from priory.reporting.scales import signed
from priory.reporting.tables import MOST_CLASSES, section, table

__all__ = ["columns"]

MOST_SHAPES, MOST_WORDS, MOST_IMPORTANT = 24, 12, 20


def columns(content: Content) -> Html:
    """Show the shape of each column: what its values add."""
    shapes = [axis for axis in content.axes.axes if axis.kind in ("points", "curve")]
    shapes = [axis for axis in shapes if axis.spread > 1e-9]
    bands = content.classifier.shapes()
    cards = [_shape(content, axis, bands.get(axis.columns[0])) for axis in shapes[:MOST_SHAPES]]
    told = (
        "What each value of a column says, in log-odds: to the right, or above 0, it speaks for "
        "the class, to the left or below against it; +0.7 doubles the odds, −0.7 halves them. "
        "Those columns come first whose values differ most. Bands, where a factor has one, hold "
        "the true value in 90 % of cases; grey is how often a number came."
    )
    more = len(shapes) - len(cards)
    rest = (
        h("p", f"{more} columns that say less are not drawn.", class_="soft") if more > 0 else None
    )
    inside = (h("p", told), h("div", cards, class_="cards")) if cards else None
    return section(
        "columns", "What it goes by", _importance(content), inside, rest, _words(content)
    )


def _importance(content: Content) -> Html | None:
    """Show how far each column and pair moves predictions."""
    found = content.importance
    if found is None or len(found) < 2:
        return None
    sizes = found.mean_log_odds
    most = float(sizes[np.isfinite(sizes)].max(initial=0.0)) or 1.0
    told = zip(found.columns, found.mean_log_odds.tolist(), found.bits.tolist(), strict=True)
    rows = [
        (name, _size(moved), "–" if bits != bits else f"{bits:.2f}", bar(min(moved / most, 1.0)))
        for name, moved, bits in list(told)[:MOST_IMPORTANT]
    ]
    caption = f"How far columns and pairs move the log-odds, on average over {found.n_rows:,} rows"
    more = len(found) - len(rows)
    caption += f"; {more} that move them less are not shown" if more > 0 else ""
    return table(("column", "log-odds", "bits alone", ""), rows, caption, (1, 2))


def _size(moved: float) -> str:
    return f"{moved:.2f}" if np.isfinite(moved) else "∞"


def _shape(content: Content, axis: Axis, shape: Shape | None) -> Html:
    points = log_odds(axis.added)
    k = 1 if points.shape[1] == 2 else int(np.nanstd(np.clip(points, -9, 9), axis=0).argmax())
    told = f"{axis.title}: log-odds of {content.names[k]}"
    at = points[:, k]
    band = _band(shape, axis, at, k)
    if axis.kind == "points":
        names, weight = list(axis.names), axis.weight
        if axis.missing is not None:
            names, at = [*names, "missing"], np.append(at, log_odds(axis.missing)[k])
            band = np.pad(band, ((0, 0), (0, 1)), constant_values=np.nan)
            weight = None if weight is None else np.append(weight, np.inf)  # always among them
        picture = points_chart(names, at, weight, band, told)
    else:
        values = np.array(axis.values, dtype=np.float64)
        picture = curve_chart(values, at, _counts(content, axis, values), band, told)
    more = []
    if axis.kind == "points" and len(axis.names) > 14:
        more.append(f"the 14 most frequent of {len(axis.names):,} values")
    if axis.kind == "curve" and axis.missing is not None:
        more.append(f"missing: {signed(float(log_odds(axis.missing)[k]), 2)}")
    remark = h("p", "; ".join(more), class_="soft") if more else None
    of = f"for {content.names[k]}"
    return h(
        "div",
        h("h3", axis.title, " ", h("small", of, class_="soft")),
        picture,
        remark,
        class_="card",
    )


def _band(shape: Shape | None, axis: Axis, points: FloatArray, k: int) -> FloatArray:
    """Find the lower and upper ends of the band of each value, NaN where none is known.

    The picture has what corrections and offsets add too: the band goes along with its points.
    """
    if shape is None or len(shape.values) < 2:
        return np.full((2, len(points)), np.nan)
    with np.errstate(invalid="ignore"):
        reach = np.stack([shape.low - shape.log_odds, shape.high - shape.log_odds])[:, :, k]
    if axis.kind == "curve":
        at, values = shape.values.astype(np.float64), np.array(axis.values, dtype=np.float64)
        return points + np.stack([np.interp(values, at, far) for far in reach])
    if shape.edges is not None:  # numbers of one bin have one band
        bins = np.searchsorted(shape.edges[1:-1], np.array(axis.values, dtype=np.float64))
        return np.asarray(points + reach[:, bins])
    known = {value: i for i, value in enumerate(shape.values.tolist())}
    found = [known.get(value, -1) for value in axis.values]
    return np.asarray(points + np.pad(reach, ((0, 0), (0, 1)), constant_values=np.nan)[:, found])


def _counts(
    content: Content, axis: Axis, values: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Count the rows along a curve, in bins of equal width."""
    statistics = content.classifier.statistics
    found: Any = statistics.tables.get(axis.columns[0])
    if found is None or not hasattr(found, "cells"):
        return None
    edges = np.linspace(values[0], values[-1], 31)
    rows, _ = np.histogram(found.cells.values, edges, weights=found.cells.weight.sum(axis=0))
    return edges, rows


def _words(content: Content) -> Html | None:
    """List the words that say most, where there are texts."""
    classifier = content.classifier
    if not any(term.block.kind is Kind.WORDS for term in classifier.model.terms):
        return None
    best = classifier.top_features(MOST_WORDS)
    cards = []
    for label in list(best)[:MOST_CLASSES]:
        rows = [
            (f.feature, amount(float(f.count)), signed(float(f.log_odds), 2)) for f in best[label]
        ]
        heading = h("h3", "Words and values for ", shown(label))
        cards.append(
            h(
                "div",
                heading,
                table(("", "count", "log-odds"), rows, f"Top words of {shown(label)}", (1, 2)),
                class_="card",
            )
        )
    return h("div", cards, class_="cards")
