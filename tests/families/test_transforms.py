"""Log- and rank-normal against SciPy's t of the transformed numbers."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import logsumexp

from priory import NaiveBayes
from priory.base.errors import SettingError
from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families import StudentT
from priory.families.transforms import Identity, log_transform, rank_transform
from priory.statistics.tables import NumbersTable

TRANSFORMS = ["log", "rank"]


@pytest.fixture
def data():
    rng = np.random.default_rng(12)
    y = rng.integers(0, 3, 150)
    return rng.lognormal(y, 1.0) - 2.0, y


def fitted(data, transform):
    return NaiveBayes(weights=None, missing="skip", families=StudentT(transform=transform)).fit(
        {"x": data[0]}, data[1]
    )


def predictive(t, pooled):
    """Return the t that the default prior and some transformed numbers give."""
    n, mean, mean_0, beta_0 = len(t), t.mean(), pooled.mean(), 0.5 * pooled.var()
    kappa, alpha = 1.0 + n, 0.5 + n / 2
    beta = beta_0 + ((t - mean) ** 2).sum() / 2 + n * (mean - mean_0) ** 2 / (2 * kappa)
    location = (mean_0 + n * mean) / kappa
    return stats.t(2 * alpha, location, np.sqrt(beta * (kappa + 1) / (alpha * kappa)))


def transformed(x, transform, at):
    """Return the transform of the numbers `at` and its log slope, from the definition."""
    ordered = np.sort(x)
    if transform == "log":
        least = ordered[0]
        scale = (ordered[(len(x) + 1) // 2 - 1] - least) / 4
        return np.log1p((at - least) / scale), -np.log(at - least + scale)
    quantiles = stats.norm.ppf((np.arange(len(x)) + 0.5) / len(x))
    line = np.clip(np.searchsorted(ordered, at, side="right") - 1, 0, len(x) - 2)
    slope = np.diff(quantiles)[line] / np.diff(ordered)[line]
    return np.interp(at, ordered, quantiles), np.log(slope)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_agrees_with_scipy(data, transform):
    x, y = data
    model = fitted(data, transform)
    at = np.sort(np.random.default_rng(0).uniform(x.min(), x.max(), 300))
    t, _ = transformed(x, transform, x)
    new, log_slope = transformed(x, transform, at)
    joint = np.stack(
        [predictive(t[y == k], t).logpdf(new) + np.log(np.mean(y == k)) for k in range(3)], axis=1
    )
    found = model.predict_joint_log_proba({"x": at})
    np.testing.assert_allclose(found, joint, rtol=0, atol=1e-10)
    evidence = model.score_samples({"x": at})
    np.testing.assert_allclose(evidence, logsumexp(joint, axis=1) + log_slope, atol=1e-10)


def test_log_normal_integrates_to_what_lies_above_the_least(data):
    x, y = data
    model = fitted(data, "log")
    t, _ = transformed(x, "log", x)
    inside = sum(np.mean(y == k) * predictive(t[y == k], t).sf(0.0) for k in range(3))

    def density(u):  # x = least + e^u spreads the long tail out
        return float(np.exp(model.score_samples({"x": [x.min() + np.exp(u)]})[0] + u))

    total, _ = quad(density, -25, 60, limit=400)
    assert inside > 0.9
    assert total == pytest.approx(inside, rel=1e-6)


def test_rank_normal_integrates_to_what_lies_between_the_ends(data):
    x, y = data
    model = fitted(data, "rank")
    t, _ = transformed(x, "rank", x)
    inside = sum(
        np.mean(y == k) * np.diff(predictive(t[y == k], t).cdf([t.min(), t.max()]))[0]
        for k in range(3)
    )
    ordered = np.sort(x)
    total = 0.0
    for low, high in pairwise(ordered):
        at = np.linspace(low, np.nextafter(high, low), 33)
        total += np.trapezoid(np.exp(model.score_samples({"x": at})), at)
    assert inside > 0.95
    assert total == pytest.approx(inside, rel=1e-4)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_numbers_never_reached_still_get_a_class(data, transform):
    x, _ = data
    model = fitted(data, transform)
    beyond = {"x": [x.min() - 100.0, x.min(), x.max(), x.max() + 100.0]}
    p = model.predict_proba(beyond)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p[0], p[1], rtol=1e-12)
    density = model.score_samples(beyond)
    assert np.isfinite(density).all() and density[0] < density[1] - 10
    if transform == "rank":
        np.testing.assert_allclose(p[3], p[2], rtol=1e-12)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_gap_says_nothing(data, transform):
    model = fitted(data, transform)
    found = model.predict_joint_log_proba({"x": [np.nan, 1.0]})
    np.testing.assert_allclose(found[0], model.model_.log_prior, rtol=1e-14)
    assert model.score_samples({"x": [np.nan, 1.0]})[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_constant_column_stays_finite(transform):
    model = fitted((np.full(6, 3.0), np.array([0, 0, 1, 1, 1, 1])), transform)
    np.testing.assert_allclose(model.predict_proba({"x": [3.0]}), [[1 / 3, 2 / 3]], atol=0.1)


@pytest.mark.parametrize("make", [log_transform, rank_transform, lambda cells: Identity()])
def test_inverse_undoes_the_transform(data, make):
    x = data[0]
    block = Block("x", ("x",), Kind.NUMBERS)
    y = data[1].astype(np.int32)
    transform = make(NumbersTable.count(block, Numbers(x[:, None]), y, None, 3).cells)
    np.testing.assert_allclose(transform.inverse(transform(x)), x, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_sample_quantiles(data, transform):
    x, y = data
    drawn, _ = fitted(data, transform).sample(20_000, [1] * 20_000, random_state=0)
    t, _ = transformed(x, transform, x)
    at = np.array([0.1, 0.25, 0.5, 0.75])
    expected = predictive(t[y == 1], t).ppf(at)
    found, _ = transformed(x, transform, np.quantile(np.asarray(drawn["x"]), at))
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_refusals(data):
    with pytest.raises(SettingError, match=r"transform must be None, 'log' or 'rank', not 'sqrt'"):
        StudentT(transform="sqrt")
    X = np.random.default_rng(0).normal(size=(9, 2))
    families = {("x0", "x1"): StudentT(transform="log")}
    with pytest.raises(SettingError, match=r"needs the cells of a single column"):
        NaiveBayes(weights=None, missing="skip", families=families).fit(X, [0, 1, 2] * 3)
