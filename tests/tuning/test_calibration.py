"""Weights and temperature, held to a general-purpose optimiser."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar, nnls
from scipy.special import logsumexp

from priory.tuning import calibration
from priory.tuning.calibration import (
    BIAS_RIDGE,
    Rows,
    cross_fitted,
    learn_temperature,
    learn_weights,
    log_loss,
)
from priory.tuning.quadratics import LowRank, nonnegative


def made(n=400, n_terms=5, n_classes=3, seed=0):
    """Return terms of which the last repeats the first and one is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    terms = rng.normal(size=(n_terms, n, n_classes)).astype(np.float32)
    terms[:, np.arange(n), y] += np.linspace(0, 1.5, n_terms)[:, None]
    terms[-1] = terms[-2]
    prior = np.log(np.tile(np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum(), (n, 1)))
    rows = Rows(prior, y, rng.integers(1, 4, n).astype(float), rng.choice([0.5, 1.0], n))
    return terms, rows


def objective(z, terms, rows, centre, ridge):
    w, b = z[: len(terms)], z[len(terms) :]
    scores = rows.prior + rows.share[:, None] * b + np.tensordot(w, terms, axes=1)
    own = scores[np.arange(len(rows)), rows.y]
    loss = np.dot(rows.weight, logsumexp(scores, axis=1) - own)
    return loss + (ridge / 2 * (w - centre) ** 2).sum() + BIAS_RIDGE / 2 * (b**2).sum()


@pytest.mark.parametrize("seed", range(5))
def test_the_temperature_has_the_least_loss(seed):
    terms, rows = made(seed=seed)
    total = terms.sum(axis=0, dtype=float)
    expected = minimize_scalar(
        lambda t: log_loss(rows.prior + t * total, rows.y, rows.weight),
        bounds=(0, 5),
        method="bounded",
    )
    assert learn_temperature(rows.prior, total, rows.y, rows.weight) == pytest.approx(
        expected.x, abs=1e-3
    )


def test_a_temperature_beyond_all_bounds_stays_within():
    scores = np.array([[1.0, 0.0]] * 3)
    sure = learn_temperature(np.zeros((3, 2)), scores, np.zeros(3, dtype=int), np.ones(3))
    assert 20.0 < sure <= 100.0
    held = learn_temperature(np.zeros((3, 2)), scores, np.zeros(3, dtype=int), np.ones(3), hold=3.0)
    assert 1.0 < held < 20.0
    wrong = learn_temperature(np.zeros((3, 2)), scores, np.ones(3, dtype=int), np.ones(3))
    assert 0.005 <= wrong < 0.006


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("trusted", [True, False])
def test_newton_steps_come_close_to_the_least_loss(seed, trusted):
    terms, rows = made(seed=seed)
    n = len(terms)
    trust = np.ones(n) if trusted else np.random.default_rng(seed).integers(0, 3, n) / 2
    trust[-1] = 1.0  # of noise alone t would be near 0, and all weights held to that
    found = learn_weights(terms, rows, trust=None if trusted else trust)
    centre, ridge = trust * found.temperature, np.where(trust > 0, 3.0, 10.0)
    given = (terms, rows, centre, ridge)
    start = np.r_[centre, np.zeros(rows.prior.shape[1])]
    bounds = [(0, None)] * n + [(None, None)] * rows.prior.shape[1]
    best = minimize(objective, start, args=given, bounds=bounds)
    assert (found.terms >= 0).all()
    reached = objective(np.r_[found.terms, found.bias], *given)
    begun = objective(start, *given)
    assert reached - best.fun < max(0.02 * (begun - best.fun), 1e-3 * len(rows))


def test_what_says_the_same_shares_its_weight():
    terms, rows = made(n=2000, n_terms=4)
    found = learn_weights(terms, rows).terms
    assert found[2] == pytest.approx(found[3], abs=1e-3)
    alone = learn_weights(terms[:3], rows).terms
    assert found[2] + found[3] == pytest.approx(alone[2], rel=0.05)


