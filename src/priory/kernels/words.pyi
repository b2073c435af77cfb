from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from priory.kernels.vocabulary import Vocabulary

Offsets = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_] | NDArray[np.uint8]

class WordCounts(NamedTuple):
    word: NDArray[np.int32]
    label: NDArray[np.int32]
    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    # A tuple has a method of this name; the field takes its place.
    count: NDArray[np.float64]  # type: ignore[assignment]
    log_tf: NDArray[np.float64]
    class_rows: NDArray[np.int64]
    class_weight: NDArray[np.float64]
    class_words: NDArray[np.float64]

def count_words(
    data: NDArray[np.uint8],
    offsets: Offsets,
    missing: Flags | None,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    vocabulary: Vocabulary,
    n_classes: int = 0,
) -> WordCounts: ...
def score_words(
    data: NDArray[np.uint8],
    offsets: Offsets,
    missing: Flags | None,
    vocabulary: Vocabulary,
    weights: NDArray[np.float64],
    out: NDArray[np.float64],
    binary: bool = False,
    log_tf: bool = False,
) -> None: ...
