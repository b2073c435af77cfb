from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def encode_objects(
    values: NDArray[np.object_],
) -> tuple[NDArray[np.int32], list[bool | int | float | str]]: ...
def encode_integers(
    values: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def encode_range(
    x: NDArray[np.int64], low: int, codes: NDArray[np.int32], seen: NDArray[np.uint8]
) -> None: ...
def narrow_codes(x: NDArray[np.int32] | NDArray[np.int64], codes: NDArray[np.int8]) -> bool: ...
def pack_codes(
    X: NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int32] | NDArray[np.int64],
    out: NDArray[np.int8] | NDArray[np.int32],
    first: int,
    largest: NDArray[np.int64],
) -> int: ...
def count_joint(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: NDArray[np.int64]
) -> int: ...
def count_labels(
    c: NDArray[np.int8] | NDArray[np.int16] | NDArray[np.int32] | NDArray[np.int64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    rows: NDArray[np.int64],
    total: NDArray[np.float64],
) -> None: ...
