"""What was learned, and the model that follows from statistics and settings when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from priory.base.errors import NotFittedError, listing
from priory.base.locking import alone
from priory.base.parallel import in_own_threads
from priory.base.typing import CodeArray, FloatArray, Label
from priory.classifier.answers import Answers
from priory.classifier.checks import check_missing, check_size
from priory.classifier.drift import Learned, in_type_of
from priory.classifier.provenance import Provenance
from priory.classifier.tuning_state import TuningState
from priory.data.columns import Frame, Labels
from priory.data.rawtables import RawTable, open_table
from priory.data.reading import check_lengths, read, read_labels, read_weights
from priory.data.schema import Schema
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.choices import is_identifier, not_selected, reads_codes
from priory.tuning.readout import chosen, read_out
from priory.tuning.settings import Settings
from priory.tuning.tuned import SampleScores, Tuning
from priory.tuning.waiting import Interrupted

if TYPE_CHECKING:
    from priory.tuning.leave_one_out import HeldOutScores

__all__ = ["Fitted", "read_out"]

T = TypeVar("T")


class Fitted(Answers):
    """Statistics and settings, and the model that follows from both when it is asked for."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings if settings is not None else Settings()
        self.provenance = Provenance()
        self._statistics: Statistics | None = None
        self._model: Model | None = None
        self._declared: tuple[Label, ...] = ()
        self._tuned = TuningState()
        self._said: set[str] = set()
        self._seals: dict[str, bytes] = {}  # of files, as they were last read or written
        self._learned: Learned | None = None
        self.checked_scores: tuple[Tuning, SampleScores] | None = None
        self._remembered: dict[str, tuple[Model, Any]] = {}

    def __repr__(self) -> str:
        if self._statistics is None:
            return "<Classifier that has learned nothing>"
        columns = listing(self._statistics.schema.columns, 4)
        state = self._tuned.name(self.settings, self._model is not None)
        classes = f"{len(self.classes)} classes"
        rows = f"{self._statistics.n_rows:,} rows"
        return f"<Classifier, {state}: {rows}, {classes}; columns {columns}>"

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
        """The sums of everything learned so far."""
        if self._statistics is None:
            raise NotFittedError("This classifier has learned nothing yet; give it rows first.")
        return self._statistics

    @property
    def has_learned(self) -> bool:
        """Whether there are statistics."""
        return self._statistics is not None

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in their order."""
        return self.statistics.classes

    @property
    def n_threads(self) -> int | None:
        """Threads that count and score, None for the cores at hand."""
        return self.settings.n_threads

    @property
    def model(self) -> Model:
        """The model that the statistics and the settings give.

        What is tuned is tuned anew here where rows came or went since.
        """
        model = self._model
        return model if model is not None else self._read_model()

    @alone  # else a model of sums that another thread has changed since would be kept
    @in_own_threads
    def _read_model(self) -> Model:
        if self._model is None:
            from priory.classifier import remarks

            statistics, tuned = self.statistics, self._tuned
            if not statistics.n_rows:
                raise NotFittedError("This classifier has forgotten every row it had learned.")
            if int((statistics.weight > 0).sum()) < 2:
                tuned.tuning = None  # of a single class there is nothing to choose
            elif tuned.is_due(self.settings) and (sample := self.tuning_sample) is not None:
                try:
                    tuned.tune(statistics, self.settings, sample)
                except Interrupted:
                    remarks.warn_interrupted()
            model = read_out(statistics, self.settings, tuned.tuning)
            remarks.warn_identifiers(statistics, self._said)
            remarks.warn_spikes(model, self.settings, statistics, self._said)
            if tuned.is_stale:
                remarks.warn_stale(self._said)
            self._model = model
        return self._model

    def readout(self) -> tuple[Model, Statistics, dict[str, Choice]]:
        """Get the model, the sums behind it, and the choice of each block."""
        model, tuning, statistics = self.model, self.tuning, self.statistics
        weighed = statistics if tuning is None else tuning.weighed(statistics)
        return model, weighed, chosen(weighed, self.settings, tuning)

    def remember(self, name: str, make: Callable[[], T]) -> T:
        """Give what was made for the model as it is now, made once."""
        model = self.model
        known = self._remembered.get(name)
        if known is None or known[0] is not model:
            known = self._remembered[name] = model, make()
        found: T = known[1]
        return found

    @property
    def schema(self) -> Schema:
        """What each column is, its family, and why."""
        (model, statistics, _), settings = self.readout(), self.settings
        schema, tables = statistics.schema, statistics.tables
        families = {
            term.block.name: term.family.title
            for term in model.terms[::-1]
            if term.about != "correction" or len(term.block.columns) > 1
        }
        corrected = [term.block for term in model.terms if term.about == "correction"]
        by_words = [] if self.tuning is None else list(self.tuning.words)
        for name in [*by_words, *(b.name for b in corrected if len(b.columns) == 1)]:
            if name in families:
                families[name] += ", corrected"
        covered = settings.covered(schema)
        left_out = {
            b.name: f"in {covered[b.name]}" if b.name in covered else "left out"
            for b in schema
            if b.name not in families
        }
        why = {name: str(found) for name, found in not_selected(settings, statistics).items()}
        for block in schema.counted:
            if is_identifier(block, tables[block.name]):
                why[block.name] = "hardly two rows alike: a unique identifier"
            elif reads_codes(settings, block, tables[block.name]):
                why[block.name] = f"{block.why}: few small integers, read as categories"
        blocks = tuple(replace(b, why=why.get(b.name, b.why)) for b in schema)
        blocks += tuple(block for block in corrected if len(block.columns) > 1)
        weights = None
        if self.tuning is not None and settings.weights is not None:
            weights = {t.block.name: t.weight for t in model.terms if t.about == "value"}
        return replace(schema, blocks=blocks).with_families({**families, **left_out}, weights)

    # Tuning

    @property
    def state(self) -> str:
        """How far the model is tuned: "textbook", "tuned", "not tuned" or "stale".

        Stale is what was tuned before rows came or went, where no sample is at hand to tune on.

        >>> from priory import Classifier
        >>> Classifier(Settings.textbook()).state, Classifier(Settings(sample_size=0)).state
        ('textbook', 'not tuned')
        """
        if self.settings.is_tuned and self._statistics is not None and self._statistics.n_rows:
            _ = self.model
        return self._tuned.name(self.settings, self._model is not None)

    @property
    def is_calibrated(self) -> bool:
        """Whether the model is tuned: if not, its probabilities are too sure of themselves."""
        return self.state not in ("textbook", "not tuned")

    @property
    def tuning(self) -> Tuning | None:
        """What was chosen on rows without their fold, None where nothing was."""
        return self._tuned.tuning

    @property
    def tuning_sample(self) -> Sample | None:
        """The sample of the rows learned that is tuned on, where one is at hand."""
        return self._tuned.sample(self.statistics.schema)

    @property
    def has_sample(self) -> bool:
        """Whether a sample of the rows is at hand, to tune on."""
        return self._tuned.pool is not None

    @property
    def weights(self) -> dict[str, float]:
        """How far the factor of each column is trusted: 1 where nothing was learned."""
        terms = self.model.terms
        return {term.title: term.weight for term in terms if term.about != "correction"}

    @in_own_threads
    def held_out(
        self, X: Any, y: Any, sample_weight: Any = None, folds: Any = None
    ) -> HeldOutScores:
        """Score rows that were learned by models without the row, or without its fold."""
        from priory.classifier.held_out import held_out

        return held_out(self, *self._learned_rows(X, y, sample_weight), folds)

    # Reading rows

    @in_own_threads
    def answer(self, X: Any, question: Callable[[Model, Frame], T]) -> T:
        """Ask the model a question about rows."""
        return question(self.model, self.frame(X))

    def frame(self, X: Any) -> Frame:
        """Read rows to be classified, as the model scores them."""
        schema = self.statistics.schema
        frame = self._types.aligned(read(X, schema))
        check_missing(frame, schema, self.settings)
        # A table that was opened already may be one of many batches, whose rows have other numbers.
        check_size(frame, schema, name_row=not isinstance(X, RawTable))
        return frame

    def _fitted(self) -> Self:
        return self

    def learned_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Frame, CodeArray, FloatArray | None]:
        """Read rows that were learned, with the places of their classes; refuse any others."""
        from priory.classifier.held_out import check_learned
        from priory.tuning.leave_one_out import class_codes

        frame, labels, weight = rows = self._learned_rows(X, y, sample_weight)
        check_learned(self.statistics, None, rows)
        return frame, class_codes(labels, self.statistics), weight

    def _learned_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Frame, Labels, FloatArray | None]:
        """Read rows that were learned, as the statistics count them."""
        raw = open_table(X)
        labels, weights = read_labels(y), read_weights(sample_weight, raw.n_rows)
        check_lengths(raw.n_rows, labels)
        labels = in_type_of(labels, self.classes)
        return self._types.aligned(read(raw, self.statistics.schema)), labels, weights

    @property
    def _types(self) -> Learned:
        """The types that were learned, found once for the same statistics."""
        learned = self._learned
        if learned is None or learned.statistics is not self.statistics:
            self._learned = learned = Learned(self.statistics)
        return learned