def test_one_weight_for_all_is_a_temperature_and_biases():
    terms, rows = made()
    found = learn_weights(terms, rows, one_for_all=True)
    assert len(set(found.terms.tolist())) == 1
    total = terms.sum(axis=0, dtype=float)
    t = learn_temperature(rows.prior, total, rows.y, rows.weight)
    plain = log_loss(rows.prior + t * total, rows.y, rows.weight)
    assert log_loss(found.scores(rows, terms), rows.y, rows.weight) <= plain + 1e-6


def test_cross_fitted_scores_are_those_of_weights_learned_without_the_fold():
    terms, rows = made(n=1000)
    fold = np.arange(len(rows)) % 10
    all_rows = learn_weights(terms, rows)
    scores, _ = cross_fitted(all_rows, terms, rows, fold)
    expected = np.empty_like(scores)
    for f in range(10):
        rest = fold != f
        without = learn_weights(terms[:, rest], rows.take(rest))
        expected[~rest] = without.scores(rows.take(~rest), terms[:, ~rest])
    honest, true = (log_loss(found, rows.y, rows.weight) for found in (scores, expected))
    fitted = log_loss(all_rows.scores(rows, terms), rows.y, rows.weight)
    assert abs(honest - true) < 0.1 * (true - fitted)


def test_no_terms_leave_the_prior():
    _, rows = made()
    found = learn_weights(np.zeros((0, *rows.prior.shape), dtype=np.float32), rows)
    assert found.terms.shape == (0,)
    assert not found.bias.any()


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1e-2, 3.0]))
def test_the_least_point_without_negative_weights_is_that_of_scipy(n, seed, ridge):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 5, n)) * np.exp(rng.normal(size=n))
    y = X @ rng.normal(size=n) + rng.normal(size=n + 5)
    A, b = X.T @ X + ridge * np.eye(n), X.T @ y
    root = np.linalg.cholesky(A)
    expected, _ = nnls(root.T, np.linalg.solve(root, b))
    np.testing.assert_allclose(nonnegative(A, b), expected, rtol=1e-6, atol=1e-8)


def test_the_least_point_of_terms_that_are_all_alike():
    A, b = np.ones((5, 5)) + 1e-9 * np.eye(5), np.full(5, 2.0)
    assert nonnegative(A, b).sum() == pytest.approx(2.0)
    assert nonnegative(A, -b).tolist() == [0.0] * 5
    assert nonnegative(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_more_terms_than_rows_have_the_weights_of_the_hessian_written_out(n_classes, monkeypatch):
    terms, rows = made(n=24, n_terms=90, n_classes=max(n_classes, 2), seed=n_classes)
    if n_classes == 1:
        terms, rows = terms[:, :, 1:] - terms[:, :, :1], replace(rows, prior=rows.prior[:, :1])
    fold = np.arange(len(rows)) % 4
    found = learn_weights(terms, rows)
    scores, _ = cross_fitted(found, terms, rows, fold)
    monkeypatch.setattr(calibration, "_is_wide", lambda terms: False)
    expected = learn_weights(terms, rows)
    np.testing.assert_allclose(found.terms, expected.terms, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.bias, expected.bias, rtol=1e-3, atol=1e-4)
    again, _ = cross_fitted(expected, terms, rows, fold)
    np.testing.assert_allclose(scores, again, rtol=1e-2, atol=1e-2)
    monkeypatch.setattr(calibration, "MOST_KEPT", 0)  # each part computed where it is needed
    np.testing.assert_allclose(cross_fitted(expected, terms, rows, fold)[0], again, atol=1e-3)


def test_a_matrix_of_low_rank_is_solved_for_some_coordinates_alone():
    rng = np.random.default_rng(0)
    A = LowRank(rng.random(700) + 1.0, rng.normal(size=(700, 9)))
    free = rng.random(700) < 0.9
    b = rng.normal(size=free.sum())
    whole = np.diag(A.diagonal) + A.root @ A.root.T
    np.testing.assert_allclose(A.solve(free, b), np.linalg.solve(whole[np.ix_(free, free)], b))
    np.testing.assert_allclose(A @ np.ones(700), whole @ np.ones(700))
