import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.rows_without import (
    add_gaussian_shifted,
    add_own,
    combined_codes,
    gaussian_own,
    put_own,
)

ROWS = st.sampled_from([0, 1, 31, 32, 33, 70, 700])
COLUMNS = st.sampled_from([1, 2, 5, 63, 64, 65, 130])
LAYOUTS = st.sampled_from(["C", "F", "strided", "float32"])
K = 3


def lay_out(X, layout):
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "strided":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "float32":
        X = X.astype(np.float32)
    X.flags.writeable = False
    return X


def log_normal(x, mean, variance):
    return -0.5 * np.log(2 * np.pi * variance) - (x - mean) ** 2 / (2 * variance)


def made(seed, n, d, layout, weighted, gaps):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3
    X[rng.random(X.shape) < gaps] = np.nan
    y = rng.integers(0, K, n).astype(np.int32)
    amount = rng.choice([0.25, 1.0], n) if weighted else np.ones(n)
    return lay_out(X, layout), y, amount, rng


@given(
    st.integers(0, 9), ROWS, COLUMNS, LAYOUTS, st.booleans(), st.sampled_from([0.0, 0.2]),
    st.sampled_from([0.0, 0.3]),
)  # fmt: skip
def test_own_densities_equal_their_twin(seed, n, d, layout, weighted, gaps, smoothing):
    X, y, amount, rng = made(seed, n, d, layout, weighted, gaps)
    size, mean = rng.uniform(20, 40, (K, d)), rng.normal(size=(K, d)) + 3
    scatter = size * rng.uniform(2, 4, (K, d))
    variance = scatter / size + 0.1
    least = np.zeros((K, d))
    log_norm = -0.5 * np.log(2 * np.pi * variance)
    own = np.stack([size, mean, scatter, least, 1 / variance, log_norm, 1 / (size - 1)], axis=-1)
    n_all, mean_all = size.sum(axis=0), mean.mean(axis=0)
    scatter_all = scatter.sum(axis=0)
    spread = scatter_all / n_all
    pooled = np.stack([n_all, mean_all, scatter_all, spread, 1 / (n_all - 1)], axis=-1)
    epsilon, out = np.empty(n), np.empty(n)
    gaussian_own(X, y, amount, own, pooled, smoothing, epsilon, out)
    x, a, there = X.astype(float), amount[:, None], ~np.isnan(X)
    left = n_all - a
    v = (scatter_all - a * (x - mean_all) ** 2 * n_all / left) / left
    expected_epsilon = smoothing * np.where(there, v, spread).max(axis=1, initial=0.0)
    np.testing.assert_allclose(epsilon, expected_epsilon, rtol=1e-12)
    before, z, left = size[y], x - mean[y], size[y] - a
    v = (scatter[y] - a * z**2 * before / left) / left + expected_epsilon[:, None]
    terms = log_normal(x, mean[y] - a * z / left, v)
    np.testing.assert_allclose(out, np.where(there, terms, 0.0).sum(axis=1), rtol=1e-11, atol=1e-11)


def test_own_densities_that_would_lose_digits_are_nan():
    X, y, amount, _ = made(0, 40, 2, "C", False, 0.0)
    numbers = [30.0, 3.0, 60.0, 0.0, 0.5, -1.0, 1 / 29]
    own = np.tile(numbers, (K, 2, 1))
    own[1, 1, 3] = 1e9  # more than any row leaves
    pooled = np.tile([90.0, 3.0, 180.0, 2.0, 1 / 89], (2, 1))
    epsilon, out = np.empty(40), np.empty(40)
    gaussian_own(X, y, amount, own, pooled, 0.0, epsilon, out)
    np.testing.assert_array_equal(np.isnan(out), y == 1)


@given(st.integers(0, 9), ROWS, COLUMNS, LAYOUTS, st.sampled_from([0.0, 0.2]))
def test_shifted_densities_equal_their_twin(seed, n, d, layout, gaps):
    X, _, _, rng = made(seed, n, d, layout, False, gaps)
    mean, variance = rng.normal(size=(K, d)), rng.uniform(0.5, 2, (K, d))
    more, out = rng.uniform(-0.2, 0.5, n), rng.normal(size=(n, K))
    log_norm = -0.5 * np.log(2 * np.pi * variance)
    classes = np.stack([mean, 1 / variance, log_norm], axis=-1)
    x = X.astype(float)[:, None]
    terms = log_normal(x, mean, variance + more[:, None, None])
    expected = out + np.where(np.isnan(x), 0.0, terms).sum(axis=2)
    add_gaussian_shifted(X, more, classes, out)
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_codes_are_combined(dtype, step):
    codes = np.array([2, 0, -1, 1, -2, 0], dtype=dtype)[::step]
    first = np.array([0, 10, 20, 30], dtype=np.int32)
    kinds = np.arange(len(codes), dtype=np.int32)
    out = np.empty(len(codes), dtype=np.int32)
    combined_codes(codes, first, kinds, out)
    expected = [kind + (first[code + 1] if code >= 0 else 0) for kind, code in enumerate(codes)]
    assert out.tolist() == expected


def test_own_scores_are_taken_and_put():
    scores, y = np.arange(6.0).reshape(3, 2), np.array([1, 0, 1], dtype=np.int32)
    own = np.array([10.0, 20.0, 30.0])
    add_own(y, scores, own)
    assert own.tolist() == [11.0, 22.0, 35.0]
    put_own(y, own, scores)
    assert scores.tolist() == [[0.0, 11.0], [22.0, 3.0], [4.0, 35.0]]
