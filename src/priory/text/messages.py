"""The words of an e-mail: decoded, with tagged headers, links and addresses.

A broken message is never an error: it gives the words that can be read.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from priory.base.errors import InputError
from priory.text.charsets import decode
from priory.text.markup import html_text, read_html

if TYPE_CHECKING:  # at run time email is imported when first used: it takes 40 ms
    from email.message import Message
    from email.policy import Policy

__all__ = ["email_words", "html_text"]

Split: TypeAlias = Callable[[str], list[str]]

# The headers that are used. Not used are those of time and route (Date, Received, Delivered-To,
# Message-ID, List-*): in a corpus they reveal where it was collected. Nor are the verdicts of other
# filters (X-Spam-*, X-Bogosity, Authentication-Results): they leak the target, and are absent when
# a prediction is needed.
_PEOPLE = ("from", "reply-to", "to", "cc")
_WORDED = {"subject": "subject", "x-mailer": "x-mailer", "user-agent": "x-mailer"}
_VALUED = ("content-transfer-encoding", "x-priority", "importance")
_PRESENT = ("in-reply-to", "references", "organization", "mime-version")
_EXPECTED = ("from", "to", "subject")  # their absence is a feature

_TELLTALE = frozenset(
    [*_EXPECTED, "date", "received", "return-path", "message-id", "content-type", "mime-version"]
)
"""A text without any of these headers is not a message, and is read as plain text."""

_LONGEST_HEADER = 10_000
_MOST_BOUNDARIES = 40
"""More than messages have: parsing is quadratic in the former, linear in the latter per line."""

_ENCODED_WORD = re.compile(
    r"=\?([^?*\s]*+)(?:\*[^?\s]*+)?\?([bBqQ])\?([^?]*+)\?="
)  # RFC 2047, 2231
_BETWEEN_ENCODED = re.compile(r"(?<=\?=)\s++(?==\?)")
_CHARSET_NAME = re.compile(r"(?:^|(?<=[;\s]))charset(?=[\s*=])", re.IGNORECASE)
_CHARSET = re.compile(r"x-charset\s*+=\s*+[\"']?([\w.:-]{1,40})", re.ASCII)
_KIND = re.compile(r"[\w.+-]++/[\w.+-]++", re.ASCII)
_STATUS = re.compile(rb"message/delivery-status", re.IGNORECASE)
_BOUNDARY = re.compile(rb"boundary\s*+=", re.IGNORECASE)
_LOOKS_HTML = re.compile(r"\s*+(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)

# The lookbehinds let a match begin only at the start of a run, so that no run is read twice.
_ADDRESS = re.compile(r"(?<![\w.+%'-])[\w.+%'-]++@[\w.-]++")
_LINK = re.compile(
    r"(?:\b(?:https?|ftp)://|(?<![\w.@/-])www\.)[^\s<>\"]++|" + _ADDRESS.pattern, re.IGNORECASE
)


def email_words(message: str | bytes, split: Split) -> list[str]:
    r"""Split an e-mail into words; those that are not in its text are tagged.

    ========================  ====================================================================
    from: reply-to: to: cc:   whole addresses, their domains, the words of the names
    subject: x-mailer:        words
    url:                      hosts and their domains, words of the path; in text and HTML links
    mail:                     addresses in the text, and their domains
    content-type: charset:    of each part
    attachment:               names and suffixes of attached files, without their content
    header: missing:          headers that are present (In-Reply-To), or absent (Subject)
    ========================  ====================================================================

    `split` splits plain text into words. A str may be the message as text, or its bytes decoded
    as Latin-1 or with surrogateescape. No word contains white space, unless those of `split` do.

    >>> message = "From: Al <al@example.com>\nSubject: =?utf-8?q?caf=C3=A9?=\n\nSee www.example.org"
    >>> for word in email_words(message, re.compile(r"\w+").findall):
    ...     print(word)
    from:al@example.com
    from:example.com
    from:Al
    subject:café
    missing:to
    content-type:text/plain
    See
    url:www.example.org
    url:example.org
    """
    data, is_text = _message_bytes(message)
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    # Delivery reports are read as text: email would make a message of each blank line.
    data = _STATUS.sub(b"text/delivery-status", data)
    try:
        if len(_BOUNDARY.findall(data)) > _MOST_BOUNDARIES:
            raise ValueError
        root = _parse(data)
        headers = [(name.lower(), value) for name, value in root.raw_items()]
        parts = list(_leaves(root))
    except Exception:  # the standard library's parser fails on some messages
        return _text_words(decode(data), split)
    if _TELLTALE.isdisjoint(name for name, _ in headers):
        return _text_words(decode(data), split)
    words = list(_header_words(headers, split))
    for part in parts:
        try:
            words += _part_words(part, is_text, split)
        except Exception:  # as do its accessors: the other parts are still read
            continue
    return words


def _message_bytes(message: str | bytes) -> tuple[bytes, bool]:
    """Encode a message, and tell whether its bytes are UTF-8.

    A str with no character above U+00FF may be bytes decoded as Latin-1, or text. Treating it as
    bytes works for both: if it was text, decoding by the declared charset fails, and the fallback
    restores it.
    """
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message), False
    if not isinstance(message, str):
        raise InputError(f"message must be a str or bytes, not {type(message).__name__}.")
    try:
        return message.encode("latin-1"), False
    except UnicodeEncodeError:
        pass
    try:
        return message.encode("utf-8", "surrogateescape"), True
    except UnicodeEncodeError:
        return message.encode("utf-8", "replace"), True


def _parse(data: bytes) -> Message:
    from email import message_from_bytes

    return message_from_bytes(data, policy=_policy())


@cache
def _policy() -> Policy[Any]:
    """Make a policy that keeps raw headers, shortened.

    policy.default parses headers in quadratic time and raises on broken addresses; its objects and
    their folding are not needed. The charset is hidden from email, which would decode with any
    codec of Python's, slow or unsafe.
    """
    from email.policy import Compat32

    class Raw(Compat32):
        def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
            name, value = super().header_source_parse(sourcelines)
            return name, value[:_LONGEST_HEADER]

        def header_fetch_parse(self, name: str, value: str) -> str:
            if name.lower() == "content-type":
                return _CHARSET_NAME.sub("x-charset", value)
            return value

    return Raw()


def _leaves(part: Message) -> Iterator[Message]:
    """Iterate over the parts that have no parts; of alternatives, the plain one.

    Alternatives repeat the same text: counting both would double every word. The plain one has no
    markup, which would mark everyone who writes HTML. It is skipped if it is blank, as senders of
    HTML often leave it.
    """
    if not part.is_multipart():
        yield part
        return
    children: Any = part.get_payload()
    if part.get_content_type() == "multipart/alternative":
        plain = [p for p in children if p.get_content_type() == "text/plain" and _has_text(p)]
        children = plain[:1] or children
    for child in children:
        yield from _leaves(child)


def _has_text(part: Message) -> bool:
    payload: Any = part.get_payload(decode=True)
    return bool(payload and payload.strip())


def _header_words(headers: Iterable[tuple[str, str]], split: Split) -> Iterator[str]:
    names = set()
    for name, value in headers:
        names.add(name)
        if name in _PEOPLE:
            text = _header_text(value)
            for address in _ADDRESS.findall(text):
                yield from _address_words(name, address)
            yield from _tagged(name, split(_ADDRESS.sub(" ", text)))
        elif name in _WORDED:
            yield from _tagged(_WORDED[name], split(_header_text(value)))
        elif name in _VALUED:
            yield from _tagged(name, _header_text(value).lower().split()[:1])
    yield from _tagged("header", (name for name in _PRESENT if name in names))
    yield from _tagged("missing", (name for name in _EXPECTED if name not in names))


def _part_words(part: Message, is_text: bool, split: Split) -> list[str]:
    kind = part.get_content_type()
    kind = kind if _KIND.fullmatch(kind) else "text/plain"
    declared = _CHARSET.search(part.get("content-type", ""))
    charset = declared[1].lower() if declared else None
    words = [f"content-type:{kind}"] + ([f"charset:{charset}"] if charset else [])
    attached = part.get("content-disposition", "").strip().lower().startswith("attachment")
    if attached or not kind.startswith(("text/", "multipart/")):
        names = _header_text(part.get_filename("")).lower().rstrip(". ").split()
        suffixes = [name.rpartition(".")[2] for name in names[-1:] if "." in name]
        return words + list(_tagged("attachment", names + suffixes))
    encoding = part.get("content-transfer-encoding", "").strip().lower()
    data: Any = part.get_payload(decode=True)
    as_text = is_text and encoding not in ("base64", "quoted-printable")
    text = decode(data, *(("utf-8", charset) if as_text else (charset,)))
    # A multipart that still has text is one whose boundary was not found.
    if kind in ("text/html", "text/enriched") or _LOOKS_HTML.match(text):
        text, links = read_html(text)
        text = " ".join([text, *map(_link_text, links)])
    return words + _text_words(text, split)


def _link_text(link: str) -> str:
    """Normalise a link of a page; empty if it leads nowhere else.

    >>> [_link_text(s) for s in ["//example.com/a b", "mailto:a@example.com", "p.gif", "cid:7"]]
    ['http://example.com/ab', 'a@example.com', '', '']
    """
    link = "".join(link.split())
    if link.startswith("//"):
        return f"http:{link}"
    if link[:7].lower() == "mailto:":
        return link[7:]
    return link if _LINK.match(link) else ""


def _text_words(text: str, split: Split) -> list[str]:
    words: list[str] = []

    def take(found: re.Match[str]) -> str:
        link = found[0]
        words.extend(
            _address_words("mail", link) if _ADDRESS.fullmatch(link) else _url_words(link, split)
        )
        return " "

    text = _LINK.sub(take, text)
    return split(text) + words


def _url_words(url: str, split: Split) -> Iterator[str]:
    """Split a URL into its host, its domains and the words of the rest.

    >>> list(_url_words("http://me@www.example.com:80/buy?now", str.split))
    ['url:www.example.com', 'url:example.com', 'url:/buy?now']
    """
    _, _, rest = url.rpartition("://") if "://" in url[:8] else ("", "", url)
    end = re.search(r"[/?#\\]", rest)
    site, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    yield from _domains("url", site.rpartition("@")[2].partition(":")[0])
    yield from _tagged("url", split(path))


def _address_words(tag: str, address: str) -> Iterator[str]:
    address = address.lower().strip(".'-")
    yield f"{tag}:{address}"
    yield from _domains(tag, address.rpartition("@")[2])


def _domains(tag: str, host: str) -> Iterator[str]:
    """List a host, and the last three and two of its labels, which identify its owner.

    >>> list(_domains("url", "Shop.News.Example.co.uk")), list(_domains("url", "10.0.0.1"))
    (['url:shop.news.example.co.uk', 'url:example.co.uk', 'url:co.uk'], ['url:10.0.0.1'])
    """
    host = host.lower().strip(".,;:!?)]}'-")
    if not host:
        return
    yield f"{tag}:{host}"
    labels = host.rsplit(".", 3)
    if labels[-1].isdigit():
        return
    for n in (3, 2):
        if len(labels) > n:
            yield f"{tag}:{'.'.join(labels[-n:])}"


def _tagged(tag: str, words: Iterable[str]) -> Iterator[str]:
    return (f"{tag}:{word}" for word in words)


def _header_text(value: str) -> str:
    """Decode a header: encoded words (RFC 2047), and bytes in the likeliest charset.

    >>> _header_text("=?iso-8859-1?q?gr=FC=DF?= =?utf-8?b?w6kh?= you")
    'grüßé! you'
    """
    text = decode(value.encode("utf-8", "surrogateescape"))
    if "=?" not in text:
        return text
    pieces: list[str] = []
    run: list[bytes] = []  # of one charset: a character may be split across encoded words
    charset, end = None, 0
    text = _BETWEEN_ENCODED.sub("", text)
    for found in _ENCODED_WORD.finditer(text):
        if run and (found.start() > end or found[1].lower() != charset):
            pieces.append(decode(b"".join(run), charset))
            run = []
        pieces.append(text[end : found.start()])
        charset, end = found[1].lower(), found.end()
        run.append(_decode_word(found[2], found[3]))
    if run:
        pieces.append(decode(b"".join(run), charset))
    return "".join([*pieces, text[end:]])


def _decode_word(encoding: str, word: str) -> bytes:
    data = word.encode("utf-8")
    if encoding in "qQ":
        return a2b_qp(data, header=True)
    try:
        return a2b_base64(data + b"===")
    except Base64Error:
        return data
