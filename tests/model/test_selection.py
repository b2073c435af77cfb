"""Columns that pay for themselves in bits."""

import json
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import priory
from priory import Classifier, NaiveBayes, Settings, cross_validate, leave_one_out
from priory.base.errors import SettingError
from priory.export.sql import to_sql
from priory.tuning.choices import not_selected

DATA = Path(__file__).parents[3] / "shared" / "data"


def table(seed=0, n=400):
    """Return columns that tell of the class, and columns that do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "word": np.array(list("pqr"))[np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))],
            "noise word": rng.choice(list("stuv"), n),
            "height": rng.normal(size=n) + y,
            "noise height": rng.normal(size=n),
            "truth": rng.random(n) < 0.2 + 0.3 * y,
            "noise truth": rng.random(n) < 0.5,
            "hump": np.where(
                y == 1, rng.normal(size=n), rng.choice([-1, 1], n) + rng.normal(0, 0.2, n)
            ),
        }
    ), y


TELLING = ["height", "hump", "truth", "word"]


def kept(model):
    return sorted(name for name, family in model.schema_.families if family != "left out")


def textbook():
    return NaiveBayes.textbook().set_params(select="mdl")


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_left_out(seed):
    X, y = table(seed)
    model = NaiveBayes(select="mdl", pairs=None).fit(X, y)
    assert kept(model) == TELLING
    assert {term.block.name for term in model.model_.terms} == set(TELLING)
    assert str(model.schema_).count("left out: saves") == 3
    assert kept(NaiveBayes(pairs=None).fit(X, y)) == sorted(X)
    # What differs in neither mean nor variance is nothing to a Gaussian.
    assert kept(textbook().fit(X, y)) == [name for name in TELLING if name != "hump"]


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 1.0]))
def test_labels_save_their_mutual_information(seed, alpha):
    rng = np.random.default_rng(seed)
    y, x = rng.integers(0, 3, 80), rng.choice(list("abcd"), 80)
    judged = Settings.textbook(smoothing=alpha, select="mdl")
    statistics = Classifier(judged).update({"x": x}, y).statistics
    found = not_selected(judged, statistics).get("x")
    if found is None:
        return
    values = len(set(x.tolist()))
    assert found.costs == pytest.approx((len(set(y.tolist())) - 1) * (values - 1) * log2(80) / 2)
    information = 80 * mutual_info_score(x, y) / np.log(2)
    assert found.saves <= information + 1e-9
    if alpha == 0:
        assert found.saves == pytest.approx(information)


def test_it_follows_from_the_sums():
    X, y = table()
    whole = textbook().fit(X, y)
    pieces = textbook()
    for part in np.array_split(np.arange(len(X)), 4):
        pieces.partial_fit(X.iloc[part], y[part])
    assert str(pieces.schema_) == str(whole.schema_)
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    few = textbook().fit(X[:12], y[:12])
    assert kept(few) != kept(whole)
    assert kept(few.partial_fit(X[12:], y[12:])) == kept(whole)


def test_nothing_but_noise_leaves_the_prior():
    rng = np.random.default_rng(3)
    X, y = {"a": rng.choice(list("pq"), 200), "b": rng.normal(size=200)}, rng.integers(0, 2, 200)
    model = NaiveBayes(select="mdl", pairs=None).fit(X, y)
    assert kept(model) == []
    share = np.bincount(y) / 200
    np.testing.assert_allclose(model.predict_proba(X), np.tile(share, (200, 1)), atol=0.01)
    plain = textbook().fit(X, y)
    np.testing.assert_allclose(plain.predict_proba(X), np.tile(share, (200, 1)))


def test_gaps_that_tell_keep_a_column():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    word = np.where(rng.random(300) < 0.1 + 0.5 * y, None, rng.choice(list("pq"), 300))
    for missing, expected in (("skip", []), ("category", ["w"]), ("auto", ["w"])):
        model = NaiveBayes("plain", 1.0, None, missing=missing, select="mdl")
        assert kept(model.fit({"w": word}, y)) == expected


def test_words_and_scores_are_not_judged():
    texts = {"t": ["red sea and more of it", "blue sky and more of it too"] * 5}
    model = NaiveBayes(text="t", select="mdl").fit(texts, [0, 1] * 5)
    assert kept(model) == ["t"]
    counts = NaiveBayes({("x0", "x1"): "complement"}, select="mdl").fit([[1, 0], [0, 1]], [0, 1])
    assert len(counts.model_.terms) == 1


def test_figures_stay_honest():
    X, y = table()
    model = textbook().fit(X, y)
    assert "columns selected by all rows" in leave_one_out(model, X, y).how
    assert leave_one_out(NaiveBayes.textbook(), X, y).how == "exact leave-one-out"
    folds = cross_validate(model, X, y, folds=5)
    numbers = priory.evaluation.validation._folds(folds.labels, 5, None, 0)
    anew = textbook().fit(X[numbers != 0], y[numbers != 0])
    np.testing.assert_allclose(
        folds.probabilities[numbers == 0], anew.predict_proba(X[numbers == 0]), atol=1e-12
    )


def test_the_model_file_says_why(tmp_path):
    X, y = table()
    model = NaiveBayes(select="mdl", pairs=None).fit(X, y)
    path = tmp_path / "m.priory"
    model.save(path)
    again = priory.load(path)
    assert again.select == "mdl"
    assert str(again.schema_) == str(model.schema_)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X))
    header = json.loads(pq.read_metadata(path).metadata[b"priory"])["model"]
    left_out = {entry["block"]: entry for entry in header["left_out"]}
    assert set(left_out) == set(X) - set(TELLING)
    assert all(entry["saves"] < entry["costs"] for entry in left_out.values())


def test_train_and_sql(tmp_path):
    X, y = table()
    path = tmp_path / "t.csv"
    X.assign(y=y).to_csv(path, index=False)
    classifier = priory.train(path, "y", families="plain", weights=None, select="mdl")
    assert [name for name, family in classifier.schema.families if family == "left out"] == [
        "noise word",
        "noise height",
        "noise truth",
        "hump",
    ]
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    assert '"noise word"' not in to_sql(classifier)


def test_other_selections_are_refused():
    with pytest.raises(SettingError, match="select must be None or 'mdl', not 'best'"):
        Settings.textbook(select="best")
    with pytest.raises(SettingError, match="select must be None or 'mdl'"):
        NaiveBayes(select=["a"]).fit({"a": [1, 2]}, [0, 1])


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not there")
@pytest.mark.parametrize("name", ["mushroom", "heart_c", "credit_g"])
def test_noise_beside_a_real_table(name):
    real = pd.read_csv(next(DATA.glob(f"{name}.csv*")))
    X, y = real.drop(columns="target"), real["target"]
    rng = np.random.default_rng(0)
    shuffled = X.iloc[rng.permutation(len(X))].reset_index(drop=True)
    both = pd.concat([X, shuffled.add_prefix("noise ")], axis=1)
    names = kept(NaiveBayes(select="mdl").fit(both, y))
    assert not [name for name in names if name.startswith("noise ")]
    assert len(names) >= 3
