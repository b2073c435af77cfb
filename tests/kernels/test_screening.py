"""The kernels that look at pairs of columns against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.screening import left_over, shared_without

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n=80, sizes=(3, 4), n_folds=3, n_classes=2):
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-1, size, n).astype(np.int32) for size in sizes)
    place = rng.integers(0, n_folds * n_classes, n).astype(np.int32)
    return rng, a, b, place, rng.exponential(size=n)


def information(a, b, y, weight):
    """N · I(A; B | class), value by value."""
    total = 0.0
    for k in np.unique(y):
        for i in np.unique(a):
            for j in np.unique(b):
                here = (y == k) & (a == i) & (b == j)
                if here.any():
                    n, of = weight[here].sum(), weight[y == k].sum()
                    apart = weight[(y == k) & (a == i)].sum() * weight[(y == k) & (b == j)].sum()
                    total += n * np.log(n * of / apart)
    return total


@given(seeds)
def test_shared_information_is_that_of_the_rows_that_are_left(seed):
    _, a, b, place, weight = drawn(seed)
    found = shared_without(a, b, 3, 4, place, weight, 3, 2)
    known = (a >= 0) & (b >= 0)
    for fold in range(4):  # the last: no fold is left out
        rows = known & (place // 2 != fold)
        wanted = information(a[rows], b[rows], place[rows] % 2, weight[rows])
        assert found[fold] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(seeds, st.integers(1, 3))
def test_left_overs_are_beyond_what_each_column_explains(seed, n_scores):
    rng, a, b, _, _ = drawn(seed)
    slope, bend = rng.normal(size=(80, n_scores)), rng.exponential(size=(80, n_scores))
    g, h = np.zeros((3, 4, n_scores)), np.zeros((3, 4, n_scores))
    known = (a >= 0) & (b >= 0)
    np.add.at(g, (a[known], b[known]), slope[known])
    np.add.at(h, (a[known], b[known]), bend[known])
    for axis in (1, 0):
        whole = h.sum(axis=axis, keepdims=True)
        g = g - h * g.sum(axis=axis, keepdims=True) / np.where(whole > 0, whole, 1.0)
    trusted = h / (h + 4.0)
    gain, freedom = left_over(a, b, 3, 4, slope, bend, 4.0)
    assert gain == pytest.approx(0.5 * ((g**2 / (h + 4.0)).sum() - trusted.sum()), rel=1e-9)
    assert freedom == pytest.approx((trusted**2).sum(), rel=1e-9)


def test_codes_beyond_the_table_are_none():
    a, b = np.array([0, 5, -7], np.int32), np.array([0, 0, 0], np.int32)
    place, weight = np.zeros(3, np.int32), np.ones(3)
    assert shared_without(a, b, 2, 1, place, weight, 1, 1).tolist() == [0.0, 0.0]
