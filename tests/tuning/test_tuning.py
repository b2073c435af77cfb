"""What the default chooses: held to laws, and to rows that were really held out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold

from priory import (
    CategoricalNB,
    Classifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    Settings,
    TextNB,
    cross_validate,
    evaluate,
    leave_one_out,
)
from priory.base.errors import SettingError
from priory.data.reading import read
from priory.families import Categorical, StudentT, Words
from priory.tuning.calibration import Rows, learn_weights, log_loss

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def rows():
    """Return a mixed table with gaps, in which two columns say the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    height = rng.normal(size=400) + y
    table = pd.DataFrame(
        {
            "height": height,
            "inches": height / 0.0254,
            "income": np.exp(rng.normal(size=400) + y),
            "colour": np.where(rng.random(400) < 0.3, y, rng.integers(0, 3, 400)).astype(str),
            "noise": rng.choice(["a", "b"], 400),
        }
    )
    table.loc[rng.random(400) < 0.2, "income"] = np.nan
    table.loc[rng.random(400) < 0.2 * y, "colour"] = None  # that it is missing tells
    return table, y


# What is chosen


def test_what_says_the_same_shares_its_weight_and_noise_has_little(rows):
    model = NaiveBayes().fit(*rows)
    weights = model.classifier_.weights
    assert weights["height"] == pytest.approx(weights["inches"], abs=0.05)
    assert 0.7 < weights["height"] + weights["inches"] < 1.4
    kinds = {term.block.name: term.family for term in model.model_.terms if term.about == "value"}
    assert isinstance(kinds["height"], StudentT)
    assert "weight" in str(model.schema_).splitlines()[0]


def test_a_number_that_names_what_comes_several_times_is_a_name():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 100, 300)
    y = rng.permutation(np.arange(1000) % 2)[person]
    table = {"person": person, "x": rng.normal(size=300)}
    model = NaiveBayes().fit(table, y)
    assert isinstance(model.model_.terms[0].family, Categorical)
    assert leave_one_out(model, table, y).accuracy > 0.9


def test_a_number_far_out_does_not_decide():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    table = {"age": rng.normal(45, 12, 500) + 6 * y, "other": rng.normal(size=500) + y}
    model = NaiveBayes(pairs=None).fit(table, y)
    far = {"age": [455.0, 4550.0], "other": [0.5, 0.5]}
    assert model.predict_proba(far).min() > 0.01


def test_columns_of_noise_do_not_pull_down_the_weights_of_the_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (600, 3)), columns=list("abc")).astype(str)
    y = (X == "0").sum(axis=1).to_numpy() + (rng.random(600) < 0.1)
    noise = pd.DataFrame(rng.normal(size=(600, 60)), columns=[f"noise{j}" for j in range(60)])
    alone, beside = (NaiveBayes(pairs=None).fit(table, y) for table in (X, X.join(noise)))
    told, other = (model.classifier_.tuning.weights for model in (alone, beside))
    for name in X:
        assert other[name, "value"] > 0.6 * told[name, "value"]
    assert np.mean([other[name, "value"] for name in noise]) < 0.4 * other["a", "value"]


def test_a_row_unlike_all_others_of_its_class_is_not_impossible():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [400, 20])
    table = {f"x{j}": rng.normal(size=420) for j in range(3)}
    table["flag"] = y * rng.integers(1, 4, 420) * 1.0  # 0 wherever the class is 0
    model = NaiveBayes().fit(table, y)
    row = {name: values[:1] for name, values in table.items()} | {"flag": [2.0]}
    assert model.predict_proba(row)[0, 0] > 1e-14
    table["flag"][0] = 2.0
    assert leave_one_out(NaiveBayes().fit(table, y), table, y).log_loss < 0.1


def test_gaps_speak_where_they_tell_something(rows):
    titles = NaiveBayes().fit(*rows).classifier_.weights
    assert "colour is missing" in titles
    assert "colour is missing" not in NaiveBayes(missing="skip").fit(*rows).classifier_.weights


def test_what_was_asked_for_is_not_chosen(rows):
    table, y = rows
    model = NaiveBayes({"income": "log-normal"}, smoothing=1.0, weights=None).fit(table, y)
    assert model.model_.terms[2].family == StudentT(transform="log")
    assert {term.weight for term in model.model_.terms} == {1.0}
    assert "weight" not in str(model.schema_).splitlines()[0]


def test_temperature_is_one_weight_for_all(rows):
    model = NaiveBayes(weights="temperature").fit(*rows)
    assert len({round(w, 12) for w in model.classifier_.weights.values()}) == 1


