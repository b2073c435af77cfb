"""Student-t against SciPy and the formulas."""

import numpy as np
import pytest
from scipy import stats

from priory import Classifier, Settings
from priory.base.errors import NotLinearError, SettingError
from priory.families import StudentT
from priory.families.priors import NormalInverseGamma


@pytest.fixture
def data():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 60)
    return rng.normal(size=(60, 4)) * [1, 10, 0.1, 3] + y[:, None], y


PRIOR = NormalInverseGamma(mean=0.5, kappa=2.0, alpha=3.0, beta=4.0)


def reference(x, prior_mean, kappa_0, alpha_0, beta_0):
    """Return the predictive t of some values."""
    n, mean = len(x), x.mean()
    kappa, alpha = kappa_0 + n, alpha_0 + n / 2
    beta = beta_0 + ((x - mean) ** 2).sum() / 2
    beta += kappa_0 * n * (mean - prior_mean) ** 2 / (2 * kappa)
    location = (kappa_0 * prior_mean + n * mean) / kappa
    return stats.t(2 * alpha, location, np.sqrt(beta * (kappa + 1) / (alpha * kappa)))


@pytest.mark.parametrize("families", [StudentT(), {("x0", "x1", "x2", "x3"): "student-t"}])
@pytest.mark.parametrize("prior", [PRIOR, NormalInverseGamma()])
def test_agrees_with_scipy(data, families, prior):
    X, y = data
    classifier = Classifier(Settings.textbook(families, prior)).update(X, y)
    expected = np.log(np.bincount(y) / len(y))[None, :] + np.zeros((len(y), 1))
    for j in range(4):
        given = (0.5, 2.0, 3.0, 4.0)
        if prior.mean is None:
            given = (X[:, j].mean(), 1.0, 0.5, 0.5 * X[:, j].var())
        for k in range(3):
            expected[:, k] += reference(X[y == k, j], *given).logpdf(X[:, j])
    np.testing.assert_allclose(classifier.predict_joint_log_proba(X), expected, rtol=0, atol=1e-10)


def test_tails_of_few_degrees_of_freedom(data):
    X, y = data
    families = {f"x{j}": StudentT(most_dof=6.0) for j in range(4)}
    classifier = Classifier(Settings.textbook(families, NormalInverseGamma())).update(X, y)
    free = Classifier(Settings.textbook("student-t", NormalInverseGamma())).update(X, y)
    far = X + 1e6
    expected = np.repeat(classifier.model.log_prior[None], len(far), axis=0)
    for term, unlike in zip(classifier.model.terms, free.model.terms, strict=True):
        p, q = term.parameters, unlike.parameters
        np.testing.assert_array_equal(p.dof, np.full((3, 1), 6.0))
        np.testing.assert_array_equal(p.scale2, q.scale2)
        x = far[:, term.block.columns[0] == np.array([f"x{j}" for j in range(4)])]
        scale = np.sqrt(p.scale2[:, 0])
        expected += stats.t(6.0, p.location[:, 0], scale).logpdf(x)
    found = classifier.predict_joint_log_proba(far)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_less(
        np.ptp(found, axis=1), np.ptp(free.predict_joint_log_proba(far), axis=1)
    )


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan")])
def test_degrees_of_freedom_are_above_0(wrong):
    with pytest.raises(SettingError, match="most_dof must be above 0, or None, not"):
        StudentT(most_dof=wrong)


def test_number_as_smoothing_means_the_default_prior(data):
    X, y = data
    one = Classifier(Settings.textbook("student-t", 1.0)).update(X, y)
    other = Classifier(Settings.textbook("student-t", NormalInverseGamma())).update(X, y)
    np.testing.assert_array_equal(one.predict_joint_log_proba(X), other.predict_joint_log_proba(X))


def test_gap_says_nothing(data):
    X, y = data
    classifier = Classifier(Settings.textbook("student-t")).update(X, y)
    found = classifier.predict_joint_log_proba(np.full((1, 4), np.nan))
    np.testing.assert_allclose(found[0], classifier.model.log_prior, rtol=1e-15)


def test_class_with_one_row_is_no_special_case():
    classifier = Classifier(Settings.textbook("student-t")).update(
        {"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]
    )
    parameters = classifier.model.terms[0].parameters
    assert parameters.dof[:, 0].tolist() == [2.0, 3.0]
    assert (parameters.scale2 > 0.1).all()


def test_sample_quantiles():
    rng = np.random.default_rng(1)
    X, y = {"x": np.append(rng.normal(0, 1, 6), rng.normal(10, 2, 30))}, ["a"] * 6 + ["b"] * 30
    classifier = Classifier(Settings.textbook("student-t", PRIOR)).update(X, y)
    at = [0.1, 0.5, 0.9]
    for label in ("a", "b"):
        expected = reference(X["x"][np.array(y) == label], 0.5, 2.0, 3.0, 4.0)
        drawn = classifier.sample(20_000, label, random_state=0)[0]["x"]
        np.testing.assert_allclose(np.quantile(drawn, at), expected.ppf(at), atol=0.2)


def test_it_is_not_linear(data):
    X, y = data
    with pytest.raises(NotLinearError, match=r"Column 'x0' is modelled by student-t"):
        Classifier(Settings.textbook("student-t")).update(X, y).linear_form()
