"""Leave-one-out and k-fold scores, by subtraction.

A model follows from sums, so a row, or a fold, is taken out of it by subtraction:

    total − row     leave-one-out, in closed form: no model is estimated again
    total − fold    k-fold: the fold is counted and subtracted, the rest gives the model

What was chosen stays as it was chosen: the kind and the family of each column, its prior and the
values declared for it, the columns left out, the level of the cells of numbers, and the words that
a limit of the vocabulary keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from priory.base.errors import ForgetError, InputError, listing
from priory.base.labels import label_key
from priory.base.parallel import in_parallel, stretches, thread_count
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.data.columns import Column, Frame, Labels
from priory.data.schema import Block
from priory.families.base import Adder, Family, Lookup, log, n_classes
from priory.families.bernoulli import Bernoulli
from priory.families.counted import sparse_rows
from priory.families.loo import LooRows, log_likelihood_loo, loo_adder, reduced, tabulate
from priory.families.priors import Prior
from priory.families.words import Words
from priory.kernels.score import softmax
from priory.model.adding import add_up
from priory.model.class_prior import ClassPrior, n_words
from priory.model.model import Model
from priory.model.term import Choice, presence
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CountsTable, Table, WordsTable

__all__ = ["HeldOutScores", "class_codes", "log_joint_folds", "log_joint_loo", "term_scores_loo"]


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """P(k | row) of rows, rows × classes, under models that had not learned them."""

    labels: Labels
    posterior: FloatArray
    classes: tuple[Label, ...]
    weight: FloatArray | None
    how: str

    @classmethod
    def of(
        cls,
        statistics: Statistics,
        choices: Mapping[str, Choice],
        frame: Frame,
        labels: Labels,
        weight: FloatArray | None = None,
        class_prior: ClassPrior = None,
        folds: Any = None,
    ) -> HeldOutScores:
        """Score rows by models without the row, or without its fold."""
        if folds is None:
            joint = log_joint_loo(statistics, choices, frame, labels, weight, class_prior)
            return cls.of_joint(joint, labels, statistics, weight, "exact leave-one-out")
        joint = log_joint_folds(statistics, choices, frame, labels, folds, weight, class_prior)
        return cls.of_joint(joint, labels, statistics, weight, f"{len(set(folds))}-fold")

    @classmethod
    def of_joint(
        cls,
        log_joint: FloatArray,
        labels: Labels,
        statistics: Statistics,
        weight: FloatArray | None,
        how: str,
    ) -> HeldOutScores:
        """Normalize log P(k, row), in place.

        A row impossible under every class gets the prior.
        """
        evidence = np.empty(len(log_joint))

        def normalize(rows: slice) -> None:
            softmax(log_joint[rows], evidence[rows])

        threads = thread_count()
        parts = stretches(len(log_joint), log_joint.shape[1], threads)
        in_parallel([partial(normalize, rows) for rows in parts], threads)
        if evidence.min(initial=0.0) == -np.inf:
            log_joint[np.isneginf(evidence)] = statistics.weight / statistics.weight.sum()
        return cls(labels, log_joint, statistics.classes, weight, how)


def log_joint_loo(
    statistics: Statistics,
    choices: Mapping[str, Choice],
    frame: Frame,
    y: Labels,
    weight: FloatArray | None = None,
    class_prior: ClassPrior = None,
) -> FloatArray:
    """Compute log P(k, x_i) of every row i, rows × classes, under the model without that row.

    The rows, or some of them, are those that the statistics counted, with their classes and
    weights; each is taken out with all its weight. A class of which nothing is left has no share
    in the rows, so its score is −∞ unless `class_prior` speaks for it.

    >>> from priory.families import Categorical
    >>> from priory.families.priors import Laplace
    >>> from priory.data.reading import infer, read, read_labels
    >>> days = {"wind": ["weak", "weak", "strong"]}
    >>> schema, y = infer(days), read_labels(["Yes", "Yes", "No"])
    >>> frame = read(days, schema)
    >>> statistics = Statistics.count(frame, y, schema)
    >>> choices = {"wind": Choice(Categorical(), Laplace(1.0))}
    >>> np.exp(log_joint_loo(statistics, choices, frame, y)).round(3).tolist()
    [[0.167, 0.333], [0.167, 0.333], [0.0, 1.0]]
    """
    codes = _codes(y, statistics, frame)
    if weight is not None and not weight.all():  # a row of weight 0 was never counted
        out = np.empty((len(frame), len(statistics.classes)))
        some = weight > 0
        out[some] = log_joint_loo(
            *(statistics, choices, frame.take(some), y.take(some), weight[some]),
            class_prior,
        )
        model = Model.read(statistics, choices, class_prior)
        out[~some] = model.log_joint(frame.take(~some))
        return out
    loo = LooRows(codes, weight)
    if statistics.n_rows == 1:
        raise InputError("One row was learned in all; without it nothing is left to learn from.")
    adders, n_columns = [_prior_adder(statistics, frame, loo, class_prior)], 0
    for name, choice in choices.items():
        block, table = statistics.schema[name], statistics.tables[name]
        adders.append(_adder(block, choice.family, choice.prior, table, frame[name], loo))
        if choice.missing == "category":
            derived, prior = presence(block, table, statistics.weight, choice.prior)
            missing = Labels(frame[name].missing.astype(np.int8), (False, True))
            adders.append(_adder(block, Bernoulli(), prior, derived, missing, loo))
        n_columns += len(block.columns)
    out = np.empty((len(frame), len(statistics.classes)))
    add_up(adders, np.zeros(out.shape[1]), out, n_columns)
    _check_learned(out, y, "")
    return out


def log_joint_folds(
    statistics: Statistics,
    choices: Mapping[str, Choice],
    frame: Frame,
    y: Labels,
    folds: AnyArray,
    weight: FloatArray | None = None,
    class_prior: ClassPrior = None,
) -> FloatArray:
    """Compute log P(k, x) of every row, rows × classes, under the model without the row's fold.

    `folds` is a number for each row. All the folds together are counted and scored once.

    >>> from priory.families import Gaussian
    >>> from priory.data.reading import infer, read, read_labels
    >>> X = {"x": [0.0, 2.0, 10.0, 12.0, 1.0, 11.0]}
    >>> schema, y = infer(X), read_labels(["a", "a", "b", "b", "a", "b"])
    >>> frame = read(X, schema)
    >>> statistics = Statistics.count(frame, y, schema)
    >>> choices = {"x": Choice(Gaussian(), None)}
    >>> folds = np.array([0, 0, 0, 0, 1, 1])
    >>> log_joint_folds(statistics, choices, frame, y, folds).argmax(axis=1).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    _codes(y, statistics, frame)
    folds = np.asarray(folds)
    if folds.shape != (len(frame),):
        raise InputError(
            f"folds must have one number a row: it has shape {folds.shape}, the data have "
            f"{len(frame)} rows."
        )
    out = np.empty((len(frame), len(statistics.classes)))
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        part, classes = frame.take(rows), y.take(rows)
        weights = None if weight is None else weight[rows]
        counted = Statistics.count(part, classes, statistics.schema, weights)
        rest = (statistics - counted).with_classes(statistics.classes)
        if not rest.n_rows:
            raise InputError(f"Fold {fold} holds every row, so that nothing is left to learn from.")
        out[rows] = Model.read(rest, choices, class_prior).log_joint(part)
    return out


