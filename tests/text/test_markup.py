"""HTML is read as a person sees it, in linear time, however broken it is."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.text.markup import html_text, read_html

SIZE = 100_000

HOSTILE = [
    "<", "<>", "< ", "<!", "<!-->", "<!--x>", "<!--", "<?", "<![", "</", "</>", "</a", "<a ", "<a/",
    '<a b="', '<a b="\'>', '<a x="><a x=\' y="\'>', '<a x="><a x=" ', "<div>", "<b>", "<a b='>'>",
    "<script>", "<title>", "<script></scrip>", "&", "&#", "&#0", "&#x", "&amp", "=", '"', "'", " ",
    "a  ", "b= ", "-->", "--", "\0", "\u00ad",
]  # fmt: skip
"""Repeated, these make careless scanners look at the rest again and again."""


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>one</p><p>two", "one two"),
        ("a<br>b<BR/>c", "a b c"),
        ("<td>x</td><td>y</td>", "x y"),
        ("Vi<b>ag</b>ra<!-- no --> fr<xyzzy>ee</xyzzy>", "Viagra free"),
        ("<head><title>t</title><meta a=b><style>s {}</style></head><body>b", "b"),
        ("<script>if (a < b) document.write('<p>no</p>')</script>yes", "yes"),
        ("<STYLE>x</style\n>yes", "yes"),
        ("<script/>yes", "yes"),
        ("seen<script>never closed", "seen"),
        ("&lt;b&gt; &eacute;&#233;&#xE9; &nbsp; &copy &unknown; AT&T", "<b> ééé © &unknown; AT&T"),
        ("&#0000000065;&#x0000000041;", "AA"),
        ("via&shy;gra zero\u200bwidth", "viagra zerowidth"),
        ("<img alt='a &quot;cat&quot;' src=c.png>sat", 'a "cat" sat'),
        ("<a title=more href=x>here</a>", "more here"),
        ('<a b="x > y" c>shown</a>', "shown"),
        ('<td width=100">shown', "shown"),
        ('<a b="never closed>shown</a> and <b>this</b>', "shown and this"),
        ("if a<b then c", "if a<b then c"),
        ("1 < 2 > 0 <3", "1 < 2 > 0 <3"),
        ("a <", "a <"),
        ("<!-- a -- > b --> c", "c"),
        ("<!--> a <!---> b", "a b"),
        ("<!-- never closed > text", "text"),
        ("<!doctype html><?xml a?><![endif]--><p>x", "x"),
        ("<!--[if mso]><p>office</p><![endif]-->x", "x"),
        ("one\n\n  two\tthree", "one two three"),
    ],
)
def test_visible_text(html, text):
    assert html_text(html) == text


def test_links():
    html = """<a href="http://a.example/?x&amp;y">a</a> <img src=' b.png '> <form action=c>
    <body background="d"> <a href> <a href=""> <!-- <a href="no"> --> </a href="no">"""
    assert read_html(html)[1] == ["http://a.example/?x&y", "b.png", "c", "d"]


WORDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8).filter(
    lambda word: word.isprintable()
)
TREES = st.recursive(
    WORDS,
    lambda trees: st.tuples(
        st.sampled_from(["p", "div", "td", "b", "font", "script", "!--"]), st.lists(trees)
    ),
    max_leaves=8,
)


def write(tree):
    """Return a tree as HTML, and the pieces of text that it shows."""
    if isinstance(tree, str):
        return escape(tree), tree
    tag, children = tree
    if tag in ("script", "!--"):
        return ("<script>'<p>'</script>" if tag == "script" else "<!-- <p>x -->"), ""
    pieces = [write(child) for child in children]
    html = f'<{tag} style="a > b">' + "".join(html for html, _ in pieces) + f"</{tag}>"
    gap = "" if tag in ("b", "font") else " "
    return html, gap + "".join(text for _, text in pieces) + gap


@given(st.lists(TREES))
def test_shows_what_was_written(trees):
    pieces = [write(tree) for tree in trees]
    text = html_text("".join(html for html, _ in pieces))
    assert text == " ".join("".join(shown for _, shown in pieces).split())


@given(st.text(), st.lists(st.sampled_from(HOSTILE) | st.text(max_size=3)))
def test_never_fails(text, pieces):
    for html in (text, "".join(pieces)):
        seen, links, _ = read_html(html)
        assert seen == " ".join(seen.split())
        assert all(isinstance(link, str) for link in links)


@pytest.mark.parametrize("end", ["", ">", "-->", '">', "1;"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_markup_takes_linear_time(piece, end):
    """It would not end within the hour if the rest were read again at every piece."""
    for start in ("", "<a "):
        html_text(start + piece * (SIZE // len(piece)) + end)


@pytest.mark.parametrize("start", ["&#", "&#x"])
@pytest.mark.parametrize("digit", ["0", "1"])
def test_numbers_of_many_digits(start, digit):
    assert len(html_text(start + digit * SIZE + ";")) <= 1