def test_one_class_is_not_tuned(rows):
    table, y = rows
    assert NaiveBayes().fit(table[y == 1], y[y == 1]).classifier_.tuning is None
    assert NaiveBayes().fit(table[:3], y[:3]).classifier_.tuning is not None


def test_a_row_of_gaps_has_the_prior(rows):
    table, y = rows
    model = NaiveBayes(missing="skip").fit(table, y)
    nothing = table.head(1).map(lambda _: None)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.bincount(y) / len(y))


def test_the_order_of_the_rows_does_not_matter(rows):
    table, y = rows
    order = np.random.default_rng(1).permutation(len(y))
    for size in (50_000, 150):
        a = NaiveBayes(sample_size=size).fit(table, y).predict_proba(table)
        b = NaiveBayes(sample_size=size).fit(table.iloc[order], y[order]).predict_proba(table)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-8)


# Additive all the same


def test_rows_that_are_alike_are_spread_over_sample_and_folds():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 4000)
    few = pd.DataFrame(
        {"a": np.where(rng.random(4000) < 0.7, y, 1 - y), "b": rng.integers(0, 2, 4000)}
    )
    few = few.astype(str)  # eight kinds of rows in all
    model = NaiveBayes(sample_size=1000).fit(few, y)
    scored = model.classifier_.tuning.scored
    assert scored.rows.sum() == 4000 and len(set(scored.rows)) > 1
    held_out = cross_validate(NaiveBayes(), few, y).log_loss
    assert leave_one_out(NaiveBayes().fit(few, y), few, y).log_loss == pytest.approx(
        held_out, rel=0.01
    )


def test_the_linear_form_and_the_explanation_have_the_weights(rows):
    table, y = rows
    labels = table[["colour", "noise"]].dropna()
    model = NaiveBayes(missing="skip").fit(labels, y[labels.index])
    form = model.linear_form()
    present = [{f"{name}={row[name]}" for name in labels} for _, row in labels.iterrows()]
    one_hot = np.array([[f in features for f in form.features] for features in present], float)
    scores = one_hot @ form.weights + form.bias
    np.testing.assert_allclose(scores, model.predict_joint_log_proba(labels), atol=1e-9)
    for worked, expected in zip(model.explain(labels.head(5)), scores, strict=False):
        np.testing.assert_allclose(worked.log_joint, expected, atol=1e-9)
        total = worked.log_prior + worked.bias
        total = total + sum(factor.weight * factor.log_likelihood for factor in worked.factors)
        np.testing.assert_allclose(total, expected, atol=1e-9)


def test_densities_have_no_weights(rows):
    table, y = rows
    tuned = NaiveBayes("plain", smoothing=1.0, missing="skip").fit(table, y)
    plain = NaiveBayes.textbook().fit(table, y)
    assert not np.allclose(tuned.predict_proba(table), plain.predict_proba(table))
    np.testing.assert_allclose(tuned.score_samples(table), plain.score_samples(table))


# Learning on


# Honest figures


def refitted(model, X, y, rows=None):
    """Return P(k | row) by fitting again without each row."""
    found = []
    for i in range(len(y)) if rows is None else rows:
        rest = np.arange(len(y)) != i
        fresh = model().fit(X[rest], y[rest])
        found.append(fresh.predict_proba(X[i : i + 1])[0])
    return np.array(found)


@pytest.mark.parametrize(
    ("model", "make"),
    [
        (lambda: GaussianNB(), lambda X: X),
        (lambda: MultinomialNB(), np.round),
        (lambda: CategoricalNB(min_categories=10), lambda X: np.minimum(X, 9).astype(int)),
    ],
)
def test_leave_one_out_is_refitting(model, make):
    X, y = load_iris(return_X_y=True)
    X = make(X)
    found = leave_one_out(model(), X, y)
    assert found.how == "exact leave-one-out"
    some = range(0, 150, 10)
    np.testing.assert_allclose(found.probabilities[some], refitted(model, X, y, some), atol=1e-10)


def test_leave_one_out_of_a_text_is_refitting():
    texts = np.array(["red sea", "red sky", "blue sea", "blue sky at sea", "green", "red red"] * 3)
    y = np.array([0, 0, 1, 1, 1, 0] * 3)
    for readout in ("multinomial", "bernoulli", "complement", Words("complement", "log")):
        found = leave_one_out(TextNB(readout, 0.5, weights=None), texts, y)
        by_hand = refitted(lambda r=readout: TextNB(r, 0.5, weights=None), texts, y)
        np.testing.assert_allclose(found.probabilities, by_hand, atol=1e-10)


