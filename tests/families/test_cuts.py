"""The cuts against plain implementations on the raw values."""

from math import log2

import numpy as np
import pytest

from priory.data.columns import Numbers
from priory.data.schema import Block, Kind
from priory.families.cuts import between_cells, equal_frequency, mdl
from priory.statistics.tables import NumbersTable


def cells(x, y):
    x = np.asarray(x, dtype=float)
    column, block = Numbers(x[:, None]), Block("x", ("x",), Kind.NUMBERS)
    codes = np.asarray(y, dtype=np.int32)
    return NumbersTable.count(block, column, codes, None, int(codes.max()) + 1).cells


def entropy(y):
    p = np.unique(y, return_counts=True)[1] / len(y)
    return -sum(p * np.log2(p))


def fayyad_irani(x, y):
    """Return the cut points of Fayyad & Irani (1993), straight from the paper, on raw values."""
    order = np.argsort(x, kind="stable")
    x, y = np.asarray(x)[order], np.asarray(y)[order]
    n = len(x)
    places = [i for i in range(1, n) if x[i - 1] < x[i]]
    if not places:
        return []

    def remaining(i):
        return (i * entropy(y[:i]) + (n - i) * entropy(y[i:])) / n

    at = min(places, key=remaining)
    left, right = y[:at], y[at:]
    gain = entropy(y) - remaining(at)
    k, k_left, k_right = (len(set(part)) for part in (y.tolist(), left.tolist(), right.tolist()))
    delta = log2(3**k - 2) - (k * entropy(y) - k_left * entropy(left) - k_right * entropy(right))
    if gain <= (log2(n - 1) + delta) / n:
        return []
    cut = (x[at - 1] + x[at]) / 2
    return [*fayyad_irani(x[:at], left), cut, *fayyad_irani(x[at:], right)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_mdl_agrees_with_the_paper(seed, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, 300)
    x = rng.normal(loc=2.5 * y, scale=1 + 0.2 * y).round(1 + seed % 2)
    table = cells(x, y)
    found = between_cells(table, mdl(table))
    expected = fayyad_irani(x, y)
    assert len(expected) >= 1
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_mdl_pays_for_n_minus_one_places():
    x, y = np.arange(5.0), np.array([1, 0, 0, 0, 0])
    table = cells(x, y)
    # At the border: telling one of n places, not one of n − 1, would cost too much.
    assert between_cells(table, mdl(table)).tolist() == fayyad_irani(x, y) == [0.5]


def test_mdl_of_noise_does_not_cut():
    rng = np.random.default_rng(0)
    assert mdl(cells(rng.normal(size=200), rng.integers(0, 2, 200))).tolist() == []


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 0, 1]])
def test_mdl_of_a_constant_does_not_cut(y):
    assert mdl(cells([3.0] * 4, y)).tolist() == []


def test_equal_frequency_of_distinct_values():
    x = np.random.default_rng(0).permutation(100).astype(float)
    table = cells(x, np.zeros(100))
    cuts = between_cells(table, equal_frequency(table, 4))
    assert cuts.tolist() == [24.5, 49.5, 74.5]


@pytest.mark.parametrize("bins", [2, 3, 7, 10])
def test_equal_frequency_bins_hold_about_the_same(bins):
    x = np.random.default_rng(bins).gamma(2.0, size=1000)
    table = cells(x, np.zeros(1000))
    cuts = between_cells(table, equal_frequency(table, bins))
    counts = np.bincount(np.searchsorted(cuts, x, side="left"), minlength=bins)
    assert len(cuts) == bins - 1
    assert np.abs(counts - 1000 / bins).max() <= 1


def test_equal_frequency_never_splits_equal_values():
    x = [0.0] * 90 + [1.0] * 5 + list(range(2, 12))
    table = cells(x, np.zeros(len(x)))
    cuts = between_cells(table, equal_frequency(table, 5))
    assert cuts.tolist() == [0.5]


def test_few_values_are_a_bin_each():
    table = cells([1.0, 1.0, 2.0, 4.0], [0, 1, 0, 1])
    assert between_cells(table, equal_frequency(table, 10)).tolist() == [1.5, 3.0]


def test_cut_between_neighbouring_floats_keeps_them_apart():
    x = [1.0, np.nextafter(1.0, 2.0)]
    table = cells(x, [0, 1])
    cut = between_cells(table, equal_frequency(table, 10))
    assert x[0] <= cut[0] < x[1]


def test_beyond_the_cell_limit_cuts_stay_close():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 20_000)
    x = rng.normal(loc=3.0 * y)
    table = cells(x, y)
    assert table.level > 0
    after = equal_frequency(table, 4)
    counts = np.bincount(np.searchsorted(between_cells(table, after), x), minlength=4)
    np.testing.assert_allclose(counts, 5000, rtol=0.05)
