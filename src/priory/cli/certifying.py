"""Forget with a certificate, and check one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from priory import sources
from priory.base.errors import InputError, SettingError
from priory.base.replacing import replacing
from priory.classifier.certificate import Certificate, new_salt, row_digests
from priory.classifier.classifier import Classifier
from priory.data.columns import Labels
from priory.sources.counting import read_classes
from priory.sources.opening import as_reading
from priory.sources.scoring import rows_of
from priory.sources.updating import count_rows

__all__ = ["check_certificate", "digests_of", "forget_certified", "write_certificate"]


def digests_of(classifier: Classifier, source: Any, salt: str, **opening: Any) -> list[str]:
    """Digest every row of a source that has a class."""
    target = classifier.provenance.target
    if target is None:
        raise SettingError("The model does not know which column its classes came from.")
    found: list[str] = []
    reading = as_reading(**{name: opening[name] for name in opening if name != "attach"})
    for X, batch in rows_of(classifier, source, keep=[target], progress=False, **opening):
        y = read_classes(batch.columns[target], target, reading, classifier.classes)
        known = np.flatnonzero(y.codes >= 0)
        labels = Labels(y.codes[known], y.labels)
        found += row_digests(classifier.frame(X).take(known), labels, salt)
    return sorted(found)


def forget_certified(
    classifier: Classifier, source: Any, *, papers: list[Certificate], **opening: Any
) -> int:
    """Forget the rows of a source, and add the certificate of it to others."""
    before, salt = classifier.statistics, new_salt()
    digests = digests_of(classifier, source, salt, **opening)
    rows = sources.forget(classifier, source, **opening)
    if rows != len(digests):
        raise InputError(f"{rows:,} rows were forgotten, but {len(digests):,} were read.")
    papers.append(Certificate.of(before, classifier, digests, salt))
    return rows


def write_certificate(path: Path, paper: Certificate) -> None:
    """Write a certificate; the file appears whole or not at all."""
    with replacing(path) as made:
        Path(made).write_text(paper.to_json() + "\n", encoding="utf-8")


def check_certificate(
    path: Path, after: Classifier, before: Classifier | None, source: Any, **opening: Any
) -> tuple[Certificate, dict[str, bool]]:
    """Check a certificate against the model, and against what else is at hand."""
    try:
        paper = Certificate.from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    digests, forgotten = None, None
    if source is not None:
        reader = before if before is not None else after
        digests = digests_of(reader, source, paper.salt, **opening)
        if before is not None:
            forgotten = count_rows(before, source, **opening)
    known = None if before is None else before.statistics
    return paper, paper.check(after.statistics, known, forgotten, digests)
