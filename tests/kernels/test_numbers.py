from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory.kernels.numbers import (
    add_rows,
    add_up,
    central_moments,
    class_moments,
    count_cells,
)

LAYOUTS = ["C", "F", "rows", "columns", "reversed", "float32", "record"]


def lay_out(X, layout):
    """Return the same values (float32: rounded) in another memory layout, read-only."""
    n, d = X.shape
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "rows":
        X = np.repeat(X, 2, axis=0)[::2]
    elif layout == "columns":
        X = np.repeat(X, 3, axis=1)[:, ::3]
    elif layout == "reversed":
        X = np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    elif layout == "float32":
        X = X.astype(np.float32)
    elif layout == "record":  # rows that are no whole number of floats apart
        record = np.zeros(n, dtype=[("x", np.float64, (d,)), ("flag", np.int8)])
        record["x"] = X
        X = record["x"]
    X.flags.writeable = False
    return X


def moments(X, y, weight, K, total_lo=True):
    d = X.shape[1]
    rows = np.zeros((K, d), dtype=np.int64)
    sums = [np.zeros((K, d)) for _ in range(6)]
    total, s1, s1_lo, s2, s2_lo, w_lo = sums
    low = w_lo if total_lo else None
    assert class_moments(X, y, weight, rows, total, s1, s1_lo, s2, s2_lo, low) == -1
    return rows, (total, w_lo), (s1, s1_lo), (s2, s2_lo)


def exact(pair, k, j):
    return Fraction(pair[0][k, j]) + Fraction(pair[1][k, j])


def check_moments(X, y, weight, K, tolerance=1e-14):
    rows, total, s1, s2 = moments(X, y, weight, K)
    for k in range(K):
        for j in range(X.shape[1]):
            here = (y == k) & ~np.isnan(X[:, j])
            x = [Fraction(float(v)) for v in X[here, j]]
            w = [Fraction(1)] * len(x) if weight is None else [Fraction(v) for v in weight[here]]
            assert rows[k, j] == len(x)
            for pair, power in ((total, 0), (s1, 1), (s2, 2)):
                terms = [a * b**power for a, b in zip(w, x, strict=True)]
                error = exact(pair, k, j) - sum(terms)
                assert abs(error) <= Fraction(tolerance) * sum(map(abs, terms))


@given(
    st.integers(0, 9),
    st.sampled_from([0, 1, 2, 30]),
    st.sampled_from([1, 2, 5, 9]),
    st.sampled_from(LAYOUTS),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.0, 1e9]),
)
def test_class_moments_equal_exact_sums(seed, n, d, layout, weighted, gaps, offset):
    rng = np.random.default_rng(seed)
    K = 3
    X = rng.normal(size=(n, d)) + offset
    X[rng.random(X.shape) < gaps] = np.nan
    y = rng.integers(0, K, n).astype(np.int32)
    weight = rng.uniform(0.1, 2, n) if weighted else None
    check_moments(lay_out(X, layout), y, weight, K)


@settings(max_examples=8)
@given(st.integers(0, 9), st.sampled_from([1, 5]), st.sampled_from(LAYOUTS), st.booleans())
def test_class_moments_over_many_blocks(seed, d, layout, gaps):
    rng = np.random.default_rng(seed)
    n, K = 9_000, 2
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.1 * gaps] = np.nan
    X[: n // 2, -1] = np.nan  # its first value comes blocks after the other columns'
    X[0, 0] = 1e12  # an outlier is the first origin
    y = (rng.random(n) < 0.1).astype(np.int32)
    check_moments(lay_out(X, layout), y, None, K, tolerance=1e-12)


def test_class_moments_with_more_classes_than_copies():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(3000, 1)), rng.integers(0, 400, 3000).astype(np.int32)
    check_moments(X, y, None, 400)


@pytest.mark.parametrize("d", [1, 6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e8, 1e9])
def test_variance_survives_an_offset_and_classes_far_apart(offset, weighted, d):
    rng = np.random.default_rng(2)
    n, K = 60_000, 3
    y = rng.integers(0, K, n).astype(np.int32)
    X = rng.choice([-1.0, 1.0], size=(n, d)) + offset + 1e8 * y[:, None]
    weight = rng.uniform(0.5, 2, n) if weighted else None
    parts = [
        moments(X[a:b], y[a:b], None if weight is None else weight[a:b], K)
        for a, b in ((0, 7), (7, 30_000), (30_000, n))
    ]
    for k in range(K):
        w = np.ones(n) if weight is None else weight
        here = y == k
        for j in range(d):
            W, s1, s2 = (sum(exact(part[i], k, j) for part in parts) for i in (1, 2, 3))
            variance = float(s2 / W - (s1 / W) ** 2)
            deviation = X[here, j] - offset - 1e8 * k
            mean = np.average(deviation, weights=w[here])
            expected = np.average((deviation - mean) ** 2, weights=w[here])
            assert variance == pytest.approx(expected, rel=2e-14)


