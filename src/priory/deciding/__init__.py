"""Decisions: costs, thresholds, priors, prediction sets, intervals, novelty and drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.deciding.priors import PriorEstimate, estimate_prior
    from priory.deciding.rules import Rule, rule_for

__all__ = ["PriorEstimate", "Rule", "estimate_prior", "rule_for"]

__getattr__ = importer(
    globals(),
    {"PriorEstimate": "priors", "Rule": "rules", "estimate_prior": "priors", "rule_for": "rules"},
)
