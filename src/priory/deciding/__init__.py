"""Decisions: costs, thresholds, priors, prediction sets, intervals, novelty and drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.deciding.conformal import PredictionSets
    from priory.deciding.drift import ColumnDrift, Drift
    from priory.deciding.intervals import ProbabilityIntervals
    from priory.deciding.priors import PriorEstimate
    from priory.deciding.rules import Rule

__all__ = [
    "ColumnDrift",
    "Drift",
    "PredictionSets",
    "PriorEstimate",
    "ProbabilityIntervals",
    "Rule",
]

__getattr__ = importer(
    globals(),
    {
        "ColumnDrift": "drift",
        "Drift": "drift",
        "PredictionSets": "conformal",
        "PriorEstimate": "priors",
        "ProbabilityIntervals": "intervals",
        "Rule": "rules",
    },
)
