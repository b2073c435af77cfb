import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int64]
Indices = NDArray[np.int32] | NDArray[np.int64]

def count_dense(
    X: Numbers,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    rows: NDArray[np.int64],
    total: NDArray[np.float64],
    s1: NDArray[np.float64],
) -> int: ...
def count_present_dense(
    X: Numbers,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    threshold: float,
    rows: NDArray[np.int64],
    total: NDArray[np.float64],
) -> int: ...
def count_csr(
    data: Numbers,
    indices: Indices,
    indptr: Indices,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    rows: NDArray[np.int64],
    total: NDArray[np.float64],
    s1: NDArray[np.float64],
    low: int = 0,
    high: int = ...,
) -> int: ...
