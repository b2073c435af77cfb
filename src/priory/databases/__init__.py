"""Counting inside a database: GROUP BY queries, of which sums and a sample come back."""

from __future__ import annotations

from priory.databases.counting import Inside, Received
from priory.databases.dialects import dialect_of

__all__ = ["Inside", "Received", "dialect_of"]
