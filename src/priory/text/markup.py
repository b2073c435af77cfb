"""The visible text of HTML, and its links.

html.parser takes quadratic time on broken markup in many releases of Python (40 kB of '<a b="' take
5 seconds in 3.11.7), and its result differs between releases. This scanner reads every character a
bounded number of times: patterns are possessive, and a failed search is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from priory.text.hiding import Sight

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

_TEXTS = frozenset(["alt", "title"])
_LINKS = frozenset(["href", "src", "action", "background"])
_LOOKS = frozenset(["style", "hidden", "bgcolor", "color", "text", "background"])

_TAG = re.compile(
    r"""([^<]*+)<(/?)([a-zA-Z][^\s/>]*+)((?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+'|)|["'])*+)>"""
)
"""Text, and the tag behind it; a ">" in a quoted value does not end it."""

_SHORT_TAG = re.compile(r"([^<]*+)<(/?)([a-zA-Z][^\s/>]*+)([^>]*+)>")
_NAME = re.compile(r"</?[a-zA-Z]")
_SPEAKS = re.compile("href|src|alt|title|action|style|hidden|color|background|text", re.IGNORECASE)
_LONG_TAG = 500
"""Longer tags are not remembered."""

_NO_LOOKS: Mapping[str, str] = {}
_ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]*+))?""")
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
    texts: list[str] = []
    links: list[str] = []
    sight = Sight()
    last, last_comment = html.rfind(">"), html.rfind("-->")
    tag, start = _TAG, 0
    while True:
        found = tag.match(html, start)
        if found is None:
            at = html.find("<", start)
            if at < 0 or at > last:  # no tag is closed any more: the rest is text
                _show(html[start:], sight, texts)
                break
            if _NAME.match(html, at):  # quotes hide every ">" that is left: ignore them from here
                tag = _SHORT_TAG
                continue
            _show(html[start:at], sight, texts)
            if html.startswith("<!--", at):
                start = _end_of_comment(html, at, last_comment)
            elif html[at + 1] in "!?/":  # a declaration, or what browsers treat as a comment
                start = html.index(">", at) + 1
            else:
                texts.append("<")
                start = at + 1
            continue
        text, slash, name, rest = found.groups()
        start = found.end()
        if text:
            if "&" in text or sight.is_at_work:
                _show(text, sight, texts)
            else:
                texts.append(text)
        name = name.lower()
        if name in _BLOCKS:
            texts.append(" ")
        if slash:
            if sight.is_at_work:
                sight.close(name)
            continue
        looks = _NO_LOOKS
        if len(rest) > 5:  # the shortest that says anything is src=x
            read = _attributes if len(rest) < _LONG_TAG else _attributes.__wrapped__
            looks, seen, led = read(rest)
            if seen and not (sight.is_at_work and sight.hides()):
                texts += seen
            links += led
        if looks or sight.is_at_work:
            sight.open(name, looks)
        if name in _UNSEEN and not rest.endswith("/"):
            close = _CLOSE[name].search(html, start)
            if close is None:
                break  # browsers display nothing of the rest
            start = close.start()
    return Page(" ".join("".join(texts).split()), links, list(sight.found))


def _show(text: str, sight: Sight, texts: list[str]) -> None:
    """Take text that is seen; white space always parts words."""
    if sight.is_at_work and text.strip() and sight.hides():
        return
    texts.append(_unescape(text))


def _end_of_comment(html: str, at: int, last_comment: int) -> int:
    """Find the end of a comment; an unclosed one ends at the first ">"."""
    if html.startswith((">", "->"), at + 4):
        return html.index(">", at) + 1
    if last_comment >= at + 4:
        return html.index("-->", at + 4) + 3
    return html.index(">", at) + 1


@lru_cache(4096)  # pages have the same tags again and again
def _attributes(tag: str) -> tuple[Mapping[str, str], list[str], list[str]]:
    """Read the attributes of a tag: those that may hide an element, texts, and links."""
    looks: dict[str, str] = {}
    texts: list[str] = []
    links: list[str] = []
    if not _SPEAKS.search(tag):
        return looks, texts, links
    for attribute in _ATTRIBUTE.finditer(tag):
        name, value = attribute[1].lower(), attribute[2] or ""
        if name not in _TEXTS and name not in _LINKS and name not in _LOOKS:
            continue
        value = _unescape(value[1:-1] if value[:1] in "\"'" and value[-1:] == value[:1] else value)
        if name in _LOOKS:
            looks[name] = value
        if not value:
            continue
        if name in _TEXTS:
            texts += [" ", value, " "]
        elif name in _LINKS and (value := value.strip()):
            links.append(value)
    return looks, texts, links


def _unescape(text: str) -> str:
    """Decode character references; html.unescape fails on thousands of digits."""
    if "&" not in text:
        return text
    from html import unescape

    if "&#" in text:
        text = _DIGITS.sub(r"&#\1", _LEADING_ZEROS.sub(r"&#\1", text))
    return unescape(text)
