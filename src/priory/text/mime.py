"""Messages as they travel: header fields, and the parts of a body.

email.parser takes a millisecond for a message, and quadratic time for some; this reader looks at
every byte a bounded number of times. A broken message is never an error: what has no structure is
one part of plain text.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp
from collections.abc import Iterator
from typing import NamedTuple

from priory.kernels.messages import read_header
from priory.text.charsets import decode

__all__ = ["Field", "Part", "read_fields", "read_parts", "unquoted"]

_LONGEST_FIELD, _LONGEST_NAME = 10_000, 100
_DEEPEST = 20
"""So deep, parts of parts are read; every level looks at the bytes once."""

_MOST_PARTS = 1000

Field = tuple[str, bytes]
"""A header field: its name in lower case, and its value on one line."""

_CONTENT = frozenset(["content-type", "content-disposition", "content-transfer-encoding"])
_KIND = re.compile(rb"\s*+([\w.+-]++/[\w.+-]++)\s*+(?:;|\Z)")
_BOUNDARY = re.compile(rb"\bboundary\s*+=\s*+(?:\"([^\"]*+)\"|([^\s;\"]++))", re.IGNORECASE)
_CHARSET = re.compile(rb"\bcharset\*?\s*+=\s*+[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_NAME = re.compile(
    rb"(?:^|[;\s])(?:file)?name(?:\*(\d{1,3}))?(\*?)\s*+=\s*+(?:\"([^\"]*+)\"?|([^\s;\"]*+))",
    re.IGNORECASE,
)
_PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")


class Part(NamedTuple):
    """A part of a message that has no parts: its type, and its content as it was sent."""

    kind: str
    charset: str | None
    encoding: str
    is_attached: bool
    name: bytes
    """The name of the file, as bytes that may hold encoded words."""
    data: bytes
    alternative: int
    """Which set of alternatives it belongs to, −1 for none."""

    def content(self) -> bytes:
        """Undo the transfer encoding; what cannot be undone is left as it is."""
        return unquoted(self.data, self.encoding)


def unquoted(data: bytes, encoding: str) -> bytes:
    r"""Undo a transfer encoding of bytes.

    >>> unquoted(b"caf=C3=A9", "quoted-printable"), unquoted(b"aGk", "base64"), unquoted(b"x", "")
    (b'caf\xc3\xa9', b'hi', b'x')
    """
    if encoding == "quoted-printable":
        return a2b_qp(data)
    if encoding == "base64":
        try:
            return a2b_base64(data + b"===")
        except Base64Error:
            return data
    return data


def read_fields(data: bytes) -> tuple[list[Field], bytes]:
    r"""Read the header fields of a message whose lines end in \n, and what follows them.

    >>> read_fields(b"Subject: a\n b\nTo: c\n\ntext")
    ([('subject', b' a b'), ('to', b' c')], b'text')
    """
    fields, end = read_header(data, _LONGEST_NAME, _LONGEST_FIELD)
    return fields, data[end + 1 :] if data.startswith(b"\n", end) else data[end:]


def read_parts(fields: list[Field], body: bytes) -> list[Part]:
    r"""List the parts of a body that have no parts, in their order.

    >>> head = [("content-type", b"multipart/mixed; boundary=b")]
    >>> [part.data for part in read_parts(head, b"--b\n\none\n--b\n\ntwo\n--b--\n")]
    [b'one', b'two']
    """
    parts: list[Part] = []
    for part in _leaves(fields, body, 0, [-1], -1):
        parts.append(part)
        if len(parts) >= _MOST_PARTS:
            break
    return parts


def _leaves(
    fields: list[Field], body: bytes, depth: int, sets: list[int], alternative: int
) -> Iterator[Part]:
    """Iterate over parts; `sets` counts the sets of alternatives that were met."""
    known: dict[str, bytes] = {}
    for name, value in fields:
        if name in _CONTENT:
            known.setdefault(name, value)
    declared = known.get("content-type", b"")
    found = _KIND.match(declared)
    kind = found[1].decode("ascii").lower() if found else "text/plain"
    if depth < _DEEPEST:
        if kind.startswith("multipart/"):
            boundary = _BOUNDARY.search(declared)
            pieces = _pieces(body, boundary[1] or boundary[2] or b"") if boundary else []
            if pieces:
                if kind == "multipart/alternative" and alternative < 0:
                    sets[0] += 1
                    alternative = sets[0]
                for piece in pieces:
                    yield from _leaves(*read_fields(piece), depth + 1, sets, alternative)
                return
        elif kind in ("message/rfc822", "message/global"):
            yield from _leaves(*read_fields(body.lstrip(b"\n")), depth + 1, sets, alternative)
            return
    charset = _CHARSET.search(declared)
    disposition = known.get("content-disposition", b"")
    yield Part(
        kind,
        charset[1].decode("ascii").lower() if charset else None,
        known.get("content-transfer-encoding", b"").strip().lower().decode("latin-1"),
        disposition.lstrip()[:10].lower() == b"attachment",
        _file_name(disposition) or _file_name(declared),
        body,
        alternative,
    )


def _pieces(body: bytes, boundary: bytes) -> list[bytes]:
    """Cut a body at the lines that begin with a boundary; what is before the first is no part."""
    if not boundary:
        return []
    _, *pieces = (b"\n" + body).split(b"\n--" + boundary, _MOST_PARTS)
    found: list[list[bytes]] = []
    for piece in pieces:
        if piece.startswith(b"--"):
            break
        line, newline, rest = piece.partition(b"\n")
        if line.strip():  # a longer line that begins like it: of the part before
            if found:
                found[-1] += [b"\n--", boundary, piece]
            continue
        found.append([rest if newline else b""])
    return [b"".join(lines) for lines in found]


def _file_name(value: bytes) -> bytes:
    """Find the name of a file in a field, with its continuations (RFC 2231)."""
    if b"ame" not in value and b"AME" not in value:
        return b""
    numbered: dict[int, bytes] = {}
    for number, star, quoted, bare in _NAME.findall(value):
        text = quoted or bare
        if star:
            charset = None
            if int(number or 0) == 0 and text.count(b"'") >= 2:
                charset, _, text = text.split(b"'", 2)
            text = _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), text)
            if charset:
                text = decode(text, charset.decode("latin-1")).encode()
        numbered.setdefault(int(number or 0), text)
    return b"".join(numbered[i] for i in sorted(numbered))
