"""Multinomial and complement: counts over many columns, such as the words of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from priory.families.counted import Counted

__all__ = ["Complement", "Multinomial"]


@dataclass(frozen=True)
class Multinomial(Counted):
    """Give each column its share of a class's counts: P(j | k) = (n_jk + α) / (n_k + α|V|).

        log P(x | k) = log(n! / Π x_j!) + Σ_j x_j log P(j | k)

    The coefficient is the same for every class and belongs to the evidence only: the log joint and
    the worked sum are those of the words (or whatever is counted) in their order.

    >>> import numpy as np
    >>> from priory.families.priors import Laplace
    >>> from priory.statistics.tables import CountsTable
    >>> table = CountsTable(np.array([2]), np.array([2.0]), np.array([[2, 1]]),
    ...                     np.array([[2.0, 1.0]]), np.array([[3.0, 1.0]]))
    >>> np.exp(Multinomial().parameters(table, Laplace(1.0)).table).round(3).tolist()
    [[0.667], [0.333]]
    """

    name: ClassVar[str] = "multinomial"
    readout = "multinomial"


@dataclass(frozen=True)
class Complement(Counted):
    """Score a class by how unlike the other classes a row is: −Σ_j x_j log P(j | not k).

        P(j | not k) = (N_j − n_jk + α) / Σ_j (N_j − n_jk + α)

    All classes but one hold more rows than the one, and more evenly, so these estimates suffer
    less where classes differ in size. The score is not a likelihood: probabilities made of it
    only rank the classes, and nothing can be sampled (Rennie et al. 2003). With `norm` each class's
    weights are divided by their sum.

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
