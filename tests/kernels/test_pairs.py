from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.pairs import Pairs, add_pairs, log_plus, sort_pairs, subtract_pairs, sum_by


def pairs_of(sums):
    """Return the Pairs of a dict {(word, class): (rows, weight, count, log_tf)}."""
    keys = sorted(sums)
    values = np.array([sums[key] for key in keys], dtype=float).reshape(-1, 4)
    word, label = np.array(keys, dtype=np.int32).reshape(-1, 2).T
    return Pairs(word, label, values[:, 0].astype(np.int64), *values[:, 1:].T)


def dict_of(pairs):
    columns = [array.tolist() for array in pairs]
    keys = list(zip(columns[0], columns[1], strict=True))
    assert keys == sorted(set(keys))
    assert [array.dtype for array in pairs[:3]] == [np.int32, np.int32, np.int64]
    assert all(array.dtype == np.float64 for array in pairs[3:])
    return dict(zip(keys, zip(*columns[2:], strict=True), strict=True))


KEYS = st.tuples(st.integers(0, 30), st.integers(0, 3))
# Quarters: sums and differences are exact.
QUARTERS = st.integers(1, 1000).map(lambda n: n / 4)
SUMS = st.dictionaries(KEYS, st.tuples(st.integers(1, 9), QUARTERS, QUARTERS, QUARTERS))


def added(a, b):
    total = defaultdict(lambda: (0, 0.0, 0.0, 0.0), a)
    for key, values in b.items():
        total[key] = tuple(x + y for x, y in zip(total[key], values, strict=True))
    return dict(total)


@given(SUMS, SUMS)
def test_pairs_are_added_as_dicts(a, b):
    assert dict_of(add_pairs(pairs_of(a), pairs_of(b))) == added(a, b)


@given(SUMS, SUMS)
def test_what_was_added_can_be_subtracted(a, b):
    total = add_pairs(pairs_of(a), pairs_of(b))
    for array in total:
        array.flags.writeable = False
    assert dict_of(subtract_pairs(total, pairs_of(b))) == a
    assert dict_of(subtract_pairs(total, total)) == {}


@given(SUMS, SUMS)
def test_no_more_is_subtracted_than_there_is(a, b):
    short = [key for key in sorted(b) if b[key][0] > a.get(key, (0,))[0]]
    less = [
        key
        for key in sorted(b)
        if key in a and any(x > y for x, y in zip(b[key], a[key], strict=True))
    ]
    if not (short or less):
        return
    with pytest.raises(ValueError) as caught:
        subtract_pairs(pairs_of(a), pairs_of(b))
    first = min(short + less)
    if first in short:
        assert caught.value.args == (*first, a.get(first, (0,))[0], b[first][0])
    else:
        assert caught.value.args == first


def test_rounding_is_forgiven_and_no_more():
    a = pairs_of({(0, 0): (2, 1.0, 1.0, 1.0), (1, 1): (2, 3.0, 3.0, 3.0)})
    b = pairs_of({(0, 0): (1, 1.0 + 1e-12, 0.5, 1.0)})
    assert dict_of(subtract_pairs(a, b)) == {(0, 0): (1, 0.0, 0.5, 0.0), (1, 1): (2, 3.0, 3.0, 3.0)}
    for odd in (1.0 + 1e-6, np.nan):
        with pytest.raises(ValueError) as caught:
            subtract_pairs(a, pairs_of({(0, 0): (2, 1.0, odd, 1.0)}))
        assert caught.value.args == (0, 0)


@given(SUMS, st.integers(0, 9), st.sampled_from([31, 10_000]))
def test_pairs_are_sorted(sums, seed, n_words):
    pairs, rng = pairs_of(sums), np.random.default_rng(seed)
    order = rng.permutation(len(pairs.word))
    shuffled = Pairs(*(array[order] for array in pairs))
    assert dict_of(sort_pairs(shuffled, n_words)) == sums
    codes = rng.permutation(31).astype(np.int32)  # words numbered anew, classes still in order
    renumbered = sort_pairs(pairs._replace(word=codes[pairs.word]), n_words)
    assert dict_of(renumbered) == {(codes[word], k): sums[word, k] for word, k in sums}


def test_pairs_that_cannot_be():
    pairs = pairs_of({(0, 1): (1, 1.0, 1.0, 1.0), (2, 0): (1, 1.0, 1.0, 1.0)})
    backwards = Pairs(*(array[::-1] for array in pairs))
    for function in (add_pairs, subtract_pairs):
        with pytest.raises(ValueError, match="in the order of word and class; pair 1 is not"):
            function(pairs, backwards)
        with pytest.raises(ValueError, match="equally long"):
            function(pairs._replace(rows=pairs.rows[:1]), pairs)
    with pytest.raises(ValueError, match="Words must be from 0 to 1"):
        sort_pairs(pairs, 2)
    with pytest.raises(ValueError, match="Words must be from 0"):
        sort_pairs(pairs._replace(word=-pairs.word), 3)
    with pytest.raises(ValueError, match="Classes must be 0 or more"):
        sort_pairs(pairs._replace(label=pairs.label - 1), 3)
    for n_words in (3, 1000):
        with pytest.raises(ValueError, match="Word 0 of class 1 is there twice"):
            sort_pairs(pairs._replace(word=pairs.word * 0, label=pairs.label * 0 + 1), n_words)


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5))), st.integers(10, 12))
def test_sum_by_is_bincount(entries, size):
    codes = np.array([code for code, _ in entries], dtype=np.int32)
    values = np.array([value for _, value in entries])
    np.testing.assert_array_equal(sum_by(codes, values, size), np.bincount(codes, values, size))


def test_sum_by_refuses_what_cannot_be():
    codes = np.array([0, 3], dtype=np.int32)
    with pytest.raises(ValueError, match="from 0 to 2, not 3"):
        sum_by(codes, np.ones(2), 3)
    with pytest.raises(ValueError, match="from 0 to 3, not -1"):
        sum_by(codes - np.int32(1), np.ones(2), 4)
    with pytest.raises(ValueError, match="2 codes and 1 values"):
        sum_by(codes, np.ones(1), 4)


@given(st.lists(st.integers(0, 1000) | st.floats(0, 1e9)), st.floats(0, 10))
def test_log_plus_is_the_logarithm(n, a):
    n = np.array(n, dtype=np.float64)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_plus(n, a), np.log(n + a), rtol=1e-15)
