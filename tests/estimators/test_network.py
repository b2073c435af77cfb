"""Networks as classifiers: against enumeration, a peer's posteriors, and naive Bayes."""

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
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from priory import BeliefNetwork, NaiveBayes
from priory.base.errors import (
    IdentifierWarning,
    ImpossibleEvidenceWarning,
    InputError,
    SchemaError,
    SettingError,
    TooLargeError,
)
from priory.estimators import NetworkClassifier
from priory.examples import play_tennis
from priory.network import BDeu

from ..network.networks import enumerate_joint, example, probability, random_networks

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "network" / "posteriors.json").read_text("utf-8")
)
DATA = Path(__file__).parents[3] / "shared" / "data"


REFUSED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "its rows are measurements, no categories"
    for kind in ("dense", "sparse")
}


# Data of these checks have constant and equal columns, and many values: warnings are in order.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [NetworkClassifier(), NetworkClassifier("naive"), NetworkClassifier("hill-climb")],
    expected_failed_checks=lambda _: REFUSED,
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


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


class TestAnswers:
    @given(network=random_networks(zeros=False), data=st.data())
    def test_equal_enumeration(self, network, data):
        target = data.draw(st.sampled_from(network.nodes))
        others = [name for name in network.nodes if name != target]
        rows = [
            {
                name: data.draw(st.sampled_from([None, None, *network.values[name]]))
                for name in others
            }
            for _ in range(data.draw(st.integers(1, 5)))
        ]
        if not others:
            return
        model = NetworkClassifier.from_network(network, target)
        found = model.predict_proba(pd.DataFrame(rows, columns=others, dtype=object))
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
                for v in model.classes_.tolist()
            ]
            np.testing.assert_allclose(p, expected, atol=1e-12)
            assert model.score_samples([row])[0] == pytest.approx(np.log(total), abs=1e-9)

    @pytest.mark.parametrize("name", REFERENCE)
    def test_equal_those_of_a_peer(self, name):
        network = example(name)
        for case in REFERENCE[name]:
            row = {node: [value] for node, value in case["evidence"].items()}
            for target in network.nodes:
                if target in row or not row:
                    continue
                model = NetworkClassifier.from_network(network, target)
                found = dict(zip(model.classes_.tolist(), model.predict_proba(row)[0], strict=True))
                assert found == pytest.approx(case["posterior"][target], abs=1e-9)

    @pytest.mark.parametrize("target", ["HYPOVOLEMIA", "CATECHOL", "HRBP"])
    def test_many_rows_equal_one_question_each(self, target):
        network = example("alarm")
        rng = np.random.default_rng(0)
        rows = pd.DataFrame(network.sample(60, random_state=1)).drop(columns=target)
        rows = rows.astype(object).mask(rng.random(rows.shape) < 0.5, None)
        model = NetworkClassifier.from_network(network, target)
        found = model.predict_proba(rows)
        for i in range(len(rows)):
            known = {k: v for k, v in rows.iloc[i].items() if v is not None}
            expected = network.marginal(target, given=known).to_dict()
            assert dict(zip(model.classes_.tolist(), found[i], strict=True)) == pytest.approx(
                expected, abs=1e-12
            )

    @pytest.mark.parametrize("gaps", [0.0, 0.3])
    def test_naive_structure_is_naive_bayes(self, gaps):
        X, y = dependent(gaps=gaps)
        network = NetworkClassifier("naive", smoothing=1).fit(X, y)
        naive = NaiveBayes.textbook(1).fit(X, y)
        np.testing.assert_allclose(
            network.predict_log_proba(X), naive.predict_log_proba(X), atol=1e-12
        )
        np.testing.assert_allclose(network.score_samples(X), naive.score_samples(X), atol=1e-12)
        np.testing.assert_array_equal(network.predict(X), naive.predict(X))

    @given(st.data())
    @settings(max_examples=80, deadline=None)
    def test_naive_structure_is_the_textbook(self, data):
        n = data.draw(st.integers(2, 8))
        kinds = [["p", "q", "r", None], [True, False, None], [0, 1, 2, None], [1, None]]
        X = {}
        for j, kind in enumerate(kinds):
            half = data.draw(st.lists(st.sampled_from(kind), min_size=n, max_size=n))
            X[f"c{j}"] = half + half  # whole numbers repeat, as codes do
        y = data.draw(st.lists(st.sampled_from("ab"), min_size=2 * n, max_size=2 * n))
        alpha = data.draw(st.sampled_from([0.3, 1, 2.5]))
        network = NetworkClassifier("naive", smoothing=alpha).fit(X, y)
        naive = NaiveBayes.textbook(alpha).fit(X, y)
        new = {
            "c0": ["p", "z", None],
            "c1": [True, None, False],
            "c2": [1, 7, 2],
            "c3": [1, 2, None],
        }
        for rows in X, new:
            np.testing.assert_allclose(
                network.predict_log_proba(rows), naive.predict_log_proba(rows), atol=1e-12
            )

    def test_a_class_that_is_smoothed_by_name(self):
        X, y = {"a": ["p", "q", "p"]}, ["x", "x", "y"]
        prior = NetworkClassifier("naive", smoothing={"class": 1.0}).fit(X, y)
        np.testing.assert_allclose(prior.predict_proba({"a": [None]}), [[3 / 5, 2 / 5]])
        share = NetworkClassifier("naive", smoothing={"a": 1.0}).fit(X, y)
        np.testing.assert_allclose(share.predict_proba({"a": [None]}), [[2 / 3, 1 / 3]])
        whole = NetworkClassifier("naive", smoothing=BDeu(2.0)).fit(X, y)
        np.testing.assert_allclose(whole.predict_proba({"a": [None]}), [[3 / 5, 2 / 5]])

    def test_parents_of_the_class(self):
        X, y = dependent()
        edges = [("a", "kind"), ("b", "kind"), ("kind", "c"), ("a", "b")]
        model = NetworkClassifier(edges).fit(X, y)
        rows = X[["a", "b", "c"]].head(50).astype(object)
        rows.iloc[::3, 0] = None
        rows.iloc[::4, 1] = None
        expected = [
            model.network_.marginal("kind", given=row.dropna().to_dict()).to_dict().values()
            for _, row in rows.iterrows()
        ]
        np.testing.assert_allclose(model.predict_proba(rows), [[*e] for e in expected], atol=1e-12)

    def test_tan_sees_what_naive_bayes_cannot(self):
        rng = np.random.default_rng(0)
        a, b = rng.integers(0, 2, (2, 400))
        X = {"a": a, "b": b}
        y = np.where(rng.random(400) < 0.95, a ^ b, 1 - (a ^ b))
        assert NetworkClassifier("naive").fit(X, y).score(X, y) < 0.7
        assert NetworkClassifier("tan").fit(X, y).score(X, y) > 0.9

    def test_unseen_values_and_absent_columns_are_gaps(self):
        X, y = dependent()
        model = NetworkClassifier().fit(X, y)
        odd = X.head(5).assign(b="never seen")
        gap = X.head(5).assign(b=None)
        np.testing.assert_array_equal(model.predict_proba(odd), model.predict_proba(gap))
        np.testing.assert_array_equal(
            model.predict_proba(X.head(5).drop(columns="b")), model.predict_proba(gap)
        )

    def test_impossible_rows_get_the_prior(self):
        model = NetworkClassifier("naive", smoothing=0.0)
        model.fit({"a": ["p", "q"], "b": ["p", "q"]}, ["x", "y"])
        with pytest.warns(ImpossibleEvidenceWarning, match="1 row is impossible under every class"):
            p = model.predict_proba({"a": ["p", "p"], "b": ["q", "p"]})
        assert p.tolist() == [[0.5, 0.5], [1.0, 0.0]]
        with pytest.warns(ImpossibleEvidenceWarning, match="impossible"):
            assert model.predict({"a": ["p"], "b": ["q"]}).tolist() == ["x"]

    def test_too_large_an_answer_is_refused(self):
        X, y = dependent()
        edges = [("a", "kind"), ("b", "kind"), ("c", "kind")]
        model = NetworkClassifier(edges, most_numbers=10).fit(X, y)
        assert len(model.predict(X)) == len(X)
        with pytest.raises(TooLargeError, match="needs a table of"):
            model.predict(X[["d"]].head(3))

    @pytest.mark.filterwarnings("ignore")  # those of the peers are theirs
    @pytest.mark.parametrize("name", ["pgmpy", "pyagrum"])
    def test_equal_an_installed_peer(self, name):
        peer = pytest.importorskip(name, reason=f"{name} is not installed")
        X, y = dependent(200, gaps=0.2)
        model = NetworkClassifier("tan").fit(X, y)
        text = model.network_.to_bif()
        rows = X.head(20)
        if name == "pgmpy":
            from pgmpy.inference import VariableElimination
            from pgmpy.readwrite import BIFReader

            engine = VariableElimination(BIFReader(string=text).get_model())
            for i, p in enumerate(model.predict_proba(rows)):
                known = rows.iloc[i].dropna().to_dict()
                answer = engine.query(["kind"], evidence=known, show_progress=False)
                expected = [answer.get_value(kind=v) for v in model.classes_.tolist()]
                np.testing.assert_allclose(p, expected, atol=1e-6)
            return
        network = peer.BayesNet()
        values = model.network_.values
        for node in model.network_.nodes:
            network.add(peer.LabelizedVariable(node, node, [str(v) for v in values[node]]))
        for parent, child in model.network_.edges:
            network.addArc(parent, child)
        for node, table in model.network_.tables.items():
            family = (*model.network_.parents(node), node)
            for place in np.ndindex(table.shape):
                where = dict(zip(family, map(int, place), strict=True))
                network.cpt(node)[where] = float(table[place])
        for i, p in enumerate(model.predict_proba(rows)):
            engine = peer.LazyPropagation(network)
            engine.setEvidence(rows.iloc[i].dropna().to_dict())
            engine.makeInference()
            np.testing.assert_allclose(p, engine.posterior("kind").tolist(), atol=1e-9)


