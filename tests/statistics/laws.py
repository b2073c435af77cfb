"""The laws that sums obey, and exact oracles to hold them to.

`check_laws` asks them of anything that is counted from rows: every table, and `Statistics`.
Counts must agree exactly. Moments must agree to 1e-12 of the magnitude that passed through,
which is that of all the rows ever added or taken away, about their mean.
"""

import math
import re
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from priory.base.labels import label_key
from priory.data.columns import Combined, Counts, Frame, Labels, Numbers, Pairs, Texts
from priory.data.schema import Block, Kind, Schema
from priory.kernels.labels import encode_objects
from priory.kernels.text import Splitter
from priory.kernels.utf8 import encode_texts
from priory.statistics.cells import CELL_LIMIT
from priory.statistics.longtable import BlockParts
from priory.statistics.statistics import Statistics
from priory.statistics.tables import (
    CellsTable,
    CountsTable,
    LabelsTable,
    MomentsTable,
    NumbersTable,
    PairsTable,
    ScatterTable,
    WordsTable,
    table_type,
)

K = 3
"""How many classes the tables of the tests have; no block has as many columns."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows before they are counted: values by block, the class of each, its weight."""

    values: dict
    y: np.ndarray
    weight: np.ndarray | None = None

    def __len__(self):
        return len(self.y)

    @property
    def weights(self):
        return np.ones(len(self)) if self.weight is None else self.weight

    def take(self, where):
        values = {name: v[where] for name, v in self.values.items()}
        return Rows(values, self.y[where], None if self.weight is None else self.weight[where])

    def times(self, factor):
        return replace(self, weight=self.weights * factor)

    def __add__(self, other):
        values = {n: np.concatenate([v, other.values[n]]) for n, v in self.values.items()}
        plain = self.weight is None and other.weight is None
        weight = None if plain else np.concatenate([self.weights, other.weights])
        return Rows(values, np.concatenate([self.y, other.y]), weight)


# Counting


@dataclass(frozen=True)
class CountTable:
    """Count one block of rows whose classes are the codes 0, 1, 2."""

    kind: Kind
    width: int = 1
    sparse: bool = False

    @property
    def block(self):
        return Block("x", tuple(f"c{i}" for i in range(self.width)), self.kind)

    def __call__(self, rows):
        column = as_column(rows.values["x"], self.kind, self.sparse)
        y = rows.y.astype(np.int32)
        return table_type(self.kind).count(self.block, column, y, rows.weight, K)

    def through_parts(self, table):
        parts = BlockParts(table.header(), table.parts(self.block))
        return type(table).from_parts(self.block, K, parts)


@dataclass(frozen=True)
class CountFrame:
    """Count rows of several blocks whose classes are labels of any type."""

    kinds: tuple  # (name, kind, width)

    @property
    def schema(self):
        blocks = [
            Block(name, tuple(f"{name}{i}" for i in range(width)), kind)
            for name, kind, width in self.kinds
        ]
        return Schema(tuple(c for block in blocks for c in block.columns), tuple(blocks))

    def __call__(self, rows):
        columns = {name: as_column(rows.values[name], kind) for name, kind, _ in self.kinds}
        return Statistics.count(
            Frame(len(rows), columns), as_labels(rows.y), self.schema, rows.weight
        )

    def through_parts(self, statistics):
        return Statistics.from_arrow(statistics.to_arrow())


def as_column(values, kind, as_csr=False):
    if kind is Kind.LABELS:
        return as_labels(values)
    if kind in (Kind.JOINT, Kind.PAIRS):
        parts = tuple(as_labels(part) for part in values.T)
        return Combined(parts) if kind is Kind.JOINT else Pairs(parts)
    if kind is Kind.WORDS:
        return Texts(*encode_texts(values), Splitter())
    if kind is Kind.COUNTS:
        return Counts.of(sparse.csr_array(values) if as_csr else values)
    return Numbers(values)


def as_labels(values):
    codes, labels = encode_objects(values)
    return Labels(codes, tuple(labels))


# The laws


def check_laws(count, a, b, c, rng):
    """Ask every law of the rows a, b and c, cut and shuffled by `rng`."""
    A, B, C, AB = count(a), count(b), count(c), count(a + b)
    before = deepcopy((A, B, C, AB))
    check_zero(count, a, A)
    check_order(A, B, C, a + b + c)
    check_merge_is_recount(A, B, AB, a + b)
    check_forgetting(count, a, A, B, AB, a + b)
    check_any_chunking(count, a + b + c, rng)
    check_weights_are_repetition(count, a + b)
    check_scaling(count, a, A, B, a + b)
    assert count.through_parts(A) == A
    assert count.through_parts(A + B) == A + B
    assert before == (A, B, C, AB), "no law may change what it is asked of"


