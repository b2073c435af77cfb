"""Samples of a network: parents first, and weighted by how likely they make what is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray
from priory.data.combinations import joined_codes
from priory.network.elimination import draw_rows
from priory.network.evidence import Evidence
from priory.network.rows import Conditionals

__all__ = ["Approximation", "Weighted", "draw_forward", "likelihood_weighting"]


class Approximation(float):
    """Be a probability that was estimated from samples, with its standard error.

    >>> Approximation(0.25, 0.001)
    0.25 ± 0.001
    """

    standard_error: float

    def __new__(cls, p: float, standard_error: float) -> Approximation:
        """Make a float that knows its standard error."""
        result = super().__new__(cls, p)
        result.standard_error = standard_error
        return result

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.standard_error:.2g}"


@dataclass(frozen=True, eq=False)
class Weighted:
    """Hold rows that were drawn, as codes, and the weight of each."""

    drawn: Mapping[str, AnyArray]
    weight: FloatArray

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.weight)

    def share(self, holds: BoolArray) -> Approximation:
        """Estimate the probability of what holds in some rows.

        p = Σ w [it holds] / Σ w,     its standard error √(Σ w² ([it holds] − p)²) / Σ w
        """
        total = float(self.weight.sum())
        p = float(self.weight @ holds) / total
        spread = self.weight * (holds - p)
        return Approximation(p, sqrt(float(spread @ spread)) / total)


def draw_forward(
    network: Conditionals,
    n: int,
    rng: np.random.Generator,
    fixed: Mapping[str, int],
) -> dict[str, AnyArray]:
    """Draw n rows as codes, parents before their children; fixed variables are not drawn."""
    drawn: dict[str, AnyArray] = {}
    for name in network.graph.order:
        if name in fixed:
            drawn[name] = np.full(n, fixed[name])
        else:
            drawn[name] = draw_rows(_rows(network, name, drawn, n), rng)
    return drawn


def likelihood_weighting(
    network: Conditionals, known: Evidence, n: int, rng: np.random.Generator
) -> Weighted:
    """Draw what is not known, and weight each row by the probability of what is.

    w = Π P(known value | its parents in the row) · Π likelihoods, 0 where logic fails
    """
    drawn = draw_forward(network, n, rng, {**known.fixed, **known.done})
    weight = np.ones(n)
    for name, code in known.fixed.items():
        weight *= _rows(network, name, drawn, n)[:, code]
    if known.event is not None:
        for name, likelihood in known.event.soft.items():
            weight *= likelihood[drawn[name]]
        weight *= known.event(drawn, n)
    return Weighted(drawn, weight)


def _rows(network: Conditionals, name: str, drawn: Mapping[str, AnyArray], n: int) -> FloatArray:
    """Look up the distribution of a node in every row, given its parents there."""
    table, parents = network.tables[name], network.graph.parents[name]
    places = joined_codes([drawn[p] for p in parents], table.shape[:-1], n)
    return np.asarray(table.reshape(-1, table.shape[-1])[places])
