"""Models of everything but a fold, all chosen anew without it.

Sums without a fold are `total − fold`; families, weights and corrections are tuned on the sample
without it. So the rows of the fold have no say in what is said of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from priory.base.typing import IntArray
from priory.data.reading import with_pairs
from priory.model.model import Model
from priory.statistics.dealing import deal
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.readout import read_out
from priory.tuning.settings import Settings
from priory.tuning.tuning import tune

__all__ = ["FoldModel", "fold_models", "in_folds"]


@dataclass(frozen=True, eq=False)
class FoldModel:
    """The rows of a fold, and the sums and the model without them; None where no row is left."""

    number: int
    part: Sample
    others: Statistics
    model: Model | None


def in_folds(sample: Sample, n_folds: int) -> tuple[Sample, IntArray]:
    """Deal a sample out to folds: its rows, one that is in several folds once for each."""
    row, fold, copies, share = deal(sample.hashes, sample.rows, sample.copied, n_folds)
    parts = replace(
        sample.take(row),
        rows=copies,
        weight=sample.weight[row] * share,
        squares=sample.squares[row] * share,
    )
    return parts, fold


def fold_models(
    statistics: Statistics, settings: Settings, sample: Sample, n_folds: int
) -> Iterator[FoldModel]:
    """Choose a model anew without each fold of a sample."""
    parts, fold = in_folds(sample, n_folds)
    for f in sorted(set(fold.tolist())):
        part = parts.take((fold == f).nonzero()[0])
        part = replace(part, frame=with_pairs(part.frame, statistics.schema))
        frame, labels, weight = part.spelled_out(part.n_rows)
        taken = Statistics.count(frame, labels, statistics.schema, weight)
        others = (statistics - taken).with_classes(statistics.classes)
        n_seen = int((others.weight > 0).sum())
        tuned = None
        if n_seen > 1 and settings.is_tuned:
            tuned = tune(others, settings, sample - parts.take((fold == f).nonzero()[0]), n_folds)
        yield FoldModel(f, part, others, read_out(others, settings, tuned) if n_seen else None)