def check_zero(count, a, A):
    zero = count(a.take(slice(0, 0)))
    assert zero + zero == zero
    assert A + zero == A
    assert zero + A == A
    assert A - zero == A


def check_order(A, B, C, passed):
    assert A + B == B + A
    assert_same((A + B) + C, A + (B + C), passed)


def check_merge_is_recount(A, B, AB, passed):
    assert_same(A + B, AB, passed)


def check_forgetting(count, a, A, B, AB, passed):
    assert_same((A + B) - B, A, passed, forgotten=True)
    assert_same(AB - B, A, passed, forgotten=True)
    assert_same(AB - B + B, AB, passed)
    nothing = AB - A - B
    assert_same(nothing, count(a.take(slice(0, 0))), passed, forgotten=True)
    assert all(not np.any(sums) for sums in sums_of(nothing)), "nothing is exactly nothing"


def check_any_chunking(count, rows, rng):
    whole = count(rows)
    shuffled = rows.take(rng.permutation(len(rows)))
    assert_same(count(shuffled), whole, rows)
    cuts = np.sort(rng.integers(0, len(rows) + 1, 3))
    total = count(rows.take(slice(0, 0)))
    for chunk in np.split(np.arange(len(rows)), cuts):
        total = total + count(shuffled.take(chunk))
    assert_same(total, whole, rows)


def check_weights_are_repetition(count, rows):
    times = np.arange(len(rows)) % 3 + 1
    weighted = count(replace(rows, weight=times.astype(np.float64)))
    repeated = count(replace(rows, weight=None).take(np.repeat(np.arange(len(rows)), times)))
    assert_same(weighted, repeated, rows.times(3.0), same_rows=False)


def check_scaling(count, a, A, B, passed):
    assert A * 1.0 == A
    assert_same(A * 0.25, count(a.times(0.25)), passed)
    assert_same(
        3.0 * A if isinstance(A, Statistics) else A * 3.0, count(a.times(3.0)), passed.times(3.0)
    )
    assert_same((A + B) * 3.0, A * 3.0 + B * 3.0, passed.times(3.0))


# Comparing


def assert_same(x, y, passed, forgotten=False, same_rows=True):
    """Hold x to y. What was forgotten leaves the cells at the level that was needed before."""
    if isinstance(x, Statistics):
        assert list(map(label_key, x.classes)) == list(map(label_key, y.classes))
        if same_rows:
            np.testing.assert_array_equal(x.rows, y.rows)
        _assert_weights(x.weight, y.weight, passed)
        assert x.tables.keys() == y.tables.keys()
        place = {label_key(label): k for k, label in enumerate(x.classes)}
        codes = np.array([place.get(label_key(label), -1) for label in passed.y], dtype=int)
        for name, table in x.tables.items():
            of_block = Rows({"x": passed.values[name]}, codes, passed.weight).take(codes >= 0)
            assert_same(table, y.tables[name], of_block, forgotten, same_rows)
        return
    assert type(x) is type(y)
    if isinstance(x, WordsTable):
        _assert_words(x.in_order(), y.in_order(), passed, same_rows)
        return
    if isinstance(x, NumbersTable):
        assert_same(x.moments, y.moments, passed, forgotten, same_rows)
        assert_same(x.cells, y.cells, passed, forgotten, same_rows)
        return
    if isinstance(x, CellsTable):
        y = y.coarsened(x.level) if forgotten else y
        assert x.level == y.level
        np.testing.assert_array_equal(x.keys, y.keys)
    if isinstance(x, PairsTable):
        assert [list(map(label_key, v)) for v in x.labels] == [
            list(map(label_key, v)) for v in y.labels
        ]
        np.testing.assert_array_equal(x.keys, y.keys)
        if same_rows:
            np.testing.assert_array_equal(x.pair_rows, y.pair_rows)
        _assert_weights(x.pair_weight, y.pair_weight, passed)
    if isinstance(x, LabelsTable):
        assert list(map(label_key, x.labels)) == list(map(label_key, y.labels))
    if same_rows:
        np.testing.assert_array_equal(x.rows, y.rows)
    if isinstance(x, MomentsTable):
        _assert_moments(x, y, passed)
        return
    if isinstance(x, ScatterTable):
        _assert_scatter(x, y, passed)
        return
    _assert_weights(x.weight, y.weight, passed)
    if isinstance(x, CountsTable):
        if same_rows:
            np.testing.assert_array_equal(x.documents, y.documents)
        _assert_weights(x.documents_weight, y.documents_weight, passed)
        _assert_weights(x.s1, y.s1, passed, np.max(passed.values["x"], initial=0.0))


