"""Arrow streams from strangers: bounded by their own bytes before they are read."""

from __future__ import annotations

import struct
from typing import Any

from priory.serving.refusals import Refusal

__all__ = ["read_arrow"]

DICTIONARY, BATCH = 2, 3
"""Kinds of messages, as Message.fbs of Arrow's format numbers them."""


def read_arrow(body: bytes, most: int) -> Any:
    """Read a table from an Arrow stream of so many rows at most, and check every value of it.

    Compressed buffers are refused: a body of a megabyte could unpack to more than the machine has.

    >>> read_arrow(b"no stream", 10)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    priory.serving.refusals.Refusal: The body is no Arrow stream: ...
    """
    import pyarrow as pa

    try:
        content = pa.py_buffer(body)
        _refuse_compressed(pa.ipc.MessageReader.open_stream(content))
        rows, batches = 0, []
        with pa.ipc.open_stream(content) as stream:
            for batch in stream:
                rows += batch.num_rows
                if rows > most:
                    told = f"The body holds more than {most:,} rows; send so many at most at once."
                    raise Refusal(413, told, "rows")
                batch.validate(full=True)
                batches.append(batch)
            _ = stream.schema.names  # which may be no UTF-8
            return pa.Table.from_batches(batches, stream.schema)
    except Refusal:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError) as error:
        raise Refusal(400, f"The body is no Arrow stream: {error!s:.200}", "body") from None
    except struct.error:
        raise Refusal(400, "The body is no Arrow stream: a message is cut short.", "body") from None


def _refuse_compressed(messages: Any) -> None:
    for message in messages:
        found = message.metadata.to_pybytes()
        root = struct.unpack_from("<I", found)[0]
        kind = _field(found, root, 1)
        if kind is None or found[kind] not in (DICTIONARY, BATCH):
            continue
        batch = _table(found, root, 2)
        if found[kind] == DICTIONARY and batch is not None:
            batch = _table(found, batch, 1)  # id, data
        if batch is not None and _field(found, batch, 3) is not None:  # length, nodes, buffers
            raise Refusal(400, "The buffers of the Arrow stream must not be compressed.", "body")


def _field(found: bytes, table: int, number: int) -> int | None:
    """Find where a field of a FlatBuffers table stands; None where it has its default."""
    vtable = table - struct.unpack_from("<i", found, table)[0]
    if vtable < 0:
        raise struct.error
    size = struct.unpack_from("<H", found, vtable)[0]
    if 4 + 2 * number + 2 > size:
        return None
    offset = struct.unpack_from("<H", found, vtable + 4 + 2 * number)[0]
    if table + offset >= len(found):
        raise struct.error
    return table + offset if offset else None


def _table(found: bytes, table: int, number: int) -> int | None:
    at = _field(found, table, number)
    return None if at is None else at + int(struct.unpack_from("<I", found, at)[0])
