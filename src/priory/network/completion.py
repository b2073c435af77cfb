"""Rows with gaps in a search for structure: the gaps are filled by what the network says of them.

Structural EM (Friedman 1998), with draws for the expectation: missing values are drawn, several
times, from their distribution given the rest of the row under the network so far; a graph is
learned from the rows completed so; and again, until the graph stays.
"""

from __future__ import annotations

import numpy as np

from priory.base.typing import FloatArray
from priory.network.rows import Conditionals, log_joint_rows
from priory.network.variables import Coded

__all__ = ["DRAWS", "ROUNDS", "completed"]

DRAWS = 5
"""So often are the gaps of a row drawn; each draw has its share of the row's weight."""

ROUNDS = 10
"""So often at most is a graph learned from completed rows."""


def completed(
    coded: Coded, network: Conditionals, rng: np.random.Generator
) -> tuple[Coded, FloatArray]:
    """Complete rows by draws from P(gaps | what is known); with the weight of each row.

    Column after column is drawn given all that is known or drawn before, the others summed out, so
    that the values of a row come from their joint distribution.
    """
    whole = coded.complete
    gaps = coded.take(~whole) if not whole.all() else None
    if gaps is None:
        return coded, np.ones(coded.n_rows)
    codes = {name: np.repeat(column, DRAWS) for name, column in gaps.codes.items()}
    for name in coded.domains:
        rows = np.flatnonzero(codes[name] < 0)
        if not len(rows):
            continue
        part = Coded(len(rows), coded.domains, {v: column[rows] for v, column in codes.items()})
        scores = log_joint_rows(part, network, name)
        codes[name][rows] = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    kept = coded.take(whole) if whole.any() else None
    if kept is not None:
        codes = {name: np.r_[kept.codes[name], column] for name, column in codes.items()}
    n_kept = 0 if kept is None else kept.n_rows
    n_drawn = DRAWS * gaps.n_rows
    weight = np.r_[np.ones(n_kept), np.full(n_drawn, 1.0 / DRAWS)]
    return Coded(n_kept + n_drawn, coded.domains, codes, coded.ordered), weight
