"""The kernels of additive scores against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.additive import (
    add_cells,
    additive_gradient,
    cell_losses,
    log_loss_residuals,
    sum_cells,
)


def drawn(seed, n=60, d=4, size=7, scores=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, size, (n, d)).astype(np.int32)
    return rng, codes, rng.normal(size=(size, scores)), rng.normal(size=(n, scores))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_cells_are_added_and_summed_as_numpy_does(seed, scores):
    _, codes, table, values = drawn(seed, scores=scores)
    padded = np.vstack([table, np.zeros(scores)])
    out = values.copy()
    add_cells(codes, table, out)
    np.testing.assert_allclose(out, values + padded[codes].sum(axis=1), rtol=1e-12, atol=1e-12)
    sums = np.zeros((len(table) + 1, scores))
    for j in range(codes.shape[1]):
        np.add.at(sums, codes[:, j], values)
    found = np.zeros_like(table)
    sum_cells(codes, values, found)
    np.testing.assert_allclose(found, sums[:-1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scores", [1, 2, 5])
def test_residuals_are_those_of_the_softmax(scores):
    rng, _, _, values = drawn(0, scores=scores)
    values *= 30.0  # also where an exponential would overflow
    n, K = len(values), max(scores, 2)
    y, weight = rng.integers(0, K, n).astype(np.int32), rng.exponential(size=n)
    weight[:5] = 0.0
    full = values if scores > 1 else np.hstack([np.zeros((n, 1)), values])
    log_p = full - np.logaddexp.reduce(full, axis=1, keepdims=True)
    wrong = weight[:, None] * (np.exp(log_p) - np.eye(K)[y])
    found = values.copy()
    loss = log_loss_residuals(found, y, weight)
    assert loss == pytest.approx(-weight @ log_p[np.arange(n), y], rel=1e-12)
    np.testing.assert_allclose(found, wrong if scores > 1 else wrong[:, 1:], atol=1e-12)


@pytest.mark.parametrize("scores", [1, 2, 4])
def test_the_gradient_is_the_sum_of_the_residuals(scores):
    rng, codes, table, offset = drawn(3, scores=scores)
    n = len(codes)
    y, weight = rng.integers(0, max(scores, 2), n).astype(np.int32), rng.exponential(size=n)
    wrong, wanted = offset.copy(), np.zeros_like(table)
    add_cells(codes, table, wrong)
    loss = log_loss_residuals(wrong, y, weight)
    sum_cells(codes, wrong, wanted)
    found = np.zeros_like(table)
    given = additive_gradient(codes, table, offset, y, weight, found)
    assert given == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scores", [1, 3])
def test_losses_of_cells_are_those_of_their_rows(scores):
    rng = np.random.default_rng(4)
    K = max(scores, 2)
    values = rng.normal(size=(5, 3, scores)) * 20.0
    counts = rng.integers(0, 4, (5, 3, K)).astype(float)
    full = values if scores > 1 else np.concatenate([np.zeros((5, 3, 1)), values], axis=2)
    log_p = full - np.logaddexp.reduce(full, axis=2, keepdims=True)
    np.testing.assert_allclose(cell_losses(values, counts), -(counts * log_p).sum(axis=(0, 2)))
