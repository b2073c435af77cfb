"""Gaussian nodes: learned, asked and drawn, against closed forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from priory import BeliefNetwork
from priory.base import errors
from priory.network import MixedNetwork
from priory.network.mixed_network import Mixture

from .networks import enumerate_joint, random_networks


def people(**more):
    return MixedNetwork(
        "sex->height; sex->smoker; smoker->weight; sex->weight",
        gaussian={
            "height": {"f": (165, 49), "m": (178, 64)},
            "weight": {
                (True, "f"): (62, 80),
                (True, "m"): (80, 110),
                (False, "f"): (65, 90),
                (False, "m"): (84, 130),
            },
        },
        tables={"sex": {"f": 0.5, "m": 0.5}, "smoker": {"f": 0.2, "m": 0.3}},
        **more,
    )


def test_bayes_rule_with_a_density():
    network = people()
    f, m = stats.norm(165, 7).pdf(180), stats.norm(178, 8).pdf(180)
    assert network.p("sex == m", given={"height": 180}) == pytest.approx(m / (f + m), rel=1e-12)
    assert network.log_p({"height": 180}) == pytest.approx(np.log(0.5 * f + 0.5 * m))
    height = network.marginal("height")
    assert height.mean == pytest.approx(171.5)
    assert height.variance == pytest.approx((49 + 64) / 2 + 6.5**2)
    assert height.pdf(180) == pytest.approx(0.5 * f + 0.5 * m)
    low, high = height.interval(0.8)
    assert height.cdf(high) - height.cdf(low) == pytest.approx(0.8)
    assert network.p("sex == m", given={"height": 180}, do={"sex": "f"}) == 0.0
    assert network.most_probable({"height": 190})["sex"] == "m"
    table = network.marginal(["sex", "smoker"], given={"height": 180, "smoker": True})
    assert table.p("smoker") == pytest.approx(1.0)


@settings(max_examples=25)
@given(network=random_networks(most=3), seed=st.integers(0, 2**32 - 1))
def test_answers_equal_enumeration(network, seed):
    """Every cell of the discrete nodes, times the densities of what was measured."""
    rng = np.random.default_rng(seed)
    nodes = list(network.nodes)
    parents = {g: [n for n in nodes if rng.random() < 0.5] for g in ("x", "y")}
    parameters = {
        g: {
            cell: (float(rng.normal()), float(rng.uniform(0.5, 2)))
            for cell in product(*(network.values[n] for n in of))
        }
        for g, of in parents.items()
    }
    given_ = {g: table if parents[g] else table[()] for g, table in parameters.items()}
    mixed = MixedNetwork(
        {**network.graph.parents, **parents},
        gaussian=given_,
        tables=network.tables,
        values=network.values,
        nodes=nodes,
    )
    known = {"x": float(rng.normal())}
    if rng.random() < 0.5:
        node = nodes[int(rng.integers(len(nodes)))]
        known[node] = network.values[node][0]
    weights = {}
    for cell, p in enumerate_joint(network).items():
        row = dict(zip(nodes, cell, strict=True))
        if any(row[n] != v for n, v in known.items() if n != "x"):
            continue
        mean, variance = parameters["x"][tuple(row[n] for n in parents["x"])]
        weights[cell] = p * stats.norm(mean, variance**0.5).pdf(known["x"])
    total = sum(weights.values())
    assert mixed.log_p(known) == pytest.approx(np.log(total), rel=1e-9)
    for i, n in enumerate(nodes):
        for v in network.values[n]:
            expected = sum(w for cell, w in weights.items() if cell[i] == v) / total
            assert mixed.p({n: v}, given=known) == pytest.approx(expected, abs=1e-9)
    mean = sum(
        w / total * parameters["y"][tuple(cell[nodes.index(n)] for n in parents["y"])][0]
        for cell, w in weights.items()
    )
    assert mixed.marginal("y", given=known).mean == pytest.approx(mean, abs=1e-9)


def test_what_is_learned_is_what_was_drawn():
    truth = people()
    rows = truth.sample(20_000, random_state=0)
    learned = MixedNetwork(truth.graph.parents, ["height", "weight"], smoothing=0).update(rows)
    for sex, (mean, variance) in {"f": (165, 49), "m": (178, 64)}.items():
        some = rows["height"][rows["sex"] == sex]
        found = learned.marginal("height", given={"sex": sex})
        assert found.mean == pytest.approx(some.mean())
        assert found.variance == pytest.approx(some.var())
        assert found.mean == pytest.approx(mean, abs=0.3)
        assert found.variance == pytest.approx(variance, rel=0.05)
    halves = MixedNetwork(truth.graph.parents, ["height", "weight"], smoothing=0)
    for part in (slice(0, 7000), slice(7000, None)):
        halves.update({name: column[part] for name, column in rows.items()})
    one, two = (n.marginal("weight", given={"height": 170}) for n in (halves, learned))
    assert (one.mean, one.variance) == pytest.approx((two.mean, two.variance))
    gaps = {name: column.astype(object) for name, column in rows.items()}
    gaps["height"] = np.where(np.arange(20_000) % 3 == 0, np.nan, rows["height"])
    kept = rows["height"][(np.arange(20_000) % 3 > 0) & (rows["sex"] == "f")]
    some = MixedNetwork(truth.graph.parents, ["height", "weight"], smoothing=0).update(gaps)
    assert some.marginal("height", given={"sex": "f"}).mean == pytest.approx(kept.mean())
    weighted = MixedNetwork(truth.graph.parents, ["height", "weight"], smoothing=0)
    weighted.update(rows, sample_weight=np.full(20_000, 2.0))
    assert weighted.marginal("height").mean == pytest.approx(learned.marginal("height").mean)


def test_few_rows_are_shrunk_towards_the_whole():
    rows = {"kind": ["a", "a", "b"], "x": [1.0, 3.0, 8.0]}
    network = MixedNetwork("kind->x", ["x"]).update(rows)
    assert network.marginal("x", given={"kind": "b"}).mean == pytest.approx((4 + 8) / 2)
    assert network.marginal("x", given={"kind": "a"}).mean == pytest.approx((4 + 1 + 3) / 3)
    with pytest.raises(errors.InputError, match="do not vary"):
        MixedNetwork("kind->x", ["x"], smoothing=0).update(rows)


def test_samples_given_a_number():
    network = people()
    rows = network.sample(20_000, given={"height": 172}, random_state=0)
    assert set(rows["height"]) == {172.0}
    share = network.p("sex == m", given={"height": 172})
    assert np.mean(rows["sex"] == "m") == pytest.approx(share, abs=0.015)
    weight = network.marginal("weight", given={"height": 172})
    assert rows["weight"].mean() == pytest.approx(weight.mean, abs=0.3)
    assert rows["weight"].var() == pytest.approx(weight.variance, rel=0.05)
    assert len(network.sample(0)["height"]) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MixedNetwork("x->a", ["x"]), "'x' is a parent of 'a'"),
        (lambda: MixedNetwork((), ["x"]), "needs a discrete node"),
        (lambda: MixedNetwork("a->x", "x"), "sequence of names"),
        (lambda: MixedNetwork("a->x", {"x": {}}), "tables must be given as well"),
        (lambda: MixedNetwork("a->x", ["x"], {"a": 0.5}), "gaussian must give"),
        (lambda: MixedNetwork("a->x", {"x": {True: (0, 1)}}, {"a": 0.5}), "every combination"),
        (lambda: MixedNetwork("a->x", {"x": (0, 1)}, {"a": 0.5}), "for each combination of 'a'"),
        (lambda: MixedNetwork("a->x", {"x": {True: 3, False: 3}}, {"a": 0.5}), "to .mean"),
        (
            lambda: MixedNetwork("a->x", {"x": {True: (0, 1), False: (0, 0)}}, {"a": 0.5}),
            "variance above 0",
        ),
        (lambda: people().update({}), "it does not learn"),
        (lambda: people().p("sex == m", given="height > 3"), "given must be a mapping"),
        (lambda: people().p("sex == m", given={"height": "tall"}), "'height' is a number"),
        (lambda: people().marginal("height", given={"height": 3}), "is not unknown"),
        (lambda: MixedNetwork("a->x", ["x"]).marginal("x"), "no parameters yet"),
        (lambda: MixedNetwork("a->x", ["x"]).update({"a": [1]}), "'x' was not found"),
        (lambda: MixedNetwork("a->x", ["x"]).update({"a": [1], "x": ["u"]}), "must hold numbers"),
        (lambda: MixedNetwork("a->x", ["x"]).update({"a": [1], "x": [np.inf]}), "infinity"),
        (lambda: MixedNetwork("a->x", ["x"]).update({"a": [None, 1], "x": [1, np.nan]}), "has no"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(errors.PrioryError, match=message):
        make()


def test_new_values_need_to_be_declared():
    first = {"a": [0, 1, 1], "x": [0.5, 1.5, 2.5]}
    later = {"a": [2], "x": [3.5]}
    network = MixedNetwork("a->x", ["x"]).update(first)
    with pytest.raises(errors.InputError, match="declare them"):
        network.update(later)
    declared = MixedNetwork("a->x", ["x"], values={"a": [0, 1, 2]}).update(first).update(later)
    assert isinstance(declared.marginal("x"), Mixture)
    assert isinstance(declared.discrete, BeliefNetwork)
