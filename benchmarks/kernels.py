"""What each compiled kernel gains over what it replaces: `python -m benchmarks.kernels`.

Every public function of `priory.kernels` does a piece of work of an ordinary size beside a twin
that does the same with NumPy, SciPy, Arrow, scikit-learn or plain Python, in one thread each. The
two must agree. The table goes into CONTRIBUTING.md, the times into benchmarks/results/kernels.json.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import adler32, crc32

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from tests.kernels import mail_twins as twins
from tests.kernels.fuzz import MAIL
from threadpoolctl import threadpool_limits

from benchmarks.measure import Measured
from benchmarks.store import Part, load_average
from benchmarks.works import SEED
from priory.kernels import (
    additive,
    counts,
    cuts,
    hashes,
    labels,
    loo_rows,
    loo_words,
    markup,
    messages,
    numbers,
    pairs,
    score,
    screening,
    strings,
    telling,
    utf8,
    vocabulary,
    word_scores,
    words,
)
from priory.kernels import text as splitting
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.information import shared
from priory.text.markup import _CLOSE, _TAGS, _TELLING, _read_attributes, _unescape

__all__ = ["PUBLIC", "cases", "main", "page"]

HERE = Path(__file__).parent
PUBLIC = HERE.parent / "src" / "priory" / "kernels"
PAGE = HERE.parent / "CONTRIBUTING.md"
BEGIN, END = "<!-- kernels: written by python -m benchmarks.kernels -->", "<!-- end of kernels -->"
HEADINGS = ("kernel", "replaces", "on", "that takes", "the kernel", "ratio")
QUICK, ENOUGH, MOST = 5_000, 0.01, 1_000
"""A size to try things out; seconds of a measurement, and the most calls in one."""
PYTHON = {
    "pairs.take_pairs": "NumPy's indexing of six arrays, beside the type it belongs to",
    "utf8.Borrowed": "holds what borrow_texts gives",
    "adagrad.learn_words": "steps from text to text, in float32; a loop of Python in the tests",
    "adagrad.add_pairs_csr": "a sparse product with a table for each group of rows, in float32",
    "adagrad.take_groups": "takes texts out of sums, beside what reads them",
    "adagrad.known_words": "marks words, beside what reads them",
    "adagrad.pair_slots": "numbers pairs as they come, for learn_words",
    "text.character_tables": "shows the tests what is known of every code point",
    "text.character_stretches": "tells a page in a browser what is a word",
}
"""What is among the kernels and replaces nothing."""


@dataclass(frozen=True)
class Case:
    """A kernel, what it replaces, and both at work on the same data."""

    kernel: str
    replaces: str
    data: str
    ours: Callable[[], Any]
    twin: Callable[[], Any]
    exact: bool = True
    """Whether both must be equal to the last bit; otherwise to ten digits."""


def cases(size: int) -> Iterator[Case]:
    """Give a case of every kernel; `size` is a million, or less to try them out."""
    every = (_counts, _hashes, _labels, _moments, _scores, _left_out, _strings, _texts, _pairs)
    for make in (_additive, _screening, *every, _mail):
        yield from make(np.random.default_rng(SEED), size)


def _additive(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, d, cells = size // 20, 30, 600
    codes = rng.integers(0, cells, (n, d)).astype(np.int32)
    table, values = rng.normal(size=(cells, 1)), rng.normal(size=(n, 1))
    y, weight = rng.integers(0, 2, n).astype(np.int32), np.ones(n)
    on = f"{n:,} rows, {d} columns, {cells} cells"

    def added() -> Any:
        out = np.zeros((n, 1))
        additive.add_cells(codes, table, out)
        return out

    def summed() -> Any:
        out = np.zeros((cells, 1))
        additive.sum_cells(codes, values, out)
        return out

    def wrong() -> Any:
        out = values.copy()
        loss = additive.log_loss_residuals(out, y, weight)
        return np.array([loss]), out

    def wrong_twin() -> Any:
        against = np.where(y == 1, -values[:, 0], values[:, 0])
        p = 1.0 / (1.0 + np.exp(-values))
        return np.array([np.logaddexp(0.0, against).sum()]), p - y[:, None]

    yield Case("additive.add_cells", "NumPy: table[codes], sum", on, added,
               lambda: table[codes].sum(axis=1), exact=False)  # fmt: skip
    yield Case("additive.sum_cells", "NumPy: bincount with weights, repeat", on, summed,
               lambda: np.bincount(codes.ravel(), np.repeat(values[:, 0], d), cells)[:, None],
               exact=False)  # fmt: skip
    yield Case("additive.log_loss_residuals", "NumPy: logaddexp, exp", f"{n:,} rows", wrong,
               wrong_twin, exact=False)  # fmt: skip

    def gradient() -> Any:
        out = np.zeros((cells, 1))
        loss = additive.additive_gradient(codes, table, values, y, weight, out)
        return np.array([loss]), out

    def gradient_twin() -> Any:
        scores = (values + table[codes].sum(axis=1))[:, 0]
        wrong = 1.0 / (1.0 + np.exp(-scores)) - y
        sums = np.bincount(codes.ravel(), np.repeat(wrong, d), cells)[:, None]
        return np.array([np.logaddexp(0.0, np.where(y == 1, -scores, scores)).sum()]), sums

    yield Case("additive.additive_gradient", "NumPy: all of these", on, gradient, gradient_twin,
               exact=False)  # fmt: skip
    points, folds = 256, 10
    grid = rng.normal(size=(points, folds, 1))
    counts = rng.integers(0, 4, (points, folds, 2)).astype(float)

    def losses_twin() -> Any:
        against = np.logaddexp(0.0, np.concatenate([grid, -grid], axis=2))
        return np.einsum("pfk,pfk->f", counts, against)

    yield Case("additive.cell_losses", "NumPy: logaddexp, einsum", f"{points} cells, {folds} folds",
               lambda: additive.cell_losses(grid, counts), losses_twin, exact=False)  # fmt: skip


def _screening(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, cells, folds, K = size // 100, 8, 10, 2
    a, b = (rng.integers(0, cells, n).astype(np.int32) for _ in range(2))
    place, weight = rng.integers(0, folds * K, n).astype(np.int32), np.ones(n)
    slope, bend = rng.normal(size=(n, 1)), rng.exponential(size=(n, 1))
    on = f"{n:,} rows, {cells} × {cells} cells"

    def shared_twin() -> Any:
        n_cells = (cells, cells, folds, K)
        code = (a.astype(np.int64) * cells + b) * folds * K + place
        taken = np.bincount(code, weight, int(np.prod(n_cells))).reshape(n_cells)
        total = taken.sum(axis=2, keepdims=True)
        left = np.concatenate([total - taken, total], axis=2)
        of_a, of_b = left.sum(axis=1, keepdims=True), left.sum(axis=0, keepdims=True)
        told = shared(left, of_a, of_b, of_a.sum(axis=0, keepdims=True))
        return told.sum(axis=(0, 1, 3))

    def left_twin() -> Any:
        code = a * cells + b
        g, h = (np.bincount(code, x[:, 0], cells**2).reshape(cells, cells) for x in (slope, bend))
        for axis in (1, 0):
            g = g - h * g.sum(axis=axis, keepdims=True) / h.sum(axis=axis, keepdims=True)
        trusted = h / (h + 4.0)
        return np.array([((g**2 / (h + 4.0)).sum() - trusted.sum()) / 2, (trusted**2).sum()])

    yield Case("screening.shared_without", "NumPy: bincount, log", on,
               lambda: screening.shared_without(a, b, cells, cells, place, weight, folds, K),
               shared_twin, exact=False)  # fmt: skip
    yield Case("screening.left_over", "NumPy: bincount", on,
               lambda: np.array(screening.left_over(a, b, cells, cells, slope, bend, 4.0)),
               left_twin, exact=False)  # fmt: skip
    upto = np.zeros((257, K))
    np.cumsum(rng.integers(0, 9, (256, K)), axis=0, out=upto[1:])
    yield Case("cuts.mdl_cuts", "NumPy: one stretch after the other", "256 cells",
               lambda: cuts.mdl_cuts(upto), lambda: _mdl_twin(upto), exact=False)  # fmt: skip


def _mdl_twin(upto: np.ndarray) -> np.ndarray:
    def bits(n: np.ndarray) -> np.ndarray:
        whole = n.sum(axis=-1)
        return whole * np.log2(whole) - (n * np.log2(np.where(n > 0, n, 1.0))).sum(axis=-1)

    found, stretches = [], [(0, len(upto) - 1)]
    while stretches:
        low, high = stretches.pop()
        if high - low < 2:
            continue
        total, left = upto[high] - upto[low], upto[low + 1 : high] - upto[low]
        right = total - left
        with np.errstate(divide="ignore", invalid="ignore"):
            of = np.nan_to_num(bits(left)), np.nan_to_num(bits(right))
        at = int(np.argmin(of[0] + of[1]))
        n, whole = total.sum(), float(bits(total))
        sides = [(total, whole), (left[at], of[0][at]), (right[at], of[1][at])]
        k = [int((counts > 0).sum()) for counts, _ in sides]
        entropies = [told / max(counts.sum(), 1e-300) for counts, told in sides]
        delta = np.log2(3.0 ** k[0] - 2) - (
            k[0] * entropies[0] - k[1] * entropies[1] - k[2] * entropies[2]
        )
        if whole - of[0][at] - of[1][at] > np.log2(n - 1) + delta:
            cut = low + 1 + at
            found.append(cut - 1)
            stretches += [(low, cut), (cut, high)]
    return np.array(sorted(found), dtype=np.int64)


def _counts(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, d, K = size // 5, 30, 10
    X, y = rng.poisson(1.0, (n, d)).astype(float), rng.integers(0, K, n).astype(np.int32)
    S, few = _sparse(rng, n // 4), y[: n // 4]
    T = sp.csr_array(np.eye(K)[few])
    one = np.eye(K)[y]

    def ours(kernel: Any, columns: int, *given: Any, sums: int = 3) -> Any:
        out = [np.zeros((K, columns), np.int64), *(np.zeros((K, columns)) for _ in range(sums - 1))]
        assert kernel(*given, *out) == -1
        return out[0], out[-1]

    yield Case(
        "counts.count_dense", "NumPy: one-hot classes @ X, and @ (X > 0)",
        f"{n:,} × {d}, 10 classes",
        lambda: ours(counts.count_dense, d, X, y, None),
        lambda: ((one.T @ (X > 0)).astype(np.int64), one.T @ X),
    )  # fmt: skip
    yield Case(
        "counts.count_present_dense", "NumPy: one-hot classes @ (X > threshold)", "the same",
        lambda: ours(counts.count_present_dense, d, X, y, None, 1.0, sums=2),
        lambda: ((one.T @ (X > 1.0)).astype(np.int64), one.T @ (X > 1.0)),
    )  # fmt: skip
    yield Case(
        "counts.count_csr", "SciPy: one-hot classes @ X, and @ (X > 0)",
        f"CSR {S.shape[0]:,} × 20,000, {S.nnz:,} nonzeros",
        lambda: ours(counts.count_csr, 20_000, S.data, S.indices, S.indptr, few, None),
        lambda: ((T.T @ (S > 0)).toarray().astype(np.int64), (T.T @ S).toarray()),
    )  # fmt: skip


def _sparse(rng: np.random.Generator, n: int) -> Any:
    """Return n rows of 60 counts each, in 20,000 columns."""
    first, step = rng.integers(0, 20_000, n), 331
    columns = np.sort((first[:, None] + step * np.arange(60)) % 20_000, axis=1).astype(np.int32)
    indptr = np.arange(0, 60 * n + 1, 60, dtype=np.int32)
    return sp.csr_array((rng.integers(1, 5, 60 * n) * 1.0, columns.ravel(), indptr), (n, 20_000))


def _hashes(rng: np.random.Generator, size: int) -> Iterator[Case]:
    values, start = rng.normal(size=size), rng.integers(0, 2**63, size).astype(np.uint64)

    def mixed(x: Any) -> Any:
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    def into(kernel: Any, *given: Any) -> Any:
        out = start.copy()
        kernel(out, *given)
        return out

    yield Case(
        "hashes.add_numbers", "NumPy: the mixer of splitmix64, twice", f"{size:,} numbers",
        lambda: into(hashes.add_numbers, values, 7),
        lambda: start + mixed(mixed((values + 0.0).view(np.uint64)) ^ np.uint64(7)),
    )  # fmt: skip
    texts = rng.integers(32, 127, size, dtype=np.uint8)
    ends = np.append(np.arange(0, size, 200), size)
    parts = [texts[a:b].tobytes() for a, b in pairwise(ends.tolist())]

    def checksums() -> Any:
        out = np.zeros(len(ends) - 1, dtype=np.uint64)
        hashes.text_checksums(texts, ends, out)
        return out

    yield Case(
        "hashes.text_checksums", "zlib: crc32 and adler32 of each text", f"{size:,} bytes",
        checksums,
        lambda: np.array([crc32(t) | adler32(t) << 32 for t in parts], dtype=np.uint64),
    )  # fmt: skip


def _labels(rng: np.random.Generator, size: int) -> Iterator[Case]:
    K, V = 10, 8
    objects = np.array([f"value {i}" for i in range(50)], object)[rng.integers(0, 50, size)]
    wide = rng.integers(0, 2**60, 20_000)[rng.integers(0, 20_000, size)]
    close, bytes_ = rng.integers(100, 200, size), rng.integers(-1, V, size).astype(np.int8)
    y, X = rng.integers(0, K, size).astype(np.int32), rng.integers(0, V, (size // 10, 30))
    joined = [rng.integers(0, 4, size).astype(np.int8) for _ in range(4)]

    def dictionary(values: Any) -> Any:
        known: dict[Any, int] = {}
        return np.array([known.setdefault(v, len(known)) for v in values], np.int32), list(known)

    def arrow(values: Any) -> Any:
        found = pa.array(values).dictionary_encode()
        return found.indices.to_numpy(), found.dictionary.to_numpy()

    def ranged() -> Any:
        out, seen = np.empty(size, np.int32), np.zeros(100, np.uint8)
        labels.encode_range(close, 100, out, seen)
        return out, seen

    def ranged_twin() -> Any:
        out, seen = (close - 100).astype(np.int32), np.zeros(100, np.uint8)
        seen[out] = 1
        return out, seen

    def narrow() -> Any:
        out = np.empty(size, np.int8)
        return labels.narrow_codes(y, out), out

    def packed() -> Any:
        out, largest = np.empty((30, len(X)), np.int8), np.full(30, -1)
        assert labels.pack_codes(X, out, 0, largest) == -1
        return out, largest

    def packed_twin() -> Any:
        assert X.min() >= 0 and X.max() <= 127
        return np.ascontiguousarray(X.T.astype(np.int8)), X.max(axis=0)

    def counted(kernel: Any, *given: Any, shape: Any) -> Any:
        out = np.zeros(shape, np.int64)
        kernel(*given, out)
        return out

    def by_class() -> Any:
        rows, total = np.zeros((K, V), np.int64), np.zeros((K, V))
        labels.count_labels(bytes_, y, None, rows, total)
        return rows

    yield Case(
        "labels.encode_objects", "Python: dict.setdefault", f"{size:,} str, 50 of them distinct",
        lambda: labels.encode_objects(objects), lambda: dictionary(objects.tolist()),
    )  # fmt: skip
    yield Case(
        "labels.encode_integers", "Arrow: dictionary_encode", f"{size:,} int64, 20,000 distinct",
        lambda: labels.encode_integers(wide), lambda: arrow(wide),
    )  # fmt: skip
    yield Case(
        "labels.encode_range", "NumPy: subtract, astype, mark", f"{size:,} int64 from 100 to 199",
        ranged, ranged_twin,
    )  # fmt: skip
    yield Case(
        "labels.narrow_codes", "NumPy: min, max, astype", f"{size:,} int32",
        narrow, lambda: (bool(y.min() >= 0 and y.max() <= 127), y.astype(np.int8)),
    )  # fmt: skip
    yield Case(
        "labels.pack_codes", "NumPy: min, max, astype, transpose", f"{size // 10:,} × 30 int64",
        packed, packed_twin,
    )  # fmt: skip
    yield Case(
        "labels.count_joint", "NumPy: ravel_multi_index, bincount", f"{size:,} rows, 4 columns",
        lambda: counted(labels.count_joint, joined, [4] * 4, shape=256),
        lambda: np.bincount(np.ravel_multi_index(joined, [4] * 4), minlength=256),
    )  # fmt: skip
    yield Case(
        "labels.count_labels", "NumPy: bincount of class × values + code",
        f"{size:,} int8, 10 classes", by_class,
        lambda: np.bincount(y * (V + 1) + bytes_ + 1, minlength=K * (V + 1)).reshape(K, -1)[:, 1:],
    )  # fmt: skip


def _moments(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, d, K = size // 5, 30, 10
    X, y = rng.normal(size=(n, d)), rng.integers(0, K, n).astype(np.int32)
    one, row, few = np.eye(K)[y], X[:1], y[:1]
    tenths = np.round(rng.normal(size=size), 1)
    classes = rng.integers(0, K, size).astype(np.int32)
    hi, lo = rng.normal(size=(64, 1000)), np.zeros((64, 1000))
    sums = [rng.uniform(50, 60, (K, d)), rng.normal(size=(K, d)), rng.uniform(90, 99, (K, d))]
    flat = [array for s in sums for array in (s, np.zeros((K, d)))]

    def moments() -> Any:
        rows, out = np.zeros((K, d), np.int64), [np.zeros((K, d)) for _ in range(6)]
        total, s1, s1_lo, s2, s2_lo, total_lo = out
        numbers.class_moments(X, y, None, rows, total, s1, s1_lo, s2, s2_lo, total_lo)
        return rows, s1, s2

    def one_row() -> Any:
        rows, out = np.zeros((K, d), np.int64), [np.zeros((K, d)) for _ in range(6)]
        numbers.add_rows(row, few, rows, *out)
        return rows, out[2], out[4]

    def one_row_twin() -> Any:
        rows, (n, s1, s2) = (
            np.zeros((K, d), np.int64),
            [DoubleDouble.zeros((K, d)) for _ in range(3)],
        )
        k, x = few[0], DoubleDouble.of(row[0])
        rows[k] += 1
        for total, term in ((n, DoubleDouble.of(np.ones(d))), (s1, x), (s2, x * x)):
            added = DoubleDouble(total.hi[k], total.lo[k]) + term
            total.hi[k], total.lo[k] = added.hi, added.lo
        return rows, s1.hi, s2.hi

    def central() -> Any:
        mean, squares = np.empty((K, d)), np.empty((K, d))
        numbers.central_moments(*flat, mean, squares)
        return mean, squares

    def central_twin() -> Any:
        n, s1, s2 = map(DoubleDouble.of, sums)
        mean = s1 / n
        return mean.value, (s2 - s1 * mean).value

    def total() -> Any:
        out = np.zeros(1000), np.zeros(1000)
        numbers.add_up(hi, lo, *out)
        return out[0]

    def total_twin() -> Any:
        out = DoubleDouble.zeros((1000,))
        for i in range(len(hi)):
            out = out + DoubleDouble(hi[i], lo[i])
        return out.hi

    def cells() -> Any:
        _, keys, rows, _ = numbers.count_cells(tenths, classes, None, K, 0, 4096)
        order = np.argsort(keys)
        return keys[order], rows[:, order].T

    def cells_twin() -> Any:
        bits = (tenths + 0.0).view(np.int64)
        keys, at = np.unique(bits ^ ((bits >> 63) & (2**63 - 1)), return_inverse=True)
        return keys, np.bincount(at * K + classes, minlength=len(keys) * K).reshape(-1, K)

    yield Case(
        "numbers.class_moments", "NumPy: one-hot classes @ X, and @ X² (not exact, no gaps)",
        f"{n:,} × {d}, 10 classes", moments,
        lambda: (np.repeat(one.sum(axis=0).astype(int), d).reshape(K, d), one.T @ X, one.T @ X**2),
        exact=False,
    )  # fmt: skip
    yield Case(
        "numbers.add_rows", "NumPy: double-double sums", f"one row of {d}", one_row, one_row_twin
    )
    yield Case(
        "numbers.central_moments", "NumPy: double-double quotients", f"{K} × {d}",
        central, central_twin, exact=False,
    )  # fmt: skip
    yield Case("numbers.add_up", "NumPy: double-double sums", "64 × 1,000", total, total_twin)
    yield Case(
        "numbers.count_cells", "NumPy: unique, bincount", f"{size:,} numbers, few distinct",
        cells, cells_twin,
    )  # fmt: skip


def _scores(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, d, K, V = size // 5, 30, 10, 8
    X, counted = rng.normal(size=(n, d)), rng.poisson(1.0, (n, d)).astype(float)
    S = _sparse(rng, n // 4)
    mean, norm = rng.normal(size=(K, d)), rng.normal(size=(K, d))
    slope, power = rng.uniform(0.1, 3, (K, d)), rng.uniform(1, 9, (K, d))
    weights, many = rng.normal(size=(d, K)), rng.normal(size=(20_000, K))
    codes = rng.integers(0, V, (d, n)).astype(np.int8)
    tables = rng.normal(size=(d, V, K))
    joint = rng.normal(size=(n, K)) * 9
    totals, pseudo = rng.uniform(500, 900, K), np.ones(20_000)
    tallies = rng.poisson(1.0, (K, 20_000)).astype(float)

    def into(kernel: Any, *given: Any, n: int = n) -> Any:
        out = np.zeros((n, K))
        kernel(*given, out)
        return out

    def per_class(term: Callable[[int], Any]) -> Any:
        return np.stack([term(k).sum(axis=1) for k in range(K)], axis=1)

    def looked_up() -> Any:
        places = np.arange(V, dtype=np.int32)
        columns = [(codes[j], places, tables[j], None) for j in range(d)]
        return into(score.Lookups(columns).add, 0)

    def looked_up_twin() -> Any:
        out = np.zeros((n, K))
        for j in range(d):
            out += tables[j][codes[j]]
        return out

    def shares() -> Any:
        out = np.empty((20_000, K))
        score.log_shares(tallies, pseudo, totals, 0, 20_000, out)
        return out

    def normalized(kernel: Any) -> Any:
        out, evidence = joint.copy(), np.empty(n)
        kernel(out, evidence)
        return out, evidence

    def softmax_twin() -> Any:
        largest = joint.max(axis=1, keepdims=True)
        e = np.exp(joint - largest)
        total = e.sum(axis=1, keepdims=True)
        return e / total, (largest + np.log(total))[:, 0]

    def log_twin() -> Any:
        largest = joint.max(axis=1, keepdims=True)
        evidence = largest + np.log(np.exp(joint - largest).sum(axis=1, keepdims=True))
        return joint - evidence, evidence[:, 0]

    def best() -> Any:
        out = np.empty(n, np.int32)
        score.argmax_rows(joint, out)
        return out

    def best_twin() -> Any:
        largest = joint.max(axis=1, keepdims=True)
        slack = np.maximum(score.TIE, score.TIE_SHARE * np.abs(largest))
        return (joint >= largest - slack).argmax(axis=1)

    def case(kernel: str, replaces: str, data: str, ours: Any, twin: Any) -> Case:
        return Case(f"score.{kernel}", replaces, data, ours, twin, exact=kernel == "argmax_rows")

    shape = f"{n:,} × {d}, 10 classes"
    yield case("Lookups", "NumPy: table[codes] per column", shape, looked_up, looked_up_twin)
    yield case(
        "add_gaussian", "NumPy: (x − mean)² · precision per class (no gaps)", shape,
        lambda: into(score.add_gaussian, X, mean, slope, norm),
        lambda: per_class(lambda k: norm[k] - (X - mean[k]) ** 2 * slope[k]),
    )  # fmt: skip
    yield case(
        "add_student_t", "NumPy: log1p per class (no gaps)", shape,
        lambda: into(score.add_student_t, X, mean, slope, power, norm),
        lambda: per_class(lambda k: norm[k] - power[k] * np.log1p((X - mean[k]) ** 2 * slope[k])),
    )  # fmt: skip
    yield case(
        "add_counts_dense", "BLAS: X @ weights (0 · −inf is NaN)", shape,
        lambda: into(score.add_counts_dense, counted, weights), lambda: counted @ weights,
    )  # fmt: skip
    yield case(
        "add_present_dense", "BLAS: (X > threshold) @ weights (0 · −inf is NaN)", shape,
        lambda: into(score.add_present_dense, counted, 0.5, weights),
        lambda: (counted > 0.5).astype(float) @ weights,
    )  # fmt: skip
    yield case(
        "add_counts_csr", "SciPy: X @ weights (0 · −inf is NaN)",
        f"CSR {S.shape[0]:,} × 20,000, {S.nnz:,} nonzeros",
        lambda: into(score.add_counts_csr, S.data, S.indices, S.indptr, many, n=n // 4),
        lambda: S @ many,
    )  # fmt: skip
    yield case(
        "log_shares", "NumPy: log((counts + pseudo) / totals), transposed",
        "20,000 words, 10 classes", shares,
        lambda: np.ascontiguousarray(np.log((tallies + pseudo) / totals[:, None]).T),
    )  # fmt: skip
    of_joint = f"{n:,} × 10"
    yield case("softmax", "NumPy: exp of score − largest, / sum", of_joint,
               lambda: normalized(score.softmax), softmax_twin)  # fmt: skip
    yield case("log_normalize", "NumPy: score − log Σ exp", of_joint,
               lambda: normalized(score.log_normalize), log_twin)  # fmt: skip
    yield case("argmax_rows", "NumPy: argmax of score ≥ largest − slack", of_joint, best, best_twin)


def _left_out(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, d, K = size // 20, 30, 10
    X, y = rng.normal(size=(n, d)) + 3, rng.integers(0, K, n).astype(np.int32)
    rows, mean = rng.uniform(2000, 4000, (K, d)), rng.normal(size=(K, d)) + 3
    scatter = rows * rng.uniform(2, 4, (K, d))
    everyone, centre = rows.sum(axis=0), mean.mean(axis=0)
    spread = scatter.sum(axis=0) / everyone
    variance = scatter / rows

    def log_normal(x: Any, mean: Any, variance: Any) -> Any:
        return -0.5 * np.log(2 * np.pi * variance) - (x - mean) ** 2 / (2 * variance)

    def gaussian() -> Any:
        norm = -0.5 * np.log(2 * np.pi * variance)
        own = np.stack((rows, mean, scatter, np.full((K, d), np.inf), 1 / variance, norm), axis=-1)
        pooled = np.stack((everyone, centre, everyone * spread, spread), axis=-1)
        out = np.zeros((n, K))
        loo_rows.GaussianSums(own, pooled, 0.0, 0.0, 0.0, 1e-3, 1.0).add(X, y, np.ones(n), out)
        return out

    def gaussian_twin() -> Any:
        terms = [log_normal(X, mean[k], variance[k]).sum(axis=1) for k in range(K)]
        out = np.stack(terms, axis=1)
        z, left = X - mean[y], rows[y] - 1
        v = (scatter[y] - z**2 * rows[y] / left) / left
        out[np.arange(n), y] = log_normal(X, mean[y] - z / left, v).sum(axis=1)
        return out

    own = np.column_stack([rows[y, 0] - 1, mean[y, 0], scatter[y, 0], np.full(n, 3.0)])
    pooled = np.column_stack([rng.normal(size=n), rng.uniform(1, 2, n)])
    of_class = np.column_stack([rows[:, 0], mean[:, 0], scatter[:, 0], np.full(K, 3.0)])
    x, kappa, alpha, most_dof = np.ascontiguousarray(X[:, 0]), 1.5, 2.0, 20.0

    def student() -> Any:
        out = np.zeros((n, K))
        loo_rows.add_student_t_loo(x, y, own, pooled, of_class, kappa, alpha, most_dof, out)
        return out

    def student_twin() -> Any:
        sums = np.repeat(of_class[None], n, axis=0)
        sums[np.arange(n), y] = own
        size, centre, squares, norm = np.moveaxis(sums, 2, 0)
        away, after = centre - pooled[:, :1], kappa + size
        q = pooled[:, 1:] + squares / 2 + kappa * size * away**2 / (2 * after)
        half = np.minimum(alpha + size / 2, most_dof / 2)
        q = q * 2 * (after + 1) / after * half / (alpha + size / 2)
        t = x[:, None] - (pooled[:, :1] + size * away / after)
        return norm - np.log(np.pi * q) / 2 - (half + 0.5) * np.log1p(t * t / q)

    yield Case(
        "loo_rows.GaussianSums", "NumPy: densities per class, the row's own without it",
        f"{n:,} × {d}, 10 classes", gaussian, gaussian_twin, exact=False,
    )  # fmt: skip
    yield Case(
        "loo_rows.add_student_t_loo", "NumPy: the same of Student's t",
        f"{n:,} numbers, 10 classes", student, student_twin, exact=False,
    )  # fmt: skip


def _strings(rng: np.random.Generator, size: int) -> Iterator[Case]:
    for V, suffix in ((8, ""), (20_000, ", many")):
        values = [f"value {i}" for i in range(V)]
        array = pa.array(values, pa.string()).take(pa.array(rng.integers(0, V, size)))
        data = f"{size:,} strings, {V:,} distinct"

        def ours(array: Any = array) -> Any:
            codes, known = strings.encode_strings([(32, len(array), array.offset, array.buffers())])
            return codes, known

        def twin(array: Any = array) -> Any:
            found = array.dictionary_encode()
            return found.indices.to_numpy(), found.dictionary.to_pylist()

        yield Case(f"strings.encode_strings{suffix}", "Arrow: dictionary_encode", data, ours, twin)
    fixed = np.array([f"value {i}" for i in range(8)])[rng.integers(0, 8, size)]

    def unique() -> Any:
        known, first, at = np.unique(fixed, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return np.argsort(order)[at], known[order].tolist()

    yield Case(
        "strings.encode_fixed_strings", "NumPy: unique, in the order of arrival",
        f"{size:,} of dtype U7, 8 distinct", lambda: strings.encode_fixed_strings(fixed), unique,
    )  # fmt: skip


def _texts(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n, V, K = size // 100, 20_000, 10
    known = np.array([f"w{i}" for i in range(V)], object)
    chance = 1 / np.arange(1, V + 1)
    documents = known[rng.choice(V, (n, 100), p=chance / chance.sum())].tolist()
    texts = [" ".join(document) for document in documents]
    y = rng.integers(0, K, n).astype(np.int32)
    one, encoded = sp.csr_array(np.eye(K)[y]), utf8.encode_texts(texts)
    vectorizer = CountVectorizer().fit(texts)
    listed = vectorizer.get_feature_names_out().tolist()
    words_ = vocabulary.Vocabulary(listed)
    weights = rng.normal(size=(len(listed), K))
    matrix = vectorizer.transform(texts).astype(float)
    data = f"{n:,} texts of 100 words"
    splitter, pattern = splitting.Splitter(), re.compile(r"(?u)\b\w\w+\b")

    def arrow(kind: Any = pa.large_string()) -> Any:  # noqa: B008
        array = pa.array(texts, kind)
        _, offsets, data = array.buffers()
        return np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64)[: n + 1]

    def dense_scores() -> Any:
        scores = word_scores.WordScores(
            np.arange(len(listed)), weights, np.zeros(len(listed) + 1, int), [], [],
            np.zeros(len(listed)), np.zeros(len(listed)), np.zeros(K),
        )  # fmt: skip
        out = np.zeros((n, K))
        word_scores.score_words(*encoded, words_, scores, out)
        return out

    def counted(count: Callable[[Any], Any]) -> Any:
        found = vocabulary.Vocabulary(listed)
        pairs_ = count(found).pairs
        return pairs_.word, pairs_.label, pairs_.count

    def counter(found: Any) -> Any:
        each = words.WordCounter(found, K)
        each.add(*encoded, y)
        return each.result()

    def counted_twin() -> Any:
        sums = (
            (CountVectorizer(vocabulary=listed).transform(texts).T @ one).tocsr().sorted_indices()
        )
        word, label = sums.nonzero()
        return word, label, sums.data

    def matrix_twin() -> Any:
        found = vectorizer.transform(texts)
        return found.indptr, found.indices, found.data

    def matrix_ours() -> Any:
        indptr, indices, data = words.count_matrix(*encoded, words_)
        found = sp.csr_array((data, indices, indptr), (n, len(listed))).sorted_indices()
        return found.indptr, found.indices, found.data

    tokens = [word for document in documents for word in document]
    codes = {word: i for i, word in enumerate(listed)}
    yield Case(
        "text.Splitter", "Python: re.findall in text.lower()", data,
        lambda: [splitter.split(text) for text in texts],
        lambda: [pattern.findall(text.lower()) for text in texts],
    )  # fmt: skip
    yield Case(
        "utf8.borrow_texts", "Arrow: a copy of the strings", data,
        lambda: len(utf8.borrow_texts(texts)[0]), lambda: len(pa.array(texts, pa.large_string())),
    )  # fmt: skip
    yield Case(
        "utf8.encode_texts", "Arrow: a copy of the strings", data,
        lambda: utf8.encode_texts(texts)[:2], arrow,
    )  # fmt: skip
    yield Case(
        "utf8.text_sizes", "Python: len, cumsum", data, lambda: utf8.text_sizes(texts)[0],
        lambda: np.cumsum([0, *(len(text) if type(text) is str else 0 for text in texts)]),
    )  # fmt: skip
    yield Case(
        "utf8.encode_tokens", "Python: encode, join", f"{n:,} lists of 100 words",
        lambda: utf8.encode_tokens(documents)[0],
        lambda: np.frombuffer(
            b"".join(b"\xff".join(w.encode() for w in words) for words in documents), np.uint8
        ),
    )  # fmt: skip
    yield Case(
        "vocabulary.Vocabulary", "Python: dict.get", f"{len(tokens):,} words looked up",
        lambda: words_.find_all(tokens),
        lambda: np.array([codes.get(word, -1) for word in tokens], np.int32),
    )  # fmt: skip
    replaced = "scikit-learn: CountVectorizer.transform"
    yield Case("words.WordCounter", f"{replaced}, one-hot classes @ it", data,
               lambda: counted(counter), counted_twin)  # fmt: skip
    yield Case(
        "words.count_words", "the same, in one call", data,
        lambda: counted(lambda found: words.count_words(*encoded, y, None, found, K)), counted_twin,
    )  # fmt: skip
    yield Case("words.count_matrix", replaced, data, matrix_ours, matrix_twin)
    yield Case(
        "word_scores.score_words", f"{replaced}, @ weights", data,
        dense_scores, lambda: vectorizer.transform(texts) @ weights, exact=False,
    )  # fmt: skip
    yield from _loo_words(matrix, y, K, n)


def _loo_words(X: Any, y: np.ndarray, K: int, n: int) -> Iterator[Case]:
    one = np.eye(K)[y]
    grid, rows = X.T @ one, (X > 0).T.astype(float) @ one
    word, label = np.nonzero(rows)
    starts = np.searchsorted(word, np.arange(len(grid) + 1))
    held = (label, rows[word, label].astype(int), grid[word, label])
    per_word, n_texts = grid.sum(axis=1), rows.sum(axis=1).astype(int)
    given = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.int32)

    def ours() -> Any:
        sums = loo_words.LooSums(starts, *held, per_word, n_texts, K)
        found = sums.without(*given, y, np.ones(n))
        found.scores[np.arange(n), y] = found.own
        return found.scores

    def twin() -> Any:
        left = grid[X.indices]
        entry = np.repeat(np.arange(n), np.diff(X.indptr))
        left[np.arange(len(left)), y[entry]] -= X.data
        logs = np.where(n_texts[X.indices, None] > 1, X.data[:, None] * np.log(left + 1.0), 0.0)
        return np.add.reduceat(logs, X.indptr[:-1])

    yield Case(
        "loo_words.LooSums", "NumPy: log of each word's sums less the text's, reduceat",
        f"{n:,} texts of 100 words, 10 classes", ours, twin, exact=False,
    )  # fmt: skip


def _pairs(rng: np.random.Generator, size: int) -> Iterator[Case]:
    V, K, n = 200_000, 20, size // 2
    keys = np.sort(rng.choice(V * K, n, replace=False))

    def pairs_of(keys: Any) -> pairs.Pairs:
        rows = rng.integers(1, 9, len(keys))
        word, label = (keys // K).astype(np.int32), (keys % K).astype(np.int32)
        return pairs.Pairs(word, label, rows, rows, rows * 2.0, rows * 0.5)

    a, b = pairs_of(keys), pairs_of(keys[::3])
    both = pairs.add_pairs(a, b)
    shuffled = pairs.take_pairs(a, rng.permutation(n))
    entries = np.bincount(a.word, minlength=V)
    place = np.full(V, -1, np.int32)
    place[entries >= 6] = np.arange((entries >= 6).sum())
    n_few = int(entries[entries < 6].sum())
    scale, constant = np.zeros(V), np.zeros(V)
    deltas, per_class = rng.normal(size=n), rng.normal(size=K)
    dense = int(place.max()) + 1

    def shown(found: Any) -> Any:
        return found.word, found.label, found.rows, found.count, found.log_tf

    def placed() -> Any:
        rows, out = np.zeros((dense, K)), (np.empty(n_few, np.int32), np.empty(n_few))
        rest = (place, scale, constant, per_class, rows, *out)
        word_scores.place_pairs(a.word, a.label, deltas, *rest)
        return rows, *out

    def placed_twin() -> Any:
        rows, whole = np.zeros((dense, K)), place[a.word] >= 0
        rows[place[a.word[whole]], a.label[whole]] = deltas[whole]
        return rows, a.label[~whole], deltas[~whole]

    def sorted_twin() -> Any:
        return shown(pairs.take_pairs(shuffled, np.lexsort((shuffled.label, shuffled.word))))

    def added_twin() -> Any:
        joined = [np.concatenate(each) for each in zip(shown(a), shown(b), strict=True)]
        order = np.lexsort((joined[1], joined[0]))
        word, label, *sums = (each[order] for each in joined)
        first = np.flatnonzero(np.diff(word.astype(np.int64) * K + label, prepend=-1))
        return word[first], label[first], *(np.add.reduceat(each, first) for each in sums)

    def less_twin() -> Any:
        keys = both.word.astype(np.int64) * K + both.label
        at = np.searchsorted(keys, b.word.astype(np.int64) * K + b.label)
        sums = [each.copy() for each in shown(both)[2:]]
        for each, less in zip(sums, shown(b)[2:], strict=True):
            each[at] -= less
        there = sums[0] > 0
        return both.word[there], both.label[there], *(each[there] for each in sums)

    data = f"{n:,} pairs of word and class"
    yield Case("pairs.sort_pairs", "NumPy: lexsort, take", data,
               lambda: shown(pairs.sort_pairs(shuffled, V)), sorted_twin)  # fmt: skip
    yield Case("pairs.add_pairs", "NumPy: concatenate, lexsort, reduceat", f"{data}, and a third",
               lambda: shown(pairs.add_pairs(a, b)), added_twin)  # fmt: skip
    yield Case("pairs.subtract_pairs", "NumPy: searchsorted, subtract", f"{data}, less a third",
               lambda: shown(pairs.subtract_pairs(both, b)), less_twin)  # fmt: skip
    yield Case("pairs.sum_by", "NumPy: bincount with weights", data,
               lambda: pairs.sum_by(a.word, a.count, V),
               lambda: np.bincount(a.word, a.count, V))  # fmt: skip
    yield Case("pairs.log_plus", "NumPy: log(n + a)", data,
               lambda: pairs.log_plus(a.count, 0.5), lambda: np.log(a.count + 0.5),
               exact=False)  # fmt: skip
    yield Case("word_scores.place_pairs", "NumPy: masks and fancy indexing", data,
               placed, placed_twin)  # fmt: skip
    yield Case("word_scores.WordScores", "nothing: it holds and checks what score_words reads", "",
               lambda: None, lambda: None)  # fmt: skip


def _mail(rng: np.random.Generator, size: int) -> Iterator[Case]:
    n = max(size // 1000, 10)
    texts = ["".join(MAIL[i] for i in rng.integers(0, len(MAIL), 1000)) for _ in range(n)]
    headers = [
        b"".join(b"X-Field-%d: a value\n of two lines\n" % i for i in range(25)) for _ in range(n)
    ]
    lengths = rng.integers(0, 400, n)
    V, indptr = 50_000, np.concatenate([[0], np.cumsum(lengths)])
    codes = rng.integers(0, V, indptr[-1]).astype(np.int32)
    telling_ = (indptr, codes, rng.normal(size=V), rng.integers(0, 4, V), 10)

    def page_(html: str) -> Any:
        texts, *rest = markup.read_page(html, _TAGS, _CLOSE, _read_attributes, _unescape)
        return ("".join(texts), *rest)

    def each(call: Callable[..., Any], given: Sequence[Any], *more: Any) -> Callable[[], Any]:
        return lambda: [repr(call(one, *more)) for one in given]

    on = f"{n:,} texts of a thousand pieces of mail"
    yield Case("markup.read_page", "Python: re.match, tag after tag", on,
               each(page_, texts), each(twins.page_twin, texts))  # fmt: skip
    yield Case("markup.read_attributes", "Python: re.finditer", on,
               each(markup.read_attributes, texts, _TELLING),
               each(twins.attributes_twin, texts, _TELLING))  # fmt: skip
    yield Case("messages.cut_links", "Python: re.finditer", on,
               each(messages.cut_links, texts), each(twins.links_twin, texts))  # fmt: skip
    yield Case("messages.cut_addresses", "Python: re.findall, re.sub", on,
               each(messages.cut_addresses, texts), each(twins.addresses_twin, texts))  # fmt: skip
    yield Case("messages.read_header", "Python: re.match, split", f"{n:,} headers of 25 fields",
               each(messages.read_header, headers, 100, 10_000),
               each(twins.header_twin, headers, 100, 10_000))  # fmt: skip
    yield Case("telling.most_telling", "NumPy: lexsort, searchsorted", f"{n:,} texts of 200 words",
               lambda: telling.most_telling(*telling_),
               lambda: twins.telling_twin(*telling_))  # fmt: skip


def agree(case: Case, ours: Any, theirs: Any) -> None:
    """Fail unless both found the same."""
    if isinstance(ours, tuple):
        for one, other in zip(ours, theirs, strict=True):
            agree(case, one, other)
    elif isinstance(ours, np.ndarray) and not case.exact:
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-9, err_msg=case.kernel)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=case.kernel)


def measured(size: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Give the times of each case whose results agree: those of the processor, in one thread."""
    for case in cases(size):
        calls = {"ours": case.ours, "twin": case.twin}
        found: dict[str, list[float]] = {name: [] for name in calls}
        with threadpool_limits(1):
            agree(case, *(call() for call in calls.values()))
            for _ in range(repeats):
                for name, call in calls.items():
                    found[name].append(_processor_time(call, 0.0 if size == QUICK else ENOUGH))
        times = {name: asdict(Measured.of(values)) for name, values in found.items()}
        row = {"kernel": case.kernel, "replaces": case.replaces, "data": case.data}
        yield {**row, **(times if case.data else {})}


