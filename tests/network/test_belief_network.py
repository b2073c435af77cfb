"""Belief networks: exact answers against enumeration and a peer, learning against plain counts."""

import json
from math import exp, lgamma, log
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory import BeliefNetwork, Hypotheses, JointTable
from priory.base import errors
from priory.families.priors import Dirichlet, MEstimate, NormalInverseGamma
from priory.network import BDeu

from .networks import enumerate_joint, example, probability, random_networks

REFERENCE = json.loads((Path(__file__).parent / "posteriors.json").read_text("utf-8"))
"""Posteriors of every node under random evidence, worked out by pyAgrum 3.3.1."""


def alarm(**more):
    return BeliefNetwork(
        [
            ("Burglary", "Alarm"),
            ("Earthquake", "Alarm"),
            ("Alarm", "JohnCalls"),
            ("Alarm", "MaryCalls"),
        ],
        tables={
            "Burglary": 0.001,
            "Earthquake": 0.002,
            "Alarm": {
                (True, True): 0.95,
                (True, False): 0.94,
                (False, True): 0.29,
                (False, False): 0.001,
            },
            "JohnCalls": {True: 0.9, False: 0.05},
            "MaryCalls": {True: 0.7, False: 0.01},
        },
        **more,
    )


# Answers


def test_the_burglary_alarm():
    """P(Burglary | both call) = .284 (Russell and Norvig, 14.4)."""
    network = alarm()
    calls = {"JohnCalls": True, "MaryCalls": True}
    assert network.p("Burglary", given=calls) == pytest.approx(0.2841718353643929, abs=1e-15)
    text = "JohnCalls and MaryCalls and Alarm and not Burglary and not Earthquake"
    assert network.p(text) == pytest.approx(0.9 * 0.7 * 0.001 * 0.999 * 0.998, rel=1e-12)
    assert network.p("Burglary", given="Alarm and Earthquake") < network.p(
        "Burglary", given="Alarm"
    )
    for node, found in example("burglary").marginals(calls).items():
        assert found == pytest.approx(network.marginals(calls)[node])
    assert network.most_probable(calls) == {
        "Burglary": False,
        "Alarm": True,
        "Earthquake": False,
        **calls,
    }


@pytest.mark.parametrize("name", REFERENCE)
def test_posteriors_equal_those_of_a_peer(name):
    network = example(name)
    for case in REFERENCE[name]:
        evidence, expected = case["evidence"], case["posterior"]
        found = network.marginals(evidence)
        for node in network.nodes:
            assert found[node] == pytest.approx(expected[node], abs=1e-9), node
            by_sums = network.marginal(node, given=evidence).to_dict()
            assert by_sums == pytest.approx(expected[node], abs=1e-9), node
        assert network.p(evidence) == pytest.approx(case["p"], abs=1e-12)
        assert exp(network.log_p(evidence)) == pytest.approx(case["p"], rel=1e-9)


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_posteriors_equal_those_of_an_installed_peer(name):
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    network = example(name)
    peer = gum.BayesNet(name)
    for node in network.nodes:
        peer.add(gum.LabelizedVariable(node, node, list(network.values[node])))
    for parent, child in network.edges:
        peer.addArc(parent, child)
    for node in network.nodes:
        for place in np.ndindex(network.tables[node].shape):
            where = dict(zip((*network.parents(node), node), map(int, place), strict=True))
            peer.cpt(node)[where] = float(network.tables[node][place])
    rows = network.sample(20, random_state=5)
    rng = np.random.default_rng(6)
    for i in range(20):
        some = rng.choice(network.nodes, size=rng.integers(0, 6), replace=False)
        evidence = {node: rows[node][i] for node in some.tolist()}
        engine = gum.LazyPropagation(peer)
        engine.setEvidence({node: str(value) for node, value in evidence.items()})
        engine.makeInference()
        found = network.marginals(evidence)
        for node in network.nodes:
            expected = engine.posterior(node).tolist()
            assert list(found[node].values()) == pytest.approx(expected, abs=1e-9)


