"""One language of evidence: soft, logical and set by hand, against enumeration and a peer."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory import BeliefNetwork, JointTable
from priory.base import errors
from priory.network.elimination import Plans, eliminate
from priory.network.ordering import best_order

from .networks import enumerate_joint, example, random_networks


def weighted(network, evidence, do):
    """Return {values of every node: weight} by multiplying the tables of what is not set."""
    cells = {}
    for cell, p in enumerate_joint(network).items():
        row = dict(zip(network.nodes, cell, strict=True))
        if any(row[name] != value for name, value in do.items()):
            continue
        for name in do:
            own = network.table(name)
            own = (
                own
                if not network.parents(name)
                else own[tuple(row[q] for q in network.parents(name))]
            )
            p = p / own[row[name]] if own[row[name]] else 0.0
        for name, likelihood in evidence.items():
            p *= likelihood.get(row[name], 0.0)
        cells[cell] = p
    total = sum(cells.values())
    return {cell: p / total for cell, p in cells.items()}


@given(network=random_networks(most=5), data=st.data())
def test_soft_evidence_interventions_and_subsets_equal_enumeration(network, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    nodes = list(network.nodes)
    soft_nodes = [n for n in nodes if rng.random() < 0.4]
    evidence = {n: {v: float(rng.random()) for v in network.values[n]} for n in soft_nodes}
    do = {
        n: network.values[n][rng.integers(len(network.values[n]))]
        for n in nodes
        if n not in soft_nodes and rng.random() < 0.3
    }
    cells = weighted(network, evidence, do)
    found = network.marginals(evidence, do=do)
    for i, node in enumerate(nodes):
        for value in network.values[node]:
            p = sum(q for cell, q in cells.items() if cell[i] == value)
            assert found[node][value] == pytest.approx(p, abs=1e-9)
            assert network.p({node: value}, given=evidence, do=do) == pytest.approx(p, abs=1e-9)
    some = [n for n in nodes if rng.random() < 0.5] or nodes[:1]
    best = network.most_probable(evidence, variables=some, do=do)
    where = [nodes.index(n) for n in some]
    totals = {}
    for cell, q in cells.items():
        key = tuple(cell[i] for i in where)
        totals[key] = totals.get(key, 0.0) + q
    assert list(best) == some
    assert totals[tuple(best.values())] == pytest.approx(max(totals.values()), rel=1e-9)


@given(network=random_networks(most=4), data=st.data())
def test_logical_evidence_is_the_same_everywhere(network, data):
    atoms = [f"{n} == {v!r}" for n in network.nodes for v in network.values[n]]
    a, b, c = (data.draw(st.sampled_from(atoms)) for _ in range(3))
    known = data.draw(st.sampled_from([f"{a} or {b}", f"({a} or {b}) and ({c} or not {b})"]))
    known = known.replace(f"not {b}", f"not ({b})")
    table = JointTable.from_network(network)
    try:
        truth = table.condition(known)
    except errors.ZeroProbabilityError:
        for ask in (network.marginals, network.most_probable, network.log_p):
            with pytest.raises(errors.ZeroProbabilityError, match="has probability 0"):
                ask(known)
        return
    best = network.most_probable(known)
    cells = truth.to_dict()
    key = tuple(best.values()) if len(best) > 1 else next(iter(best.values()))
    assert cells[key] == pytest.approx(max(cells.values()), rel=1e-9)
    rows = network.sample(200, given=known, random_state=0)
    assert JointTable.from_data(rows, values=network.values).p(known) == pytest.approx(1.0)
    assert np.exp(network.log_p(known)) == pytest.approx(table.p(known), rel=1e-9)


def test_the_words_of_the_language():
    network = example("asia")
    soft = {"xray": {"yes": 0.8, "no": 0.1}}
    table = JointTable.from_network(network)
    assert network.p("lung", given=soft) == pytest.approx(table.p("lung", given=soft), rel=1e-12)
    both = ["smoke or asia", soft, {"dysp": "yes"}]
    assert network.p("lung", given=both) == pytest.approx(table.p("lung", given=both), rel=1e-12)
    assert table.condition(soft).p("lung") == pytest.approx(network.p("lung", given=soft))
    assert network.p("lung", do={"smoke": "yes"}) == pytest.approx(0.1)
    assert network.p("smoke", do={"lung": "yes"}) == pytest.approx(0.5)
    assert network.causal_effect("smoke", "lung") == pytest.approx(0.09)
    assert network.causal_effect("lung", "smoke") == 0.0
    rows = network.sample(4000, do={"lung": "yes"}, random_state=0)
    assert set(rows["lung"]) == {"yes"}
    assert np.mean(rows["smoke"] == "yes") == pytest.approx(0.5, abs=0.03)
    for wrong, message in [
        (
            lambda: network.p("lung", do={"lung": "yes"}, given="lung"),
            "both set, in do, and observ",
        ),
        (lambda: network.p("lung", do="smoke"), "do must be a mapping"),
        (lambda: network.p("lung", do={"smoke": {"yes": 1}}), "do sets variables to values"),
        (lambda: network.p(soft), "cannot be soft evidence"),
        (lambda: network.causal_effect("smok", "lung"), "Did you mean 'smoke'"),
    ]:
        with pytest.raises((errors.SettingError, errors.ExpressionError), match=message):
            wrong()
    with pytest.raises(errors.ZeroProbabilityError, match="makes every value impossible"):
        network.p("lung", given={"xray": {"yes": 0}})
    with pytest.raises(errors.SettingError, match="likelihood of xray == 'yes' must be a finite"):
        network.p("lung", given={"xray": {"yes": -1}})
    with pytest.raises(errors.ExpressionError, match="no value 'maybe'"):
        network.p("lung", given={"xray": {"maybe": 1}})
    with pytest.raises(errors.ZeroProbabilityError, match="do"):
        network.p("lung", do={"tub": "yes"}, given="not either")
    with pytest.raises(errors.SettingError, match="cause must be a boolean"):
        BeliefNetwork(tables={"a": [0.2, 0.3, 0.5], "b": 0.5}).causal_effect("a", "b")


def test_keywords_are_names():
    table = JointTable.from_data({"class": ["Yes", "No", "Yes"], "is": ["for", "if", "if"]})
    assert table.p("class == Yes") == pytest.approx(2 / 3)
    assert table.p("class == Yes and `is` == if") == pytest.approx(1 / 3)
    assert table.p("class == 'Yes'", given="`is` in (for, if)") == pytest.approx(2 / 3)


def test_a_disjunction_is_not_multiplied_out():
    network = BeliefNetwork(tables={f"x{i}": 0.01 for i in range(40)})
    event = " or ".join(f"x{i}" for i in range(40))
    assert network.p(event) == pytest.approx(1 - 0.99**40, rel=1e-12)
    assert network.p("x0", given=event) == pytest.approx(0.01 / (1 - 0.99**40), rel=1e-12)
    assert network.p(f"not ({event})") == pytest.approx(0.99**40, rel=1e-12)
    none = network.most_probable(event)
    assert sum(none.values()) == 1
    rows = network.sample(100, given=event, random_state=0)
    assert np.stack([*rows.values()]).any(axis=0).all()
    pairs = " or ".join(f"(x{i} and x{i + 1})" for i in range(0, 40, 2))
    assert network.p(pairs) == pytest.approx(1 - (1 - 1e-4) ** 20, rel=1e-9)


def grid(k, seed=0):
    rng = np.random.default_rng(seed)
    parents, tables = {}, {}
    for i, j in product(range(k), range(k)):
        above = [f"x{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
        table = rng.random([2] * (len(above) + 1))
        parents[f"x{i}_{j}"] = above
        tables[f"x{i}_{j}"] = table / table.sum(axis=-1, keepdims=True)
    return BeliefNetwork(parents, tables)


def test_a_grid_needs_no_more_than_its_width():
    """The 20 × 20 grid wanted 128 GB; two million numbers are enough, found beforehand."""
    network = grid(20)
    scopes = [network.graph.family(name) for name in network.nodes]
    assert best_order(scopes, dict.fromkeys(network.nodes, 2)).largest == 2**21
    small = grid(8)
    assert small.p("x7_7 == 1") == pytest.approx(small.marginals()["x7_7"][1], rel=1e-12)
    wide = grid(40)
    with pytest.raises(errors.TooLargeError, match="approximate=100_000"):
        wide.p("x39_39 == 1")
    found = wide.p("x39_39 == 1", given="x0_0 == 1", approximate=1000, random_state=0)
    assert 0 < found.standard_error < 0.05


def test_an_approximate_answer_knows_its_error():
    network = example("asia")
    known = ["dysp", {"xray": {"yes": 0.9, "no": 0.2}}, "smoke or asia"]
    truth = network.p("lung", given=known)
    found = network.p("lung", given=known, approximate=20_000, random_state=1)
    assert abs(found - truth) < 4 * found.standard_error < 0.05
    errors_ = []
    for seed in range(60):
        one = network.p("bronc", given=known, approximate=500, random_state=seed)
        errors_.append((one - network.p("bronc", given=known)) / one.standard_error)
    assert 0.7 < np.std(errors_) < 1.35
    assert network.marginals("dysp", approximate=20_000, random_state=0)["lung"][
        "yes"
    ] == pytest.approx(network.p("lung", given="dysp"), abs=0.03)
    with pytest.raises(errors.ZeroProbabilityError, match="never met in 10 samples"):
        network.p("lung", given="tub and not either", approximate=10)
    assert repr(found).startswith("0.") and "±" in repr(found)


def test_elimination_keeps_what_is_asked_for():
    network = example("asia")
    factors = [
        type(f)(f.variables, f.array)
        for f in network._evidence(None).problem(network.graph, network.tables, network.nodes)
    ]
    table = eliminate(factors, Plans(), ("lung", "smoke"), remember=False).left
    truth = network.marginal(["lung", "smoke"]).to_array()
    assert table / table.sum() == pytest.approx(truth)


def test_graphs_in_other_forms(tmp_path):
    network = BeliefNetwork("A->B<-C; C->D\nE")
    assert network.edges == (("A", "B"), ("C", "B"), ("C", "D"))
    assert network.nodes == ("A", "B", "C", "D", "E")
    assert BeliefNetwork(network.to_networkx()).graph.equivalent(network.graph)
    assert BeliefNetwork(nx.DiGraph([("a", "b")])).edges == (("a", "b"),)
    assert '"C" -> "D";' in network.to_dot()
    for wrong, message in [
        ("A->", "leads nowhere"),
        ("A->A", "its own parent"),
        ("A->B->A", "cycle"),
    ]:
        with pytest.raises(errors.SettingError, match=message):
            BeliefNetwork(wrong)
    with pytest.raises(errors.SettingError, match="must be directed"):
        BeliefNetwork(nx.Graph([("a", "b")]))
    asia = example("asia")
    for name in ("asia.bif.gz", "asia.bif"):
        asia.write_bif(tmp_path / name)
        assert BeliefNetwork.read_bif(tmp_path / name).to_bif() == asia.to_bif()
    for name in ("asia.xmlbif", "asia.xml.gz"):
        asia.write_xmlbif(tmp_path / name)
        again = BeliefNetwork.read_xmlbif(tmp_path / name)
        assert again.values == asia.values
        assert again.to_bif() == asia.to_bif()
    (tmp_path / "latin.bif").write_bytes(
        asia.to_bif().replace("network unknown", "// é\nnetwork x").encode("latin-1")
    )
    assert BeliefNetwork.read_bif(tmp_path / "latin.bif").nodes == asia.nodes
    (tmp_path / "cut.bif.gz").write_bytes((tmp_path / "asia.bif.gz").read_bytes()[:-20])
    with pytest.raises(errors.InputError, match="cannot be unpacked"):
        BeliefNetwork.read_bif(tmp_path / "cut.bif.gz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<BIF>", "no XML"),
        ("<BIF/>", "no NETWORK"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><BIF/>", "declares entities"),
        ("<BIF><NETWORK/></BIF>", "There is no VARIABLE"),
        ("<BIF><NETWORK><VARIABLE><NAME>a</NAME></VARIABLE></NETWORK></BIF>", "has no OUTCOME"),
        (
            "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE></NETWORK></BIF>",
            "no DEFINITION of 'a'",
        ),
        ("<BIF><NETWORK><DEFINITION><FOR>a</FOR></DEFINITION></NETWORK></BIF>", "no VARIABLE"),
        ("<BIF><NETWORK><DEFINITION/></NETWORK></BIF>", "a?A DEFINITION has no FOR"),
    ],
)
def test_wrong_xml_is_refused(tmp_path, text, message):
    (tmp_path / "wrong.xml").write_text(text)
    with pytest.raises(errors.InputError, match=message):
        BeliefNetwork.read_xmlbif(tmp_path / "wrong.xml")


def test_tables_are_changed_by_with_table_alone():
    network = BeliefNetwork("rain->wet", {"rain": 0.2, "wet": {True: 0.9, False: 0.1}})
    with pytest.raises(ValueError, match="read-only"):
        network.tables["rain"][0] = 0.5
    other = network.with_table("wet", {True: 1.0, False: 0.0})
    assert other.p("wet") == pytest.approx(0.2)
    assert network.p("wet") == pytest.approx(0.26)
    with pytest.raises(errors.InputError, match="must add up to 1"):
        network.with_table("rain", [0.5, 0.6])


def test_given_tables_are_a_prior_that_rows_update():
    prior = {"rain": 0.2, "wet": {True: 0.9, False: 0.1}}
    network = BeliefNetwork("rain->wet", prior, strength=10)
    assert network.p("rain") == pytest.approx(0.2)
    network.update({"rain": [True] * 6 + [False] * 4, "wet": [True] * 6 + [False] * 4})
    assert network.p("rain") == pytest.approx((2 + 6) / 20)
    assert network.table("wet")[(True,)][True] == pytest.approx((9 + 6) / 16)
    halves = BeliefNetwork("rain->wet", prior, strength={"rain": 10, "wet": 10})
    rows = {"rain": [True] * 3 + [False] * 2, "wet": [True] * 3 + [False] * 2}
    assert halves.update(rows).update(rows).tables["wet"] == pytest.approx(network.tables["wet"])
    assert halves.forget(rows).forget(rows).p("rain") == pytest.approx(0.2)
    # the evidence is Beta–binomial: rain Beta(2, 8), wet Beta(9, 1) and Beta(1, 9)
    from math import lgamma

    def beta_binomial(a, b, x, y):
        return (
            lgamma(a + x)
            + lgamma(b + y)
            - lgamma(a + b + x + y)
            + lgamma(a + b)
            - lgamma(a)
            - lgamma(b)
        )

    expected = beta_binomial(2, 8, 6, 4) + beta_binomial(9, 1, 6, 0) + beta_binomial(1, 9, 0, 4)
    assert network.log_evidence() == pytest.approx(expected)
    with pytest.raises(errors.SettingError, match="give tables"):
        BeliefNetwork("rain->wet", strength=3)
    with pytest.raises(errors.SettingError, match="'wet' has none"):
        BeliefNetwork("rain->wet", prior, strength={"rain": 3})
    with pytest.raises(errors.InputError, match="also hold 'x'"):
        BeliefNetwork("rain->wet", prior, strength=3).update({"rain": ["x"], "wet": [True]})


def test_three_hundred_random_networks_agree_with_a_peer():
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    largest = 0.0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        network = _random(rng)
        peer = _peer(gum, network)
        nodes = list(network.nodes)
        soft = {n: rng.random(len(network.values[n])) for n in nodes if rng.random() < 0.3}
        do = [n for n in nodes if n not in soft and rng.random() < 0.2]
        hard = [n for n in nodes if n not in soft and n not in do and rng.random() < 0.2]
        setting = {n: int(rng.integers(len(network.values[n]))) for n in do}
        evidence = {
            n: dict(zip(network.values[n], w.tolist(), strict=True)) for n, w in soft.items()
        }
        evidence |= {n: network.values[n][int(rng.integers(len(network.values[n])))] for n in hard}
        for n in do:  # the peer's graph is cut by hand
            for parent in network.parents(n):
                peer.eraseArc(parent, n)
            peer.cpt(n).fillWith([float(i == setting[n]) for i in range(len(network.values[n]))])
        engine = gum.LazyPropagation(peer)
        for n, w in soft.items():
            engine.addEvidence(n, w.tolist())
        for n in hard:
            engine.addEvidence(n, network.values[n].index(evidence[n]))
        engine.makeInference()
        done = {n: network.values[n][code] for n, code in setting.items()}
        found = network.marginals(evidence, do=done)
        for n in nodes:
            expected = engine.posterior(n).tolist()
            largest = max(largest, np.abs(np.subtract(list(found[n].values()), expected)).max())
        some = [n for n in nodes if n not in do and n not in hard][:3]
        if some:
            engine = gum.LazyPropagation(peer)
            engine.addJointTarget(set(some))
            for n, w in soft.items():
                engine.addEvidence(n, w.tolist())
            for n in hard:
                engine.addEvidence(n, network.values[n].index(evidence[n]))
            engine.makeInference()
            joint = engine.jointPosterior(set(some))
            best = network.most_probable(evidence, variables=some, do=done)
            place = {n: network.values[n].index(best[n]) for n in some}
            assert joint[place] == pytest.approx(joint.max(), rel=1e-9)
    assert largest < 1e-12


def _random(rng):
    names = [f"n{i}" for i in range(int(rng.integers(2, 9)))]
    sizes = {name: int(rng.integers(2, 4)) for name in names}
    parents = {name: [p for p in names[:i] if rng.random() < 0.35] for i, name in enumerate(names)}
    tables = {
        name: rng.dirichlet(np.ones(sizes[name]), size=[sizes[p] for p in parents[name]])
        for name in names
    }
    return BeliefNetwork(parents, tables, nodes=names)


def _peer(gum, network):
    peer = gum.BayesNet("peer")
    for node in network.nodes:
        peer.add(gum.LabelizedVariable(node, node, [str(v) for v in network.values[node]]))
    for parent, child in network.edges:
        peer.addArc(parent, child)
    for node in network.nodes:
        for place in np.ndindex(network.tables[node].shape):
            where = dict(zip((*network.parents(node), node), map(int, place), strict=True))
            peer.cpt(node)[where] = float(network.tables[node][place])
    return peer