class TestLearning:
    def test_structures(self):
        X, y = dependent(2000)
        naive = NetworkClassifier("naive").fit(X, y).network_
        assert set(naive.edges) == {("kind", name) for name in X}
        tan = NetworkClassifier("tan").fit(X, y).network_
        assert tan.edges == BeliefNetwork.tan(X.assign(kind=y), "kind").edges
        climbed = (
            NetworkClassifier("hill-climb", criterion=BDeu(2), max_parents=2).fit(X, y).network_
        )
        assert max(len(climbed.parents(node)) for node in climbed.nodes) <= 2
        assert climbed.markov_blanket("d") == set()

    def test_given_network_is_learned_anew(self):
        given = BeliefNetwork([("kind", "a")], values={"a": ["p", "q", "r", "s"]})
        X, y = dependent()
        model = NetworkClassifier(given).fit(X, y)
        assert model.network_ is not given
        assert given.n_rows == 0
        assert model.network_.values["a"] == ("p", "q", "r", "s")

    @pytest.mark.parametrize("structure", ["naive", [("kind", "a"), ("a", "b"), ("kind", "b")]])
    def test_in_pieces_is_at_once(self, structure):
        X, y = dependent(gaps=0.1)
        whole = NetworkClassifier(structure, target="kind").fit(X, y)
        pieces = NetworkClassifier(structure, target="kind")
        for part in np.array_split(np.arange(len(X)), 3):
            pieces.partial_fit(X.iloc[part], y.iloc[part])
        np.testing.assert_array_equal(pieces.predict_proba(X), whole.predict_proba(X))
        pieces.partial_fit(X.head(20), y.head(20)).forget(X.head(20), y.head(20))
        np.testing.assert_array_equal(pieces.predict_proba(X), whole.predict_proba(X))

    def test_the_first_rows_decide_the_structure(self):
        X, y = dependent()
        model = NetworkClassifier("tan").partial_fit(X.head(100), y.head(100))
        edges = model.network_.edges
        assert model.partial_fit(X[100:], y[100:]).network_.edges == edges
        assert model.network_.n_rows == len(X)

    def test_classes_may_be_named_first_and_later(self):
        X, y = dependent()
        model = NetworkClassifier("naive").partial_fit(X.head(9), y.head(9), classes=["z", "w"])
        assert model.classes_.tolist() == ["w", "x", "y", "z"]
        model.partial_fit(X.head(9), y.head(9), classes=["b"])
        assert model.classes_.tolist() == ["b", "w", "x", "y", "z"]
        p = model.predict_proba(X)
        assert p.shape == (len(X), 5)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert (p[:, 1] < p[:, 2:].max(axis=1)).all()

    @pytest.mark.parametrize("structure", ["tan", "hill-climb"])
    def test_weights_are_rows(self, structure):
        X, y = dependent(150)
        times = np.random.default_rng(1).integers(0, 4, 150)
        weighted = NetworkClassifier(structure).fit(X, y, sample_weight=times)
        rows = np.repeat(np.arange(150), times)
        repeated = NetworkClassifier(structure).fit(X.iloc[rows], y.iloc[rows])
        assert weighted.network_.edges == repeated.network_.edges
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-12)

    def test_columns_that_name_rows_or_hold_nothing_are_left_out(self):
        X, y = dependent()
        odd = X.assign(name=[f"n{i}" for i in range(len(X))], empty=None)
        with pytest.warns(IdentifierWarning, match="Column 'name' has hardly two rows alike"):
            model = NetworkClassifier().fit(odd, y)
        assert set(model.network_.nodes) == {*X, "kind"}
        np.testing.assert_array_equal(
            model.predict_proba(odd), NetworkClassifier().fit(X, y).predict_proba(X)
        )
        edges = [("kind", "name")]
        assert NetworkClassifier(edges).fit(odd, y).network_.nodes == ("kind", "name")


