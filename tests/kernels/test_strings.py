import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.data.natural import natural
from priory.kernels.labels import count_joint, narrow_codes
from priory.kernels.strings import encode_fixed_strings, encode_strings

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 24, 25, 40]
"""Around every size at which strings are compared in another way."""

CHARACTERS = st.sampled_from(["a", "b", "\0", "é", "\U0001f600"])
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=20),
    st.builds(lambda size, end: "a" * size + end, st.sampled_from(SIZES), CHARACTERS),
    st.sampled_from([f"{i:03d}" for i in range(300)]),
    st.text(),
)
WORDS = st.lists(st.none() | TEXTS, max_size=60).map(
    lambda some: [v.encode("utf-8", "replace").decode() if v is not None else None for v in some]
)
LAYOUTS = {32: pa.string(), 64: pa.large_string(), 0: pa.string_view()}


def twin(values):
    labels = {}
    codes = [-1 if v is None else labels.setdefault(v, len(labels)) for v in values]
    return codes, list(labels)


def encode(*pieces):
    bits = {kind: bits for bits, kind in LAYOUTS.items()}
    return encode_strings([(bits[p.type], len(p), p.offset, p.buffers()) for p in pieces])


@given(WORDS, st.sampled_from(list(LAYOUTS.values())), st.integers(0, 5), st.integers(0, 70))
def test_encode_strings_equals_its_twin(values, kind, start, length):
    piece = pa.array(values, kind).slice(start, length)
    codes, labels = encode(piece)
    assert codes.dtype == np.int8
    assert (codes.tolist(), labels) == twin(values[start : start + length])


@given(st.lists(WORDS, max_size=4), st.sampled_from(list(LAYOUTS.values())))
def test_pieces_are_one_column(pieces, kind):
    codes, labels = encode(*[pa.array(piece, kind) for piece in pieces])
    assert (codes.tolist(), labels) == twin([value for piece in pieces for value in piece])


@given(WORDS, st.sampled_from([1, 2, -1]), st.sampled_from(["<", ">"]))
def test_strings_of_one_width_equal_their_twin(values, step, order):
    given_ = np.array(["x", *(v for v in values if v is not None)]).astype(f"{order}U")[::step]
    array = np.require(given_, given_.dtype.newbyteorder("="), "A")
    codes, labels = encode_fixed_strings(array)
    assert (codes.tolist(), labels) == twin(given_.tolist())
    column, why, _ = natural(given_, "x")
    assert (column.codes.tolist(), list(column.labels), why) == (*twin(given_.tolist()), "strings")


def test_lone_surrogates_have_a_width():
    codes, labels = encode_fixed_strings(np.array(["\ud800", "a", "\ud800"]))
    assert (codes.tolist(), labels) == ([0, 1, 0], ["\ud800", "a"])


@pytest.mark.parametrize("n_distinct", [127, 128, 129, 2**15, 2**15 + 1, 100_000])
@pytest.mark.parametrize("kind", LAYOUTS.values())
def test_codes_are_as_wide_as_they_must_be(n_distinct, kind):
    values = [f"label{i}" for i in range(n_distinct)] + [None, "label0", f"label{n_distinct - 1}"]
    codes, labels = encode(pa.array(values, kind))
    narrowest = np.int8 if n_distinct <= 128 else np.int16 if n_distinct <= 2**15 else np.int32
    assert codes.dtype == narrowest
    assert codes.tolist() == [*range(n_distinct), -1, 0, n_distinct - 1]
    assert labels == values[:n_distinct]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("size", SIZES)
def test_the_last_string_ends_where_the_memory_ends(bits, size):
    """The bytes end with a page that may not be read: one byte too far would end the process."""
    import ctypes
    import mmap

    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mprotect"):
        pytest.skip("needs mprotect")
    text = b"b" * size
    memory[page - size : page] = text
    assert libc.mprotect(ctypes.c_void_p(address + page), page, 0) == 0
    data = (ctypes.c_char * size).from_address(address + page - size)
    offsets = np.array([0, size, size], dtype=f"i{bits // 8}")
    codes, labels = encode_strings([(bits, 2, 0, [None, offsets.tobytes(), data])])
    assert (codes.tolist(), labels) == twin([text.decode(), ""])
    libc.mprotect(ctypes.c_void_p(address + page), page, 3)


