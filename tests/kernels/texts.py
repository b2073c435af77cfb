"""Texts that are hard to split, and what scikit-learn finds in them."""

import re
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import regex
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

DATA = Path(__file__).parents[3] / "shared" / "data"


def analyzer(unit="word", lowercase=True, ngrams=(1, 1), stop_words=None, symbols=False):
    """Return what splits a text: as Unicode does, or scikit-learn; "given": a list of words."""
    if unit == "word":
        return partial(unicode_ngrams, lowercase, ngrams, stop_words, symbols)
    options = {
        "ngram_range": ngrams,
        "stop_words": None if stop_words is None else list(stop_words),
    }
    if unit == "given":
        return CountVectorizer(
            tokenizer=as_given, preprocessor=lambda words: words, token_pattern=None, **options
        ).build_analyzer()
    if unit != "sklearn":
        del options["stop_words"]
    unit = "word" if unit == "sklearn" else unit
    return CountVectorizer(analyzer=unit, lowercase=lowercase, **options).build_analyzer()


def as_given(words):
    return [words] if isinstance(words, str) else list(words)  # stop words come one by one


# Unicode's own word boundaries are those of the package regex. What differs is meant to:
# punctuation parts words although Unicode joins "can't" and "3.14" (UAX 29's rules 6, 7, 11 and
# 12, and U+202F, which French has before "!"); what has no letter, digit or connector is no word;
# Katakana, which Unicode joins, is read like the other scripts without spaces, each character and
# each two of them; format characters are left out; and two vowel signs of Thai and Lao, U+0E33 and
# U+0EB3, belong to the character before.
BOUNDARY = regex.compile(r"\b", flags=regex.V1 | regex.WORD)
KINDS = {  # the first that fits
    "w": r"[\p{WB=ALetter}\p{WB=Hebrew_Letter}\p{WB=Numeric}\p{WB=ExtendNumLet}--[\u202F]]",
    "m": r"[\p{WB=Extend}\p{WB=ZWJ}\u0E33\u0EB3]",
    "f": r"\p{WB=Format}",
    "a": r"[\p{L}\p{N}\p{WB=Katakana}]",
    "s": r"[\p{P}\p{S}]",
    "o": r"[\s\S]",
}
WORDS = re.compile(r"w[wmf]*|(am*)|(s)")
MARKS_TO_BOUNDARIES = {0x0E33: 0x0301, 0x0EB3: 0x0301}


@cache
def character_kinds():
    """Return the kind of every code point, a letter each."""
    found = np.zeros(0x110000, dtype=np.uint8)
    every = "".join(map(chr, range(0x110000)))
    for kind, pattern in reversed(KINDS.items()):
        for run in regex.finditer(f"(?:{pattern})+", every, flags=regex.V1):
            found[run.start() : run.end()] = ord(kind)
    return found


def unicode_words(text, lowercase=True, symbols=False):
    """Return the words of a text, each with whether it is glued to the one before."""
    found, at, alone_end, symbol_end = [], 0, -1, -1
    text = text.lower() if lowercase else text
    if text.isascii() and not symbols:  # the same, sooner
        return [(word, False) for word in regex.findall(r"\w+", text)]
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = character_kinds()[codes].tobytes().decode("ascii")
    for part in BOUNDARY.split(text.translate(MARKS_TO_BOUNDARIES)):
        at, start = at + len(part), at
        for match in WORDS.finditer(kinds, start, at):
            first, end = match.span()
            if match[2]:
                if symbols:
                    again = first == symbol_end and found[-1][0][0] == text[first]
                    before = found.pop()[0] if again else ""
                    found.append(((before + text[first])[:3], False))
                    symbol_end = end
                continue
            word = text[first:end]
            if "f" in match[0]:
                word = "".join(c for c, k in zip(word, match[0], strict=True) if k != "f")
            found.append((word, bool(match[1]) and first == alone_end))
            alone_end = end if match[1] else -1
    return found


def unicode_ngrams(lowercase, ngrams, stop_words, symbols, text):
    stops, found = set(stop_words or ()), []
    kept, words = [], unicode_words(text, lowercase, symbols)
    for i, (word, glued) in enumerate(words):
        if word not in stops:
            kept.append((word, glued and words[i - 1][0] not in stops))
    for i, (_, glued) in enumerate(kept):
        for n in range(ngrams[0], max(ngrams[1], 2 if glued else 1) + 1):
            if n <= i + 1:
                some = kept[i + 1 - n : i + 1]
                gram = "".join(w if g and j else f" {w}" for j, (w, g) in enumerate(some))[1:]
                if not (n == 2 and glued and gram in stops):
                    found.append(gram)
    return found


analyze = analyzer()
"""The words of a text, as the default finds them."""

