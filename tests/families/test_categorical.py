"""Categorical against scikit-learn's CategoricalNB and the formulas."""

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from priory import Classifier, Settings
from priory.base.errors import SettingError, UnseenValueError
from priory.data.columns import Labels
from priory.families import Categorical
from priory.families.priors import Dirichlet, Laplace, MEstimate
from priory.statistics.tables import LabelsTable


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.integers(0, [2, 3, 4, 5, 3], size=(200, 5))
    X[:4] = [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 2, 2, 2, 2], [1, 2, 3, 4, 2]]
    return X, rng.integers(0, 3, 200)


COUNTS = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 2.0]])


def table(weight=COUNTS, labels=("a", "b", "c")):
    return LabelsTable(labels, (weight > 0).astype(np.int64), weight)


def probabilities(prior, **kwargs):
    return np.exp(Categorical(**kwargs).parameters(table(), prior).log_p).T


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(data, alpha, weighted):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    ours = Classifier(Settings.textbook("categorical", alpha)).update(X, y, weight)
    theirs = CategoricalNB(alpha=alpha, force_alpha=True).fit(X, y, weight)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=0, atol=1e-10
    )


def test_no_smoothing_is_exactly_zero():
    p = probabilities(Laplace(0.0))
    assert p[0, 2] == 0.0
    assert p[1, 0] == 0.0
    np.testing.assert_allclose(p, [[0.75, 0.25, 0], [0, 0.5, 0.5]], rtol=1e-15)


def test_impossible_is_minus_infinity_never_nan():
    family = Categorical()
    parameters = family.parameters(table(), Laplace(0.0))
    column = Labels(np.array([0, 2, -1], dtype=np.int32), ("a", "b", "c"))
    found = family.log_likelihood(column, parameters)
    assert np.isneginf(found).tolist() == [[False, True], [True, False], [False, False]]
    assert found[2].tolist() == [0.0, 0.0]  # a gap says nothing


@pytest.mark.parametrize(
    ("prior", "pseudo"),
    [
        (Laplace(0.5), [0.5, 0.5, 0.5]),
        (MEstimate(6.0), [2.0, 2.0, 2.0]),
        # (N_v + 1) / (N + V) with N_v = 3, 3, 2
        (MEstimate(11.0, "marginal"), [4.0, 4.0, 3.0]),
        (MEstimate(10.0, {"a": 0.5, "b": 0.3, "c": 0.2}), [5.0, 3.0, 2.0]),
        (Dirichlet({"a": 1.0, "b": 2.0, "c": 3.0}), [1.0, 2.0, 3.0]),
    ],
)
def test_priors_add_their_pseudo_counts(prior, pseudo):
    expected = (COUNTS + pseudo) / (COUNTS.sum(axis=1, keepdims=True) + sum(pseudo))
    np.testing.assert_allclose(probabilities(prior), expected, rtol=1e-14)


@pytest.mark.parametrize("m", [0.0, 3.0])
def test_m_estimate_is_n_plus_mp(m):
    p = {"a": 0.6, "b": 0.3, "c": 0.1}
    expected = (COUNTS + m * np.array([0.6, 0.3, 0.1])) / (4 + m)
    np.testing.assert_allclose(probabilities(MEstimate(m, p)), expected, rtol=1e-14)


def test_prior_may_know_values_that_never_came():
    prior = Dirichlet({"a": 1.0, "b": 1.0, "c": 1.0, "d": 2.0})
    parameters = Categorical().parameters(table(), prior)
    assert parameters.labels == ("a", "b", "c", "d")
    np.testing.assert_allclose(np.exp(parameters.log_p[3]), [2 / 9, 2 / 9], rtol=1e-14)


def test_declared_values_enter_the_domain():
    parameters = Categorical(values=("d", "a")).parameters(table(), Laplace(1.0))
    assert parameters.labels == ("a", "b", "c", "d")
    np.testing.assert_allclose(np.exp(parameters.log_p[3]), [1 / 8, 1 / 8], rtol=1e-14)


