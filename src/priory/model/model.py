"""The model: parameters read out of statistics, and the sum that every answer comes from.

    log P(k, x) = log P(k) + Σ over terms log P(block | k)

A model is immutable. It is made from statistics by choosing a family and a prior for each
block; making another from the same statistics needs no data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from priory import families
from priory.base.errors import (
    ImpossibleEvidenceWarning,
    InputError,
    NotLinearError,
    PrioryError,
    SettingError,
    listing,
    warn,
)
from priory.base.formatting import aligned
from priory.base.labels import label_key, label_token
from priory.base.parallel import in_parallel, stretches
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray, Label
from priory.data.columns import Column, Frame, Labels, Numbers, Texts
from priory.data.finite import refuse_large
from priory.data.schema import Block
from priory.families import Family
from priory.families.base import Adder, Lookup
from priory.families.priors import Laplace, Prior
from priory.families.protocols import as_linear, sample_block
from priory.kernels.score import Lookups, argmax_rows, log_normalize, softmax
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable

__all__ = [
    "Choice",
    "ClassPrior",
    "LinearForm",
    "Model",
    "Term",
    "add_up",
    "n_words",
    "presence",
]

STRETCH = 131_072
"""So many scores are worked out together: a megabyte, which stays in the cache."""

MOST_FEATURES = 20
"""So many weights of a linear form are printed."""

ClassPrior = None | Literal["uniform", "words"] | Mapping[Label, float] | Sequence[float]
"""How likely each class is beforehand: None takes its share of the rows."""


@dataclass(frozen=True)
class Choice:
    """Say how one block is read out: its family, its prior, and whether gaps tell anything."""

    family: Family
    prior: Prior | None
    missing: Literal["skip", "category", "error"] = "skip"


@dataclass(frozen=True, eq=False, repr=False)
class Term:
    """Hold one factor P(block | k).

    `about` says if it is of the value, of its being there, or of two values beyond their own
    factors.
    """

    block: Block
    family: Family
    parameters: Any
    about: Literal["value", "edge", "missing"] = "value"
    weight: float = 1.0
    """How far the factor is trusted: it enters as P(block | k)^weight."""
    offset: FloatArray | None = None
    """What is added to each class beside it, where the factor says anything at all."""

    def __repr__(self) -> str:
        return f"<Term {self.title}: {self.family.title}>"

    @property
    def title(self) -> str:
        """Return what the factor is about."""
        return (
            f"{self.block.columns[-1]} is missing" if self.about == "missing" else self.block.title
        )

    def column(self, frame: Frame) -> Column:
        """Return what the factor looks at."""
        column = frame[self.block.name]
        if self.about == "missing":
            return Labels(column.missing.astype(np.int32), (False, True))
        return column

    def adder(self, frame: Frame, weighted: bool = False) -> Adder:
        """Return a function that adds log P(block | k), weighted or not, of a stretch of rows."""
        try:
            adder = self.family.adder(self.column(frame), self.parameters)
        except InputError as error:
            raise type(error)(f"Column {self.block.title!r}: {error}.") from None
        if not weighted or (self.weight == 1.0 and self.offset is None):
            return adder
        if isinstance(adder, Lookup):
            return replace(adder, log_p=self._weighted_table(adder.log_p))
        return _weighted(adder, self.weight, 0.0 if self.offset is None else self.offset)

    def _weighted_table(self, log_p: FloatArray) -> FloatArray:
        """Return a table to look up, weighted; rows that say nothing stay so.

        That of the parameters is kept, for a single row should not wait for it.
        """
        kept: Any = self.__dict__.get("_kept")
        if kept is None or kept[0] is not log_p:
            says = log_p.any(axis=1, keepdims=True)
            offset = 0.0 if self.offset is None else self.offset
            kept = log_p, np.where(says, _times(self.weight, log_p) + offset, 0.0)
            self.__dict__["_kept"] = kept
        table: FloatArray = kept[1]
        return table

    @property
    def counts(self) -> bool:
        """Return whether the factor changes any score."""
        return bool(self.weight) or self.offset is not None

    def speaks(self, frame: Frame, n_classes: int) -> BoolArray:
        """Return which rows the factor says anything of: no gap, nor a value never seen."""
        out = np.zeros((len(frame), n_classes))
        self.add_log_likelihood(frame, out)
        return np.asarray(out.any(axis=1))

    def add_log_likelihood(self, frame: Frame, out: FloatArray) -> None:
        """Add log P(block | k) to `out`, rows × classes."""
        self.adder(frame)(slice(0, len(frame)), out)

    def log_constant(self, frame: Frame) -> FloatArray:
        """Return what the log joint has of the factor beside `add_log_likelihood`."""
        if not self.family.base_measure_in_joint or self.about != "value":
            return np.zeros(len(frame))
        return self.weight * self.family.log_base_measure(self.column(frame), self.parameters)

    def log_base_measure(self, frame: Frame) -> FloatArray:
        """Return the part of the log-likelihood that is the same for every class."""
        column: Any = self.column(frame)
        shared = self.family.log_base_measure(column, self.parameters)
        pairing = self.block.pairing
        if pairing is None or self.about != "value":
            return shared
        for j, part in enumerate(column.parts):  # a number is spread evenly over its bin
            told = not pairing.is_conditional or j == len(column.parts) - 1
            if told and pairing.edges[j] is not None:
                shared = shared - np.append(pairing.log_widths(j), 0.0)[part.codes]
        return shared


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Answer every question of a fitted classifier: which class, how sure, how likely at all.

    >>> from priory.families import Categorical
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
        """Read a model out of statistics; blocks without a choice are left out."""
        terms = []
        for name, choice in choices.items():
            block, table = statistics.schema[name], statistics.tables[name]
            try:
                parameters = choice.family.parameters(table, choice.prior)
            except PrioryError as error:
                raise type(error)(f"Column {block.title!r}: {error}") from None
            terms.append(Term(block, choice.family, parameters, choice.family.about))
            if choice.missing == "category":
                terms.append(_missing_term(block, table, statistics.weight, choice.prior))
        with np.errstate(divide="ignore"):
            log_prior = np.log(_class_prior(statistics, class_prior))
        return cls(statistics.classes, log_prior, tuple(terms))

    def __repr__(self) -> str:
        return f"<Model: {len(self.terms)} factors, {len(self.classes)} classes>"

    def log_constants(self, frame: Frame) -> FloatArray:
        """Return what log P(k, x) of every row has beside `log_joint`, the same for all classes.

        It is the 1/x! of a Poisson count and the C(t, x) of a binomial one. The orders of words
        and counts, and the widths of bins, belong to the evidence alone.
        """
        return sum((term.log_constant(frame) for term in self.terms), np.zeros(len(frame)))

    def log_joint(self, frame: Frame) -> FloatArray:
        """Return log P(k, x) for every row and class, but for what is the same for all classes."""
        out = np.empty((len(frame), len(self.classes)))
        self._score(frame, out)
        return out

    def log_evidence(self, frame: Frame) -> FloatArray:
        """Return log P(x) = log Σ_k P(x | k) P(k) of every row."""
        out, evidence = np.empty((len(frame), len(self.classes))), np.empty(len(frame))
        self._score(frame, out, lambda rows: log_normalize(out[rows], evidence[rows]), False)
        for term in self.terms:
            evidence += term.log_base_measure(frame)
        return evidence

    def log_posterior(self, frame: Frame) -> FloatArray:
        """Return log P(k | x); a row impossible under every class gets the class prior."""
        return self._normalized(frame, log_normalize, self.log_prior)

    def posterior(self, frame: Frame) -> FloatArray:
        """Return P(k | x); a row impossible under every class gets the class prior."""
        return self._normalized(frame, softmax, np.exp(self.log_prior))

    def predict(self, frame: Frame) -> CodeArray:
        """Return the code of the most probable class; a tie, within rounding, goes to the first.

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
        edges, which correct factors that are not theirs.
        """
        terms = [term for term in self.terms if (term.counts if weighted else term.about != "edge")]
        adders = [term.adder(frame, weighted) for term in terms]
        work = sum(_entries_per_row(term, frame) for term in terms)
        add_up(adders, self.log_prior, out, work, finish)

    @property
    def bias(self) -> FloatArray | None:
        """Return what is added to the score of each class of a row that has all columns."""
        offsets = [term.offset for term in self.terms if term.offset is not None]
        return np.sum(offsets, axis=0) if offsets else None

    def with_bias(self, bias: FloatArray) -> Model:
        """Return the model with a bias for each class, in the share of the columns that speak.

        So a row of gaps, or of values never seen, keeps the class prior.
        """
        n = sum(term.about == "value" for term in self.terms)
        terms = [
            replace(term, offset=bias / n if term.about == "value" else None) for term in self.terms
        ]
        return replace(self, terms=tuple(terms))

    def biases(self, frame: Frame) -> FloatArray | None:
        """Return what is added to each class, rows × classes: no column, no bias."""
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
                columns[name] = _with_gaps(columns[name], gone)
        return columns, y

    def linear_form(self) -> LinearForm:
        """Return the weights and biases with which every log P(k, x) is a weighted sum."""
        forms = [
            as_linear(term.family, term.block.title).linear(term.block, term.parameters)
            for term in self.terms
        ]
        features = [
            term.title if term.about == "missing" else feature
            for term, form in zip(self.terms, forms, strict=True)
            for feature in form.features
        ]
        trust = [term.weight for term in self.terms]
        weighted = [w * form.weights for w, form in zip(trust, forms, strict=True)]
        weights = np.concatenate(weighted or [self._no_features()])
        bias = self.log_prior + (0.0 if self.bias is None else self.bias)
        bias = sum((w * form.bias for w, form in zip(trust, forms, strict=True)), bias)
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise NotLinearError(
                "A probability of this model is 0, so a weight would be infinite. "
                "Give every column a smoothing above 0."
            )
        return LinearForm(self.classes, tuple(features), weights, bias)

    def _no_features(self) -> FloatArray:
        return np.zeros((0, len(self.classes)))

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


@dataclass(frozen=True, eq=False, repr=False)
class LinearForm:
    """Hold log P(k, x) = Σ_f weights[f, k] · x_f + bias[k], up to what all classes share.

    For two classes `w` and `b` are those of the log-odds: P(second | x) = 1 / (1 + e^−(w·x + b)).
    """

    classes: tuple[Label, ...]
    features: tuple[str, ...]
    weights: FloatArray
    bias: FloatArray

    def __repr__(self) -> str:
        return f"<LinearForm: {len(self.features)} features, {len(self.classes)} classes>"

    def __str__(self) -> str:
        rows, more = self._rows()
        return "\n".join([aligned(rows, right=True), *more])

    def _repr_html_(self) -> str:
        from priory.base.html import html_table, html_together

        (head, *rows), more = self._rows()
        return html_together(html_table(head, rows), remarks=more)

    def _rows(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the biases and the weights that tell classes apart most, and what is left out."""
        order = np.argsort(-np.ptp(self.weights, axis=1), kind="stable")[:MOST_FEATURES]
        rows = [("", *map(str, self.classes)), ("bias", *(f"{b:.4g}" for b in self.bias))]
        rows += [(self.features[f], *(f"{w:.4g}" for w in self.weights[f])) for f in order.tolist()]
        more = len(self.features) - len(order)
        return rows, [f"({more} more features are not shown)"] if more else []

    @property
    def w(self) -> FloatArray:
        """Return the weights of the log-odds of the second class of two."""
        self._check_two()
        return self.weights[:, 1] - self.weights[:, 0]

    @property
    def b(self) -> float:
        """Return the bias of the log-odds of the second class of two."""
        self._check_two()
        return float(self.bias[1] - self.bias[0])

    def _check_two(self) -> None:
        if len(self.classes) != 2:
            raise NotLinearError(
                f"w and b are for two classes; there are {len(self.classes)}. "
                "Use weights and bias, which have a column for each class."
            )


