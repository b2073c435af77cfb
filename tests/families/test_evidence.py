"""Marginal likelihoods in closed form, against integrals worked out by SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from priory.base.errors import SettingError
from priory.families.evidence import (
    log_dirichlet_evidence,
    log_gamma_evidence,
    log_normal_inverse_gamma_evidence,
)
from priory.families.priors import NormalInverseGamma


@given(n=st.integers(0, 12), k=st.integers(0, 12), a=st.sampled_from([0.5, 1, 3]), b=st.just(2.0))
def test_beta(n, k, a, b):
    found = log_dirichlet_evidence(np.array([float(n), float(k)]), np.array([a, b]))
    expected, _ = integrate.quad(
        lambda p: p**n * (1 - p) ** k * stats.beta.pdf(p, a, b), 0, 1, limit=200
    )
    assert np.exp(found) == pytest.approx(expected, rel=1e-4)


@given(x=st.lists(st.integers(0, 6), min_size=1, max_size=6), shape=st.sampled_from([0.7, 2.0]))
def test_gamma(x, shape):
    total, n = np.array([float(sum(x))]), np.array([float(len(x))])
    found = log_gamma_evidence(total, n, np.array([shape]), np.array([1.5]))
    expected, _ = integrate.quad(
        lambda r: r ** sum(x) * np.exp(-len(x) * r) * stats.gamma.pdf(r, shape, scale=1 / 1.5),
        0,
        np.inf,
        limit=200,
    )
    assert np.exp(found) == pytest.approx(expected, rel=1e-4)


def test_normal_inverse_gamma():
    x = np.array([0.5, -1.0, 2.0])
    prior = NormalInverseGamma(mean=0.3, kappa=1.5, alpha=2.0, beta=1.2)
    zero, n = np.zeros(1), np.array([3.0])
    given_nothing = prior.updated(zero, zero, zero, zero, zero)
    after = prior.updated(n, np.array([x.mean()]), np.array([x.var() * 3]), zero, zero)
    found = log_normal_inverse_gamma_evidence(n, given_nothing, after)

    variances, means = np.geomspace(1e-3, 60, 1000)[:, None], np.linspace(-8, 8, 1000)
    density = stats.invgamma.pdf(variances, 2.0, scale=1.2)
    density = density * stats.norm.pdf(means, 0.3, np.sqrt(variances / 1.5))
    for value in x:
        density = density * stats.norm.pdf(value, means, np.sqrt(variances))
    expected = np.trapezoid(np.trapezoid(density, means), variances[:, 0])
    assert np.exp(found) == pytest.approx(expected, rel=1e-3)


def test_values_beside_those_counted_belong_to_the_prior():
    counts = np.array([[3.0, 1.0, 0.0]])
    whole = log_dirichlet_evidence(counts, np.full(3, 0.5))
    assert log_dirichlet_evidence(counts[:, :2], np.full(2, 0.5), 1.5) == pytest.approx(whole)


def test_what_was_not_counted_adds_nothing():
    assert log_dirichlet_evidence(np.zeros((2, 3)), np.zeros(3)) == 0
    assert log_gamma_evidence(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2)) == 0
    one = np.ones(1)
    assert log_gamma_evidence(0 * one, one, 0 * one, one) == 0  # a rate that is surely 0


def test_a_prior_is_needed():
    with pytest.raises(SettingError, match="pseudo-count above 0 for every value that came"):
        log_dirichlet_evidence(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    one = np.ones(1)
    with pytest.raises(SettingError, match="needs a prior of the rate"):
        log_gamma_evidence(one, one, one, 0 * one)
