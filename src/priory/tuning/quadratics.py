"""The least point of a quadratic, ½ wᵀAw − bᵀw, with coordinates that may not fall below 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray

__all__ = ["LowRank", "nonnegative"]

BLOCK = 512
"""So many rows of a root are copied at once."""

PATIENCE = 3
"""So often may no fewer coordinates be wrong than before."""


@dataclass(frozen=True, eq=False)
class LowRank:
    """The matrix diag(d) + U Uᵀ, of fewer columns of U than rows: it is never written out.

    >>> A = LowRank(np.array([1.0, 2.0]), np.array([[1.0], [3.0]]))
    >>> A @ np.array([1.0, 1.0]), A.solve(np.array([True, True]), np.array([5.0, 14.0]))
    (array([ 5., 14.]), array([1., 1.]))
    """

    diagonal: FloatArray
    root: AnyArray

    def __matmul__(self, w: FloatArray) -> FloatArray:
        across = np.einsum("i,ij->j", w, self.root)  # a product of BLAS would copy to float64
        return np.asarray(self.diagonal * w + np.einsum("ij,j->i", self.root, across))

    def solve(self, free: BoolArray, b: FloatArray) -> FloatArray:
        """Solve A w = b for some coordinates, as though there were no others.

        By the Woodbury identity, (D + UUᵀ)⁻¹ = D⁻¹ − D⁻¹U (I + UᵀD⁻¹U)⁻¹ UᵀD⁻¹.
        """
        scale = np.sqrt(self.diagonal[free])
        places, b = np.flatnonzero(free), b / scale
        inner, right = np.eye(self.root.shape[1]), np.zeros(self.root.shape[1])
        for some in _blocks(len(places)):
            root = self.root[places[some]] / scale[some, None]
            inner += root.T @ root
            right += b[some] @ root
        found = np.linalg.solve(inner, right)
        for some in _blocks(len(places)):
            b[some] -= (self.root[places[some]] @ found) / scale[some]
        return np.asarray(b / scale)


def _blocks(n: int) -> Iterator[slice]:
    for first in range(0, n, BLOCK):
        yield slice(first, first + BLOCK)


def nonnegative(
    A: FloatArray | LowRank, b: FloatArray, free: Any = None, bounded: Any = True
) -> FloatArray:
    """Find the least point of ½ wᵀAw − bᵀw with w ≥ 0, for a positive definite A.

    By block principal pivoting (Portugal, Júdice and Vicente, 1994): solve for the free
    coordinates, then let those go free that would fall below 0, or fix them there, all at once as
    long as fewer are wrong each time, else the last of them alone, which cannot go round in
    circles. `scipy.optimize.nnls` does this too, but takes longer to import than to run. `free`
    are the coordinates that are thought to be above 0; those not `bounded` may be below it.

    >>> nonnegative(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 0.0]))
    array([1.5, 0. ])
    """
    n = len(b)
    free = np.ones(n, dtype=np.bool_) if free is None else np.array(free, dtype=np.bool_)
    fewest, patience = n + 1, PATIENCE
    rounding = 1e-12 * (1.0 + np.abs(b).max(initial=0.0))
    for _ in range(10 * n + PATIENCE):
        w = np.zeros(n)
        if isinstance(A, LowRank):
            w[free] = A.solve(free, b[free])
        else:
            w[free] = np.linalg.solve(A[np.ix_(free, free)], b[free])
        wrong = np.where(free, (w < 0) & bounded, A @ w - b < -rounding)
        if not np.isfinite(w).all():
            break
        if not wrong.any():
            return w
        patience = PATIENCE if wrong.sum() < fewest else patience - 1
        fewest = min(fewest, int(wrong.sum()))
        if patience < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free ^= wrong
    raise np.linalg.LinAlgError("No least point was found.")
