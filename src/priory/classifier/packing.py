"""Arrays in JSON: compressed bytes as text, with how many entries there are.

A file is not to be trusted: every array has a known type, and no more bytes than it says.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import AnyArray

__all__ = ["packed", "unpacked"]

MOST_BYTES = 1 << 30


def packed(values: AnyArray, dtype: str) -> dict[str, Any]:
    """Write an array as JSON values; its inverse is `unpacked`.

    >>> unpacked(packed(np.array([1, 2]), "<i4"), "<i4").tolist()
    [1, 2]
    """
    content = zlib.compress(np.ascontiguousarray(values, dtype=dtype).tobytes(), 1)
    return {"size": int(np.size(values)), "data": base64.b64encode(content).decode("ascii")}


def unpacked(
    plain: Mapping[str, Any], dtype: str, size: int | None = None, of: str = "its sample"
) -> AnyArray:
    """Read the array of JSON values; refuse another size than is wanted, or than it says."""
    wanted = int(plain["size"])
    n_bytes = wanted * np.dtype(dtype).itemsize
    if wanted < 0 or n_bytes > MOST_BYTES or (size is not None and wanted != size):
        raise SettingError(f"an array of {of} has {wanted} entries")
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(base64.b64decode(plain["data"], validate=True), n_bytes + 1)
    if len(data) != n_bytes:
        raise SettingError(f"an array of {of} is not as long as it says")
    return np.frombuffer(data, dtype=dtype).astype(dtype[1:])
