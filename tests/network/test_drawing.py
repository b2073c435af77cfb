"""Pictures: every node and edge is there, parents above children, no box over another."""

import xml.etree.ElementTree as ET

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
