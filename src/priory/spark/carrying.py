"""A model on its way to the executors: its file, sent once, and loaded once by each of them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from priory.base.errors import SettingError
from priory.classifier.classifier import Classifier, load

__all__ = ["carried", "loaded", "opened_model"]


def opened_model(model: Any) -> Classifier:
    """Take a classifier, an estimator that holds one, or the path of a model file."""
    if isinstance(model, str | os.PathLike):
        return load(model)
    found = getattr(model, "classifier_", model)
    if not isinstance(found, Classifier):
        raise SettingError(f"model must be a classifier or a model file, not {model!r:.60}.")
    return found


def carried(model: Classifier, session: Any) -> str:
    """Send a model to the executors of a session, and name the file that they get.

    The name follows from the content: the same model is sent once.
    """
    with tempfile.TemporaryDirectory(dir=_kept().name) as folder:
        written = Path(folder) / "model.priory"
        model.copy().save(written)
        digest = hashlib.sha256(written.read_bytes()).hexdigest()
        named = written.replace(Path(_kept().name) / f"priory-{digest}.priory")
    session.addArtifacts(str(named), file=True)
    return named.name


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for the files, which executors fetch at any time, until this process ends."""
    return tempfile.TemporaryDirectory(prefix="priory-models-")


@lru_cache(maxsize=4)
def loaded(name: str) -> Classifier:
    """Load the model on an executor, once for all tasks of its process."""
    from pyspark import SparkFiles

    return load(SparkFiles.get(name))
