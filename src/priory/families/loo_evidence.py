"""The evidence of words, log(1 + n_wk / (α π_k)), under the sums of all other rows.

    Σ_w x_w log(1 + (n_wk − [k = y] a·x_w) / (α π_k)),  π_k = (n_k − [k = y] a·Σx) / (n − a·Σx)

where a is how much of the row goes. A word that is then in too few texts leaves with it, and the
text is as long as its other words make it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from priory.base.typing import FloatArray, IntArray
from priory.data.columns import SparseRows
from priory.families.loo import LooRows
from priory.families.loo_counts import ROUNDING, TINY, CountedPairs, Scores
from priory.families.priors import DiscretePrior, Laplace
from priory.families.sums import Sums

__all__ = ["loo_evidence"]

ENTRIES = 4_000_000
"""So many numbers (words of texts, and their classes) are worked on at once."""


def loo_evidence(pairs: CountedPairs, sums: Sums, prior: DiscretePrior) -> Scores | None:
    """Score rows by the evidence of their words; None without a closed form."""
    if not isinstance(prior, Laplace) or isinstance(prior.alpha, tuple) or prior.alpha < TINY:
        return None  # then a row's leaving changes what is believed of every word
    if pairs.least > 1:
        return None  # then words of other rows may leave with it
    starts = np.searchsorted(pairs.word, np.arange(len(pairs.having) + 1))
    size, alpha = sums.size, float(prior.alpha)

    def scores(rows: SparseRows, left: LooRows) -> FloatArray:
        out = np.empty((len(left), len(size)))
        per_row = np.add.reduceat(np.append(np.diff(starts)[rows.indices], 0), rows.indptr[:-1]) * (
            np.diff(rows.indptr) > 0
        )
        ends = np.cumsum(per_row) // ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(left)]
        for first, last in pairwise(cuts):
            out[first:last] = some(rows, left, first, last)
        return out

    def some(rows: SparseRows, left: LooRows, first: int, last: int) -> FloatArray:
        entries = slice(int(rows.indptr[first]), int(rows.indptr[last]))
        n_rows, words = last - first, rows.indices[entries]
        row = np.repeat(np.arange(n_rows), np.diff(rows.indptr[first : last + 1]))
        y, amount = left.y[first:last], left.amount[first:last]
        x = np.log1p(rows.data[entries]) if pairs.term == "log" else rows.data[entries]
        kept = pairs.having[words] > 0
        stays = (pairs.having[words] > 1) | (pairs.least == 0)
        taken = amount[row] * (x / _length(x, row, n_rows) if pairs.term == "log" else x)
        now = np.where(kept & stays, x, 0.0)
        if pairs.term == "log":
            now = now / _length(now, row, n_rows)
        gone = np.bincount(row, np.where(kept, taken, 0.0), n_rows)
        share = np.broadcast_to(size, (n_rows, len(size))).copy()
        share[np.arange(n_rows), y] -= gone
        share = np.maximum(share, 0.0) / np.maximum(size.sum() - gone, TINY)[:, None]
        # Each entry once for each class that its word was seen with.
        times = starts[words + 1] - starts[words]
        entry = np.repeat(np.arange(len(words)), times)
        pair = np.arange(len(entry)) - np.repeat(np.cumsum(times) - times - starts[words], times)
        label, of = pairs.label[pair], row[entry]
        own = label == y[of]
        n = pairs.n[pair] - own * taken[entry]
        held = np.bincount(entry[own], minlength=len(words)).astype(np.bool_)
        lacks = n < -1e-9 * pairs.n[pair] - ROUNDING
        n = np.where(n <= 1e-9 * pairs.n[pair], 0.0, n)
        e = now[entry] * np.log1p(n / np.maximum(alpha * share[of, label], TINY))
        sums = np.bincount(of * len(size) + label, e, n_rows * len(size))
        found: FloatArray = sums.astype(np.float64).reshape(n_rows, len(size))
        if pairs.is_exact:
            found[np.unique(np.append(of[lacks], row[kept & ~held]))] = np.nan
        return found

    return scores


def _length(x: FloatArray, row: IntArray, n_rows: int) -> FloatArray:
    """Compute the length of each row's vector, for its entries."""
    length = np.sqrt(np.bincount(row, x * x, n_rows))
    return np.where(length > 0, length, 1.0)[row]
