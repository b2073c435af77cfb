"""The classifier: statistics, settings and the model that follows from both."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from priory.base.errors import (
    ForgetError,
    IdentifierWarning,
    InputError,
    MissingValueError,
    ModelFileError,
    NotFittedError,
    PrioryError,
    SchemaError,
    SettingError,
    StaleTuningWarning,
    VanishingVarianceWarning,
    did_you_mean,
    listing,
    warn,
)
from priory.base.labels import label_key, sorted_labels
from priory.base.locking import Lock, alone, lock_of
from priory.base.parallel import in_own_threads
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.base.version import __version__
from priory.classifier.drift import Learned, in_type_of
from priory.classifier.provenance import Provenance
from priory.data.columns import Frame, Labels, Numbers
from priory.data.finite import LARGEST, refuse_large
from priory.data.rawtables import RawTable
from priory.data.reading import (
    NAMES_OR_TEXT,
    infer,
    infer_empty,
    open_table,
    read,
    read_labels,
    read_weights,
    with_pairs,
)
from priory.data.schema import Kind, Schema
from priory.model.model import Choice, LinearForm, Model, presence
from priory.statistics.sampling import Pool, Sample, joined
from priory.statistics.statistics import Statistics
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

# What a prediction does not need is imported where it is used: from the shell, a prediction would
# wait for it longer than it takes.
if TYPE_CHECKING:
    import pandas as pd

    from priory.families.posteriors import ParameterPosterior
    from priory.model.description import ModelDescription
    from priory.model.explanation import Explanation
    from priory.model.top_features import TopFeatures
    from priory.tuning.leave_one_out import Left

__all__ = ["Classifier", "load"]

ENOUGH = 0.05
"""What is tuned is tuned anew when so large a share of the rows has come since."""

SELECTED = "leave-one-out, with columns selected by all rows"


class Classifier:
    """Learn from tables by counting, and predict; no scikit-learn needed.

    `learn`, `forget` and `merge` change the statistics; the model is read out of them when it
    is asked for. A call that fails leaves the classifier as it was. Several threads may call it.

    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
    >>> classifier = Classifier(Settings.textbook()).learn(days, ["No", "No", "Yes", "Yes"])
    >>> classifier.predict({"outlook": ["Sunny", "Overcast"]}).tolist()
    ['No', 'Yes']
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings if settings is not None else Settings()
        self._statistics: Statistics | None = None
        self._model: Model | None = None
        self.provenance = Provenance()
        self._declared: tuple[Label, ...] = ()
        self._tuning: Tuning | None = None
        self._pool: Pool | None = None
        self._moved = 0.0
        self._warned: set[str] = set()
        self._learned: Learned | None = None

    def __repr__(self) -> str:
        if self._statistics is None:
            return "<Classifier that has learned nothing>"
        columns = listing(self._statistics.schema.columns, 4)
        classes = f"{len(self.classes)} classes"
        rows = f"{self._statistics.n_rows:,} rows"
        return f"<Classifier, {self._told}: {rows}, {classes}; columns {columns}>"

    def _repr_html_(self) -> str:
        from priory.base.html import html_table, html_together

        statistics = self._statistics
        if statistics is None or not statistics.n_rows:
            return html_together(remarks=[repr(self)])
        rows = zip(self.classes, statistics.rows, np.exp(self.model.log_prior), strict=True)
        told = [(label, f"{n:,}", f"{p:.4f}") for label, n, p in rows]
        classes = html_table(("class", "rows", "P(class)"), told)
        return html_together(self.schema._repr_html_(), classes)

    # What was learned

    @property
    def statistics(self) -> Statistics:
        """Return the sums of everything learned so far."""
        if self._statistics is None:
            raise NotFittedError("This classifier has learned nothing yet; give it rows first.")
        return self._statistics

    @property
    def model(self) -> Model:
        """Return the model that the statistics and the settings give.

        What is tuned is tuned anew here where rows came or went since.
        """
        model = self._model
        return model if model is not None else self._read_model()

    @alone  # else a model of sums that another thread has changed since would be kept
    @in_own_threads
    def _read_model(self) -> Model:
        if self._model is None:
            if not self.statistics.n_rows:
                raise NotFittedError("This classifier has forgotten every row it had learned.")
            if int((self.statistics.weight > 0).sum()) < 2:
                self._tuning = None  # of a single class there is nothing to choose
            elif self._wants_tuning and (sample := self._sample) is not None:
                self._tune(sample)
            model = self._read_out(self.statistics, self.settings, self._tuning)
            self._warn_identifiers(self.statistics)
            self._warn_spikes(model)
            self._warn_stale()
            self._model = model
        return self._model

    @property
    def state(self) -> str:
        """Return how far the model is tuned: "textbook", "tuned", "not tuned" or "stale".

        Stale is what was tuned before rows came or went, where no sample is at hand to tune on.

        >>> Classifier(Settings.textbook()).state, Classifier(Settings(sample_size=0)).state
        ('textbook', 'not tuned')
        """
        if self.settings.is_tuned and self._statistics is not None and self._statistics.n_rows:
            _ = self.model
        return self._told

    @property
    def _told(self) -> str:
        """Return the state as it is now, without tuning anything."""
        if not self.settings.is_tuned:
            return "textbook"
        if self._tuning is None:
            waits = self._pool is not None and self._model is None
            return "to be tuned" if waits else "not tuned"
        return "stale" if self._is_stale else "tuned"

    @property
    def _is_stale(self) -> bool:
        return self._tuning is not None and self._moved > 0 and self._pool is None

    @property
    def _wants_tuning(self) -> bool:
        """Return whether so much has changed that what was chosen is to be chosen anew."""
        if not self.settings.is_tuned:
            return False
        return self._tuning is None or self._moved > ENOUGH * self._tuning.n_rows

    def _new_pool(self) -> Pool | None:
        """Return what keeps a sample of the rows, where something is to be tuned on it."""
        size = self.settings.sample_size
        return Pool(size) if self.settings.is_tuned and size else None

    @property
    def has_sample(self) -> bool:
        """Return whether a sample of the rows is at hand, to tune on."""
        return self._pool is not None

    @property
    def _sample(self) -> Sample | None:
        """Return the sample of the rows learned, of the columns that are counted."""
        sample = None if self._pool is None else self._pool.sample
        if sample is None:
            return None
        alone = [block.name for block in self.statistics.schema.counted if block.pairing is None]
        return sample.only(alone)

    @property
    def n_threads(self) -> int | None:
        """Threads that count and score, None for the cores at hand."""
        return self.settings.n_threads

    @property
    def has_learned(self) -> bool:
        """Return whether there are statistics."""
        return self._statistics is not None

    @property
    def classes(self) -> tuple[Label, ...]:
        """Return the classes, in their order."""
        return self.statistics.classes

    @property
    def schema(self) -> Schema:
        """Return what each column is, its family, and why."""
        model, statistics, _ = self._read_from
        schema, tables = statistics.schema, statistics.tables
        families = {term.block.name: term.family.title for term in model.terms[::-1]}
        covered = self.settings.covered(schema)
        left_out = {
            b.name: f"in {covered[b.name]}" if b.name in covered else "left out"
            for b in schema
            if b.name not in families
        }
        why = {name: str(found) for name, found in self.settings.left_out(statistics).items()}
        for block in schema.counted:
            if self.settings.names_rows(block, tables[block.name]):
                why[block.name] = "hardly two rows alike: it names the rows"
            elif self.settings.reads_codes(block, tables[block.name]):
                why[block.name] = f"{block.why}: few small whole numbers, read as categories"
        blocks = tuple(replace(b, why=why.get(b.name, b.why)) for b in schema)
        weights = None
        if self._tuning is not None and self.settings.weights is not None:
            weights = {t.block.name: t.weight for t in self.model.terms if t.about != "missing"}
        return replace(schema, blocks=blocks).with_families({**families, **left_out}, weights)

    # Learning

    @alone
    @in_own_threads
    def learn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add the rows of a table with their classes."""
        new = self._count(X, y, sample_weight)
        return self._learn(new.statistics, lambda pool: pool.add(*new.rows))

    @alone
    @in_own_threads
    def learn_sums(self, statistics: Statistics, sample: Sample | None = None) -> Self:
        """Add sums that were counted elsewhere, and the sample of the rows behind them.

        Without a sample what was tuned becomes stale.

        >>> days = Classifier().learn({"wind": ["weak", "strong"]}, ["Yes", "No"])
        >>> Classifier().learn_sums(days.statistics).predict({"wind": ["strong"]}).tolist()
        ['No']
        """
        if sample is None:
            self._learn(statistics, lambda pool: None)
            self._pool = None
            return self
        return self._learn(statistics, lambda pool: pool.join(sample))

    def _learn(self, statistics: Statistics, add: Callable[[Pool], None]) -> Self:
        before = self._statistics
        self._become(statistics if before is None else before + statistics)
        if before is None:
            self._pool = self._new_pool()
        if self._pool is not None:
            add(self._pool)
        self._moved += statistics.n_rows
        return self

    @alone
    @in_own_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a table anew, forgetting what was learned before, and tune what is to be tuned."""
        fresh = Classifier(self.settings).learn(X, y, sample_weight)
        _ = fresh.model  # settings that do not fit the data fail here, not at predict
        self.__dict__.update({**fresh.__dict__, "_lock": lock_of(self)})
        return self

    @alone
    @in_own_threads
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take away rows that were learned, as if they had never been seen.

        They leave the sample too that families and weights are chosen on, and so these are chosen
        anew when the model is next asked.
        """
        self.check_forgettable()
        new = self._count(X, y, sample_weight)
        sample = Sample.of(*new.rows, self.settings.sample_size) if self.has_sample else None
        return self.forget_sums(new.statistics, sample)

    @alone
    def forget_sums(self, statistics: Statistics, sample: Sample | None = None) -> Self:
        """Take sums away that were counted elsewhere, and the sample of the rows behind them."""
        kept = self._sample
        self._become(self.statistics - statistics)
        left = None if kept is None or sample is None else kept - sample
        self._pool = None if left is None else Pool(self.settings.sample_size, left)
        self._moved = np.inf
        return self

    def check_forgettable(self) -> None:
        """Refuse to forget where statistics are no longer of whole rows."""
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

        >>> classifier = Classifier().learn({"x": ["a", "b"]}, [0, 1]).decay(half_life=2.0)
        >>> classifier.statistics.weight.round(3).tolist()
        [0.707, 0.707]
        """
        before = self.statistics
        self._become(before.decayed(half_life, elapsed))
        left = 2.0 ** (-elapsed / half_life)
        if (sample := self._sample) is not None:
            self._pool = Pool(self.settings.sample_size, sample * left)
        self._moved += (1.0 - left) * before.n_rows
        return self

    @in_own_threads
    def merge(self, other: Classifier) -> Self:
        """Add everything that another classifier has learned."""
        if not isinstance(other, Classifier):
            raise SettingError(f"A classifier merges with another one, not with {other!r:.60}.")
        return self._merge(other.copy())  # never hold two locks: two may merge with each other

    @alone
    def _merge(self, other: Classifier) -> Self:
        statistics = self.statistics + other.statistics
        samples = [c._sample for c in (self, other)]
        self._declared = sorted_labels([*self._declared, *other._declared])
        self.provenance = self.provenance + other.provenance
        if self._tuning is None or None in samples:  # a choice is better than none
            self._tuning = self._tuning or other._tuning
        self._become(statistics)
        known = [sample for sample in samples if sample is not None]
        whole = len(known) == len(samples)
        self._pool = Pool(self.settings.sample_size, joined(known)) if whole else None
        self._moved = np.inf
        return self

    def __add__(self, other: Classifier) -> Classifier:
        return self.copy().merge(other)

    @alone
    def copy(self) -> Classifier:
        """Return a classifier that has learned the same, and learns on by itself.

        >>> first = Classifier().learn({"x": ["a", "b"]}, [0, 1])
        >>> first.copy().learn({"x": ["b"]}, [1]).statistics.n_rows, first.statistics.n_rows
        (3, 2)
        """
        result = Classifier(self.settings)
        result.__dict__.update({**self.__dict__, "_lock": Lock()})
        result._pool = None if self._pool is None else self._pool.copy()
        result._warned = set(self._warned)
        return result

    def blank(self) -> Classifier:
        """Return a classifier that has learned nothing, and counts what this one does.

        Kinds of columns, bins and pairs are settled by the first rows that are learned. Parts of
        the data that are learned by themselves can be merged where all of them begin so.

        >>> days = {"outlook": ["Sunny", "Rain"], "wind": ["Weak", "Strong"]}
        >>> first = Classifier(Settings.textbook(structure="aode")).learn(days, ["No", "Yes"])
        >>> second = first.blank().learn({"outlook": ["Rain"], "wind": ["Weak"]}, ["Yes"])
        >>> first.merge(second).statistics.n_rows
        3
        """
        result = Classifier(self.settings)
        result._statistics = Statistics.zero(self.statistics.schema)
        result._pool = result._new_pool()
        result.provenance = replace(self.provenance, sources=(), figures=None, min_count=0)
        return result

    @alone
    def read_again(self, settings: Settings) -> Self:
        """Change families, smoothing or priors without reading the data again."""
        schema = self._statistics.schema if self._statistics is not None else ()
        counted = {block.pairing.use for block in schema if block.pairing is not None}
        if schema and set(settings.together) - {*self.settings.together, *counted}:
            raise SettingError(
                f"structure={settings.structure!r}, pairs={settings.pairs!r} needs columns counted "
                "together that were not; learn the data again with it."
            )
        only_prior = replace(self.settings, class_prior=None, n_threads=None) == replace(
            settings, class_prior=None, n_threads=None
        )
        tuning = self._tuning if only_prior else None
        if self._statistics is not None and self._statistics.n_rows:
            self._read_out(self._statistics, settings, tuning)  # what cannot be is refused here
        if settings.is_tuned and tuning is None and self._pool is None and self.has_learned:
            warn(
                "These settings leave something to be chosen, and no sample of the rows is at hand "
                "to choose on: the model is not tuned. recalibrate(X, y) tunes it.",
                StaleTuningWarning,
            )
        self.settings, self._model, self._tuning = settings, None, tuning
        return self

    @alone
    @in_own_threads
    def recalibrate(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose families, smoothing and weights anew, on the sample or on rows that were learned.

        Whatever the settings leave "auto" is chosen by leave-one-out: each row is scored as if it
        had not been learned. Rows that are given must be among those learned, all of them or some.

        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=200)
        >>> twice, y = {"a": x, "b": x}, (x + rng.normal(size=200) > 0).tolist()
        >>> classifier = Classifier(Settings.textbook(weights="columns")).learn(twice, y)
        >>> round(classifier.recalibrate(twice, y).weights["a"], 1)  # each counts for half
        0.5
        """
        if X is None:
            sample = self._sample
            if sample is None:
                raise SettingError(
                    "There is no sample of the rows to choose on: give X and y, rows that were "
                    "learned. A model file holds a sample only when saved with keep_sample=True."
                )
        else:
            frame, labels, weights = self._rows(X, y, sample_weight)
            self._check_learned(frame, labels, weights)
            sample = Sample.of(frame, labels, weights, max(self.settings.sample_size, len(labels)))
        if self.settings.is_tuned and int((self.statistics.weight > 0).sum()) > 1:
            self._tune(sample)
        return self

    def _tune(self, sample: Sample) -> None:
        from priory.tuning.tuning import tune

        # Not kept from a choice that failed: what fails leaves everything as it was.
        tuning = tune(self.statistics, self.settings, sample)
        self._tuning, self._moved, self._model = tuning, 0.0, None

    def _check_learned(self, frame: Frame, y: Labels, weight: FloatArray | None) -> None:
        """Refuse rows that were never learned, as far as sums and sample can tell."""
        statistics = self.statistics
        if not statistics.is_approximate:
            try:
                _ = statistics - Statistics.count(frame, y, statistics.schema, weight)
            except ForgetError as error:
                raise ForgetError(f"These rows were not all learned: {error}") from None
        sample = self._sample
        if sample is None:
            return
        never = ~sample.holds(frame, y)
        if never.any():
            row = int(np.argmax(never))
            raise ForgetError(
                f"Row {row} was never learned with class {y.value(row)!r}: give rows that were "
                "learned, with their classes, or learn them first."
            )

    @property
    def tuning(self) -> Tuning | None:
        """Return what was chosen by leave-one-out, None where nothing was."""
        return self._tuning

    @property
    def weights(self) -> dict[str, float]:
        """Return how far the factor of each column is trusted: 1 where nothing was learned."""
        return {term.title: term.weight for term in self.model.terms}

    # Keeping

    @alone
    def save(
        self, path: str | os.PathLike[str], min_count: int = 0, keep_sample: bool = False
    ) -> None:
        """Write the model to a file, from which `priory.load` makes the same classifier again.

        The file appears whole or not at all. It holds the statistics, so a loaded model can learn,
        merge and forget on. With `min_count`, values and words in fewer rows are left out, for
        they could tell of a single person: probabilities of rare values then change, and the
        loaded model does not forget. With `keep_sample` the file holds the sample of rows that
        families and weights are chosen on, so that a loaded model that learns on chooses anew: it
        then holds rows as they are, and grows by as much as these take.

        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "days.priory"
        >>> Classifier().learn({"outlook": ["Sunny", "Rain"]}, ["No", "Yes"]).save(path)
        >>> load(path).predict({"outlook": ["Rain"]}).tolist()
        ['Yes']
        """
        from priory.classifier import storage

        if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 0:
            raise SettingError(
                f"min_count must be a whole number of at least 0, not {min_count!r}."
            )
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
                tuning=self._tuning,
                sample=self._sample if keep_sample else None,
                moved=self._moved,
            ),
        )

    def to_sklearn(self) -> Any:
        """Return the same model as a fitted `NaiveBayes`, for scikit-learn's tools.

        >>> model = Classifier(Settings.textbook()).learn({"x": ["a", "b"]}, [0, 1]).to_sklearn()
        >>> model.predict({"x": ["b"]}).tolist()
        [1]
        """
        # By name: this module is below the estimators, and must not need scikit-learn.
        return import_module("priory.estimators.naive_bayes").NaiveBayes.from_classifier(self)

    # Answers

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class of every row."""
        codes, classes = self.predict_codes(X)
        return label_array(classes)[codes]

    @in_own_threads
    def predict_codes(self, X: Any) -> tuple[CodeArray, tuple[Label, ...]]:
        """Return the position of the most probable class of every row, and the classes.

        Another thread may make new classes known meanwhile, so both are of one model.
        """
        model = self.model
        return model.predict(self._frame(X)), model.classes

    @in_own_threads
    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(k | x), rows × classes."""
        return self.model.posterior(self._frame(X))

    @in_own_threads
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log P(k | x), rows × classes."""
        return self.model.log_posterior(self._frame(X))

    @in_own_threads
    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Return log P(k, x), rows × classes: the logarithm of the sum that `explain` writes out.

        Words and counts are taken in their order, so it has no multinomial coefficient; a number
        in a bin is told by its bin, a transformed one by what it is transformed to. With weights
        or biases it is a score, no probability.

        >>> classifier = Classifier(Settings.textbook(smoothing=0))
        >>> classifier = classifier.learn({"x": ["a", "a", "b"]}, [0, 1, 1])
        >>> np.exp(classifier.predict_joint_log_proba({"x": ["a"]})).round(3).tolist()
        [[0.333, 0.333]]
        """
        frame = self._frame(X)
        return self.model.log_joint(frame) + self.model.log_constants(frame)[:, None]

    @in_own_threads
    def score_samples(self, X: Any) -> FloatArray:
        """Return log P(x), how likely each row is at all."""
        return self.model.log_evidence(self._frame(X))

    @in_own_threads
    def description_length(
        self, X: Any = None, y: Any = None, sample_weight: Any = None
    ) -> ModelDescription:
        """Return how many bits it takes to tell the model, and then the rows it has learned.

            L(h) = ½ log2 n · parameters,   L(D | h) = −Σ_rows log2 P(k) Π_j P(x_j | k)

        It follows from the sums. With rows and their classes it holds besides how many bits the
        classes take once those rows are told, −Σ log2 P(k | x). Weights are not looked at but in
        that last figure: a weighted score is no probability of a row.

        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
        >>> classifier = Classifier(Settings.textbook()).learn(days, ["No", "No", "Yes", "Yes"])
        >>> print(classifier.description_length(days, ["No", "No", "Yes", "Yes"]))
        bits         parameters  L(h)  L(D | h)  total
        the classes           1   1.0       4.0   5.0
        outlook               4   4.0       4.1   8.1
        total                 5   5.0       8.1  13.1
        <BLANKLINE>
        the classes given the rows: 2.0 bits
        """
        from priory.model.description import bits_of_classes, describe

        model, statistics, choices = self._read_from
        given: float | None = None
        if (X is None) != (y is None):
            raise SettingError("description_length takes rows and their classes, or neither.")
        if X is not None:
            raw = open_table(X)
            labels, weights = read_labels(y), read_weights(sample_weight, raw.n_rows)
            _check_lengths(raw.n_rows, labels)
            given = bits_of_classes(
                self.predict_log_proba(raw), self._codes(labels, raw.n_rows), weights
            )
        return describe(model, statistics, choices, self.settings.class_prior, given)

    def log_evidence(self) -> float:
        """Return log P(the rows learned | their classes), every parameter integrated out.

            P(D) = Π_columns Π_classes ∫ P(column | θ) P(θ) dθ

        In closed form, so it needs conjugate priors: a smoothing above 0, and for a Gaussian a
        `NormalInverseGamma`. Unlike a likelihood it does not praise a model for having more
        parameters. Counts and words are taken in their order.

        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
        >>> classifier = Classifier(Settings.textbook()).learn(days, ["No", "No", "Yes", "Yes"])
        >>> round(float(np.exp(classifier.log_evidence())), 6)  # 1/6 · 1/12
        0.013889
        """
        from priory.families import Bernoulli

        (_, statistics, choices), total = self._read_from, 0.0
        for name, choice in choices.items():
            block, table = statistics.schema[name], statistics.tables[name]
            try:
                total += choice.family.log_evidence(table, choice.prior)
            except PrioryError as error:
                raise type(error)(f"Column {block.title!r}: {error}") from None
            if choice.missing == "category":
                derived, prior = presence(block, table, statistics.weight, choice.prior)
                total += Bernoulli().log_evidence(derived, prior)
        return total

    def tables(self, fractions: bool = False) -> pd.DataFrame:
        """Return every parameter as one tidy table: the class prior, P(v | k), μ, σ², P(word | k).

            P(v | k) = (n_vk + a_v) / (n_k + Σa)

        A row has the column, the parameter and the value it is of, the class, the `estimate`, and
        the `count` n_vk and `total` n_k that were learned, without the prior's pseudo-counts. With
        `fractions` it has the estimate as an exact fraction too, where counts are whole and the
        estimate is a ratio of them; an α of 0.1 is one tenth.

        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"]}
        >>> classifier = Classifier(Settings.textbook()).learn(days, ["No", "No", "No", "Yes"])
        >>> table = classifier.tables(fractions=True)
        >>> print(table.drop(columns="parameter").to_string(index=False))
         column value class  estimate  count  total fraction
           None  None    No  0.750000    3.0    4.0      3/4
           None  None   Yes  0.250000    1.0    4.0      1/4
        outlook  Rain    No  0.400000    1.0    3.0      2/5
        outlook  Rain   Yes  0.666667    1.0    1.0      2/3
        outlook Sunny    No  0.600000    2.0    3.0      3/5
        outlook Sunny   Yes  0.333333    0.0    1.0      1/3
        """
        from priory.model.estimates import as_frame

        return as_frame(self.table_columns(fractions))

    def table_columns(self, fractions: bool = False) -> dict[str, list[Any]]:
        """Return the columns of `tables` as plain lists, which need no pandas."""
        from priory.model.estimates import estimate_columns

        if not isinstance(fractions, bool):
            raise SettingError(f"fractions must be True or False, not {fractions!r}.")
        return estimate_columns(*self._read_from, self.settings.class_prior, fractions)

    @property
    def _read_from(self) -> tuple[Model, Statistics, dict[str, Choice]]:
        """Return the model, the sums that it was read out of, and how."""
        model, tuning, statistics = self.model, self._tuning, self.statistics
        choices = self._choices(statistics, self.settings, tuning)
        return model, statistics if tuning is None else tuning.weighed(statistics), choices

    def posterior(self, column: str) -> ParameterPosterior:
        """Return what is believed of a column's parameters after the data, class by class.

        A Dirichlet over probabilities, a Normal-Inverse-Gamma over mean and variance or a Gamma
        over a rate, each with its `mean` and its `interval`.

        >>> classifier = Classifier(Settings.textbook()).learn({"x": ["a", "a", "b"]}, [0, 0, 1])
        >>> classifier.posterior("x").mean.round(3).tolist()
        [[0.75, 0.25], [0.333, 0.667]]
        """
        _, statistics, _ = self._read_from
        choices = self.settings.choices(statistics)
        for name, choice in choices.items():
            block = statistics.schema[name]
            if column in block.columns:
                table = statistics.tables[name]
                return choice.family.posterior(
                    table, choice.prior, block, column, statistics.classes
                )
        known = [c for name in choices for c in statistics.schema[name].columns]
        raise SchemaError(
            f"The model has no column {column!r}. Columns: {listing(known)}."
            f"{did_you_mean(column, known)}"
        )

    def top_features(self, n: int = 10) -> TopFeatures:
        """Return the n words and values that weigh most for each class.

            log-odds = log P(v | k) − log P(v | any other class)

        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
        >>> classifier = Classifier(Settings.textbook()).learn(days, ["No", "No", "Yes", "Yes"])
        >>> print(classifier.top_features(1))
        No             count  log-odds
        outlook=Sunny  2      1.10
        <BLANKLINE>
        Yes               count  log-odds
        outlook=Overcast  1      0.69
        """
        from priory.model.top_features import top_features

        return top_features(self.model, self.statistics, n)

    @in_own_threads
    def explain(self, X: Any) -> Explanation:
        """Return the sum behind the prediction of every row, worked out."""
        from priory.model.explanation import explain

        return explain(self.model, self._frame(X))

    def sample(
        self, n: int, y: Any = None, random_state: int | np.random.Generator | None = None
    ) -> tuple[dict[str, AnyArray], AnyArray]:
        """Draw n new rows: their values by column, and their classes.

        `y` asks for one class, or for the class of each row. Values have the types that were
        learned: whole numbers are rounded, dates are dates again.

        >>> X = {"n": np.array([1, 2, 4, 5]), "t": [True, False, True, True]}
        >>> columns, y = Classifier().learn(X, [0, 0, 1, 1]).sample(3, random_state=0)
        >>> columns["n"].dtype, columns["t"].dtype
        (dtype('int64'), dtype('bool'))
        """
        from priory.model.samples import as_learned

        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise SettingError(f"n must be a whole number of at least 0, not {n!r}.")
        rng = np.random.default_rng(random_state)
        codes = None if y is None else self._codes(y, int(n))
        drawn, codes = self.model.sample(int(n), rng, codes)
        # In the order of the table; a column that was left out of the model is all gaps.
        columns = {c: drawn.get(c, np.full(int(n), np.nan)) for c in self.statistics.schema.columns}
        typed = as_learned({c: v for c, v in columns.items() if c in drawn}, self.statistics)
        return {**columns, **typed}, label_array(self.classes)[codes]

    def linear_form(self) -> LinearForm:
        """Return the weights with which the model is a linear classifier, where it is one."""
        return self.model.linear_form()

    @in_own_threads
    def _left_out(self, X: Any, y: Any, sample_weight: Any, folds: Any = None) -> Left:
        """Return what models that had not learned a row, or its fold, say of it."""
        raw = open_table(X)
        labels, weight = read_labels(y), read_weights(sample_weight, raw.n_rows)
        _check_lengths(raw.n_rows, labels)
        frame = self._in_learned_types(read(raw, self.statistics.schema))
        return self.left_out(frame, in_type_of(labels, self.classes), weight, folds)

    def left_out(
        self, frame: Frame, labels: Labels, weight: FloatArray | None, folds: Any = None
    ) -> Left:
        """Return what models that had not learned a row, or its fold, say of it."""
        from priory.tuning.leave_one_out import Left, log_joint_folds, log_joint_without

        statistics, settings = self.statistics, self.settings
        _ = self.model  # tuned where that is due
        if folds is None and self._tuning is not None:
            joint = self._cross_fitted(frame, labels, weight)
            how = self._tuning.how
            return Left.of_joint(joint, labels, statistics, weight, how)
        choices = settings.choices(statistics)
        given = (settings.class_prior,)
        if folds is None:
            joint = log_joint_without(statistics, choices, frame, labels, weight, *given)
            exact = "exact leave-one-out" if settings.select is None else SELECTED
            return Left.of_joint(joint, labels, statistics, weight, exact)
        how = f"{len(set(folds))}-fold"
        # What is chosen by looking at the classes is chosen for each fold anew.
        if self._tuning is None and settings.select is None:
            joint = log_joint_folds(statistics, choices, frame, labels, folds, weight, *given)
        else:
            joint = self._tuned_folds(frame, labels, weight, folds)
        return Left.of_joint(joint, labels, statistics, weight, how)

    def _cross_fitted(self, frame: Frame, y: Labels, weight: FloatArray | None) -> FloatArray:
        """Return the scores of rows by sums without the row, and weights without its fold."""
        from priory.tuning.tuning import log_joint_cross_fitted, tune

        tuning = self._tuning
        assert tuning is not None
        out = np.empty((len(frame), len(self.classes)))
        known = slice(None) if weight is None else weight > 0
        rows = frame.take(known), y.take(known), None if weight is None else weight[known]
        self._check_learned(*rows)
        if tuning.scored is None:  # a file does not hold them
            sample = Sample.of(*rows, max(self.settings.sample_size, len(frame)))
            tuning = tune(self.statistics, self.settings, sample)
        out[known] = log_joint_cross_fitted(tuning, self.statistics, *rows)
        out[known] += self.prior_shift
        if weight is not None and not weight.all():  # a row of weight 0 was never learned
            out[weight == 0] = self.model.log_joint(frame.take(weight == 0))
        return out

    @property
    def prior_shift(self) -> FloatArray:
        """Return log P_wanted(k) − log P_rows(k): what a prior that was asked for changes."""
        given, statistics = self.settings.class_prior, self.statistics
        if given is None:
            return np.zeros(len(statistics.classes))
        wanted = Model.read(statistics, {}, given).log_prior
        shares = Model.read(statistics, {}, None).log_prior
        return np.where(np.isneginf(shares), 0.0, wanted - np.maximum(shares, -1e300))

    def _tuned_folds(
        self, frame: Frame, y: Labels, weight: FloatArray | None, folds: AnyArray
    ) -> FloatArray:
        """Return the scores of each fold by a classifier that is tuned on all the others."""
        joint = np.empty((len(frame), len(self.classes)))
        for fold in np.unique(folds):
            out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            taken = None if weight is None else weight[out]
            counted = Statistics.count(frame.take(out), y.take(out), self.statistics.schema, taken)
            other = Classifier(self.settings)
            other._become((self.statistics - counted).with_classes(self.classes))
            kept = None if weight is None else weight[rest]
            other._pool = Pool(self.settings.sample_size)
            other._pool.add(frame.take(rest), y.take(rest), kept)
            joint[out] = other.model.log_joint(frame.take(out))
        return joint

    @staticmethod
    def _choices(
        statistics: Statistics, settings: Settings, tuning: Tuning | None
    ) -> dict[str, Choice]:
        """Return how each block is read out, as it was tuned where it was."""
        choices = settings.choices(statistics if tuning is None else tuning.weighed(statistics))
        if tuning is not None:
            choices |= {name: tuning.choices[name] for name in choices if name in tuning.choices}
        return choices

    @staticmethod
    def _read_out(
        statistics: Statistics, settings: Settings, tuning: Tuning | None = None
    ) -> Model:
        choices = Classifier._choices(statistics, settings, tuning)
        if tuning is None:
            return Model.read(statistics, choices, settings.class_prior)
        scaled = tuning.weighed(statistics)
        return tuning.applied(Model.read(scaled, choices, settings.class_prior))

    def _become(self, statistics: Statistics) -> None:
        if not statistics.n_rows and self._statistics is None:
            raise InputError(
                "There are no rows to learn from: the table has none, or sample_weight is zero in "
                "every row."
            )
        self._statistics, self._model = statistics.with_classes(self._declared), None

    def _count(self, X: Any, y: Any, weight: Any) -> Counted:
        raw = open_table(X)
        labels = read_labels(y)
        _check_lengths(raw.n_rows, labels)
        weights = read_weights(weight, raw.n_rows)
        if self._statistics is not None:
            schema = infer_empty(raw, self._statistics.schema)
            labels = in_type_of(labels, self._statistics.classes)
            in_types = partial(self._in_learned_types, learning=True)
            return count_rows(raw, labels, weights, schema, self.settings, in_types)
        schema = infer(raw, self.settings.declared(raw))
        counted = count_rows(raw, labels, weights, schema, self.settings, lambda frame: frame)
        from priory.tuning.structure import choose_structure

        blocks = choose_structure(counted.statistics, self.settings, *counted.rows)
        if not blocks:
            return counted
        more = Schema(schema.columns, blocks, schema.named)
        paired = with_pairs(counted.rows[0], more)
        together = Statistics.count(
            paired,
            y=counted.rows[1],
            schema=more,
            weight=weights,
        )
        return replace(counted, statistics=counted.statistics.beside(together))

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Labels, FloatArray | None]:
        """Return rows that were learned, as the statistics count them."""
        raw = open_table(X)
        labels, weights = read_labels(y), read_weights(sample_weight, raw.n_rows)
        _check_lengths(raw.n_rows, labels)
        labels = in_type_of(labels, self.classes)
        frame = self._in_learned_types(read(raw, self.statistics.schema))
        if weights is not None and not weights.all():
            some = weights > 0
            frame, labels, weights = frame.take(some), labels.take(some), weights[some]
        return frame, labels, weights

    def _frame(self, X: Any) -> Frame:
        frame = read(X, self.statistics.schema)
        frame = self._in_learned_types(frame)
        check_missing(frame, self.statistics.schema, self.settings)
        # A table that was opened already may be one of many batches, whose rows have other numbers.
        _refuse_large(frame, self.statistics.schema, name_row=not isinstance(X, RawTable))
        return frame

    def _in_learned_types(self, frame: Frame, learning: bool = False) -> Frame:
        """Return rows in the types that were learned; columns that do not fit are warned of."""
        learned = self._learned
        if learned is None or learned.statistics is not self.statistics:
            self._learned = learned = Learned(self.statistics)
        return learned.aligned(frame, learning)

    def _codes(self, y: Any, n: int) -> AnyArray:
        if isinstance(y, str | bytes) or not hasattr(y, "__len__"):
            y = [y] * n
        wanted = read_labels(y)
        if len(wanted) != n:
            raise InputError(f"y must be one class or one for each of the {n} rows.")
        places = {label_key(label): k for k, label in enumerate(self.classes)}
        unknown = [label for label in wanted.labels if label_key(label) not in places]
        if unknown:
            raise InputError(
                f"Class {listing(unknown)} is not known. Classes: {listing(self.classes)}."
            )
        place = np.array([places[label_key(label)] for label in wanted.labels], dtype=np.int32)
        return place[wanted.codes] if n else wanted.codes

    def _warn_stale(self) -> None:
        if self._is_stale and "tuning" not in self._warned:
            self._warned.add("tuning")
            warn(
                "Rows were learned, merged or forgotten since families and weights were chosen, "
                "and no sample of the rows is at hand to choose anew: the choice is stale. "
                "recalibrate(X, y) renews it; a model saved with keep_sample=True renews itself.",
                StaleTuningWarning,
            )

    def _warn_spikes(self, model: Model) -> None:
        from priory.model.spread import (
            about_spikes,  # nothing that a saved model's prediction needs
        )

        asked = [t for t in model.terms if not self.settings.is_auto("families", t.block)]
        for name, message in about_spikes(asked, self.statistics).items():
            if f"the spread of {name}" not in self._warned:
                self._warned.add(f"the spread of {name}")
                warn(message, VanishingVarianceWarning)

    def _warn_identifiers(self, statistics: Statistics) -> None:
        names = [
            block.name
            for block in statistics.schema
            if block.kind is Kind.IDENTIFIER
            or (
                block.kind.is_counted
                and self.settings.names_rows(block, statistics.tables[block.name])
            )
        ]
        new = [name for name in names if name not in self._warned]
        self._warned.update(new)
        if new:
            settings = [self._setting_for(name, statistics) for name in new]
            warn(
                f"Column {listing(new)} has hardly two rows alike: it names the rows and was left "
                f"out. To use it all the same: {', '.join(dict.fromkeys(settings[:5]))}.",
                IdentifierWarning,
            )

    def _setting_for(self, name: str, statistics: Statistics) -> str:
        """Return the setting with which a column that was left out is used."""
        from priory.text.sentences import text_setting

        table: Any = statistics.tables.get(name)
        if table is not None:
            setting = text_setting(name, table.labels)
        else:
            setting = f"text=[{name!r}]" if statistics.schema[name].why == NAMES_OR_TEXT else None
        return setting or f"families={{{name!r}: 'categorical'}}"


def _refuse_large(frame: Frame, schema: Schema, name_row: bool) -> None:
    """Name the column, and the row, of a number that is infinite or too large to be squared."""
    for block in schema.counted:
        column = frame[block.name]
        if isinstance(column, Numbers) and _has_large(column.values):
            refuse_large(block, column.values, name_row)


@dataclass(frozen=True, eq=False)
class Counted:
    """Hold the sums of some rows, and the rows themselves: values, classes and weights."""

    statistics: Statistics
    rows: tuple[Frame, Labels, FloatArray | None]


def count_rows(
    raw: RawTable,
    y: Labels,
    weight: FloatArray | None,
    schema: Schema,
    settings: Settings,
    in_types: Callable[[Frame], Frame] | None = None,
) -> Counted:
    """Count the rows of a table under a schema, in the types that were learned.

    Without `in_types` it is one of many batches, whose rows are not named.
    """
    frame = read(raw, schema)
    frame = frame if in_types is None else in_types(frame)
    check_missing(frame, schema, settings)
    try:
        statistics = Statistics.count(frame, y, schema, weight)
    except InputError:
        _refuse_large(frame, schema, name_row=in_types is not None)
        raise
    return Counted(statistics, (frame, y, weight))


def check_missing(frame: Frame, schema: Schema, settings: Settings) -> None:
    """Refuse gaps where there must be none."""
    for block in schema:
        if settings.missing_of(block) != "error" or block.kind is Kind.IDENTIFIER:
            continue
        if block.pairing is not None:  # its columns stand by themselves too
            continue
        there = block.kind.is_counted
        missing = frame[block.name].missing if there else np.ones(len(frame), dtype=np.bool_)
        if missing.any():
            raise MissingValueError(
                f"Column {block.name!r} has {int(missing.sum())} missing values, the first in "
                f"row {int(np.argmax(missing))}. Fill them in, or set missing='skip' or "
                "'category'."
            )


def _check_lengths(n_rows: int, y: Labels) -> None:
    if len(y) != n_rows:
        raise InputError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows, y has {len(y)}."
        )


def load(path: str | os.PathLike[str], max_memory: int | None = None) -> Classifier:
    """Return the classifier that a model file holds; anything but a sound file is refused.

    `max_memory` is how many bytes its tables may take: by default 100 times the file, or 256 MB.
    A file is data, never code, and `ModelFileError` says what is wrong with it.

    >>> load("setup.py")
    Traceback (most recent call last):
    priory.base.errors.ModelFileError: setup.py is no model file of priory: it does not begin as a
    Parquet file does.
    """
    from priory.classifier import storage

    stored = storage.read(path, max_memory)
    classifier = Classifier(stored.settings)
    classifier._statistics, classifier._declared = stored.statistics, stored.declared
    classifier.provenance, classifier._tuning = stored.provenance, stored.tuning
    classifier._moved = stored.moved
    if stored.sample is not None:
        classifier._pool = Pool(stored.settings.sample_size, stored.sample)
    if stored.statistics.n_rows:
        try:
            model = Classifier._read_out(stored.statistics, stored.settings, stored.tuning)
            classifier._model = None if stored.moved else model  # whoever asks is told so
        except PrioryError:
            pass  # settings that do not fit: said when the model is asked, as before saving
        except Exception as error:
            raise ModelFileError(
                f"{os.fspath(path)} is damaged: no model can be read out of it: {error!r:.200}."
            ) from None
    return classifier


def _has_large(values: AnyArray) -> bool:
    """Return whether a number is infinite or too large to be squared; NaN is neither."""
    least, most = (f.reduce(values, axis=None, initial=0.0) for f in (np.fmin, np.fmax))
    return max(-float(least), float(most)) > LARGEST


def label_array(labels: Sequence[Label]) -> AnyArray:
    """Return labels as an array of their own type, or of objects where they are mixed."""
    types = {type(label) for label in labels}
    # NumPy's strings drop trailing NULs, which are part of a label.
    plain = types in ({bool}, {int}, {float}, {int, float}, {str})
    if plain and not any(isinstance(label, str) and "\0" in label for label in labels):
        array = np.array(labels)
        # NumPy makes floats, exact or not, of integers that do not fit into 64 bits together.
        if array.tolist() == list(labels) and (array.dtype.kind != "f" or float in types):
            return array
    result = np.empty(len(labels), dtype=object)
    result[:] = labels
    return result
