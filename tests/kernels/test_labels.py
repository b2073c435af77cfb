import math
from decimal import Decimal
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.labels import (
    count_labels,
    encode_integers,
    encode_objects,
    encode_range,
    pack_codes,
)

LABELS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.sampled_from([0.5, -0.0, 1.0, 2.0, math.nan, math.inf, 1e300]),
    st.sampled_from(["1", "True", "", "a", "b", "\ud800", "é"]),
)


def objects(values):
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def twin(values):
    labels, codes = {}, []
    for value in values:
        if value is None or value != value:
            codes.append(-1)
            continue
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        codes.append(labels.setdefault((isinstance(value, bool), value), len(labels)))
    return codes, [value for _, value in labels]


@given(st.lists(LABELS))
def test_encode_objects_equals_its_twin(values):
    codes, labels = encode_objects(objects(values))
    expected_codes, expected_labels = twin(values)
    assert codes.dtype == np.int32
    assert codes.tolist() == expected_codes
    assert [(type(a), a) for a in labels] == [(type(b), b) for b in expected_labels]


@given(st.lists(LABELS), st.sampled_from([2, 3, -1]))
def test_encode_objects_takes_strided_and_read_only_arrays(values, step):
    array = objects(values)[::step]
    array.flags.writeable = False
    codes, labels = encode_objects(array)
    assert (codes.tolist(), labels) == twin(values[::step])


def test_one_is_three_labels():
    codes, labels = encode_objects(objects([1, "1", True, 1.0, np.int8(1), np.True_, np.str_("1")]))
    assert codes.tolist() == [0, 1, 2, 0, 0, 2, 1]
    assert labels == [1, "1", True]
    assert [type(label) for label in labels] == [int, str, bool]


def test_every_kind_of_missing():
    gaps = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]
    codes, labels = encode_objects(objects([*gaps, "x", *gaps, Decimal("sNaN")]))
    assert codes.tolist() == [-1] * len(gaps) + [0] + [-1] * (len(gaps) + 1)
    assert labels == ["x"]


def test_scalars_and_subclasses_become_plain():
    class Colour(str, Enum):  # noqa: UP042 -- its str() is not its value, as StrEnum's is
        RED = "red"

    class Number(float):
        pass

    values = [np.float32(0.5), Decimal("2.50"), Decimal("3.0"), Colour.RED, Number(7), -0.0, 0]
    codes, labels = encode_objects(objects([*values, np.longdouble(0.5), Decimal("Infinity")]))
    assert codes.tolist() == [0, 1, 2, 3, 4, 5, 5, 0, 6]
    assert labels == [0.5, 2.5, 3, "red", 7, 0, math.inf]
    assert [type(label) for label in labels] == [float, float, int, str, int, int, float]


@pytest.mark.parametrize(
    "odd", [b"x", (1,), [1], {}, object(), 1j, np.complex64(1), pd.Timestamp(0)]
)
def test_anything_else_is_refused_with_its_position(odd):
    with pytest.raises(TypeError) as caught:
        encode_objects(objects(["a", 1, odd]))
    assert caught.value.args == (2,)


def test_rows_that_share_objects_and_rows_that_do_not():
    shared = ["red", "green", "blue"] * 1000
    fresh = [text.encode().decode() for text in shared]
    assert encode_objects(objects(shared))[0].tolist() == [0, 1, 2] * 1000
    assert encode_objects(objects(fresh))[0].tolist() == [0, 1, 2] * 1000


EDGES = [-(2**63), 2**63 - 1, 0, 65535, 65536, 2**32, 2**33, -(2**32)]


@given(st.lists(st.integers(-5, 5) | st.sampled_from(EDGES)), st.sampled_from([1, 2, -1]))
def test_encode_integers_equals_its_twin(values, step):
    array = np.array(values, dtype=np.int64)[::step]
    array.flags.writeable = False
    codes, uniques = encode_integers(array)
    assert codes.dtype == np.int32
    assert uniques.dtype == np.int64
    assert uniques.tolist() == list(dict.fromkeys(array.tolist()))
    assert uniques[codes].tolist() == array.tolist()


@given(st.lists(st.integers(0, 99), min_size=1), st.sampled_from([-(2**63), -50, 0, 2**63 - 100]))
def test_close_integers_are_told_by_their_distance(values, low):
    array = np.array([low + value for value in values], dtype=np.int64)
    array.flags.writeable = False
    codes, seen = np.full(len(values), -1, dtype=np.int32), np.zeros(100, dtype=np.uint8)
    encode_range(array, low, codes, seen)
    assert codes.tolist() == values
    assert np.flatnonzero(seen).tolist() == sorted(set(values))


@pytest.mark.parametrize("scale", [1, 2**20, 2**40])
def test_encode_integers_grows(scale):
    values = np.random.default_rng(0).integers(0, 2**17, 30_000) * scale
    codes, uniques = encode_integers(values)
    assert uniques.tolist() == list(dict.fromkeys(values.tolist()))
    assert np.array_equal(uniques[codes], values)


@given(st.data(), st.integers(0, 40), st.integers(1, 4), st.sampled_from([1, 5, 900]))
def test_count_labels_equals_its_twin(data, n, K, V):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    step = data.draw(st.sampled_from([1, 2, -1]))
    weighted = data.draw(st.booleans())
    codes = rng.integers(-1, V, n * 2).astype(np.int32)[::step]
    y = rng.integers(0, K, n * 2).astype(np.int32)[::step]
    weight = rng.uniform(0, 2, n * 2)[::step] if weighted else None
    for array in (codes, y, weight):
        if array is not None:
            array.flags.writeable = False
    rows, total = np.ones((K, V), dtype=np.int64), np.full((K, V), 0.5)
    count_labels(codes, y, weight, rows, total)

    expected_rows, expected_total = np.ones((K, V), dtype=np.int64), np.full((K, V), 0.5)
    seen = codes >= 0
    np.add.at(expected_rows, (y[seen], codes[seen]), 1)
    np.add.at(expected_total, (y[seen], codes[seen]), weight[seen] if weighted else 1.0)
    assert np.array_equal(rows, expected_rows)
    np.testing.assert_allclose(total, expected_total, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("packed", [np.int8, np.int32])
def test_pack_codes_turns_a_matrix_of_codes(dtype, packed):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (50, 3)).astype(dtype)
    expected = X.T.astype(np.int64)
    if dtype.startswith("f"):
        X[4, 1], expected[1, 4] = np.nan, -1
        X[5, 2], expected[2, 5] = 7.9, 7  # the whole part
    out, largest = np.full((3, 60), 99, dtype=packed), np.full(3, -1)
    assert pack_codes(X, out, 5, largest) == -1
    np.testing.assert_array_equal(out[:, 5:55], expected)
    assert (out[:, :5] == 99).all() and (out[:, 55:] == 99).all()
    np.testing.assert_array_equal(largest, expected.max(axis=1))


def test_pack_codes_names_the_first_column_that_does_not_fit():
    X = np.array([[0, 1, 2], [3, 200, 4], [5, 6, -1]])
    assert pack_codes(X, np.empty((3, 3), np.int8), 0, np.full(3, -1)) == 1
    assert pack_codes(X, np.empty((3, 3), np.int32), 0, np.full(3, -1)) == 2
    assert pack_codes(X[:0], np.empty((3, 0), np.int8), 0, np.full(3, -1)) == -1