@pytest.mark.parametrize("ends", [[0, 5], [-1, 2], [2, 1], [3, 4], [2**62, -(2**62)]])
def test_a_string_outside_of_its_buffer_is_refused(ends):
    offsets = np.array(ends, dtype=np.int64).tobytes()
    with pytest.raises(ValueError, match="not inside its buffer"):
        encode_strings([(64, 1, 0, [None, offsets, b"abc"])])


@pytest.mark.parametrize("view", [(-1, 0, 0, 0), (13, 0, 1, 0), (13, 0, -1, 0), (13, 0, 0, 1)])
def test_a_view_outside_of_its_buffers_is_refused(view):
    views = np.array(view, dtype=np.int32).tobytes()
    with pytest.raises(ValueError, match="not inside its buffer"):
        encode_strings([(0, 1, 0, [None, views, b"thirteen byte"])])


@pytest.mark.parametrize(("n_rows", "first", "valid"), [(2, 0, None), (1, 1, None), (1, 0, b"")])
def test_buffers_that_end_too_soon_are_refused(n_rows, first, valid):
    offsets = np.zeros(2, dtype=np.int32).tobytes()
    with pytest.raises(ValueError, match="end before the rows do"):
        encode_strings([(32, n_rows, first, [valid, offsets, None])])


@given(WORDS)
def test_every_container_of_strings_gives_the_same_labels(values):
    expected = twin(values)
    series = pd.Series(values, dtype="str")
    containers = [
        series,
        pd.Series(values, dtype=object),
        pd.Series(values, dtype=pd.StringDtype("python")),
        pd.Series(values, dtype=pd.StringDtype("pyarrow")),
        series.array,
        pl.Series(values, dtype=pl.String),
        pa.chunked_array([values[:3], [], values[3:]], pa.string()),
    ]
    for container in containers:
        column = natural(container, "x").column
        assert (column.codes.tolist(), list(column.labels)) == expected


SIZED = st.lists(st.integers(0, 6), min_size=1, max_size=4)


@given(SIZED, st.integers(0, 50), st.data())
def test_count_joint_equals_its_twin(sizes, n, data):
    kinds = st.sampled_from([np.int8, np.int16, np.int32, np.int64])
    columns = [
        np.array(data.draw(st.lists(st.integers(-1, size - 1), min_size=n, max_size=n))).astype(
            data.draw(kinds)
        )
        for size in sizes
    ]
    expected = np.zeros(sizes, dtype=np.int64)
    whole = [row for row in zip(*columns, strict=True) if min(row) >= 0]
    for row in whole:
        expected[row] += 1
    rows = np.zeros(expected.size, dtype=np.int64)
    assert count_joint(columns, sizes, rows) == n - len(whole)
    assert rows.tolist() == expected.ravel().tolist()


@pytest.mark.parametrize("sizes", [(100, 90), (300, 200), (2048, 1), (32767, 1), (3, 20_000)])
def test_count_joint_of_large_tables(sizes):
    rng = np.random.default_rng(0)
    columns = [rng.integers(-1, size, size=10_001).astype(np.int32) for size in sizes]
    rows = np.zeros(sizes, dtype=np.int64)
    left_out = count_joint(columns, sizes, rows.reshape(-1))
    expected = np.zeros(sizes, dtype=np.int64)
    there = (columns[0] >= 0) & (columns[1] >= 0)
    np.add.at(expected, tuple(column[there] for column in columns), 1)
    assert left_out == (~there).sum()
    np.testing.assert_array_equal(rows, expected)


@given(st.lists(st.integers(-2, 130) | st.integers(0, 127)), st.sampled_from([np.int32, np.int64]))
def test_narrow_codes_takes_what_a_byte_holds(values, kind):
    codes = np.empty(len(values), dtype=np.int8)
    fits = narrow_codes(np.array(values, dtype=kind), codes)
    assert fits == all(0 <= value <= 127 for value in values)
    if fits:
        assert codes.tolist() == values