@given(network=random_networks(), data=st.data())
def test_answers_equal_enumeration(network, data):
    joint, nodes = enumerate_joint(network), network.nodes
    known = data.draw(st.sets(st.sampled_from(nodes), max_size=len(nodes)))
    evidence = {node: data.draw(st.sampled_from(network.values[node])) for node in sorted(known)}

    def holds(row):
        return all(row[node] == value for node, value in evidence.items())

    total = probability(joint, nodes, holds)
    assert network.p(evidence) == pytest.approx(total, rel=1e-9, abs=1e-300)
    found = network.marginals(evidence)
    for node in nodes:
        for value in network.values[node]:
            p = probability(joint, nodes, lambda r, n=node, v=value: holds(r) and r[n] == v) / total
            assert found[node][value] == pytest.approx(p, abs=1e-9)
            assert network.p({node: value}, given=evidence) == pytest.approx(p, abs=1e-9)
    table = network.marginal(nodes, given=evidence)
    for cell, p in table.to_dict().items():
        cell = cell if isinstance(cell, tuple) else (cell,)
        row = dict(zip(nodes, cell, strict=True))
        assert p == pytest.approx(joint[cell] / total if holds(row) else 0.0, abs=1e-9)
    best = max(p for cell, p in joint.items() if holds(dict(zip(nodes, cell, strict=True))))
    found_best = network.most_probable(evidence)
    assert holds(found_best)
    assert joint[tuple(found_best.values())] == pytest.approx(best, rel=1e-9)


@given(network=random_networks(most=4), data=st.data())
def test_expressions_mean_the_same_as_in_the_joint_table(network, data):
    table = JointTable.from_network(network)
    atoms = [f"{n} == {v!r}" for n in network.nodes for v in network.values[n]]
    pick = st.sampled_from(atoms)
    a, b, c = data.draw(pick), data.draw(pick), data.draw(pick)
    for event in (a, f"{a} or {b}", f"not ({a} and {b})"):
        for known in (None, c, f"{c} or {b}", f"{c} and not ({a} and {b})"):
            try:
                expected = table.p(event, given=known)
            except errors.ZeroProbabilityError:
                with pytest.raises(errors.ZeroProbabilityError):
                    network.p(event, given=known)
                continue
            assert network.p(event, given=known) == pytest.approx(expected, abs=1e-9)
    known = f"{c} or {b}"
    node = network.nodes[0]
    expected = table.condition(known).marginal(node).to_dict()
    found = network.marginal(node, given=known).to_dict()
    assert {v: p for v, p in found.items() if p > 0} == pytest.approx(expected, abs=1e-9)
    assert network.marginals(known)[node] == pytest.approx(found)


def test_d_separated_variables_are_independent():
    network = example("asia")
    table = JointTable.from_network(network)
    for given_ in ([], ["bronc"], ["either"], ["smoke", "either"]):
        for a in network.nodes:
            for b in network.nodes:
                if a < b and not {a, b} & set(given_) and network.d_separated(a, b, given_):
                    assert table.independent(a, b, given=given_ or None)
    assert network.markov_blanket("either") == {"lung", "tub", "xray", "dysp", "bronc"}
    assert network.parents("either") == ("lung", "tub")
    assert network.children("either") == ("xray", "dysp")
    with pytest.raises(errors.SettingError, match="'tub' is on both sides"):
        network.d_separated("tub", ["tub", "lung"])
    with pytest.raises(errors.SettingError, match=r"no node 'tubb'.*Did you mean 'tub'"):
        network.markov_blanket("tubb")


def test_impossible_evidence_is_said_so():
    network = example("asia")
    for ask in (network.marginals, network.most_probable, network.log_p):
        with pytest.raises(errors.ZeroProbabilityError, match="has probability 0 in this network"):
            ask({"tub": "yes", "either": "no"})
    with pytest.raises(errors.ZeroProbabilityError, match="tub and not either"):
        network.p("lung", given="tub and not either")
    with pytest.raises(errors.ZeroProbabilityError):
        network.p("lung", given="(tub or lung) and not either")
    with pytest.raises(errors.ZeroProbabilityError):
        network.sample(3, given="tub and not either")
    assert network.p("tub", given="not either") == 0.0
    assert network.p("tub and not either") == 0.0


