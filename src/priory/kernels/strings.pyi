from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int8] | NDArray[np.int16] | NDArray[np.int32]

def encode_strings(
    pieces: Sequence[tuple[int, int, int, Sequence[Any]]],
) -> tuple[Codes, list[str]]: ...
def encode_fixed_strings(values: NDArray[np.str_]) -> tuple[Codes, list[str]]: ...
