"""The interchange format: what is written is read again; what is wrong is said with its line."""

import numpy as np
import pytest
from hypothesis import given

from priory import BeliefNetwork
from priory.base import errors

from .networks import EXAMPLES, example, random_networks


@pytest.mark.parametrize("name", ["asia", "alarm", "burglary"])
def test_examples_are_in_our_own_format(name):
    network = example(name)
    assert network.to_bif(name) == (EXAMPLES / f"{name}.bif").read_text("utf-8")


def test_the_examples_are_the_networks_of_the_literature():
    asia, alarm = example("asia"), example("alarm")
    assert (len(asia.nodes), len(asia.edges)) == (8, 8)
    assert (len(alarm.nodes), len(alarm.edges)) == (37, 46)
    assert sum(t.size // t.shape[-1] * (t.shape[-1] - 1) for t in alarm.tables.values()) == 509
    assert asia.p("lung", given="smoke") == pytest.approx(0.1)


@given(network=random_networks())
def test_what_is_written_is_read_again(network):
    again = BeliefNetwork.from_bif(network.to_bif())
    assert again.nodes == network.nodes
    assert again.values == network.values
    assert again.graph == network.graph
    for node in network.nodes:
        assert np.array_equal(again.tables[node], network.tables[node])


def test_types_and_odd_names_survive(tmp_path):
    network = BeliefNetwork(
        [("petal width", "is it?")],
        {"petal width": {1: 0.25, 2.5: 0.25, "a; b": 0.5}, "is it?": {1: 0.1, 2.5: 0.2, "a; b": 1}},
    )
    network.write_bif(tmp_path / "odd.bif")
    again = BeliefNetwork.read_bif(tmp_path / "odd.bif")
    assert (
        again.values == network.values == {"petal width": (1, 2.5, "a; b"), "is it?": (False, True)}
    )
    assert again.table("is it?") == network.table("is it?")
    strange = BeliefNetwork(
        {"network": ['a"b']},
        {'a"b': {1: 0.5, "1": 0.25, "[0, 1)": 0.25}, "network": [[0.5, 0.5]] * 3},
        values={"network": ["table", "ä\n}"]},
    )
    again = BeliefNetwork.from_bif(strange.to_bif("network"))
    assert again.values == strange.values
    assert again.edges == strange.edges
    with pytest.raises(errors.InputError, match="written alike"):
        BeliefNetwork(tables={"a b": 0.5, "a_b": 0.5}).to_bif()


HEAD = """// a comment
network test { property author = someone; /* { */ }
variable a { type discrete [ 2 ] { yes, no }; property x = 1 ; }
variable b { type discrete[3]{low,mid,high}; }
"""


def test_other_ways_to_write_it():
    network = BeliefNetwork.from_bif(
        HEAD
        + "probability(b|a) { default 0.2 0.3 0.5; (no) .1, .1, 8e-1; }\n"
        + "probability ( a ) { table 0.25 0.75; }"
    )
    assert network.table("b") == {
        ("yes",): {"low": 0.2, "mid": 0.3, "high": 0.5},
        ("no",): {"low": 0.1, "mid": 0.1, "high": 0.8},
    }
    listed = BeliefNetwork.from_bif(
        HEAD
        + "probability ( a ) { table 0.25, 0.75; }\n"
        + "probability ( b | a ) { table 0.2, 0.1, 0.3, 0.1, 0.5, 0.8; }"
    )
    assert listed.table("b") == network.table("b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no variable"),
        ("hello", "Line 1: expected network, variable or probability, not 'hello'"),
        (HEAD, "no probability of variable 'a', 'b'"),
        (HEAD + "probability ( a ) { table 0.25, 0.75;", "ends in the middle"),
        (HEAD + "probability ( c ) { }", "Line 5: there is no variable 'c' above"),
        (HEAD + "probability ( a ) { table 0.25; }", "Line 5: expected 2 numbers, found 1"),
        (HEAD + "probability ( a ) { table one, two; }", "expected a number, not 'one'"),
        (HEAD + "probability ( b | a ) { (maybe) 1, 0, 0; }", "'a' has no value 'maybe'"),
        (HEAD + "probability ( b | a ) { (yes, no) 1, 0, 0; }", "2 values for 1 parents"),
        (HEAD + "probability ( b | a ) { (yes) 1, 0, 0; }", r"no row for \{'a': 'no'\}"),
        (HEAD + "probability ( a ) { rows 1; }", "expected a row of 'a', not 'rows'"),
        (HEAD + "probability ( a ; ) { }", "expected | or"),
        (HEAD + "variable a { type discrete [ 1 ] { x }; }", "variable 'a' is given twice"),
        (HEAD + "variable c { type discrete [ 3 ] { x, y }; }", "3 values are announced, 2 are"),
        (HEAD + "variable c { type discrete [ 2 ] { x, x }; }", "a value is given twice"),
        (HEAD + "variable c { type continuous; }", "only discrete variables"),
        (HEAD + "variable c { }", "variable 'c' has no values"),
        (HEAD + "variable c { kind x; }", "expected type or property"),
        (
            HEAD + "probability ( a ) { table 0.5, 0.5; }" * 2,
            "the probability of 'a' is given twice",
        ),
        (
            HEAD + "probability ( a ) { table 0.5, 0.6; } probability ( b ) { table 1, 0, 0; }",
            r"The table of 'a' must add up to 1, but adds up to 1\.1",
        ),
        (
            HEAD
            + "probability ( a | b ) { default 0.5, 0.5; }"
            + "probability ( b | a ) { default 1, 0, 0; }",
            "cycle",
        ),
    ],
)
def test_errors_say_what_is_wrong_and_where(text, message):
    with pytest.raises((errors.InputError, errors.SettingError), match=message):
        BeliefNetwork.from_bif(text)


@pytest.mark.filterwarnings("ignore")  # those of the peer are its own
@pytest.mark.parametrize("name", ["asia", "alarm", "burglary"])
def test_a_peer_reads_what_is_written(name, tmp_path):
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    network = example(name)
    path = tmp_path / "written.bif"
    path.write_text(network.to_bif(), encoding="utf-8")
    peer = gum.loadBN(str(path))
    assert {(peer.variable(a).name(), peer.variable(b).name()) for a, b in peer.arcs()} == set(
        network.edges
    )
    engine = gum.LazyPropagation(peer)
    engine.makeInference()
    for node, found in network.marginals().items():  # it reads numbers in single precision
        assert list(found.values()) == pytest.approx(engine.posterior(node).tolist(), abs=1e-6)
