"""Why a request is refused: a status, a message for people, and the field at fault."""

from __future__ import annotations

import re
from typing import Any

from priory.base.errors import (
    ForgetError,
    ModelFileError,
    NotFittedError,
    PrioryError,
    TooLargeError,
)

__all__ = ["Refusal", "refusal_of"]

COLUMN = re.compile(r"\b[Cc]olumn '((?:[^'\\]|\\.)+)'")


class Refusal(Exception):  # noqa: N818 - it is an answer
    """An answer that is not what was asked for; `field` is the part of the request at fault.

    >>> Refusal(400, "rows must be a list", "rows").body("7f")
    {'error': {'message': 'rows must be a list', 'field': 'rows', 'request': '7f'}}
    """

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.field = status, message, field

    def body(self, request: str) -> dict[str, Any]:
        """Write the refusal as JSON values."""
        told = {"message": self.message, "field": self.field, "request": request}
        return {"error": told}

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """What a client should know beside the body."""
        if self.status == 401:
            return [(b"www-authenticate", b"Bearer")]
        return [(b"retry-after", b"1")] if self.status in (429, 503) else []


def refusal_of(error: Exception) -> Refusal:
    """Turn an error into an answer: what is the client's fault is told, nothing else is.

    >>> found = refusal_of(PrioryError("Column 'grams' is read as numbers, but holds 'x'."))
    >>> found.status, found.field
    (400, 'grams')
    >>> refusal_of(KeyError("/home/ann/model.priory")).message
    'The server failed; the log has the number of this request.'
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, ModelFileError):  # which names a path
        return Refusal(503, "The model's file could not be read or written; nothing was changed.")
    if isinstance(error, NotFittedError):
        return Refusal(409, "The model has learned no rows that it could answer from.")
    if isinstance(error, PrioryError):
        found = COLUMN.search(str(error))
        status = 409 if isinstance(error, ForgetError) else 400
        status = 413 if isinstance(error, TooLargeError) else status
        return Refusal(status, str(error), found[1] if found else "rows")
    if isinstance(error, TimeoutError):
        return Refusal(503, "The answer took longer than the server allows.")
    return Refusal(500, "The server failed; the log has the number of this request.")