def term_scores_loo(
    block: Block,
    family: Family,
    prior: Prior | None,
    table: Table,
    column: Column,
    y: CodeArray,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Compute log P(x_i | k) of one block, rows × classes, under its table without row i.

    Any family of the table may be asked for, with any of its priors, and any of the rows that the
    table counted: nothing is counted again. `y` is the class code of each row.

    >>> from priory.families import Poisson
    >>> from priory.families.priors import Laplace
    >>> from priory.data.schema import Kind
    >>> from priory.statistics.tables import NumbersTable
    >>> from priory.data.columns import Numbers
    >>> block, y = Block("x", ("x",), Kind.NUMBERS), np.zeros(2, dtype=np.int32)
    >>> column = Numbers(np.array([[2.0], [4.0]]))
    >>> table = NumbersTable.count(block, column, y, None, 1)
    >>> term_scores_loo(block, Poisson(), Laplace(0.0), table, column, y).round(3).tolist()
    [[-1.227], [0.773]]
    """
    if weight is not None and not weight.all():
        return log_likelihood_loo(family, column, y, weight, table, prior)
    adder = _adder(block, family, prior, table, column, LooRows(y, weight))
    out = np.empty((len(column), n_classes(table)))
    add_up([adder], np.zeros(n_classes(table)), out, len(block.columns))
    _check_learned(out, None, f" in column {block.title!r}")
    return out


def class_codes(y: Labels, statistics: Statistics) -> CodeArray:
    """Find the place of each row's class among those learned; −1 where it is none of them."""
    places = [statistics.places.get(label_key(label), -1) for label in y.labels]
    return np.array([*places, -1], dtype=np.int32)[y.codes]


def _adder(
    block: Block,
    family: Family,
    prior: Prior | None,
    table: Table,
    column: Column,
    loo: LooRows,
) -> Adder:
    try:
        return loo_adder(family, column, loo, table, prior)
    except InputError as error:
        raise type(error)(f"Column {block.title!r}: {error}.") from None


def _codes(y: Labels, statistics: Statistics, frame: Frame) -> CodeArray:
    """Find the position of each row's class among the classes that were learned."""
    if len(y) != len(frame):
        raise InputError(f"y has {len(y)} rows, the data have {len(frame)}.")
    never = [label for label in y.labels if label_key(label) not in statistics.places]
    if never:
        raise ForgetError(
            f"Class {listing(never)} was never learned, so its rows cannot be left out. Classes: "
            f"{listing(statistics.classes)}."
        )
    return class_codes(y, statistics)


def _prior_adder(
    statistics: Statistics, frame: Frame, loo: LooRows, class_prior: ClassPrior
) -> Adder:
    """Make a function that adds log P(k), leave-one-out where the prior is counted."""
    K, rows, weight = len(statistics.classes), statistics.rows, statistics.weight
    if class_prior is None or (isinstance(class_prior, str) and class_prior == "uniform"):

        def scores(_: AnyArray, y: AnyArray, amount: FloatArray) -> FloatArray:
            left = rows[y] - 1
            if class_prior is None:
                shares = reduced(np.tile(weight, (len(y), 1)), y, amount, left == 0)
            else:
                shares = reduced(np.tile(rows > 0, (len(y), 1)).astype(float), y, left == 0)
            total = shares.sum(axis=1, keepdims=True)
            return log(shares / np.where(total > 0, total, 1.0))

        everything = np.zeros(len(frame), dtype=np.int8), np.zeros(1, dtype=np.int32)
        return Lookup(*tabulate(*everything, 1, K, loo, scores))
    if isinstance(class_prior, str) and class_prior == "words":
        words = n_words(statistics)
        counted = [
            (frame[name], table)
            for name, table in statistics.tables.items()
            if isinstance(table, CountsTable | WordsTable)
        ]

        def add(some: slice, out: FloatArray) -> None:
            y = loo.y[some]
            gone = rows[y] == 1
            taken = np.sum(
                [_lengths(column.take(some), table) for column, table in counted], axis=0
            )
            shares = reduced(np.tile(words, (len(y), 1)), y, loo.amount[some] * taken, gone)
            out += log(shares / shares.sum(axis=1, keepdims=True))

        return add
    log_prior = Model.read(statistics, {}, class_prior).log_prior

    def add_given(some: slice, out: FloatArray) -> None:
        out += log_prior

    return add_given


def _lengths(column: Any, table: CountsTable | WordsTable) -> FloatArray:
    """Count the words of each row."""
    if isinstance(table, CountsTable):
        return sparse_rows(column).row_sums(np.asarray)
    return Words().rows(column, table).row_sums(np.asarray)


def _check_learned(out: FloatArray, y: Labels | None, where: str) -> None:
    wrong = np.isnan(out).any(axis=1) if np.isnan(out.sum()) else np.zeros(0)
    if wrong.any():
        row = int(np.argmax(wrong))
        of = "" if y is None else f" with class {y.value(row)!r}"
        raise ForgetError(
            f"Row {row} was not learned{of}{where}, so it cannot be left out. Give rows that were "
            "learned, with the classes and the weights they were learned with."
        )
