"""How much columns and words tell of the class, and scikit-learn's selection by it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import IdentifierWarning
from priory.families import Words
from priory.model.information import column_information, word_importances


def table(n=300, seed=0):
    """Return a table with two columns that tell of the class and two that do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    letters = np.array(list("pqr"))
    columns = {
        "number": rng.normal(size=n) + y,
        "noise": rng.normal(size=n),
        "letter": np.where(rng.random(n) < 0.6, letters[y], letters[rng.integers(0, 3, n)]),
        "coin": rng.random(n) < 0.5,
    }
    return pd.DataFrame(columns), y


def corrected(x, y):
    """Return I(X; Y) in bits, less what chance adds to the first order."""
    freedom = (len(np.unique(x)) - 1) * (len(np.unique(y)) - 1)
    return max(0.0, (mutual_info_score(x, y) - freedom / (2 * len(y))) / np.log(2))


def test_importance_is_weight_times_information():
    X, y = table()
    labels = X[["letter", "coin"]].assign(six=np.arange(300) % 6 + y % 2)
    labels["six"] = labels["six"].astype(str)
    bits = np.array([corrected(labels[c], y) for c in labels])
    model = NaiveBayes.textbook().fit(labels, y)
    np.testing.assert_allclose(model.feature_importances_, bits / bits.sum())
    tuned = NaiveBayes(families="categorical", weights="columns").fit(labels, y)
    weights = np.array([term.weight for term in tuned.model_.terms])
    expected = weights * bits / (weights * bits).sum()
    np.testing.assert_allclose(tuned.feature_importances_, expected)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"pairs": "auto"},
        {"structure": "tan"},
        {"structure": "aode"},
        {"structure": "joint"},
        {"structure": "hill-climb"},
        {"structure": [("number", "noise"), ("coin", "noise")]},
        {"families": {("number", "noise"): "gaussian"}},
        {"families": {("number", "noise"): "multivariate-gaussian"}},
    ],
)
def test_columns_that_tell_come_first(settings):
    X, y = table()
    found = NaiveBayes(**settings).fit(X, y).feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)
    number, noise, letter, coin = found
    assert min(number, letter) > 0.2
    assert max(noise, coin) < 0.05


def test_a_joint_table_is_shared_evenly():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 200))
    X = pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)
    y = a ^ b  # neither tells anything alone
    model = NaiveBayes(families={("a", "b"): "joint"}, weights=None).fit(X, y)
    np.testing.assert_allclose(model.feature_importances_, [0.5, 0.5, 0], atol=0.02)