def test_too_large_answers_are_refused_beforehand():
    network = BeliefNetwork([("c", f"x{i}") for i in range(40)], nodes=["c"])
    rng = np.random.default_rng(0)
    network.update({name: rng.integers(0, 2, 50) for name in network.nodes})
    with pytest.raises(errors.TooLargeError, match=r"would be 1,099,511,627,776 cells"):
        network.marginal([f"x{i}" for i in range(40)])
    network.most_numbers = 2**4
    with pytest.raises(errors.TooLargeError, match="are the most"):
        network.marginal([f"x{i}" for i in range(5)])
    network.most_numbers = 2**6  # five of them and their parent
    assert len(network.marginal([f"x{i}" for i in range(5)])) == 32
    knot = BeliefNetwork([(f"x{i}", f"x{j}") for j in range(8) for i in range(j)], most_numbers=100)
    knot.update({name: rng.integers(0, 2, 50) for name in knot.nodes})
    with pytest.raises(errors.TooLargeError, match="256 numbers"):
        knot.most_probable()


def test_many_small_probabilities_do_not_vanish():
    names = [f"x{i}" for i in range(3000)]
    tables = {"c": 0.5} | {name: {True: 0.3, False: 0.6} for name in names}
    network = BeliefNetwork([("c", name) for name in names], tables)
    row = {name: [True] for name in names}
    one, two = 3000 * log(0.3) + log(0.5), 3000 * log(0.6) + log(0.5)
    expected = np.logaddexp(one, two)
    assert network.score_samples(row)[0] == pytest.approx(expected)
    assert network.log_p({name: True for name in names}) == pytest.approx(expected)
    few = {name: True for name in names[:20]}
    assert network.p("c", given=few) == pytest.approx(1 / (1 + 2**20))


def test_samples_are_exact():
    network = example("asia")
    drawn = JointTable.from_data(network.sample(40_000, random_state=0))
    truth = JointTable.from_network(network)
    for text in ("smoke", "lung", "dysp and not xray", "either or bronc"):
        assert drawn.p(text) == pytest.approx(truth.p(text), abs=0.01)
    evidence = {"asia": "yes", "xray": "yes", "dysp": "no"}  # one row in two thousand
    rows = network.sample(20_000, given=evidence, random_state=1)
    assert all(set(rows[node]) == {value} for node, value in evidence.items())
    drawn = JointTable.from_data(rows)
    for node in ("tub", "lung", "smoke", "bronc"):
        assert drawn.p(node) == pytest.approx(network.p(node, given=evidence), abs=0.015)
    text = "lung and smoke"
    assert drawn.p(text) == pytest.approx(network.p(text, given=evidence), abs=0.015)
    same = network.sample(5, given=evidence, random_state=3)
    again = network.sample(5, given=evidence, random_state=3)
    assert all(same[node].tolist() == again[node].tolist() for node in network.nodes)
    drawn = JointTable.from_data(network.sample(20_000, given="tub or lung", random_state=4))
    assert drawn.p("tub or lung") == pytest.approx(1.0)
    assert drawn.p("smoke") == pytest.approx(network.p("smoke", given="tub or lung"), abs=0.015)
    with pytest.raises(errors.SettingError, match="n must be an integer"):
        network.sample(1.5)


# Tables


