from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from priory.kernels.vocabulary import Vocabulary

Unit = Literal["word", "char", "char_wb", "given"]
Texts = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]

class Splitter:
    unit: Unit
    lowercase: bool
    def __init__(
        self,
        unit: Unit = "word",
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        stop_words: Iterable[str] | Vocabulary | None = None,
    ) -> None: ...
    @property
    def ngrams(self) -> tuple[int, int]: ...
    @property
    def stop_words(self) -> tuple[str, ...] | None: ...
    def split(self, text: str | bytes) -> list[str]: ...

class Borrowed:
    def __init__(self, values: Sequence[Any] | NDArray[np.object_]) -> None: ...
    def __len__(self) -> int: ...

def borrow_texts(
    texts: Sequence[Any] | NDArray[np.object_],
) -> tuple[Borrowed, None, NDArray[np.bool_]]: ...
def encode_texts(texts: Sequence[Any] | NDArray[np.object_]) -> Texts: ...
def text_sizes(texts: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]: ...
def encode_tokens(documents: Iterable[Iterable[str] | None]) -> Texts: ...
def character_tables() -> tuple[
    NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]
]: ...
