"""Gaussian against scikit-learn's GaussianNB, SciPy and the formulas."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.naive_bayes import GaussianNB

from priory import Classifier, Settings
from priory.base.errors import NotLinearError
from priory.families import Gaussian
from priory.families.gaussian import GaussianParameters
from priory.families.priors import NormalInverseGamma

BLOCK = {("x0", "x1", "x2", "x3"): "gaussian"}


@pytest.fixture
def data():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 4)) * [1, 10, 0.1, 3] + y[:, None] * [1, 0, 0.1, -2] + [0, 50, 0, 0]
    return X, y


@pytest.mark.parametrize("families", ["gaussian", BLOCK])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(data, families, weighted):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    ours = Classifier(Settings.textbook(families)).update(X, y, weight)
    theirs = GaussianNB(var_smoothing=0).fit(X, y, weight)
    expected = theirs.predict_joint_log_proba(X)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), expected, rtol=0, atol=1e-10)


def test_evidence_is_the_mixture_of_norms(data):
    X, y = data
    classifier = Classifier(Settings.textbook(families="gaussian")).update(X, y)
    scores = np.stack(
        [
            stats.norm.logpdf(X, X[y == k].mean(axis=0), X[y == k].std(axis=0)).sum(axis=1)
            + np.log(np.mean(y == k))
            for k in range(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(classifier.predict_joint_log_proba(X), scores, rtol=0, atol=1e-10)
    np.testing.assert_allclose(classifier.score_samples(X), logsumexp(scores, axis=1), atol=1e-10)


def test_gap_leaves_its_factor_out(data):
    X, y = data
    classifier = Classifier(Settings.textbook(families="gaussian")).update(X, y)
    gone = X.copy()
    gone[:, 2] = np.nan
    term = classifier.model.terms[2].parameters
    factor = stats.norm.logpdf(X[:, [2]], term.mean[:, 0], np.sqrt(term.variance[:, 0]))
    np.testing.assert_allclose(
        classifier.predict_joint_log_proba(gone),
        classifier.predict_joint_log_proba(X) - factor,
        rtol=0,
        atol=1e-10,
    )


def test_shared_variance_is_that_within_classes(data):
    X, y = data
    classifier = Classifier(Settings.textbook(Gaussian(shared=True))).update(X, y)
    within = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in range(3)) / len(y)
    for j, term in enumerate(classifier.model.terms):
        np.testing.assert_allclose(term.parameters.variance[:, 0], [within[j]] * 3, rtol=1e-12)


def test_variance_far_from_the_origin():
    x = np.array([1e8 - 1, 1e8 + 1, 5.0, 7.0])
    classifier = Classifier(Settings.textbook(families="gaussian")).update(
        {"x": x}, ["far", "far", "near", "near"]
    )
    parameters = classifier.model.terms[0].parameters
    np.testing.assert_allclose(parameters.mean[:, 0], [1e8, 6.0], rtol=1e-15)
    # The floor, 1e-9 of the whole column's variance of about 2.5e15, is above both.
    np.testing.assert_allclose(parameters.variance[:, 0], [2.5e6, 2.5e6], rtol=1e-6)


def test_single_value_takes_the_floor_of_its_own_column():
    X = {"x": [5.0, 1.0, 3.0], "y": [1e6, 2e6, 9e6], "z": [0.0, 1.0, 2.0]}
    classifier = Classifier(Settings.textbook(families="gaussian")).update(X, ["one", "two", "two"])
    variance = classifier.model.terms[0].parameters.variance[:, 0]
    np.testing.assert_allclose(variance, [1e-9 * np.var([5, 1, 3]), 1.0], rtol=1e-12)


def test_constant_column_says_nothing():
    X = {"c": [4.0] * 6, "x": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]}
    y = ["a"] * 3 + ["b"] * 3
    with_it = Classifier(Settings.textbook(families="gaussian")).update(X, y)
    without = Classifier(Settings.textbook(families="gaussian")).update({"x": X["x"]}, y)
    np.testing.assert_allclose(
        with_it.predict_proba(X), without.predict_proba({"x": X["x"]}), rtol=1e-9
    )


def test_normal_inverse_gamma_takes_the_most_probable():
    x, y = np.array([2.0, -1.2, 2.2, 7.0, 9.0]), np.array([1, 1, 1, 0, 0])
    prior = NormalInverseGamma(mean=0.5, kappa=2.0, alpha=3.0, beta=4.0)
    classifier = Classifier(Settings.textbook("gaussian", prior)).update({"x": x}, y)
    parameters = classifier.model.terms[0].parameters
    for k in (0, 1):
        mine = x[y == k]
        n, mean = len(mine), mine.mean()
        kappa, alpha = 2.0 + n, 3.0 + n / 2
        beta = 4.0 + ((mine - mean) ** 2).sum() / 2 + 2.0 * n * (mean - 0.5) ** 2 / (2 * kappa)
        assert parameters.mean[k, 0] == pytest.approx((2.0 * 0.5 + n * mean) / kappa, rel=1e-13)
        # the mode of a Normal-Inverse-Gamma: variance = β / (α + 3/2)
        assert parameters.variance[k, 0] == pytest.approx(beta / (alpha + 1.5), rel=1e-13)


def test_normal_inverse_gamma_guesses_from_the_column():
    x, y = np.array([2.0, -1.2, 2.2, 7.0, 9.0]), ["a", "a", "a", "b", "b"]
    guessed = Classifier(Settings.textbook("gaussian", NormalInverseGamma())).update({"x": x}, y)
    given = NormalInverseGamma(mean=float(x.mean()), beta=0.5 * float(x.var()))
    told = Classifier(Settings.textbook("gaussian", given)).update({"x": x}, y)
    np.testing.assert_allclose(
        guessed.predict_joint_log_proba({"x": x}),
        told.predict_joint_log_proba({"x": x}),
        rtol=0,
        atol=1e-10,
    )


def test_sample_moments():
    mean, variance = np.array([[0.0, 5.0, -3.0], [100.0, 1.0, 0.5]]), np.array([[1.0, 4, 9]] * 2)
    y = np.repeat(np.array([0, 1], dtype=np.int32), 20_000)
    drawn = Gaussian().sample(GaussianParameters(mean, variance), y, np.random.default_rng(0))
    drawn = drawn.reshape(2, -1, 3)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=0.1)
    np.testing.assert_allclose(drawn.var(axis=1), variance, rtol=0.05)


@pytest.mark.parametrize("families", [Gaussian(shared=True), "gaussian-shared"])
def test_linear_form_is_the_log_odds(data, families):
    X, y = data
    classifier = Classifier(Settings.textbook(families)).update(X, y > 0)
    form, scores = classifier.linear_form(), classifier.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        X @ form.w + form.b, scores[:, 1] - scores[:, 0], rtol=1e-10, atol=1e-9
    )


def test_own_variances_are_not_linear(data):
    X, y = data
    classifier = Classifier(Settings.textbook(families="gaussian")).update(X, y)
    with pytest.raises(NotLinearError, match=r"Column 'x0' is modelled by gaussian, which is not"):
        classifier.linear_form()


def test_float32_is_scored_like_float64(data):
    X, y = data
    X = X.astype(np.float32)
    classifier = Classifier(Settings.textbook(families="gaussian")).update(X, y)
    np.testing.assert_allclose(
        classifier.predict_joint_log_proba(X),
        classifier.predict_joint_log_proba(X.astype(np.float64)),
        rtol=0,
        atol=1e-10,
    )
