import numpy as np
from numpy.typing import NDArray

def most_telling(
    indptr: NDArray[np.int64],
    codes: NDArray[np.int32],
    evidence: NDArray[np.float64],
    group: NDArray[np.int64],
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
