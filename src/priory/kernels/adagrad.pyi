import numpy as np
from numpy.typing import NDArray

def add_pairs_csr(
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    x: NDArray[np.float32],
    group: NDArray[np.int32],
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    values: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...
def take_groups(
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    tf: NDArray[np.int32],
    y: NDArray[np.int32],
    own: NDArray[np.float64],
    group: NDArray[np.int32],
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    left: NDArray[np.float64],
    having: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def known_words(
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    tf: NDArray[np.int32],
    group: NDArray[np.int32],
    known: NDArray[np.uint8],
    x: NDArray[np.float32],
) -> None: ...
def pair_slots(
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    active: NDArray[np.int32],
    slots: NDArray[np.int32],
) -> NDArray[np.int64]: ...
def learn_words(
    order: NDArray[np.int32],
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    x: NDArray[np.float32],
    own: NDArray[np.int32],
    weight: NDArray[np.float32],
    offset: NDArray[np.float32],
    evidence: NDArray[np.float32],
    rest: NDArray[np.float32],
    active: NDArray[np.int32] | None,
    slots: NDArray[np.int32] | None,
    numbers: NDArray[np.float32],
    decay: NDArray[np.float32],
    bias: NDArray[np.float64],
    trust: NDArray[np.float64],
    eta: float,
    bias_rate: float,
    trust_rate: float,
) -> None: ...
