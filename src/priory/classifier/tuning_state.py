"""What was tuned, the sample of rows to tune on, and how much has changed since."""

from __future__ import annotations

from typing import Literal

import numpy as np

from priory.data.schema import Schema
from priory.statistics.sampling import Pool, Sample, joined
from priory.statistics.statistics import Statistics
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

__all__ = ["TuningState"]

ENOUGH = 0.05
"""What is tuned is tuned anew when so large a share of the rows has come since."""


class TuningState:
    """Keep what was tuned, and say when it is to be tuned anew.

    `moved` counts the rows that came or went since; there is no `pool` of rows where some of them
    are unknown, and then what was tuned becomes stale.
    """

    def __init__(
        self, tuning: Tuning | None = None, pool: Pool | None = None, moved: float = 0.0
    ) -> None:
        self.tuning, self.pool, self.moved = tuning, pool, moved

    @classmethod
    def begin(cls, settings: Settings) -> TuningState:
        """Begin with an empty sample, where something is to be tuned on it."""
        size = settings.sample_size
        return cls(pool=Pool(size) if settings.is_tuned and size else None)

    def copy(self) -> TuningState:
        """Keep the same, and go on apart."""
        return TuningState(self.tuning, None if self.pool is None else self.pool.copy(), self.moved)

    @property
    def is_stale(self) -> bool:
        """Whether rows came or went since, and no sample is at hand to tune on."""
        return self.tuning is not None and self.moved > 0 and self.pool is None

    def is_due(self, settings: Settings) -> bool:
        """Say whether so much has changed that what was chosen is to be chosen anew."""
        if not settings.is_tuned:
            return False
        return self.tuning is None or self.moved > ENOUGH * self.tuning.n_rows

    def name(
        self, settings: Settings, has_model: bool
    ) -> Literal["textbook", "to be tuned", "not tuned", "stale", "tuned"]:
        """Name the state as it is now, without tuning anything."""
        if not settings.is_tuned:
            return "textbook"
        if self.tuning is None:
            return "to be tuned" if self.pool is not None and not has_model else "not tuned"
        return "stale" if self.is_stale else "tuned"

    def sample(self, schema: Schema) -> Sample | None:
        """Give the sample of the rows learned, of the columns that are counted alone."""
        sample = None if self.pool is None else self.pool.sample
        if sample is None:
            return None
        return sample.only([block.name for block in schema.counted if block.pairing is None])

    def tune(self, statistics: Statistics, settings: Settings, sample: Sample) -> None:
        """Choose whatever is left open; what fails leaves everything as it was."""
        from priory.tuning.tuning import tune

        self.tuning, self.moved = tune(statistics, settings, sample), 0.0

    def become(self, sample: Sample | None, size: int, moved: float) -> None:
        """Go on with another sample, after rows have come or gone."""
        self.pool = None if sample is None else Pool(size, sample)
        self.moved += moved

    def merge(
        self, ours: Sample | None, other: TuningState, theirs: Sample | None, size: int
    ) -> None:
        """Go on with the rows of both."""
        self.tuning = self.tuning or other.tuning  # a choice is better than none
        both = None if ours is None or theirs is None else joined([ours, theirs])
        self.become(both, size, np.inf)
