import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]
Table = NDArray[np.float64]
Numbers = NDArray[np.float64]

def padded(values: Table, filler: float) -> Table: ...
def gaussian_own(
    X: Floats,
    y: NDArray[np.int32],
    amount: Numbers,
    n: Table,
    mean: Table,
    scatter: Table,
    least: Table,
    inverse: Table,
    log_norm: Table,
    pooled: Table,
    smoothing: float,
    epsilon: Numbers,
    own: Numbers,
    exact: NDArray[np.uint8],
) -> None: ...
def add_gaussian_shifted(
    X: Floats, more: Numbers, mean: Table, inverse: Table, log_norm: Table, out: Table
) -> None: ...
