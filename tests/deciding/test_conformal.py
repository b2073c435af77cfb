"""Prediction sets: they cover, and full conformal is what brute force gives."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import priory
from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import ForgetError, SettingError
from priory.deciding.conformal import _ties


def drawn(n, seed, n_classes=3):
    """Draw rows of labels and numbers, with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.normal(size=n) + y,
            "is_round": rng.random(n) < 0.3 + 0.2 * y,
        }
    )
    X.loc[rng.random(n) < 0.1, "size"] = np.nan
    return X, np.array(["a", "b", "c", "d"])[y]


def brute_force(settings, X, y, row, label, tie):
    """Learn everything anew with the row added, and rank it among the rows of its class."""
    rows = pd.concat([X, row], ignore_index=True)
    labels = [*y, label]
    model = Classifier(settings).update(rows, labels)
    own = model.predict_log_proba(rows)[:, model.classes.index(label)]
    mine = np.array(labels) == label
    at, others = own[-1], own[:-1][mine[:-1]]
    near = np.abs(others - at) < 1e-7
    return ((others < at) & ~near).sum() + tie * (near.sum() + 1), mine.sum()


@pytest.mark.parametrize(
    "settings",
    [
        Settings.textbook(),
        Settings.textbook(smoothing=0.5, families={"size": "histogram"}),
        Settings.textbook(class_prior="uniform", missing="category"),
        Settings.textbook(structure="tan"),
    ],
)
def test_full_conformal_is_brute_force(settings):
    X, y = drawn(40, 1)
    new, _ = drawn(4, 2)
    new.loc[0, "colour"] = "purple"  # never seen
    model = Classifier(settings).update(X, y)
    sets = model.predict_set(new, learned=(X, y))
    ties = _ties(model.frame(new))
    for i in range(len(new)):
        for k, label in enumerate(model.classes):
            rank, n = brute_force(settings, X, y, new.iloc[[i]], label, ties[i])
            assert sets.p_values[i, k] == pytest.approx(rank / n, abs=1e-12)


def test_full_conformal_covers_each_class():
    hits = {"a": [], "b": [], "c": []}
    for seed in range(60):
        X, y = drawn(40, 100 + seed)
        new, labels = drawn(6, 900 + seed)
        model = Classifier(Settings.textbook()).update(X, y)
        sets = model.predict_set(new, coverage=0.8, learned=(X, y))
        for row, label in zip(np.asarray(sets), labels, strict=True):
            hits[label].append(row[model.classes.index(label)])
    for label, found in hits.items():
        error = np.sqrt(0.16 / len(found))
        assert abs(np.mean(found) - 0.8) < 3 * error, label


def test_tuned_sets_cover_each_class():
    X, y = make_classification(3_000, 8, n_informative=5, n_classes=3, random_state=1)
    model = NaiveBayes().fit(X[:800], y[:800])
    sets = model.predict_set(X[800:], coverage=0.9)
    assert sets.shape == (2_200, 3) and sets.dtype == bool
    for k in range(3):
        own = np.asarray(sets)[y[800:] == k, k]
        # The rows that were learned are drawn too: their own error is added.
        error = np.sqrt(0.09 / len(own) + 0.09 / (y[:800] == k).sum())
        assert abs(own.mean() - 0.9) < 3 * error
    assert np.asarray(sets).sum(axis=1).mean() < 2.5


def test_the_set_says_its_guarantee_and_its_classes():
    X, y = drawn(150, 3)
    model = NaiveBayes().fit(X, y)
    sets = model.predict_set(X[:5])
    assert "CV+ over 10 folds" in sets.guarantee and "0.8" in sets.guarantee
    assert sets.coverage == 0.9 and sets.classes == ("a", "b", "c")
    assert [set(row) for row in sets.labels()] == [
        {c for c, there in zip("abc", row, strict=True) if there} for row in np.asarray(sets)
    ]
    assert "Full conformal" in (
        NaiveBayes.textbook().fit(X, y).predict_set(X[:1], learned=(X, y)).guarantee
    )


def test_sets_are_the_same_in_any_company_and_grow_with_coverage():
    X, y = drawn(200, 4)
    model = NaiveBayes().fit(X, y)
    new, _ = drawn(20, 5)
    whole = np.asarray(model.predict_set(new))
    for i in range(20):
        assert (np.asarray(model.predict_set(new.iloc[[i]])) == whole[i]).all()
    wider = np.asarray(model.predict_set(new, coverage=0.97))
    assert (whole <= wider).all() and wider.sum() > whole.sum()


def test_a_model_that_learns_on_calibrates_anew():
    X, y = drawn(300, 6)
    model = NaiveBayes().fit(X[:150], y[:150])
    before = model.predict_set(X[:9]).p_values
    model.partial_fit(X[150:], y[150:])
    fresh = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_set(X[:9]).p_values, fresh.predict_set(X[:9]).p_values)
    assert not np.array_equal(before, model.predict_set(X[:9]).p_values)


def test_texts_and_structures_have_sets():
    rng, words = np.random.default_rng(7), {"ham": "lunch noon tea", "spam": "offer sale now"}
    y = np.array(["ham", "spam"] * 60)
    texts = [" ".join(rng.choice([*words[k].split(), "the", "a"], 5)) for k in y]
    p = TextNB().fit(texts, y).predict_set(["offer sale", "lunch tea"]).p_values
    assert p[0, 1] > p[0, 0] and p[1, 0] > p[1, 1]
    X, y = drawn(200, 7)
    assert NaiveBayes(structure="tan").fit(X, y).predict_set(X[:3]).shape == (3, 3)


def test_loaded_models_need_rows(tmp_path):
    X, y = drawn(200, 8)
    model = NaiveBayes().fit(X, y)
    model.save(tmp_path / "m.priory")
    loaded = priory.load(tmp_path / "m.priory")
    with pytest.raises(SettingError, match=r"learned=\(X, y\)"):
        loaded.predict_set(X[:2])
    given = loaded.predict_set(X[:9], learned=(X, y)).p_values
    np.testing.assert_allclose(given, model.predict_set(X[:9]).p_values)
    model.save(tmp_path / "s.priory", keep_sample=True)
    kept = priory.load(tmp_path / "s.priory").predict_set(X[:9]).p_values
    np.testing.assert_allclose(given, kept)


@pytest.mark.parametrize("coverage", [0, 1, 1.5, "0.9", None, True, np.nan])
def test_coverage_is_a_share(coverage):
    X, y = drawn(60, 9)
    with pytest.raises(SettingError, match="coverage must be between 0 and 1"):
        NaiveBayes().fit(X, y).predict_set(X, coverage=coverage)


def test_rows_that_were_not_learned_are_refused():
    X, y = drawn(60, 10)
    model = NaiveBayes.textbook().fit(X, y)
    with pytest.raises(SettingError, match="learned must be a pair"):
        model.predict_set(X, learned=X)
    other, labels = drawn(60, 11)
    with pytest.raises(ForgetError, match="were not all learned"):
        model.predict_set(X, learned=(other, labels))
    with pytest.raises(SettingError, match="all 60 rows"):
        model.predict_set(X, learned=(X[:50], y[:50]))
