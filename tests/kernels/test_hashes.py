import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.hashes import add_numbers, text_checksums

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


@given(st.lists(st.binary(max_size=40)))
def test_checksums_of_texts_are_those_of_zlib(texts):
    assert checksums(texts) == [zlib.crc32(text) | zlib.adler32(text) << 32 for text in texts]


@pytest.mark.parametrize("n", [5_551, 5_552, 5_553, 1_000_000])
def test_checksums_of_long_texts_do_not_overflow(n):
    text = b"\xff" * n
    assert checksums([b"", text]) == [1 << 32, zlib.crc32(text) | zlib.adler32(text) << 32]


def checksums(texts):
    out = np.zeros(len(texts), dtype=np.uint64)
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    text_checksums(np.frombuffer(b"".join(texts), dtype=np.uint8), ends, out)
    return out.tolist()


@pytest.mark.parametrize("offsets", [[0, 4], [-1, 2], [2, 1], [0, 1, 2]])
def test_texts_lie_within_the_bytes(offsets):
    with pytest.raises(ValueError, match=r"within the 3 bytes|3 offsets for 1 texts"):
        text_checksums(np.zeros(3, np.uint8), np.array(offsets), np.zeros(1, np.uint64))
