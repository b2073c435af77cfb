import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.hashes import add_numbers

HASHES = st.integers(0, 2**64 - 1)


def mixed(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uint64(values):
    return np.array(values, dtype=np.uint64)


@given(st.lists(st.tuples(HASHES, st.floats())), HASHES)
def test_add_numbers_equals_its_twin(rows, seed):
    hashes, values = uint64([row[0] for row in rows]), np.array([row[1] for row in rows])
    bits = mixed(mixed((values + 0.0).view(np.uint64)) ^ uint64(seed))
    expected = hashes + np.where(np.isnan(values), uint64(0), bits)
    add_numbers(hashes, np.stack([values, values], axis=1)[:, 1], seed)
    np.testing.assert_array_equal(hashes, expected)


def test_minus_zero_is_zero():
    hashes = uint64([1, 1])
    add_numbers(hashes, np.array([0.0, -0.0]), 7)
    assert hashes[0] == hashes[1]


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="2 hashes and 3 values"):
        add_numbers(uint64([1, 2]), np.zeros(3), 0)