def test_folds_are_those_of_refitting(rows):
    table, y = rows
    found = cross_validate(NaiveBayes.textbook(), table, y, folds=5, random_state=3)
    expected = np.empty_like(found.probabilities)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    for train, test in folds.split(table, y):
        model = NaiveBayes.textbook().fit(table.iloc[train], y[train])
        expected[test] = model.predict_proba(table.iloc[test])
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-10)
    assert found.how == "5-fold"


def test_tuned_folds_are_tuned_without_the_fold(rows):
    table, y = rows
    found = cross_validate(NaiveBayes(), table, y, folds=4)
    honest = leave_one_out(NaiveBayes(), table, y)
    assert honest.how == "cross-fitted"
    assert found.log_loss == pytest.approx(honest.log_loss, rel=0.1)


def test_a_classifier_and_groups(rows):
    table, y = rows
    plain = Classifier(Settings.textbook()).update(table, y)
    assert leave_one_out(plain, table, y).accuracy > 0.5
    groups = np.arange(len(y)) // 40
    assert cross_validate(plain, table, y, folds=5, groups=groups).accuracy > 0.5
    with pytest.raises(SettingError, match="one of priory's"):
        leave_one_out(object(), table, y)
    with pytest.raises(SettingError, match="folds must be"):
        cross_validate(plain, table, y, folds=1)


@pytest.mark.parametrize(
    "load",
    [load_iris, load_wine, pytest.param(load_breast_cancer, marks=pytest.mark.long)],
)
def test_the_default_is_better_than_the_textbook_and_honest_about_it(load):
    X, y = load(return_X_y=True)
    tuned, plain, told = [], [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = NaiveBayes().fit(X[train], y[train])
        tuned.append(evaluate(model, X[test], y[test]).log_loss)
        textbook = NaiveBayes.textbook().fit(X[train], y[train])
        plain.append(evaluate(textbook, X[test], y[test]).log_loss)
        told.append(leave_one_out(model, X[train], y[train]).log_loss)
    assert np.mean(tuned) < np.mean(plain)
    noise = 3 * np.std(tuned) / np.sqrt(5) + 0.01
    assert abs(np.mean(tuned) - np.mean(told)) < noise


def test_weights_fitted_on_learned_rows_are_worse():
    """Keep the reason for leave-one-out in sight: rows that were learned flatter their columns."""
    rng = np.random.default_rng(5)
    losses = {"left out": 0.0, "learned": 0.0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 600)
        table = pd.DataFrame(
            {f"id{j}": rng.integers(0, 120, 600).astype(str) for j in range(6)}
            | {"x": np.where(rng.random(600) < 0.75, y, 1 - y).astype(str)}
        )
        train, test = slice(0, 300), slice(300, 600)
        settings = {"smoothing": 1.0, "missing": "skip", "families": "plain"}
        model = NaiveBayes(**settings).fit(table[train], y[train])
        losses["left out"] += evaluate(model, table[test], y[test]).log_loss
        plain = NaiveBayes(weights=None, **settings).fit(table[train], y[train])

        def scores(X, plain=plain):
            frame = read(X, plain.statistics_.schema)
            terms = np.zeros((len(plain.model_.terms), len(X), 2), dtype=np.float32)
            for j, term in enumerate(plain.model_.terms):
                out = np.zeros((len(X), 2))
                term.add_log_likelihood(frame, out)
                terms[j] = out
            prior = np.tile(plain.model_.log_prior, (len(X), 1))
            return terms, prior

        terms, prior = scores(table[train])
        ones = np.ones(300)
        resubstituted = learn_weights(terms, Rows(prior, y[train], ones, ones))
        terms, prior = scores(table[test])
        held_out = resubstituted.scores(Rows(prior, y[test], ones, ones), terms)
        losses["learned"] += log_loss(held_out, y[test], ones) / 300
    assert losses["left out"] < 0.9 * losses["learned"]


@pytest.mark.parametrize("name", ["heart_c", "credit_g", "titanic"])
def test_real_tables_are_told_the_truth(name):
    if not DATA.is_dir():
        pytest.skip("the folder shared/data is not there")
    table = pd.read_csv(DATA / f"{name}.csv", keep_default_na=False, na_values=[""])
    table = table.drop(columns=[c for c in table if c == "Name"])
    y = table.pop("target").to_numpy(dtype=object)
    held_out, told = [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(table, y):
        model = NaiveBayes().fit(table.iloc[train], y[train])
        held_out.append(evaluate(model, table.iloc[test], y[test]).log_loss)
        told.append(leave_one_out(model, table.iloc[train], y[train]).log_loss)
    noise = 3 * np.std(held_out) / np.sqrt(5)
    assert abs(np.mean(held_out) - np.mean(told)) < noise
