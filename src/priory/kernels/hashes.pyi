from typing import Any

import numpy as np
from numpy.typing import NDArray

def add_codes(
    hashes: NDArray[np.uint64], codes: NDArray[Any], of_code: NDArray[np.uint64]
) -> None: ...
def add_numbers(hashes: NDArray[np.uint64], values: NDArray[np.float64], seed: int) -> None: ...
