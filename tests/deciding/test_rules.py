"""Decisions by costs, thresholds and priors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import priory
from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import SettingError, UncalibratedWarning
from priory.deciding.rules import Rule, read_costs
from priory.estimators import Decider


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(900, 6, n_informative=4, n_classes=3, random_state=1)
    names = np.array(["low", "middle", "high"])
    return pd.DataFrame(X, columns=list("abcdef")), names[y]


@pytest.fixture(scope="module")
def model(data):
    return NaiveBayes().fit(*data)


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(1_500, 5, flip_y=0.1, random_state=2)
    return X, y


@given(st.integers(2, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_no_decision_is_cheaper(n_classes, with_unsure, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), 20)
    costs = rng.exponential(size=(n_classes, n_classes + with_unsure))
    rule = Rule(tuple(range(n_classes)), -1, costs=costs)
    expected = np.array([[row @ costs[:, d] for d in range(costs.shape[1])] for row in p])
    np.testing.assert_allclose(rule.expected_costs(p), expected)
    taken = expected[np.arange(20), rule.codes(p)]
    assert (taken <= expected.min(axis=1) + 1e-9).all()
    assert set(rule.decide(p)) <= {*range(n_classes), -1}


def test_without_costs_it_is_the_likeliest_class(data, model):
    assert (model.decide().predict(data[0]) == model.predict(data[0])).all()


def test_costs_by_number_by_name_and_as_a_frame(data, model):
    X, _ = data
    numbers = [[0, 1, 9], [2, 0, 3], [4, 5, 0]]
    classes = model.classes_.tolist()
    frame = pd.DataFrame(numbers, index=classes, columns=classes)
    named = {a: {b: frame.loc[a, b] for b in classes if b != a} for a in classes}
    first, *others = (model.decide(costs=c).predict(X) for c in (numbers, frame, named))
    for other in others:
        assert (first == other).all()
    assert (first != model.predict(X)).any()


def test_unsure_by_probability_and_by_cost(data, model):
    X, _ = data
    p = model.predict_proba(X).max(axis=1)
    by_share = model.decide(unsure=0.8).predict(X)
    assert ((by_share == "unsure") == (p < 0.8)).all()
    by_cost = model.decide(unsure_cost=0.2).predict(X)  # Chow: the same, where errors cost 1
    assert (by_cost == by_share).mean() > 0.999
    of_class = model.decide(costs=1 - np.eye(3), unsure_cost=[0.0, 0.2, 0.2]).predict(X)
    assert (of_class == "unsure").sum() > (by_cost == "unsure").sum()


def test_numbers_have_a_number_for_unsure(two):
    found = NaiveBayes().fit(*two).decide(unsure=0.9).predict(two[0])
    assert set(found.tolist()) == {-1, 0, 1} and found.dtype == two[1].dtype


def test_prior_when_predicting_is_that_of_another_model(data, model):
    X, y = data
    wanted = {"low": 0.7, "middle": 0.2, "high": 0.1}
    p = model.decide(prior=wanted).predict_proba(X)
    np.testing.assert_allclose(p, model.with_prior(wanted).predict_proba(X), atol=1e-12)
    again = NaiveBayes(class_prior=wanted).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p, again, atol=1e-12)
    assert model.class_prior is None
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_prior_of_zero_rules_a_class_out(data, model):
    p = model.decide(prior=[0.5, 0.5, 0.0]).predict_proba(data[0])
    assert (p[:, 2] == 0).all()


def test_wanted_rates_are_met_on_new_rows(two):
    X, y = two
    model = NaiveBayes().fit(X[:1_000], y[:1_000])
    for rate, aim in (("precision", 0.9), ("recall", 0.97), ("false_positive_rate", 0.03)):
        found = model.decide(**{rate: aim}).predict(X[1_000:])
        e = priory.evaluate(model, X[1_000:], y[1_000:])
        hit = ((found == 1) & (y[1_000:] == 1)).sum()
        rates = {
            "precision": hit / (found == 1).sum(),
            "recall": hit / (y[1_000:] == 1).sum(),
            "false_positive_rate": ((found == 1) & (y[1_000:] == 0)).sum() / (y[1_000:] == 0).sum(),
        }
        assert rates[rate] == pytest.approx(aim, abs=0.05), (rate, e.accuracy)


def test_threshold_of_one_class_of_three(data, model):
    X, _ = data
    p = model.predict_proba(X)
    found = model.decide(threshold=0.2, positive="low").predict(X)
    low = model.classes_.tolist().index("low")
    assert ((found == "low") == (p[:, low] >= 0.2)).all()


def test_a_classifier_decides_too(two):
    classifier = Classifier().update(*two)
    costs = [[0, 1], [5, 0]]
    decided = classifier.decide(costs=costs)
    expected = classifier.to_sklearn().decide(costs=costs)
    assert (decided.predict(two[0]) == expected.predict(two[0])).all()
    assert "costs" in repr(decided)
    np.testing.assert_array_equal(decided.expected_costs(two[0]), expected.expected_costs(two[0]))
    assert decided.classes == (0, 1)


def test_texts_decide_too():
    texts = ["cheap offer now", "meet for lunch", "offer offer", "lunch at noon"] * 5
    model = TextNB().fit(texts, ["spam", "ham"] * 10)
    found = model.decide(costs={"ham": {"spam": 1}, "spam": {"ham": 1e6}}).predict(["lunch"])
    assert found.tolist() == ["spam"]


class TestAsAnEstimator:
    @pytest.mark.filterwarnings("ignore")
    @parametrize_with_checks(
        [NaiveBayes(weights="columns").decide()],
        expected_failed_checks=lambda _: {
            "check_sample_weight_equivalence_on_sparse_data": "as NaiveBayes",
            "check_sample_weight_equivalence_on_dense_data": "as NaiveBayes",
            "check_classifier_data_not_an_array": "as NaiveBayes",
        },
    )
    def test_scikit_learn_compatible(self, estimator, check):
        check(estimator)

    def test_in_pipelines_and_folds(self, two):
        X, y = two
        costs = [[0, 1], [20, 0]]
        pipeline = make_pipeline(StandardScaler(), NaiveBayes().decide(costs=costs))
        found = cross_val_predict(pipeline, X, y, cv=3)
        plain = cross_val_predict(NaiveBayes(), X, y, cv=3)
        spent = [np.array(costs)[y, f].mean() for f in (found, plain)]
        assert spent[0] < 0.85 * spent[1]

    def test_clone_keeps_options_and_forgets_the_model(self, model):
        decided = model.decide(unsure=0.9)
        copy = clone(decided)
        assert copy.unsure == 0.9 and not hasattr(copy, "estimator_")
        assert isinstance(decided, Decider) and decided.estimator_ is model

    def test_options_change_without_fitting(self, data, model):
        decided = model.decide(unsure=0.99)
        many = (decided.predict(data[0]) == "unsure").sum()
        few = (decided.set_params(unsure=0.6).predict(data[0]) == "unsure").sum()
        assert few < many

    def test_other_estimators_are_refused(self, two):
        with pytest.raises(SettingError, match="NaiveBayes or a TextNB"):
            Decider(StandardScaler()).fit(*two)


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"costs": [[0, 1], [1, 0]]}, r"3 classes .* its shape is \(2, 2\)"),
            ({"costs": [[0, 1, np.nan]] * 3}, "finite"),
            ({"costs": "cheap"}, "numbers, true class × decision"),
            ({"costs": {"lo": {"high": 1}}}, "row of class 'lo'.*Did you mean 'low'"),
            ({"costs": {"low": {"hihg": 1}}}, "neither a class.*Did you mean 'high'"),
            ({"costs": {"low": {"high": 1}}}, "says nothing of deciding for"),
            ({"costs": {"low": {"high": "x"}}}, "must be a number"),
            ({"costs": {"low": 3}}, "must map decisions to costs"),
            ({"unsure": 1.5}, "unsure must be between 0 and 1, not 1.5"),
            ({"unsure": 0.5, "unsure_cost": 1}, "give one of them"),
            ({"unsure_cost": [1, 2]}, "one for each of the 3 classes"),
            ({"prior": [0.5, 0.5]}, "Number of priors must match"),
            ({"prior": {"low": 1.0}}, "prior must name every class"),
            ({"threshold": 0.5}, "positive must name the one"),
            ({"threshold": 0.5, "positive": "hi"}, "no class.*Did you mean 'high'"),
            ({"threshold": 0.5, "recall": 0.5}, "each alone decides"),
            ({"positive": "low"}, "names the class that a threshold is of"),
            ({"recall": 1.1, "positive": "low"}, "recall must be between 0 and 1"),
            ({"unsure_label": "low"}, "unsure_label must be no class"),
            ({"cost": 1}, "no option 'cost'.*Did you mean 'costs'"),
        ],
    )
    def test_what_cannot_be_is_refused(self, model, options, match):
        with pytest.raises(SettingError, match=match):
            model.decide(**options)

    def test_untuned_models_warn(self, two):
        model = NaiveBayes.textbook().fit(*two)
        with pytest.warns(UncalibratedWarning, match="not tuned"):
            model.decide(unsure=0.9)
        with pytest.warns(UncalibratedWarning, match="An estimated prior"):
            model.estimate_prior(two[0])

    def test_rates_need_held_out_scores(self, two, tmp_path):
        NaiveBayes().fit(*two).save(tmp_path / "m.priory")
        with pytest.raises(SettingError, match=r"loaded from a file.*Give threshold"):
            priory.load(tmp_path / "m.priory").decide(recall=0.9)


def test_costs_named_by_text():
    found = read_costs({"0": {"1": 3}, "1": {"0": 2, "-1": 7}, 0: {-1: 6}}, (0, 1), -1)
    assert found.tolist() == [[0, 3, 6], [2, 0, 7]]


class TestEstimatedPrior:
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_shifted_shares_are_found(self, share):
        rng = np.random.default_rng(3)
        y = rng.random(2_000) < 0.5
        new = rng.random(3_000) < share
        model = NaiveBayes().fit(rng.normal(size=(2_000, 3)) + 0.8 * y[:, None], y)
        X = rng.normal(size=(3_000, 3)) + 0.8 * new[:, None]
        found = model.estimate_prior(X, level=0.99)
        assert found.prior[1] == pytest.approx(share, abs=0.03)
        assert found.low[1] <= new.mean() + 0.02 and found.high[1] >= new.mean() - 0.02
        assert (found.p_value < 1e-6) == (share != 0.5)
        known = model.decide(prior=[1 - share, share]).predict(X)
        guessed = model.decide(prior=found.prior).predict(X)
        assert abs((known == new).mean() - (guessed == new).mean()) < 0.005
        assert "interval" in str(found) and found.to_dict()["rows"] == 3_000

    def test_intervals_cover(self):
        """Of P(k | x) that are right, 90 % intervals cover the share nine times in ten."""
        from priory.deciding.priors import estimate_prior

        rng, inside = np.random.default_rng(4), []
        for _ in range(200):
            share = rng.uniform(0.2, 0.8)
            y = rng.random(300) < share
            x = rng.normal(size=300) + 1.5 * y
            p = 1 / (1 + np.exp(-1.5 * (x - 0.75)))
            found = estimate_prior(np.column_stack([1 - p, p]), np.array([0.5, 0.5]), (0, 1), 0.9)
            inside.append(found.low[1] <= share <= found.high[1])
        assert 0.84 < np.mean(inside) < 0.95

    def test_no_rows(self, two):
        with pytest.raises(priory.PrioryError, match="no rows"):
            NaiveBayes().fit(*two).estimate_prior(np.empty((0, 5)))


def test_settings_stay_as_they_were(two):
    classifier = Classifier(Settings()).update(*two)
    other = classifier.with_prior([0.9, 0.1])
    assert classifier.settings.class_prior is None
    assert other.update(*two).statistics.n_rows == 3_000 and classifier.statistics.n_rows == 1_500
