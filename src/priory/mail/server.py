r"""A server at a Unix socket: a message costs its words, not the start of a process.

The protocol is lines. A request is answered by one line; a connection may have many of them.

    CLASSIFY <bytes>\n<message>    spam 0.998710\n   (or ham, unsure)
    PING\n                         PONG <messages answered>\n
    anything else                  ERROR <why>\n     and the connection ends
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import socketserver
import stat
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

from priory.base.errors import PrioryError, SettingError
from priory.mail.judging import Judge

__all__ = ["LARGEST", "serve"]

LARGEST = 64 * 2**20
"""The longest message that is read, in bytes."""

LONGEST = 103
"""So many bytes the path of a socket may have on every system."""

PATIENCE = 60.0
"""Seconds after which a connection that says nothing is closed."""


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str, judge: Judge) -> None:
        self.judge = judge
        self.lock = threading.Lock()
        self.answered = 0
        super().__init__(path, _Connection)

    def answer(self, message: bytes) -> bytes:
        with self.lock:
            self.judge.refresh()
            verdict = self.judge.verdict(message)
            self.answered += 1
        return b"%s %.6f\n" % (verdict.label.encode("ascii"), verdict.probability)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: whoever asked has left."""


class _Connection(socketserver.StreamRequestHandler):
    timeout = PATIENCE

    def handle(self) -> None:
        server = cast(_Server, self.server)
        with contextlib.suppress(OSError):
            for line in iter(lambda: self.rfile.readline(100), b""):
                answer = self._answer(server, line.split())
                self.wfile.write(answer)
                if answer.startswith(b"ERROR"):
                    return

    def _answer(self, server: _Server, request: list[bytes]) -> bytes:
        if request == [b"PING"]:
            return b"PONG %d\n" % server.answered
        if len(request) != 2 or request[0] != b"CLASSIFY" or not request[1].isdigit():
            return b"ERROR a request is CLASSIFY and a number of bytes, or PING\n"
        size = int(request[1])
        if size > LARGEST:
            return b"ERROR a message may have %d bytes at most\n" % LARGEST
        message = self.rfile.read(size)
        if len(message) < size:
            return b"ERROR the message ended early\n"
        try:
            return server.answer(message)
        except PrioryError as error:
            return b"ERROR " + " ".join(str(error).split()).encode() + b"\n"


def serve(model: str, path: str, ready: Callable[[str], Any] = print) -> None:
    """Answer at a Unix socket, which only its owner may use, until a signal ends it."""
    judge = Judge(model)
    _make_room(path)
    with _private():
        server = _Server(path, judge)

    def stop(*_: Any) -> None:
        threading.Thread(target=server.shutdown).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        ready(f"serving {model} at {path}")
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()
        with contextlib.suppress(OSError):
            os.unlink(path)
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_room(path: str) -> None:
    """Remove the socket of a server that is gone; refuse anything else."""
    size = len(os.fsencode(path))
    if size > LONGEST:
        raise SettingError(
            f"--socket: a path may have {LONGEST} bytes, and {path!r} has {size}; choose a shorter "
            "one, such as ~/.priory.sock."
        )
    try:
        mode = os.stat(path).st_mode
    except OSError:
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise SettingError(f"--socket: there is no folder {folder!r}.") from None
        return
    if not stat.S_ISSOCK(mode):
        raise SettingError(f"--socket: {path!r} is there already, and is no socket.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(1.0)
        try:
            line.connect(path)
        except OSError:
            os.unlink(path)
            return
    raise SettingError(f"--socket: another server answers at {path!r} already.")


@contextlib.contextmanager
def _private() -> Iterator[None]:
    """Let only the owner use what is made meanwhile."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)