def test_counts_are_judged_by_token():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.poisson(3, (400, 3))
    X[:, 1] += 2 * y
    found = NaiveBayes(families="multinomial", weights=None).fit(X, y).feature_importances_
    counts = np.array([X[y == k].sum(axis=0) for k in (0, 1)])
    p = counts / counts.sum()
    bits = (p * np.log2(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum(axis=0)
    bits = np.maximum(bits - 1 / (2 * (X > 0).sum() * np.log(2)), 0)
    np.testing.assert_allclose(found, bits / bits.sum())


def test_gaps_make_a_column_tell_less_and_may_tell_themselves():
    X, y = table()
    whole = NaiveBayes.textbook().fit(X, y).feature_importances_
    holes = X.copy()
    holes.loc[np.random.default_rng(1).random(300) < 0.6, "number"] = np.nan
    assert NaiveBayes.textbook().fit(holes, y).feature_importances_[0] < 0.7 * whole[0]
    telling = X.copy()
    telling.loc[y == 0, "noise"] = np.nan
    skip, category = (
        NaiveBayes(missing=missing, weights=None).fit(telling, y).feature_importances_[1]
        for missing in ("skip", "category")
    )
    assert skip < 0.1
    assert category > 0.3


def test_columns_that_are_left_out_have_none():
    X, y = table()
    X.insert(0, "name", [f"row {i}" for i in range(len(X))])
    X["gap"] = None
    with pytest.warns(IdentifierWarning, match="it is a unique identifier and was left out"):
        model = NaiveBayes(select="mdl").fit(X, y)
    assert set(X.columns[model.feature_importances_ > 0]) == {"number", "letter"}
    alone = NaiveBayes.textbook().fit(X[["gap", "coin"]], np.zeros(len(X), dtype=int))
    assert alone.feature_importances_.tolist() == [0, 0]  # one class: there is nothing to tell


def test_the_scale_of_weights_says_nothing_and_pieces_are_the_whole():
    X, y = table()
    whole = NaiveBayes.textbook().fit(X, y)
    heavy = NaiveBayes.textbook().fit(X, y, np.full(300, 10.0))
    np.testing.assert_allclose(heavy.feature_importances_, whole.feature_importances_)
    pieces = NaiveBayes.textbook().partial_fit(X[:100], y[:100])
    pieces.partial_fit(X[100:][X.columns[::-1]], y[100:])  # in another order
    found = dict(zip(pieces.feature_names_in_, pieces.feature_importances_, strict=True))
    np.testing.assert_allclose([found[c] for c in X], whole.feature_importances_)


def test_not_fitted():
    for model in (NaiveBayes(), TextNB()):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            _ = model.feature_importances_


@pytest.mark.parametrize("model", [NaiveBayes(), NaiveBayes.textbook()])
def test_select_from_model(model):
    X, y = table()
    chosen = SelectFromModel(model).fit(X, y)  # more than the mean
    assert chosen.get_feature_names_out().tolist() == ["number", "letter"]
    chosen.set_output(transform="pandas")
    assert list(chosen.transform(X)) == ["number", "letter"]
    pipeline = make_pipeline(SelectFromModel(model).set_output(transform="pandas"), NaiveBayes())
    assert pipeline.fit(X, y).score(X, y) > 0.6
    iris, kinds = load_iris(return_X_y=True)
    noisy = np.hstack([iris, np.random.default_rng(0).normal(size=(150, 3))])
    assert SelectFromModel(model).fit(noisy, kinds).get_support().tolist()[2:] == [
        *(True, True),
        *(False, False, False),
    ]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("model", [NaiveBayes(), NaiveBayes.textbook()])
def test_recursive_feature_elimination(model, make):
    X, y = load_iris(return_X_y=True)
    noisy = np.hstack([np.random.default_rng(0).normal(size=(150, 3)), X])
    given = make(noisy)
    if isinstance(given, pd.DataFrame):
        given.columns = [f"column {i}" for i in range(7)]
    chosen = RFE(model, n_features_to_select=2).fit(given, y)
    assert chosen.get_support(indices=True).tolist() == [5, 6]  # the petals
    if model.weights is None:  # the default also distrusts what repeats the petals
        assert sorted(chosen.ranking_[:3].tolist()) == [4, 5, 6]  # the noise goes first
    assert len(chosen.estimator_.feature_importances_) == 2
    assert chosen.score(given, y) > 0.9
    by_folds = RFECV(NaiveBayes.textbook(), cv=3).fit(given, y)
    assert set(by_folds.get_support(indices=True)) >= {5, 6}


def test_words():
    texts = ["free cash now", "cash now", "lunch now", "at lunch now"] * 10
    y = np.array([1, 1, 0, 0] * 10)
    model = TextNB.textbook().fit(texts, y)
    words = model.words_.tolist()
    counts = np.array([[sum(t.split().count(w) for t in np.array(texts)[y == k]) for w in words]
                       for k in (0, 1)])  # fmt: skip
    p = counts / counts.sum()
    ratio = np.divide(p, np.outer(p.sum(axis=1), p.sum(axis=0)), out=np.ones_like(p), where=p > 0)
    bits = (p * np.log2(ratio)).sum(axis=0) - 1 / (2 * counts.sum() * np.log(2))
    bits = np.maximum(bits, 0)
    np.testing.assert_allclose(model.feature_importances_, bits / bits.sum())
    assert set(np.array(words)[np.argsort(-model.feature_importances_)[:2]]) == {"cash", "lunch"}
    assert model.feature_importances_[words.index("now")] == 0
    heavy = TextNB.textbook().fit(texts, y, np.full(40, 10.0))
    np.testing.assert_allclose(heavy.feature_importances_, model.feature_importances_)
    few = TextNB(Words(min_df=15)).fit(texts, y)
    assert len(few.feature_importances_) == len(few.words_) == 3
    empty = TextNB.textbook().fit(["", ""], [0, 1])
    assert empty.feature_importances_.tolist() == []
    assert word_importances(empty.statistics_.tables["text"]).tolist() == []


def test_a_text_beside_other_columns():
    X, y = table()
    rng = np.random.default_rng(0)
    X["text"] = [" ".join(rng.choice(["one", "two", f"word{k}"], 5)) for k in y]
    found = NaiveBayes.textbook().set_params(text=["text"]).fit(X, y).feature_importances_
    assert found.argmax() == 4
    assert found[4] < 0.8  # no more than the entropy of the class


def test_information_of_columns_is_plain():
    X, y = table()
    found = column_information(Classifier(Settings.textbook()).update(X, y).statistics)
    expected = mutual_info_score(X["letter"], y) / np.log(2)
    assert found["letter"].bits == pytest.approx(expected)
