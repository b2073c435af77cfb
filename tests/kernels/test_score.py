import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp

from priory.kernels.score import (
    Lookups,
    add_counts_csr,
    add_counts_dense,
    add_gaussian,
    add_present_dense,
    add_student_t,
    argmax_rows,
    log_normalize,
    log_shares,
    softmax,
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


CODES = st.sampled_from(["i1", "i2", "i4", "i8", "u1", ">i4"])


@given(
    st.integers(0, 9), ROWS, st.sampled_from([1, 2, 5]), st.sampled_from([1, -1, 2]), CODES,
    st.sampled_from([1, 4]),
)  # fmt: skip
def test_lookups_equal_their_twin(seed, n, V, step, dtype, n_kinds):
    rng = np.random.default_rng(seed)
    K, first = 3, min(n, 2)
    out = rng.normal(size=(max(len(range(n)[::step]) - first, 0), K))
    expected = out.copy()
    columns = []
    for _ in range(2):
        codes = rng.integers(0 if dtype == "u1" else -2, V, n).astype(dtype)[::step]
        places = np.append(n_kinds * rng.permutation(V), -1).astype(np.int32)
        places[0] = -1  # a value that is left out
        log_p = rng.normal(size=(V * n_kinds, K))
        log_p[V - 1, 1] = -np.inf
        kinds = rng.integers(0, n_kinds, len(codes)).astype(np.int32)
        some = codes[first : first + len(out)].astype(np.int64)
        place = np.where(some >= 0, places[np.maximum(some, 0)], -1)
        found = log_p[np.maximum(place, 0) + kinds[first : first + len(out)]]
        expected += np.where(place[:, None] >= 0, found, 0.0)
        columns.append((*read_only(codes), places, log_p, None if n_kinds == 1 else kinds))
    Lookups(columns).add(first, out)
    np.testing.assert_allclose(out, expected, rtol=1e-15)


@given(st.integers(0, 9), ROWS, COLUMNS, LAYOUTS, st.sampled_from([0.0, -0.5, 0.7]))
def test_presence_above_a_threshold_equals_its_twin(seed, n, d, layout, threshold):
    rng = np.random.default_rng(seed)
    X = lay_out(rng.normal(size=(n, d)), layout)
    weights = rng.normal(size=(d, 3))
    weights[0, 1] = -np.inf
    out = np.zeros((n, 3))
    add_present_dense(X, threshold, weights, out)
    present = threshold < X
    terms = np.where(present[:, :, None], weights, 0.0)
    np.testing.assert_allclose(out, terms.sum(axis=1), rtol=1e-12, atol=1e-12 * d)


@given(
    st.integers(0, 9), ROWS, st.sampled_from([1, 2, 5, 700]), st.sampled_from([1.0, 50.0, 900.0])
)
def test_softmax_and_argmax_equal_their_twins(seed, n, K, spread):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, K)) * spread
    scores[rng.random(scores.shape) < 0.2] = -np.inf
    p, evidence, best = scores.copy(), np.empty(n), np.empty(n, dtype=np.int32)
    softmax(p, evidence)
    argmax_rows(scores, best)
    impossible = np.isneginf(scores).all(axis=1)
    np.testing.assert_array_equal(best, np.where(impossible, -1, scores.argmax(axis=1)))
    with np.errstate(invalid="ignore"):
        expected = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    # The twin subtracts before it takes the exponential, so it is the less exact of the two.
    np.testing.assert_allclose(p[~impossible], expected[~impossible], rtol=1e-12, atol=1e-300)
    assert np.isneginf(p[impossible]).all() and np.isneginf(evidence[impossible]).all()


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


@given(st.integers(0, 9), st.sampled_from([1, 3, 64, 65, 200]), st.sampled_from([0.0, 1e-9, 1.0]))
def test_log_shares_equal_their_twin(seed, d, alpha):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (3, d)) * 10.0 ** rng.integers(0, 12, (3, 1))
    pseudo = np.full(d, alpha)
    totals = counts.sum(axis=1) + pseudo.sum() + 1.0
    out = np.zeros((d, 3))
    log_shares(counts, pseudo, totals, 0, d, out)
    with np.errstate(divide="ignore"):
        expected = np.log((counts + pseudo) / totals[:, None]).T
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=1e-16)
    some = np.zeros((d, 3))
    log_shares(counts, pseudo, totals, d // 2, d, some)
    assert not some[: d // 2].any()
    np.testing.assert_array_equal(some[d // 2 :], out[d // 2 :])
