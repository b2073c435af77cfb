"""Graphs: order, cycles, separation against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.errors import SettingError
from priory.base.graph import Graph


@st.composite
def graphs(draw, most=8):
    n = draw(st.integers(2, most))
    names = [f"n{i}" for i in draw(st.permutations(range(n)))]
    pairs = [(a, b) for i, b in enumerate(names) for a in names[:i]]
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return Graph.of([e for e, yes in zip(pairs, chosen, strict=True) if yes], sorted(names))


@given(graph=graphs(), data=st.data())
def test_d_separation_agrees_with_networkx(graph, data):
    names = list(graph.nodes)
    other = nx.DiGraph(graph.edges)
    other.add_nodes_from(names)
    a, b = data.draw(st.permutations(names))[:2]
    rest = [name for name in names if name not in (a, b)]
    given = data.draw(st.sets(st.sampled_from(rest)) if rest else st.just(set()))
    assert graph.d_separated({a}, {b}, given) == nx.is_d_separator(other, {a}, {b}, given)


@given(graph=graphs())
def test_the_blanket_separates_from_all_the_rest(graph):
    for name in graph.nodes:
        blanket = graph.markov_blanket(name)
        rest = set(graph.nodes) - blanket - {name}
        assert not rest or graph.d_separated({name}, rest, blanket)


@given(graph=graphs())
def test_parents_come_first(graph):
    place = {name: i for i, name in enumerate(graph.order)}
    assert all(place[parent] < place[child] for parent, child in graph.edges)
    assert graph.equivalent(graph)


def test_equivalence():
    chain = Graph.of([("a", "b"), ("b", "c")])
    fork = Graph.of([("b", "a"), ("b", "c")])
    collider = Graph.of([("a", "b"), ("c", "b")])
    assert chain.equivalent(fork)
    assert not chain.equivalent(collider)
    assert collider.v_structures == {(frozenset("ac"), "b")}


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], (), r"cycle '.' → '.' → '.' → '.'"),
        ([("a", "a")], (), "'a' cannot be its own parent"),
        ([("a", "b"), ("a", "b")], (), "'a' → 'b' is given twice"),
        (["ab"], (), r"a pair \(parent, child\), not 'ab'"),
        ([("a", "b", "c")], (), "a pair"),
        ([("a", 1)], (), "must be a string, not 1"),
        ([], "ab", "nodes must be a sequence"),
    ],
)
def test_wrong_edges_are_refused(edges, nodes, message):
    with pytest.raises(SettingError, match=message):
        Graph.of(edges, nodes)


def test_a_cycle_is_named():
    with pytest.raises(SettingError, match=r"'b' → 'c' → 'b'|'c' → 'b' → 'c'"):
        Graph.of([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])


def test_a_large_graph_is_quick():
    rng = np.random.default_rng(0)
    edges = {(f"{rng.integers(i)}", f"{i}") for i in range(1, 3000)}
    graph = Graph.of(sorted(edges))
    assert len(graph.order) == 3000
