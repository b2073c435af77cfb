"""Multivariate Gaussian against SciPy and scikit-learn's discriminant analyses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.covariance import oas
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from priory import NaiveBayes
from priory.base.errors import InputError, NotLinearError, SettingError
from priory.families import MultivariateGaussian


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def fitted(data, weight=None, **options):
    return NaiveBayes(weights=None, missing="skip", families=MultivariateGaussian(**options)).fit(
        *data, weight
    )


def parameters(model):
    return model.model_.terms[0].parameters


def log_likelihood(model, X):
    return model.predict_joint_log_proba(X) - model.model_.log_prior


def biased(X, y):
    return np.stack([np.cov(X[y == k].T, bias=True) for k in np.unique(y)])


def test_agrees_with_scipy(iris):
    X, y = iris
    model = fitted(iris, shrinkage=0)
    joint = np.stack(
        [
            stats.multivariate_normal(X[y == k].mean(axis=0), covariance).logpdf(X)
            for k, covariance in enumerate(biased(X, y))
        ],
        axis=1,
    ) + np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), atol=1e-10)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_agrees_with_quadratic_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    model = fitted((X, y), shrinkage=0)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    for found, expected in zip(parameters(model).covariance, theirs.covariance_, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_shared_is_linear_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    model = fitted((X, y), shrinkage=0, shared=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
    for covariance in parameters(model).covariance:
        np.testing.assert_allclose(covariance, theirs.covariance_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    form = model.linear_form()
    scores = X @ form.weights + form.bias
    scores -= logsumexp(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(scores, model.predict_log_proba(X), rtol=1e-8, atol=1e-8)


def correlated(n, d):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * np.logspace(-2, 2, d) + 3
    return X, (X - X.mean(axis=0)) / X.std(axis=0)


def auto_correlation(X):
    found = parameters(fitted((X, np.zeros(len(X), dtype=int)))).covariance[0]
    return found / np.outer(X.std(axis=0), X.std(axis=0))


@pytest.mark.parametrize("n", [6, 30, 150])
@pytest.mark.parametrize("d", [2, 4])
def test_auto_shrinkage_is_formula_23_of_chen_et_al(n, d):
    X, Z = correlated(n, d)
    S = Z.T @ Z / n
    strength = ((1 - 2 / d) * np.trace(S @ S) + np.trace(S) ** 2) / (
        (n + 1 - 2 / d) * (np.trace(S @ S) - np.trace(S) ** 2 / d)
    )
    expected = S + min(strength, 1.0) * (np.eye(d) - S)
    np.testing.assert_allclose(auto_correlation(X), expected, rtol=1e-10, atol=1e-10)


def test_auto_shrinkage_of_many_columns_is_scikit_learns_oas():
    X, Z = correlated(400, 100)  # scikit-learn leaves out the terms in 2 / columns
    expected, strength = oas(Z, assume_centered=True)
    assert 0.1 < strength < 0.9
    np.testing.assert_allclose(auto_correlation(X), expected, rtol=0.02, atol=1e-10)


def test_fixed_shrinkage_draws_correlations_to_0(iris):
    X, y = iris
    full, none = biased(X, y), np.stack([np.diag(X[y == k].var(axis=0)) for k in range(3)])
    for strength in (0.3, 1.0):
        found = parameters(fitted(iris, shrinkage=strength)).covariance
        np.testing.assert_allclose(found, (1 - strength) * full + strength * none, rtol=1e-12)


def test_full_shrinkage_is_naive(iris):
    joint = fitted(iris, shrinkage=1)
    naive = NaiveBayes(weights=None, missing="skip", families="gaussian").fit(*iris)
    np.testing.assert_allclose(
        joint.predict_joint_log_proba(iris[0]), naive.predict_joint_log_proba(iris[0]), atol=1e-10
    )


@pytest.mark.parametrize("shrinkage", ["auto", 0, 0.5])
@pytest.mark.parametrize("shared", [False, True])
def test_fewer_rows_than_columns_stay_finite(shrinkage, shared):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 12)) * np.logspace(-6, 6, 12), np.array([0, 0, 0, 0, 1, 1, 1, 2])
    X[:, 5] = 4.0  # constant
    X[:, 7] = 2 * X[:, 6]  # a copy
    model = fitted((X, y), shrinkage=shrinkage, shared=shared)
    far = np.concatenate([X, rng.normal(size=(4, 12)) * np.logspace(-6, 6, 12)])
    assert np.isfinite(model.predict_joint_log_proba(far)).all()
    assert (model.predict(X) == y).all()
    assert np.isfinite(model.sample(5, random_state=0)[0]).all()


def test_gaps_are_summed_out(iris):
    X, _ = iris
    model = fitted(iris)
    found = parameters(model)
    for gone in ([0], [1, 3], [0, 1, 2]):
        kept = [j for j in range(4) if j not in gone]
        holes = X.copy()
        holes[:, gone] = np.nan
        expected = np.stack(
            [
                stats.multivariate_normal(m[kept], c[np.ix_(kept, kept)]).logpdf(X[:, kept])
                for m, c in zip(found.mean, found.covariance, strict=True)
            ],
            axis=1,
        )
        np.testing.assert_allclose(log_likelihood(model, holes), expected, rtol=0, atol=1e-10)
    nothing = log_likelihood(model, np.full((2, 4), np.nan))
    assert nothing.tolist() == [[0.0] * 3] * 2


def test_rows_with_a_gap_are_not_counted(iris):
    X, first = np.unique(iris[0], axis=0, return_index=True)  # of a copy the weight depends on n
    y = iris[1][first]
    holes = X.copy()
    holes[::3, 1] = np.nan
    whole = np.arange(len(y)) % 3 != 0
    found, expected = parameters(fitted((holes, y))), parameters(fitted((X[whole], y[whole])))
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)


def test_covariance_far_from_the_origin():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 500)
    noise = np.round(rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3)), 3) * 1024 // 1 / 1024
    offset = 1e9 * np.array([1.0, -1.0, 0.5])
    near, far = (fitted((noise + shift, y), shrinkage=0) for shift in (0.0, offset))
    np.testing.assert_allclose(parameters(far).covariance, parameters(near).covariance, rtol=1e-10)
    # The mean is one float64, so the density has its rounding of 1e-7.
    np.testing.assert_allclose(
        far.predict_joint_log_proba(noise + offset), near.predict_joint_log_proba(noise), atol=1e-5
    )


def test_chunks_and_forgetting(iris):
    X, y = iris
    order = np.random.default_rng(1).permutation(len(y))
    model = NaiveBayes(weights=None, missing="skip", families=MultivariateGaussian())
    for part in np.array_split(order, 7):
        model.partial_fit(X[part], y[part])
    whole = fitted(iris)
    np.testing.assert_allclose(
        parameters(model).covariance, parameters(whole).covariance, rtol=1e-12
    )
    model.forget(X[order[:50]], y[order[:50]])
    rest = fitted((X[order[50:]], y[order[50:]]))
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), rest.predict_joint_log_proba(X), atol=1e-8
    )


def test_weights_are_repetition(iris):
    X, y = iris
    times = np.arange(len(y)) % 4
    plain = NaiveBayes.textbook(families=MultivariateGaussian())
    weighted = clone(plain).fit(X, y, times.astype(float))
    repeated = clone(plain).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), atol=1e-9
    )


def test_sample_covariance(iris):
    X, y = iris
    drawn, _ = fitted(iris, shrinkage=0).sample(30_000, [1] * 30_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X[y == 1].mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), biased(X, y)[1], atol=0.02)


def test_refusals(iris):
    with pytest.raises(SettingError, match=r"shrinkage must be None, 'auto' or a number from 0"):
        MultivariateGaussian(shrinkage=1.5)
    with pytest.raises(NotLinearError, match=r"modelled by multivariate-gaussian"):
        fitted(iris).linear_form()
    with pytest.raises(InputError, match=r"Column 'x2' holds inf"):
        fitted((np.array([[0.0, 1.0, np.inf], [1.0, 2.0, 3.0]]), [0, 1]))


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_the_textbook_does_not_shrink(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12 * d, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    y = np.arange(len(X)) % 3
    columns = tuple(f"x{j}" for j in range(d))
    model = NaiveBayes.textbook(families={columns: "multivariate-gaussian"}).fit(X, y)
    expected = np.stack(
        [
            stats.multivariate_normal(
                X[y == k].mean(axis=0), np.cov(X[y == k].T, bias=True), allow_singular=True
            ).logpdf(X)
            for k in range(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(log_likelihood(model, X), expected, rtol=1e-7, atol=1e-7)


def test_shrinkage_goes_with_the_smoothing(iris):
    names = {("x0", "x1", "x2", "x3"): "multivariate-gaussian"}

    def shrinkage(**settings):
        model = NaiveBayes(weights=None, missing="skip", **settings).fit(*iris)
        return model.model_.terms[0].family.shrinkage

    assert shrinkage(families=names) == "auto"
    assert shrinkage(families=names, smoothing=1.0) == 0.0
    given = {("x0", "x1", "x2", "x3"): MultivariateGaussian(shrinkage="auto")}
    assert shrinkage(families=given, smoothing=1.0) == "auto"
