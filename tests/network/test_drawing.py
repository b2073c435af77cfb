"""Pictures: every node and edge is there, parents above children, no box over another."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
from hypothesis import given, settings

from priory import BeliefNetwork

from .networks import example, random_networks

SVG = "{http://www.w3.org/2000/svg}"


def boxes(text):
    root = ET.fromstring(text)
    found = {}
    for group in root.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        name = group.find(f"{SVG}text").text
        found[name] = tuple(float(rect.get(k)) for k in ("x", "y", "width", "height"))
    return found, root


@settings(max_examples=25)
@given(network=random_networks(most=6))
def test_a_picture_shows_the_graph(network):
    found, root = boxes(network.to_svg())
    assert set(found) == set(network.nodes)
    edges = [path for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]
    assert len(edges) == len(network.edges)
    for parent, child in network.edges:
        assert found[parent][1] + found[parent][3] < found[child][1]
    names = list(found)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            (x, y, w, h), (u, v, s, t) = found[a], found[b]
            assert x + w <= u + 0.2 or u + s <= x + 0.2 or y + h <= v + 0.2 or v + t <= y + 0.2
    width, height = (float(root.get(k)) for k in ("width", "height"))
    assert all(x >= 0 and y >= 0 and x + w <= width + 1 and y + h <= height + 1
               for x, y, w, h in found.values())  # fmt: skip


def test_edges_do_not_run_behind_boxes():
    """With bars, edges of the alarm network crossed the boxes of nodes that they pass."""
    network = example("alarm")
    found, root = boxes(network.to_svg(given={"HRBP": "HIGH"}))
    ends = {name: (x + w / 2, y, y + h) for name, (x, y, w, h) in found.items()}
    for path in root.iter(f"{SVG}path"):
        if path.get("class") != "edge":
            continue
        points = along(path.get("d"))
        for name, (x, y, w, h) in found.items():
            inside = [(a, b) for a, b in points if x + 1 < a < x + w - 1 and y + 1 < b < y + h - 1]
            assert not inside, (name, ends[name], path.get("d"))


def along(d):
    """List points along a path of M, L and C."""
    numbers = [float(n) for n in re.findall(r"-?[0-9.]+", d)]
    points, at, place = [], (numbers[0], numbers[1]), 2
    for kind in re.findall(r"[LC]", d):
        size = 2 if kind == "L" else 6
        values = numbers[place : place + size]
        place += size
        controls = [at, *zip(values[::2], values[1::2], strict=True)]
        for t in np.linspace(0, 1, 40):
            now = controls
            while len(now) > 1:
                now = [
                    (a * (1 - t) + c * t, b * (1 - t) + d * t) for (a, b), (c, d) in pairwise(now)
                ]
            points.append(now[0])
        at = controls[-1]
    return points


def test_large_networks_show_names_alone():
    text = example("alarm").to_svg()
    assert "CATECHOL" in text
    assert 'class="bar"' not in text
    found, root = boxes(text)
    assert len(found) == 37
    assert float(root.get("width")) < 1600


def test_what_is_known_is_marked():
    network = example("asia")
    text = network.to_svg(given={"smoke": "yes"})
    assert text.count("node known") == 1
    assert ">0.100<" in text  # P(lung | smoke)
    assert network._repr_svg_() == network.to_svg()


def test_names_are_escaped_and_an_unlearned_network_can_be_drawn():
    text = BeliefNetwork([("a<b", 'c"&d')]).to_svg()
    assert set(boxes(text)[0]) == {"a<b", 'c"&d'}
    many = BeliefNetwork(tables={"n": dict.fromkeys(range(20), 0.05)}).to_svg()
    assert "and 12 more" in many
