"""Poisson against SciPy and the formulas."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from priory import Classifier, Settings
from priory.base.errors import InputError, SettingError
from priory.data.columns import Numbers
from priory.families import Poisson
from priory.families.poisson import PoissonParameters
from priory.families.priors import Dirichlet, Laplace, MEstimate


@pytest.fixture
def data():
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 80)
    return rng.poisson(2.0 + 3 * y[:, None], size=(80, 3)).astype(float), y


def scores(X, y, prior=0.0):
    columns = []
    for k in (0, 1):
        rate = (X[y == k].sum(axis=0) + prior * X.mean(axis=0)) / ((y == k).sum() + prior)
        likelihood = stats.poisson.logpmf(X, rate).sum(axis=1)
        columns.append(likelihood + np.log(np.mean(y == k)))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("families", ["poisson", {("x0", "x1", "x2"): "poisson"}])
@pytest.mark.parametrize(("prior", "rows"), [(0.0, 0), (Laplace(2.0), 2), (MEstimate(3.0), 3)])
def test_agrees_with_scipy(data, families, prior, rows):
    X, y = data
    classifier = Classifier(Settings.textbook(families, prior)).update(X, y)
    expected = scores(X, y, rows)
    found = classifier.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        found[:, 1] - found[:, 0], expected[:, 1] - expected[:, 0], rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(
        classifier.score_samples(X), logsumexp(expected, axis=1), rtol=0, atol=1e-10
    )


def test_rate_zero_is_certain_of_zero_and_never_nan():
    column = Numbers(np.array([[0.0], [1.0], [np.nan], [np.inf], [-1.0], [0.5]]))
    parameters = PoissonParameters(np.array([[0.0], [1.0]]))
    found = Poisson().log_likelihood(column, parameters)
    assert found[:3].tolist() == [[0.0, -1.0], [-np.inf, -1.0], [0.0, 0.0]]
    assert np.isneginf(found[3:]).all()


@pytest.mark.parametrize("wrong", [-1.0, 1.5])
def test_what_is_no_count_is_refused(wrong):
    classifier = Classifier(Settings.textbook(families="poisson")).update(
        {"x": [1.0, wrong, 3.0]}, ["a", "b", "b"]
    )
    with pytest.raises(InputError, match=rf"Column 'x': poisson takes integers .* not {wrong}"):
        _ = classifier.model


def test_other_priors_are_refused():
    settings = Settings.textbook("poisson", {"x": Dirichlet({1: 1.0})})
    with pytest.raises(SettingError, match=r"column 'x' is Dirichlet.* poisson takes Laplace, MEs"):
        _ = Classifier(settings).update({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]).model


def test_sample_means():
    parameters = PoissonParameters(np.array([[0.0, 2.0, 7.0], [1.0, 0.5, 20.0]]))
    y = np.repeat(np.array([0, 1], dtype=np.int32), 20_000)
    drawn = Poisson().sample(parameters, y, np.random.default_rng(0)).reshape(2, -1, 3)
    np.testing.assert_allclose(drawn.mean(axis=1), parameters.rate, atol=0.15)
    np.testing.assert_allclose(drawn.var(axis=1), parameters.rate, rtol=0.05)


def test_linear_form_is_the_log_odds(data):
    X, y = data
    classifier = Classifier(Settings.textbook(families="poisson")).update(X, y)
    form, found = classifier.linear_form(), classifier.predict_joint_log_proba(X)
    np.testing.assert_allclose(X @ form.w + form.b, found[:, 1] - found[:, 0], rtol=0, atol=1e-10)
