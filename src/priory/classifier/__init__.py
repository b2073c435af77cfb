"""The classifier: statistics, settings and the model that follows; its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.classifier.classifier import Classifier, load
    from priory.classifier.counter import Counter

__all__ = ["Classifier", "Counter", "load"]

_HOME = {"Classifier": "classifier", "Counter": "counter", "load": "classifier"}

__getattr__ = importer(globals(), _HOME)
