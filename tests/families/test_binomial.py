"""Binomial against SciPy."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from priory import NaiveBayes
from priory.base.errors import InputError, SettingError
from priory.families import Binomial
from priory.families.priors import MEstimate

TRIALS = 12


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 90)
    p = np.array([[0.1, 0.5], [0.4, 0.9], [0.8, 0.3]])
    return rng.binomial(TRIALS, p[y]).astype(float), y


def fitted(data, smoothing=1.0):
    return NaiveBayes(
        weights=None, missing="skip", families=Binomial(TRIALS), smoothing=smoothing
    ).fit(*data)


def log_likelihood(X, data, alpha):
    found = np.zeros((len(X), 3))
    for k in range(3):
        mine = data[0][data[1] == k]
        p = (mine.sum(axis=0) + alpha) / (TRIALS * len(mine) + 2 * alpha)
        found[:, k] = stats.binom.logpmf(X, TRIALS, p).sum(axis=1)
    return found


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.5])
def test_agrees_with_scipy(data, alpha):
    X, y = data
    model = fitted(data, alpha)
    joint = log_likelihood(X, data, alpha) + np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), atol=1e-10)
    posterior = joint - logsumexp(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), posterior, rtol=0, atol=1e-10)


def test_weights_are_repetition(data):
    X, y = data
    times = np.arange(len(y)) % 3
    model = NaiveBayes.textbook(1.0, families=Binomial(TRIALS)).fit(X, y, times)
    repeated = fitted((np.repeat(X, times, axis=0), np.repeat(y, times)), 1.0)
    np.testing.assert_allclose(model.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)


def test_m_estimate_lends_trials(data):
    X, y = data
    found = np.exp(fitted(data, MEstimate(6.0)).model_.terms[0].parameters.log_on[0])
    sums = np.array([X[y == k, 0].sum() for k in range(3)])
    expected = (sums + 3) / (TRIALS * np.bincount(y) + 6)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_gap_says_nothing(data):
    X, y = data
    model = fitted(data)
    gone = X.copy()
    gone[:, 1] = np.nan
    alone = fitted((X[:, [0]], y))
    np.testing.assert_allclose(model.predict_proba(gone), alone.predict_proba(X[:, [0]]))
    np.testing.assert_allclose(model.score_samples(gone), alone.score_samples(X[:, [0]]))


@pytest.mark.parametrize("wrong", [-1.0, 2.5, TRIALS + 1.0, 1e149])
def test_what_cannot_be_counted_is_impossible(data, wrong):
    with np.errstate(all="raise"):
        found = fitted(data).predict_joint_log_proba(np.array([[wrong, 1.0]]))
    assert np.isneginf(found).all()


def test_what_cannot_be_counted_is_not_learned(data):
    X, y = data
    for wrong in (-1.0, 2.5, 13.0):
        with pytest.raises(InputError, match=rf"integers from 0 to 12, not {wrong}"):
            fitted((np.where(np.equal(X, X.max()), wrong, X), y))


@pytest.mark.parametrize("wrong", [0, -3, 2.5, True, "ten"])
def test_trials_are_a_whole_number(wrong):
    with pytest.raises(SettingError, match=r"trials must be an integer of at least 1"):
        Binomial(wrong)


def test_samples_have_its_mean(data):
    X, y = data
    drawn, _ = fitted(data, 0.0).sample(20_000, [1] * 20_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X[y == 1].mean(axis=0), atol=0.1)


def test_linear_form_is_the_log_odds(data):
    X, y = data
    model = NaiveBayes(weights=None, missing="skip", families=Binomial(TRIALS), smoothing=1.0).fit(
        X, y > 0
    )
    form, scores = model.linear_form(), model.predict_joint_log_proba(X)
    np.testing.assert_allclose(X @ form.w + form.b, scores[:, 1] - scores[:, 0], atol=1e-10)
