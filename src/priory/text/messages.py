"""The words of an e-mail: decoded, with tagged headers, links and addresses.

A broken message is never an error: it gives the words that can be read.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

from priory.base.errors import InputError
from priory.kernels.messages import cut_addresses, cut_links
from priory.text.charsets import decode
from priory.text.disguise import undisguised
from priory.text.markup import html_text, read_html
from priory.text.mime import Field, Part, read_fields, read_parts

__all__ = ["email_lines", "email_words", "html_text"]

Split: TypeAlias = Callable[[str], list[str]]
Tell: TypeAlias = Callable[[str, str], list[str]]
"""Gives the words of a text with a tag before each; or one string, with a word a line."""

# The headers that are used. Not used are those of time (Date, Message-ID) and of lists (List-*,
# Delivered-To): in a corpus they reveal where it was collected. Nor are the verdicts of filters
# (X-Spam-*, X-Bogosity, X-Priory, Authentication-Results): they leak the target, and are absent
# when a prediction is needed.
_PEOPLE = frozenset(["from", "reply-to", "to", "cc"])
_WORDED = {"subject": "subject", "x-mailer": "x-mailer", "user-agent": "x-mailer"}
_VALUED = frozenset(["content-transfer-encoding", "x-priority", "importance"])
_USED = _PEOPLE | _WORDED.keys() | _VALUED | {"received", "return-path"}
_PRESENT = ("in-reply-to", "references", "organization", "mime-version")
_EXPECTED = ("from", "to", "subject")  # their absence is a feature

_TELLTALE = frozenset(
    [*_EXPECTED, "date", "received", "return-path", "message-id", "content-type", "mime-version"]
)
"""A text without any of these headers is not a message, and is read as plain text."""

_MOST_RELAYS = 8
"""So many Received fields are read: those above were written last, by servers one trusts."""

_LONGEST_HOST = 255

_ENCODED_WORD = re.compile(
    r"=\?([^?*\s]*+)(?:\*[^?\s]*+)?\?([bBqQ])\?([^?]*+)\?="
)  # RFC 2047, 2231
_BETWEEN_ENCODED = re.compile(r"(?<=\?=)\s++(?==\?)")
_RELAY = re.compile(rb"\s*+from\s++([^\s;()]{1,255})(?:\s++\(([^()]{0,500})\))?", re.IGNORECASE)
_NUMBERS = re.compile(r"\b(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.\d{1,3}\b")
_HOST = re.compile(r"[a-z0-9_-]++(?:\.[a-z0-9_-]++)+", re.IGNORECASE)
_LOOKS_HTML = re.compile(r"\s*+(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)

# The lookbehinds let a match begin only at the start of a run, so that no run is read twice.
_ADDRESS = re.compile(r"(?<![\w.+%'-])[\w.+%'-]++@[\w.-]++")
_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"]|www\.[^\s<>\"]", re.IGNORECASE)
_PATH = re.compile(r"[/?#\\]")


def email_words(message: str | bytes, split: Split) -> list[str]:
    r"""Split an e-mail into words; those that are not in its text are tagged.

    ========================  ====================================================================
    from: reply-to: to: cc:   whole addresses, their domains, the words of the names
    subject: x-mailer:        words
    received: return-path:    domains and networks of the relays; whether it differs from From
    url:                      hosts and their domains, words of the path; in text and HTML links
    mail:                     addresses in the text, and their domains
    content-type: charset:    of each part
    attachment:               names and suffixes of attached files, without their content
    header: missing:          headers that are present (In-Reply-To), or absent (Subject)
    hidden: disguise:         text that HTML does not show; letters that are not what they seem
    ========================  ====================================================================

    `split` splits plain text into words. A str may be the message as text, or its bytes decoded
    as Latin-1 or with surrogateescape. Of alternatives (plain and HTML) all are read, and a word
    counts as often as in the one that has it most. No word contains white space, unless those of
    `split` do.

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
    return _message_words(message, lambda text, tag: [tag + word for word in split(text)], False)


