"""The additive correction against an outside solver, and where it stays away."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from priory.tuning.additive import Cells, Problem, best_fit, fit


def made(n=800, size=6, scores=1, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, size, (n, 2)).astype(np.int32)
    effect = rng.normal(size=(size, max(scores, 2)))
    drawn = effect[codes[:, 0]] + rng.gumbel(size=(n, max(scores, 2)))
    y = drawn.argmax(axis=1).astype(np.int32)
    return codes, y, np.zeros((n, scores)), np.ones(n)


@pytest.mark.parametrize("scores", [1, 3])
def test_the_least_point_is_that_of_logistic_regression(scores):
    codes, y, offset, weight = made(scores=scores)
    problem = Problem(offset, y, weight, [Cells(codes[:, j], 6) for j in (0, 1)])
    found = fit(problem, 2.0, tolerance=1e-12)
    one_hot = np.hstack([np.eye(6)[codes[:, j]] for j in (0, 1)])
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=10_000)
    np.testing.assert_allclose(found.T, peer.fit(one_hot, y).coef_, atol=2e-4)


def test_neighbours_are_alike_where_cells_have_an_order():
    codes, y, offset, weight = made(n=60, size=30)
    plain, ordered = (
        fit(Problem(offset, y, weight, [Cells(codes[:, 0], 30, order)]), 4.0)[:, 0]
        for order in (False, True)
    )
    assert np.abs(np.diff(ordered)).sum() < np.abs(np.diff(plain)).sum()


def test_an_offset_and_a_weight_are_honoured():
    codes, y, _, _ = made()
    rng = np.random.default_rng(1)
    offset, weight = rng.normal(size=(len(y), 1)), rng.integers(1, 4, len(y)).astype(float)
    cells = [Cells(codes[:, 0], 6)]
    found = fit(Problem(offset, y, weight, cells), 1.0, tolerance=1e-12)
    every = np.repeat(np.arange(len(y)), weight.astype(int))
    copies = Problem(offset[every], y[every], np.ones(len(every)), [Cells(codes[every, 0], 6)])
    np.testing.assert_allclose(found, fit(copies, 1.0, tolerance=1e-12), atol=1e-5)


def test_rows_correct_what_is_wrong_and_leave_what_is_right():
    codes, y, offset, weight = made(n=2000)
    fold = np.arange(len(y)) % 10
    problem = Problem(offset, y, weight, [Cells(codes[:, j], 6) for j in (0, 1)])
    best = best_fit(problem, fold)
    assert best.v is not None
    assert best.gain > 0
    noise = np.random.default_rng(2).integers(0, 2, len(y)).astype(np.int32)
    nothing = best_fit(Problem(offset, noise, weight, problem.blocks), fold)
    assert nothing.v is None
    np.testing.assert_array_equal(nothing.scores, offset)


def test_scores_of_rows_are_corrected_without_their_group():
    codes, y, offset, weight = made(n=600)
    fold = np.arange(len(y)) % 10
    problem = Problem(offset, y, weight, [Cells(codes[:, 0], 6)])
    best = best_fit(problem, fold)
    for f in range(10):  # a small table: each fold is a group of its own
        mine = fold == f
        v = fit(problem.take(~mine), best.strength)
        corrected = offset[mine] + v[codes[mine, 0]]
        np.testing.assert_allclose(best.scores[mine], corrected, atol=0.01)
