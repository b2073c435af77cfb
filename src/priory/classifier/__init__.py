"""The classifier: statistics, settings and the model that follows; its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.classifier.classifier import Classifier, load

__all__ = ["Classifier", "load"]

__getattr__ = importer(globals(), {"Classifier": "classifier", "load": "classifier"})
