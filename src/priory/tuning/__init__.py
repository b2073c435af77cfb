"""What the user asked for, and what is chosen by folds left out: families, weights, structure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.tuning.settings import Settings

__all__ = ["Settings"]

__getattr__ = importer(globals(), {"Settings": "settings"})
