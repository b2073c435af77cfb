"""Sums whose digits fit into a double-double are exact: the same in any order, in any pieces."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory import Classifier, GaussianNB, NaiveBayes, Settings
from priory.kernels.numbers import add_rows, class_moments
from priory.statistics import Statistics

K = 3


def some_numbers(rng, shape, bits, scale):
    """Return signed multiples of a power of two, about a common offset."""
    top = 2**bits
    offset = rng.integers(-top, top)
    return (offset + rng.integers(-top, top, shape, endpoint=True)).astype(np.float64) * scale


def in_layout(X, layout):
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        return np.repeat(X, 2, axis=1)[:, ::2]
    return X.astype(np.float32) if layout == "float32" else X


def sums_of(X, y, weight):
    """Return rows, Σw, Σwx and Σwx² as the kernel sums them, each (hi, lo)."""
    shape = (K, X.shape[1])
    rows = np.zeros(shape, dtype=np.int64)
    n, n_lo, s1, s1_lo, s2, s2_lo = (np.zeros(shape) for _ in range(6))
    assert class_moments(X, y, weight, rows, n, s1, s1_lo, s2, s2_lo, n_lo) == -1
    return rows, (n, n_lo), (s1, s1_lo), (s2, s2_lo)


def assert_exact(X, y, weight, columns=None):
    """Hold sums to fractions, and their two parts to the one way to write them."""
    _, *sums = sums_of(X, y, weight)
    w = np.ones(len(y)) if weight is None else weight
    for j in range(X.shape[1]) if columns is None else columns:
        for k in range(K):
            here = (y == k) & ~np.isnan(X[:, j])
            x = [Fraction(float(v)) for v in X[here, j]]
            of = [Fraction(float(v)) for v in w[here]]
            for power, (hi, lo) in enumerate(sums):
                expected = sum((a * b**power for a, b in zip(of, x, strict=True)), Fraction(0))
                assert hi[k, j] == float(expected)
                assert lo[k, j] == float(expected - Fraction(hi[k, j]))


@settings(max_examples=60)
@given(
    st.integers(0, 99),
    st.sampled_from([1, 2, 40, 700]),
    st.sampled_from([1, 2, 5, 9]),
    st.sampled_from([1, 8, 20, 22, 31, 42]),
    st.sampled_from([1.0, 0.25, 2.0**-40, 2.0**60]),
    st.sampled_from(["C", "F", "strided"]),
    st.sampled_from([None, 3, 10**6, 2**31]),
    st.sampled_from([0.0, 0.2]),
)
def test_the_kernel_sums_exactly(seed, n, d, bits, scale, layout, heaviest, gaps):
    rng = np.random.default_rng(seed)
    X = some_numbers(rng, (n, d), bits, scale)
    X[rng.random(X.shape) < gaps] = np.nan
    y = rng.integers(0, K, n).astype(np.int32)
    if heaviest is not None and bits > 31:
        heaviest = 3  # more would not fit into 106 bits
    weight = None if heaviest is None else rng.integers(1, heaviest, n, endpoint=True) * 1.0
    assert_exact(in_layout(X, layout), y, weight)


@pytest.mark.parametrize("layout", ["C", "F", "float32"])
@pytest.mark.parametrize("bits", [3, 22])
def test_many_tiles_of_integers(layout, bits):
    rng = np.random.default_rng(bits)
    X = some_numbers(rng, (9000, 5), bits, 1.0)
    y = rng.integers(0, K, 9000).astype(np.int32)
    assert_exact(in_layout(X, layout), y, None)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_integers_that_give_way_to_others_halfway(layout):
    rng = np.random.default_rng(0)
    X = some_numbers(rng, (9000, 5), 4, 1.0)
    X[5000:] += 0.125
    X[7000:, 2] = 2.0**33
    y = rng.integers(0, K, 9000).astype(np.int32)
    assert_exact(in_layout(X, layout), y, None)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_integers_beside_numbers_of_all_their_bits(layout):
    rng = np.random.default_rng(1)
    X = some_numbers(rng, (6000, 5), 12, 1.0)
    X[:, 3] = rng.normal(size=6000)
    y = rng.integers(0, K, 6000).astype(np.int32)
    assert_exact(in_layout(X, layout), y, None, columns=[0, 1, 2, 4])


@pytest.mark.parametrize("d", [1, 5])
def test_a_rare_class_of_short_numbers_beside_one_of_all_their_bits(d):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6000, d)), np.zeros(6000, dtype=np.int32)
    X[100:200], y[100:200] = some_numbers(rng, (100, d), 12, 0.25), 1
    X[300:303], y[300:303] = 1.0 / 3.0, 2  # all its bits, yet the sums of three of them fit
    _, *sums = sums_of(X, y, None)
    for k, rows in ((1, slice(100, 200)), (2, slice(300, 303))):
        for j in range(d):
            x = [Fraction(v) for v in X[rows, j]]
            for power, (hi, lo) in enumerate(sums):
                assert Fraction(hi[k, j]) + Fraction(lo[k, j]) == sum(v**power for v in x)


def test_single_rows_add_up_to_the_same_bits():
    rng = np.random.default_rng(3)
    X, y = some_numbers(rng, (200, 5), 31, 1.0), rng.integers(0, K, 200).astype(np.int32)
    rows, (n, n_lo), (s1, s1_lo), (s2, s2_lo) = sums_of(X[:100], y[:100], None)
    for i in range(100, 200):
        row = slice(i, i + 1)
        assert add_rows(X[row], y[row], rows, n, n_lo, s1, s1_lo, s2, s2_lo)
    whole = sums_of(X, y, None)
    for one, other in zip((n, n_lo, s1, s1_lo, s2, s2_lo), sum(whole[1:], ()), strict=True):
        np.testing.assert_array_equal(one, other)


# Statistics of the same rows are equal, to the last bit, however the rows came


def table(rng, n, bits):
    return {
        "small": rng.integers(-9, 10, n),
        "large": rng.integers(-(2**bits), 2**bits, n),
        "float32": rng.normal(size=n).round(3).astype(np.float32),
        "quarters": rng.integers(-(2**bits), 2**bits, n) / 4 + 1e6,
    }


def learned(X, y, weight, rows):
    part = {name: column[rows] for name, column in X.items()}
    of = None if weight is None else weight[rows]
    declared = Settings.textbook(families=dict.fromkeys(X, "gaussian"))
    return Classifier(declared).update(part, y[rows], of).statistics


@settings(max_examples=60)
@given(
    st.integers(0, 99),
    st.integers(2, 120),
    st.sampled_from([4, 20, 31]),
    st.sampled_from([None, 2, 1000]),
    st.data(),
)
def test_order_and_pieces_leave_no_trace(seed, n, bits, heaviest, data):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n, bits), rng.integers(0, K, n)
    weight = None if heaviest is None else rng.integers(1, heaviest, n, endpoint=True)
    whole = learned(X, y, weight, np.arange(n))
    assert learned(X, y, weight, rng.permutation(n)) == whole
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), min_size=1, max_size=5)))
    parts = [learned(X, y, weight, rows) for rows in np.split(rng.permutation(n), cuts)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    assert merged == whole
    assert (merged - parts[-1]) + parts[-1] == whole
    assert (whole + parts[0]) - parts[0] == whole
    assert Statistics.from_arrow(whole.to_arrow()) == whole


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_leave_no_trace(n_threads):
    rng = np.random.default_rng(4)
    X, y = (
        rng.integers(-(2**31), 2**31, (200_000, 8)).astype(np.float64),
        rng.integers(0, K, 200_000),
    )
    one = GaussianNB(n_threads=1).fit(X, y)
    other = GaussianNB(n_threads=n_threads).fit(X[::-1], y[::-1])
    assert one.statistics_ == other.statistics_
    half = GaussianNB(n_threads=n_threads).fit(X[:90_001], y[:90_001])
    half.partial_fit(X[90_001:], y[90_001:])
    assert half.statistics_ == one.statistics_


def test_rows_one_by_one_leave_no_trace():
    rng = np.random.default_rng(5)
    X, y = rng.integers(-(2**31), 2**31, (60, 4)), rng.integers(0, K, 60)
    model = NaiveBayes.textbook()
    for i in range(60):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.statistics_ == NaiveBayes.textbook().fit(X, y).statistics_
    model.forget(X[:20], y[:20])
    assert model.statistics_ == NaiveBayes.textbook().fit(X[20:], y[20:]).statistics_


@pytest.mark.parametrize("heaviest", [None, 5])
def test_products_of_integers_leave_no_trace(heaviest):
    rng = np.random.default_rng(6)
    X = {"a": rng.integers(10**8, 10**8 + 1000, 300), "b": rng.integers(-9, 10, 300)}
    y = rng.integers(0, K, 300)
    weight = None if heaviest is None else rng.integers(1, heaviest, 300)

    def counted(rows):
        part = {name: column[rows] for name, column in X.items()}
        of = None if weight is None else weight[rows]
        families = {("a", "b"): "gaussian"}
        return Classifier(Settings.textbook(families=families)).update(part, y[rows], of).statistics

    whole, order = counted(np.arange(300)), rng.permutation(300)
    first, rest = counted(order[:50]), counted(order[50:])
    assert first + rest == counted(order) == whole
    assert (whole + first) - first == whole
