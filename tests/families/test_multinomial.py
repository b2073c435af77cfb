"""Multinomial against scikit-learn's MultinomialNB and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import logsumexp
from sklearn.naive_bayes import MultinomialNB

from priory import Classifier, Settings
from priory.base.errors import InputError
from priory.data.columns import Counts
from priory.families import Multinomial
from priory.families.counted import CountedParameters
from priory.families.priors import Laplace, MEstimate
from priory.families.weights import Weights


def of_table(log_p):
    return Weights.of_table(log_p, np.ones(len(log_p), dtype=bool))


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    return rng.poisson(1.5, size=(90, 8)).astype(float), rng.integers(0, 3, 90)


@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_agrees_with_scikit_learn(data, alpha, weighted, container):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    ours = Classifier(Settings.textbook("multinomial", alpha)).update(container(X), y, weight)
    theirs = MultinomialNB(alpha=alpha, force_alpha=True).fit(X, y, weight)
    expected = theirs.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(container(X)), expected, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_evidence_has_the_coefficient(data, container):
    X, y = data
    classifier = Classifier(Settings.textbook("multinomial", 1.0)).update(container(X), y)
    p = np.exp(classifier.model.terms[0].parameters.table).T
    likelihood = np.stack([stats.multinomial.logpmf(X, X.sum(axis=1), row) for row in p], axis=1)
    expected = logsumexp(likelihood + np.log(np.bincount(y) / len(y)), axis=1)
    np.testing.assert_allclose(classifier.score_samples(container(X)), expected, atol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_no_smoothing_is_exactly_zero(container):
    X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    classifier = Classifier(Settings.textbook(families="multinomial", smoothing=0.0)).update(
        container(X), [0, 1]
    )
    rows = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    found = np.exp(classifier.predict_joint_log_proba(container(rows)))
    expected = [[0.5 * 2 / 9, 0], [0, 0.5 * 9 / 16], [0.5, 0.5], [0, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found[0, 1] == 0.0  # and never NaN, although 0 · (−∞) is in every sum


def test_m_estimate_of_the_words_of_all_classes():
    X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    classifier = Classifier(Settings.textbook("multinomial", MEstimate(5.0, "marginal"))).update(
        X, [0, 1]
    )
    guess = (X.sum(axis=0) + 1) / (7 + 3)
    expected = (X + 5 * guess) / (X.sum(axis=1, keepdims=True) + 5)
    found = np.exp(classifier.model.terms[0].parameters.table).T
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_what_is_no_count_is_refused(wrong, container):
    X = np.array([[1.0, 0.0], [0.0, wrong], [1.0, 1.0]])
    with pytest.raises(InputError, match=r"Column 'x1' holds a count that is negative, missing or"):
        Classifier(Settings.textbook(families="multinomial")).update(container(X), [0, 1, 2])


def test_sample_means():
    p = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.1, 0.2, 0.6]])
    with np.errstate(divide="ignore"):
        parameters = CountedParameters(of_table(np.log(p).T), np.array([4.0, 10.0]))
    y = np.repeat(np.array([0, 1], dtype=np.int32), 20_000)
    means = Multinomial().sample(parameters, y, np.random.default_rng(0)).reshape(2, -1, 4).mean(1)
    np.testing.assert_allclose(means, [4 * p[0], 10 * p[1]], atol=0.1)


def test_linear_form_is_the_log_odds(data):
    X, y = data
    classifier = Classifier(Settings.textbook("multinomial", 0.5)).update(X, y > 0)
    form, scores = classifier.linear_form(), classifier.predict_joint_log_proba(X)
    np.testing.assert_allclose(X @ form.w + form.b, scores[:, 1] - scores[:, 0], atol=1e-10)


def test_a_row_of_nothing_is_certain():
    parameters = CountedParameters(of_table(np.log([[0.5], [0.5]])), np.array([3.0]))
    nothing = Counts(np.zeros((1, 2)))
    assert Multinomial().log_likelihood(nothing, parameters).tolist() == [[0.0]]
    assert Multinomial().log_base_measure(nothing, parameters).tolist() == [0.0]


def test_smoothing_uses_the_whole_vocabulary():
    X = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    classifier = Classifier(Settings.textbook("multinomial", Laplace(1.0))).update(
        X, ["a", "a", "b"]
    )
    p = np.exp(classifier.model.terms[0].parameters.table).T
    np.testing.assert_allclose(p[0], [4 / 8, 2 / 8, 1 / 8, 1 / 8], rtol=1e-14)


def test_rows_of_more_counts_than_can_be_drawn_are_refused():
    settings = Settings.textbook(families={("a", "b"): "multinomial"})
    model = Classifier(settings).update({"a": [1e30, 1.0], "b": [1.0, 2e30]}, [0, 1])
    with pytest.raises(InputError, match=r"would have .* counts on average"):
        model.sample(3, random_state=0)
