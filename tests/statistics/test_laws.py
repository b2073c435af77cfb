"""Ask the laws of sums of every table, with rows that are as awkward as rows can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory.data.schema import Kind
from priory.statistics.cells import CELL_LIMIT

from .exact import assert_exact
from .laws import CountFrame, CountTable, K, Rows, assert_same, check_laws

LABELS = CountTable(Kind.LABELS)
NUMBERS = CountTable(Kind.NUMBERS)
MOMENTS = [CountTable(Kind.MOMENTS, width) for width in (2, 5)]
COUNTS = [CountTable(Kind.COUNTS, 4), CountTable(Kind.COUNTS, 4, sparse=True)]
SCATTER = CountTable(Kind.SCATTER, 2)
JOINT = CountTable(Kind.JOINT, 2)
PAIRS = [CountTable(Kind.PAIRS, 2), CountTable(Kind.PAIRS, 4)]
WORDS = CountTable(Kind.WORDS)
FRAME = CountFrame(
    (
        ("colour", Kind.LABELS, 1),
        ("size", Kind.NUMBERS, 1),
        ("bands", Kind.MOMENTS, 5),
        ("words", Kind.COUNTS, 6),
        ("text", Kind.WORDS, 1),
    )
)

MIXED = [1, "1", True, 1.5, False, 0, "", "é", "Ω本", "\ud800", -7, 10**30, None]
AWKWARD = [0.0, -0.0, float("nan"), 1.0, -1.0, 0.1, 1e140, -1e140, 1e-140, 1e9, 1e9 + 1, 1e8, 3e8]

some_words = ["red", "green", "RED", "été", "дом", "本本", "x1", "a", "\x00nul", "emoji😀mid", "İs"]
some_texts = st.lists(st.sampled_from(some_words), max_size=6).map(" ".join) | st.none()
some_labels = st.sampled_from(MIXED)
some_numbers = st.sampled_from(AWKWARD) | st.floats(-1e150, 1e150) | st.floats(-10, 10)
some_counts = st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0, 0.5, 1e6])
some_weights = st.sampled_from([0.125, 0.5, 1.0, 2.0, 3.0])
many = settings(max_examples=60, deadline=None)
some = settings(max_examples=25, deadline=None)
few = settings(max_examples=12, deadline=None)


@st.composite
def small_rows(draw, cell, width=None, classes=tuple(range(K))):
    """Draw no rows to a dozen, of all the classes or some, weighted or not."""
    n = draw(st.integers(0, 12))
    y = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n))
    weight = draw(st.none() | st.lists(some_weights, min_size=n, max_size=n))
    return Rows(
        {"x": draw(block_of(n, cell, width))},
        objects(y) if isinstance(classes[0], str) else np.array(y, dtype=np.int64),
        None if weight is None else np.array(weight, dtype=np.float64),
    )


def block_of(n, cell, width):
    if width is None:
        return st.lists(cell, min_size=n, max_size=n).map(objects)
    flat = st.lists(cell, min_size=n * width, max_size=n * width)
    return flat.map(lambda v: np.array(v, dtype=np.float64).reshape(n, width))


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@st.composite
def small_frames(draw):
    """Draw rows of a mixed frame, with classes of any type that not every part has."""
    n = draw(st.integers(0, 8))
    classes = draw(st.lists(st.sampled_from([1, "1", True, "é\ud800"]), min_size=1, unique_by=repr))
    y = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n))
    weight = draw(st.none() | st.lists(some_weights, min_size=n, max_size=n))
    values = {
        "colour": draw(block_of(n, some_labels, None)),
        "size": draw(block_of(n, some_numbers, 1)),
        "bands": draw(block_of(n, some_numbers, 5)),
        "words": draw(block_of(n, some_counts, 6)),
        "text": draw(block_of(n, some_texts, None)),
    }
    return Rows(values, objects(y), None if weight is None else np.array(weight, dtype=float))


generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@many
@given(*[small_rows(some_labels)] * 3, generators)
def test_labels_obey_the_laws(a, b, c, rng):
    assert_exact(LABELS(a), a)
    check_laws(LABELS, a, b, c, rng)


@many
@given(*[small_rows(some_numbers, 1)] * 3, generators)
def test_numbers_obey_the_laws(a, b, c, rng):
    assert_exact(NUMBERS(a), a)
    check_laws(NUMBERS, a, b, c, rng)


@pytest.mark.parametrize("count", MOMENTS, ids=["by column", "by row"])
@many
@given(data=st.data(), rng=generators)
def test_moments_obey_the_laws(count, data, rng):
    a, b, c = (data.draw(small_rows(some_numbers, count.width)) for _ in range(3))
    assert_exact(count(a), a)
    check_laws(count, a, b, c, rng)


@pytest.mark.parametrize("count", COUNTS, ids=["dense", "sparse"])
@many
@given(data=st.data(), rng=generators)
def test_counts_obey_the_laws(count, data, rng):
    a, b, c = (data.draw(small_rows(some_counts, count.width)) for _ in range(3))
    assert_exact(count(a), a)
    check_laws(count, a, b, c, rng)


@some
@given(*[small_rows(some_texts | st.text(max_size=30))] * 3, generators)
def test_words_obey_the_laws(a, b, c, rng):
    assert_exact(WORDS(a), a)
    check_laws(WORDS, a, b, c, rng)


@many
@given(*[small_rows(some_numbers, SCATTER.width)] * 3, generators)
def test_scatter_obeys_the_laws(a, b, c, rng):
    assert_exact(SCATTER(a), a)
    check_laws(SCATTER, a, b, c, rng)


@many
@given(*[small_rows(st.tuples(some_labels, some_labels))] * 3, generators)
def test_joint_tables_obey_the_laws(a, b, c, rng):
    a, b, c = (Rows({"x": combinations(r.values["x"])}, r.y, r.weight) for r in (a, b, c))
    assert_exact(JOINT(a), a)
    check_laws(JOINT, a, b, c, rng)


@pytest.mark.parametrize("count", PAIRS, ids=["one pair", "six pairs"])
@many
@given(data=st.data(), rng=generators)
def test_pairs_obey_the_laws(count, data, rng):
    cells = small_rows(st.tuples(*[some_labels] * count.width))
    a, b, c = (data.draw(cells) for _ in range(3))
    a, b, c = (
        Rows({"x": combinations(r.values["x"], count.width)}, r.y, r.weight) for r in (a, b, c)
    )
    assert_exact(count(a), a)
    check_laws(count, a, b, c, rng)


def combinations(values, width=2):
    """Return tuples as so many columns of objects."""
    columns = np.empty((len(values), width), dtype=object)
    for i, combination in enumerate(values):
        columns[i] = combination
    return columns


@many
@given(*[small_frames()] * 3, generators)
def test_statistics_of_a_mixed_frame_obey_the_laws(a, b, c, rng):
    check_laws(FRAME, a, b, c, rng)


@many
@given(small_rows(some_labels), small_rows(some_labels))
def test_samples_of_equal_size_are_not_confused(a, b):
    n = min(len(a), len(b))
    a, b = a.take(slice(0, n)), b.take(slice(0, n))
    assert_same(LABELS(a) + LABELS(b), LABELS(a + b), a + b)
    assert_same(LABELS(a + b) - LABELS(a), LABELS(b), a + b)


# Many distinct values: cells that change their level


@st.composite
def many_numbers(draw):
    """Draw three parts of which alone or together may pass the limit of distinct values."""
    rng = draw(generators)
    n = draw(st.sampled_from([1000, 1023, 1024, 1025, 1026, 2049, 3000]))
    values = rng.permutation(n) * draw(st.sampled_from([1.0, 0.1, 1e-3, 1e-140, 1e136]))
    values = values + draw(st.sampled_from([0.0, 1e9, -700.0]))
    if draw(st.booleans()):
        values = np.concatenate([values, -values, np.full(7, np.nan)])
    y = rng.integers(0, draw(st.sampled_from([1, K])), len(values))
    if draw(st.booleans()):
        values = values + 1e8 * y  # classes far apart
    weight = rng.integers(1, 9, len(values)) / 8 if draw(st.booleans()) else None
    rows = Rows({"x": values[:, None]}, y, weight)
    parts = np.split(rng.permutation(len(rows)), np.sort(rng.integers(0, len(rows) + 1, 2)))
    overlap = rows.take(rng.integers(0, len(rows), 300))  # values that several parts have
    a, b, c = (rows.take(part) for part in parts)
    return a + overlap, b + overlap, c, rng


@few
@given(many_numbers())
def test_numbers_obey_the_laws_when_cells_change_level(parts):
    a, b, c, rng = parts
    assert_exact(NUMBERS(a), a)
    check_laws(NUMBERS, a, b, c, rng)


@few
@given(st.integers(-40, 40), generators)
def test_only_one_value_too_many_changes_the_level(exponent, rng):
    values = np.unique(rng.normal(size=CELL_LIMIT + 1)) * 2.0**exponent
    rows = Rows({"x": values[:, None]}, rng.integers(0, K, len(values)))
    fits, last = rows.take(slice(0, CELL_LIMIT)), rows.take(slice(CELL_LIMIT, None))
    assert NUMBERS(fits).cells.level == 0
    together = NUMBERS(fits) + NUMBERS(last)
    assert together.cells.level > 0
    assert together.cells == NUMBERS(rows).cells
    forgotten = (together - NUMBERS(last)).cells
    assert forgotten == NUMBERS(fits).cells.coarsened(together.cells.level)


# Numbers that plain float64 sums get wrong


def test_small_numbers_can_be_forgotten_one_by_one_after_a_large_one():
    x = np.array([0.0, 0.0, 0.1, 1e5 / 3, 0.0])
    rows = Rows({"x": x[:, None]}, np.zeros(len(x), dtype=int))
    table = NUMBERS(rows)
    for i in (3, 2, 0, 1, 4):
        table = table - NUMBERS(rows.take([i]))
    assert table == NUMBERS(rows.take([]))


@pytest.mark.parametrize("count", [NUMBERS, *MOMENTS], ids=["numbers", "by column", "by row"])
@pytest.mark.parametrize("offset", [0.0, 1e9, -1e9, 1e140, 1e-140])
def test_moments_are_exact_at_any_offset_of_any_class(count, offset):
    rng = np.random.default_rng(3)
    y = rng.integers(0, K, 900)
    noise = rng.normal(size=(900, count.width)) * max(abs(offset) * 1e-9, 1e-145)
    noise[rng.random(noise.shape) < 0.1] = np.nan
    x = offset * (1 + 0.1 * y[:, None]) + noise
    for weight in (None, rng.integers(1, 30, 900) / 8):
        rows = Rows({"x": x}, y, weight)
        assert_exact(count(rows), rows)
        check_laws(count, *(rows.take(slice(i, i + 300)) for i in (0, 300, 600)), rng)


def test_classes_far_apart_keep_their_variance():
    rng = np.random.default_rng(4)
    y = rng.integers(0, K, 3000)
    x = 1e8 * y + rng.normal(size=3000)
    rows = Rows({"x": x[:, None]}, y)
    table = NUMBERS(rows.take(slice(0, 1500))) + NUMBERS(rows.take(slice(1500, None)))
    exact = [[np.var(x[y == k] - 1e8 * k)] for k in range(K)]
    np.testing.assert_allclose(table.moments.variance, exact, rtol=1e-7)  # x itself is rounded
    assert_exact(table, rows)


@many
@given(small_rows(some_labels), small_rows(some_labels), generators)
def test_weights_of_tenths_leave_no_ghosts(a, b, rng):
    a, b = (Rows(r.values, r.y, rng.integers(1, 9, len(r)) / 10) for r in (a, b))
    A, B = LABELS(a), LABELS(b)
    assert_same((A + B) - B, A, a + b)
    assert (A + B - A - B).labels == ()


@many
@given(small_frames(), small_frames())
def test_rows_of_no_weight_count_for_nothing(a, b):
    shadow = a + b.times(0.0) + a.times(0.0)
    assert FRAME(shadow) == FRAME(Rows(a.values, a.y, a.weights))


@many
@given(small_frames())
def test_unit_weights_are_no_weights(a):
    a = Rows(a.values, a.y)
    assert FRAME(a.times(1.0)) == FRAME(a)
