import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]

def class_moments(
    X: Floats,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    rows: NDArray[np.int64],
    total: NDArray[np.float64],
    s1_hi: NDArray[np.float64],
    s1_lo: NDArray[np.float64],
    s2_hi: NDArray[np.float64],
    s2_lo: NDArray[np.float64],
    total_lo: NDArray[np.float64] | None = None,
) -> int: ...
def add_rows(
    X: NDArray[np.float64],
    y: NDArray[np.int32],
    rows: NDArray[np.int64],
    n_hi: NDArray[np.float64],
    n_lo: NDArray[np.float64],
    s1_hi: NDArray[np.float64],
    s1_lo: NDArray[np.float64],
    s2_hi: NDArray[np.float64],
    s2_lo: NDArray[np.float64],
) -> bool: ...
def central_moments(
    n_hi: NDArray[np.float64],
    n_lo: NDArray[np.float64],
    s1_hi: NDArray[np.float64],
    s1_lo: NDArray[np.float64],
    s2_hi: NDArray[np.float64],
    s2_lo: NDArray[np.float64],
    mean: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None: ...
def add_up(
    hi: NDArray[np.float64],
    lo: NDArray[np.float64],
    total_hi: NDArray[np.float64],
    total_lo: NDArray[np.float64],
) -> None: ...
def count_cells(
    x: Floats,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    K: int,
    level: int,
    limit: int,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
