from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.hashes import Numbering, mix_codes, mix_numbers

GAP = np.uint64(0x9E3779B97F4A7C15)
HASHES = st.integers(0, 2**64 - 1)


def mixed(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uint64(values):
    return np.array(values, dtype=np.uint64)


@given(
    st.lists(st.tuples(HASHES, st.integers(-1, 2))),
    st.sampled_from([np.int8, np.int16, np.int32, np.int64]),
)
def test_mix_codes_equals_its_twin(rows, dtype):
    hashes, of_code = uint64([row[0] for row in rows]), uint64([5, 2**63, 7, int(GAP)])
    codes = np.array([row[1] for row in rows], dtype=dtype)
    expected = mixed(hashes * np.uint64(31) + of_code[codes])
    mix_codes(hashes, codes, of_code)
    np.testing.assert_array_equal(hashes, expected)


@given(st.lists(st.tuples(HASHES, st.floats())))
def test_mix_numbers_equals_its_twin(rows):
    hashes, values = uint64([row[0] for row in rows]), np.array([row[1] for row in rows])
    bits = np.where(np.isnan(values), GAP, mixed((values + 0.0).view(np.uint64)))
    expected = mixed(hashes * np.uint64(31) + bits)
    mix_numbers(hashes, np.stack([values, values], axis=1)[:, 1], int(GAP))
    np.testing.assert_array_equal(hashes, expected)


def test_minus_zero_is_zero():
    hashes = uint64([1, 1])
    mix_numbers(hashes, np.array([0.0, -0.0]), int(GAP))
    assert hashes[0] == hashes[1]


@given(st.lists(st.lists(HASHES | st.integers(0, 3))))
def test_numbering_equals_its_twin(parts):
    numbering, seen = Numbering(), defaultdict(int)
    for part in parts:
        expected = []
        for value in part:
            expected.append(seen[value])
            seen[value] += 1
        assert numbering.of(uint64(part)).tolist() == expected


def test_numbering_of_many_keeps_in_mind_what_came_twice():
    rows = np.random.default_rng(0).integers(0, 2**63, 50_000).astype(np.uint64)
    often = rows[:5_000]
    numbering = Numbering(30_000)
    assert not numbering.of(often).any()
    assert numbering.of(often).all()
    assert not numbering.of(rows[5_000:]).any()  # too many to have them all in mind
    assert numbering.of(often).tolist() == [2] * 5_000
    assert not numbering.of(rows[5_000:]).any()


def test_what_is_not_as_long_or_has_no_hash_is_refused():
    with pytest.raises(ValueError, match="2 hashes and 1 codes"):
        mix_codes(uint64([1, 2]), np.zeros(1, np.int8), uint64([1, 2]))
    with pytest.raises(ValueError, match="2 hashes and 3 values"):
        mix_numbers(uint64([1, 2]), np.zeros(3), 0)
    with pytest.raises(ValueError, match="Code 1 has no hash: there are 1"):
        mix_codes(uint64([1, 2]), np.ones(2, np.int8), uint64([1, 2]))
