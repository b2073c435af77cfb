import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp

from priory.kernels.score import (
    add_counts_csr,
    add_counts_dense,
    add_gaussian,
    add_student_t,
    add_table,
    log_normalize,
)

ROWS = st.sampled_from([0, 1, 2, 15, 16, 17, 50])
COLUMNS = st.sampled_from([1, 2, 5, 127, 130, 300])
LAYOUTS = st.sampled_from(["C", "F", "strided", "float32"])


def lay_out(X, layout):
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "strided":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "float32":
        X = X.astype(np.float32)
    X.flags.writeable = False
    return X


def read_only(*arrays):
    for array in arrays:
        array.flags.writeable = False
    return arrays


@given(st.integers(0, 9), ROWS, st.sampled_from([1, 2, 5]), st.sampled_from([1, -1, 2]))
def test_add_table_equals_its_twin(seed, n, V, step):
    rng = np.random.default_rng(seed)
    K = 3
    codes = rng.integers(-2, V, n).astype(np.int32)[::step]
    log_p = rng.normal(size=(V, K))
    log_p[0, 1] = -np.inf
    out = rng.normal(size=(len(codes), K))
    expected = out + np.where(codes[:, None] >= 0, log_p[np.maximum(codes, 0)], 0.0)
    read_only(codes, log_p)
    add_table(codes, log_p, out)
    np.testing.assert_array_equal(out, expected)


@given(st.integers(0, 9), ROWS, COLUMNS, LAYOUTS, st.sampled_from([0.0, 0.2, 1.0]))
def test_densities_equal_their_twins(seed, n, d, layout, gaps):
    rng = np.random.default_rng(seed)
    K = 3
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, 9, size=(n, 1))
    X[rng.random(X.shape) < gaps] = np.nan
    X = lay_out(X, layout)
    mean, log_norm = rng.normal(size=(K, d)), rng.normal(size=(K, d))
    scale, power = rng.uniform(0.1, 3, (K, d)), rng.uniform(1, 9, (K, d))
    read_only(mean, log_norm, scale, power)
    start = rng.normal(size=(n, K))

    squares = (X[:, None, :].astype(np.float64) - mean) ** 2 * scale
    for kernel, arguments, terms in (
        (add_gaussian, (scale,), log_norm - squares),
        (add_student_t, (scale, power), log_norm - power * np.log1p(squares)),
    ):
        out = start.copy()
        kernel(X, mean, *arguments, log_norm, out)
        magnitude = np.nansum(np.abs(terms), axis=2) + 10 * d
        assert np.all(np.abs(out - start - np.nansum(terms, axis=2)) <= 1e-14 * magnitude)


@given(st.floats(0, 1e300) | st.floats(0, 1e-5) | st.floats(0.3, 3))
def test_student_t_takes_an_accurate_logarithm(z):
    one = np.ones((1, 2))
    out = np.zeros((1, 1))
    slope = np.array([[z, 0.0]])
    add_student_t(np.array([[1.0, 0.0]]), 0 * one, slope, one, 0 * one, out)
    assert -out[0, 0] == pytest.approx(np.log1p(z), rel=1e-15, abs=0)


def test_densities_far_out_are_minus_infinity_not_nan():
    X, one = np.array([[1e200, 1.0]]), np.ones((1, 2))
    for kernel, arguments in ((add_gaussian, (one,)), (add_student_t, (one, one))):
        out = np.zeros((1, 1))
        kernel(X, one, *arguments, one, out)
        assert out[0, 0] == -np.inf


@given(
    st.integers(0, 9),
    ROWS,
    st.sampled_from([1, 2, 5, 900]),
    st.sampled_from([np.float64, np.float32, np.int64]),
    st.sampled_from("CFS"),
    st.booleans(),
)
def test_add_counts_equal_their_twins(seed, n, d, dtype, layout, long):
    rng = np.random.default_rng(seed)
    K = 3
    X = rng.poisson(0.5, (n, d)).astype(dtype)
    weights = rng.normal(size=(d, K))
    weights[rng.random((d, K)) < 0.1] = -np.inf
    start = rng.normal(size=(n, K))
    products = np.zeros((n, d, K))
    np.multiply(X[:, :, None], weights, out=products, where=X[:, :, None] != 0)
    expected = start + products.sum(axis=1)
    read_only(X, weights)

    S = sparse.csr_array(X)
    indices, indptr = S.indices.astype(np.int64 if long else np.int32), S.indptr
    out = start.copy()
    add_counts_csr(S.data, indices, indptr, weights, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)

    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "S":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    out = start.copy()
    add_counts_dense(X, weights, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_explicit_zeros_meet_minus_infinity():
    out = np.zeros((1, 2))
    indices, indptr = np.array([0, 1], dtype=np.int32), np.array([0, 2], dtype=np.int32)
    add_counts_csr(np.array([0.0, 2.0]), indices, indptr, np.array([[-np.inf, 1], [3, 4]]), out)
    assert out.tolist() == [[6.0, 8.0]]


@given(st.integers(0, 9), ROWS, st.sampled_from([1, 2, 7]), st.sampled_from([1.0, 1e4]))
def test_log_normalize_equals_its_twin(seed, n, K, spread):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, K)) * spread - 5000.0
    scores[rng.random((n, K)) < 0.3] = -np.inf
    evidence = logsumexp(scores, axis=1, keepdims=True) if n else np.empty((0, 1))
    impossible = np.isneginf(evidence)
    expected = scores - np.where(impossible, 0.0, evidence)
    log_evidence = np.empty(n)
    log_normalize(scores, log_evidence)
    np.testing.assert_allclose(scores, expected, rtol=1e-14, atol=1e-12)
    np.testing.assert_allclose(log_evidence, evidence[:, 0], rtol=1e-14)
