"""The classifier: statistics, settings and the model that follows from both."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from priory.base.errors import (
    ForgetError,
    InputError,
    ModelFileError,
    PrioryError,
    SettingError,
    StaleTuningWarning,
    warn,
)
from priory.base.labels import sorted_labels
from priory.base.locking import Lock, alone, lock_of
from priory.base.parallel import in_own_threads
from priory.base.version import __version__
from priory.classifier.fitted import Fitted, read_out
from priory.classifier.tuning_state import TuningState
from priory.data.reading import read_labels
from priory.statistics.sampling import Pool, Sample
from priory.statistics.statistics import Statistics
from priory.tuning.settings import Settings

# What a prediction does not need is imported where it is used: from the shell, a prediction would
# wait for it longer than it takes.
if TYPE_CHECKING:
    from collections.abc import Mapping

    from priory.classifier.counter import Counter

__all__ = ["Classifier", "load"]


class Classifier(Fitted):
    """Learn from tables by counting, and predict; no scikit-learn needed.

    `update`, `forget` and `merge` change the statistics; the model follows from them when it is
    asked for. A call that fails leaves the classifier as it was. Several threads may call it.

    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
    >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"])
    >>> classifier.predict({"outlook": ["Sunny", "Overcast"]}).tolist()
    ['No', 'Yes']
    """

    # Learning

    @alone
    @in_own_threads
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        unlabelled: Any = None,
        unlabelled_weight: Any = "auto",
    ) -> Self:
        """Learn a table anew, forgetting what was learned before, and tune what is to be tuned.

        Rows without a class, `unlabelled`, are learned by expectation–maximisation, each with a
        soft class. What such a row weighs is chosen on the labelled ones, 0 among it.
        """
        fresh = Classifier(self.settings).update(X, y, sample_weight)
        _ = fresh.model  # settings that do not fit the data fail here, not at predict
        if unlabelled is not None:
            fresh._learn_unlabelled(unlabelled, unlabelled_weight)
        self.__dict__.update({**fresh.__dict__, "_lock": lock_of(self)})
        return self

    def _learn_unlabelled(self, X: Any, weight: Any) -> None:
        from priory.deciding.unlabelled import learn_unlabelled

        sample = self.tuning_sample
        if self.tuning is None or sample is None:
            raise SettingError(
                "unlabelled rows begin with what a tuned model says of them, and this one is not "
                "tuned: leave weights='auto', and give rows of two classes or more."
            )
        frame = self.frame(X)
        given = self.statistics, self.settings, self.tuning, sample
        found = learn_unlabelled(*given, self.model.posterior(frame), frame, weight)
        if found is not None:
            self._become(found.statistics)
            self._tuned = TuningState(found.tuning)  # soft rows are in no sample

    @alone
    @in_own_threads
    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add the rows of a table with their classes.

        New classes, categories and values may come at any time.
        """
        tuned = self._tuned if self.has_learned else TuningState.begin(self.settings)
        counted = self._count(X, y, sample_weight, tuned.pool is not None)
        self._add(counted.total(), tuned)
        if tuned.pool is not None and counted.pool is not None:
            tuned.pool.absorb(counted.pool)
        return self

    @alone
    @in_own_threads
    def update_statistics(self, statistics: Statistics, sample: Sample | None = None) -> Self:
        """Add sums that were counted elsewhere, and the sample of the rows behind them.

        Without a sample what was tuned becomes stale.

        >>> days = Classifier().update({"wind": ["weak", "strong"]}, ["Yes", "No"])
        >>> Classifier().update_statistics(days.statistics).predict({"wind": ["strong"]}).tolist()
        ['No']
        """
        tuned = self._tuned if self.has_learned else TuningState.begin(self.settings)
        self._add(statistics, tuned)
        if sample is None:
            tuned.pool = None
        elif tuned.pool is not None:
            tuned.pool.join(sample)
        return self

    def _add(self, statistics: Statistics, tuned: TuningState) -> None:
        before = self._statistics
        self._become(statistics if before is None else before + statistics)
        self._tuned = tuned
        tuned.moved += statistics.n_rows

    @alone
    @in_own_threads
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take away rows that were learned, as if they had never been seen.

        They leave the sample too that families and weights are chosen on, and so these are chosen
        anew when the model is next asked.
        """
        self.check_forgettable()
        counted = self._count(X, y, sample_weight, self.has_sample)
        return self.forget_statistics(counted.total(), counted.sample)

    @alone
    def forget_statistics(self, statistics: Statistics, sample: Sample | None = None) -> Self:
        """Take sums away that were counted elsewhere, and the sample of the rows behind them."""
        kept = self.tuning_sample
        self._become(self.statistics - statistics)
        left = None if kept is None or sample is None else kept - sample
        self._tuned.become(left, self.settings.sample_size, moved=np.inf)
        return self

    def check_forgettable(self) -> None:
        """Refuse to forget where statistics are no longer of complete rows."""
        if self.provenance.min_count:
            raise ForgetError(
                "This model was saved without the values of fewer than "
                f"{self.provenance.min_count} rows, so what it forgets could not be checked. "
                "Forget before saving with min_count."
            )

    @alone
    def declare(self, classes: Any) -> Self:
        """Make classes known that may have no rows yet."""
        declared = read_labels(classes, "classes").labels
        self._become(self.statistics.with_classes(declared))
        self._declared = sorted_labels([*self._declared, *declared])
        return self

    @alone
    def decay(self, half_life: float, elapsed: float = 1.0) -> Self:
        """Let everything learned so far count for less: half as much after each half-life.

            weights × 2^(−elapsed / half_life)

        In a stream, call it before each batch with the rows (or hours) since the last.

        >>> classifier = Classifier().update({"x": ["a", "b"]}, [0, 1]).decay(half_life=2.0)
        >>> classifier.statistics.weight.round(3).tolist()
        [0.707, 0.707]
        """
        before, sample = self.statistics, self.tuning_sample
        self._become(before.decayed(half_life, elapsed))
        left = 2.0 ** (-elapsed / half_life)
        faded = None if sample is None else sample * left
        self._tuned.become(faded, self.settings.sample_size, moved=(1.0 - left) * before.n_rows)
        return self

    @in_own_threads
    def merge(self, other: Classifier) -> Self:
        """Add everything that another classifier has learned."""
        if not isinstance(other, Classifier):
            raise SettingError(f"A classifier merges with another one, not with {other!r:.60}.")
        return self._merge(other.copy())  # never hold two locks: two may merge with each other

    @alone
    def _merge(self, other: Classifier) -> Self:
        ours, theirs = self.tuning_sample, other.tuning_sample
        statistics = self.statistics + other.statistics
        self._declared = sorted_labels([*self._declared, *other._declared])
        self._become(statistics)
        self.provenance = self.provenance + other.provenance
        self._tuned.merge(ours, other._tuned, theirs, self.settings.sample_size)
        return self

    def __add__(self, other: Classifier) -> Classifier:
        return self.copy().merge(other)

    @alone
    def copy(self) -> Classifier:
        """Make a classifier that has learned the same, and learns on by itself.

        >>> first = Classifier().update({"x": ["a", "b"]}, [0, 1])
        >>> first.copy().update({"x": ["b"]}, [1]).statistics.n_rows, first.statistics.n_rows
        (3, 2)
        """
        result = Classifier(self.settings)
        result.__dict__.update({**self.__dict__, "_lock": Lock()})
        result._tuned, result._said = self._tuned.copy(), set(self._said)
        result._remembered = {}
        return result

    def blank(self) -> Classifier:
        """Make a classifier that has learned nothing, and counts what this one does.

        Kinds of columns and a structure are settled by the first rows that are learned. Parts of
        the data that are learned by themselves can be merged where all of them begin so.

        >>> days = {"outlook": ["Sunny", "Rain"], "wind": ["Weak", "Strong"]}
        >>> first = Classifier(Settings.textbook(structure="aode")).update(days, ["No", "Yes"])
        >>> second = first.blank().update({"outlook": ["Rain"], "wind": ["Weak"]}, ["Yes"])
        >>> first.merge(second).statistics.n_rows
        3
        """
        result = Classifier(self.settings)
        result._statistics = Statistics.zero(self.statistics.schema)
        result._tuned = TuningState.begin(self.settings)
        result.provenance = replace(
            self.provenance, sources=(), figures=None, min_count=0, streams={}
        )
        return result

    @alone
    def change_settings(self, settings: Settings | None = None, /, **changes: Any) -> Self:
        """Change families, smoothing or priors without reading the data again.

        `changes` are settings by name; other `settings` altogether may be given first.

        >>> classifier = Classifier(Settings.textbook()).update({"x": ["a", "a", "b"]}, [0, 0, 1])
        >>> classifier.change_settings(smoothing=0).predict_proba({"x": ["a"]}).tolist()
        [[1.0, 0.0]]
        """
        settings = (self.settings if settings is None else settings).changed(**changes)
        schema = self._statistics.schema if self._statistics is not None else ()
        counted = {block.pairing.use for block in schema if block.pairing is not None}
        is_new = set(settings.together) - {*self.settings.together, *counted}
        if schema and (is_new or not settings.has_its_edges(schema)):
            raise SettingError(
                f"structure={settings.structure!r} needs columns counted together that were not; "
                "learn the data again with it."
            )
        _check_texts(schema, self.settings.text, settings.text)
        free = {"class_prior": None, "n_threads": None}  # nothing is chosen by them
        old, new = self.settings.changed(**free), settings.changed(**free)
        is_same = old == new and repr(old) == repr(new)  # max_df=1 is not max_df=1.0
        tuning = self.tuning if is_same else None
        if self._statistics is not None and self._statistics.n_rows:
            read_out(self._statistics, settings, tuning)  # what cannot be is refused here
        if settings.is_tuned and tuning is None and not self.has_sample and self.has_learned:
            warn(
                "These settings leave something to be chosen, and no sample of the rows is at hand "
                "to choose on: the model is not tuned. recalibrate(X, y) tunes it.",
                StaleTuningWarning,
            )
        self.settings, self._model, self._tuned.tuning = settings, None, tuning
        return self

    def with_prior(self, prior: Any) -> Classifier:
        """Make a classifier that has learned the same, under another class prior.

            P'(k | x) ∝ P(k | x) · P_wanted(k) / P_learned(k)

        What was tuned stays. It can be saved and exported as any other.

        >>> days = Classifier().update({"x": ["a", "b", "b"]}, ["No", "Yes", "Yes"])
        >>> days.with_prior({"No": 0.9, "Yes": 0.1}).predict_proba({"x": [None]}).round(3).tolist()
        [[0.9, 0.1]]
        """
        result = self.copy()
        _ = self.model  # tuned once, not in every copy
        result._tuned, result._model = self._tuned.copy(), None
        return result.change_settings(class_prior=prior)

    # Tuning

    @alone
    @in_own_threads
    def recalibrate(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose families, smoothing and weights anew, on the sample or on rows that were learned.

        Whatever the settings leave "auto" is chosen by folds left out: each row is scored as if it
        had not been learned. Rows that are given must be among those learned, all of them or some.
        Forgetting, merging and learning many more rows do this by themselves.

        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=200)
        >>> twice, y = {"a": x, "b": x}, (x + rng.normal(size=200) > 0).tolist()
        >>> classifier = Classifier(Settings.textbook(weights="columns")).update(twice, y)
        >>> round(classifier.recalibrate(twice, y).weights["a"], 1)  # each counts for half
        0.5
        """
        sample = self.tuning_sample
        if X is not None:
            from priory.classifier.held_out import check_learned

            rows = frame, labels, weights = self._learned_rows(X, y, sample_weight)
            if weights is not None and not weights.all():
                some = weights > 0
                rows = frame.take(some), labels.take(some), weights[some]
            check_learned(self.statistics, sample, rows)
            sample = Sample.of(*rows, max(self.settings.sample_size, len(rows[1])))
        if sample is None:
            raise SettingError(
                "There is no sample of the rows to choose on: give X and y, rows that were "
                "learned. A model file holds a sample only when saved with keep_sample=True."
            )
        if self.settings.is_tuned and int((self.statistics.weight > 0).sum()) > 1:
            self._tuned.tune(self.statistics, self.settings, sample)
            self._model = None
        return self

    # Keeping

    @alone
    def save(
        self, path: str | os.PathLike[str], min_count: int = 0, keep_sample: bool = False
    ) -> None:
        """Write the model to a file, from which `priory.load` makes the same classifier again.

        The file appears whole or not at all. One that another changed since this model was loaded
        from it, or saved to it, is not replaced: `ModelFileError` says so.

        It holds the statistics, so a loaded model can learn,
        merge and forget on. With `min_count`, values and words in fewer rows are left out, for
        they could tell of a single person: probabilities of rare values then change, and the
        loaded model does not forget. With `keep_sample` the file holds the sample of rows that
        families and weights are chosen on, so that a loaded model that learns on chooses anew: it
        then holds rows as they are, and grows by as much as these take.

        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "days.priory"
        >>> Classifier().update({"outlook": ["Sunny", "Rain"]}, ["No", "Yes"]).save(path)
        >>> load(path).predict({"outlook": ["Rain"]}).tolist()
        ['Yes']
        """
        from priory.classifier import storage

        if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 0:
            raise SettingError(f"min_count must be an integer of at least 0, not {min_count!r}.")
        statistics, provenance = self.statistics, self.provenance
        if min_count > 1 and keep_sample:
            raise SettingError(
                "keep_sample=True keeps rows as they are, and min_count leaves out what could tell "
                "of a single person: ask for one of them."
            )
        with suppress(PrioryError):  # settings that do not fit are said when the model is asked
            _ = self.model  # tuned where that is due: the file may not hold what to tune on
        if min_count > 1:  # every value has a row
            statistics = statistics.without_rare(min_count)
            provenance = replace(provenance, min_count=max(provenance.min_count, min_count))
        storage.write(
            path,
            storage.Stored(
                statistics,
                self.settings,
                self._declared,
                provenance,
                __version__,
                tuning=self.tuning,
                sample=self.tuning_sample if keep_sample else None,
                moved=self._tuned.moved,
            ),
            self._seals,
        )

    def to_sklearn(self) -> Any:
        """Make the same model as a fitted `NaiveBayes`, for scikit-learn's tools.

        >>> model = Classifier(Settings.textbook()).update({"x": ["a", "b"]}, [0, 1]).to_sklearn()
        >>> model.predict({"x": ["b"]}).tolist()
        [1]
        """
        # By name: this module is below the estimators, and must not need scikit-learn.
        return import_module("priory.estimators.naive_bayes").NaiveBayes.from_classifier(self)

    def _count(self, X: Any, y: Any, weight: Any, with_sample: bool) -> Counter:
        from priory.classifier.counter import Counter

        size = self.settings.sample_size if with_sample else 0
        if self._statistics is None:
            counter = Counter(self.settings, sample_size=size)
        else:
            counter = Counter(self.settings, self._statistics.schema, self._types, size)
        counter.add(X, y, weight)
        return counter

    def _become(self, statistics: Statistics) -> None:
        if not statistics.n_rows and self._statistics is None:
            raise InputError(
                "There are no rows to learn from: the table has none, or sample_weight is zero in "
                "every row."
            )
        self._statistics, self._model = statistics.with_classes(self._declared), None