class TestInputs:
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
    def test_of_every_kind(self, make):
        columns = {"a": ["p", "q", None, "p"], "b": [1, 2, 2, 1], "c": [True, False, True, True]}
        expected = NetworkClassifier().fit(columns, [0, 1, 1, 0]).predict_proba(columns)
        model = NetworkClassifier().fit(make(columns), [0, 1, 1, 0])
        np.testing.assert_array_equal(model.predict_proba(make(columns)), expected)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]

    def test_arrays(self):
        X = np.array([[0, 1, 2], [1, 0, 2], [1, 1, 0], [0, 0, np.nan]])
        model = NetworkClassifier([("class", "x0"), ("class", "x2"), ("x0", "x2")])
        model.fit(X, np.array([2.0, 1.0, 1.0, 2.0]))
        assert model.classes_.dtype == np.float64
        assert model.predict(X).tolist() == [2.0, 1.0, 1.0, 2.0]
        assert not hasattr(model, "feature_names_in_")
        with pytest.raises(SchemaError, match="X has 2 features, but NetworkClassifier is expecti"):
            model.predict(X[:, :2])

    def test_classes_of_every_type(self):
        X = {"a": ["p", "q", "p"] * 4}
        model = NetworkClassifier().fit(X, [1, "1", True] * 4)
        assert [type(c) for c in model.classes_.tolist()] == [bool, bool, int, str]

    def test_measurements_are_refused(self):
        x = np.linspace(0, 1, 40)
        with pytest.raises(InputError, match=r"'height' holds numbers such as 0.0256.* Cut it"):
            NetworkClassifier().fit({"height": x}, [0, 1] * 20)
        with pytest.raises(InputError, match=r"'id' holds 2,000 different numbers"):
            NetworkClassifier().fit({"id": np.arange(2000)}, [0, 1] * 1000)
        half_stars = {"stars": [0.5, 1.0, 1.5, 2.0] * 5}
        assert (
            NetworkClassifier()
            .fit(half_stars, [0, 0, 1, 1] * 5)
            .score(half_stars, [0, 0, 1, 1] * 5)
            == 1.0
        )

    def test_cut_first(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 150)
        X = rng.normal(size=(150, 4)) + 2 * y[:, None]
        cut = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
        assert cross_val_score(make_pipeline(cut, NetworkClassifier()), X, y).mean() > 0.8

    def test_errors(self):
        X, y = dependent(30)
        with pytest.raises(
            SettingError, match=r"structure must be one of 'naive', .* not 'tam'.*'t"
        ):
            NetworkClassifier("tam").fit(X, y)
        with pytest.raises(SettingError, match="max_parents is 2, but only structure='hill-climb'"):
            NetworkClassifier("tan", max_parents=2).fit(X, y)
        with pytest.raises(SettingError, match="criterion is 'k2', but only"):
            NetworkClassifier("naive", criterion="k2").fit(X, y)
        with pytest.raises(SettingError, match="target is 'a', which is a column of X too"):
            NetworkClassifier(target="a").fit(X, y)
        with pytest.raises(
            SettingError, match=r"has no node 'kind' for the class. Nodes: 'a', 'b'"
        ):
            NetworkClassifier([("a", "b")]).fit(X, y)
        with pytest.raises(SchemaError, match=r"a node 'aa', but X has no such column.*mean 'a'"):
            NetworkClassifier([("kind", "aa")]).fit(X, y)
        with pytest.raises(SettingError, match="go round in a circle"):
            NetworkClassifier([("kind", "a"), ("a", "kind")]).fit(X, y)
        with pytest.raises(InputError, match="X has 30 rows, y has 3"):
            NetworkClassifier().fit(X, y[:3])
        with pytest.raises(InputError, match="Unknown label type: continuous"):
            NetworkClassifier().fit(X, np.linspace(0, 1, 30))
        with pytest.raises(InputError, match="sample_weight is zero in every row"):
            NetworkClassifier().fit(X, y, sample_weight=np.zeros(30))
        model = NetworkClassifier().fit(X, y)
        with pytest.raises(SchemaError, match="Column 'e' was not there when the model learned"):
            model.predict(X.assign(e=1))
        with pytest.raises(NotFittedError, match="NetworkClassifier instance is not fitted yet"):
            NetworkClassifier().predict(X)
        with pytest.raises(SettingError, match="network must be a BeliefNetwork"):
            NetworkClassifier.from_network("asia", "lung")
        with pytest.raises(SettingError, match=r"There is no node 'lungs'.*'lung'"):
            NetworkClassifier.from_network(example("asia"), "lungs")
        with pytest.raises(SettingError, match="tables of this network were given"):
            asia = NetworkClassifier.from_network(example("asia"), "lung")
            rows = pd.DataFrame(example("asia").sample(5, random_state=0))
            asia.partial_fit(rows.drop(columns="lung"), rows["lung"])

    def test_a_failing_fit_leaves_the_model(self):
        X, y = dependent(60)
        model = NetworkClassifier().fit(X, y)
        before = model.predict_proba(X)
        with pytest.raises(InputError):
            model.fit(X, y[:3])
        with pytest.raises(InputError):
            model.partial_fit(X.drop(columns="a"), y)
        np.testing.assert_array_equal(model.predict_proba(X), before)


