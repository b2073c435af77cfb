from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

class LeftTexts(NamedTuple):
    scores: NDArray[np.float64]
    gone: NDArray[np.float64]
    own: NDArray[np.float64]
    weight: NDArray[np.float64]
    taken: NDArray[np.float64]
    n_leaving: NDArray[np.int64]
    is_learned: NDArray[np.bool_]

class LeftSums:
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
        term: Literal["count", "log", "binary"] = "count",
        score: Literal["fixed", "multinomial", "complement"] = "multinomial",
        pseudo: Literal["same", "uniform", "marginal"] = "same",
        m: float = 1.0,
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
        tf: NDArray[np.int32],
        y: NDArray[np.int32],
        amount: NDArray[np.float64],
    ) -> LeftTexts: ...
