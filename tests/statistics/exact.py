"""Sums against exact fractions, and counts against plain Python."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
from tests.kernels.texts import analyzer

from priory.base.labels import label_key
from priory.statistics.cells import CELL_LIMIT
from priory.statistics.tables import (
    CellsTable,
    CountsTable,
    MomentsTable,
    NumbersTable,
    PairsTable,
    ScatterTable,
    WordsTable,
)

from .laws import SUBNORMAL, K, magnitudes, products

split = analyzer()


def assert_exact(table, rows):
    """Hold a table to its rows, counted one by one in exact arithmetic."""
    if isinstance(table, NumbersTable):
        assert_exact(table.moments, rows)
        assert_exact(table.cells, rows)
    elif isinstance(table, WordsTable):
        _assert_exact_words(table, rows)
    elif isinstance(table, MomentsTable):
        _assert_exact_moments(table, rows)
    elif isinstance(table, CountsTable):
        _assert_exact_counts(table, rows)
    elif isinstance(table, ScatterTable):
        _assert_exact_scatter(table, rows)
    elif isinstance(table, PairsTable):
        _assert_exact_pairs(table, rows)
    else:
        _assert_exact_keys(table, rows)


def _assert_exact_keys(table, rows):
    values = rows.values["x"]
    if isinstance(table, CellsTable):
        cells = [cell(x) for x in values[:, 0].tolist()]
        level = 0
        while len({c >> level for c in cells if c is not None}) > CELL_LIMIT:
            level += 1
        assert table.level == level
        found, keys = table.keys.tolist(), [None if c is None else c >> level for c in cells]
    else:
        found = list(map(label_key, table.labels))
        if values.ndim == 2:  # combinations: a row with a missing value has none
            values = [None if None in row else tuple(row) for row in values.tolist()]
        keys = [None if v is None else label_key(v) for v in values]
    present = [
        (int(k), key, Fraction(w))
        for k, key, w in zip(rows.y, keys, rows.weights, strict=True)
        if key is not None
    ]
    assert found == sorted({key for _, key, _ in present})
    counts, weight = Counter((k, key) for k, key, _ in present), defaultdict(Fraction)
    for k, key, w in present:
        weight[k, key] += w
    for k in range(K):
        for i, key in enumerate(found):
            assert table.rows[k, i] == counts[k, key]
            assert table.weight[k, i] == weight[k, key]


def _assert_exact_pairs(table, rows):
    """Count values and pairs of values one by one."""
    values = rows.values["x"]
    found = [(j, label_key(v)) for j, labels in enumerate(table.labels) for v in labels]
    singles, pairs = defaultdict(lambda: [0, Fraction(0)]), defaultdict(lambda: [0, Fraction(0)])
    for row, k, w in zip(values.tolist(), rows.y.tolist(), rows.weights.tolist(), strict=True):
        there = [(j, label_key(v)) for j, v in enumerate(row) if v is not None]
        for i, a in enumerate(there):
            for sums, key in ((singles, a), *((pairs, (a, b)) for b in there[i + 1 :])):
                sums[k, key][0] += 1
                sums[k, key][1] += Fraction(w)
    assert found == sorted({a for _, a in singles})
    first, second = table.places
    together = [(found[a], found[b]) for a, b in zip(first, second, strict=True)]
    assert together == sorted({pair for _, pair in pairs})
    for k in range(K):
        for i, a in enumerate(found):
            assert [table.rows[k, i], table.weight[k, i]] == singles[k, a]
        for i, pair in enumerate(together):
            assert [table.pair_rows[k, i], table.pair_weight[k, i]] == pairs[k, pair]


def cell(x):
    """Return the bits of a float64 as an integer in the order of the numbers, None for NaN."""
    if x != x:
        return None
    size = int(np.float64(abs(x)).view(np.int64))
    return size if x >= 0 else -size - 1  # −0.0 is 0.0, and the negatives start at −1


def _assert_exact_moments(table, rows):
    spread, scatter, size, square = magnitudes(rows, K)
    for k in range(K):
        for j in range(table.rows.shape[1]):
            x = rows.values["x"][rows.y == k, j]
            some = ~np.isnan(x)
            pairs = [
                (Fraction(v), Fraction(w))
                for v, w in zip(
                    x[some].tolist(), rows.weights[rows.y == k][some].tolist(), strict=True
                )
            ]
            n, s1 = sum(w for _, w in pairs), sum(w * v for v, w in pairs)
            s2 = sum(w * v * v for v, w in pairs)
            assert table.rows[k, j] == len(pairs)
            assert table.weight[k, j] == float(n)
            if not n:
                assert table.mean[k, j] == table.scatter[k, j] == table.variance[k, j] == 0
                continue
            off = abs(Fraction(table.mean[k, j]) - s1 / n)
            # A mean is returned as one float64: half a unit of its last place is no error.
            assert off <= Fraction((1e-12 * spread[k, j] + 2.3e-16 * size[k, j]) / n) + TINY
            off = abs(Fraction(table.scatter[k, j]) - (s2 - s1 * s1 / n))
            assert off <= Fraction(1e-12 * scatter[k, j] + 1e-28 * square[k, j]) + TINY


def _assert_exact_words(table, rows):
    """Split and count text by text, as the documentation says."""
    sums = defaultdict(lambda: [0, Fraction(0), Fraction(0), 0.0])
    documents, weights = Counter(), defaultdict(Fraction)
    for text, k, w in zip(rows.values["x"], rows.y.tolist(), rows.weights.tolist(), strict=True):
        if text is None:
            continue
        documents[k] += 1
        weights[k] += Fraction(w)
        tf = Counter(split(text))
        norm = math.sqrt(sum(math.log1p(n) ** 2 for n in tf.values()))
        for word, n in tf.items():
            of_pair = sums[word.encode("utf-8", "surrogatepass"), k]
            of_pair[0] += 1
            of_pair[1] += Fraction(w)
            of_pair[2] += Fraction(w) * n
            of_pair[3] += w * math.log1p(n) / norm
    table = table.in_order()
    words = [word.encode("utf-8", "surrogatepass") for word in table.vocabulary.words()]
    assert words == sorted({word for word, _ in sums})
    found = [(words[w], k) for w, k in zip(table.pairs.word, table.pairs.label, strict=True)]
    assert found == sorted(sums)
    for i, pair in enumerate(found):
        exact = [table.pairs.rows[i], table.pairs.weight[i], table.pairs.count[i]]
        assert exact == sums[pair][:3]
        assert math.isclose(table.pairs.log_tf[i], sums[pair][3], rel_tol=1e-12)
    assert table.documents.tolist() == [documents[k] for k in range(K)]
    assert table.documents_weight.tolist() == [weights[k] for k in range(K)]


TINY = Fraction(1e-300)


def _assert_exact_scatter(table, rows):
    rows = rows.take(~np.isnan(rows.values["x"]).any(axis=1))
    about, raw = products(rows, K)
    for k in range(K):
        x = [list(map(Fraction, row)) for row in rows.values["x"][rows.y == k].tolist()]
        w = list(map(Fraction, rows.weights[rows.y == k].tolist()))
        assert table.rows[k] == len(x)
        assert table.weight[k] == sum(w)
        n = sum(w) or 1
        for i in range(table.scatter.shape[1]):
            for j in range(table.scatter.shape[1]):
                s_i, s_j = (sum(u * row[m] for u, row in zip(w, x, strict=True)) for m in (i, j))
                s_ij = sum(u * row[i] * row[j] for u, row in zip(w, x, strict=True))
                off = abs(Fraction(table.scatter[k, i, j]) - (s_ij - s_i * s_j / n))
                allowed = 1e-12 * about[k, i, j] + 1e-28 * raw[k, i, j] + SUBNORMAL
                assert off <= Fraction(allowed)


def _assert_exact_counts(table, rows):
    matrix, weight = rows.values["x"], rows.weights
    for k in range(K):
        here, w = matrix[rows.y == k], weight[rows.y == k]
        assert table.documents[k] == len(here)
        assert table.documents_weight[k] == sum(map(Fraction, w))
        for j in range(matrix.shape[1]):
            present = here[:, j] > 0
            assert table.rows[k, j] == present.sum()
            assert table.weight[k, j] == sum(map(Fraction, w[present]))
            assert table.s1[k, j] == sum(
                Fraction(a) * Fraction(b) for a, b in zip(here[:, j], w, strict=True)
            )
