import pickle
import re
import runpy
import unicodedata
from collections import Counter
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.text import UNICODE, Splitter, character_tables
from priory.kernels.utf8 import encode_texts, encode_tokens
from priory.kernels.vocabulary import Vocabulary

from .texts import (
    NASTY,
    OPTIONS,
    TEXTS,
    analyze,
    analyzer,
    decoded,
    load,
    parted,
    random_bytes,
    utf8,
)

split_words = Splitter().split
SPLITTERS = {unit: (Splitter(unit).split, analyzer(unit)) for unit in ("word", "sklearn")}
each_unit = pytest.mark.parametrize("unit", SPLITTERS)


def test_tables_are_those_of_python_for_every_code_point():
    lower, word, special, cased, space, kind = (table.tolist() for table in character_tables())
    is_word, is_space = re.compile(r"\w"), re.compile(r"\s")
    for c in range(0x110000):
        lowered = chr(c).lower()
        assert cased[c] == bool(is_word.match(chr(c))), hex(c)
        assert space[c] == bool(is_space.match(chr(c))) == chr(c).isspace(), hex(c)
        if special[c]:
            continue
        assert lowered == chr(lower[c]), hex(c)
        assert lowered.lower() == lowered
        assert word[c] == bool(is_word.match(lowered)), hex(c)
        assert kind[c] == kind[lower[c]], hex(c)
        if lowered != chr(c):
            # What the room for a text's words is reckoned by.
            assert 2 * len(utf8(lowered)) <= 3 * len(utf8(chr(c))), hex(c)
        # No neighbour changes it: after a letter, before one, between two.
        places = "a{0} {0}a a'{0}'a"
        assert places.format(chr(c)).lower() == places.format(lowered), hex(c)
    assert np.flatnonzero(special).tolist() == [0x130, 0x3A3]


def test_kinds_are_those_of_unicode_for_every_code_point():
    """The header is what its script writes, with the version of regex that it names."""
    root = Path(__file__).parents[2]
    written = (root / "src/priory/kernels/word_kinds.h").read_text("utf-8")
    name = re.search(r"\(regex (\S+)\)", written)[1]
    if name != version("regex"):
        pytest.skip(f"the table is of regex {name}, and {version('regex')} is here")
    script = runpy.run_path(root / "scripts" / "word_kinds.py")
    assert script["header"]() == written
    assert script["unicode_version"]() == UNICODE
    assert character_tables()[-1].tolist() == script["kinds"]()


def test_every_code_point_is_split_as_unicode_says():
    """By itself, within a word, after a letter of a script without spaces, and twice in a row."""
    # Of ideographs, syllables of Hangul and what is not assigned, one of 61 will do: their kinds
    # are those of Unicode, as the test above says.
    every = [
        c
        for c in range(0x110000)
        if c % 61 == 0
        or (c < 0x20000 and not 0x3400 <= c < 0xD7A4 and unicodedata.category(chr(c)) != "Cn")
    ]
    for first in range(0, len(every), 100):
        some = map(chr, every[first : first + 100])
        text = " ".join(f"{c} a{c}b 日{c}本 {c}{c}" for c in some)
        assert split_words(text) == analyze(text), hex(every[first])