def test_ways_to_give_tables():
    rows = {("a",): {"x": 0.1, "y": 0.9}, ("b",): {"x": 0.4, "y": 0.6}}
    one = BeliefNetwork([("u", "v")], {"u": {"a": 0.3, "b": 0.7}, "v": rows})
    plain = {"a": [0.1, 0.9], "b": [0.4, 0.6]}
    values = {"u": ["a", "b"], "v": ["x", "y"]}
    two = BeliefNetwork([("u", "v")], {"u": [0.3, 0.7], "v": plain}, values=values)
    arrays = {"u": np.array([0.3, 0.7]), "v": np.array([[0.1, 0.9], [0.4, 0.6]])}
    three = BeliefNetwork([("u", "v")], arrays, values=values)
    for network in (one, two, three):
        assert network.table("v") == rows
        assert network.table("u") == {"a": 0.3, "b": 0.7}
    assert BeliefNetwork({"v": ["u"], "u": []}, arrays).values == {"v": (0, 1), "u": (0, 1)}
    alone = BeliefNetwork(tables={"a": 0.2, "b": {"x": 0.5, "y": 0.5}})
    assert alone.nodes == ("a", "b")
    assert repr(alone) == "node  parents  values\na     –        False, True\nb     –        x, y"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"u": 0.5}, "a table for every node; 'v' has none"),
        ({"u": 0.5, "v": {True: 0.5}}, r"no row for \{'u': False\}"),
        ({"u": 0.5, "v": {True: [0.5, 0.6], False: 0.5}}, r"row of \{'u': True\}.*adds up to 1\.1"),
        ({"u": {"a": 0.5, "b": 0.4}, "v": {"a": 0.5, "b": 0.5}}, r"'u' must add up to 1.*0\.9"),
        ({"u": 1.5, "v": {True: 0.5, False: 0.5}}, r"holds -0\.5, which is not a probability"),
        ({"u": 0.5, "v": {True: 0.5, "x": 0.5}}, "'u' has no value 'x'"),
        ({"u": 0.5, "v": {(True, 1): 0.5}}, r"is for \(True, 1\); its parents are 'u'"),
        ({"u": 0.5, "v": 0.5}, "a row for each combination of 'u'"),
        ({"u": 0.5, "v": np.ones((3, 2)) / 2}, r"shape \(2, 2\), of 'u', 'v', not \(3, 2\)"),
        ({"u": 0.5, "v": {True: [0.5, 0.5], False: [1.0]}}, "must have 2 probabilities"),
        ({"u": "often", "v": {True: 0.5, False: 0.5}}, "names no values"),
        ({"u": ["often", "not"], "v": [[1.0], [1.0]]}, "must hold numbers"),
    ],
)
def test_wrong_tables_are_refused(tables, message):
    with pytest.raises((errors.InputError, errors.SettingError), match=message):
        BeliefNetwork([("u", "v")], tables)


def test_wrong_settings_are_refused():
    with pytest.raises(errors.SettingError, match="no node 'w'"):
        BeliefNetwork([("u", "v")], values={"w": [1]})
    with pytest.raises(errors.SettingError, match="no node 'w'"):
        BeliefNetwork([("u", "v")], smoothing={"w": 1.0})
    with pytest.raises(errors.SettingError, match="a prior over values"):
        BeliefNetwork([("u", "v")], smoothing=NormalInverseGamma())
    with pytest.raises(errors.SettingError, match="must be a number of at least 0 or a prior"):
        BeliefNetwork([("u", "v")], smoothing="much")
    with pytest.raises(errors.SettingError, match="most_numbers"):
        BeliefNetwork([("u", "v")], most_numbers=0)
    with pytest.raises(errors.SettingError, match="ess must be a finite number above 0"):
        BDeu(0)
    with pytest.raises(errors.NotFittedError, match="no tables yet"):
        BeliefNetwork([("u", "v")]).p("u")
    with pytest.raises(errors.NotFittedError, match="learned no rows"):
        alarm().log_evidence()
    with pytest.raises(errors.SettingError, match="tables of this network were given"):
        alarm().update({"a": [1]})


# Learning

ROWS = {
    "rain": [True, True, False, False, False, True],
    "hose": ["on", "off", "off", "on", "off", "off"],
    "wet": ["yes", "yes", "no", "yes", "no", "no"],
}
EDGES = [("rain", "wet"), ("hose", "wet")]


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda c: pd.DataFrame(c).astype("category"),
    ],
)
def test_learning_is_counting(make):
    network = BeliefNetwork(EDGES, smoothing=0).update(make(ROWS))
    assert network.table("wet") == {
        (False, "off"): {"no": 1.0, "yes": 0.0},
        (False, "on"): {"no": 0.0, "yes": 1.0},
        (True, "off"): {"no": 0.5, "yes": 0.5},
        (True, "on"): {"no": 0.0, "yes": 1.0},
    }
    assert network.table("hose") == pytest.approx({"off": 2 / 3, "on": 1 / 3})
    assert network.n_rows == 6


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        (1.0, (1 + 1) / (2 + 2)),
        (0.5, (0 + 1 + 0.5) / (2 + 1)),
        (MEstimate(4), (1 + 2) / (2 + 4)),
        (Dirichlet({"yes": 3, "no": 1}), (1 + 3) / (2 + 4)),
        (BDeu(8), (1 + 8 / 8) / (2 + 8 / 4)),
    ],
)
def test_any_prior(smoothing, expected):
    network = BeliefNetwork(EDGES, smoothing={"wet": smoothing}).update(ROWS)
    assert network.table("wet")[(True, "off")]["yes"] == pytest.approx(expected)
    changed = BeliefNetwork(EDGES).update(ROWS).change_smoothing({"wet": smoothing})
    assert np.array_equal(changed.tables["wet"], network.tables["wet"])
    wider = (
        BeliefNetwork(EDGES)
        .update(ROWS)
        .change_smoothing({"wet": Dirichlet({"yes": 1, "no": 1, "damp": 2})})
    )
    assert wider.table("wet")[(True, "off")] == pytest.approx(
        {"damp": 2 / 6, "no": 2 / 6, "yes": 2 / 6}
    )


