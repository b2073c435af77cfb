"""Models of everything but a fold, all chosen anew without it.

Sums without a fold are `total − fold`; families, weights and corrections are tuned on the sample
without it. So the rows of the fold have no say in what is said of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from priory.base.typing import FloatArray, IntArray
from priory.data.columns import Frame, Labels
from priory.data.reading import with_pairs
from priory.model.model import Model
from priory.statistics.dealing import deal
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.readout import read_out
from priory.tuning.settings import Settings
from priory.tuning.tuning import tune

__all__ = ["FoldModel", "fold_models", "in_folds", "learned_without"]


@dataclass(frozen=True, eq=False)
class FoldModel:
    """The rows of a fold, and the sums and the model without them; None where no row is left."""

    number: int
    part: Sample
    others: Statistics
    model: Model | None


def in_folds(sample: Sample) -> tuple[Sample, IntArray]:
    """Deal a sample out to folds: its rows, one that is in several folds once for each."""
    row, fold, copies, share = deal(sample.hashes, sample.rows, sample.copied)
    parts = replace(
        sample.take(row),
        rows=copies,
        weight=sample.weight[row] * share,
        squares=sample.squares[row] * share,
    )
    return parts, fold


def fold_models(statistics: Statistics, settings: Settings, sample: Sample) -> Iterator[FoldModel]:
    """Choose a model anew without each fold of a sample."""
    parts, fold = in_folds(sample)
    for f in sorted(set(fold.tolist())):
        taken = parts.take((fold == f).nonzero()[0])
        part = replace(taken, frame=with_pairs(taken.frame, statistics.schema))
        rows = part.spelled_out(part.n_rows)
        others, model = learned_without(rows, statistics, settings, sample - taken)
        yield FoldModel(f, part, others, model)


def learned_without(
    rows: tuple[Frame, Labels, FloatArray | None],
    statistics: Statistics,
    settings: Settings,
    sample: Sample,
) -> tuple[Statistics, Model | None]:
    """Learn all rows but some, all chosen anew on a sample of the others."""
    frame, y, weight = rows
    counted = Statistics.count(frame, y, statistics.schema, weight)
    others = (statistics - counted).with_classes(statistics.classes)
    n_seen = int((others.weight > 0).sum())
    tuning = tune(others, settings, sample) if settings.is_tuned and n_seen > 1 else None
    return others, read_out(others, settings, tuning) if n_seen else None