SCRIPTS = {
    "Latin": "aàbcdéfñoßžÅŁİ'’.-",
    "Greek": "αβγάδΣσςΩ\u0301·",
    "Cyrillic": "абвгдёйЖЯ\u0301'",
    "Armenian": "աբգդեԱՖ՛՚և",
    "Hebrew": "אבגדהוזש\u05b8\u05b9\u05c1\"'״׳",
    "Arabic": "ابتثجحخسعيى\u064b\u0651\u0640٣٫٬،",
    "Persian": "آپچژگکی\u200c\u200dمخواهم",
    "Devanagari": "अकखगतनमरसह\u093e\u093f\u0940\u094d\u0902\u093c।१\u200d",
    "Bengali": "অকখগতনমর\u09be\u09bf\u09cd\u09c7২",
    "Tamil": "அகசஞடதநபம\u0bbe\u0bbf\u0bcd௩",
    "Telugu": "అకఖగచతనమ\u0c3e\u0c3f\u0c4d",
    "Sinhala": "අකගචතනම\u0dcf\u0dca\u0dd2\u200d",
    "Ethiopic": "አበገደሀለመ፡።፩\u135f",
    "Georgian": "აბგდევზᲐᲑ",
    "Hangul": "한국어가나다\u1100\u1161\u11a8ㄱ",
    "Thai": "กขคงเแไทยนล\u0e31\u0e33\u0e34\u0e48\u0e49ๆ๑",
    "Lao": "ກຂຄງເແໄລາວ\u0eb1\u0eb3\u0eb4\u0ec8",
    "Khmer": "កខគឃងភាសា\u17d2\u17b6\u17b7\u17c6\u200b។",
    "Burmese": "ကခဂငမြန်မာ\u102b\u1031\u1039\u103a\u103c။",
    "Chinese": "的一是不了人我在有他这中\u3400\U00020000，。3a",
    "Japanese": "日本語のひらがなカタカナーｶﾀｶﾅﾞ\u3099々〆、。",
    "Tibetan": "ཀཁགངབོད\u0f0b\u0f72\u0f7c།",
    "symbols": "😀👍🏽❤\ufe0f👩\u200d👧🇩🇪$€!?…²½①ⅧⒶ\u00ad\u200e\u2060_‿",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_random_strings_of_scripts(script):
    rng = np.random.default_rng(len(script))
    letters = np.array([*SCRIPTS[script], *" \n.aZ9"])
    texts = ["".join(rng.choice(letters, rng.integers(1, 150))) for _ in range(150)]
    for options in (
        {},
        {"lowercase": False},
        {"symbols": True},
        {"ngrams": (1, 3)},
        {"stop_words": [*letters[:5]]},
    ):
        splitter, expected = Splitter(**options), analyzer(**options)
        for text in texts:
            assert splitter.split(text) == expected(text), (text, options)


def test_words_of_every_script_are_whole():
    found = split_words("हिन्दी में नमस्ते, العَرَبِيَّة שָׁלוֹם можно l’été co\xadop")
    assert found == ["हिन्दी", "में", "नमस्ते", "العَرَبِيَّة", "שָׁלוֹם", "можно", "l", "été", "coop"]
    assert split_words("ภาษา น้ำ") == ["ภ", "า", "ภา", "ษ", "าษ", "า", "ษา", "น้ำ"]
    assert Splitter(ngrams=(1, 2)).split("日本 go") == ["日", "本", "日本", "go", "本 go"]
    assert Splitter(stop_words=["の"]).split("本の日") == ["本", "日"]
    assert Splitter(stop_words=["日本"]).split("日本人") == ["日", "本", "人", "本人"]


@each_unit
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_words_of_nasty_texts(text, unit):
    split, expected = SPLITTERS[unit]
    assert split(text) == expected(text)
    assert split(utf8(text)) == expected(text)


@pytest.mark.parametrize(
    "piece", ["x", "xy", "Ab9_", "é", "ÉÀ", "日本", "İx", "Σ", "a\u0301b", "\ud800"]
)
@pytest.mark.parametrize("lowercase", [True, False])
@each_unit
def test_words_lie_across_the_bytes_that_are_read_together(piece, lowercase, unit):
    splitter, expected = Splitter(unit, lowercase), analyzer(unit, lowercase)
    for filler in (" ", "q", "é", "no "):
        for at in range(50, 140):
            text = (filler * 140)[:at] + piece + " É tail"
            assert splitter.split(text) == expected(text), (filler, at)


@each_unit
@given(text=TEXTS)
def test_words_are_those_of_unicode_or_scikit_learn(unit, text):
    split, expected = SPLITTERS[unit]
    assert split(text) == expected(text)


@each_unit
def test_characters_at_every_place_of_words_of_every_length(unit):
    split_words, analyze = SPLITTERS[unit]
    for odd in ["", *"éÉ日😀ΣİȺ\u0301-@[`{/:"]:
        texts = [f"{'aZ_09'[n % 5] * n}{odd}{'Qz' * m}" for n in range(20) for m in range(6)]
        texts += [text + " " * 9 for text in texts]
        for text in texts:
            assert split_words(text) == analyze(text), text
    for c in map(chr, range(256)):
        for text in (f"ab{c}cd ef{c}", f"{c}abcdefgh{c}ijkl{c}{c}", c * 30):
            assert split_words(text) == analyze(text), text


@each_unit
@given(data=st.binary())
def test_any_bytes_are_split_as_their_text(unit, data):
    split, expected = SPLITTERS[unit]
    assert split(data) == expected(decoded(data))


@each_unit
def test_random_bytes_never_hurt(unit):
    split, expected = SPLITTERS[unit]
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        text = random_bytes(rng)
        assert split(text) == expected(decoded(text)), text


@each_unit
@pytest.mark.parametrize("name", ["sms_spam.csv", "ling_spam.csv.gz"])
def test_words_of_real_texts(name, unit):
    split, expected = SPLITTERS[unit]
    assert all(split(text) == expected(text) for text in load(name)[0])


# ---- options ------------------------------------------------------------------------------------

SPACED = st.text(st.sampled_from("aB cΣ\n\t\x85\x1c\u3000\u200b日😀İ\ud800"))


@given(TEXTS | SPACED, OPTIONS)
def test_every_option_splits_as_its_twin_does(text, options):
    assert Counter(Splitter(**options).split(text)) == Counter(analyzer(**options)(text))


@pytest.mark.parametrize("unit", ["word", "sklearn", "char", "char_wb"])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 3), (2, 2), (3, 5), (7, 7)])
def test_options_on_nasty_texts(unit, lowercase, ngrams):
    options = {"unit": unit, "lowercase": lowercase, "ngrams": ngrams}
    splitter, expected = Splitter(**options), analyzer(**options)
    for text in NASTY:
        short = text if len(text) < 10_000 else text[:3000]
        assert Counter(splitter.split(short)) == Counter(expected(short)), short


