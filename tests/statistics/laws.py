"""The laws that sums obey, and exact oracles to hold them to.

`check_laws` asks them of anything that is counted from rows: every table, and `Statistics`.
Counts must agree exactly. Moments must agree to 1e-12 of the magnitude that passed through,
which is that of all the rows ever added or taken away, about their mean.
"""

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from priory.base.labels import label_key
from priory.data.columns import Combined, Counts, Frame, Labels, Numbers, Pairs, Texts
from priory.data.schema import Block, Kind, Schema
from priory.kernels.labels import encode_objects
from priory.kernels.text import Splitter
from priory.kernels.utf8 import encode_texts
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
