"""Give back what was saved: a classifier, or the estimator around it."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from priory.base.errors import ModelFileError, PrioryError, listing
from priory.classifier import classifier
from priory.classifier.classifier import Classifier
from priory.classifier.plain import from_plain, to_plain
from priory.tuning.settings import Settings

if TYPE_CHECKING:
    from priory.estimators.naive_bayes import NaiveBayes

__all__ = ["load"]

ESTIMATORS = ("NaiveBayes", "TextNB")


def load(path: str | os.PathLike[str], max_memory: int | None = None) -> Classifier | NaiveBayes:
    """Load the model of a file, as the type that was saved; refuse a damaged file.

    A `Classifier` comes back as one; a `NaiveBayes` or `TextNB` with the parameters it was given,
    and its `classifier_`. `max_memory` is how many bytes its tables may take: by default 100 times
    the file, or 256 MB. A file is data, never code, and `ModelFileError` says what is wrong.

    >>> import pathlib, tempfile
    >>> from priory import TextNB
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.priory"
    >>> TextNB(smoothing=0.5).fit(["win cash now", "lunch at noon"], ["spam", "ham"]).save(path)
    >>> load(path), load(path).predict(["free cash"]).tolist()
    (TextNB(smoothing=0.5), ['spam'])
    """
    found = classifier.load(path, max_memory)
    kept = found.provenance.estimator
    if kept is None:
        return found
    name = kept.get("name")
    if name not in ESTIMATORS:
        raise ModelFileError(
            f"{os.fspath(path)} was saved as {name!r:.40}, which this priory does not know; it "
            f"knows {listing(ESTIMATORS)}. Upgrade priory, or use priory.classifier.load."
        )
    found.provenance = replace(found.provenance, estimator=None)  # it is given anew when saved
    from priory.estimators.naive_bayes import NaiveBayes
    from priory.estimators.text import TextNB

    kind = TextNB if name == "TextNB" else NaiveBayes
    try:
        estimator = kind(**{key: from_plain(value) for key, value in kept["params"].items()})
        settings = estimator.settings
        estimator.adopt(found, kept["y"], kept["table"])
    except (PrioryError, TypeError, ValueError, KeyError, AttributeError) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ModelFileError(
            f"{os.fspath(path)} is damaged: its estimator cannot be honoured: {reason:.200}."
        ) from None
    asked, had = _plain(settings), _plain(found.settings)
    if asked != had and asked | {"text": had["text"]} == had:
        _split_as(estimator, found.settings.text)
        asked = had
    # A classifier that was read again, with other settings, is no longer what these parameters say.
    return estimator if asked == had else found


def _split_as(estimator: NaiveBayes, analyzers: dict[str, Any]) -> None:
    """Name the analyzers that counted: a file may be of a time when "word" meant other words."""
    from priory.estimators.text import COLUMN, OPTIONS, TextNB

    if isinstance(estimator, TextNB):
        estimator.set_params(**OPTIONS, analyzer=analyzers[COLUMN])
    else:
        estimator.set_params(text=analyzers)


def _plain(settings: Settings) -> dict[str, Any]:
    names = [f.name for f in fields(Settings) if f.name != "n_threads"]
    return {name: to_plain(getattr(settings, name)) for name in names}
