"""How texts are split: options, what is refused, and what a file keeps of it."""

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import (
    CountVectorizer,
    strip_accents_ascii,
    strip_accents_unicode,
)

from priory.base.errors import SchemaError, SettingError
from priory.text import Analyzer, register_analyzer
from priory.text.analyzer import SKLEARN_PATTERN
from priory.text.normalising import IGNORABLE, nfkc, strip_accents

TEXTS = st.text(st.sampled_from("aÀbé Ως日本の𝐀ﬁＷ½\u0301\u200b\xad.'!ℌẞİ"))


@given(TEXTS, st.booleans(), st.sampled_from(["unicode", "ascii"]))
def test_accents_are_stripped_as_scikit_learn_does(text, lowercase, how):
    theirs = CountVectorizer(lowercase=lowercase, strip_accents=how).build_analyzer()
    assert Analyzer("sklearn", lowercase=lowercase, strip_accents=how).split(text) == theirs(text)
    function = {"unicode": strip_accents_unicode, "ascii": strip_accents_ascii}[how]
    assert strip_accents(text, how) == function(text)


@given(TEXTS, st.booleans())
def test_a_pattern_is_that_of_scikit_learn(text, lowercase):
    for pattern in (r"\w+", r"(?u)\b(\w)\w+\b", r"[a-z]+|\d"):
        theirs = CountVectorizer(lowercase=lowercase, token_pattern=pattern, ngram_range=(1, 2))
        ours = Analyzer(lowercase=lowercase, token_pattern=pattern, ngram_range=(1, 2))
        assert sorted(ours.split(text)) == sorted(theirs.build_analyzer()(text))


def test_what_no_reader_sees_is_unicodes():
    every = "".join(map(chr, range(0x110000)))
    ignorable = regex.findall(r"\p{Default_Ignorable_Code_Point}", every)
    assert IGNORABLE.findall(every) == ignorable


@given(st.text())
def test_the_form_is_kept_once_it_is_there(text):
    once = nfkc(text)
    assert nfkc(once) == once or once != once.casefold()  # some letters fold by two steps
    assert nfkc(text, fold=False).isascii() or not text.isascii()


def test_options_before_words():
    assert Analyzer(normalize="nfkc").split("Ｆｒｅｅ\u200bＣａｓｈ ﬁsh") == ["freecash", "fish"]
    assert Analyzer(normalize="nfkc", lowercase=False).split("Ｆｒｅｅ") == ["Free"]
    assert Analyzer(strip_accents="unicode").split("Été déjà") == ["ete", "deja"]
    assert Analyzer("html", token_pattern="[a-z]+").split("<b>Free</b> 1 cash") == ["free", "cash"]
    assert Analyzer(symbols=True).split("FREE!!!!! $$$ :-)") == [
        *("free", "!!!", "$$$", ":", "-", ")"),
    ]
    mail = Analyzer("email", symbols=True, strip_accents="unicode")
    assert mail.split("Subject: Été!!\n\n$ now")[-2:] == ["$", "now"]
    assert "subject:ete" in mail.split("Subject: Été!!\n\n$ now")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strip_accents": "latin"}, "strip_accents must be None or one of 'unicode', 'ascii'"),
        ({"normalize": "NFC"}, "normalize must be None or one of 'nfkc', not 'NFC'"),
        ({"token_pattern": "("}, r"token_pattern must be a regular expression, not '\('"),
        ({"token_pattern": b"a"}, "token_pattern must be a regular expression, not b'a'"),
        ({"token_pattern": "(a)(b)"}, "token_pattern must have one group at most"),
        ({"unit": "char", "token_pattern": "a"}, "token_pattern must be None for 'char'"),
        ({"unit": "sklearn", "symbols": True}, "symbols must be False"),
        ({"symbols": 1}, "symbols must be True or False, not 1"),
        ({"unit": str.split, "normalize": "nfkc"}, "normalize must be left out: the words are"),
        ({"unit": "words"}, "analyzer must be one of 'word', 'sklearn', 'char'"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(SettingError, match=message):
        Analyzer(**options)


@pytest.mark.parametrize(
    "analyzer",
    [
        Analyzer(),
        Analyzer("sklearn", (1, 2), ["the"]),
        Analyzer("html", symbols=True, normalize="nfkc"),
        Analyzer("email", token_pattern=r"\w+", strip_accents="ascii"),
    ],
    ids=str,
)
def test_an_analyzer_is_the_same_again(analyzer):
    assert Analyzer.from_dict(analyzer.to_dict()) == analyzer


def test_stop_words_are_in_the_form_of_the_words():
    stops = ["The", "ÉTÉ", "ｏｎ"]
    assert Analyzer(stop_words=stops).split("The été on THE go") == ["on", "go"]
    folded = Analyzer("html", stop_words=stops, normalize="nfkc", strip_accents="unicode")
    assert folded.split("<p>The été on THE go") == ["go"]
    assert Analyzer.from_dict(folded.to_dict()) == folded
    assert Analyzer(stop_words=stops, lowercase=False).split("The the go") == ["the", "go"]
    assert Analyzer("sklearn", stop_words=stops).split("The go") == ["the", "go"]  # as it does


def test_files_of_the_time_of_scikit_learns_words():
    old = {"ngram_range": [1, 2], "stop_words": None, "lowercase": True, "max_features": None}
    assert Analyzer.from_dict({"unit": "word", **old}) == Analyzer("sklearn", (1, 2))
    assert Analyzer.from_dict({"unit": "char", **old}) == Analyzer("char", (1, 2))
    for unit in ("html", "email"):
        again = Analyzer.from_dict({"unit": unit, **old})
        assert again == Analyzer(unit, (1, 2), token_pattern=SKLEARN_PATTERN)
    assert again.split("Subject: I am\n\nat a bay")[-2:] == ["bay", "at bay"]


@register_analyzer
def letters(text):
    return re.findall(r"[a-z]", text)


def test_a_registered_function_is_found_again():
    again = Analyzer.from_dict(Analyzer(letters).to_dict())
    assert again.unit is letters
    lost = Analyzer.from_dict(Analyzer(str.split).to_dict())
    with pytest.raises(SchemaError, match=r"'str\.split', which is not stored .*register_analyzer"):
        lost.split("a b")
    with pytest.raises(SettingError, match="must have a name of its own"):
        register_analyzer(lambda text: [text])
    with pytest.raises(SettingError, match="must be a function, not 3"):
        register_analyzer(3)
