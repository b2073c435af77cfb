"""Sufficient statistics: tables of plain sums per class, and the sample of rows beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.statistics.statistics import Statistics

__all__ = ["Statistics"]

__getattr__ = importer(globals(), {"Statistics": "statistics"})
