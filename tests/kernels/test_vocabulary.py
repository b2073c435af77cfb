import copy
import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.vocabulary import Vocabulary

WORDS = st.text(st.characters(), max_size=20)


@given(st.lists(st.text(st.characters(), max_size=20)))
def test_vocabulary_equals_a_dict(words):
    vocabulary, twin = Vocabulary(), {}
    for word in words:
        assert vocabulary.find(word) == twin.get(word, -1)
        assert vocabulary.add(word) == twin.setdefault(word, len(twin))
    assert len(vocabulary) == len(twin)
    assert vocabulary.words() == list(twin)
    assert [vocabulary.find(word) for word in twin] == list(range(len(twin)))


def test_vocabulary_grows_and_is_copied():
    words = [f"word{i}" for i in range(100_000)]
    vocabulary = Vocabulary(words)
    copies = [vocabulary.copy(), copy.copy(vocabulary), copy.deepcopy(vocabulary)]
    copies.append(pickle.loads(pickle.dumps(vocabulary)))
    vocabulary.add("another")
    assert vocabulary.find("another") == len(words)
    for copied in copies:
        assert copied.words() == words
        assert copied.find("another") == -1
        assert copied.add("yet another") == len(words)
        assert copied.find("word77777") == 77_777
    assert vocabulary.find("yet another") == -1
    assert Vocabulary().copy().words() == []


def test_vocabulary_takes_words_as_they_are():
    vocabulary = Vocabulary(["", "A b", "a\0", "a", "\ud800", "x" * 100_000])
    assert vocabulary.words() == ["", "A b", "a\0", "a", "\ud800", "x" * 100_000]
    assert vocabulary.find("") == 0
    assert vocabulary.find("a b") == -1
    assert vocabulary.add(np.str_("a")) == 3
    for odd in (None, b"a"):
        with pytest.raises(TypeError, match="A word is a str, not"):
            vocabulary.add(odd)


def test_extend_numbers_the_words_of_another():
    vocabulary, other = Vocabulary(["a", "b"]), Vocabulary(["c", "b", "d", "a"])
    codes = vocabulary.extend(other)
    assert codes.dtype == np.int32
    assert codes.tolist() == [2, 1, 3, 0]
    assert vocabulary.words() == ["a", "b", "c", "d"]
    assert vocabulary.extend(vocabulary).tolist() == [0, 1, 2, 3]
    assert vocabulary.extend(Vocabulary()).tolist() == []


@given(st.lists(WORDS, unique=True), st.data())
def test_taken_words_are_numbered_anew(words, data):
    vocabulary = Vocabulary(words)
    codes = data.draw(st.permutations(range(len(words))))
    codes = np.array(codes[: data.draw(st.integers(0, len(words)))], dtype=np.int32)
    taken = vocabulary.take(codes)
    assert taken.words() == [words[code] for code in codes]
    assert taken.find_all(words).tolist() == [
        codes.tolist().index(i) if i in codes else -1 for i in range(len(words))
    ]
    assert vocabulary.words() == words


def test_take_refuses_codes_that_are_not_there_or_there_twice():
    vocabulary = Vocabulary(["a", "b", "c"])
    for codes in ([3], [0, -1]):
        with pytest.raises(ValueError, match=f"There is no word {codes[-1]} among 3"):
            vocabulary.take(codes)
    with pytest.raises(ValueError, match="Code 2 is there twice"):
        vocabulary.take([2, 0, 2])
    assert len(vocabulary.take([])) == 0


@given(st.lists(WORDS, unique=True))
def test_order_is_that_of_the_code_points(words):
    order = Vocabulary(words).order()
    assert order.dtype == np.int32
    assert [words[code] for code in order] == sorted(words)


def test_order_of_words_that_begin_alike():
    words = [
        "same start z",
        "same start",
        "",
        "same start a",
        "same sta",
        "same\0",
        "same",
        "s\0",
        "s",
    ]
    order = Vocabulary(words).order()
    assert [words[code] for code in order] == sorted(words)


@given(st.lists(WORDS, unique=True))
def test_buffers_give_the_words_back(words):
    data, offsets = Vocabulary(words).buffers()
    assert (data.dtype, offsets.dtype) == (np.uint8, np.int64)
    assert [
        data[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in pairwise(offsets)
    ] == words
    again = Vocabulary.from_buffers(data, offsets)
    assert again.words() == words
    assert again.add("another word of more than twenty letters") == len(words)
    assert again.find_all(words).tolist() == list(range(len(words)))
    # As Arrow keeps a slice: 32 bits, and bytes before and after.
    arrow = pa.array(["before", *words, "after"] if all(map(encodable, words)) else []).slice(1)
    if len(arrow):
        _, offsets, data = arrow.slice(0, len(words)).buffers()
        offsets = np.frombuffer(offsets, np.int32)[1 : len(words) + 2]
        assert Vocabulary.from_buffers(np.frombuffer(data, np.uint8), offsets).words() == words


def encodable(word):
    return not any("\ud800" <= c <= "\udfff" for c in word)


def test_from_buffers_refuses_what_are_no_words():
    data = np.frombuffer("abcé".encode(), np.uint8)
    for offsets in ([0, 6], [0, 3, 2], [-1, 2]):
        with pytest.raises(ValueError, match=r"Word \d is not inside the data of 5 bytes"):
            Vocabulary.from_buffers(data, np.array(offsets))
    with pytest.raises(ValueError, match="Word 1 is no UTF-8"):
        Vocabulary.from_buffers(data, np.array([0, 3, 4, 5]))
    with pytest.raises(ValueError, match="The word 'é' is there twice"):
        Vocabulary.from_buffers(np.tile(data[3:], 2), np.array([0, 2, 4]))
    with pytest.raises(TypeError, match="Cannot cast"):
        Vocabulary.from_buffers(data, np.array([0.0, 5.0]))
    assert len(Vocabulary.from_buffers(data, np.array([], np.int64))) == 0
    assert len(Vocabulary.from_buffers(data, np.array([3]))) == 0


@given(st.lists(WORDS), st.lists(WORDS))
def test_find_all_is_find_for_each(words, others):
    vocabulary = Vocabulary(words)
    codes = vocabulary.find_all(words + others)
    assert codes.dtype == np.int32
    assert codes.tolist() == [vocabulary.find(word) for word in words + others]


def test_find_all_refuses_what_is_no_word():
    for odd in (None, b"a", 1):
        with pytest.raises(TypeError, match="A word is a str, not"):
            Vocabulary(["a"]).find_all(["a", odd])