def email_lines(message: str | bytes, lines: Callable[[str, str], str]) -> str:
    r"""Split an e-mail as `email_words` does, into one string with a word a line.

    `lines` splits plain text in this way, and writes a tag before each word.

    >>> email_lines("Subject: Hi\n\nyou", lambda text, tag: tag + f"\n{tag}".join(text.split()))
    'subject:Hi\nmissing:from\nmissing:to\ncontent-type:text/plain\nyou'
    """

    def tell(text: str, tag: str) -> list[str]:
        found = lines(text, tag)
        return [found] if found else []

    return "\n".join(_message_words(message, tell, True))


def _message_words(message: str | bytes, tell: Tell, by_lines: bool) -> list[str]:
    data, is_text = _message_bytes(message)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.lstrip(b"\n")
    if data.startswith(b"From "):  # the line between messages of an mbox
        data = data.partition(b"\n")[2]
    fields, body = read_fields(data)
    names = {name for name, _ in fields}
    if _TELLTALE.isdisjoint(names):
        return _text_words(decode(data), tell)
    words = _header_words(fields, tell)
    words += [f"header:{name}" for name in _PRESENT if name in names]
    words += [f"missing:{name}" for name in _EXPECTED if name not in names]
    before: dict[int, dict[str, int]] = {}
    for part in read_parts(fields, body):
        found = _part_words(part, is_text, tell)
        if part.alternative >= 0:
            found = "\n".join(found).split("\n") if by_lines else found
            found = _not_said(found, before.setdefault(part.alternative, {}))
        words += found
    return words


def _not_said(words: list[str], said: dict[str, int]) -> list[str]:
    """Leave out what an alternative repeats, and note what has now been said how often."""
    if not said:
        said |= Counter(words)
        return words
    times: dict[str, int] = {}
    new = []
    for word in words:
        times[word] = times.get(word, 0) + 1
        if times[word] > said.get(word, 0):
            new.append(word)
    for word in new:
        said[word] = times[word]
    return new


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


def _header_words(fields: Iterable[Field], tell: Tell) -> list[str]:
    words: list[str] = []
    relays = 0
    domains: dict[str, str] = {}
    for name, value in fields:
        if name not in _USED:
            continue
        if name in _PEOPLE:
            text, addresses = cut_addresses(_header_text(value))
            for address in addresses:
                words += _address_words(name, address)
            if addresses:
                domains.setdefault(name, _owner(addresses[0]))
            words += _worded(name, text, tell)
        elif name in _WORDED:
            words += _worded(_WORDED[name], _header_text(value), tell)
        elif name in _VALUED:
            words += [f"{name}:{word}" for word in _header_text(value).lower().split()[:1]]
        elif name == "received":
            relays += 1
            if relays <= _MOST_RELAYS:
                words += _relay_words(value)
        elif name == "return-path":
            for address in cut_addresses(_header_text(value))[1][:1]:
                words += _domains(name, address.rpartition("@")[2][-_LONGEST_HOST:])
                domains.setdefault(name, _owner(address))
    if domains.get("return-path", domains.get("from")) != domains.get("from"):
        words.append("return-path:differs")
    return words


def _worded(tag: str, text: str, tell: Tell) -> list[str]:
    text, disguises = undisguised(text)
    return tell(text, f"{tag}:") + [f"disguise:{how}" for how in disguises]


def _owner(address: str) -> str:
    """Take the last two labels of the domain of an address."""
    return ".".join(address.lower().rstrip(".").rsplit("@", 1)[-1].rsplit(".", 2)[-2:])


def _relay_words(value: bytes) -> list[str]:
    """List whom a server says it got the message from: domains, networks.

    >>> _relay_words(b" from mail (mx.example.org [192.0.2.7]) by here; today")
    ['received:example.org', 'received:192.0.2', 'received:192.0']
    """
    found = _RELAY.match(value)
    if not found:
        return []
    return [*_relay(b" ".join([found[1], found[2] or b""]))]


@lru_cache(10_000)
def _relay(said: bytes) -> tuple[str, ...]:
    words: list[str] = []
    text = said.decode("latin-1").lower()
    for a, b, c in _NUMBERS.findall(text):
        words += [f"received:{a}.{b}.{c}", f"received:{a}.{b}"]
    for host in _HOST.findall(_NUMBERS.sub(" ", text)):
        labels = host.rsplit(".", 2)
        if not labels[-1].isdigit():
            words.insert(0, f"received:{'.'.join(labels[-2:])}")
    return tuple(dict.fromkeys(words))


