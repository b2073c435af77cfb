"""Counting and scoring words in plain Python and NumPy."""

import math
from collections import Counter, defaultdict

import numpy as np

from priory.kernels.utf8 import encode_texts
from priory.kernels.word_scores import WordScores, score_words


def sums_of(documents, y, weight=None):
    """Count with Counters: {(word, class): (rows, weight, count, log_tf)} and sums per class."""
    sums, classes = defaultdict(lambda: [0.0] * 4), defaultdict(lambda: np.zeros(3))
    for i, (words, k) in enumerate(zip(documents, y, strict=True)):
        if words is None or k < 0:
            continue
        w = 1.0 if weight is None else weight[i]
        counter = Counter(words)
        norm = math.sqrt(sum(math.log1p(tf) ** 2 for tf in counter.values()))
        for word, tf in counter.items():
            pair = sums[word, k]
            for j, value in enumerate((1, w, w * tf, w * math.log1p(tf) / norm)):
                pair[j] += value
        classes[k] += (1, w, w * sum(counter.values()))
    return sums, classes


def assert_counts(counts, vocabulary, documents, y, weight=None):
    """Compare the counts of documents (lists of words, or None) with those of Counters."""
    found = counts.pairs
    sums, classes = sums_of(documents, y, weight)
    words = vocabulary.words()
    codes = {word: code for code, word in enumerate(words)}
    pairs = list(zip(found.word.tolist(), found.label.tolist(), strict=True))
    assert pairs == sorted((codes[word], k) for word, k in sums)
    expected = np.array([sums[words[word], k] for word, k in pairs]).reshape(-1, 4)
    assert (found.word.dtype, found.label.dtype, found.rows.dtype) == (np.int32, np.int32, np.int64)
    np.testing.assert_array_equal(found.rows, expected[:, 0])
    for j, array in enumerate((found.weight, found.count, found.log_tf), 1):
        np.testing.assert_allclose(array, expected[:, j], rtol=1e-12)
    per_class = np.array([classes[k] for k in range(len(counts.class_rows))]).reshape(-1, 3)
    assert len(per_class) > max(classes, default=-1)
    np.testing.assert_array_equal(counts.class_rows, per_class[:, 0])
    np.testing.assert_allclose(counts.class_weight, per_class[:, 1], rtol=1e-12)
    np.testing.assert_allclose(counts.class_words, per_class[:, 2], rtol=1e-12)


def multiples(X, tf):
    """Return what a text has of each word."""
    if tf == "count":
        return X
    if tf == "binary":
        return (X > 0).astype(float)
    logs = np.log1p(X)
    return logs / np.maximum(np.linalg.norm(logs, axis=1, keepdims=True), 1e-300)


def scores_twin(X, s, tf):
    """Return the scores of texts × words by NumPy."""
    V, K = len(s.place), len(s.class_part)
    x = multiples(np.where(s.place == -2, 0.0, X[:, :V]), tf)
    weights, lacks = np.zeros((V, K)), np.zeros((V, K), dtype=bool)
    for word in range(V):
        if s.place[word] >= 0:
            weights[word] = s.dense[s.place[word]]
        elif s.place[word] == -1:
            entries = slice(s.starts[word], s.starts[word + 1])
            weights[word] = s.scale[word] * s.class_part + s.constant[word]
            weights[word, s.labels[entries]] += s.deltas[entries]
            lacks[word] = s.zero
            lacks[word, s.labels[entries]] = False
    with np.errstate(invalid="ignore"):
        out = np.where(x[:, :, None] > 0, x[:, :, None] * weights, 0.0).sum(axis=1)
    return np.where((x > 0) @ lacks, -np.inf, out)


def random_scores(rng, V, K, kinds=(-2, -1, 0), zero=False):
    place = rng.choice(kinds, V)
    place[place == 0] = rng.permutation(V)[: (place == 0).sum()]
    entries = [np.flatnonzero(rng.random(K) < 0.5) for _ in range(V)]
    labels = np.concatenate([np.zeros(0, int), *entries])
    dense = rng.normal(size=(V, K))
    dense[rng.random((V, K)) < 0.1] = -np.inf
    return WordScores(
        place,
        dense,
        np.cumsum([0, *map(len, entries)]),
        labels,
        rng.normal(size=len(labels)),
        *rng.normal(size=(2, V)),
        rng.normal(size=K),
        zero,
    )


def dense_scores(weights):
    V, K = weights.shape
    nothing = np.zeros(V)
    return WordScores(
        np.arange(V), weights, np.zeros(V + 1), [], [], nothing, nothing, np.zeros(K), False
    )


def scores(texts, vocabulary, words, start=0.5, **options):
    words = dense_scores(words) if isinstance(words, np.ndarray) else words
    out = np.full((len(texts), len(words.class_part)), start)
    score_words(*encode_texts(texts), vocabulary, words, out, **options)
    return out - start
