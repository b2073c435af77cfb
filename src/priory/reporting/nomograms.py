"""The nomogram: a picture that is a model, from which predictions are read with a ruler.

Možina, Demšar, Kattan and Zupan (2004): every column has a line on which its values stand where
their log-odds do. The sum of what is read, with that of the class prior, gives the probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from priory.base.errors import InputError, SettingError, did_you_mean, listing
from priory.base.formatting import shown
from priory.base.labels import label_key
from priory.base.replacing import replacing
from priory.base.typing import BoolArray, FloatArray, Label
from priory.model.log_odds import log_odds
from priory.reporting.axes import Axes, Axis, axes_of
from priory.reporting.content import classifier_of
from priory.reporting.grids import cell_grid
from priory.reporting.markup import Html, asset, h, raw
from priory.reporting.scales import Scale, signed, ticks

__all__ = ["Nomogram", "axis_picture", "nomogram", "scale_of"]

WIDTH = 760
MOST_MARKS = 60
"""So many values of a column are marked: those that most rows have."""

LONGEST = 24
LETTER = 6.3
"""About the width of a letter, in pixels."""

PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
FARTHEST = 8.0
"""Log-odds beyond this stand at the edge: the probability there is 0.0003."""


@dataclass(frozen=True, eq=False, repr=False)
class Nomogram:
    """A nomogram as SVG: shown in a notebook, or saved to a file.

    Points are log-odds of `target` against `against`: log P(v | target) / P(v | against), weights
    and corrections included.

    >>> from priory import NaiveBayes
    >>> drawn = NaiveBayes.textbook().fit({"x": ["a", "b", "b"]}, ["no", "yes", "yes"]).nomogram()
    >>> drawn.target, drawn.against, drawn.svg[:4]
    ('yes', 'no', '<svg')
    """

    axes: Axes
    target: Label
    against: Label
    svg: str

    def __repr__(self) -> str:
        return f"<Nomogram of {len(self.axes.axes)} axes: {self.target} against {self.against}>"

    def _repr_html_(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Any) -> None:
        """Write the picture to a file of SVG."""
        with replacing(path) as made:
            Path(made).write_text(self.svg, encoding="utf-8")


def nomogram(model: Any, target: Any = None, against: Any = None) -> Nomogram:
    """Draw a model as a nomogram, from which its predictions can be read without a computer.

        log P(a | x) / P(b | x) = log P(a) / P(b) + Σ_columns points of the column's value

    Of two classes `target` is the second, unless it is named. Of more, one is told apart from
    another, by default the largest two, and what is read is P(a | x, a or b). Columns that are
    counted together have a table of points instead of a line. Texts, AODE and Gaussians of several
    columns have no nomogram.

    >>> from priory import NaiveBayes
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
    >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
    >>> nomogram(model)
    <Nomogram of 1 axes: Yes against No>
    """
    classifier = classifier_of(model)
    axes = axes_of(classifier)
    if axes.refused:
        column, why = axes.refused[0]
        raise SettingError(
            f"Column {column!r} has no axis in a nomogram: {why}. explain() shows what it says."
        )
    if len(axes.classes) < 2:
        raise InputError("A nomogram tells classes apart; the model has one.")
    a, b = pair_of(axes.classes, classifier.statistics.weight, target, against)
    return Nomogram(axes, axes.classes[a], axes.classes[b], _picture(axes, a, b))


def pair_of(
    classes: Sequence[Label], weight: FloatArray, target: Any, against: Any
) -> tuple[int, int]:
    """Find the two classes of a nomogram."""
    places = {label_key(label): k for k, label in enumerate(classes)}

    def place(name: str, label: Any) -> int:
        if label_key(label) not in places:
            raise SettingError(
                f"{name} must be a class of the model, not {label!r}. Classes: {listing(classes)}."
                f"{did_you_mean(str(label), [str(k) for k in classes])}"
            )
        return places[label_key(label)]

    largest = np.argsort(-weight, kind="stable").tolist()
    if target is not None:
        a = place("target", target)
    elif against is not None:
        b = place("against", against)
        return next(k for k in largest if k != b), b
    else:
        a = 1 if len(classes) == 2 else largest[0]
    b = next(k for k in largest if k != a) if against is None else place("against", against)
    if a == b:
        raise SettingError(f"target and against must differ; both are {classes[a]!r}.")
    return a, b


def odds(added: FloatArray, a: int, b: int) -> FloatArray:
    """Take log-odds of one class against another; where both are impossible there are none."""
    return np.asarray(log_odds(added, b)[..., a])


def scale_of(axes: Axes, a: int, b: int) -> Scale:
    """Find the scale that all axes share."""
    found = [odds(axes.start, a, b)[None]]
    for axis in axes.axes:
        if axis.kind != "cells":
            found.append(odds(axis.added, a, b))
        if axis.missing is not None:
            found.append(odds(axis.missing, a, b)[None])
    every = np.clip(np.concatenate(found), -FARTHEST, FARTHEST)
    return Scale(min(float(every.min()), -0.5), max(float(every.max()), 0.5))


def _picture(axes: Axes, a: int, b: int) -> str:
    scale, target, against = scale_of(axes, a, b), axes.classes[a], axes.classes[b]
    parts: list[tuple[Html, float]] = [(_heading(target, against), 40), (_ruler(scale), 40)]
    parts.append((_single("class prior", odds(axes.start, a, b).item(), scale), 46))
    parts += [axis_picture(axis, i, scale, a, b) for i, axis in enumerate(axes.axes)]
    parts.append(_answer(axes, a, b))
    body, y = [], 8.0
    for part, height in parts:
        body.append(h("svg", part, x=12, y=y, width=WIDTH, height=height, overflow="visible"))
        y += height
    inside = (
        h("style", raw(asset("nomogram.css"))),
        h("rect", class_="paper", width="100%", height="100%"),
        body,
    )
    told = f"Nomogram: {shown(target)} against {shown(against)}"
    return str(
        h(
            "svg",
            h("title", told),
            inside,
            xmlns="http://www.w3.org/2000/svg",
            class_="priory-nomogram",
            role="img",
            aria_label=told,
            width=WIDTH + 24,
            height=y + 8,
        )
    )


def _heading(target: Label, against: Label) -> Html:
    how = (
        "Find each value on its line and read the points above it; a dashed line is 0. "
        "Add them up, with the start."
    )
    return h(
        "g",
        h("text", f"{shown(target)} rather than {shown(against)}", x=0, y=14, class_="name"),
        h("text", how, x=0, y=31, class_="soft"),
    )


def _ruler(scale: Scale) -> Html:
    marks = [
        (
            h("line", x1=scale(x), x2=scale(x), y1=22, y2=30, class_="axis"),
            h("text", signed(x), x=scale(x), y=17, text_anchor="middle"),
        )
        for x in ticks(scale.low, scale.high, 10)
    ]
    line = h("line", x1=scale(scale.low), x2=scale(scale.high), y1=30, y2=30, class_="axis")
    return h("g", h("text", "points", x=0, y=17, class_="soft"), line, marks, data_ruler="points")


def _single(name: str, at: float, scale: Scale) -> Html:
    x = scale(at)
    return h(
        "g",
        _zero(scale, 46),
        h("text", name, x=0, y=13, class_="name"),
        h("line", x1=x, x2=x, y1=18, y2=28, class_="tick"),
        h("text", "start", x=x, y=41, text_anchor="middle"),
        data_start=True,
    )


def _zero(scale: Scale, height: float) -> Html:
    return h("line", x1=scale(0.0), x2=scale(0.0), y1=0, y2=height, class_="zero")


def axis_picture(axis: Axis, number: int, scale: Scale, a: int, b: int) -> tuple[Html, float]:
    """Draw an axis, and tell how high it is."""
    if axis.kind == "cells":
        return cell_grid(axis, number, odds(axis.added, a, b), WIDTH)
    draw = _curve if axis.kind == "curve" else _points
    return draw(axis, number, scale, a, b)


def _points(axis: Axis, number: int, scale: Scale, a: int, b: int) -> tuple[Html, float]:
    at = odds(axis.added, a, b)
    marks = [(axis.names[i], float(at[i]), i) for i in np.flatnonzero(_marked(axis, at)).tolist()]
    if axis.missing is not None:
        marks.append(("missing", odds(axis.missing, a, b).item(), -1))
    rows = _places([(name, scale.at(x)) for name, x, _ in marks], _importance(axis, marks))
    height = 64.0 if 1 in rows else 50.0
    xs = [scale.at(x) for _, x, _ in marks] or [scale.at(0.0)]
    drawn = [_mark(name, x, scale, row, i) for (name, x, i), row in zip(marks, rows, strict=True)]
    more = len(axis.names) - sum(1 for _, _, i in marks if i >= 0)
    title = f"{axis.title} ({more:,} rarer values are not marked)" if more else axis.title
    return (
        h(
            "g",
            _zero(scale, height),
            h("text", title, x=0, y=13, class_="name"),
            h("line", x1=f"{min(xs):.4f}%", x2=f"{max(xs):.4f}%", y1=26, y2=26, class_="axis"),
            drawn,
            data_axis=number,
        ),
        height,
    )


def _marked(axis: Axis, at: FloatArray) -> BoolArray:
    """Choose the values that are marked: the most frequent, and the ends."""
    if len(at) <= MOST_MARKS:
        return np.ones(len(at), dtype=np.bool_)
    weight = np.ones(len(at)) if axis.weight is None else axis.weight
    chosen = np.zeros(len(at), dtype=np.bool_)
    chosen[np.argsort(-weight, kind="stable")[:MOST_MARKS]] = True
    chosen[[int(at.argmin()), int(at.argmax())]] = True
    return chosen


def _importance(axis: Axis, marks: Sequence[tuple[str, float, int]]) -> list[float]:
    """Rank labels by how many rows have them; the ends of the line come first."""
    xs = [x for _, x, _ in marks]
    ends = {xs.index(min(xs)), xs.index(max(xs))} if xs else set()
    return [
        np.inf
        if n in ends or i < 0
        else float(axis.weight[i])
        if axis.weight is not None
        else -float(n)
        for n, (_, _, i) in enumerate(marks)
    ]


def _places(labels: Sequence[tuple[str, float]], importance: Sequence[float]) -> list[int | None]:
    """Find a row, the first or the second, where each label overlaps no other; or None."""
    taken: tuple[list[tuple[float, float]], ...] = ([], [])
    rows: list[int | None] = [None] * len(labels)
    for i in np.argsort(-np.array(importance), kind="stable").tolist():
        name, percent = labels[i]
        middle, half = percent / 100 * WIDTH, (len(_short(name)) * LETTER + 8) / 2
        low, high = middle - half, middle + half
        for row, others in enumerate(taken):
            if all(high <= left or low >= right for left, right in others):
                others.append((low, high))
                rows[i] = row
                break
    return rows


def _mark(name: str, x: float, scale: Scale, row: int | None, place: int) -> Html:
    at = scale(x)
    told = h("title", f"{name}: {signed(x, 3)}")
    label = None
    if row is not None:
        label = h("text", _short(name), x=at, y=43 + 14 * row, text_anchor="middle")
    mark = h("line", x1=at, x2=at, y1=20, y2=32, class_="tick")
    return h("g", told, mark, label, data_value=place)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _curve(axis: Axis, number: int, scale: Scale, a: int, b: int) -> tuple[Html, float]:
    values = np.array(axis.values, dtype=np.float64)
    low, high = float(values[0]), float(values[-1])
    tall = 72.0
    down = tall - (values - low) / ((high - low) or 1.0) * tall
    xs = [scale.at(x) for x in odds(axis.added, a, b).tolist()]
    path = "M" + " L".join(f"{x:.4f} {y:.4f}" for x, y in zip(xs, down.tolist(), strict=True))
    inner = h(
        "svg",
        h("path", d=path, vector_effect="non-scaling-stroke"),
        x=0,
        y=22,
        width="100%",
        height=tall,
        viewBox=f"0 0 100 {tall:g}",
        preserveAspectRatio="none",
        overflow="visible",
    )
    lines = [
        (
            h("line", x1="7%", x2="100%", y1=y, y2=y, class_="level"),
            h("text", name, x=0, y=y + 4, class_="soft"),
        )
        for name, y in _levels(axis, low, high, tall)
    ]
    missing, height = None, tall + 34
    if axis.missing is not None:
        x = odds(axis.missing, a, b).item()
        at, height = scale(x), tall + 58
        missing = h(
            "g",
            h("title", f"missing: {signed(x, 3)}"),
            h("line", x1=at, x2=at, y1=tall + 28, y2=tall + 38, class_="tick"),
            h("text", "missing", x=at, y=tall + 50, text_anchor="middle"),
            data_value=-1,
        )
    title = h("text", axis.title, x=0, y=13, class_="name")
    whole = h("g", _zero(scale, height), title, lines, inner, missing, data_axis=number)
    return whole, height


def _levels(axis: Axis, low: float, high: float, tall: float) -> Iterator[tuple[str, float]]:
    """Choose the values beside a curve, and how far down they stand."""
    wide = (high - low) or 1.0
    names = dict(zip(axis.values, axis.names, strict=True))
    dates = not _is_number(axis.names[0])
    chosen = [axis.values[0], axis.values[len(names) // 2], axis.values[-1]]
    for x in chosen if dates else ticks(low, high, 4):
        yield (names[x] if dates else f"{x:g}"), 22 + tall - (x - low) / wide * tall


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _answer(axes: Axes, a: int, b: int) -> tuple[Html, float]:
    """Draw the scale from the sum of all points to the probability."""
    target, against = shown(axes.classes[a]), shown(axes.classes[b])
    scale = Scale(-FARTHEST, FARTHEST)
    sums = [
        (
            h("line", x1=scale(x), x2=scale(x), y1=30, y2=38, class_="axis"),
            h("text", signed(x), x=scale(x), y=26, text_anchor="middle"),
        )
        for x in range(-8, 9, 2)
    ]
    chances = [
        (
            h("line", x1=scale(x), x2=scale(x), y1=38, y2=46, class_="tick"),
            h("text", f"{p:g}", x=scale(x), y=60, text_anchor="middle", font_size=11),
        )
        for p in PROBABILITIES
        for x in [log(p / (1 - p))]
    ]
    line = h("line", x1=scale(scale.low), x2=scale(scale.high), y1=38, y2=38, class_="axis")
    two = len(axes.classes) == 2
    told = f"P({target} | row)" if two else f"P({target} | row, {target} or {against})"
    return (
        h(
            "g",
            h("text", "sum of all points, and below it " + told, x=0, y=8, class_="name"),
            h("g", line, sums, data_ruler="sum"),
            h("g", chances, data_ruler="probability"),
        ),
        76,
    )