@given(st.binary(), OPTIONS)
def test_options_split_any_bytes_as_their_text(data, options):
    expected = analyzer(**options)(decoded(data))
    assert Counter(Splitter(**options).split(data)) == Counter(expected)


def test_ngrams_reach_over_blocks_of_words_and_very_long_ones():
    words = [f"w{i}" for i in range(3000)]
    words[250:255] = ["x" * 2000] * 5
    for ngrams, n in (((1, 2), 3000), ((5, 5), 3000), ((1, 255), 270), ((255, 255), 500)):
        chosen = words[:n]
        for stop_words in (None, ["w7", "w256"]):
            options = {"ngrams": ngrams, "stop_words": stop_words}
            found = Splitter(**options).split(" ".join(chosen))
            assert Counter(found) == Counter(analyzer(**options)(" ".join(chosen)))


def test_ngrams_come_in_the_order_of_their_ends():
    assert Splitter(ngrams=(1, 3), stop_words=["of"]).split("one of two three four") == [
        *("one", "two", "one two", "three", "two three", "one two three"),
        *("four", "three four", "two three four"),
    ]
    assert Splitter("char", ngrams=(1, 2)).split("aé日") == ["a", "é", "aé", "日", "é日"]
    assert Splitter("char_wb", ngrams=(3, 4)).split("a  bcd") == [
        *(" a ", " bc", "bcd", " bcd", "cd ", "bcd "),
    ]
    assert Splitter("char_wb", ngrams=(9, 9)).split("a bc") == [" a ", " bc "]


TOKENS = st.lists(st.text(st.characters(), max_size=8))


