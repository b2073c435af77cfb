from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

class Pairs(NamedTuple):
    word: NDArray[np.int32]
    label: NDArray[np.int32]
    rows: NDArray[np.int64]
    weight: NDArray[Any]
    # A tuple has a method of this name; the field takes its place.
    count: NDArray[np.float64]  # type: ignore[assignment]
    log_tf: NDArray[np.float64]

def sort_pairs(pairs: Pairs, n_words: int) -> Pairs: ...
def take_pairs(pairs: Pairs, where: NDArray[Any]) -> Pairs: ...
def add_pairs(a: Pairs, b: Pairs) -> Pairs: ...
def subtract_pairs(a: Pairs, b: Pairs) -> Pairs: ...
def sum_by(
    codes: NDArray[np.int32], values: NDArray[np.float64], size: int
) -> NDArray[np.float64]: ...
def log_plus(n: NDArray[np.float64], a: float) -> NDArray[np.float64]: ...
