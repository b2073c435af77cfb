"""A network as a picture in SVG: layers from parents to children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import combinations, pairwise
from statistics import fmean

from priory.base.graph import Graph
from priory.base.typing import Label

__all__ = ["svg"]

LINE, PAD, GAP, LAYER_GAP, BAR = 15, 8, 26, 46, 62
MOST_VALUES = 8
SWEEPS = 12

STYLE = """
  .node { fill: #eef1fb; stroke: #4a5aa8; stroke-width: 1.2 }
  .known { fill: #fdf0d5; stroke: #b7791f; stroke-width: 1.6 }
  .edge { fill: none; stroke: #667; stroke-width: 1.2 }
  .bar { fill: #8c9be0 } .rail { fill: #dde2f5 }
  text { font: 12px sans-serif; fill: #1c2240 } .name { font-weight: 600; text-anchor: middle }
  .p { text-anchor: end; font-size: 10.5px }
"""


@dataclass
class _Box:
    """Hold one node, or the place where a long edge passes a layer."""

    name: str
    width: float
    height: float
    up: list[_Box] = field(default_factory=list)
    down: list[_Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    layer_top: float = 0.0
    layer_bottom: float = 0.0


def svg(graph: Graph, bars: Mapping[str, Mapping[Label, float]], known: set[str]) -> str:
    """Draw a graph; `bars` are the probabilities to show in each node."""
    boxes, layers, edges = _layers(graph, bars)
    _arrange(layers)
    height = _place(layers)
    width = max((box.x + box.width / 2 for layer in layers for box in layer), default=0) + PAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#667"/></marker></defs>',
    ]
    parts += [_curve(path) for path in edges]
    parts += [_node(boxes[name], bars.get(name, {}), name in known) for name in graph.nodes]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _layers(
    graph: Graph, bars: Mapping[str, Mapping[Label, float]]
) -> tuple[dict[str, _Box], list[list[_Box]], list[list[_Box]]]:
    """Make the boxes by name and by layer, and for each edge the boxes it passes."""
    depth: dict[str, int] = {}
    for name in graph.order:
        depth[name] = max((depth[p] + 1 for p in graph.parents[name]), default=0)
    for name in reversed(graph.order):  # a node without parents stands just above its children
        if not graph.parents[name] and graph.children[name]:
            depth[name] = min(depth[c] for c in graph.children[name]) - 1
    boxes = {name: _box(name, bars.get(name)) for name in graph.nodes}
    layers: list[list[_Box]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in graph.nodes:
        layers[depth[name]].append(boxes[name])
    edges = []
    for parent, child in graph.edges:
        path = [boxes[parent]]
        for level in range(depth[parent] + 1, depth[child]):
            path.append(_Box("", 10, 0))
            layers[level].append(path[-1])
        path.append(boxes[child])
        for above, below in pairwise(path):
            above.down.append(below)
            below.up.append(above)
        edges.append(path)
    return boxes, layers, edges


def _width(text: str) -> float:
    """Guess how wide a text is: the fonts are the reader's."""
    return sum(9.2 if letter.isupper() else 7.2 for letter in text)


def _box(name: str, bars: Mapping[Label, float] | None) -> _Box:
    width = _width(name) + 2 * PAD
    shown = list(bars or {})[:MOST_VALUES]
    if shown:
        label = max(_width(str(value)) for value in shown)
        width = max(width, label + BAR + 38 + 2 * PAD)
    more = 1 if bars is not None and len(bars) > MOST_VALUES else 0
    return _Box(name, width, LINE * (1 + len(shown) + more) + PAD)


def _arrange(layers: Sequence[list[_Box]]) -> None:
    """Order every layer by the middle of its neighbours, down and up again, to uncross edges."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            place = {id(box): i for other in layers for i, box in enumerate(other)}

            def middle(box: _Box, place: dict[int, int] = place, down: bool = down) -> float:
                return fmean(place[id(n)] for n in (box.up if down else box.down) or [box])

            layer.sort(key=middle)
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _crossings(layers: Sequence[Sequence[_Box]]) -> int:
    """Count the pairs of edges that cross between neighbouring layers."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {id(box): i for i, box in enumerate(lower)}
        ends = [end for box in upper for end in sorted(place[id(n)] for n in box.down)]
        total += sum(a > b for a, b in combinations(ends, 2))
    return total


def _place(layers: Sequence[Sequence[_Box]]) -> float:
    """Place every box near its neighbours, none over another; give the height."""
    y = float(PAD)
    for layer in layers:
        tallest = max((box.height for box in layer), default=0.0)
        x = float(PAD)
        for box in layer:
            box.x, box.y = x + box.width / 2, y + tallest / 2
            box.layer_top, box.layer_bottom = y, y + tallest
            x += box.width + GAP
        y += tallest + LAYER_GAP
    for sweep in range(SWEEPS * 2):
        for layer in layers if sweep % 2 else layers[::-1]:
            _settle(layer, [fmean(n.x for n in [*b.up, *b.down] or [b]) for b in layer])
    left = min((box.x - box.width / 2 for layer in layers for box in layer), default=0.0)
    for layer in layers:
        for box in layer:
            box.x += PAD - left
    return y - LAYER_GAP + PAD


def _settle(layer: Sequence[_Box], wanted: Sequence[float]) -> None:
    """Move boxes towards where they want to be; the mean of pushing left and pushing right."""

    def apart(a: _Box, b: _Box) -> float:
        return (a.width + b.width) / 2 + (GAP if a.name and b.name else GAP / 2)

    right = list(wanted)
    for i in range(1, len(layer)):
        right[i] = max(right[i], right[i - 1] + apart(layer[i - 1], layer[i]))
    left = list(wanted)
    for i in range(len(layer) - 2, -1, -1):
        left[i] = min(left[i], left[i + 1] - apart(layer[i], layer[i + 1]))
    for box, a, b in zip(layer, left, right, strict=True):
        box.x = (a + b) / 2


def _curve(path: Sequence[_Box]) -> str:
    """Draw an edge: straight through the layers that it passes, bent only between them.

    So it never runs behind a box, however tall the boxes beside its way are.
    """
    first, last = path[0], path[-1]
    text = f"M{first.x:.1f} {first.y + first.height / 2:.1f}"
    for above, below in pairwise(path):
        y, to_y = above.layer_bottom, below.layer_top
        bend = (to_y - y) / 2
        text += f" L{above.x:.1f} {y:.1f}"
        text += f" C{above.x:.1f} {y + bend:.1f} {below.x:.1f} {to_y - bend:.1f}"
        text += f" {below.x:.1f} {to_y:.1f}"
    text += f" L{last.x:.1f} {last.y - last.height / 2:.1f}"
    return f'<path class="edge" marker-end="url(#tip)" d="{text}"/>'


def _node(box: _Box, bars: Mapping[Label, float], known: bool) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    kind = "node known" if known else "node"
    parts = [
        f'<g><rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="6"/>',
        f'<text class="name" x="{box.x:.1f}" y="{y + LINE:.1f}">{escape(box.name)}</text>',
    ]
    shown = list(bars.items())[:MOST_VALUES]
    end = x + box.width - PAD
    for i, (value, p) in enumerate(shown):
        line = y + LINE * (i + 2)
        rail = end - 36 - BAR
        parts += [
            f'<text x="{x + PAD:.1f}" y="{line:.1f}">{escape(str(value))}</text>',
            f'<rect class="rail" x="{rail:.1f}" y="{line - 9:.1f}" width="{BAR}" height="9"/>',
            f'<rect class="bar" x="{rail:.1f}" y="{line - 9:.1f}" width="{BAR * p:.1f}" '
            'height="9"/>',
            f'<text class="p" x="{end:.1f}" y="{line:.1f}">{p:.3f}</text>',
        ]
    if len(bars) > MOST_VALUES:
        line = y + LINE * (len(shown) + 2)
        parts.append(
            f'<text x="{x + PAD:.1f}" y="{line:.1f}">and {len(bars) - MOST_VALUES} more</text>'
        )
    return "".join(parts) + "</g>"