def test_what_was_never_seen_takes_the_shares_of_all():
    network = BeliefNetwork([("a", "b")], smoothing=0, values={"a": [0, 1, 2]})
    network.update({"a": [0, 0, 1], "b": ["x", "y", "y"]})
    assert network.table("b")[(2,)] == pytest.approx({"x": 1 / 3, "y": 2 / 3})


def frames(seed, n=200):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 3, n).astype(object) for name in "abcd"}
    for column in columns.values():
        column[rng.random(n) < 0.1] = None
    return pd.DataFrame(columns)


EDGES_4 = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), cut=st.integers(1, 199), weighted=st.booleans())
def test_pieces_merging_and_forgetting_agree(seed, cut, weighted):
    frame = frames(seed)
    w = np.random.default_rng(seed).integers(0, 4, 200).astype(float) if weighted else np.ones(200)
    w[[0, 199]] = 1.0

    def learned(start, stop):
        return BeliefNetwork(EDGES_4).update(frame[start:stop], sample_weight=w[start:stop])

    whole, first, second = learned(0, 200), learned(0, cut), learned(cut, 200)
    in_turn = learned(0, cut).update(frame[cut:], sample_weight=w[cut:])
    rest = learned(0, 200).forget(frame[cut:], sample_weight=w[cut:])
    for one, two in [(whole, first + second), (whole, second + first), (whole, in_turn)]:
        assert one._counts.domains == two._counts.domains
        assert one.n_rows == two.n_rows
        for node in "abcd":
            assert np.array_equal(one._counts.tables[node], two._counts.tables[node])
    assert rest._counts.domains == first._counts.domains
    for node in "abcd":
        assert np.array_equal(rest._counts.tables[node], first._counts.tables[node])
    nothing = learned(0, 200).forget(frame, sample_weight=w)
    with pytest.raises(errors.NotFittedError, match="forgotten every row"):
        nothing.p("a == 1")


@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_counts_equal_those_of_pandas(seed):
    frame = frames(seed)
    network = BeliefNetwork(EDGES_4, smoothing=0).update(frame)
    whole = frame[["b", "c", "d"]].dropna().astype(int)
    for values, rows in whole.groupby(["b", "c"]):
        found = network._counts.tables["d"][values]
        assert found.tolist() == [(rows["d"] == v).sum() for v in range(3)]


def test_only_what_was_learned_can_be_forgotten():
    network = BeliefNetwork(EDGES).update(ROWS)
    with pytest.raises(errors.ForgetError, match=r"Node 'hose': value 'half' was never learned"):
        network.forget({"rain": [True], "hose": ["half"], "wet": ["yes"]})
    with pytest.raises(errors.ForgetError, match="more rows would be forgotten than were learned"):
        network.forget({"rain": [False], "hose": ["off"], "wet": ["yes"]})
    assert network.n_rows == 6
    with pytest.raises(errors.SettingError, match="same nodes and parents"):
        network.merge(BeliefNetwork([("a", "b")]).update({"a": [1], "b": [1]}))
    with pytest.raises(errors.SettingError, match="merges with another one"):
        network.merge(3)


