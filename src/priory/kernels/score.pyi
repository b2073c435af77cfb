import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]
Numbers = Floats | NDArray[np.int64]
Indices = NDArray[np.int32] | NDArray[np.int64]
Table = NDArray[np.float64]

def add_table(codes: NDArray[np.int32], log_p: Table, out: Table) -> None: ...
def add_gaussian(
    X: Floats, mean: Table, half_precision: Table, log_norm: Table, out: Table
) -> None: ...
def add_student_t(
    X: Floats, mean: Table, inv_scale: Table, half_dof1: Table, log_norm: Table, out: Table
) -> None: ...
def add_counts_dense(X: Numbers, weights: Table, out: Table) -> None: ...
def add_counts_csr(
    data: Numbers, indices: Indices, indptr: Indices, weights: Table, out: Table
) -> None: ...
def log_normalize(scores: Table, log_evidence: NDArray[np.float64]) -> None: ...
