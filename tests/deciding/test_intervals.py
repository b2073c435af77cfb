"""Intervals of P(k | x)."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import priory
from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import SettingError
from priory.families import Categorical
from priory.families.priors import NormalInverseGamma


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n) + y,
            "c": rng.choice(list("abc"), n),
            "n": rng.poisson(2 + y).astype(float),
        }
    )
    X.loc[rng.random(n) < 0.2, "x"] = np.nan
    return X, y


def test_coverage_in_draws_from_the_prior():
    """A shorter form of `python -m benchmarks.deciding intervals`."""
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d, n = int(rng.integers(2, 30)), int(rng.integers(20, 200))
        y = np.r_[0, 1, rng.integers(0, 2, n)]
        theta = rng.dirichlet(np.ones(3), (d, 2))
        cuts = np.cumsum(theta, axis=2)[:, y].transpose(1, 0, 2)[:, :, :2]
        X = (rng.random((len(y), d, 1)) > cuts).sum(axis=2)
        names = pd.DataFrame(np.array(list("abc"))[X], columns=[f"c{j}" for j in range(d)])
        families = {name: Categorical(values=tuple("abc")) for name in names}
        model = Classifier(Settings.textbook(families=families, class_prior="uniform"))
        model.update(names[:-4], y[:-4])
        odds = np.log(theta[np.arange(d), 1, X[-4:]] / theta[np.arange(d), 0, X[-4:]]).sum(axis=1)
        p = 1 / (1 + np.exp(-np.stack([-odds, odds], axis=1)))
        low, high = model.predict_interval(names[-4:])
        at = np.arange(4), p.argmin(axis=1)
        inside.append((low[at] <= p[at]) & (p[at] <= high[at]))
    assert 0.83 < np.mean(inside) < 0.95


def test_one_column_is_a_beta():
    """With the classes' shares known and one value, P is a ratio of two Betas: draw it."""
    X, y = {"c": ["a"] * 30 + ["b"] * 30 + ["a"] * 10 + ["b"] * 50}, [0] * 60 + [1] * 60
    model = Classifier(Settings.textbook(class_prior="uniform")).update(X, y)
    rng, draws = np.random.default_rng(0), []
    weight = model.predict_proba({"c": ["a"]})[0]
    for k in rng.choice(2, 100_000, p=weight):
        a, b = beta.rvs(31 + (k == 0), 31, random_state=rng), 0.0
        b = beta.rvs(11 + (k == 1), 51, random_state=rng)
        draws.append(a / (a + b))
        if len(draws) == 4_000:
            break
    low, high = model.predict_interval({"c": ["a"]})
    assert low[0, 0] == pytest.approx(np.quantile(draws, 0.05), abs=0.02)
    assert high[0, 0] == pytest.approx(np.quantile(draws, 0.95), abs=0.02)


@pytest.mark.parametrize(
    "settings",
    [
        Settings.textbook(),
        Settings.textbook(smoothing=0),
        Settings.textbook(families={"n": "poisson", "x": "student-t"}),
        Settings.textbook(families={"n": "log-normal", "x": "rank-normal"}),
        Settings.textbook(class_prior={0: 0.2, 1: 0.8}),
        Settings.textbook(unseen="smooth"),
        Settings.textbook(smoothing={"x": NormalInverseGamma(0.0, 1.0, 1.0, 1.0)}),
    ],
)
def test_credible_intervals_hold_the_probability(settings):
    X, y = drawn(300, 1)
    model = Classifier(settings).update(X, y)
    new = pd.concat([X[:20], pd.DataFrame({"x": [None], "c": ["never"], "n": [None]})])
    found = model.predict_interval(new)
    p = model.predict_proba(new)
    assert "given the data and the row" in found.how and found.level == 0.9
    assert ((found.low >= 0) & (found.high <= 1) & (found.low <= found.high)).all()
    assert ((found.low <= p + 0.02) & (p <= found.high + 0.02)).mean() > 0.95
    narrow = model.predict_interval(new, level=0.5)
    assert (narrow.high - narrow.low <= found.high - found.low + 1e-12).all()
    np.testing.assert_array_equal(found.low, model.predict_interval(new).low)


def test_more_rows_are_surer():
    widths = []
    for n in (30, 300, 3_000):
        X, y = drawn(n, 2)
        low, high = Classifier(Settings.textbook()).update(X, y).predict_interval(X[:30])
        widths.append((high - low).mean())
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_tuned_models_are_bootstrapped_and_say_so():
    X, y = drawn(300, 3)
    model = NaiveBayes().fit(X, y)
    found = model.predict_interval(X[:20])
    assert found.how.startswith("bootstrap") and "bootstrap" in repr(found)
    p = model.predict_proba(X[:20])
    assert ((found.low <= p + 0.05) & (p <= found.high + 0.05)).mean() > 0.9
    assert (found.high - found.low).mean() > 0.01


def test_families_without_a_posterior_are_bootstrapped(tmp_path):
    X, y = drawn(200, 4)
    model = NaiveBayes.textbook(families={"x": "kernel-density"}).fit(X, y)
    with pytest.raises(SettingError, match=r"learned=\(X, y\)"):
        model.predict_interval(X[:3])
    assert model.predict_interval(X[:3], learned=(X, y)).how.startswith("bootstrap")
    NaiveBayes().fit(X, y).save(tmp_path / "m.priory", keep_sample=True)
    assert priory.load(tmp_path / "m.priory").predict_interval(X[:2]).low.shape == (2, 2)


def test_texts():
    texts = ["cheap offer now", "meet for lunch", "offer offer sale", "lunch at noon today"] * 8
    model = TextNB().fit(texts, ["spam", "ham"] * 16)
    assert model.predict_interval(["offer"]).low.shape == (1, 2)


@pytest.mark.parametrize("level", [0, 1, "0.9", None, True])
def test_level_is_a_share(level):
    model = Classifier(Settings.textbook()).update({"x": [1.0, 2.0]}, [0, 1])
    with pytest.raises(SettingError, match="level must be between 0 and 1"):
        model.predict_interval({"x": [1.0]}, level=level)
