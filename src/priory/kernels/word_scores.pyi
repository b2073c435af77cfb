from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priory.kernels.text import Splitter
from priory.kernels.utf8 import Borrowed
from priory.kernels.vocabulary import Vocabulary

Offsets = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_] | NDArray[np.uint8]

class WordScores:
    place: NDArray[np.int32]
    dense: NDArray[np.float64]
    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    deltas: NDArray[np.float64]
    scale: NDArray[np.float64]
    constant: NDArray[np.float64]
    class_part: NDArray[np.float64]
    zero: bool
    def __init__(
        self,
        place: ArrayLike,
        dense: ArrayLike,
        starts: ArrayLike,
        labels: ArrayLike,
        deltas: ArrayLike,
        scale: ArrayLike,
        constant: ArrayLike,
        class_part: ArrayLike,
        zero: bool = False,
    ) -> None: ...

def place_pairs(
    word: NDArray[np.int32],
    label: NDArray[np.int32],
    deltas: NDArray[np.float64],
    place: NDArray[np.int32],
    scale: NDArray[np.float64],
    constant: NDArray[np.float64],
    class_part: NDArray[np.float64],
    rows: NDArray[np.float64],
    labels_out: NDArray[np.int32],
    deltas_out: NDArray[np.float64],
) -> int: ...
def score_words(
    data: NDArray[np.uint8] | Borrowed,
    offsets: Offsets | None,
    missing: Flags | None,
    vocabulary: Vocabulary,
    scores: WordScores,
    out: NDArray[np.float64],
    tf: Literal["count", "binary", "log"] = "count",
    splitter: Splitter | None = None,
) -> None: ...
