"""Tokens: who may ask, teach and administer. A file holds their digests, never the tokens."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from priory.base.errors import InputError, SettingError, listing
from priory.base.replacing import locked, replacing

__all__ = ["SCOPES", "Tokens", "new_token"]

SCOPES = ("predict", "learn", "admin")
"""What a token may be for: asking, changing the model, and metrics and saving."""


@dataclass(frozen=True)
class _Known:
    name: str
    digest: bytes
    scopes: frozenset[str]


def new_token(path: str | os.PathLike[str], scopes: Sequence[str]) -> str:
    """Make a token, add its digest to a file, and give the token, which is nowhere else.

    A token has 256 random bits, so a plain SHA-256 of it tells nothing of it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tokens.json"
    >>> token = new_token(path, ["predict"])
    >>> token in path.read_text(), Tokens(path).scopes_of(token)
    (False, frozenset({'predict'}))
    """
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        raise SettingError(
            f"A token needs scopes, one or more of {', '.join(SCOPES)}; not {listing(wrong)}."
        )
    name, token = secrets.token_hex(4), secrets.token_urlsafe(32)
    with locked(path):
        known = _read(path) if os.path.exists(path) else []
        known.append({"name": name, "scopes": list(scopes), "sha256": _digest(token).hex()})
        with replacing(path) as made:
            os.chmod(made, 0o600)
            Path(made).write_text(json.dumps({"tokens": known}, indent=1) + "\n", encoding="utf-8")
        os.chmod(path, 0o600)
    return token


class Tokens:
    """The tokens of a file, read again when it changes: one that is taken out is no longer good."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._stamp: Any = None
        self._known: list[_Known] = []
        self._refresh()

    def scopes_of(self, token: str) -> frozenset[str]:
        """Say what a token is for: nothing, if it is not known.

        It is compared with all, each in constant time, so that the time tells nothing.
        """
        self._refresh()
        digest, found = _digest(token), frozenset[str]()
        for known in self._known:
            if hmac.compare_digest(known.digest, digest):
                found = known.scopes
        return found

    def _refresh(self) -> None:
        try:
            there = os.stat(self._path)
            stamp = there.st_mtime_ns, there.st_size, there.st_ino
            if stamp != self._stamp:
                self._known = [_known(entry) for entry in _read(self._path)]
                self._stamp = stamp
        except (OSError, InputError):
            if self._stamp is None:
                raise
            with contextlib.suppress(AttributeError):  # a file that is gone lets nobody in
                self._known = []


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _known(entry: Any) -> _Known:
    try:
        scopes: Iterable[str] = entry["scopes"]
        return _Known(str(entry["name"]), bytes.fromhex(entry["sha256"]), frozenset(scopes))
    except (KeyError, TypeError, ValueError):
        raise InputError("A token in the file of tokens has no name, scopes or sha256.") from None


def _read(path: str | os.PathLike[str]) -> list[Any]:
    try:
        tokens = json.loads(Path(path).read_text("utf-8"))["tokens"]
        if isinstance(tokens, list):
            return tokens
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"{os.fspath(path)} is no file of tokens; make one with --new-token.")
