import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from priory.kernels.counts import count_csr, count_dense, count_present_dense

K = 3
TYPES = st.sampled_from([np.float64, np.float32, np.int64])
SHAPES = st.tuples(st.sampled_from([0, 1, 2, 40]), st.sampled_from([1, 2, 5, 900]))


def draw_counts(seed, shape, dtype, weighted):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, shape).astype(dtype)
    y = rng.integers(0, K, shape[0]).astype(np.int32)
    weight = rng.uniform(0.1, 2, shape[0]) if weighted else None
    for array in (X, y, weight):
        if array is not None:
            array.flags.writeable = False
    return X, y, weight


def start(d):
    return np.ones((K, d), dtype=np.int64), np.full((K, d), 0.5), np.full((K, d), 0.25)


def check(found, X, y, weight):
    rows, total, s1 = start(X.shape[1])
    w = np.ones(len(y)) if weight is None else weight
    np.add.at(rows, y, X > 0)
    np.add.at(total, y, (X > 0) * w[:, None])
    np.add.at(s1, y, X * w[:, None])
    np.testing.assert_array_equal(found[0], rows)
    np.testing.assert_allclose(found[1], total, rtol=1e-13)
    np.testing.assert_allclose(found[2], s1, rtol=1e-13)


@given(st.integers(0, 9), SHAPES, TYPES, st.booleans(), st.sampled_from("CFS"))
def test_count_dense_equals_its_twin(seed, shape, dtype, weighted, layout):
    X, y, weight = draw_counts(seed, shape, dtype, weighted)
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "S":
        X = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    found = start(shape[1])
    assert count_dense(X, y, weight, *found) == -1
    check(found, X, y, weight)


@given(st.integers(0, 9), SHAPES, TYPES, st.booleans(), st.booleans(), st.booleans())
def test_count_csr_equals_its_twin(seed, shape, dtype, weighted, long_indices, long_indptr):
    X, y, weight = draw_counts(seed, shape, dtype, weighted)
    S = sparse.csr_array(X)
    S.data[: S.nnz // 3] = 0  # explicit zeros
    indices = S.indices.astype(np.int64 if long_indices else np.int32)
    indptr = S.indptr.astype(np.int64 if long_indptr else np.int32)
    found = start(shape[1])
    assert count_csr(S.data, indices, indptr, y, weight, *found) == -1
    check(found, S.toarray(), y, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, -np.inf])
def test_the_first_wrong_column_is_named(wrong, weighted):
    X, y, weight = draw_counts(0, (30, 5), np.float64, weighted)
    X = X.copy()
    X[3, 4] = X[20, 2] = wrong
    assert count_dense(X, y, weight, *start(5)) == 2
    assert count_dense(np.asfortranarray(X), y, weight, *start(5)) == 2
    S = sparse.csr_array(X)
    assert count_csr(S.data, S.indices, S.indptr, y, weight, *start(5)) == 2


def test_a_negative_integer_is_wrong():
    X = np.array([[1, 0], [0, -2]])
    y = np.zeros(2, dtype=np.int32)
    assert count_dense(X, y, None, *start(2)) == 1


@pytest.mark.parametrize("threshold", [0.0, -0.3, 0.8])
@pytest.mark.parametrize("weighted", [False, True])
def test_count_present_dense_equals_its_twin(threshold, weighted):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200).astype(np.int32)
    weight = rng.random(200) if weighted else None
    rows, total = np.zeros((3, 4), dtype=np.int64), np.zeros((3, 4))
    assert count_present_dense(X, y, weight, threshold, rows, total) == -1
    present = threshold < X
    w = np.ones(200) if weight is None else weight
    for k in range(3):
        np.testing.assert_array_equal(rows[k], present[y == k].sum(axis=0))
        np.testing.assert_allclose(total[k], (present * w[:, None])[y == k].sum(axis=0))
    X[7, 2] = np.inf
    assert count_present_dense(X, y, weight, threshold, rows, total) == 2
