"""Texts left out of sums, against a twin that takes them out of a table of words × classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.loo_words import LooSums

K, V = 3, 5

texts = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=V, max_size=V), st.integers(0, K - 1)),
    min_size=1,
    max_size=9,
)


def csr(matrix):
    rows, words = np.nonzero(matrix)
    indptr = np.searchsorted(rows, np.arange(len(matrix) + 1)).astype(np.int64)
    return indptr, words.astype(np.int32), matrix[rows, words].astype(np.int32)


def loo_sums(tf, x, y, **options):
    grid, rows = np.zeros((V, K)), np.zeros((V, K), dtype=np.int64)
    for i, k in enumerate(y):
        grid[:, k] += x[i]
        rows[:, k] += tf[i] > 0
    words, labels = np.nonzero(rows)
    starts = np.searchsorted(words, np.arange(V + 1))
    pairs = (labels, rows[words, labels], grid[words, labels])
    return grid, rows, LooSums(starts, *pairs, grid.sum(axis=1), rows.sum(axis=1), K, **options)


@given(
    texts,
    st.sampled_from(["count", "log"]),
    st.sampled_from(["multinomial", "complement"]),
    st.sampled_from(["same", "uniform", "marginal", "given"]),
    st.integers(1, 3),
)
def test_against_a_twin(rows, term, score, pseudo, least):
    tf, y = np.array([words for words, _ in rows]), np.array([k for _, k in rows], np.int32)
    x = np.log1p(tf) if term == "log" else tf.astype(float)
    if term == "log":
        x /= np.maximum(np.sqrt((x**2).sum(axis=1, keepdims=True)), 1e-300)
    options = {"least": least, "term": term, "score": score, "pseudo": pseudo, "m": 0.7}
    given = np.linspace(0.1, 2.0, V)
    if pseudo == "given":
        options["given"] = given
    grid, n_rows, sums = loo_sums(tf, x, y, **options)
    found = sums.without(*csr(tf), y, np.ones(len(y)))
    assert found.is_learned.all()
    for i, k in enumerate(y):
        here = tf[i] > 0
        stay = here & (n_rows.sum(axis=1) - 1 >= least)
        rest = grid.copy()
        rest[:, k] -= x[i]
        kept = (n_rows.sum(axis=1) > 0) & ~(here & ~stay)
        n, everything = kept.sum(), rest[kept].sum()
        marginal = 0.7 * (rest.sum(axis=1) + 1) / (everything + n + (n == 0))
        each = {"same": 0.7, "uniform": 0.7 / max(n, 1), "marginal": marginal[stay]}
        a = given[stay] if pseudo == "given" else each[pseudo]
        counts = rest.sum(axis=1, keepdims=True) - rest if score == "complement" else rest
        logs = np.log(np.maximum(counts[stay], 0.0) + np.reshape(a, (-1, 1)))
        weight = x[i, stay]
        if term == "log" and stay.any():
            weight = weight / np.sqrt((weight**2).sum())
        expected, ours = weight @ logs, found.scores[i].copy()
        ours[k] = found.own[i]
        np.testing.assert_allclose(ours, expected, atol=1e-12)
        np.testing.assert_allclose(found.gone[i], grid[here & ~stay].sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(found.weight[i], weight.sum())
        np.testing.assert_allclose(found.taken[i], x[i, stay].sum())
        assert found.n_leaving[i] == (here & ~stay).sum()
        gone = given[here & ~stay].sum() if pseudo == "given" else 0.0
        np.testing.assert_allclose(found.pseudo_gone[i], gone, atol=1e-12)


@given(texts, st.sampled_from([0.5, 1.25, 3.0]))
def test_rows_of_counts_without_a_prior(rows, factor):
    x = factor * np.array([counts for counts, _ in rows])
    y = np.array([k for _, k in rows], np.int32)
    grid, _, sums = loo_sums(x, x, y, least=0, m=0.0)
    indptr, words, _ = csr(x)
    found = sums.without(indptr, words, x[x > 0], y, np.ones(len(y)))
    assert found.is_learned.all() and not found.n_leaving.any()
    for i, k in enumerate(y):
        here, rest = x[i] > 0, grid.copy()
        rest[:, k] -= x[i]
        with np.errstate(divide="ignore"):
            logs, pooled = np.log(rest[here]), np.log(rest[here].sum(axis=1))
        ours = found.scores[i].copy()
        ours[k] = found.own[i]
        np.testing.assert_allclose(ours, x[i, here] @ logs if here.any() else 0.0, atol=1e-12)
        np.testing.assert_allclose(found.pooled[i], x[i, here] @ pooled, atol=1e-12)


def test_a_text_that_the_sums_do_not_hold_is_marked():
    tf = np.array([[1, 2, 0, 0, 0], [0, 1, 1, 0, 0]])
    y = np.array([0, 1], dtype=np.int32)
    _, _, sums = loo_sums(
        np.repeat(tf, 2, axis=0), np.repeat(tf, 2, axis=0).astype(float), y.repeat(2)
    )
    one = np.ones(2)
    assert sums.without(*csr(tf), y, one).is_learned.all()
    assert not sums.without(*csr(tf), y[::-1].copy(), one).is_learned.any()
    assert not sums.without(*csr(3 * tf), y, one).is_learned.any()


def test_no_texts_and_no_words():
    nothing = np.zeros(0)
    sums = LooSums([0], nothing, nothing, nothing, nothing, nothing, 2)
    none = csr(np.zeros((2, 0), dtype=int))
    found = sums.without(*none, np.zeros(2, np.int32), np.ones(2))
    assert found.scores.tolist() == [[0.0, 0.0]] * 2 and found.n_leaving.tolist() == [0, 0]
    empty = csr(np.zeros((0, 0), dtype=int))
    assert sums.without(*empty, np.zeros(0, np.int32), nothing).scores.shape == (0, 2)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"starts": [0, 1]}, "There are 2 words"),
        ({"starts": [0, 2, 1]}, "ascend from 0 to 2"),
        ({"rows": [1]}, "There are 2 pairs"),
        ({"labels": [0, 2]}, "labels must be from 0 to 1"),
        ({"texts_of": [1.0]}, "There must be 2 numbers, not 1"),
        ({"with_word": [1.0]}, "There must be 2 numbers, not 1"),
    ],
)
def test_sums_that_do_not_fit(changed, message):
    given = {
        "starts": [0, 1, 2],
        "labels": [0, 1],
        "rows": [1, 1],
        "n": [1.0, 2.0],
        "total": [1.0, 2.0],
        "texts": [1, 1],
        "n_classes": 2,
    }
    sums = LooSums(**given)
    with pytest.raises(ValueError, match=message):
        LooSums(**given | changed)
    one, y = np.ones(1), np.zeros(1, np.int32)
    words, starts = np.zeros(1, np.int32), np.array([0, 1])
    with pytest.raises(ValueError, match="There are 1 classes"):
        sums.without(starts, words, words, y, np.ones(2))
    with pytest.raises(ValueError, match="Words must be from 0 to 1"):
        sums.without(starts, words + 2, words, y, one)
    with pytest.raises(ValueError, match="y must be from 0 to 1"):
        sums.without(starts, words, words, y + 2, one)
