"""Independence of two partitions of some cells, within strata: exactly, or by a G-test."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from priory.base.errors import TooLargeError
from priory.base.typing import FloatArray, IntArray
from priory.statistics.information import mutual_information

__all__ = ["Independence", "Partition", "exact_independence", "g_test"]

Partition: TypeAlias = tuple[IntArray, int]
"""The part that each cell belongs to, and how many parts there are."""

MOST_PLACES = 50_000_000


@dataclass(frozen=True)
class Independence:
    """Hold the result of a test of independence; it is True if the two sides are independent.

    `gap` is the largest |P(A, B | C) − P(A | C) · P(B | C)|. Of a G-test, `statistic` is
    G = 2 Σ n log(n / expected), `degrees` its degrees of freedom, and `p_value` the probability
    of a G at least as large under independence.
    """

    independent: bool
    method: str
    gap: float
    statistic: float | None = None
    degrees: int | None = None
    p_value: float | None = None

    def __bool__(self) -> bool:
        return self.independent

    def __str__(self) -> str:
        word = "independent" if self.independent else "dependent"
        if self.method == "exact":
            return f"{word} (largest gap {self.gap:.3g})"
        return f"{word} (G = {self.statistic:.4g}, {self.degrees} degrees, p = {self.p_value:.3g})"


def exact_independence(
    p: FloatArray, a: Partition, b: Partition, strata: Partition, tolerance: float
) -> Independence:
    """Compare P(A, B | C) with P(A | C) · P(B | C), part by part."""
    gap = _contingency(p, a, b, strata)[1]
    return Independence(gap <= tolerance, "exact", gap)


def g_test(
    counts: FloatArray, a: Partition, b: Partition, strata: Partition, level: float
) -> Independence:
    """Test whether counted rows reject independence.

    Each stratum has (parts of A − 1) · (parts of B − 1) degrees of freedom, of the parts that
    occur in it.
    """
    from scipy.special import gammaincc

    observed, gap = _contingency(counts, a, b, strata)
    statistic = max(2.0 * observed.sum() * mutual_information(observed), 0.0)
    parts_a, parts_b = ((observed.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1))
    degrees = int(((parts_a - 1) * (parts_b - 1)).sum())
    p_value = float(gammaincc(degrees / 2, statistic / 2)) if degrees else 1.0
    return Independence(p_value >= level, "g-test", gap, statistic, degrees, p_value)


def _contingency(
    weight: FloatArray, a: Partition, b: Partition, strata: Partition
) -> tuple[FloatArray, float]:
    """Sum the weight by stratum × part of A × part of B; find the largest gap."""
    shape = (strata[1], a[1], b[1])
    place = (strata[0] * a[1] + a[0]) * b[1] + b[0]
    size = prod(shape)
    if size > MOST_PLACES:
        raise TooLargeError(
            f"The two sides and what is given make {size:,} combinations; {MOST_PLACES:,} are the "
            "most. Choose variables with fewer values, or events."
        )
    observed = np.bincount(place, weights=weight, minlength=size).reshape(shape)
    observed = observed[observed.sum(axis=(1, 2)) > 0]
    of_a, of_b = observed.sum(axis=2, keepdims=True), observed.sum(axis=1, keepdims=True)
    totals = observed.sum(axis=(1, 2), keepdims=True)
    gap = np.abs(observed - of_a * of_b / totals) / totals
    return observed, float(gap.max(initial=0.0))