def sums_of(x):
    """Return every array of sums that a table or statistics hold."""
    if isinstance(x, Statistics):
        return [x.rows, x.weight, *(s for table in x.tables.values() for s in sums_of(table))]
    if isinstance(x, WordsTable):
        return [*x.pairs, x.documents, x.documents_weight]
    if isinstance(x, NumbersTable):
        return sums_of(x.moments) + sums_of(x.cells)
    if isinstance(x, MomentsTable | ScatterTable):
        return [x.rows, *(a for s in (x.n, x.s1, x.s2) for a in (s.hi, s.lo))]
    if isinstance(x, CountsTable):
        return [x.documents, x.documents_weight, x.rows, x.weight, x.s1]
    if isinstance(x, PairsTable):
        return [x.rows, x.weight, x.pair_rows, x.pair_weight]
    return [x.rows, x.weight]


def _assert_words(x, y, passed, same_rows):
    assert x.vocabulary.words() == y.vocabulary.words()
    np.testing.assert_array_equal(x.pairs.word, y.pairs.word)
    np.testing.assert_array_equal(x.pairs.label, y.pairs.label)
    if same_rows:
        np.testing.assert_array_equal(x.pairs.rows, y.pairs.rows)
        np.testing.assert_array_equal(x.documents, y.documents)
    _assert_weights(x.documents_weight, y.documents_weight, passed)
    _assert_weights(x.pairs.weight, y.pairs.weight, passed)
    longest = max((len(text) for text in passed.values["x"] if text is not None), default=0)
    _assert_weights(x.pairs.count, y.pairs.count, passed, longest)
    allowed = 1e-12 * passed.weights.sum()
    np.testing.assert_allclose(x.pairs.log_tf, y.pairs.log_tf, rtol=0, atol=allowed)


def _assert_weights(x, y, passed, largest=1.0):
    """Compare sums of weights: exactly, unless the weights are no sums of halves."""
    if np.all(passed.weights * 8 % 1 == 0):
        np.testing.assert_array_equal(x, y)
    else:
        allowed = 1e-12 * passed.weights.sum() * largest
        np.testing.assert_allclose(x, y, rtol=0, atol=allowed)


def _assert_moments(x, y, passed):
    _assert_weights(x.n.value, y.n.value, passed)
    spread, scatter, size, square = magnitudes(passed, len(x.rows))
    s1 = (x.s1 - y.s1).value
    assert np.all(np.abs(s1) <= 1e-12 * spread + 1e-28 * size + 1e-300), (s1, spread)
    error = x.scatter - y.scatter
    assert np.all(np.abs(error) <= 1e-12 * scatter + 1e-28 * square + 1e-300), (error, scatter)


def _assert_scatter(x, y, passed):
    _assert_weights(x.n.value, y.n.value, passed)
    whole = passed.take(~np.isnan(passed.values["x"]).any(axis=1))
    spread, _, size, _ = magnitudes(whole, len(x.rows))
    s1 = (x.s1 - y.s1).value
    assert np.all(np.abs(s1) <= 1e-12 * spread + 1e-28 * size + 1e-300), (s1, spread)
    about, raw = products(whole, len(x.rows))
    error = x.scatter - y.scatter
    # What is below the smallest normal number has few digits, however large its partner is.
    assert np.all(np.abs(error) <= 1e-12 * about + 1e-28 * raw + SUBNORMAL), (error, about)


SUBNORMAL = 1e-170


def products(rows, n_classes):
    """Return how large Σw(a − ā)(b − b̄) and Σwab may be, classes × columns × columns."""
    x, d = rows.values["x"], rows.values["x"].shape[1]
    result = np.zeros((2, n_classes, d, d))
    for k in range(n_classes):
        of_class, w = x[rows.y == k], rows.weights[rows.y == k]
        if len(w):
            about = np.abs(of_class - np.average(of_class, axis=0, weights=w)).max(axis=0)
            raw = np.abs(of_class).max(axis=0)
            result[:, k] = [w.sum() * np.outer(about, about), w.sum() * np.outer(raw, raw)]
    return result


def magnitudes(rows, n_classes):
    """Return Σw|x − mean|, Σw(x − mean)², Σw|x| and Σwx², classes × columns."""
    x = rows.values["x"]
    result = np.zeros((4, n_classes, x.shape[1]))
    for k in range(n_classes):
        of_class, w = x[rows.y == k], rows.weights[rows.y == k]
        for j in range(x.shape[1]):
            some = ~np.isnan(of_class[:, j])
            v, u = of_class[some, j], w[some]
            if len(v):
                d = v - np.average(v, weights=u)
                result[:, k, j] = [np.dot(u, s) for s in (np.abs(d), d * d, np.abs(v), v * v)]
    return result


# Oracles: the same sums, slowly and exactly


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
        tf = Counter(re.findall(r"(?u)\b\w\w+\b", text.lower()))
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
