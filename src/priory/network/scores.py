"""How well a node's parents explain it: evidence, BIC; each family by itself."""

from __future__ import annotations

from math import log

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import FloatArray
from priory.families.evidence import log_dirichlet_evidence

__all__ = ["bic", "log_evidence", "log_likelihood"]


def log_likelihood(counts: FloatArray) -> float:
    """Return the largest log-likelihood of a family: Σ n log(n / N), parents × values."""
    totals = counts.sum(axis=-1)
    return _n_log_n(counts) - _n_log_n(totals)


def _n_log_n(counts: FloatArray) -> float:
    seen = counts[counts > 0]
    return float((seen * np.log(seen)).sum())


def bic(counts: FloatArray, n_rows: float) -> float:
    """Return the log-likelihood less ½ log n for each of the q(r − 1) free parameters.

    Negated and in bits it is the description length of the family (Rissanen 1978; Schwarz 1978).
    """
    r = counts.shape[-1]
    free = counts.size // r * (r - 1)
    return log_likelihood(counts) - 0.5 * log(max(n_rows, 1.0)) * free


def log_evidence(counts: FloatArray, pseudo: FloatArray) -> float:
    """Return the log marginal likelihood of a family under Dirichlet priors.

    Σ_parents log Γ(A)/Γ(A + N) + Σ_v log Γ(a_v + n_v)/Γ(a_v)
    """
    a = np.broadcast_to(pseudo, counts.shape)
    if (a[counts > 0] <= 0).any():
        raise SettingError(
            "The evidence needs a prior with a pseudo-count above 0 for every value that came; "
            "give the network a smoothing above 0, or log_evidence(BDeu())."
        )
    return log_dirichlet_evidence(counts, a)
