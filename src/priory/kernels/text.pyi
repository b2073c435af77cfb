from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from priory.kernels.vocabulary import Vocabulary

Unit = Literal["word", "sklearn", "char", "char_wb", "given"]

UNICODE: str

class Splitter:
    unit: Unit
    lowercase: bool
    symbols: bool
    def __init__(
        self,
        unit: Unit = "word",
        lowercase: bool = True,
        ngrams: tuple[int, int] = (1, 1),
        stop_words: Iterable[str] | Vocabulary | None = None,
        symbols: bool = False,
    ) -> None: ...
    @property
    def ngrams(self) -> tuple[int, int]: ...
    @property
    def stop_words(self) -> tuple[str, ...] | None: ...
    def split(self, text: str | bytes) -> list[str]: ...
    def split_lines(self, text: str, prefix: bytes) -> str: ...

def character_tables() -> tuple[
    NDArray[np.int32],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.int32],
]: ...
def character_stretches() -> list[int]: ...
