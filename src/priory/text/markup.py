"""The visible text of HTML, and its links.

html.parser takes quadratic time on broken markup in many releases of Python (40 kB of '<a b="' take
5 seconds in 3.11.7), and its result differs between releases. This scanner reads every character a
bounded number of times: patterns are possessive, and a failed search is not repeated.
"""

from __future__ import annotations

import re

__all__ = ["html_text", "read_html"]

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

_TAG = re.compile(
    r"""</?([a-z][^\s/>]*+)(?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+'|)|["'])*+>""", re.IGNORECASE
)
"""A tag; a ">" in a quoted value does not end it."""

_SHORT_TAG = re.compile(r"</?([a-z][^\s/>]*+)[^>]*+>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]*+))?""")
_CLOSE = {name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE) for name in _UNSEEN}

_LEADING_ZEROS = re.compile(r"&#([xX]?)0++(?=[0-9a-fA-F])")
_DIGITS = re.compile(r"&#([0-9]{8})[0-9]++")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))  # soft hyphens and the like


def html_text(html: str) -> str:
    """Extract the visible text of HTML, with alt and title texts, on one line.

    Scripts, styles and the title are left out, character references decoded. Block tags separate
    words, others do not. Broken markup is never an error.

    >>> html_text("<style>p {}</style><p>Fr<b>ee</b> caf&eacute;<br>now <img alt='a cup'>")
    'Free café now a cup'
    """
    return read_html(html)[0]


def read_html(html: str) -> tuple[str, list[str]]:
    """Extract the visible text of HTML, and the addresses that it links to or loads.

    >>> read_html('<a href="http://example.com/?a&amp;b">here</a> <!-- <a href="no"> -->')
    ('here', ['http://example.com/?a&b'])
    """
    texts: list[str] = []
    links: list[str] = []
    last, last_comment = html.rfind(">"), html.rfind("-->")
    tag, start = _TAG, 0
    while True:
        at = html.find("<", start)
        if at < 0 or at > last:  # no tag is closed any more: the rest is text
            texts.append(_unescape(html[start:]))
            break
        texts.append(_unescape(html[start:at]))
        if html.startswith("<!--", at):
            start = _end_of_comment(html, at, last_comment)
            continue
        first = html[at + 2 : at + 3] if html.startswith("/", at + 1) else html[at + 1 : at + 2]
        if not (first.isascii() and first.isalpha()):
            if html[at + 1] in "!?/":  # a declaration, or what browsers treat as a comment
                start = html.index(">", at) + 1
            else:
                texts.append("<")
                start = at + 1
            continue
        found = tag.match(html, at)
        if found is None:  # quotes hide every ">" that is left: ignore quotes from here on
            tag = _SHORT_TAG
            found = tag.match(html, at)
            assert found is not None  # `last` lies behind
        name, start = found[1].lower(), found.end()
        if name in _BLOCKS:
            texts.append(" ")
        if html[at + 1] != "/":
            if "=" in found[0]:
                _read_attributes(found[0], 1 + len(name), texts, links)
            if name in _UNSEEN and not found[0].endswith("/>"):
                close = _CLOSE[name].search(html, start)
                if close is None:
                    break  # browsers display nothing of the rest
                start = close.start()
    return " ".join("".join(texts).translate(_INVISIBLE).split()), links


def _end_of_comment(html: str, at: int, last_comment: int) -> int:
    """Find the end of a comment; an unclosed one ends at the first ">"."""
    if html.startswith((">", "->"), at + 4):
        return html.index(">", at) + 1
    if last_comment >= at + 4:
        return html.index("-->", at + 4) + 3
    return html.index(">", at) + 1


def _read_attributes(tag: str, start: int, texts: list[str], links: list[str]) -> None:
    for attribute in _ATTRIBUTE.finditer(tag, start):
        name, value = attribute[1].lower(), attribute[2]
        if not value or (name not in _TEXTS and name not in _LINKS):
            continue
        value = _unescape(value[1:-1] if value[0] in "\"'" and value[-1] == value[0] else value)
        if name in _TEXTS:
            texts += [" ", value, " "]
        elif value := value.strip():
            links.append(value)


def _unescape(text: str) -> str:
    """Decode character references; html.unescape fails on thousands of digits."""
    if "&" not in text:
        return text
    from html import unescape

    if "&#" in text:
        text = _DIGITS.sub(r"&#\1", _LEADING_ZEROS.sub(r"&#\1", text))
    return unescape(text)