def test_wrong_data_are_refused():
    network = BeliefNetwork(EDGES)
    with pytest.raises(errors.InputError, match=r"Column 'wet' was not found"):
        network.update({"rain": [True], "hose": ["on"]})
    empty = BeliefNetwork(EDGES).update({**ROWS, "wet": [None] * 6})
    with pytest.raises(errors.NotFittedError, match=r"'wet' has held only missing values.*values="):
        empty.p("rain")
    assert empty.update(ROWS).table("rain") == {False: 0.5, True: 0.5}
    empty = BeliefNetwork(EDGES).update({**ROWS, "wet": [None] * 6}, missing="em")
    with pytest.raises(errors.NotFittedError, match=r"'wet' has held only missing values"):
        empty.p("rain")
    with pytest.raises(errors.SettingError, match="missing must be 'skip' or 'em'"):
        network.update(ROWS, missing="drop")
    with pytest.raises(errors.InputError, match="no rows to learn from"):
        network.update(ROWS, sample_weight=0.0)
    network.update(ROWS)
    with pytest.raises(errors.InputError, match=r"'hoze' is not a node.*Did you mean 'hose'"):
        network.score_samples({"hoze": ["on"]})
    with pytest.raises(errors.InputError, match=r"'hose' holds 'half', which is not one"):
        network.score_samples({"hose": ["half"]})
    rng = np.random.default_rng(0)
    wide = BeliefNetwork([("a", "d"), ("b", "d"), ("c", "d")])
    with pytest.raises(errors.TooLargeError, match=r"table of 'd' and its parents would have"):
        wide.update({name: rng.integers(0, 1000, 3000) for name in "abcd"})


@given(network=random_networks(most=5), seed=st.integers(0, 100))
def test_rows_with_gaps_are_summed_out(network, seed):
    rng = np.random.default_rng(seed)
    rows = {k: v.astype(object) for k, v in network.sample(12, random_state=seed).items()}
    for column in rows.values():
        column[rng.random(12) < 0.4] = None
    found = network.score_samples(rows)
    for i in range(12):
        known = {node: column[i] for node, column in rows.items() if column[i] is not None}
        assert found[i] == pytest.approx(network.log_p(known), abs=1e-9)
    some = {node: column for node, column in rows.items() if node != network.nodes[0]}
    if some:
        without = network.score_samples(some)
        known = {node: column[0] for node, column in some.items() if column[0] is not None}
        assert without[0] == pytest.approx(network.log_p(known), abs=1e-9)
    assert network.log_likelihood(rows) == pytest.approx(found.sum())