class TestEcosystem:
    def test_cross_validation(self):
        X, y = dependent(600, gaps=0.1)
        scores = {s: cross_val_score(NetworkClassifier(s), X, y).mean() for s in ("naive", "tan")}
        assert scores["tan"] > scores["naive"] > 0.5

    def test_grid_search_and_clone(self):
        X, y = dependent(150)
        grid = {"structure": ["naive", "tan"], "smoothing": [0.1, 1.0]}
        search = GridSearchCV(NetworkClassifier(), grid, cv=3).fit(X, y)
        assert search.best_params_["structure"] in grid["structure"]
        asia = example("asia")
        copy = clone(NetworkClassifier(asia, target="lung"))
        assert copy.structure.edges == asia.edges

    def test_pickle(self):
        X, y = dependent(100, gaps=0.3)
        model = NetworkClassifier().fit(X, y)
        before = model.predict_proba(X)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), before)

    def test_play_tennis(self):
        X, y = play_tennis()
        model = NetworkClassifier(target="play").fit(X, y)
        assert model.score(X, y) == 1.0


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not there")
@pytest.mark.parametrize("name", ["car", "mushroom", "house_votes_84"])
def test_tan_is_no_worse_on_real_tables(name):
    table = pd.read_csv(next(DATA.glob(f"{name}.csv*")), dtype=str)
    table = table.sample(1500, random_state=0, replace=True)
    X, y = table.drop(columns="target"), table["target"]
    scores = {s: cross_val_score(NetworkClassifier(s), X, y, cv=3).mean() for s in ("naive", "tan")}
    assert scores["tan"] > scores["naive"] - 0.01
