"""Credentials, taken out of texts that are printed or kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

__all__ = ["secrets_of", "without_secrets"]

_USER = re.compile(r"(\b[a-z][\w+.-]+:/{1,3})[^\s'\"/]*@", re.IGNORECASE)
_WORD = re.compile(
    r"""\b(\w*(?:password|passwd|passphrase|pwd|secret|access_key|token)\w*\s*=\s*)
    ('(?:[^'\\]|\\.|'')*'|"[^"]*"|[^\s'"&;,)]+)""",
    re.IGNORECASE | re.VERBOSE,
)
HIDDEN = "…"


def secrets_of(address: str) -> tuple[str, ...]:
    """List what an address holds that nobody else may read, as written and decoded, longest first.

    >>> secrets_of("postgresql://ann:p%40ss@host/db?sslpassword=other")
    ('p%40ss', 'other', 'p@ss')
    """
    _, _, rest = address.partition("://")
    user, at, _ = rest.rpartition("@")
    found = [user.partition(":")[2]] if at and ":" in user else []
    found += [match[2].strip("'\"") for match in _WORD.finditer(address)]
    both = {text for secret in found for text in (secret, unquote(secret)) if text}
    return tuple(sorted(both, key=lambda text: (-len(text), text)))


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """Replace passwords by dots, and leave the user of an address out.

    >>> without_secrets("ATTACH 'postgresql://ann:pass@host/db' AS d")
    "ATTACH 'postgresql://host/db' AS d"
    >>> without_secrets("There is no file postgresql:/ann:pass@host/db.")
    'There is no file postgresql:/host/db.'
    >>> without_secrets("host=h password='my word' user=ann")
    'host=h password=… user=ann'
    >>> without_secrets('invalid token: "p%zz"', ["p%zz"])
    'invalid token: "…"'
    """
    for secret in known:
        text = text.replace(secret, HIDDEN)
    text = _USER.sub(r"\1", text)
    return _WORD.sub(rf"\1{HIDDEN}", text)
