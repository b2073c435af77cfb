"""Independence of two partitions of some cells, within strata: exactly, or by a test of counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

import numpy as np

from priory.base.errors import SettingError, SparseTestWarning, TooLargeError, warn
from priory.base.typing import FloatArray, IntArray
from priory.statistics.information import mutual_information

__all__ = ["Independence", "Partition", "exact_independence", "g_test", "table_test"]

Partition: TypeAlias = tuple[IntArray, int]
"""The part that each cell belongs to, and how many parts there are."""

MOST_PLACES = 50_000_000

FEWEST_EXPECTED = 5.0
"""From so many expected rows in each cell on, G is about χ²."""

PERMUTATIONS = 1999
"""So many tables are drawn: the least p-value is 1/2000."""


@dataclass(frozen=True)
class Independence:
    """Hold the result of a test of independence; it is True if the two sides are independent.

    `gap` is the largest |P(A, B | C) − P(A | C) · P(B | C)|. Of a test of counts, `statistic` is
    G = 2 Σ n log(n / expected), `degrees` its degrees of freedom, and `p_value` the probability
    of a G at least as large under independence: by χ² ("g-test"), or by drawing tables with the
    same margins ("permutation").
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
        how = ", by permutation" if self.method == "permutation" else ""
        found = f"G = {self.statistic:.4g}, {self.degrees} degrees, p = {self.p_value:.3g}"
        return f"{word} ({found}{how})"


def exact_independence(
    p: FloatArray, a: Partition, b: Partition, strata: Partition, tolerance: float
) -> Independence:
    """Compare P(A, B | C) with P(A | C) · P(B | C), part by part."""
    gap = _contingency(p, a, b, strata)[1]
    return Independence(gap <= tolerance, "exact", gap)


def g_test(
    counts: FloatArray,
    a: Partition,
    b: Partition,
    strata: Partition,
    level: float,
    method: Literal["g-test", "permutation"] | None = None,
) -> Independence:
    """Test whether counted rows reject independence.

    Each stratum has (parts of A − 1) · (parts of B − 1) degrees of freedom, of the parts that
    occur in it. Where fewer rows are expected than the χ² distribution needs, its p-value is far
    off, and that of permutations is taken.
    """
    observed, gap = _contingency(counts, a, b, strata)
    return table_test(observed, level, method, gap)


def table_test(
    observed: FloatArray,
    level: float,
    method: Literal["g-test", "permutation"] | None = None,
    gap: float = 0.0,
) -> Independence:
    """Test a table of counts, strata × parts of A × parts of B.

    >>> bool(table_test(np.array([[[20.0, 10.0], [10.0, 20.0]]]), level=0.05))
    False
    """
    from scipy.special import gammaincc

    statistic = _statistic(observed)
    of_a, of_b = observed.sum(axis=2), observed.sum(axis=1)
    freedom = ((of_a > 0).sum(axis=1) - 1) * ((of_b > 0).sum(axis=1) - 1)
    degrees = int(freedom.sum())
    whole = bool((observed == np.floor(observed)).all())
    sparse = _is_sparse(observed[freedom > 0], degrees)
    if method == "permutation" and not whole:
        raise SettingError("method='permutation' needs whole rows; sample_weight has fractions.")
    if method == "permutation" or (method is None and sparse and whole):
        p_value = _permuted(observed[freedom > 0], statistic)
        name = "permutation"
    else:
        if sparse:
            warn(
                "Few rows are expected in some cells, so the p-value of the G-test may be far off"
                + ("; leave method out for permutations." if whole else "."),
                SparseTestWarning,
            )
        p_value = float(gammaincc(degrees / 2, statistic / 2)) if degrees else 1.0
        name = "g-test"
    return Independence(bool(p_value >= level), name, gap, statistic, degrees, p_value)


def _statistic(observed: FloatArray) -> float:
    return float(max(2.0 * observed.sum() * mutual_information(observed), 0.0))


def _is_sparse(observed: FloatArray, degrees: int) -> bool:
    """Tell whether a cell that could be filled expects fewer than five rows (Cochran 1954)."""
    of_a, of_b = observed.sum(axis=2, keepdims=True), observed.sum(axis=1, keepdims=True)
    expected = of_a * of_b / np.maximum(of_a.sum(axis=1, keepdims=True), 1e-300)
    return bool(degrees and (expected[expected > 0] < FEWEST_EXPECTED).any())


def _permuted(observed: FloatArray, statistic: float) -> float:
    """Draw tables with the same margins in each stratum; give the share of a G at least as large.

    Margins are kept, G is a constant less Σ n log n over the cells (Patefield 1981 draws them).
    """
    from scipy.stats import random_table

    if not len(observed):
        return 1.0
    rng = np.random.default_rng(0)
    n_log_n = np.concatenate([[0.0], np.arange(1, int(observed.sum()) + 1)])
    n_log_n[1:] *= np.log(n_log_n[1:])
    drawn = np.zeros(PERMUTATIONS)
    here = 0.0
    for table in observed:
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(np.int64)
        margins = random_table(table.sum(axis=1), table.sum(axis=0), seed=rng)
        for first in range(0, PERMUTATIONS, height := max(1, 2**22 // table.size)):
            some = min(height, PERMUTATIONS - first)
            tables = margins.rvs(some).astype(np.int64)
            drawn[first : first + some] += n_log_n[tables].sum(axis=(1, 2))
        here += float(n_log_n[table].sum())
    at_least = np.count_nonzero(drawn >= here - 1e-9 * max(abs(here), 1.0))
    return (1.0 + float(at_least)) / (1.0 + PERMUTATIONS)


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
