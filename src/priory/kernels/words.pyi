from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priory.kernels.text import Borrowed, Splitter
from priory.kernels.vocabulary import Vocabulary

Offsets = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_] | NDArray[np.uint8]

class Pairs(NamedTuple):
    word: NDArray[np.int32]
    label: NDArray[np.int32]
    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    # A tuple has a method of this name; the field takes its place.
    count: NDArray[np.float64]  # type: ignore[assignment]
    log_tf: NDArray[np.float64]

class WordCounts(NamedTuple):
    pairs: Pairs
    class_rows: NDArray[np.int64]
    class_weight: NDArray[np.float64]
    class_words: NDArray[np.float64]

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

class WordCounter:
    vocabulary: Vocabulary
    def __init__(self, vocabulary: Vocabulary, n_classes: int) -> None: ...
    def add(
        self,
        data: NDArray[np.uint8] | Borrowed,
        offsets: Offsets | None,
        missing: Flags | None,
        y: NDArray[np.int32],
        weight: NDArray[np.float64] | None = None,
        splitter: Splitter | None = None,
    ) -> None: ...
    def merge(self, other: WordCounter, threads: int = 1) -> None: ...
    def result(self, threads: int = 1) -> WordCounts: ...

def count_words(
    data: NDArray[np.uint8] | Borrowed,
    offsets: Offsets | None,
    missing: Flags | None,
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    vocabulary: Vocabulary,
    n_classes: int = 0,
    splitter: Splitter | None = None,
) -> WordCounts: ...
def count_matrix(
    data: NDArray[np.uint8] | Borrowed,
    offsets: Offsets | None,
    missing: Flags | None,
    vocabulary: Vocabulary,
    splitter: Splitter | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
def sort_pairs(pairs: Pairs, n_words: int) -> Pairs: ...
def add_pairs(a: Pairs, b: Pairs) -> Pairs: ...
def subtract_pairs(a: Pairs, b: Pairs) -> Pairs: ...
def spread_pairs(
    word: NDArray[np.int32],
    label: NDArray[np.int32],
    deltas: NDArray[np.float64],
    place: NDArray[np.int32],
    scale: NDArray[np.float64],
    constant: NDArray[np.float64],
    class_part: NDArray[np.float64],
    rows: NDArray[np.float64],
) -> None: ...
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
