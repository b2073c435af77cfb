"""Novelty: p-values that are what they say, of ordinary rows."""

import numpy as np
import pandas as pd
import pytest

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import SettingError


def drawn(n, seed):
    """Draw rows whose columns depend on each other, which the plain families deny."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=n) + y
    X = pd.DataFrame(
        {
            "x": x,
            "again": x + 0.1 * rng.normal(size=n),
            "skewed": rng.exponential(size=n) ** 2,
            "colour": rng.choice(list("abcde"), n, p=[0.5, 0.3, 0.15, 0.04, 0.01]),
        }
    )
    X.loc[rng.random(n) < 0.2, "skewed"] = np.nan
    return X, y


def test_one_ordinary_row_in_twenty():
    shares = []
    for seed in range(12):
        X, y = drawn(500, seed)
        new, _ = drawn(1_000, 100 + seed)
        shares.append((NaiveBayes().fit(X, y).novelty(new) <= 0.05).mean())
    assert 0.04 < np.mean(shares) < 0.06


def test_gaps_are_not_novel_and_strange_values_are():
    X, y = drawn(500, 1)
    model = NaiveBayes().fit(X, y)
    rows = X.head(1).assign(x=0.5, again=0.5, skewed=1.0, colour="a")
    gone = rows.assign(again=np.nan, skewed=np.nan, colour=None)
    ordinary, gaps = model.novelty(rows)[0], model.novelty(gone)[0]
    assert ordinary > 0.2 and gaps > 0.2
    assert model.novelty({name: [None] for name in X})[0] > 0.1
    for strange in ({"x": 40.0}, {"again": -30.0}, {"skewed": 1e4}, {"colour": "never seen"}):
        assert model.novelty(rows.assign(**strange))[0] < ordinary / 2, strange
    assert model.novelty(rows.assign(x=40.0))[0] < 0.01


def test_the_same_on_every_road():
    X, y = drawn(300, 2)
    whole = NaiveBayes().fit(X, y)
    pieces = NaiveBayes().fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(whole.novelty(X), pieces.novelty(X))
    textbook = Classifier(Settings.textbook()).update(X, y)
    with pytest.raises(SettingError, match="holds no rows"):
        textbook.novelty(X)
    np.testing.assert_array_equal(textbook.novelty(X, learned=(X, y)), whole.novelty(X))


def test_a_long_text_is_not_novel():
    rng = np.random.default_rng(3)
    words = np.array([f"w{i}" for i in range(60)])

    def text(n, among=words):
        return " ".join(rng.choice(among, n))

    texts = [text(rng.integers(5, 30)) for _ in range(200)]
    model = TextNB().fit(texts, rng.integers(0, 2, 200))
    assert model.novelty([text(300)])[0] > 0.2
    strange = " ".join([words[0]] * 3)
    assert 0 < model.novelty([strange])[0] <= 1


def test_densities_have_tails():
    """The default's log density is finite beyond the numbers seen, and falls with the distance."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"n": rng.normal(size=400), "e": rng.exponential(size=400) ** 3})
    y = (X["n"] + X["e"] > 1).to_numpy()
    model = NaiveBayes().fit(X, y)
    new = pd.DataFrame({"n": rng.normal(size=4_000), "e": rng.exponential(size=4_000) ** 3})
    assert np.isfinite(model.score_samples(new)).all()
    for name in X:
        for end, step in ((X[name].min(), -1.0), (X[name].max(), 1.0)):
            row = X.median().to_frame().T
            far = [model.score_samples(row.assign(**{name: end + step * d}))[0] for d in (0, 1, 9)]
            assert far[0] >= far[1] > far[2] > -np.inf
