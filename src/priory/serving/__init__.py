"""Serving: models behind an API and on a page, read by many and changed by one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.serving.configuration import Configuration, Limits
    from priory.serving.gate import make_app
    from priory.serving.models import ServedModel

__all__ = ["Configuration", "Limits", "ServedModel", "make_app"]

__getattr__ = importer(
    globals(),
    {
        "Configuration": "configuration",
        "Limits": "configuration",
        "ServedModel": "models",
        "make_app": "gate",
    },
)