def test_em_is_the_textbook_algorithm():
    """A → b with gaps in both, against the same steps written out."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300).astype(object)
    b = np.where(rng.random(300) < 0.8, a, 1 - a)
    a[rng.random(300) < 0.3], b[rng.random(300) < 0.3] = None, None
    network = BeliefNetwork([("a", "b")], smoothing=1.0, values={"a": [0, 1], "b": [0, 1]})
    network.update({"a": a, "b": b}, missing="em", tolerance=0.0, max_iter=200)
    both = [(x, y) for x, y in zip(a, b, strict=True)]
    n_a = np.bincount([x for x, _ in both if x is not None], minlength=2)
    n_ab = np.zeros((2, 2))
    for x, y in both:
        if x is not None and y is not None:
            n_ab[x, y] += 1
    for _ in range(200):
        p_a = (n_a + 1) / (n_a.sum() + 2)
        p_b = (n_ab + 1) / (n_ab.sum(axis=1, keepdims=True) + 2)
        n_a, n_ab = np.zeros(2), np.zeros((2, 2))
        for x, y in both:
            joint = p_a[:, None] * p_b
            if x is not None:
                joint = joint * (np.arange(2) == x)[:, None]
            if y is not None:
                joint = joint * (np.arange(2) == y)
            joint = joint / joint.sum()
            n_a, n_ab = n_a + joint.sum(axis=1), n_ab + joint
    assert network.tables["a"] == pytest.approx(p_a, abs=1e-6)
    assert network.tables["b"] == pytest.approx(p_b, abs=1e-6)


def test_em_does_not_make_the_rows_less_likely():
    network = example("asia")
    rows = pd.DataFrame(network.sample(2000, random_state=0)).astype(object)
    rng = np.random.default_rng(1)
    rows = rows.mask(rng.random(rows.shape) < 0.2)
    values = {node: network.values[node] for node in network.nodes}
    skipped = BeliefNetwork(network.edges, nodes=network.nodes, values=values, smoothing=0.01)
    filled = BeliefNetwork(network.edges, nodes=network.nodes, values=values, smoothing=0.01)
    skipped.update(rows)
    filled.update(rows, missing="em", max_iter=20)
    assert filled.log_likelihood(rows) > skipped.log_likelihood(rows)
    total = sum(filled._counts.tables["dysp"].ravel())
    assert total == pytest.approx(2000)  # every row counts for every node
    weighted = BeliefNetwork(network.edges, nodes=network.nodes, values=values, smoothing=0.01)
    with pytest.warns(errors.NotConvergedWarning, match="max_iter=3"):
        weighted.update(rows, sample_weight=np.full(2000, 2.0), missing="em", max_iter=3)
    assert sum(weighted._counts.tables["dysp"].ravel()) == pytest.approx(4000)


# Evidence


def test_the_evidence_is_the_product_of_forecasts():
    """P(D) = Π P(row | rows before), each forecast by the smoothed shares so far."""
    frame = pd.DataFrame(ROWS)
    values = {"rain": [False, True], "hose": ["off", "on"], "wet": ["no", "yes"]}
    network = BeliefNetwork(EDGES, values=values).update(frame)
    expected = 3 * log(0.5)
    for i in range(1, 6):
        before = BeliefNetwork(EDGES, values=values).update(frame[:i])
        expected += before.score_samples(frame[i : i + 1])[0]
    assert network.log_evidence() == pytest.approx(expected)
    # and in closed form, for one node: Γ(2)/Γ(8) · Γ(1 + 4)/Γ(1) · Γ(1 + 2)/Γ(1)
    alone = BeliefNetwork(nodes=["hose"]).update({"hose": ROWS["hose"]})
    assert alone.log_evidence() == pytest.approx(lgamma(2) - lgamma(8) + lgamma(5) + lgamma(3))


def test_bdeu_treats_equivalent_structures_alike():
    frame = frames(3).dropna()
    chain = BeliefNetwork([("a", "b"), ("b", "c")]).update(frame[["a", "b", "c"]])
    fork = BeliefNetwork([("b", "a"), ("b", "c")]).update(frame[["a", "b", "c"]])
    assert chain.log_evidence(BDeu(5)) == pytest.approx(fork.log_evidence(BDeu(5)))
    assert chain.log_evidence() != pytest.approx(fork.log_evidence())
    with pytest.raises(errors.SettingError, match="needs a prior with a pseudo-count above 0"):
        chain.log_evidence(0.0)


def test_structures_are_hypotheses():
    rows = pd.DataFrame(example("asia").sample(2000, random_state=0))[["smoke", "lung", "bronc"]]
    rivals = {
        "apart": BeliefNetwork(nodes=["smoke", "lung", "bronc"]),
        "fork": BeliefNetwork([("smoke", "lung"), ("smoke", "bronc")]),
        "full": BeliefNetwork([("smoke", "lung"), ("smoke", "bronc"), ("lung", "bronc")]),
    }
    values = {name: ["no", "yes"] for name in rows}
    rivals = {
        name: BeliefNetwork(n.edges, nodes=n.nodes, values=values, smoothing=BDeu(4))
        for name, n in rivals.items()
    }
    before = Hypotheses(rivals, learning=True)
    after = before.update(rows)
    assert after.map == "fork"
    expected = BeliefNetwork(rivals["fork"].edges, values=values, smoothing=BDeu(4)).update(rows)
    assert after.log_likelihood["fork"] == pytest.approx(expected.log_evidence())
    halves = before.update(rows[:700]).update(rows[700:])
    assert halves.log_likelihood == pytest.approx(after.log_likelihood)
    assert rivals["fork"].n_rows == 0  # the networks given were left as they are
    fitted = Hypotheses({"it": expected}).update(rows[:5])
    assert fitted.log_likelihood["it"] == pytest.approx(expected.log_likelihood(rows[:5]))


def test_values_can_be_declared_later():
    rows = {"a": [1, 0, 1], "b": ["x", "x", "z"]}
    later = BeliefNetwork([("a", "b")]).update(rows).declare({"b": ["y", "x"]})
    first = BeliefNetwork([("a", "b")], values={"b": ["y", "x"]}).update(rows)
    assert later.values == first.values
    assert later.table("b") == first.table("b")
    assert (
        BeliefNetwork([("a", "b")]).declare({"b": ["y", "x"]}).update(rows).values == first.values
    )
    with pytest.raises(errors.SettingError, match="There is no node 'c'"):
        later.declare({"c": [1]})
    with pytest.raises(errors.SettingError, match="holds a value twice"):
        later.declare({"b": ["w", "w"]})
    assert later.values == first.values
