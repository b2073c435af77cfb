from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

class LooTexts(NamedTuple):
    scores: NDArray[np.float64]
    gone: NDArray[np.float64]
    own: NDArray[np.float64]
    pooled: NDArray[np.float64]
    weight: NDArray[np.float64]
    taken: NDArray[np.float64]
    pseudo_gone: NDArray[np.float64]
    n_leaving: NDArray[np.int64]
    is_learned: NDArray[np.bool_]

class LooSums:
    def __init__(
        self,
        starts: ArrayLike,
        labels: ArrayLike,
        rows: ArrayLike,
        n: ArrayLike,
        total: ArrayLike,
        texts: ArrayLike,
        n_classes: int,
        least: int = 1,
        term: Literal["count", "log", "binary", "unit"] = "count",
        score: Literal["fixed", "multinomial", "complement"] = "multinomial",
        pseudo: Literal["same", "uniform", "marginal", "given"] = "same",
        m: float = 1.0,
        given: ArrayLike | None = None,
        leaves: ArrayLike | None = None,
        deltas: ArrayLike | None = None,
        texts_of: ArrayLike | None = None,
        with_word: ArrayLike | None = None,
        all_texts: float = 0.0,
    ) -> None: ...
    def without(
        self,
        indptr: NDArray[np.int64],
        words: NDArray[np.int32],
        tf: NDArray[np.int32] | NDArray[np.float64],
        y: NDArray[np.int32],
        weights: NDArray[np.float64],
    ) -> LooTexts: ...
