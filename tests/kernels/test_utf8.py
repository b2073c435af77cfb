"""Python strings as UTF-8: those of every width are encoded as Python itself encodes them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.parallel import at_most
from priory.kernels.utf8 import borrow_texts, encode_texts
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import count_words

WIDTHS = [0x7F, 0xFF, 0x7FF, 0xFFFF, 0x10FFFF]
"""The last code points of one to four bytes, and of a string with one byte a character."""


def in_utf8(text):
    return text.encode("utf-8", "surrogatepass")


def cut(data, offsets):
    return [data[a:b].tobytes() for a, b in pairwise(offsets)]


ANY = st.sampled_from(WIDTHS).flatmap(
    lambda last: st.text(st.integers(0, last).map(chr), max_size=40)
)


@given(st.lists(ANY))
def test_strings_are_encoded_as_python_encodes_them(texts):
    data, offsets, missing = encode_texts(texts)
    assert cut(data, offsets) == [in_utf8(text) for text in texts]
    assert not missing.any()


@pytest.mark.parametrize("last", WIDTHS)
def test_threads_encode_their_shares(last):
    rng = np.random.default_rng(last)
    sizes = rng.integers(0, 400, 6_000)
    texts = ["".join(map(chr, rng.integers(last // 2, last + 1, size))) for size in sizes]
    texts[17], texts[3_000] = None, "plain"
    with at_most(3):
        data, offsets, missing = encode_texts(texts)
    assert cut(data, offsets) == [in_utf8(text or "") for text in texts]
    assert missing.nonzero()[0].tolist() == [17]


class Name(str):
    """A str of somebody's own."""

    __slots__ = ()


def test_words_are_read_from_strings_of_every_width():
    texts = ["naïve été", "plain", None, "ъы", "😀 ok", Name("naïve plain"), Name("plain")]
    vocabulary = Vocabulary()
    count_words(*borrow_texts(texts), np.zeros(len(texts), np.int32), None, vocabulary)
    assert set(vocabulary.words()) == {"naïve", "été", "plain", "ъы", "ok"}
