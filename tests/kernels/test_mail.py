"""The kernels of mail against patterns that say the same, on odd messages, pages and links."""

import numpy as np
import pytest

from priory.kernels.markup import read_attributes, read_page
from priory.kernels.messages import cut_addresses, cut_links, read_header
from priory.kernels.telling import most_telling
from priory.kernels.text import Splitter
from priory.text.markup import _CLOSE, _TAGS, _read_attributes, _unescape

from .fuzz import check_mail, random_mail
from .mail_twins import telling_twin


def page(html):
    texts, links, hidden = read_page(html, _TAGS, _CLOSE, _read_attributes, _unescape)
    return "".join(texts), links, hidden


@pytest.mark.parametrize("seed", range(10))
def test_random_mail_is_read_as_the_twins_read_it(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        check_mail(random_mail(rng))


def test_pages():
    assert page("a <b>b</b>&amp;<p>c") == ("a b& c", [], [])
    assert page('<i title=">" style="color:#fff">x</i>y') == (" > y", [], ["colour"])
    assert page('x <a b="y>z') == ("x z", [], [])  # no quote ends: they count for nothing
    assert page("<") == ("<", [], [])
    assert page("1 < 2 </> 3 > 2") == ("1 < 2  3 > 2", [], [])


def test_two_hundred_colours_are_remembered():
    many = "<font color=red>" * 300 + "x" + "</font>" * 300 + '<b style="color:white">y</b>'
    assert page(many) == ("x", [], ["colour"])


def test_attributes():
    names = frozenset(["a", "b"])
    assert read_attributes(' A = "1 2" b=\'3\' c=4 a b=5"', names) == [
        ("a", "1 2"), ("b", "3"), ("a", ""), ("b", '5"'),
    ]  # fmt: skip
    assert read_attributes('a="', names) == [("a", "")]


def test_header():
    data = b"A: 1\n 2\nBB : 3\nlonger: 4\nC:" + b"5" * 9 + b"\n\nbody: x"
    fields = [("a", b" 1 2"), ("bb", b" 3"), ("c", b"55555")]
    assert read_header(data, 5, 5) == (fields, data.index(b"\nbody"))


def test_links():
    assert cut_links("see http://a.example/b, www.c.example or d@e.example!") == (
        "see     or  !",
        [(False, "http://a.example/b,"), (False, "www.c.example"), (True, "d@e.example")],
    )
    assert cut_links("a@b+c@d") == ("  ", [(True, "a@b"), (True, "+c@d")])
    assert cut_addresses("a@b+c@d") == (" +c@d", ["a@b"])
    assert cut_links("xhttp://a @ b@ www. ://") == ("xhttp://a @ b@ www. ://", [])


@pytest.mark.parametrize("seed", range(20))
def test_most_telling_words(seed):
    rng = np.random.default_rng(seed)
    n, V = int(rng.integers(0, 9)), int(rng.integers(1, 40))
    indptr = np.cumsum([0, *rng.integers(0, 30, n)])
    codes = rng.integers(-1, V, indptr[-1] + 3).astype(np.int32)
    evidence = rng.integers(-3, 4, V) / 2  # with ties and zeros
    group, most = rng.integers(0, 4, V), int(rng.integers(1, 9))
    for a, b in zip(
        most_telling(indptr, codes, evidence, group, most),
        telling_twin(indptr, codes, evidence, group, most),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_what_does_not_fit_is_refused():
    evidence, group = np.ones(2), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="Row 0 is not inside the 1 codes"):
        most_telling(np.array([0, 2]), np.zeros(1, np.int32), evidence, group, 1)
    with pytest.raises(ValueError, match="code 2 is none of them"):
        most_telling(np.array([0, 1]), np.array([2], np.int32), evidence, group, 1)
    with pytest.raises(ValueError, match="group must be from 0 to 3, not 4"):
        most_telling(np.array([0, 1]), np.zeros(1, np.int32), evidence, group + 4, 1)
    with pytest.raises(ValueError, match="group that of evidence"):
        most_telling(np.array([0, 1]), np.zeros(1, np.int32), evidence, group[:1], 1)


@pytest.mark.parametrize(
    "options", [{}, {"unit": "sklearn"}, {"symbols": True}, {"ngrams": (1, 2)}]
)
def test_lines_are_words(options):
    splitter = Splitter(**options)
    for text in ("", "!", "To be, or NOT to be " * 99, "naïve 日本 x", "a\nb", "$$$$ x1_y"):
        for tag in ("", "url:"):
            expected = [tag + word for word in splitter.split(text)]
            assert splitter.split_lines(text, tag.encode()) == "\n".join(expected)
