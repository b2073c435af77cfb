"""Ask a running server what a message is: nothing but a socket has to be loaded."""

from __future__ import annotations

import socket
from contextlib import suppress

from priory.base.errors import InputError

__all__ = ["ask"]

PATIENCE = 30.0
"""Seconds to wait for an answer."""


def ask(path: str, message: bytes) -> tuple[str, float]:
    """Ask the server at a Unix socket; give its label and the probability of spam.

    >>> ask("/nowhere/priory.sock", b"To: a")
    Traceback (most recent call last):
    priory.base.errors.InputError: No server answers at --socket /nowhere/priory.sock: No such file
    or directory. Start one: priory mail serve --socket /nowhere/priory.sock.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(PATIENCE)
            line.connect(path)
            with suppress(BrokenPipeError, ConnectionResetError):  # then the answer says why
                line.sendall(b"CLASSIFY %d\n" % len(message) + message)
            answer = line.makefile("rb").readline(1000).decode("utf-8", "replace").split()
    except OSError as error:
        raise InputError(
            f"No server answers at --socket {path}: {error.strerror or error}. Start one: priory "
            f"mail serve --socket {path}."
        ) from None
    try:
        label, probability = answer
        return label, float(probability)
    except ValueError:
        raise InputError(
            f"The server at --socket {path} answered: {' '.join(answer).rstrip('.') or 'nothing'}."
        ) from None
