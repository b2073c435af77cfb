import numpy as np
from numpy.typing import NDArray

def add_numbers(hashes: NDArray[np.uint64], values: NDArray[np.float64], seed: int) -> None: ...