def _part_words(part: Part, is_text: bool, tell: Tell) -> list[str]:
    kind, charset = part.kind, part.charset
    words = [f"content-type:{kind}"] + ([f"charset:{charset}"] if charset else [])
    if part.is_attached or not kind.startswith(("text/", "multipart/", "message/")):
        names = _header_text(part.name).lower().rstrip(". ").split()
        suffixes = [name.rpartition(".")[2] for name in names[-1:] if "." in name]
        return words + [f"attachment:{name}" for name in names + suffixes]
    as_text = is_text and part.encoding not in ("base64", "quoted-printable")
    text = decode(part.content(), *(("utf-8", charset) if as_text else (charset,)))
    # A multipart that still has text is one whose boundary was not found.
    if kind in ("text/html", "text/enriched") or _LOOKS_HTML.match(text):
        page = read_html(text)
        words += [f"hidden:{how}" for how in page.hidden]
        words += _text_words(page.text, tell)
        for link in page.links:
            words += _link_words(link, tell)
        return words
    return words + _text_words(text, tell)


def _link_words(link: str, tell: Tell) -> list[str]:
    """Read a link of a page; nothing if it leads nowhere else.

    >>> links = ["//example.com/a b", "mailto:a@b.example", "p.gif"]
    >>> [_link_words(link, lambda text, tag: [tag + text]) for link in links]
    [['url:example.com', 'url:/ab'], ['mail:a@b.example', 'mail:b.example'], []]
    """
    link = "".join(link.split())
    if link.startswith("//"):
        link = f"http:{link}"
    elif link[:7].lower() == "mailto:":
        found = _ADDRESS.match(link, 7)
        return _address_words("mail", found[0]) if found else []
    return _url_words(link, tell) if _URL.match(link) else []


def _text_words(text: str, tell: Tell) -> list[str]:
    text, disguises = undisguised(text)
    words = [f"disguise:{how}" for how in disguises]
    text, links = cut_links(text)
    for is_address, link in links:
        words += _address_words("mail", link) if is_address else _url_words(link, tell)
    # A colon is the mark of a tag: no word of a text may look like one.
    return tell(text.replace(":", " "), "") + words


def _url_words(url: str, tell: Tell) -> list[str]:
    """Split a URL into its host, its domains and the words of the rest.

    >>> _url_words("http://me@www.example.com:80/buy?now", lambda text, tag: [tag + text])
    ['url:www.example.com', 'url:example.com', 'url:/buy?now']
    """
    _, _, rest = url.rpartition("://") if "://" in url[:8] else ("", "", url)
    end = _PATH.search(rest)
    site, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    words = [*_domains("url", site.rpartition("@")[2].partition(":")[0][:_LONGEST_HOST])]
    return words + tell(path, "url:") if len(path) > 1 else words


def _address_words(tag: str, address: str) -> list[str]:
    address = address.lower().strip(".'-")
    return [f"{tag}:{address}", *_domains(tag, address.rpartition("@")[2][-_LONGEST_HOST:])]


@lru_cache(10_000)
def _domains(tag: str, host: str) -> tuple[str, ...]:
    """List a host, and the last three and two of its labels, which identify its owner.

    >>> _domains("url", "Shop.News.Example.co.uk"), _domains("url", "10.0.0.1")
    (('url:shop.news.example.co.uk', 'url:example.co.uk', 'url:co.uk'), ('url:10.0.0.1',))
    """
    host = host.lower().strip(".,;:!?)]}'-")
    if not host:
        return ()
    labels = host.rsplit(".", 3)
    owners = () if labels[-1].isdigit() else [n for n in (3, 2) if len(labels) > n]
    return (f"{tag}:{host}", *(f"{tag}:{'.'.join(labels[-n:])}" for n in owners))


def _header_text(value: bytes) -> str:
    """Decode a header: encoded words (RFC 2047), and bytes in the likeliest charset.

    >>> _header_text(b"=?iso-8859-1?q?gr=FC=DF?= =?utf-8?b?w6kh?= you")
    'grüßé! you'
    """
    text = value.decode("ascii") if value.isascii() else decode(value)
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
