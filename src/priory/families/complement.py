"""Complement: a score from the counts of all the other classes (Rennie et al. 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from priory.families.counted import Counted

__all__ = ["Complement"]


@dataclass(frozen=True)
class Complement(Counted):
    """Score a class by how unlike the other classes a row is: −Σ_j x_j log P(j | not k).

        P(j | not k) = (N_j − n_jk + α) / Σ_j (N_j − n_jk + α)

    All classes but one hold more rows than the one, and more evenly, so these estimates suffer
    less where classes differ in size. The score is not a likelihood: probabilities made of it
    only rank the classes, and nothing can be sampled. With `norm` each class's weights are
    divided by their sum.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> from priory.statistics.tables import CountsTable
    >>> table = CountsTable(np.array([1, 1]), np.ones(2), np.ones((2, 2), dtype=np.int64),
    ...                     np.ones((2, 2)), np.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> Complement().parameters(table, Laplace(1.0)).table.round(3).tolist()
    [[1.386, 0.405], [0.288, 1.099]]
    """

    name: ClassVar[str] = "complement"
    readout = "complement"

    norm: bool = False
