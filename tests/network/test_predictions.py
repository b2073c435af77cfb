"""What a network says of one node, row by row: against enumeration, peers, and naive Bayes."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory import BeliefNetwork, NaiveBayes
from priory.base.errors import (
    ImpossibleEvidenceWarning,
    InputError,
    NotFittedError,
    SettingError,
    TooLargeError,
)
from priory.network import BDeu

from .networks import enumerate_joint, example, probability, random_networks

REFERENCE = json.loads((Path(__file__).parent / "posteriors.json").read_text("utf-8"))


def dependent(n=400, seed=0, gaps=0.0):
    """Return a table in which columns depend on each other and on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    b = np.where(rng.random(n) < 0.7, (a + y) % 3, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.5, b, rng.integers(0, 4, n))
    table = pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.integers(0, 2, n)}).astype(object)
    table = table.map(lambda v: "pqrs"[v]).mask(rng.random((n, 4)) < gaps, None)
    return table, pd.Series(np.array(["x", "y", "z"])[y], name="kind")


def naive(columns, target="kind"):
    return [(target, name) for name in columns]


def learned(X, y, edges, **options):
    """Return a network that has learned a table; a class without parents has its share of it."""
    options = {"smoothing": {"kind": 0.0}, **options}
    return BeliefNetwork(edges, **options).update(X.assign(kind=y))


@given(network=random_networks(zeros=False), data=st.data())
def test_answers_equal_enumeration(network, data):
    target = data.draw(st.sampled_from(network.nodes))
    others = [name for name in network.nodes if name != target]
    rows = [
        {name: data.draw(st.sampled_from([None, None, *network.values[name]])) for name in others}
        for _ in range(data.draw(st.integers(1, 5)))
    ]
    if not others:
        return
    found = network.predict_proba(pd.DataFrame(rows, columns=others, dtype=object), target)
    joint = enumerate_joint(network)
    for row, p in zip(rows, found, strict=True):
        known = {name: value for name, value in row.items() if value is not None}

        def holds(cell, value=None, known=known):
            return all(cell[name] == v for name, v in known.items()) and (
                value is None or cell[target] == value[0]
            )

        total = probability(joint, network.nodes, holds)
        expected = [
            probability(joint, network.nodes, lambda cell, v=v: holds(cell, [v])) / total
            for v in network.values[target]
        ]
        np.testing.assert_allclose(p, expected, atol=1e-12)
        assert network.score_samples([row])[0] == pytest.approx(np.log(total), abs=1e-9)


@pytest.mark.parametrize("name", REFERENCE)
def test_answers_equal_those_of_a_peer(name):
    network = example(name)
    for case in REFERENCE[name]:
        row = {node: [value] for node, value in case["evidence"].items()}
        for target in network.nodes:
            if target in row or not row:
                continue
            p = network.predict_proba(row, target)[0]
            found = dict(zip(network.values[target], p, strict=True))
            assert found == pytest.approx(case["posterior"][target], abs=1e-9)


@pytest.mark.parametrize("target", ["HYPOVOLEMIA", "CATECHOL", "HRBP"])
def test_many_rows_equal_one_question_each(target):
    network = example("alarm")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(network.sample(60, random_state=1)).drop(columns=target)
    rows = rows.astype(object).mask(rng.random(rows.shape) < 0.5, None)
    found = network.predict_proba(rows, target)
    best = network.predict(rows, target)
    for i in range(len(rows)):
        known = {k: v for k, v in rows.iloc[i].items() if v is not None}
        expected = network.marginal(target, given=known).to_dict()
        assert dict(zip(network.values[target], found[i], strict=True)) == pytest.approx(
            expected, abs=1e-12
        )
        assert expected[best[i]] == pytest.approx(max(expected.values()))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_a_naive_network_is_naive_bayes(gaps):
    X, y = dependent(gaps=gaps)
    network = learned(X, y, naive(X))
    model = NaiveBayes.textbook(1).fit(X, y)
    np.testing.assert_allclose(network.predict_proba(X, "kind"), model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(network.score_samples(X), model.score_samples(X), atol=1e-12)
    np.testing.assert_array_equal(network.predict(X, "kind"), model.predict(X))


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_a_naive_network_is_the_textbook(data):
    n = data.draw(st.integers(2, 8))
    kinds = [["p", "q", "r", None], [True, False, None], [0, 1, 2, None], [1, None]]
    X = {}
    for j, kind in enumerate(kinds):
        half = data.draw(st.lists(st.sampled_from(kind), min_size=n, max_size=n))
        if half != [None] * n:  # a column that holds nothing has no table
            X[f"c{j}"] = half + half  # whole numbers repeat, as codes do
    if not X:
        return
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=2 * n, max_size=2 * n))
    alpha = data.draw(st.sampled_from([0.3, 1, 2.5]))
    smoothing = {**dict.fromkeys(X, alpha), "kind": 0.0}
    network = BeliefNetwork(naive(X), smoothing=smoothing).update({**X, "kind": y})
    model = NaiveBayes.textbook(alpha).fit(X, y)
    new = {"c0": ["p", "z", None], "c1": [True, None, False], "c2": [1, 7, 2], "c3": [1, 2, None]}
    for rows in X, {name: column for name, column in new.items() if name in X}:
        np.testing.assert_allclose(
            network.predict_proba(rows, "kind"), model.predict_proba(rows), atol=1e-12
        )


