from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_] | NDArray[np.uint8]

LONGEST: Final[int]

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

class Vocabulary:
    def __init__(self, words: Iterable[str] = ()) -> None: ...
    def __len__(self) -> int: ...
    def __copy__(self) -> Vocabulary: ...
    def __deepcopy__(self, memo: Any) -> Vocabulary: ...
    def add(self, word: str) -> int: ...
    def find(self, word: str) -> int: ...
    def words(self) -> list[str]: ...
    def extend(self, other: Vocabulary) -> NDArray[np.int32]: ...
    def copy(self) -> Vocabulary: ...

def encode_texts(
    texts: Sequence[Any] | NDArray[np.object_],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]: ...
def split_words(text: str | bytes) -> list[str]: ...
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
def character_tables() -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.bool_]]: ...