@pytest.mark.parametrize("prior", [Dirichlet({"a": 1.0}), MEstimate(2.0, {"a": 1.0})])
def test_prior_that_leaves_out_a_seen_value_is_refused(prior):
    with pytest.raises(SettingError, match=r"says nothing of the value 'b', 'c' that was seen"):
        Categorical().parameters(table(), prior)


class TestUnseen:
    COLUMN = Labels(np.array([0, 1], dtype=np.int32), ("a", "z"))

    def likelihood(self, unseen):
        family = Categorical(unseen=unseen)
        return np.exp(family.log_likelihood(self.COLUMN, family.parameters(table(), Laplace(1.0))))

    def test_skip_leaves_the_factor_out(self):
        np.testing.assert_allclose(self.likelihood("skip"), [[4 / 7, 1 / 7], [1, 1]], rtol=1e-14)

    def test_smooth_is_one_more_place(self):
        expected = [[4 / 8, 1 / 8], [1 / 8, 1 / 8]]
        np.testing.assert_allclose(self.likelihood("smooth"), expected, rtol=1e-14)

    def test_error_names_the_value(self):
        with pytest.raises(UnseenValueError, match=r"value 'z' was never learned. Values: 'a'"):
            self.likelihood("error")

    def test_other_policies_are_refused(self):
        with pytest.raises(SettingError, match=r"unseen must be .* not 'ignore'"):
            Categorical(unseen="ignore")

    def test_a_label_without_rows_is_no_error(self):
        family = Categorical(unseen="error")
        column = Labels(np.array([0], dtype=np.int32), ("a", "z"))
        family.log_likelihood(column, family.parameters(table(), Laplace(1.0)))


def test_one_is_not_true_is_not_its_string():
    weight = np.array([[1.0, 2.0, 3.0]])
    parameters = Categorical().parameters(table(weight, (True, 1, "1")), Laplace(0.0))
    column = Labels(np.array([0, 1, 2], dtype=np.int32), ("1", True, 1))
    found = np.exp(Categorical().log_likelihood(column, parameters))[:, 0]
    np.testing.assert_allclose(found, [3 / 6, 1 / 6, 2 / 6], rtol=1e-14)


def test_a_class_that_never_saw_the_column_does_not_decide():
    counts = np.array([[3.0, 1.0], [0.0, 0.0]])
    p = np.exp(Categorical().parameters(table(counts, ("a", "b")), Laplace(0.0)).log_p).T
    np.testing.assert_allclose(p, [[0.75, 0.25], [0.75, 0.25]], rtol=1e-14)


def test_sample_frequencies():
    parameters = Categorical().parameters(table(), Laplace(0.0))
    y = np.repeat(np.array([0, 1], dtype=np.int32), 20_000)
    drawn = Categorical().sample(parameters, y, np.random.default_rng(0)).reshape(2, -1)
    frequency = [[(row == v).mean() for v in "abc"] for row in drawn]
    np.testing.assert_allclose(frequency, np.exp(parameters.log_p).T, atol=0.02)
    assert frequency[0][2] == frequency[1][0] == 0.0  # what is impossible is never drawn


def test_sample_never_draws_the_place_of_the_unseen():
    family = Categorical(unseen="smooth")
    parameters = family.parameters(table(), Laplace(5.0))
    drawn = family.sample(parameters, np.zeros(1000, dtype=np.int32), np.random.default_rng(0))
    assert set(drawn) == {"a", "b", "c"}


def test_linear_form_is_the_log_odds(data):
    X, y = data
    keep = y < 2
    X, y = X[keep], y[keep]
    classifier = Classifier(Settings.textbook("categorical", 1.0)).update(X, y)
    form = classifier.linear_form()
    one_hot = np.array(
        [[f"x{j}={row[j]}" == f for f in form.features for j in [int(f[1])]] for row in X]
    )
    scores = classifier.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        one_hot @ form.w + form.b, scores[:, 1] - scores[:, 0], rtol=0, atol=1e-10
    )
