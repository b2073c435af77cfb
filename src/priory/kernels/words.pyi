from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from priory.kernels.pairs import Pairs
from priory.kernels.text import Splitter
from priory.kernels.utf8 import Borrowed
from priory.kernels.vocabulary import Vocabulary

Offsets = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_] | NDArray[np.uint8]

class WordCounts(NamedTuple):
    pairs: Pairs
    class_rows: NDArray[np.int64]
    class_weight: NDArray[np.float64]
    class_words: NDArray[np.float64]

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
    @staticmethod
    def start(n_classes: int) -> WordCounter: ...
    def rest(self) -> None: ...
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