def _entries_per_row(term: Term, frame: Frame) -> int:
    """Return about how many look-ups a row costs: a text has a word in every six bytes."""
    column = frame[term.block.name]
    if isinstance(column, Texts) and len(column):
        return 1 + column.n_bytes // (6 * len(column))
    return term.block.work


def add_up(
    adders: Sequence[Adder],
    start: FloatArray,
    out: FloatArray,
    n_columns: int,
    finish: Callable[[slice], None] | None = None,
) -> None:
    """Write a start, the same for all rows or one for each, and what the adders add to it.

    Threads share the rows, and work on them stretch by stretch; `finish` follows each.
    """
    n_rows, n_classes = out.shape
    together = _together(adders)
    height = max(1, STRETCH // max(n_classes, 1))

    def add(rows: slice) -> None:
        for first in range(rows.start, rows.stop, height):
            some = slice(first, min(first + height, rows.stop))
            part = out[some]
            part[...] = start if start.ndim == 1 else start[some]
            for adder in together:
                adder(some, part)
            if finish is not None:
                finish(some)

    parts = stretches(n_rows, n_classes * n_columns)
    if len(parts) == 1:
        add(parts[0])
    else:
        in_parallel([partial(add, rows) for rows in parts], len(parts))


def _weighted(adder: Adder, weight: float, offset: FloatArray | float) -> Adder:
    """Return an adder of weight times as much, and of an offset where that is anything at all."""

    def add(rows: slice, out: FloatArray) -> None:
        part = np.zeros_like(out)
        adder(rows, part)
        says = part.any(axis=1, keepdims=True)
        part = _times(weight, part)
        part += says * offset
        out += part

    return add


def _times(weight: float, scores: FloatArray) -> FloatArray:
    return weight * scores if weight else np.zeros_like(scores)  # 0 · (−∞) = 0


def _together(adders: Sequence[Adder]) -> list[Adder]:
    """Return the same adders with all the look-up tables as one, so that rows are read once."""
    lookups = [adder for adder in adders if isinstance(adder, Lookup)]
    others = [adder for adder in adders if not isinstance(adder, Lookup)]
    if not lookups:
        return others
    tables = Lookups([one.parts for one in lookups])
    return [*others, lambda rows, out: tables.add(rows.start, out)]


def _missing_term(block: Block, table: Any, weight: FloatArray, prior: Prior | None) -> Term:
    """Return the factor P(there or not | k)."""
    derived, prior = presence(block, table, weight, prior)
    there = families.Bernoulli()
    return Term(block, there, there.parameters(derived, prior), "missing")


def presence(
    block: Block, table: Any, weight: FloatArray, prior: Prior | None
) -> tuple[LabelsTable, Laplace]:
    """Return counts of "is missing", from the rows that a table did not count, and their prior."""
    if not hasattr(table, "present"):
        raise SettingError(f"missing='category' is for single columns, not for {block.title!r}.")
    there = table.present
    counts = np.stack([there, np.maximum(weight - there, 0.0)], axis=1)
    derived = LabelsTable((False, True), (counts > 0).astype(np.int64), counts)
    return derived, prior if isinstance(prior, Laplace) else Laplace(1.0)


def _class_prior(statistics: Statistics, given: ClassPrior) -> FloatArray:
    classes = statistics.classes
    if given is None:
        total = statistics.weight.sum()
        if not total > 0:
            raise InputError(
                f"The {statistics.n_rows} rows that were learned weigh nothing any more: their "
                "weight has faded, or was lost in rounding beside larger ones that were forgotten."
            )
        return statistics.weight / total
    if isinstance(given, str):
        if given == "uniform":
            # A class that was declared but never seen has no likelihood to speak for it.
            seen = statistics.rows > 0
            return seen / seen.sum()
        if given == "words":
            words = n_words(statistics)
            return np.asarray(words / words.sum())
        raise SettingError(
            f"class_prior must be None, 'uniform', 'words' or a probability for each class, "
            f"not {given!r}."
        )
    if isinstance(given, Mapping):
        given = _by_class(given, classes)
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"class_prior must be numbers, not {given!r}.") from None
    if prior.shape != (len(classes),):
        raise SettingError(
            f"Number of priors must match number of classes: class_prior has {prior.size}, "
            f"the classes are {listing(classes)}."
        )
    if not (np.isfinite(prior).all() and (prior >= 0).all()):
        raise SettingError(f"Priors must be non-negative: class_prior is {prior.tolist()}.")
    if not np.isclose(prior.sum(), 1.0):
        raise SettingError(f"The sum of the priors should be 1: class_prior adds to {prior.sum()}.")
    return prior


