"""Weights and temperature, held to a general-purpose optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp

from priory.calibration import (
    BIAS_RIDGE,
    RIDGE,
    cross_fitted,
    learn_temperature,
    learn_weights,
    log_loss,
)


def made(n=400, n_terms=5, n_classes=3, seed=0):
    """Return terms of which the last repeats the first and one is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    terms = rng.normal(size=(n_terms, n, n_classes)).astype(np.float32)
    terms[:, np.arange(n), y] += np.linspace(0, 1.5, n_terms)[:, None]
    terms[-1] = terms[-2]
    prior = np.log(np.tile(np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum(), (n, 1)))
    return terms, prior, y, rng.integers(1, 4, n).astype(float)


def objective(z, terms, prior, y, weight, t):
    w, b = z[: len(terms)], z[len(terms) :]
    scores = prior + b + np.tensordot(w, terms, axes=1)
    loss = np.dot(weight, logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
    return loss + RIDGE / 2 * ((w - t) ** 2).sum() + BIAS_RIDGE / 2 * (b**2).sum()


@pytest.mark.parametrize("seed", range(5))
def test_the_temperature_has_the_least_loss(seed):
    terms, prior, y, weight = made(seed=seed)
    total = terms.sum(axis=0, dtype=float)
    expected = minimize_scalar(
        lambda t: log_loss(prior + t * total, y, weight), bounds=(0, 5), method="bounded"
    )
    assert learn_temperature(prior, total, y, weight) == pytest.approx(expected.x, abs=1e-3)


def test_a_temperature_beyond_all_bounds_stays_within():
    scores = np.array([[1.0, 0.0]] * 3)
    sure = learn_temperature(np.zeros((3, 2)), scores, np.zeros(3, dtype=int), np.ones(3))
    assert 20.0 < sure <= 100.0
    wrong = learn_temperature(np.zeros((3, 2)), scores, np.ones(3, dtype=int), np.ones(3))
    assert 0.005 <= wrong < 0.006


@pytest.mark.parametrize("seed", range(5))
def test_two_newton_steps_come_close_to_the_least_loss(seed):
    terms, prior, y, weight = made(seed=seed)
    found = learn_weights(terms, prior, y, weight)
    given = (terms, prior, y, weight, found.temperature)
    n = len(terms)
    start = np.r_[np.full(n, found.temperature), np.zeros(prior.shape[1])]
    bounds = [(0, None)] * n + [(None, None)] * prior.shape[1]
    best = minimize(objective, start, args=given, bounds=bounds)
    assert (found.terms >= 0).all()
    reached = objective(np.r_[found.terms, found.bias], *given)
    begun = objective(start, *given)
    assert reached - best.fun < 0.02 * (begun - best.fun)


def test_what_says_the_same_shares_its_weight():
    terms, prior, y, weight = made(n=2000, n_terms=4)
    found = learn_weights(terms, prior, y, weight).terms
    assert found[2] == pytest.approx(found[3], abs=1e-3)
    alone = learn_weights(terms[:3], prior, y, weight).terms
    assert found[2] + found[3] == pytest.approx(alone[2], rel=0.05)


def test_one_weight_for_all_is_a_temperature_and_biases():
    terms, prior, y, weight = made()
    found = learn_weights(terms, prior, y, weight, one_for_all=True)
    assert len(set(found.terms.tolist())) == 1
    total = terms.sum(axis=0, dtype=float)
    plain = log_loss(prior + learn_temperature(prior, total, y, weight) * total, y, weight)
    assert log_loss(found.scores(prior, terms), y, weight) <= plain + 1e-6


def test_cross_fitted_scores_are_those_of_weights_learned_without_the_fold():
    terms, prior, y, weight = made(n=1000)
    fold = np.arange(len(y)) % 10
    all_rows = learn_weights(terms, prior, y, weight)
    scores = cross_fitted(all_rows, terms, prior, y, weight, fold)
    expected = np.empty_like(scores)
    for f in range(10):
        rest = fold != f
        without = learn_weights(terms[:, rest], prior[rest], y[rest], weight[rest])
        expected[~rest] = without.scores(prior[~rest], terms[:, ~rest])
    honest, true = log_loss(scores, y, weight), log_loss(expected, y, weight)
    fitted = log_loss(all_rows.scores(prior, terms), y, weight)
    assert abs(honest - true) < 0.1 * (true - fitted)


def test_no_terms_leave_the_prior():
    _, prior, y, weight = made()
    found = learn_weights(np.zeros((0, *prior.shape), dtype=np.float32), prior, y, weight)
    assert found.terms.shape == (0,)
    assert not found.bias.any()
