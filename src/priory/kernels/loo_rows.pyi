import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64] | NDArray[np.float32]
Table = NDArray[np.float64]
Numbers = NDArray[np.float64]

class GaussianSums:
    def __init__(
        self,
        own: Table,
        pooled: Table,
        smoothing: float,
        epsilon: float,
        same: float,
        precise: float,
        most: float,
    ) -> None: ...
    def add(
        self, X: Floats, y: NDArray[np.int32], amount: Numbers, out: Table
    ) -> NDArray[np.bool_]: ...

def add_student_t_loo(
    x: Numbers,
    y: NDArray[np.int32],
    own: Table,
    pooled: Table,
    of_class: Table,
    kappa: float,
    alpha: float,
    most_dof: float,
    out: Table,
) -> None: ...