@given(TOKENS, st.integers(1, 3), st.integers(0, 2), st.booleans(), st.data())
def test_given_words_are_taken_as_they_are(tokens, low, more, lowercase, data):
    stop_words = data.draw(st.none() | st.lists(st.sampled_from(tokens))) if tokens else None
    encoded, _, _ = encode_tokens([tokens])
    splitter = Splitter("given", lowercase, (low, low + more), stop_words)
    expected = analyzer("given", ngrams=(low, low + more), stop_words=stop_words)
    assert Counter(splitter.split(encoded.tobytes())) == Counter(
        expected(list(filter(None, tokens)))
    )


@given(st.binary())
def test_given_words_are_parted_by_bytes_that_are_no_utf8(data):
    assert Splitter("given").split(data) == parted(data)


def test_splitter_is_pickled_and_shared():
    for splitter in (
        Splitter(),
        Splitter("char", False, (2, 3)),
        Splitter(stop_words=["ab"]),
        Splitter(symbols=True),
    ):
        again = pickle.loads(pickle.dumps(splitter))
        for name in ("unit", "lowercase", "ngrams", "stop_words", "symbols"):
            assert getattr(again, name) == getattr(splitter, name)
            with pytest.raises(AttributeError):
                setattr(splitter, name, None)
        assert again.split("ab cd") == splitter.split("ab cd")
    stops = Vocabulary(["ab"])
    splitter = Splitter(stop_words=stops)
    stops.add("cd")
    assert splitter.stop_words == ("ab",)
    assert splitter.split("ab cd") == ["cd"]


def test_splitter_refuses_what_it_cannot_do():
    with pytest.raises(
        ValueError,
        match="unit must be one of 'word', 'sklearn', 'char', 'char_wb', 'given', not 'x'",
    ):
        Splitter("x")
    for ngrams in ((0, 1), (2, 1), (1, 256)):
        with pytest.raises(ValueError, match=r"ngrams must be \(low, high\)"):
            Splitter(ngrams=ngrams)
    with pytest.raises(ValueError, match="stop_words are for words, and the unit is 'char'"):
        Splitter("char", stop_words=["the"])
    with pytest.raises(TypeError, match="not one str: 'english'"):
        Splitter(stop_words="english")
    with pytest.raises(ValueError, match="symbols are for the unit 'word', and the unit is 'char'"):
        Splitter("char", symbols=True)


@pytest.mark.parametrize("name", ["sms_spam.csv", "rt_polarity.csv"])
@pytest.mark.parametrize(
    "unit, ngrams", [("sklearn", (1, 2)), ("word", (1, 2)), ("char", (2, 4)), ("char_wb", (1, 5))]
)
def test_options_on_real_texts(name, unit, ngrams):
    texts = load(name)[0][:1500]
    for lowercase in (False, True):
        options = {"unit": unit, "lowercase": lowercase, "ngrams": ngrams}
        splitter, expected = Splitter(**options), analyzer(**options)
        assert all(Counter(splitter.split(text)) == Counter(expected(text)) for text in texts)


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


@given(st.lists(st.none() | TOKENS))
def test_encode_tokens(documents):
    data, offsets, missing = encode_tokens(
        tuple(tokens) if tokens else tokens for tokens in documents
    )
    assert (data.dtype, offsets.dtype, missing.dtype) == (np.uint8, np.int64, np.bool_)
    assert missing.tolist() == [tokens is None for tokens in documents]
    assert [data[a:b].tobytes() for a, b in pairwise(offsets)] == [
        b"\xff".join(map(utf8, tokens or [])) for tokens in documents
    ]


def test_encode_tokens_knows_gaps_and_refuses_the_rest():
    _, _, missing = encode_tokens([None, float("nan"), pd.NA, [], np.array(["a"]), iter(["b"])])
    assert missing.tolist() == [True] * 3 + [False] * 3
    for odd in ("text", b"bytes", 1, ["a", 2], ["a", None], 0.5):
        with pytest.raises(TypeError) as caught:
            encode_tokens([["a"], None, odd])
        assert caught.value.args == (2,)
