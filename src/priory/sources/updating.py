"""Learn from one more source, or forget one, under the schema of what was learned."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

from priory.base.errors import (
    PrioryWarning,
    SettingError,
    warn,
)
from priory.base.parallel import at_most
from priory.classifier.classifier import Classifier
from priory.sources.base import check_columns
from priory.sources.counting import Task, count
from priory.sources.learned_forms import forms_for, known_features, learned_forms
from priory.sources.news import News, refuse_new_classes
from priory.sources.opening import open_source
from priory.sources.training import figures_of
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.settings import Settings

__all__ = ["count_rows", "forget", "sample_of_learned", "train_like", "update"]


def update(classifier: Classifier, source: Any, *, new_classes: bool = True, **reading: Any) -> int:
    """Learn the rows of one more source, and count them; see `train` for the options.

    Without `new_classes`, a class that the classifier does not know is refused, and nothing is
    learned.

    >>> from priory import train
    >>> classifier = train("examples/play_tennis.csv", "play")
    >>> update(classifier, "examples/play_tennis.csv")
    14
    """
    new, sample, name = _count_for(classifier, source, is_new=True, **reading)
    if not new_classes:
        refuse_new_classes(classifier.statistics, new, name)
    classifier.update_statistics(new, sample)
    classifier.provenance = classifier.provenance.with_source(name, new.n_rows)
    return new.n_rows


def train_like(model: Classifier, source: Any, **reading: Any) -> Classifier:
    """Learn a source as a model does, but nothing of what the model has learned.

    The result counts the same columns in the same way and has the same settings, so that files that
    were learned in several places, none of which may share its rows, can be merged.

    >>> from priory import train
    >>> first = train("examples/play_tennis.csv", "play", where="outlook = 'Rain'")
    >>> second = train_like(first, "examples/play_tennis.csv", where="outlook <> 'Rain'")
    >>> second.statistics.n_rows, (first + second).statistics.n_rows
    (9, 14)
    """
    size = int(model.settings.sample_size)
    new, sample, name = _count_for(model, source, is_new=True, sample_size=size, **reading)
    classifier = model.blank()
    classifier.update_statistics(new, sample)
    _ = classifier.model  # settings that do not fit the data fail here, not at predict
    provenance = classifier.provenance.with_source(name, new.n_rows)
    metrics = None if sample is None else figures_of(classifier, sample)
    classifier.provenance = replace(provenance, figures=metrics)
    return classifier


def forget(classifier: Classifier, source: Any, **reading: Any) -> int:
    """Forget the rows of a source that were learned, and count them.

    >>> from priory import train
    >>> classifier = train("examples/play_tennis.csv", "play")
    >>> forget(classifier, "examples/play_tennis.csv", where="outlook = 'Rain'")
    5
    """
    classifier.check_forgettable()
    new, sample, name = _count_for(classifier, source, **reading)
    classifier.forget_statistics(new, sample)
    classifier.provenance = classifier.provenance.with_source(name, -new.n_rows)
    return new.n_rows


def sample_of_learned(classifier: Classifier, source: Any, **reading: Any) -> Sample | None:
    """Take a sample of a source, if its rows are the very rows that were learned; else None.

    They are if they are counted alike, to the last bit.

    >>> from priory import train
    >>> classifier = train("examples/play_tennis.csv", "play")
    >>> sample_of_learned(classifier, "examples/play_tennis.csv").n_rows
    14
    >>> sample_of_learned(classifier, "examples/play_tennis.csv", where="outlook = 'Rain'")
    """
    size = int(classifier.settings.sample_size) or Settings().sample_size
    counted, sample, _ = _count_for(classifier, source, sample_size=size, **reading)
    return sample if counted == classifier.statistics else None


def count_rows(classifier: Classifier, source: Any, **reading: Any) -> Statistics:
    """Count the rows of a source as a classifier would learn them, which stays as it is.

    >>> from priory import train
    >>> classifier = train("examples/play_tennis.csv", "play")
    >>> count_rows(classifier, "examples/play_tennis.csv") == classifier.statistics
    True
    """
    return _count_for(classifier, source, **reading)[0]


def _count_for(
    classifier: Classifier,
    source: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    progress: bool | None = None,
    is_new: bool = False,
    sample_size: int | None = None,
    **opening: Any,
) -> tuple[Statistics, Sample | None, str]:
    """Count a source under the schema of a classifier; the last result is the source's name."""
    target = target or classifier.provenance.target
    weight = weight or classifier.provenance.weight
    if target is None:
        raise SettingError("The model does not know which column its classes came from; name it.")
    with at_most(classifier.n_threads), closing(open_source(source, **opening)) as opened:
        check_columns([target], opened.columns, "The target column")
        features = known_features(classifier, opened)
        check_columns([] if weight is None else [weight], opened.columns, "The weight column")
        statistics, settings = classifier.statistics, classifier.settings
        roles = {target, weight, *classifier.provenance.dropped, *statistics.schema.columns}
        strange = [column for column in opened.columns if column not in roles]
        if strange and is_new:
            warn(f"{opened.name}: {News(columns=strange).lines()[0]}.", PrioryWarning)
        kept = int(settings.sample_size) if classifier.has_sample else 0
        task = Task(
            *(opened, target, features, weight, settings, forms_for(statistics, opened)),
            known=classifier.classes,
            learned=learned_forms(statistics),
            sample_size=kept if sample_size is None else sample_size,
            progress=progress,
        )
        return *count(task, statistics.schema), opened.name