NASTY = [
    "",
    " ",
    "a",
    "ab",
    "a b c",
    "I'm 2 b_b __ _ x_ 3D 42 0x2A",
    "\0",
    "ab\0cd\0",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΣΣ ΑΣ. ΑΣ'Α ΑΣ\u0301 ΑΣΑ aΣ Σa",
    "before words Α'Σ after words, A\u0301Σ",
    "İstanbul İİ aİ İ İa İstanbul'da DİYARBAKIR",
    "naïve NAÏVE nai\u0308ve STRASSE straße STRAẞE ẞ",
    "ǅungla ǄUNGLA Ǆ",
    "\u212aelvin 5\u212a \u2126hm \u212bngström",  # shorter in lower case
    "\u023a\u023aB \u023e\u023e",  # longer in lower case
    "日本語のテキスト 中文。日 本",
    "한국어 텍스트",
    "😀😀 a😀b ab😀cd 👩‍👩‍👧‍👦 e\u200dd",
    "\ud800 ab\ud800cd \udfff\ud83d\ude00 Σ\ud800",
    "ПРИВЕТ Мир ё Ё ъЪ",
    "١٢٣ ४५ Ⅷ ½½ ²³ ①②",
    "𐐀𐐁 𐐨𐐩 𝔘𝔫𝔦 𞤀𞤁",
    "a\u0301b\u0301 \u0301\u0301 cafe\u0301",
    "हिन्दी ไทย العربية עברית",
    "\u2028\u2029\x85\xa0\u3000 nbsp\xa0nbsp",
    "\ufeffbom ﬁnd ﬀ",
    "\U0010ffff\U0010ffff ab\U0010ffffcd",
    "x" * 100_000,
    "Ⱥ" * 100_000,
    "Σ" * 1000 + " " + "aΣ" * 1000,
    "word Σ " * 400,  # more words than one block, before and after
    "word " * 1000 + "ΑΣ" + " word" * 1000,
]

TEXTS = st.one_of(
    st.text(),
    st.text(st.characters()),  # surrogates too
    st.text(st.sampled_from("aAbBzZ09__ .'-\0\n")),
    st.text(st.sampled_from("ΣσςΑα'.\u0301 aİiIıß\u0307\xad:")),
    st.text(st.sampled_from("aé\u0301日本😀\u200d\ud800\udc00ȺẞK١Ⅷ½ ")),
    st.lists(st.sampled_from(["The", "the", "cat", "CAT", "ΑΣ", "İ", "x", "日本"])).map(" ".join),
)


STOPS = ["the", "The", "ab", "ας", "日本", "x"]

OPTIONS = st.fixed_dictionaries(
    {
        "unit": st.sampled_from(["word", "sklearn", "char", "char_wb"]),
        "lowercase": st.booleans(),
        "ngrams": st.tuples(st.integers(1, 4), st.integers(0, 5)).map(lambda n: (n[0], sum(n))),
        "stop_words": st.none() | st.lists(st.sampled_from(STOPS), unique=True),
        "symbols": st.booleans(),
    }
).map(
    lambda given: (
        given
        | ({} if given["unit"] in ("word", "sklearn") else {"stop_words": None})
        | ({} if given["unit"] == "word" else {"symbols": False})
    )
)


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


def pieces(data):
    """Return the characters of bytes, with None for each byte that is no UTF-8."""
    found, at = [], 0
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                found.append(data[at : at + size].decode("utf-8", "surrogatepass"))
                break
            except UnicodeDecodeError:
                size = 0
        if size == 0:
            found.append(None)
        at += size or 1
    return found


def decoded(data):
    """Return the text of bytes, with a space for each byte that is no UTF-8."""
    return "".join(" " if piece is None else piece for piece in pieces(data))


def parted(data):
    """Return what is between bytes that are no UTF-8."""
    marked = pieces(data)
    ends = [i for i, piece in enumerate([*marked, None]) if piece is None]
    words = ("".join(marked[a + 1 : b]) for a, b in pairwise([-1, *ends]))
    return [word for word in words if word]


LEADS = bytes([0xC2, 0xC4, 0xCE, 0xE0, 0xE4, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xC0, 0xC1, 0xFF])
PIECES = [utf8(c) for c in "aBé_ Σİ日\ud800😀Ⱥ9\0"] + [b"\x80", b"\xa3", b"\xb0", b"\xbf"]


def random_bytes(rng):
    kind = rng.integers(4)
    if kind == 0:
        return rng.bytes(int(rng.integers(0, 40)))
    if kind == 1:  # pieces of UTF-8, whole and broken
        parts = [*PIECES, *(LEADS[i : i + 1] for i in range(len(LEADS)))]
        return b"".join(parts[i] for i in rng.integers(0, len(parts), rng.integers(0, 30)))
    text = b"".join(PIECES[i] for i in rng.integers(0, 13, rng.integers(0, 30)))
    if kind == 2:
        return text
    return text[: rng.integers(0, len(text) + 1)]  # cut inside a character


def zipf_texts(n, length, V, seed=0):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, V + 1)
    words = np.array([f"w{i}" for i in range(V)])
    return [" ".join(row) for row in words[rng.choice(V, (n, length), p=share / share.sum())]]


@cache
def load(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    table = pd.read_csv(path, keep_default_na=False)
    return table["text"].tolist(), pd.factorize(table["target"])[0].astype(np.int32)
