"""The model: parameters estimated from statistics, and the sum that every answer comes from.

    log P(k, x) = log P(k) + Σ over terms log P(block | k)

A model is immutable. It is made from statistics by choosing a family and a prior for each
block; making another from the same statistics needs no data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import ImpossibleEvidenceWarning, listing, warn
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Frame, Numbers, Texts
from priory.data.finite import refuse_large
from priory.families.protocols import sample_block
from priory.kernels.score import argmax_rows, log_normalize, softmax
from priory.model.adding import add_up
from priory.model.class_prior import ClassPrior, class_probabilities
from priory.model.term import Choice, Term, terms_of
from priory.statistics.statistics import Statistics

if TYPE_CHECKING:
    from priory.model.linear_form import LinearForm

__all__ = ["Model"]


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Answer every question of a fitted classifier: which class, how sure, how likely at all.

    >>> from priory.families import Categorical
    >>> from priory.families.priors import Laplace
    >>> from priory.data.reading import infer, read, read_labels
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain"]}
    >>> frame, schema = read(days, infer(days)), infer(days)
    >>> statistics = Statistics.count(frame, read_labels(["No", "No", "Yes"]), schema)
    >>> model = Model.read(statistics, {"outlook": Choice(Categorical(), Laplace(1.0))})
    >>> model.posterior(frame).round(3).tolist()
    [[0.818, 0.182], [0.818, 0.182], [0.429, 0.571]]
    """

    classes: tuple[Label, ...]
    log_prior: FloatArray
    terms: tuple[Term, ...]

    @classmethod
    def read(
        cls,
        statistics: Statistics,
        choices: Mapping[str, Choice],
        class_prior: ClassPrior = None,
    ) -> Model:
        """Estimate a model from statistics; blocks without a choice are left out."""
        with np.errstate(divide="ignore"):
            log_prior = np.log(class_probabilities(statistics, class_prior))
        return cls(statistics.classes, log_prior, tuple(terms_of(statistics, choices)))

    def __repr__(self) -> str:
        return f"<Model: {len(self.terms)} factors, {len(self.classes)} classes>"

    def log_constants(self, frame: Frame) -> FloatArray:
        """Compute what log P(k, x) of every row has beside `log_joint`, the same for all classes.

        It is the 1/x! of a Poisson count and the C(t, x) of a binomial one. The orders of words
        and counts, and the widths of bins, belong to the evidence alone.
        """
        return sum((term.log_constant(frame) for term in self.terms), np.zeros(len(frame)))

    def log_joint(self, frame: Frame) -> FloatArray:
        """Compute log P(k, x), rows × classes, but for what is the same for all classes."""
        out = np.empty((len(frame), len(self.classes)))
        self._score(frame, out)
        return out

    def log_evidence(self, frame: Frame) -> FloatArray:
        """Compute log P(x) = log Σ_k P(x | k) P(k) of every row."""
        out, evidence = np.empty((len(frame), len(self.classes))), np.empty(len(frame))
        self._score(frame, out, lambda rows: log_normalize(out[rows], evidence[rows]), False)
        for term in self.terms:
            if term.about != "correction":
                evidence += term.log_base_measure(frame)
        return evidence

    def log_posterior(self, frame: Frame) -> FloatArray:
        """Compute log P(k | x); a row impossible under every class gets the class prior."""
        return self._normalized(frame, log_normalize, self.log_prior)

    def posterior(self, frame: Frame) -> FloatArray:
        """Compute P(k | x); a row impossible under every class gets the class prior."""
        return self._normalized(frame, softmax, np.exp(self.log_prior))

    def predict(self, frame: Frame) -> CodeArray:
        """Find the code of the most probable class; a tie, within rounding, goes to the first.

        `log_posterior` and `posterior` give classes that are tied the very same number, so the
        first largest of their numbers is this class.
        """
        out = np.empty((len(frame), len(self.classes)))
        codes = np.empty(len(frame), dtype=np.int32)
        self._score(frame, out, lambda rows: argmax_rows(out[rows], codes[rows]))
        if codes.min(initial=0) < 0:
            impossible = codes < 0
            codes[impossible] = self.log_prior.argmax()
            self._warn_impossible(frame, impossible)
        return codes

    def _score(
        self,
        frame: Frame,
        out: FloatArray,
        finish: Callable[[slice], None] | None = None,
        weighted: bool = True,
    ) -> None:
        """Write log P(k, x) to `out`, stretch by stretch, and finish each while it is at hand.

        Weights are for telling classes apart; a probability of the row itself has none, and no
        corrections.
        """
        terms = [t for t in self.terms if (t.counts if weighted else t.about != "correction")]
        adders = [term.adder(frame, weighted) for term in terms]
        work = sum(_entries_per_row(term, frame) for term in terms)
        add_up(adders, self.log_prior, out, work, finish)

    @property
    def bias(self) -> FloatArray | None:
        """What is added to the score of each class of a row that has all columns."""
        offsets = [term.offset for term in self.terms if term.offset is not None]
        return np.sum(offsets, axis=0) if offsets else None

    def with_bias(self, bias: FloatArray) -> Model:
        """Add a bias for each class, in the share of the columns that say something of a row.

        So a row of missing or unseen values keeps the class prior.
        """
        n = sum(term.about == "value" for term in self.terms)
        terms = [
            replace(term, offset=bias / n if term.about == "value" else None) for term in self.terms
        ]
        return replace(self, terms=tuple(terms))

    def biases(self, frame: Frame) -> FloatArray | None:
        """Compute what is added to each class, rows × classes: no column, no bias."""
        if self.bias is None:
            return None
        total = np.zeros((len(frame), len(self.classes)))
        for term in self.terms:
            if term.offset is not None:
                total += term.speaks(frame, len(self.classes))[:, None] * term.offset
        return total

    def _normalized(
        self,
        frame: Frame,
        normalize: Callable[[FloatArray, FloatArray], None],
        fallback: FloatArray,
    ) -> FloatArray:
        out, evidence = np.empty((len(frame), len(self.classes))), np.empty(len(frame))
        self._score(frame, out, lambda rows: normalize(out[rows], evidence[rows]))
        if evidence.min(initial=0.0) == -np.inf:
            impossible = np.isneginf(evidence)
            out[impossible] = fallback
            self._warn_impossible(frame, impossible)
        return out

    def sample(
        self, n: int, rng: np.random.Generator, y: CodeArray | None = None
    ) -> tuple[dict[str, AnyArray], CodeArray]:
        """Draw rows from P(x | k) P(k): values by column, and class codes.

        Rows of the classes `y` are drawn when given, else the classes are drawn too.
        """
        if y is None:
            y = rng.choice(len(self.classes), size=n, p=np.exp(self.log_prior)).astype(np.int32)
        columns: dict[str, AnyArray] = {}
        for term in self.terms:
            if term.about == "value":
                drawn = (term.block, term.parameters, y, columns, rng)
                columns |= sample_block(term.family, *drawn)
        for term in self.terms:
            if term.about == "missing":
                name = term.block.columns[-1]
                gone = term.family.sample(term.parameters, y, rng)
                columns[name] = _with_missing(columns[name], gone)
        return columns, y

    def linear_form(self) -> LinearForm:
        """Derive the weights and biases with which every log P(k, x) is a weighted sum."""
        from priory.model.linear_form import linear_form  # a prediction does without

        return linear_form(self)

    def _warn_impossible(self, frame: Frame, impossible: Any) -> None:
        rows = frame.take(impossible)
        blame = []
        for term in self.terms:
            column = term.column(rows)
            if isinstance(column, Numbers):  # what no statistics could hold, no class can explain
                refuse_large(term.block, column.values)
            scores = np.zeros((len(rows), len(self.classes)))
            term.add_log_likelihood(rows, scores)
            if np.isneginf(scores).any():
                blame.append(term.title)
        what = "row is" if len(rows) == 1 else "rows are"
        warn(
            f"{len(rows)} {what} impossible under every class, because of column {listing(blame)}; "
            "the answer given is the class prior. A smoothing above 0 lets values be possible that "
            "were never seen with a class.",
            ImpossibleEvidenceWarning,
        )


def _entries_per_row(term: Term, frame: Frame) -> int:
    """Guess how many look-ups a row costs: a text has a word in every six bytes."""
    column = frame.columns.get(term.block.name)
    if isinstance(column, Texts) and len(column):
        return 1 + column.n_bytes // (6 * len(column))
    return term.block.work


def _with_missing(values: AnyArray, gone: AnyArray) -> AnyArray:
    nothing: Any = np.nan if values.dtype.kind == "f" else None
    return np.where(gone, nothing, values)
