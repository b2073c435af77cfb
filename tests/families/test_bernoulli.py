"""Bernoulli against scikit-learn's BernoulliNB and the formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB

from priory import Classifier, Settings
from priory.base.errors import DriftWarning, InputError
from priory.data.columns import Counts, Labels
from priory.families import Bernoulli
from priory.families.bernoulli import BernoulliParameters
from priory.families.priors import Dirichlet, Laplace, MEstimate
from priory.statistics.tables import LabelsTable

BLOCK = {tuple(f"x{j}" for j in range(7)): "bernoulli"}


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    return rng.integers(0, 3, size=(120, 7)).astype(float), rng.integers(0, 3, 120)


@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_block_agrees_with_scikit_learn(data, alpha, weighted, container):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    families = BLOCK if container is np.asarray else "bernoulli"
    ours = Classifier(Settings.textbook(families, alpha)).update(container(X), y, weight)
    theirs = BernoulliNB(alpha=alpha, force_alpha=True).fit(X, y, weight)
    expected = theirs.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(container(X)), expected, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("as_type", [bool, int, float])
def test_columns_agree_with_scikit_learn(data, as_type):
    X, y = data
    X = (X > 0).astype(as_type)
    ours = Classifier(Settings.textbook("bernoulli", 1.0)).update(X, y)
    theirs = BernoulliNB(alpha=1.0).fit(X, y)
    expected = theirs.predict_joint_log_proba(X)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), expected, rtol=0, atol=1e-10)


def table(off, on):
    weight = np.array([off, on], dtype=float).T
    return LabelsTable((False, True), (weight > 0).astype(np.int64), weight)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (Laplace(0.0), [0.25, 1.0]),
        (Laplace(1.0), [2 / 6, 5 / 6]),
        (MEstimate(4.0), [3 / 8, 6 / 8]),
        (MEstimate(4.0, {False: 0.75, True: 0.25}), [2 / 8, 5 / 8]),
        (MEstimate(10.0, "marginal"), [(1 + 6) / 14, (4 + 6) / 14]),
        (Dirichlet({False: 1.0, True: 3.0}), [4 / 8, 7 / 8]),
    ],
)
def test_priors(prior, expected):
    parameters = Bernoulli().parameters(table([3, 0], [1, 4]), prior)
    np.testing.assert_allclose(np.exp(parameters.log_on[0]), expected, rtol=1e-14)
    np.testing.assert_allclose(
        np.exp(parameters.log_off[0]), 1 - np.array(expected), rtol=1e-13, atol=1e-16
    )


def test_no_data_with_a_prior_is_a_half():
    parameters = Bernoulli().parameters(table([0, 0, 0], [0, 0, 0]), Laplace(1.0))
    assert np.exp(parameters.log_on[0]).tolist() == [0.5, 0.5, 0.5]


class TestCertainty:
    """Without a prior p may be 0 or 1; then 0 · (−∞) is 0 and nothing is NaN."""

    X = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    Y = np.array([0, 0, 1, 1])
    # class 0: p = 1, 0, 1/2; class 1: p = 1/2, 1, 1/2
    P = np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.5]])

    def expected(self, X):
        with np.errstate(divide="ignore"):
            on = X[:, None, :] > 0
            return np.where(on, np.log(self.P), np.log(1 - self.P)).sum(axis=2) + np.log(0.5)

    @pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
    def test_block(self, container):
        names = ("x0", "x1", "x2")
        families = {names: "bernoulli"} if container is np.asarray else "bernoulli"
        classifier = Classifier(Settings.textbook(families, 0.0)).update(container(self.X), self.Y)
        every = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
        found = classifier.predict_joint_log_proba(container(every))
        assert not np.isnan(found).any()
        np.testing.assert_allclose(found, self.expected(every), rtol=1e-13)

    def test_columns(self):
        classifier = Classifier(Settings.textbook(families="bernoulli", smoothing=0.0)).update(
            self.X, self.Y
        )
        every = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
        np.testing.assert_allclose(
            classifier.predict_joint_log_proba(every), self.expected(every), rtol=1e-13
        )


def test_gap_says_nothing():
    parameters = Bernoulli().parameters(table([3, 0], [1, 4]), Laplace(0.0))
    column = Labels(np.array([-1, 1], dtype=np.int32), (False, True))
    found = Bernoulli().log_likelihood(column, parameters)
    assert found[0].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(np.exp(found[1]), [0.25, 1.0], rtol=1e-14)


def test_other_values_are_refused_at_training():
    with pytest.raises(InputError, match=r"Column 'a': bernoulli takes booleans .* not 2"):
        _ = (
            Classifier(Settings.textbook(families="bernoulli"))
            .update({"a": [0, 1, 2]}, ["x", "y", "x"])
            .model
        )


def test_other_values_are_refused_at_prediction():
    classifier = Classifier(Settings.textbook(families="bernoulli")).update(
        {"a": [0, 1, 1]}, ["x", "y", "x"]
    )
    with (
        pytest.warns(DriftWarning, match="'a': 100% of 1 values were never learned, such as 'no'"),
        pytest.raises(InputError, match=r"Column 'a': bernoulli takes booleans .* not 'no'"),
    ):
        classifier.predict({"a": ["no"]})


def test_sample_frequencies():
    p = np.array([[0.0, 0.3], [0.5, 1.0], [0.9, 0.1]])  # columns × classes
    with np.errstate(divide="ignore"):
        parameters = BernoulliParameters(np.log(1 - p), np.log(p))
    y = np.repeat(np.array([0, 1], dtype=np.int32), 20_000)
    drawn = Bernoulli().sample(parameters, y, np.random.default_rng(0))
    means = drawn.reshape(2, -1, 3).mean(axis=1)
    np.testing.assert_allclose(means, p.T, atol=0.02)
    assert means[0, 0] == 0.0
    assert means[1, 1] == 1.0


def test_linear_form_is_the_log_odds(data):
    X, y = data
    y = y > 0
    X = (X > 1).astype(float)
    for families in (BLOCK, "bernoulli"):
        classifier = Classifier(Settings.textbook(families, 0.5)).update(X, y)
        form, scores = classifier.linear_form(), classifier.predict_joint_log_proba(X)
        assert form.features == tuple(f"x{j}" for j in range(7))
        np.testing.assert_allclose(
            X @ form.w + form.b, scores[:, 1] - scores[:, 0], rtol=0, atol=1e-10
        )
        odds = 1 / (1 + np.exp(-(X @ form.w + form.b)))
        np.testing.assert_allclose(odds, classifier.predict_proba(X)[:, 1], rtol=1e-10)


def test_linear_weights_are_the_textbook_formula():
    X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]], dtype=float)
    y = np.array([1, 1, 0, 0, 0])
    form = Classifier(Settings.textbook("bernoulli", 1.0)).update(X, y).linear_form()
    p, q = (X[y == 1].sum(axis=0) + 1) / 4, (X[y == 0].sum(axis=0) + 1) / 5
    np.testing.assert_allclose(form.w, np.log(p * (1 - q) / (q * (1 - p))), rtol=1e-13)


def test_counts_are_read_as_presence():
    parameters = BernoulliParameters(np.log([[0.8], [0.4]]), np.log([[0.2], [0.6]]))
    found = Bernoulli().log_likelihood(Counts(np.array([[5.0, 0.0]])), parameters)
    np.testing.assert_allclose(np.exp(found), [[0.2 * 0.4]], rtol=1e-14)
