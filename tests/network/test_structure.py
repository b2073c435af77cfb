"""Structure learning: trees against a reference, recovery of a known network, moves and scores."""

from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from priory import BeliefNetwork, NaiveBayes
from priory.base import errors
from priory.base.graph import Graph
from priory.network import BDeu
from priory.network.pc import pc
from priory.network.structure import FamilyScore, hill_climbing
from priory.network.variables import read_coded
from priory.statistics.information import by_chance_of_many, mutual_information

from .networks import example


def correlated(seed, n=400, d=6):
    """Return columns of which each copies an earlier one, more or less."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, n)]
    for _ in range(d - 1):
        source = columns[rng.integers(len(columns))]
        columns.append(
            np.where(rng.random(n) < rng.uniform(0.2, 0.9), source, rng.integers(0, 3, n))
        )
    return pd.DataFrame({f"c{i}": column for i, column in enumerate(columns)})


def heaviest_tree(frame, weight):
    complete = nx.Graph()
    for a, b in combinations(frame.columns, 2):
        complete.add_edge(a, b, weight=weight(a, b))
    return {frozenset(edge) for edge in nx.maximum_spanning_tree(complete).edges}


def told_beyond_chance(frame, others):
    """Return n · I(a; b | c0) of the rows that have both, less what few share by chance."""
    pairs, told, free = list(combinations(others, 2)), [], []
    for a, b in pairs:
        known = frame[["c0", a, b]].dropna()
        told.append(sum(len(p) * mutual_info_score(p[a], p[b]) for _, p in known.groupby("c0")))
        free.append(frame["c0"].nunique() * (frame[a].nunique() - 1) * (frame[b].nunique() - 1))
    told, free = np.array(told), np.array(free, dtype=float)
    beyond = told - by_chance_of_many(told, free)
    return {frozenset(pair): value for pair, value in zip(pairs, beyond, strict=True)}


def worthy_tree(frame, others):
    """Return the edges of the heaviest tree that tell more than chance does."""
    beyond = told_beyond_chance(frame, others)
    tree = heaviest_tree(frame[others], lambda a, b: beyond[frozenset((a, b))])
    return {edge for edge in tree if beyond[edge] > 0}


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_chow_liu_is_the_heaviest_tree(seed):
    frame = correlated(seed)
    network = BeliefNetwork.chow_liu(frame, root="c2")
    expected = heaviest_tree(frame, lambda a, b: mutual_info_score(frame[a], frame[b]))
    assert network.graph.skeleton == expected
    assert network.parents("c2") == ()
    assert all(len(network.parents(n)) == 1 for n in network.nodes if n != "c2")
    assert network.n_rows == 400


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_tan_is_the_heaviest_tree_given_the_target(seed):
    frame = correlated(seed)

    network = BeliefNetwork.tan(frame, "c0")
    others = frame.drop(columns="c0")
    tree = {edge for edge in network.graph.skeleton if "c0" not in edge}
    assert tree == worthy_tree(frame, list(others))
    assert all(network.parents(n)[0] == "c0" for n in others)
    assert network.parents("c0") == ()
    assert len(network.edges) == len(others.columns) + len(tree)
    labels = frame.astype(str)
    model = NaiveBayes.textbook(structure="tan").fit(labels[list(others)], labels["c0"])
    found = {frozenset(block.columns) for block in model.schema_ if block.pairing is not None}
    assert found == tree, "there is one TAN"


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_mutual_information_agrees_with_scikit_learn(seed):
    frame = correlated(seed)
    counts = pd.crosstab(frame["c0"], frame["c1"]).to_numpy(dtype=float)
    expected = mutual_info_score(frame["c0"], frame["c1"])
    assert mutual_information(counts) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", ["bic", "mdl", "bdeu", BDeu(2)])
def test_asia_is_recovered_from_its_samples(score):
    """The arc from asia to tub is weak: of 50,000 rows some 25 tell of it."""
    truth = example("asia")
    found = BeliefNetwork.hill_climbing(truth.sample(50_000, random_state=0), score=score)
    weak = frozenset(("asia", "tub"))
    without = [edge for edge in truth.edges if frozenset(edge) != weak]
    assert found.graph.equivalent(truth.graph) or found.graph.equivalent(
        Graph.of(without, truth.nodes)
    )


def all_graphs(names):
    pairs = list(combinations(names, 2))
    for choice in np.ndindex(*[3] * len(pairs)):
        edges = [
            pair if way == 1 else pair[::-1] for pair, way in zip(pairs, choice, strict=True) if way
        ]
        try:
            yield Graph.of(edges, names)
        except errors.SettingError:
            continue


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bic", "k2", BDeu(3)]))
def test_the_search_finds_the_best_of_all_small_graphs(seed, score):
    frame = correlated(seed, n=300, d=4)
    scored = FamilyScore(read_coded(frame), score)

    def total(graph):
        return sum(scored(name, frozenset(of)) for name, of in graph.parents.items())

    found = hill_climbing(scored, (), (), (), None, 30)
    assert total(found) == pytest.approx(max(map(total, all_graphs(tuple(frame.columns)))))


def test_scores_are_those_of_the_network():
    frame = correlated(1, d=4)
    network = BeliefNetwork.hill_climbing(frame, score=BDeu(3))
    scored = FamilyScore(read_coded(frame), BDeu(3))
    total = sum(scored(name, frozenset(network.parents(name))) for name in network.nodes)
    assert network.log_evidence(BDeu(3)) == pytest.approx(total)
    scored = FamilyScore(read_coded(frame), "k2")
    total = sum(scored(name, frozenset(network.parents(name))) for name in network.nodes)
    assert network.log_evidence(1.0) == pytest.approx(total)
    scored = FamilyScore(read_coded(frame), "bic")
    total = sum(scored(name, frozenset(network.parents(name))) for name in network.nodes)
    plain = BeliefNetwork(network.edges, nodes=network.nodes, smoothing=0).update(frame)
    free = sum(t.size // t.shape[-1] * (t.shape[-1] - 1) for t in plain.tables.values())
    expected = plain.log_likelihood(frame) - 0.5 * np.log(400) * free
    assert total == pytest.approx(expected)


def test_edges_can_be_required_and_forbidden():
    frame = correlated(2, d=5)
    free = BeliefNetwork.hill_climbing(frame)
    first = free.edges[0]
    without = BeliefNetwork.hill_climbing(frame, forbidden=[first, first[::-1]])
    assert frozenset(first) not in without.graph.skeleton
    turned = BeliefNetwork.hill_climbing(frame, required=[first[::-1]])
    assert first[::-1] in turned.edges
    few = BeliefNetwork.hill_climbing(frame, max_parents=1)
    assert max(len(few.parents(n)) for n in few.nodes) == 1
    none = BeliefNetwork.hill_climbing(frame, max_parents=0)
    assert none.edges == ()
    started = BeliefNetwork.hill_climbing(frame, start=free.edges)
    assert started.graph.equivalent(free.graph)
    greedy = BeliefNetwork.hill_climbing(frame, patience=0)
    assert set(greedy.nodes) == set(frame.columns)
    with pytest.raises(errors.SettingError, match="both required and forbidden"):
        BeliefNetwork.hill_climbing(frame, required=[("c0", "c1")], forbidden=[("c0", "c1")])
    with pytest.raises(errors.SettingError, match="cycle"):
        BeliefNetwork.hill_climbing(frame, required=[("c0", "c1"), ("c1", "c0")])
    with pytest.raises(errors.ExpressionError, match="no column 'x'"):
        BeliefNetwork.hill_climbing(frame, forbidden=[("c0", "x")])
    with pytest.raises(errors.SettingError, match="score must be"):
        BeliefNetwork.hill_climbing(frame, score="aic")


def test_rows_with_gaps_are_left_out():
    frame = correlated(3).astype(object)
    frame.iloc[::7, 0] = None
    whole = frame.dropna()
    skipping = partial(BeliefNetwork.hill_climbing, missing="skip")
    for learn in (BeliefNetwork.chow_liu, skipping):
        assert learn(frame).edges == learn(whole).edges
    with pytest.raises(errors.InputError, match="no rows without missing values"):
        BeliefNetwork.chow_liu({"a": [1, None], "b": [None, 1]})
    with pytest.raises(errors.ExpressionError, match="no column 'zz'"):
        BeliefNetwork.tan(frame, "zz")
    with pytest.raises(errors.ExpressionError, match="no column 'zz'"):
        BeliefNetwork.chow_liu(frame, root="zz")


def test_columns_with_too_many_values_get_no_parents_together():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 3000, 3000).astype(str) for name in "ab"})
    assert BeliefNetwork.hill_climbing(frame).edges == ()


def test_tan_compares_two_columns_by_the_rows_that_have_both():
    frame = correlated(5).astype(object)
    rng = np.random.default_rng(0)
    gaps = frame.mask(rng.random(frame.shape) < 0.2, None)
    network = BeliefNetwork.tan(gaps, "c0")

    tree = {edge for edge in network.graph.skeleton if "c0" not in edge}
    assert tree == worthy_tree(gaps, [name for name in gaps if name != "c0"])
    never = BeliefNetwork.tan({"k": [0, 1, 0], "a": [1, None, 0], "b": [None, 1, None]}, "k")
    assert set(never.nodes) == {"k", "a", "b"}
    with pytest.raises(errors.InputError, match="no rows to learn a structure from"):
        BeliefNetwork.tan({"k": [], "a": []}, "k")


@pytest.mark.parametrize("score", ["bic", "k2"])
def test_weighted_scores_are_those_of_repeated_rows(score):
    frame = correlated(6, n=60, d=4)
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = FamilyScore(read_coded(frame), score, times.astype(float))
    repeated = FamilyScore(read_coded(frame.loc[frame.index.repeat(times)]), score)
    for parents in (frozenset(), frozenset({"c0"}), frozenset({"c0", "c2"})):
        assert weighted("c1", parents) == pytest.approx(repeated("c1", parents))


def test_starting_again_finds_better_graphs():
    """On alarm a single search ends 290 to 900 nats below the graph that the rows came from."""
    truth = example("alarm")
    rows = truth.sample(5000, random_state=2)
    once = BeliefNetwork.hill_climbing(rows, restarts=0).score(rows)
    again = BeliefNetwork.hill_climbing(rows, restarts=20).score(rows)
    assert once < again
    assert again >= truth.score(rows)


def test_the_score_of_a_structure():
    frame = pd.DataFrame(example("asia").sample(500, random_state=0))
    network = BeliefNetwork(example("asia").edges)
    learned = BeliefNetwork(network.edges, smoothing=BDeu(2)).update(frame)
    assert network.score(frame, BDeu(2)) == pytest.approx(learned.log_evidence())
    with pytest.raises(errors.InputError, match="'dysp' was not found"):
        network.score(frame.drop(columns="dysp"))


def test_the_confidence_in_edges():
    rows = example("asia").sample(3000, random_state=0)
    found = BeliefNetwork.edge_confidence(rows, n=10, random_state=1)
    assert found[("bronc", "dysp")] + found.get(("dysp", "bronc"), 0.0) == pytest.approx(1.0)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    forbidden = [("bronc", "dysp")]
    without = BeliefNetwork.edge_confidence(rows, n=3, forbidden=forbidden)
    assert ("bronc", "dysp") not in without
    with pytest.raises(errors.SettingError, match="not 'forbiden'"):
        BeliefNetwork.edge_confidence(rows, n=3, forbiden=forbidden)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000))
def test_pc_finds_the_graph_if_its_tests_do_not_err(seed):
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(int(rng.integers(2, 8)))]
    order = rng.permutation(names).tolist()
    truth = Graph.of([e for e in combinations(order, 2) if rng.random() < 0.4], names)

    def separated(coded, a, b, condition, level):
        return truth.d_separated([a], [b], condition)

    coded = read_coded({name: [0, 1] for name in names})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("priory.network.pc._independent", separated)
        found = pc(coded, 0.05, len(names))
    assert found.equivalent(truth)


def test_pc_of_rows_with_gaps():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 3000))
    c = np.where(rng.random(3000) < 0.8, a | b, rng.integers(0, 2, 3000))
    rows = pd.DataFrame({"a": a, "b": b, "c": c, "d": np.where(rng.random(3000) < 0.9, c, 1 - c)})
    rows = rows.mask(rng.random(rows.shape) < 0.2)
    assert set(BeliefNetwork.pc(rows).edges) == {("a", "c"), ("b", "c"), ("c", "d")}


def test_pc_refuses_what_makes_no_sense():
    with pytest.raises(errors.SettingError, match="level must be between 0 and 1, not 5"):
        BeliefNetwork.pc({"a": [0, 1]}, level=5)
    with pytest.raises(errors.InputError, match="no rows to learn a structure from"):
        BeliefNetwork.pc({"a": [], "b": []})


def chain(n, seed, gaps):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, n)]
    for _ in range(7):
        columns.append(np.where(rng.random(n) < 0.6, columns[-1], rng.integers(0, 3, n)))
    rows = pd.DataFrame({f"c{i}": column for i, column in enumerate(columns)})
    return rows.mask(rng.random(rows.shape) < gaps)


def test_rows_with_gaps_help_to_find_a_structure():
    truth = {frozenset((f"c{i}", f"c{i + 1}")) for i in range(7)}
    wrong = {"em": 0, "skip": 0}
    for seed in range(5):
        rows = chain(300, seed, gaps=0.25)  # one row in ten is complete
        for missing in wrong:
            found = BeliefNetwork.hill_climbing(rows, missing=missing, restarts=2)
            wrong[missing] += len({frozenset(edge) for edge in found.edges} ^ truth)
    assert wrong["em"] <= 5
    assert wrong["em"] < wrong["skip"] / 3


def test_a_structure_is_found_though_no_row_is_complete():
    rows = chain(600, 0, gaps=0.0)
    for i in range(len(rows)):
        rows.loc[i, f"c{i % 8}"] = None
    found = BeliefNetwork.hill_climbing(rows, restarts=0)
    assert len({frozenset(e) for e in found.edges}) == 7
    with pytest.raises(errors.InputError, match="no rows without missing values"):
        BeliefNetwork.hill_climbing(rows, missing="skip")
    confident = BeliefNetwork.edge_confidence(rows, n=3)
    assert max(confident.values()) == 1.0
