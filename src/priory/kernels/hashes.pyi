import numpy as np
from numpy.typing import NDArray

def add_numbers(hashes: NDArray[np.uint64], values: NDArray[np.float64], seed: int) -> None: ...
def text_checksums(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], out: NDArray[np.uint64]
) -> None: ...
