import numpy as np
from numpy.typing import NDArray

def encode_objects(
    values: NDArray[np.object_],
) -> tuple[NDArray[np.int32], list[bool | int | float | str]]: ...
def encode_integers(
    values: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def count_labels(
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    rows: NDArray[np.int64],
    total: NDArray[np.float64],
) -> None: ...
