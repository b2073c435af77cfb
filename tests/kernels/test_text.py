import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.text import character_tables, encode_texts, split_words

from .texts import NASTY, TEXTS, analyze, decoded, load, random_bytes, utf8


def test_tables_are_those_of_python_for_every_code_point():
    word, lower, special = character_tables()
    is_word = re.compile(r"\w")
    for c in range(0x110000):
        lowered = chr(c).lower()
        if special[c]:
            continue
        assert lowered == chr(lower[c]), hex(c)
        assert lowered.lower() == lowered
        assert word[c] == bool(is_word.match(lowered)), hex(c)
        # No neighbour changes it: after a letter, before one, between two.
        for before, after in (("A", ""), ("", "a"), ("a'", "'a")):
            assert (before + chr(c) + after).lower() == before.lower() + lowered + after
    assert np.flatnonzero(special).tolist() == [0x130, 0x3A3]


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_words_of_nasty_texts(text):
    assert split_words(text) == analyze(text)
    assert split_words(utf8(text)) == analyze(text)


@given(TEXTS)
def test_words_are_those_of_scikit_learn(text):
    assert split_words(text) == analyze(text)


def test_characters_at_every_place_of_words_of_every_length():
    for odd in ["", *"éÉ日😀ΣİȺ\u0301-@[`{/:"]:
        texts = [f"{'aZ_09'[n % 5] * n}{odd}{'Qz' * m}" for n in range(20) for m in range(6)]
        texts += [text + " " * 9 for text in texts]
        for text in texts:
            assert split_words(text) == analyze(text), text
    for c in map(chr, range(256)):
        for text in (f"ab{c}cd ef{c}", f"{c}abcdefgh{c}ijkl{c}{c}", c * 30):
            assert split_words(text) == analyze(text), text


@given(st.binary())
def test_any_bytes_are_split_as_their_text(data):
    assert split_words(data) == analyze(decoded(data))


def test_random_bytes_never_hurt():
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        text = random_bytes(rng)
        assert split_words(text) == analyze(decoded(text)), text


@pytest.mark.parametrize("name", ["sms_spam.csv", "ling_spam.csv.gz"])
def test_words_of_real_texts(name):
    assert all(split_words(text) == analyze(text) for text in load(name)[0])


# ---- Python strings ------------------------------------------------------------------------------


@given(st.lists(st.none() | st.text(st.characters())))
def test_encode_texts(texts):
    for given_texts in (texts, np.array([*texts, None], dtype=object)[:-1]):
        data, offsets, missing = encode_texts(given_texts)
        assert (data.dtype, offsets.dtype, missing.dtype) == (np.uint8, np.int64, np.bool_)
        assert missing.tolist() == [text is None for text in texts]
        assert [data[a:b].tobytes() for a, b in pairwise(offsets)] == [
            utf8(text or "") for text in texts
        ]


def test_encode_texts_knows_gaps_and_refuses_the_rest():
    class Name(str):
        def encode(self, *_):
            return b"wrong"

    values = [None, float("nan"), pd.NA, np.float32("nan"), np.str_("é"), Name("é"), Name("e")]
    data, _, missing = encode_texts(values)
    assert missing.tolist() == [True] * 4 + [False] * 3
    assert data.tobytes().decode() == "éée"
    for odd in (1, b"bytes", ["x"], 0.5):
        with pytest.raises(TypeError) as caught:
            encode_texts(["a", None, odd])
        assert caught.value.args == (2,)
