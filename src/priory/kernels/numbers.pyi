import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]
Codes = NDArray[np.int32]
Rows = NDArray[np.int64]
Sums = NDArray[np.float64]

def class_moments(
    X: Floats,
    y: Codes,
    weight: Sums | None,
    rows: Rows,
    total: Sums,
    s1_hi: Sums,
    s1_lo: Sums,
    s2_hi: Sums,
    s2_lo: Sums,
    total_lo: Sums | None = None,
) -> int: ...
def add_rows(
    X: Sums,
    y: Codes,
    rows: Rows,
    n_hi: Sums,
    n_lo: Sums,
    s1_hi: Sums,
    s1_lo: Sums,
    s2_hi: Sums,
    s2_lo: Sums,
) -> bool: ...
def central_moments(
    n_hi: Sums,
    n_lo: Sums,
    s1_hi: Sums,
    s1_lo: Sums,
    s2_hi: Sums,
    s2_lo: Sums,
    mean: Sums,
    squares: Sums,
) -> None: ...
def add_up(hi: Sums, lo: Sums, total_hi: Sums, total_lo: Sums) -> None: ...
def count_cells(
    x: Floats, y: Codes, weight: Sums | None, K: int, level: int, limit: int
) -> tuple[int, Rows, Rows, Sums]: ...
