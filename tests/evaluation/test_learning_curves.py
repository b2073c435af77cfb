"""Learning curves."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from priory import Classifier, NaiveBayes, TextNB
from priory.base.errors import InputError, SettingError
from priory.data.reading import read_labels
from priory.estimators import CategoricalNB
from priory.evaluation import learning_curve
from priory.evaluation.learning_curves import Encoder, _split, take_rows

mpl.use("Agg")


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + y[:, None], y


def mixed(n=120):
    X, y = data(n)
    word = np.array(list("pqr"))[y]
    return pd.DataFrame({"x": X[:, 0], "word": np.where(X[:, 1] > 1, word, "s")}), y


def test_metrics_are_those_of_the_models():
    X, y = data()
    curve = learning_curve(
        {"g": GaussianNB()}, X, y, train_sizes=[20, 100], n_repeats=2, random_state=5
    )
    rng = np.random.default_rng(5)
    for r, (order, test) in enumerate([_split(read_labels(y), 0.3, rng) for _ in range(2)]):
        for j, size in enumerate((20, 100)):
            model = GaussianNB().fit(X[order[:size]], y[order[:size]])
            assert curve.errors[0, j, r] == pytest.approx(1 - model.score(X[test], y[test]))
            expected = log_loss(y[test], model.predict_proba(X[test]))
            assert curve.log_losses[0, j, r] == pytest.approx(expected)
    assert curve.n_test == len(test)
    again = learning_curve(
        {"g": GaussianNB()}, X, y, train_sizes=[20, 100], n_repeats=2, random_state=5
    )
    np.testing.assert_array_equal(curve.errors, again.errors)


def test_rows_are_held_out_and_every_class_is_learned():
    y = read_labels(np.array([0] * 50 + [1] * 6 + [2]))
    for seed in range(5):
        order, test = _split(y, 0.3, np.random.default_rng(seed))
        assert sorted([*order, *test]) == list(range(57))
        assert set(y.codes[order[:3]]) == {0, 1, 2}
        assert np.bincount(y.codes[test]).tolist() == [15, 2]


def test_default_is_naive_bayes_against_softmax_or_logistic_regression():
    X, y = mixed()
    two = learning_curve(None, X, y > 0, train_sizes=[30], n_repeats=1)
    assert two.names == ("naive Bayes", "logistic regression")
    curve = learning_curve(None, X, y, n_repeats=2)
    assert curve.names == ("naive Bayes", "softmax regression")
    assert curve.train_sizes[-1] == len(y) - curve.n_test
    assert curve.error.shape == curve.log_loss.shape == (2, len(curve.train_sizes))
    text = str(curve)
    assert text.splitlines()[0].split() == [
        *("error,", "training", "rows", "naive", "Bayes", "softmax", "regression")
    ]
    assert "log-loss, training rows" in text
    plain = json.loads(json.dumps(curve.to_dict()))
    assert plain["models"] == list(curve.names)
    assert np.asarray(plain["error"]).shape == (2, len(curve.train_sizes))


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t,
        pl.DataFrame,
        lambda t: pa.table(t.to_dict("list")),
        lambda t: t.to_dict("list"),
        lambda t: t.to_dict("records"),
    ],
)
def test_any_table(make):
    X, y = mixed()
    expected = learning_curve(None, X, y, train_sizes=[30], n_repeats=1)
    found = learning_curve(None, make(X), y.tolist(), train_sizes=[30], n_repeats=1)
    np.testing.assert_allclose(found.log_losses, expected.log_losses, atol=1e-6)


TEXTS = ["win cash now", "cash prize", "lunch at noon", "see you", "our prize", "at lunch"] * 10
FOLDERS = ["spam", "spam", "ham", "ham", "spam", "ham"] * 10


def test_texts_are_naive_bayes_against_regression_on_the_counts_of_words():
    curve = learning_curve(None, TEXTS, FOLDERS, train_sizes=[12, 40], n_repeats=2, random_state=3)
    assert curve.names == ("naive Bayes", "logistic regression")
    models = {
        "nb": make_pipeline(CountVectorizer(), MultinomialNB()),
        "lr": make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)),
    }
    theirs = learning_curve(
        models, TEXTS, FOLDERS, train_sizes=[12, 40], n_repeats=2, random_state=3
    )
    np.testing.assert_allclose(curve.log_losses, theirs.log_losses, rtol=1e-6)
    assert curve.n_test == 18


@pytest.mark.parametrize(
    "make", [tuple, np.array, pd.Series, pl.Series, pa.array, lambda t: pa.chunked_array([t])]
)
def test_texts_of_any_kind(make):
    expected = learning_curve(None, TEXTS, FOLDERS, train_sizes=[12], n_repeats=1)
    found = learning_curve(None, make(TEXTS), FOLDERS, train_sizes=[12], n_repeats=1)
    np.testing.assert_array_equal(found.log_losses, expected.log_losses)
    models = {"default": TextNB(), "textbook": TextNB.textbook()}
    given = learning_curve(models, make(TEXTS), FOLDERS, train_sizes=[12], n_repeats=1)
    np.testing.assert_array_equal(given.log_losses[1], expected.log_losses[0])


def test_missing_texts_are_empty_and_a_table_of_one_column_stays_a_table():
    gaps = [None if i % 7 == 0 else text for i, text in enumerate(TEXTS)]
    empty = ["" if text is None else text for text in gaps]
    found, expected = (
        learning_curve(None, texts, FOLDERS, train_sizes=[30], n_repeats=1)
        for texts in (gaps, empty)
    )
    np.testing.assert_allclose(found.log_losses, expected.log_losses, rtol=1e-9)
    numbers = pd.DataFrame({"x": np.arange(60.0)})
    assert learning_curve(None, numbers, FOLDERS, train_sizes=[30], n_repeats=1).error.shape == (
        2,
        1,
    )


def test_any_models():
    X, y = data()
    models = [
        NaiveBayes.textbook(),
        GaussianNB(),
        make_pipeline(StandardScaler(), LinearSVC()),
        GaussianNB(var_smoothing=0.1),
    ]
    curve = learning_curve(models, X, y, train_sizes=[60], n_repeats=1)
    assert curve.names == ("NaiveBayes", "GaussianNB", "LinearSVC", "GaussianNB #2")
    assert np.isnan(curve.log_loss[2, 0])
    assert "–" in str(curve)
    assert curve.to_dict()["log_loss"][2] == [None]
    words = learning_curve(CategoricalNB(), (X > 0.5).astype(int), y, train_sizes=[50], n_repeats=1)
    assert words.names == ("CategoricalNB",)
    counts = sp.csr_matrix((X > 0.5).astype(float))
    assert learning_curve(MultinomialNB(), counts, y, train_sizes=[50], n_repeats=1).error[0, 0] < 1


def test_encoder_is_scaling_and_one_hot():
    X, _ = mixed()
    theirs = make_column_transformer(
        (StandardScaler(), ["x"]),
        (OneHotEncoder(handle_unknown="ignore"), ["word"]),
        sparse_threshold=0,
    ).fit(X[:80])
    ours = Encoder().fit(X[:80])
    np.testing.assert_allclose(np.sort(ours.transform(X)), np.sort(theirs.transform(X)))
    gap = pd.DataFrame({"x": [None, np.nan], "word": [None, "never seen"]})
    assert not ours.transform(gap).any()


def test_picture():
    X, y = data(80)
    figure = learning_curve(None, X, y, train_sizes=[10, 30], n_repeats=2).plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["error", "log-loss"]
    assert len(figure.axes[0].lines) == 2
    mpl.pyplot.close(figure)


def test_take_rows():
    rows = np.array([2, 0])
    assert take_rows(("a", "b", "c"), rows) == ["c", "a"]
    assert take_rows(pa.table({"a": [1, 2, 3]}), rows).to_pydict() == {"a": [3, 1]}


def test_refused():
    X, y = data(60)
    cases = [
        ({"models": {}}, "models must hold at least one model"),
        ({"models": {"c": Classifier()}}, "Model 'c' must be a scikit-learn classifier"),
        ({"train_sizes": [2]}, "train_sizes has 2, but must lie between 3"),
        ({"train_sizes": [0.5]}, "train_sizes must be integers"),
        ({"n_repeats": 0}, "n_repeats must be an integer of at least 1, not 0"),
        ({"test_size": 1.0}, "test_size must be between 0 and 1, not 1.0"),
    ]
    for more, message in cases:
        with pytest.raises(SettingError, match=message):
            learning_curve(**{"models": LogisticRegression(), "X": X, "y": y, **more})
    with pytest.raises(InputError, match="X has 60 rows, y has 3"):
        learning_curve(None, X, y[:3])
    with pytest.raises(InputError, match="X has 2 rows, y has 3"):
        learning_curve(None, ["a text", "another"], ["a", "b", "b"])
    with pytest.raises(InputError, match="X must be a table or a list of texts, not one text: 'a"):
        learning_curve(None, "a text", ["a"])
    with pytest.raises(InputError, match="too few to hold out"):
        learning_curve(None, X[:3], ["a", "b", "c"])
