"""Random bytes and random texts through the text kernels, with every option.

`make fuzz` runs it on kernels built with AddressSanitizer and UndefinedBehaviorSanitizer; whatever
they find ends the run. A few hundred strings are among the tests.
"""

import sys
import time
from collections import Counter
from functools import cache
from itertools import product

import numpy as np

from priory.kernels.markup import read_attributes, read_page
from priory.kernels.messages import cut_addresses, cut_links, read_header
from priory.kernels.pairs import add_pairs, subtract_pairs
from priory.kernels.text import Splitter
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.word_scores import score_words
from priory.kernels.words import count_matrix, count_words
from priory.text.markup import _CLOSE, _TAGS, _TELLING, _read_attributes, _unescape

from .mail_twins import addresses_twin, attributes_twin, header_twin, links_twin, page_twin
from .texts import NASTY, analyzer, decoded, parted, random_bytes, utf8
from .twins import assert_counts, random_scores, scores_twin

OPTIONS = [
    {
        "unit": unit,
        "lowercase": lowercase,
        "ngrams": ngrams,
        "stop_words": stop_words,
        "symbols": symbols,
    }
    for unit, lowercase, ngrams, stop_words, symbols in product(
        ["word", "sklearn", "char", "char_wb", "given"],
        [True, False],
        [(1, 1), (1, 2), (2, 3), (3, 7), (255, 255)],
        [None, ("ab", "the", "日", "日本", "ας")],
        [False, True],
    )
    if (stop_words is None or unit in ("word", "sklearn", "given"))
    and (not symbols or unit == "word")
]


@cache
def twin(unit, lowercase, ngrams, stop_words, symbols):
    """Return what splits bytes as a splitter should."""
    split = analyzer(unit, lowercase, ngrams, stop_words, symbols)
    if unit == "given":
        return lambda data: split(parted(data))
    return lambda data: split(decoded(data))


# ---- strings ------------------------------------------------------------------------------------


def any_bytes(rng):
    return rng.bytes(int(rng.integers(0, 60)))


def code_points(rng):
    high = rng.choice([0x80, 0x250, 0x400, 0x3000, 0xE000, 0x110000])
    return utf8("".join(map(chr, rng.integers(0, high, rng.integers(0, 40)))))


def cut(rng):
    text = code_points(rng) + utf8(NASTY[rng.integers(len(NASTY))][:100])
    a, b = sorted(rng.integers(0, len(text) + 1, 2))
    return text[a:b]


def marked(rng):
    """Tokens, and bytes that are no UTF-8 between them."""
    tokens = [b"ab", b"the", utf8("日本"), utf8("ΑΣ"), b"", b" ", utf8("İ"), b"x y", utf8("\ud800")]
    return b"\xff".join(tokens[i] for i in rng.integers(0, len(tokens), rng.integers(0, 40)))


def scripts(rng):
    """Letters with and without spaces, with marks, format characters and symbols among them."""
    letters = "aB 日本のカ\u30fcไท\u0e33น้हि\u094dน\u0301\xad\u200d\u200b\u202f!!$👍🏽²ΣİK\u023a'"
    return utf8("".join(letters[i] for i in rng.integers(0, len(letters), rng.integers(0, 400))))


def pathological(rng):
    unit = [
        b"a",
        b"ab ",
        b" ",
        b"\n ",
        b"\xff",
        b"\xc3",
        b"\xe2\x82",
        utf8("Ⱥ"),
        utf8("İ "),
        utf8("Σ"),
    ]
    text = b"".join(unit[i] * int(rng.integers(1, 300)) for i in rng.integers(0, len(unit), 3))
    return text + utf8(NASTY[rng.integers(len(NASTY))][:200])


KINDS = (any_bytes, random_bytes, code_points, cut, marked, scripts, pathological)


# ---- one batch ----------------------------------------------------------------------------------


