"""Cells: leading bits of numbers, in the order of the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory.statistics.cells import (
    CELL_LIMIT,
    coarser_keys,
    coarsest_needed,
    interval_of,
    key_of,
    value_of,
)

numbers = st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=20).map(np.array)
levels = st.integers(0, 63)


@given(numbers, levels)
def test_keys_are_in_the_order_of_the_numbers(x, level):
    x = np.sort(x + 0.0)
    keys = key_of(x, level)
    assert np.all(keys[:-1] <= keys[1:])
    assert len(np.unique(key_of(x, 0))) == len(np.unique(x))


@given(numbers, levels)
def test_a_cell_holds_its_numbers(x, level):
    lower, upper = interval_of(key_of(x, level), level)
    assert np.all(lower <= x)
    assert np.all(x <= upper)
    middle = value_of(key_of(x, level), level)
    assert np.all((lower <= middle) & (middle <= upper))


@given(numbers)
def test_at_level_0_a_cell_is_the_number_itself(x):
    np.testing.assert_array_equal(value_of(key_of(x, 0), 0), x)


@given(numbers, st.integers(0, 40), st.integers(0, 23))
def test_coarser_cells_hold_the_finer_ones(x, level, more):
    np.testing.assert_array_equal(coarser_keys(key_of(x, level), more), key_of(x, level + more))


def test_minus_zero_is_zero():
    assert key_of(np.array([-0.0]), 0) == key_of(np.array([0.0]), 0)


def test_cells_do_not_overlap():
    keys = np.unique(key_of(np.linspace(-5, 5, 1000), 50))
    lower, upper = interval_of(keys, 50)
    assert np.all(upper[:-1] < lower[1:])


@pytest.mark.parametrize("level", [62, 63])
def test_the_widest_cells_end_at_finite_numbers(level):
    for edge in interval_of(key_of(np.array([-1e300, 1e300]), level), level):
        assert np.all(np.isfinite(edge))


def test_numbers_that_fit_need_no_coarser_cells():
    assert coarsest_needed(np.arange(CELL_LIMIT), CELL_LIMIT) == 0
    assert coarsest_needed(np.arange(CELL_LIMIT + 1), CELL_LIMIT) == 1
    assert coarsest_needed(np.zeros(0, dtype=np.int64), CELL_LIMIT) == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=60), st.integers(2, 20))
def test_the_level_is_the_least_that_fits(keys, limit):
    keys = np.array(keys, dtype=np.int64)
    level = coarsest_needed(keys, limit)
    assert len(np.unique(keys >> level)) <= limit
    if level:
        assert len(np.unique(keys >> (level - 1))) > limit
