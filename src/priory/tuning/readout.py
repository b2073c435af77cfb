"""The model that follows from statistics and settings, and from what was tuned."""

from __future__ import annotations

from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.statistics import Statistics
from priory.tuning.choices import choices_for
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

__all__ = ["chosen", "read_out"]


def read_out(statistics: Statistics, settings: Settings, tuning: Tuning | None) -> Model:
    """Estimate the model from statistics, as it was tuned where it was."""
    weighed = statistics if tuning is None else tuning.weighed(statistics)
    found = chosen(weighed, settings, tuning)
    model = Model.read(weighed, found, settings.class_prior)
    return model if tuning is None else tuning.applied(model)


def chosen(weighed: Statistics, settings: Settings, tuning: Tuning | None) -> dict[str, Choice]:
    """Find the choice of each block: the one that was tuned, where it was."""
    found = choices_for(settings, weighed)
    if tuning is not None:
        found |= {name: tuning.choices[name] for name in found if name in tuning.choices}
    return found