def load(path: str | os.PathLike[str], max_memory: int | None = None) -> Classifier:
    """Make the classifier that a model file holds; anything but a sound file is refused.

    `max_memory` is how many bytes its tables may take: by default 100 times the file, or 256 MB.
    A file is data, never code, and `ModelFileError` says what is wrong with it.

    >>> load("setup.py")
    Traceback (most recent call last):
    priory.base.errors.ModelFileError: setup.py is no model file of priory: it does not begin as a
    Parquet file does.
    """
    from priory.classifier import storage

    seals: dict[str, bytes] = {}
    stored = storage.read(path, max_memory, seals)
    classifier = Classifier(stored.settings)
    classifier._seals = seals
    classifier._statistics, classifier._declared = stored.statistics, stored.declared
    classifier.provenance = stored.provenance
    pool = None
    if stored.sample is not None:
        pool = Pool(stored.settings.sample_size, stored.sample)
    classifier._tuned = TuningState(stored.tuning, pool, stored.moved)
    if stored.statistics.n_rows:
        try:
            model = read_out(stored.statistics, stored.settings, stored.tuning)
            classifier._model = None if stored.moved else model  # whoever asks is told so
        except PrioryError:
            pass  # settings that do not fit: said when the model is asked, as before saving
        except Exception as error:
            raise ModelFileError(
                f"{os.fspath(path)} is damaged: no model follows from it: {error!r:.200}."
            ) from None
    return classifier


def _check_texts(schema: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to read texts in another way than their words were counted."""
    analyzers = {block.name: block.analyzer for block in schema}
    for name in analyzers:
        old, new = before.get(name), after.get(name)
        is_left_open = new == "auto" and analyzers[name] is not None
        if new not in (old, analyzers[name]) and not is_left_open:
            raise SettingError(
                f"The words of column {name!r} were counted by {analyzers[name] or 'no analyzer'}, "
                f"not by {new or 'none'}: texts that were counted cannot be split anew. Learn the "
                "data again with it."
            )
