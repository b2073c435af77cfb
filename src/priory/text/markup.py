"""The visible text of HTML, and its links.

html.parser takes quadratic time on broken markup in many releases of Python (40 kB of '<a b="' take
5 seconds in 3.11.7), and its result differs between releases. Here every character is read a
bounded number of times, by a kernel; patterns are possessive.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from priory.kernels.markup import FLAGS, read_attributes, read_page
from priory.text.hiding import Looks, looks_of

__all__ = ["Page", "html_text", "read_html"]

_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        """address article aside blockquote body br button caption center col dd details dialog dir
        div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head
        header hr html iframe img input legend li link main marquee menu meta nav ol optgroup option
        p pre section select summary table tbody td textarea tfoot th thead tr ul video""",
    )
)
"""Tags that separate words; <b>, <font> and unknown tags do not, so "Vi<b>agra</b>" is one word."""

_UNSEEN = frozenset(["script", "style", "title", "template", "noframes"])
"""Elements whose content is not displayed."""

_CLOSED_BY_ITSELF = frozenset(["p", "li", "td", "th", "tr", "dd", "dt", "option"])
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"]
)

_TEXTS = frozenset(["alt", "title"])
_LINKS = frozenset(["href", "src", "action", "background"])
_LOOKS = frozenset(["style", "hidden", "bgcolor", "color", "text", "background"])
_TELLING = _TEXTS | _LINKS | _LOOKS

_LONG_TAG, _LONG_TEXT = 500, 50
"""Longer tags and texts are not remembered."""

_TAGS = {
    name: FLAGS["block"] * (name in _BLOCKS)
    | FLAGS["unseen"] * (name in _UNSEEN)
    | FLAGS["void"] * (name in _VOID)
    | FLAGS["closed by itself"] * (name in _CLOSED_BY_ITSELF)
    for name in _BLOCKS | _UNSEEN | _VOID | _CLOSED_BY_ITSELF
}
_CLOSE = {name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE) for name in _UNSEEN}

_LEADING_ZEROS = re.compile(r"&#([xX]?)0++(?=[0-9a-fA-F])")
_DIGITS = re.compile(r"&#([0-9]{8})[0-9]++")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]++")  # soft hyphens and the like


def html_text(html: str) -> str:
    """Extract the visible text of HTML, with alt and title texts, on one line.

    Scripts, styles, the title and what a style hides are left out, character references decoded.
    Block tags separate words, others do not. Broken markup is never an error.

    >>> html_text("<style>p {}</style><p>Fr<b>ee</b> caf&eacute;<br>now <img alt='a cup'>")
    'Free café now a cup'
    """
    text = read_html(html).text
    return text if text.isascii() else _INVISIBLE.sub("", text)


class Page(NamedTuple):
    """What a page of HTML shows, where it leads, and how it hides text."""

    text: str
    links: list[str]
    hidden: list[str]


def read_html(html: str) -> Page:
    """Extract the visible text of HTML, and the addresses that it links to or loads.

    Text is not visible by display:none, visibility:hidden, the attribute `hidden`, letters of no
    size or no opacity, or the colour of its background; how it was hidden is told. Only styles of
    elements are looked at, not sheets.

    >>> read_html('<a href="http://example.com/?a&amp;b">here</a> <!-- <a href="no"> -->')
    Page(text='here', links=['http://example.com/?a&b'], hidden=[])
    >>> read_html('Buy <i style="font-size:0">meeting agenda</i>now')
    Page(text='Buy now', links=[], hidden=['size'])
    """
    texts, links, hidden = read_page(html, _TAGS, _CLOSE, _read_attributes, _unescape)
    return Page(" ".join("".join(texts).split()), links, hidden)


def _read_attributes(tag: str) -> tuple[Looks | None, list[str], list[str]]:
    return _attributes(tag) if len(tag) < _LONG_TAG else _attributes.__wrapped__(tag)


@lru_cache(4096)  # pages have the same tags again and again
def _attributes(tag: str) -> tuple[Looks | None, list[str], list[str]]:
    """Read the attributes of a tag: what they do to the sight of an element, texts, and links."""
    looks: dict[str, str] = {}
    texts: list[str] = []
    links: list[str] = []
    for name, value in read_attributes(tag, _TELLING):
        value = _unescape(value)
        if name in _LOOKS:
            looks[name] = value
        if name in _TEXTS and value:
            texts += [" ", value, " "]
        elif name in _LINKS and (value := value.strip()):
            links.append(value)
    return looks_of(looks) if looks else None, texts, links


def _unescape(text: str) -> str:
    """Decode character references; html.unescape fails on thousands of digits."""
    if "&" not in text:
        return text
    return _decoded(text) if len(text) < _LONG_TEXT else _decoded.__wrapped__(text)


@lru_cache(4096)
def _decoded(text: str) -> str:
    from html import unescape

    if "&#" in text:
        text = _DIGITS.sub(r"&#\1", _LEADING_ZEROS.sub(r"&#\1", text))
    return unescape(text)
