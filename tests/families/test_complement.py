"""Complement against scikit-learn's ComplementNB."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import ComplementNB

from priory import NaiveBayes
from priory.base.errors import NoLikelihoodError, SchemaError
from priory.families import Complement
from priory.families.priors import MEstimate


@pytest.fixture
def data():
    rng = np.random.default_rng(6)
    return rng.poisson(1.2, size=(80, 7)).astype(float), rng.choice(3, 80, p=[0.7, 0.2, 0.1])


def fitted(data, family=None, smoothing=1.0):
    family = family if family is not None else Complement()
    return NaiveBayes(weights=None, missing="skip", families=family, smoothing=smoothing).fit(
        sp.csr_array(data[0]), data[1]
    )


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.01])
def test_agrees_with_scikit_learn(data, norm, alpha):
    X, _ = data
    ours, theirs = fitted(data, Complement(norm), alpha), ComplementNB(alpha=alpha, norm=norm)
    scores = ours.predict_joint_log_proba(sp.csr_array(X)) - ours.model_.log_prior
    expected = theirs.fit(*data).predict_joint_log_proba(X)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10)


def test_m_estimate(data):
    X, y = data
    weights = fitted(data, smoothing=MEstimate(4.0)).model_.terms[0].parameters.table
    for k in range(3):
        others = X[y != k].sum(axis=0) + 4 / 7
        np.testing.assert_allclose(weights[:, k], -np.log(others / others.sum()), rtol=1e-12)


def test_it_is_linear(data):
    X = data[0]
    model = fitted(data)
    form = model.linear_form()
    expected = model.predict_joint_log_proba(sp.csr_array(X))
    np.testing.assert_allclose(X @ form.weights + form.bias, expected, atol=1e-10)


def test_there_is_no_evidence_and_nothing_to_sample(data):
    model = fitted(data)
    with pytest.raises(NoLikelihoodError, match="other classes"):
        model.score_samples(sp.csr_array(data[0]))
    with pytest.raises(NoLikelihoodError, match="other classes"):
        model.sample(3)


def test_it_is_for_counts():
    with pytest.raises(SchemaError, match=r"Column 'x' is read as numbers, but holds 'a'"):
        NaiveBayes(weights=None, missing="skip", families="complement").fit(
            {"x": ["a", "b"]}, [0, 1]
        )
