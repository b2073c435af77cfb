"""Models on paper and on pages: the nomogram, and a report in one file of HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.reporting.nomograms import Nomogram, nomogram
    from priory.reporting.reports import Report, make_report, report

__all__ = ["Nomogram", "Report", "make_report", "nomogram", "report"]

__getattr__ = importer(
    globals(),
    {
        "Nomogram": "nomograms",
        "Report": "reports",
        "make_report": "reports",
        "nomogram": "nomograms",
        "report": "reports",
    },
)