def _processor_time(call: Callable[[], Any], enough: float) -> float:
    """Return the seconds of one call; short ones are made again until there is enough to tell."""
    start, calls, elapsed = time.process_time(), 0, 0.0
    while calls == 0 or (elapsed < enough and calls < MOST):
        call()
        calls += 1
        elapsed = time.process_time() - start
    return elapsed / calls


def page(part: Part) -> str:
    """Return the table as Markdown."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|---|---:|---:|---:|"]
    for row in part.data["kernels"]:
        cells = [f"`{row['kernel']}`", row["replaces"], row["data"], "", "", ""]
        if "ours" in row:
            ours, twin = Measured(**row["ours"]), Measured(**row["twin"])
            cells[3:] = [
                _time(twin.least),
                _time(ours.least),
                f"{twin.least / ours.least:.1f}×",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [f"| `{name}` | {why} |  |  |  |  |" for name, why in PYTHON.items()]
    how = "the smallest of seven times of the processor, one thread each"
    about = [*part.machine, f"measured {part.date}: {how}"]
    return "\n".join([*lines, "", *(f"- {line}" for line in about)])


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def main() -> int:
    """Measure, keep the times, and write the table between its marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny data; nothing is written")
    parser.add_argument("--page", action="store_true", help="write the table from the last run")
    arguments = parser.parse_args()
    if arguments.page:
        part = Part.load("kernels")
    else:
        size, repeats = (QUICK, 1) if arguments.quick else (1_000_000, 7)
        load = load_average()
        part = Part.now("kernels", {"kernels": list(measured(size, repeats))}, load)
    table = page(part)
    print(table)
    if not arguments.quick:
        part.save()
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
