"""Pass a message on with a header field that says what it is; every other byte stays."""

from __future__ import annotations

import re

__all__ = ["FIELD", "with_field"]

FIELD = b"X-Priory"

_HEAD = re.compile(rb"(?:[!-9;-~]++[ \t]*+:[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\Z))*+")
_OURS = re.compile(rb"^X-Priory[ \t]*+:[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\Z)", re.I | re.M)


def with_field(message: bytes, label: str, probability: float) -> bytes:
    r"""Add an X-Priory field in front of the others, and remove those that were there.

    Line ends are those of the message; the line between messages of an mbox stays the first.

    >>> with_field(b"To: a\nX-Priory: ham\n\nHi", "spam", 0.9971)
    b'X-Priory: spam, probability=0.9971\nTo: a\n\nHi'
    """
    start = 0
    if message.startswith((b"From ", b">From ")):
        start = message.find(b"\n") + 1 or len(message)
    found = _HEAD.match(message, start)
    end = found.end() if found else start
    newline = b"\r\n" if message[:end].find(b"\r\n") >= 0 else b"\n"
    field = FIELD + b": %s, probability=%.4f" % (label.encode("ascii"), probability) + newline
    if message[start : start + 1] in (
        b" ",
        b"\t",
    ):  # no header at all, and not a folded line of ours
        field += newline
    return b"".join([message[:start], field, _OURS.sub(b"", message[start:end]), message[end:]])