def test_class_moments_add_to_what_is_there():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 3, 50).astype(np.int32)
    rows = np.zeros((3, 2), dtype=np.int64)
    sums = [np.zeros((3, 2)) for _ in range(5)]
    for part in (slice(0, 20), slice(20, 50)):
        class_moments(X[part], y[part], None, rows, *sums)
    whole = moments(X, y, None, 3)
    assert np.array_equal(rows, whole[0])
    np.testing.assert_array_equal(sums[0], whole[0])
    np.testing.assert_allclose(sums[1], whole[2][0], rtol=1e-13)
    np.testing.assert_allclose(sums[3], whole[3][0], rtol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("large", [np.inf, -np.inf, 1.1e150, -1e300])
@pytest.mark.parametrize("d", [3, 7])
def test_class_moments_name_the_first_column_that_is_too_large(layout, large, d):
    X = np.random.default_rng(4).normal(size=(40, d))
    X[5, 2] = X[30, 1] = large
    X[31, 0] = np.nan
    X[32, 0] = 1e30
    with np.errstate(over="ignore"):
        X = lay_out(X, layout)
    sums = [np.zeros((2, d)) for _ in range(5)]
    y = np.zeros(40, dtype=np.int32)
    assert class_moments(X, y, None, np.zeros((2, d), dtype=np.int64), *sums) == 1


def ordered(x):
    bits = (np.asarray(x, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ np.int64(2**63 - 1))


def cells_twin(x, y, weight, K, level, limit):
    here = ~np.isnan(x)
    x, y = x[here], y[here]
    weight = np.ones(len(x)) if weight is None else weight[here]
    while len(np.unique(ordered(x) >> level)) > limit:
        level += 1
    keys, cell = np.unique(ordered(x) >> level, return_inverse=True)
    rows, total = np.zeros((K, len(keys)), dtype=np.int64), np.zeros((K, len(keys)))
    np.add.at(rows, (y, cell), 1)
    np.add.at(total, (y, cell), weight)
    return level, keys, rows, total


VALUES = st.one_of(
    st.floats(width=32, allow_infinity=False),
    st.integers(-4, 4).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e150, -1e150, 0.1, 0.3]),
)


@given(
    st.lists(VALUES, max_size=60),
    st.sampled_from([2, 5, 16]),
    st.sampled_from([0, 3, 40]),
    st.sampled_from([1, 2, -1]),
    st.booleans(),
    st.booleans(),
)
def test_count_cells_equals_its_twin(values, limit, level, step, weighted, single):
    x = np.array(values, dtype=np.float64)[::step]
    with np.errstate(over="ignore"):
        x = np.where(np.abs(x) < 1e38, x, 7.0).astype(np.float32) if single else x
    rng = np.random.default_rng(len(values))
    y = rng.integers(0, 3, len(x)).astype(np.int32)
    weight = rng.uniform(0, 1, len(x)) if weighted else None
    x.flags.writeable = False
    found = count_cells(x, y, weight, 3, level, limit)
    expected = cells_twin(x, y, weight, 3, level, limit)
    assert found[0] == expected[0]
    assert [a.dtype for a in found[1:]] == [np.int64, np.int64, np.float64]
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[2], expected[2])
    np.testing.assert_allclose(found[3], expected[3], rtol=1e-13)


