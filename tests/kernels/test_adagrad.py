"""The kernel that learns numbers of words, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from priory.kernels.adagrad import (
    add_pairs_csr,
    known_words,
    learn_words,
    pair_slots,
    take_groups,
)

seeds = st.integers(0, 2**32 - 1)


def rows_of(rng, n, n_words, most=6):
    """Draw rows of different words, some of them below 0, and how often each is there."""
    lengths = rng.integers(0, most, n)
    words = [rng.choice(n_words, size, replace=False) for size in np.minimum(lengths, n_words)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in words])]).astype(np.int64)
    words = np.concatenate([np.zeros(0, int), *words]).astype(np.int32)
    words[rng.random(len(words)) < 0.2] = -1
    return indptr, words, rng.integers(1, 300, len(words)).astype(np.int32)


def pairs_of(rng, n_words, K):
    """Draw pairs of words and classes; the first word has all classes."""
    seen = rng.random((n_words, K)) < 0.5
    seen[0] = True
    word, label = np.nonzero(seen)
    starts = np.searchsorted(word, np.arange(n_words + 1))
    return starts.astype(np.int64), label.astype(np.int32), word


@given(seeds, st.integers(1, 5))
def test_pairs_of_words_are_added_as_numpy_does(seed, K):
    rng = np.random.default_rng(seed)
    n, n_words, groups = 20, 7, 3
    indptr, words, _ = rows_of(rng, n, n_words)
    starts, labels, word = pairs_of(rng, n_words, K)
    x = rng.random(len(words)).astype(np.float32)
    group = rng.integers(0, groups, n).astype(np.int32)
    values = rng.normal(size=(groups, len(labels))).astype(np.float32)
    out = np.zeros((n, K), dtype=np.float32)
    add_pairs_csr(indptr, words, x, group, starts, labels, values, out)
    expected = np.zeros((n, K))
    for i in range(n):
        table = np.zeros((n_words + 1, K))
        table[word, labels] = values[group[i]]
        some = slice(indptr[i], indptr[i + 1])
        expected[i] = x[some] @ table[words[some]]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


@given(seeds)
def test_rows_leave_the_sums_of_their_group(seed):
    rng = np.random.default_rng(seed)
    n, n_words, K, groups = 15, 6, 3, 2
    indptr, words, tf = rows_of(rng, n, n_words)
    starts, labels, word = pairs_of(rng, n_words, K)
    y, group = (rng.integers(0, size, n).astype(np.int32) for size in (K, groups))
    own = rng.exponential(size=n)
    left, having = np.zeros((groups, len(labels))), np.zeros((groups, n_words))
    for first, last in ((0, 1), (1, groups), (groups, groups)):
        take_groups(indptr, words, tf, y, own, group, starts, labels, left, having, first, last)
    sums, texts = np.zeros((groups, n_words, K)), np.zeros((groups, n_words))
    for i in range(n):
        some = slice(indptr[i], indptr[i + 1])
        x = np.log1p(tf[some])
        x = x / np.sqrt((x**2).sum()) if len(x) else x
        known = words[some] >= 0
        np.add.at(sums[group[i], :, y[i]], words[some][known], own[i] * x[known])
        np.add.at(texts[group[i]], words[some][known], own[i])
    np.testing.assert_allclose(left, -sums[:, word, labels], atol=1e-12)
    np.testing.assert_allclose(having, -texts, atol=1e-12)

    is_known = rng.random((groups, n_words)) < 0.6
    found, x = words.copy(), np.empty(len(words), dtype=np.float32)
    known_words(indptr, found, tf, group, is_known.view(np.uint8), x)
    for i in range(n):
        some = slice(indptr[i], indptr[i + 1])
        stays = (words[some] >= 0) & is_known[group[i], words[some]]
        logs = np.where(stays, np.log1p(tf[some]), 0.0)
        length = np.sqrt((logs**2).sum()) or 1.0
        np.testing.assert_array_equal(found[some], np.where(stays, words[some], -1))
        np.testing.assert_allclose(x[some], logs / length, rtol=1e-6)


@given(seeds)
def test_pairs_are_numbered_as_they_come(seed):
    rng = np.random.default_rng(seed)
    indptr, words, _ = rows_of(rng, 30, 9)
    active = rng.integers(0, 40, (30, 4)).astype(np.int32)
    slots = np.empty((len(words), 4), dtype=np.int32)
    keys = pair_slots(indptr, words, active, slots)
    row = np.repeat(np.arange(30), np.diff(indptr))
    wanted = (words.astype(np.int64)[:, None] << 32) + active[row]
    some = words >= 0
    np.testing.assert_array_equal(keys[slots[some]], wanted[some])
    assert len(np.unique(keys)) == len(keys) == len(np.unique(wanted[some]))
    assert slots[some].max(initial=-1) == len(keys) - 1


def inverse_root(h):
    """Compute 1 / √h as the kernel does, to .07 %."""
    guess = np.uint32(0x5F1FFFF9) - (np.asarray(h, dtype=np.float32).view(np.uint32) >> 1)
    y = guess.view(np.float32).astype(float)
    return 0.703952253 * y * (2.38924456 - h * y**2)


def test_the_guess_of_a_root_is_right_to_a_step_of_learning():
    h = np.logspace(-6, 12, 100_000)
    np.testing.assert_allclose(inverse_root(h), 1 / np.sqrt(h), rtol=7e-4)


def twin(order, rows, own, weight, offset, evidence, rest, numbers, decay, bias, trust, rates):
    """Step text by text, in float64; numbers are words × S."""
    indptr, words, x = rows
    squares = np.zeros_like(numbers)
    S = offset.shape[1]
    eta, bias_rate, trust_rate = rates
    for d in order:
        some = np.arange(indptr[d], indptr[d + 1])
        some = some[words[some] >= 0]
        w, times = words[some], x[some].astype(float)
        z = offset[d] + trust[0] * evidence[d] + bias[0] + times @ numbers[w]
        if S == 1:
            r, beside = weight[d] * (1 / (1 + np.exp(-z)) - own[d]), 0.0
        else:
            p, others = np.exp(z), np.exp(rest[d, 0] + trust[0] * rest[d, 1])
            r = weight[d] * (p / (p.sum() + others) - (np.arange(S) == own[d]))
            beside = weight[d] * others / (p.sum() + others) * rest[d, 1]
        bias[1] += r**2
        bias[0] -= bias_rate * r / np.sqrt(bias[1] + 1)
        slope = r @ evidence[d] + beside
        trust[1] += slope**2
        trust[0] -= trust_rate * slope / np.sqrt(trust[1] + 0.05 * len(offset))
        slopes = times[:, None] * r + decay[w, None] * numbers[w]
        squares[w] += slopes**2
        numbers[w] -= eta * slopes * inverse_root(squares[w] + 1e-6)


@hypothesis(deadline=None)
@given(seeds, st.sampled_from([1, 3, 8, 11, 20]), st.booleans())
def test_texts_are_learned_as_numpy_does(seed, S, sparse):
    rng = np.random.default_rng(seed)
    n, n_words = 25, 8
    indptr, words, _ = rows_of(rng, n, n_words)
    x = rng.random(len(words)).astype(np.float32)
    own = rng.integers(0, max(S, 2), n).astype(np.int32)
    weight = rng.exponential(size=n).astype(np.float32)
    offset, evidence = (rng.normal(size=(n, S)).astype(np.float32) for _ in range(2))
    rest = rng.normal(size=(n, 2)).astype(np.float32)
    rest[::3, 0] = -np.inf
    decay = rng.random(n_words).astype(np.float32) / 10
    order = rng.permutation(n)[:20].astype(np.int32)
    rates = (0.5, 0.1, 0.3)
    bias, trust = np.zeros((2, S)), np.zeros(2)
    given = (order, indptr, words, x, own, weight, offset, evidence, rest)
    if sparse:
        active = np.tile(np.arange(S, dtype=np.int32), (n, 1))
        slots = np.empty((len(words), S), dtype=np.int32)
        keys = pair_slots(indptr, words, active, slots)
        numbers = np.zeros((len(keys), 2, 1), dtype=np.float32)
        learn_words(*given, active, slots, numbers, decay, bias, trust, *rates)
        found = np.zeros((n_words, S))
        found[keys >> 32, keys & 0xFFFFFFFF] = numbers[:, 0, 0]
    else:
        numbers = np.zeros((n_words, 2, S + (-S % 8 if S > 1 else 0)), dtype=np.float32)
        learn_words(*given, None, None, numbers, decay, bias, trust, *rates)
        found = numbers[:, 0, :S]
        assert not numbers[:, :, S:].any()
    wanted, wanted_bias, wanted_trust = np.zeros((n_words, S)), np.zeros((2, S)), np.zeros(2)
    rows = (indptr, words, x)
    twin(order, rows, *given[4:], wanted, decay, wanted_bias, wanted_trust, rates)
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(bias, wanted_bias, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(trust, wanted_trust, rtol=2e-3, atol=2e-4)


def test_codes_beyond_the_arrays_are_errors():
    indptr, words, x = np.array([0, 1]), np.array([3], np.int32), np.ones(1, np.float32)
    starts, labels = np.array([0, 1]), np.zeros(1, np.int32)
    given = (np.zeros(1, np.int32), starts, labels, np.ones((1, 1), np.float32))
    with pytest.raises(ValueError, match="words must be from -1 to 0"):
        add_pairs_csr(indptr, words, x, *given, np.zeros((1, 2), np.float32))
