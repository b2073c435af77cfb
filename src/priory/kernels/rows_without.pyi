from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]
Table = NDArray[np.float64]
Numbers = NDArray[np.float64]
Codes = NDArray[np.int32]

def combined_codes(codes: NDArray[Any], first: Codes, kinds: Codes, out: Codes) -> None: ...
def gaussian_own(
    X: Floats,
    y: Codes,
    amount: Numbers,
    own: Table,
    pooled: Table,
    smoothing: float,
    epsilon: Numbers,
    out: Numbers,
) -> None: ...
def add_gaussian_shifted(X: Floats, more: Numbers, classes: Table, out: Table) -> None: ...
def add_own(y: Codes, scores: Table, own: Numbers) -> None: ...
def put_own(y: Codes, own: Numbers, scores: Table) -> None: ...
