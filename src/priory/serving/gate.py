"""The gate: everything that comes in passes here, before any of it is believed.

It gives a request its number, checks where it comes from and what its token is for, bounds its
body, and sees to it that every answer has the same headers, every error is JSON without a path or
a stack, and the log has a line without any value.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from priory.serving.bodies import JSON, dumped
from priory.serving.configuration import Configuration
from priory.serving.refusals import Refusal, refusal_of
from priory.serving.service import Service
from priory.serving.tokens import Tokens

__all__ = ["Gate", "make_app"]

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

OPEN = frozenset(["/", "/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"])
"""What anyone may see: that the server is there, and the page without its data."""

ASSETS = "/assets/"
QUICK = "/v1/predict"
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""No address has these. To a route's pattern a newline at the end is no part of the path, and so
would lead to a route under another name than the one that tokens are checked by."""

ADMIN = re.compile(
    r"/v1/(metrics|(models/[^/]*/)?drift)|/page/[^/]*/(drift|(try|predict-file)(/.*)?)"
)
REQUEST = re.compile(rb"[\w.:-]{1,64}")

HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]


def make_app(configuration: Configuration) -> Gate:
    """Make the ASGI application of a server: `uvicorn` and others run it.

    >>> make_app(Configuration({"days": "nowhere.priory"}))
    Traceback (most recent call last):
    priory.base.errors.ModelFileError: nowhere.priory could not be read: No such file or directory.
    """
    return Gate(configuration)


class Gate:
    """The ASGI application: it lets in what may come in, and sends on what is asked."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self._tokens = (
            None if configuration.token_file is None else Tokens(configuration.token_file)
        )
        self.service = Service(configuration)
        from priory.serving.api import make_routes  # which needs FastAPI

        self.routes = make_routes(self.service)
        for kind in (Refusal, Exception, 404, 405):
            self.routes.add_exception_handler(kind, _handed_on)
        self._hosts = frozenset(host.lower() for host in configuration.hosts)
        self._begun, self._requests = secrets.token_hex(4), count(1)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one connection of ASGI."""
        if scope["type"] != "http":
            await self.routes(scope, receive, send)
            return
        began = time.perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        number = given if given and REQUEST.fullmatch(given) else self._number()
        answer = _Answer(send, [(b"x-request-id", number), *HEADERS])
        failure: BaseException | None = None
        try:
            await self._answer(scope, headers, receive, answer)
        except Exception as error:
            failure = error
            await answer.refuse(refusal_of(error), number.decode())
        seconds = time.perf_counter() - began
        route = scope.get("route")
        path = QUICK if scope["path"] == QUICK else getattr(route, "path", "other")
        self.service.metrics.answered(path, answer.status, seconds)
        self._log(number, scope["method"], path, answer.status, seconds, failure)

    def _number(self) -> bytes:
        """Give a request a number: of the process, and how many came before."""
        return f"{self._begun}-{next(self._requests):x}".encode()

    async def _answer(
        self, scope: Message, headers: dict[bytes, bytes], receive: Receive, answer: _Answer
    ) -> None:
        path = scope["path"]
        self._check_origin(headers)
        if CONTROL.search(path):
            raise Refusal(404, "There is nothing at this address.", "path")
        if path not in OPEN and not path.startswith(ASSETS):
            self._check_token(path, headers)
        body = b""
        if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            body = await self._body(headers, receive)
        if path == QUICK and scope["method"] == "POST":
            kinds = (
                headers.get(name, b"").decode("latin-1") for name in (b"content-type", b"accept")
            )
            await answer.reply(*await self.service.predict(None, body, *kinds))
            return

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.routes(scope, again, answer.send)

    # Who, from where

    def _check_origin(self, headers: dict[bytes, bytes]) -> None:
        """Refuse what another page sends, and names that lead here by somebody else's DNS."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._tokens is None and _hostname(host) not in self._hosts:
            raise Refusal(403, "This server is not known by that name.", "Host")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower().partition("://")[2] != host:
            raise Refusal(403, "Requests of other pages are not answered.", "Origin")

    def _check_token(self, path: str, headers: dict[bytes, bytes]) -> None:
        if self._tokens is None:
            return
        verb = path.rpartition("/")[2]
        needed = "learn" if verb in ("learn", "forget") else "predict"
        needed = "admin" if ADMIN.fullmatch(path) else needed
        kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        scopes = self._tokens.scopes_of(token.strip()) if kind.lower() == "bearer" else frozenset()
        if not scopes:
            told = "This token is not known" if token else "A token is needed"
            raise Refusal(401, f"{told}: Authorization: Bearer TOKEN.", "Authorization")
        if needed not in scopes:
            raise Refusal(403, f"This token does not have the scope {needed}.", "Authorization")

    # Bodies

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        most = self.configuration.limits.body
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        pieces, size = [], 0
        try:
            async with asyncio.timeout(self.configuration.limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "The request was broken off.", "body")
                    piece = message.get("body", b"")
                    size += len(piece)
                    if size > most:
                        raise _too_large(most)
                    pieces.append(piece)
                    if not message.get("more_body"):
                        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        except TimeoutError:
            raise Refusal(408, "The body took too long to arrive.", "body") from None

    # Telling

    def _log(
        self,
        number: bytes,
        method: str,
        route: str,
        status: int,
        seconds: float,
        failure: BaseException | None,
    ) -> None:
        level = self.configuration.log
        if level == "none" or (level == "errors" and status < 500):
            return
        told: dict[str, Any] = {
            "time": time.time(),
            "request": number.decode(),
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1e3, 3),
        }
        if status >= 500 and failure is not None:  # where, never with what values
            told["failure"] = type(failure).__name__
            told["at"] = [
                f"{frame.name}:{frame.lineno}"
                for frame in traceback.extract_tb(failure.__traceback__)[-6:]
            ]
        sys.stderr.write(json.dumps(told) + "\n")


class _Answer:
    """What is sent back, with our headers, and its status."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send, self._headers = send, headers
        self.status, self._has_begun = 500, False

    async def send(self, message: Message) -> None:
        """Send on what the routes answer."""
        if message["type"] == "http.response.start":
            self.status, self._has_begun = message["status"], True
            given = [pair for pair in message["headers"] if pair[0] != b"cache-control"]
            message = {**message, "headers": [*given, *self._headers]}
        await self._send(message)

    async def reply(self, kind: str, body: bytes, status: int = 200, more: Any = ()) -> None:
        """Send an answer as a whole."""
        self.status, self._has_begun = status, True
        size = str(len(body)).encode()
        own = [(b"content-type", kind.encode()), (b"content-length", size), *more]
        start = {"type": "http.response.start", "status": status}
        await self._send({**start, "headers": [*own, *self._headers]})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, refusal: Refusal, number: str) -> None:
        """Send a refusal, unless an answer has begun already."""
        if not self._has_begun:
            body = dumped(refusal.body(number))
            await self.reply(JSON, body, refusal.status, refusal.headers)


@lru_cache(256)
def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"The body is larger than {most:,} bytes.", "body")


async def _handed_on(request: Any, error: Any) -> Any:
    """Let the gate tell of errors: a route that is not there, a method that is not, and others."""
    status = getattr(error, "status_code", None)
    if status is not None:
        what = "There is nothing at this address." if status == 404 else "Not by this method."
        raise Refusal(status, what, "path" if status == 404 else "method")
    raise error
