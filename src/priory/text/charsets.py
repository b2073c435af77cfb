"""Decoding of bytes whose declared charset may be wrong."""

from __future__ import annotations

import re

__all__ = ["decode"]

_REFUSED = frozenset(["punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined"])
"""Python's own codecs, which no text is sent in; the first two take quadratic time."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(data: bytes, *charsets: str | None) -> str:
    r"""Decode bytes by the first charset that fits, else as UTF-8, Windows-1252 or Latin-1.

    Never fails, and the text can always be encoded as UTF-8.

    >>> decode(b"caf\xc3\xa9", "nonsense"), decode(b"\x93caf\xe9\x94", "utf-8")
    ('café', '“café”')
    """
    for charset in (*charsets, "utf-8", "cp1252"):
        if charset and charset.lower().replace("-", "_") not in _REFUSED:
            try:
                text = data.decode(charset)
            except (LookupError, ValueError):
                continue
            try:
                text.encode()
            except UnicodeEncodeError:  # UTF-7 lets lone surrogates through
                text = _LONE_SURROGATE.sub("\ufffd", text)
            return text
    return data.decode("latin-1")