def check_batch(rng, strings, options):
    """Send strings through every kernel; AssertionError where one is not like its twin."""
    splitter = Splitter(**options)
    split = twin(**options)
    expected = [split(text) for text in strings]
    for text, words in zip(strings, expected, strict=True):
        found = splitter.split(text)
        assert Counter(found) == Counter(words), (text, options)

    n, K = len(strings), 3
    data = np.frombuffer(b"".join(strings), np.uint8).copy()
    offsets = np.cumsum([0, *map(len, strings)])
    missing = rng.random(n) < 0.1
    y = rng.integers(-1, K, n).astype(np.int32)
    weight = rng.integers(1, 9, n) / 4
    documents = [None if gone else words for gone, words in zip(missing, expected, strict=True)]

    vocabulary = Vocabulary()
    counts = count_words(data, offsets, missing, y, weight, vocabulary, K, splitter)
    assert_counts(counts, vocabulary, documents, y, weight)
    half = np.arange(n) < n // 2
    parts = [
        count_words(data, offsets, missing, np.where(part, y, -1), weight, vocabulary, K, splitter)
        for part in (half, ~half)
    ]
    total = add_pairs(parts[0].pairs, parts[1].pairs)
    for a, b in zip(total[:5], counts.pairs, strict=False):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(subtract_pairs(total, parts[1].pairs)[:5], parts[0].pairs, strict=False):
        np.testing.assert_array_equal(a, b)

    words = vocabulary.words()
    some = vocabulary.take(vocabulary.order()[::-1][: len(words) - len(words) // 4])
    some = Vocabulary.from_buffers(*some.buffers())
    assert some.words() == sorted(words, reverse=True)[: len(some)]
    codes = {word: i for i, word in enumerate(some.words())}
    indptr, indices, tf = count_matrix(data, offsets, missing, some, splitter)
    X = np.zeros((n, len(some)))
    for i, words in enumerate(documents):
        for word, times in Counter(words or ()).items():
            if word in codes:
                X[i, codes[word]] = times
    rows = np.repeat(np.arange(n), np.diff(indptr))
    matrix = np.zeros_like(X)
    matrix[rows, indices] = tf
    np.testing.assert_array_equal(matrix, X)
    assert len(tf) == (X > 0).sum()
    for tf in ("count", "binary", "log"):
        scores = random_scores(rng, max(len(some) - 2, 0), K, zero=bool(rng.integers(2)))
        out = np.zeros((n, K))
        score_words(data, offsets, missing, some, scores, out, tf, splitter)
        np.testing.assert_allclose(out, scores_twin(X, scores, tf), rtol=1e-10, atol=1e-9)


# ---- mail ---------------------------------------------------------------------------------------

MAIL = [
    *(
        "<",
        ">",
        "</",
        "/>",
        "<!--",
        "-->",
        "<!",
        "<p>",
        "<b ",
        "</b>",
        "<font ",
        "</font>",
        "<body ",
    ),
    *(
        "<script>",
        "</SCRIPT >",
        "<style",
        "<br/>",
        "<img ",
        "=",
        '="',
        "'",
        '"',
        "= '",
        "&amp;",
        "&",
    ),
    *("style=", '"display:none"', "'color:#fff'", "bgcolor=black", "color=", "hidden", "href=x"),
    *(
        "http://",
        "HTTPS://",
        "ftp://",
        "httpſ://",
        "://",
        "www.",
        "WWW.",
        "Www.",
        "wWw.",
        "@",
        "a@b.c",
    ),
    *(
        "a",
        "xy",
        "Z9",
        "_",
        ".",
        "+",
        "%",
        "-",
        "é",
        "ж",
        "日",
        "\u200b",
        "\xa0",
        "\x1e",
        " ",
        "\t",
    ),
    *("\n", "\n ", "\n\t", ":", "Subject: x", "To :", "\x7f", "\ud800", "\U0001f600"),
]


def random_mail(rng):
    """Put pieces of headers, pages and links together at random."""
    return "".join(MAIL[i] for i in rng.integers(0, len(MAIL), rng.integers(0, 60)))


def check_mail(text):
    """Send a text through the kernels of mail; AssertionError where one is not like its twin."""
    texts, links, hidden = read_page(text, _TAGS, _CLOSE, _read_attributes, _unescape)
    assert ("".join(texts), links, hidden) == page_twin(text), text
    assert read_attributes(text, _TELLING) == attributes_twin(text, _TELLING), text
    assert cut_links(text) == links_twin(text), text
    assert cut_addresses(text) == addresses_twin(text), text
    data = utf8(text)
    for longest in (1, 7, 100):
        assert read_header(data, longest, longest) == header_twin(data, longest, longest), text


def run(strings, seed=0):
    """Check so many random strings; return how many there were of each kind, and their bytes."""
    rng, done, size = np.random.default_rng(seed), Counter(), 0
    batches = max(strings // 50, len(OPTIONS))
    for batch in range(batches):
        kinds = [KINDS[i] for i in rng.integers(0, len(KINDS), -(-strings // batches))]
        texts = [kind(rng) for kind in kinds]
        check_batch(rng, texts, OPTIONS[batch % len(OPTIONS)])
        for text in texts:
            check_mail(decoded(text))
            check_mail(random_mail(rng))
        done.update(kind.__name__ for kind in kinds)
        size += sum(map(len, texts))
    return done, size


if __name__ == "__main__":
    start = time.perf_counter()
    done, size = run(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{done.total()} strings of {size / 1e6:.1f} MB, with {len(OPTIONS)} sets of options:")
    for kind, n in sorted(done.items()):
        print(f"  {n:7} {kind}")
    print(f"All as their twins say; {time.perf_counter() - start:.0f} s.")
