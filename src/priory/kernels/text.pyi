from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def encode_texts(
    texts: Sequence[Any] | NDArray[np.object_],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]: ...
def split_words(text: str | bytes) -> list[str]: ...
def character_tables() -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.bool_]]: ...