def test_a_class_that_is_smoothed_by_name():
    X, y = pd.DataFrame({"a": ["p", "q", "p"]}), ["x", "x", "y"]
    for smoothing, expected in (
        ({"kind": 1.0}, [3 / 5, 2 / 5]),
        ({"kind": 0.0}, [2 / 3, 1 / 3]),
        (BDeu(2.0), [3 / 5, 2 / 5]),
    ):
        network = learned(X, y, naive(X), smoothing=smoothing)
        np.testing.assert_allclose(network.predict_proba({"a": [None]}, "kind"), [expected])


def test_parents_of_the_target():
    X, y = dependent()
    network = learned(X, y, [("a", "kind"), ("b", "kind"), ("kind", "c"), ("a", "b")])
    rows = X[["a", "b", "c"]].head(50).astype(object)
    rows.iloc[::3, 0] = None
    rows.iloc[::4, 1] = None
    expected = [
        network.marginal("kind", given=row.dropna().to_dict()).to_dict().values()
        for _, row in rows.iterrows()
    ]
    found = network.predict_proba(rows, "kind")
    np.testing.assert_allclose(found, [[*e] for e in expected], atol=1e-12)


def test_unseen_values_and_absent_columns_are_gaps():
    X, y = dependent()
    network = learned(X, y, [*naive(X), ("a", "b")])
    odd, gap = X.head(5).assign(b="never seen"), X.head(5).assign(b=None)
    expected = network.predict_proba(gap, "kind")
    np.testing.assert_array_equal(network.predict_proba(odd, "kind"), expected)
    absent = X.head(5).drop(columns="b")
    np.testing.assert_array_equal(network.predict_proba(absent, "kind"), expected)
    told = gap.assign(kind=y.head(5))
    np.testing.assert_array_equal(network.predict_proba(told, "kind"), expected)


def test_impossible_rows_get_the_marginal():
    rows = pd.DataFrame({"a": ["p", "q"], "b": ["p", "q"]})
    network = learned(rows, ["x", "y"], naive(rows), smoothing=0.0)
    with pytest.warns(ImpossibleEvidenceWarning, match="1 row is impossible in this network"):
        p = network.predict_proba({"a": ["p", "p"], "b": ["q", "p"]}, "kind")
    assert p.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    with pytest.warns(ImpossibleEvidenceWarning, match="impossible"):
        assert network.predict({"a": ["p"], "b": ["q"]}, "kind").tolist() == ["x"]


def test_too_large_an_answer_is_refused():
    X, y = dependent()
    edges = [("a", "kind"), ("b", "kind"), ("c", "kind")]
    network = learned(X, y, edges, nodes=("d",), most_numbers=10)
    assert len(network.predict(X, "kind")) == len(X)
    with pytest.raises(TooLargeError, match="needs a table of"):
        network.predict(X[["d"]].head(3), "kind")