def _by_class(given: Mapping[Label, Any], classes: Sequence[Label]) -> list[Any]:
    """Return what is given for each class; one that is no string may be named by its text.

    From the shell every name is text: there the class 1 is named by "1".
    """
    own = set(map(label_key, classes))
    by_text: dict[Any, Label] = {t: k for k in classes for t in (str(k), label_token(k))}
    found = {}
    for name, p in given.items():
        by_name = label_key(name) in own or name not in by_text
        found[label_key(name if by_name else by_text[name])] = p
    if set(found) != own or len(found) < len(given):
        raise SettingError(
            f"class_prior must name every class: it names {listing(given)}, "
            f"the classes are {listing(classes)}."
        )
    return [found[label_key(label)] for label in classes]


def n_words(statistics: Statistics) -> FloatArray:
    """Return how many words each class has, in columns of text and blocks of counts."""
    from priory.statistics.tables import CountsTable, WordsTable

    words = [
        table.per_label(table.pairs.count)
        if isinstance(table, WordsTable)
        else table.s1.sum(axis=1)
        for table in statistics.tables.values()
        if isinstance(table, WordsTable | CountsTable)
    ]
    if not words:
        raise SettingError(
            "class_prior='words' needs a column of text or a block of counts; there is none."
        )
    return np.asarray(np.sum(words, axis=0))


def _with_gaps(values: AnyArray, gone: AnyArray) -> AnyArray:
    gap: Any = np.nan if values.dtype.kind == "f" else None
    return np.where(gone, gap, values)
