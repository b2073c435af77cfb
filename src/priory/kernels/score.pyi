from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]
Numbers = Floats | NDArray[np.int64]
Indices = NDArray[np.int32] | NDArray[np.int64]
Table = NDArray[np.float64]
Codes = NDArray[Any]

TIE: float
TIE_SHARE: float

class Lookups:
    def __init__(
        self,
        columns: Sequence[tuple[Codes, NDArray[np.int32], Table, NDArray[np.int32] | None]],
    ) -> None: ...
    def add(self, first: int, out: Table) -> None: ...

def add_gaussian(
    X: Floats, mean: Table, half_precision: Table, log_norm: Table, out: Table
) -> None: ...
def add_student_t(
    X: Floats, mean: Table, inv_scale: Table, half_dof1: Table, log_norm: Table, out: Table
) -> None: ...
def add_counts_dense(X: Numbers, weights: Table, out: Table) -> None: ...
def add_present_dense(X: Numbers, threshold: float, weights: Table, out: Table) -> None: ...
def add_counts_csr(
    data: Numbers, indices: Indices, indptr: Indices, weights: Table, out: Table
) -> None: ...
def log_shares(
    counts: Table,
    pseudo: NDArray[np.float64],
    totals: NDArray[np.float64],
    first: int,
    last: int,
    out: Table,
) -> None: ...
def softmax(scores: Table, log_evidence: NDArray[np.float64]) -> None: ...
def argmax_rows(scores: Table, out: NDArray[np.int32], probabilities: bool = False) -> None: ...
def log_normalize(scores: Table, log_evidence: NDArray[np.float64]) -> None: ...
