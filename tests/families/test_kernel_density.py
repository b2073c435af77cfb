"""Kernel density against SciPy's gaussian_kde and scikit-learn's KernelDensity."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.neighbors import KernelDensity as Reference

from priory import NaiveBayes
from priory.base.errors import SettingError
from priory.families import KernelDensity


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 200)
    return rng.gamma(2.0, 1.0 + y, 200), y


def fitted(data, bandwidth=None, smoothing=0.0, weight=None):
    x, y = data
    family = KernelDensity(bandwidth)
    return NaiveBayes(weights=None, missing="skip", families=family, smoothing=smoothing).fit(
        {"x": x}, y, weight
    )


def log_likelihood(model, x):
    return model.predict_joint_log_proba({"x": x}) - model.model_.log_prior


def grid(x):
    return np.linspace(x.min() - 5, x.max() + 5, 301)


@pytest.mark.parametrize("bandwidth", [0.05, 0.5, 3.0])
def test_agrees_with_scikit_learn(data, bandwidth):
    x, y = data
    at = grid(x)
    found = log_likelihood(fitted(data, bandwidth), at)
    for k in range(3):
        reference = Reference(bandwidth=bandwidth, rtol=0, atol=0).fit(x[y == k, None])
        np.testing.assert_allclose(found[:, k], reference.score_samples(at[:, None]), atol=1e-10)


def test_silvermans_bandwidth_and_weights_agree_with_scipy(data):
    x, y = data
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    found = log_likelihood(fitted(data, weight=weight), x)
    for k in range(3):
        mine, w = x[y == k], weight[y == k]
        n, mean = w.sum(), np.average(mine, weights=w)
        deviation = np.sqrt(np.average((mine - mean) ** 2, weights=w))
        h = 0.9 * deviation * n**-0.2
        assert h > (x.max() - x.min()) / (len(x) - 1) / 3, "no lower bound here"
        scipys = stats.gaussian_kde(mine, weights=w)
        scipys.set_bandwidth(h / np.sqrt(scipys.covariance[0, 0]) * scipys.factor)
        np.testing.assert_allclose(found[:, k], scipys.logpdf(x), atol=1e-10)


@pytest.mark.parametrize("bandwidth", [None, 0.1])
def test_far_tails_are_exact_and_fall_for_ever(data, bandwidth):
    x, y = data
    model = fitted(data, bandwidth)
    h = model.model_.terms[0].parameters.bandwidths
    away = np.array([10.0, 50.0, 100.0, 999.0, 1000.0, 1e4])
    for k in range(3):
        mine = x[y == k]
        for side, edge in ((1, mine.max()), (-1, mine.min())):
            at = edge + side * away * h[k]
            found = log_likelihood(model, at)[:, k]
            terms = stats.norm.logpdf(at[:, None], mine, h[k])
            np.testing.assert_allclose(found, logsumexp(terms, axis=1) - np.log(len(mine)), 1e-10)
            assert (np.diff(found) < 0).all()
            assert found[-1] == pytest.approx(-(1e4**2) / 2, rel=1e-2)


def test_it_integrates_to_one(data):
    x = np.linspace(-30, 60, 20_001)
    for smoothing in (0.0, 5.0):
        density = np.exp(log_likelihood(fitted(data, 0.4, smoothing), x))
        np.testing.assert_allclose(np.trapezoid(density, x, axis=0), 1.0, rtol=1e-9)


def test_prior_lends_rows_of_all_classes(data):
    x, y = data
    plain, lent = fitted(data, 0.5), fitted(data, 0.5, smoothing=10.0)
    at = grid(x)
    own, n = np.exp(log_likelihood(plain, at)), np.bincount(y)
    pool = own @ (n / n.sum())
    expected = (n * own + 10.0 * pool[:, None]) / (n + 10.0)
    np.testing.assert_allclose(np.exp(log_likelihood(lent, at)), expected, rtol=1e-10)


def test_gap_says_nothing(data):
    found = log_likelihood(fitted(data), np.array([np.nan, 1.0]))
    assert found[0].tolist() == [0.0, 0.0, 0.0]
    assert (found[1] != 0).all()


def test_one_value_and_one_row_stay_finite():
    model = fitted((np.array([2.0, 2.0, 2.0]), np.array([0, 0, 1])))
    assert np.isfinite(log_likelihood(model, np.array([2.0, 3.0, -1e5]))).all()
    model = fitted((np.array([1.0, 5.0, 9.0]), np.array([0, 1, 1])))
    assert model.predict({"x": [1.0, 7.0]}).tolist() == [0, 1]


def test_sample_has_its_moments(data):
    x, y = data
    drawn, _ = fitted(data, 0.5).sample(20_000, [2] * 20_000, random_state=0)
    mine, drawn = x[y == 2], np.asarray(drawn["x"])
    assert drawn.mean() == pytest.approx(mine.mean(), abs=0.15)
    assert drawn.var() == pytest.approx(mine.var() + 0.25, rel=0.1)


@pytest.mark.parametrize("wrong", [0, -1.0, np.nan, np.inf])
def test_bandwidth_is_a_positive_number(wrong):
    with pytest.raises(SettingError, match=r"bandwidth must be a finite number above 0"):
        KernelDensity(wrong)