@pytest.mark.filterwarnings("ignore")  # those of the peers are theirs
@pytest.mark.parametrize("name", ["pgmpy", "pyagrum"])
def test_answers_equal_an_installed_peer(name):
    peer = pytest.importorskip(name, reason=f"{name} is not installed")
    X, y = dependent(200, gaps=0.2)
    ours = BeliefNetwork.tan(X.assign(kind=y), "kind")
    rows = X.head(20)
    found = ours.predict_proba(rows, "kind")
    if name == "pgmpy":
        from pgmpy.inference import VariableElimination
        from pgmpy.readwrite import BIFReader

        engine = VariableElimination(BIFReader(string=ours.to_bif()).get_model())
        for i, p in enumerate(found):
            known = rows.iloc[i].dropna().to_dict()
            answer = engine.query(["kind"], evidence=known, show_progress=False)
            expected = [answer.get_value(kind=v) for v in ours.values["kind"]]
            np.testing.assert_allclose(p, expected, atol=1e-6)
        return
    network = peer.BayesNet()
    for node in ours.nodes:
        network.add(peer.LabelizedVariable(node, node, [str(v) for v in ours.values[node]]))
    for parent, child in ours.edges:
        network.addArc(parent, child)
    for node, table in ours.tables.items():
        family = (*ours.parents(node), node)
        for place in np.ndindex(table.shape):
            where = dict(zip(family, map(int, place), strict=True))
            network.cpt(node)[where] = float(table[place])
    for i, p in enumerate(found):
        engine = peer.LazyPropagation(network)
        engine.setEvidence(rows.iloc[i].dropna().to_dict())
        engine.makeInference()
        np.testing.assert_allclose(p, engine.posterior("kind").tolist(), atol=1e-9)


def test_learning_in_pieces_is_at_once():
    X, y = dependent(gaps=0.1)
    table, edges = X.assign(kind=y), [("kind", "a"), ("a", "b"), ("kind", "b")]
    whole = BeliefNetwork(edges).update(table)
    pieces = BeliefNetwork(edges)
    for part in np.array_split(np.arange(len(X)), 3):
        pieces.update(table.iloc[part])
    rows = X[["a", "b"]]
    expected = whole.predict_proba(rows, "kind")
    np.testing.assert_array_equal(pieces.predict_proba(rows, "kind"), expected)
    pieces.update(table.head(20)).forget(table.head(20))
    np.testing.assert_array_equal(pieces.predict_proba(rows, "kind"), expected)


def test_values_may_be_declared_first_and_later():
    X, y = dependent()
    network = BeliefNetwork(naive(X), values={"kind": ["w"]}).update(X.assign(kind=y).head(9))
    network.declare({"kind": ["b"]})
    p = network.predict_proba(X.head(20), "kind")
    assert set(network.values["kind"]) >= {"b", "w"}
    assert p.shape == (20, len(network.values["kind"]))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    never = [network.values["kind"].index(v) for v in ("b", "w")]
    assert (p[:, never].max(axis=1) < p.max(axis=1)).all()


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        dict,
        lambda t: [dict(zip(t, row, strict=True)) for row in zip(*t.values(), strict=True)],
    ],
)
def test_tables_of_every_kind(make):
    rows = {"a": ["p", "q", None, "p"], "b": [1, 2, 2, 1], "c": [True, False, True, True]}
    table = {**rows, "kind": [0, 1, 1, 0]}
    edges = [*naive(rows), ("a", "b")]
    expected = BeliefNetwork(edges).update(table).predict_proba(rows, "kind")
    network = BeliefNetwork(edges).update(make(table))
    np.testing.assert_array_equal(network.predict_proba(make(rows), "kind"), expected)


def test_values_of_every_type():
    rows = {"a": ["p", "q", "p"] * 4}
    network = BeliefNetwork([("kind", "a")]).update({**rows, "kind": [1, "1", True] * 4})
    found = network.predict(rows, "kind").tolist()
    assert {type(value) for value in found} <= {bool, int, str}


def test_errors():
    asia = example("asia")
    with pytest.raises(SettingError, match=r"There is no node 'lungs'.*'lung'"):
        asia.predict({"smoke": ["yes"]}, "lungs")
    with pytest.raises(InputError, match=r"Column 'smok' is not a node of the network.*'smoke'"):
        asia.predict_proba({"smok": ["yes"]}, "lung")
    with pytest.raises(NotFittedError, match="no tables yet"):
        BeliefNetwork([("a", "b")]).predict({"a": [1]}, "b")


def test_pickle():
    X, y = dependent(100, gaps=0.3)
    network = learned(X, y, naive(X))
    before = network.predict_proba(X, "kind")
    again = pickle.loads(pickle.dumps(network))
    np.testing.assert_array_equal(again.predict_proba(X, "kind"), before)
