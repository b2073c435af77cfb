"""Rows without a class."""

import numpy as np
import pandas as pd
import pytest

import priory
from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import SettingError
from priory.deciding.unlabelled import SoftModel, _matrix

TOPICS = ("tea cup leaf kettle brew", "goal ball team score match", "vote law party seat poll")


def texts(n, seed, words_in_text=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    common = [f"w{i}" for i in range(30)]
    found = []
    for k in y:
        own = TOPICS[k].split()
        own = [f"{word}{i}" for word in own for i in range(8)]
        found.append(" ".join([*rng.choice(own, words_in_text), *rng.choice(common, 6)]))
    return found, y


def table(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n) + 1.2 * y for j in range(6)})
    X["c"] = np.where(rng.random(n) < 0.8, np.where(y == 1, "a", "b"), "c")
    X.loc[rng.random(n) < 0.1, "x0"] = np.nan
    return X, y


def test_texts_without_a_class_help():
    X, y = texts(18, 1, 2)
    more, _ = texts(600, 2, 2)
    new, labels = texts(600, 3, 2)
    alone = priory.evaluate(TextNB().fit(X, y), new, labels)
    model = TextNB().fit(X, y, unlabelled=more)
    both = priory.evaluate(model, new, labels)
    assert both.accuracy > alone.accuracy + 0.05 and both.log_loss < alone.log_loss
    assert model.statistics_.n_rows > 600
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1)


def test_tables_are_not_made_worse():
    for seed in range(4):
        X, y = table(60, seed)
        new, labels = table(1_000, 100 + seed)
        alone = priory.evaluate(NaiveBayes().fit(X, y), new, labels)
        model = NaiveBayes().fit(X, y, unlabelled=table(500, 50 + seed)[0])
        assert priory.evaluate(model, new, labels).accuracy > alone.accuracy - 0.02


def test_rows_of_another_kind_are_left_alone():
    """Where the classes are not what the rows cluster by, the default stays."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"x": rng.normal(size=400), "z": rng.choice([-5.0, 5.0], 400)})
    y = (X["x"] + 0.3 * rng.normal(size=400) > 0).to_numpy()
    alone = NaiveBayes().fit(X[:200], y[:200])
    model = NaiveBayes().fit(X[:200], y[:200], unlabelled=X[200:])
    ours, theirs = (priory.evaluate(m, X[200:], y[200:]).accuracy for m in (model, alone))
    assert ours > theirs - 0.005
    zero = NaiveBayes().fit(X[:200], y[:200], unlabelled=X[200:], unlabelled_weight=0)
    np.testing.assert_array_equal(zero.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("weight", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["texts", "table"])
def test_the_penalised_log_likelihood_never_falls(kind, weight):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = texts(200, seed) if kind == "texts" else table(200, seed)
        X = {"t": X} if kind == "texts" else X
        classifier = Classifier(Settings.textbook(text=["t"] if kind == "texts" else None))
        classifier.update(X, y)
        blocks = list(classifier.statistics.schema.counted)
        matrix, groups = _matrix(blocks, classifier.frame(X))
        K = len(classifier.classes)
        model = SoftModel(matrix[:40], y[:40].astype(np.int32), np.ones(40), matrix[40:], groups, K)
        start = rng.dirichlet(np.ones(K), 160)
        objective = np.array(model.learn(start, weight, steps=25).objective)
        assert (np.diff(objective) >= -1e-8 * np.abs(objective[:-1])).all()


def test_it_is_saved_and_says_when_it_is_stale(tmp_path):
    X, y = texts(40, 6)
    more, _ = texts(300, 7)
    model = TextNB().fit(X, y, unlabelled=more, unlabelled_weight=1.0)
    model.save(tmp_path / "m.priory")
    loaded = priory.load(tmp_path / "m.priory")
    np.testing.assert_allclose(loaded.predict_proba(more[:20]), model.predict_proba(more[:20]))
    assert model.classifier_.state == "tuned"
    model.partial_fit(X, y)
    with pytest.warns(priory.PrioryWarning):
        model.predict(more[:2])
    assert model.classifier_.state == "stale"


@pytest.mark.parametrize("weight", ["much", -1, np.nan, None, True])
def test_the_weight_is_a_number(weight):
    X, y = texts(30, 8)
    with pytest.raises(SettingError, match="unlabelled_weight must be 'auto' or a number"):
        TextNB().fit(X, y, unlabelled=X, unlabelled_weight=weight)


def test_what_cannot_learn_them_says_so():
    X, y = table(60, 9)
    with pytest.raises(SettingError, match="not tuned"):
        NaiveBayes.textbook().fit(X, y, unlabelled=X)
    with pytest.raises(SettingError, match="structure='tan' cannot learn them"):
        NaiveBayes(structure="tan").fit(X, y, unlabelled=X)