@given(st.lists(VALUES, min_size=1, max_size=60), st.randoms(), st.integers(1, 59))
def test_the_level_depends_only_on_the_set_of_values(values, random, cut):
    limit = 8
    x = np.array(values, dtype=np.float64)
    y = np.zeros(len(x), dtype=np.int32)
    level, keys, rows, _ = count_cells(x, y, None, 1, 0, limit)
    random.shuffle(values)
    shuffled = np.array(values, dtype=np.float64)
    again = count_cells(shuffled, y, None, 1, 0, limit)
    assert again[0] == level
    assert np.array_equal(again[1], keys)
    assert np.array_equal(again[2], rows)

    # Two chunks, brought to one level and merged, then coarsened until they fit.
    parts = [
        count_cells(part, y[: len(part)], None, 1, 0, limit)
        for part in (shuffled[:cut], shuffled[cut:])
    ]
    merged = max(part[0] for part in parts)
    union = np.concatenate([part[1] >> (merged - part[0]) for part in parts])
    while len(np.unique(union)) > limit:
        union >>= 1
        merged += 1
    assert merged == level
    assert np.array_equal(np.unique(union), keys)


def test_count_cells_of_many_values():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=20_000), rng.integers(0, 3, 20_000).astype(np.int32)
    found, expected = count_cells(x, y, None, 3, 0, 1024), cells_twin(x, y, None, 3, 0, 1024)
    assert found[0] == expected[0]
    for a, b in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(a, b)


@given(st.integers(0, 9), st.sampled_from([1, 3]))
def test_a_few_rows_are_added_exactly(seed, n):
    rng = np.random.default_rng(seed)
    K, d = 2, 5
    X = rng.normal(size=(n, d)) * 1e9
    y = rng.integers(0, K, n).astype(np.int32)
    rows, sums = np.zeros((K, d), dtype=np.int64), [np.zeros((K, d)) for _ in range(6)]
    assert add_rows(X, y, rows, *sums)
    for k in range(K):
        for j in range(d):
            values = [Fraction(float(x)) for x in X[y == k, j]]
            assert rows[k, j] == len(values)
            exact = (Fraction(len(values)), sum(values), sum(v * v for v in values))
            parts = [Fraction(part[k, j]) for part in sums]
            found = [hi + lo for hi, lo in zip(parts[::2], parts[1::2], strict=True)]
            for a, b in zip(found, exact, strict=True):
                assert abs(a - b) <= Fraction(1, 2**100) * abs(b)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e151])
def test_rows_that_are_not_finite_are_not_added_at_all(bad):
    rows, sums = np.zeros((1, 2), dtype=np.int64), [np.zeros((1, 2)) for _ in range(6)]
    X = np.array([[1.0, 2.0], [3.0, bad]])
    assert not add_rows(X, np.zeros(2, np.int32), rows, *sums)
    assert not rows.any() and not any(a.any() for a in sums)


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8),
    st.sampled_from([0.0, 1e9, -1e12, 1e150]),
    st.floats(0.1, 10),
)
def test_central_moments_of_exact_sums(values, offset, w):
    x, w = [Fraction(v) + Fraction(offset) for v in values], Fraction(w)
    n, s1, s2 = w * len(x), w * sum(x), w * sum(v * v for v in x)
    halves = [half for total in (n, s1, s2) for half in as_double_double(total)]
    # Beside it stands a class that saw nothing.
    sums = [np.array([[half], [0.0]]) for half in halves]
    mean, squares = np.full((2, 1), np.nan), np.full((2, 1), np.nan)
    central_moments(*sums, mean, squares)
    assert mean[1, 0] == squares[1, 0] == 0.0
    assert abs(Fraction(mean[0, 0]) - s1 / n) <= Fraction(2, 10**16) * abs(s1 / n) + Fraction(
        1e-300
    )
    exact = s2 - s1 * s1 / n
    allowed = Fraction(2, 10**16) * exact + Fraction(1e-30) * s2 + Fraction(1e-300)  # underflow
    assert abs(Fraction(squares[0, 0]) - exact) <= allowed


@given(st.lists(st.tuples(st.floats(-1e200, 1e200), st.floats(-1e-9, 1e-9)), max_size=9))
def test_double_doubles_add_up(terms):
    pairs = [as_double_double(Fraction(a) + Fraction(b)) for a, b in terms]
    halves = np.array(pairs).reshape(-1, 2)
    hi, lo = np.zeros(1), np.zeros(1)
    add_up(halves[:, :1], halves[:, 1:], hi, lo)
    exact = sum((Fraction(a) + Fraction(b) for a, b in pairs), Fraction(0))
    size = sum((abs(Fraction(a)) for a, _ in pairs), Fraction(0))
    assert abs(Fraction(hi[0]) + Fraction(lo[0]) - exact) <= Fraction(1, 2**100) * size


def as_double_double(x):
    hi = float(x)
    return hi, float(x - Fraction(hi))
