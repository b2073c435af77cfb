"""Explanations of many predictions: what every factor adds to every class, as arrays.

Rows are written out when they are asked for, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from priory.base.html import html_together
from priory.base.parallel import in_parallel, worthwhile
from priory.base.typing import BoolArray, FloatArray, Label
from priory.data.columns import Column, Counts, Frame, Numbers
from priory.families.described import FactorParts, Support
from priory.model.log_odds import log_odds
from priory.model.model import Model
from priory.model.row_explanation import BIAS, PRIOR, Interval, RowExplanation, RowFactor
from priory.model.term import Term, presence
from priory.statistics.statistics import Statistics

if TYPE_CHECKING:
    import pandas as pd

    from priory.model.importance import Importance

__all__ = ["Explanation", "explain"]

MOST_ROWS = 20
"""The number of rows that a notebook shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Sequence[RowExplanation]):
    """Explanations of predictions: arrays for all rows, and a sequence of `RowExplanation`.

    The score of a class is a sum, whose softmax is P(k | row):

        log P(k) + Σ over factors log_factors[f, row, k] + bias[row, k]

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook()).update({"x": ["a", "b", "b"]}, [0, 1, 1])
    >>> explanation = classifier.explain({"x": ["a", "b"]})
    >>> len(explanation), explanation[0].factors[0].column
    (2, 'x')
    >>> print(explanation.to_frame().round(3))
               P(class)      x
    row class
    0   0        -0.693  0.981
        1         0.693 -0.981
    1   0        -0.693 -0.811
        1         0.693  0.811
    """

    model: Model
    frame: Frame
    log_factors: FloatArray
    """What each factor adds to the score of each class: factors × rows × classes."""
    bias: FloatArray | None
    """What is added to each class beside the factors, rows × classes."""
    statistics: Statistics | None = None
    """The sums behind the model, from which the counts come."""
    interval: Interval | None = None
    """How sure the probabilities are, rows × classes, where that was asked for."""

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in their order."""
        return self.model.classes

    @property
    def log_prior(self) -> FloatArray:
        """The logarithm of P(k)."""
        return self.model.log_prior

    @property
    def titles(self) -> list[str]:
        """What is added up: the class prior, each factor, the bias if there is one."""
        of_terms = [term.title for term in self.model.terms]
        return [PRIOR, *of_terms, *([BIAS] if self.bias is not None else [])]

    @property
    def log_odds(self) -> FloatArray:
        """What the prior, each factor and the bias add to the log-odds of each class.

        They are `titles` × rows × classes, and add up to the log-odds of the class against the
        others (see `priory.model.log_odds`).
        """
        shape = self.log_factors.shape[1:]
        found = np.empty((len(self.titles), *shape))
        found[0] = log_odds(self.log_prior)
        for t, said in enumerate(self.log_factors, start=1):  # each fits into the cache
            found[t] = log_odds(said)
        if self.bias is not None:
            found[-1] = log_odds(self.bias)
        return found

    @cached_property
    def log_joint(self) -> FloatArray:
        """The logarithm of P(k, row), rows × classes, or the score where there are weights."""
        return self.model.log_joint(self.frame) + self.model.log_constants(self.frame)[:, None]

    @cached_property
    def posterior(self) -> FloatArray:
        """P(k | row), rows × classes, as `predict_proba` gives it."""
        return self.model.posterior(self.frame)

    def by_column(self) -> dict[str, FloatArray]:
        """Add up what each column, or pair, says of each row: rows × classes for each.

        Its factor, its being missing and its correction are one; the bias comes last.
        """
        found: dict[str, FloatArray] = {}
        for term, said in zip(self.model.terms, self.log_factors, strict=True):
            name = _column_name(term)
            found[name] = said if name not in found else found[name] + said
        return found if self.bias is None else found | {BIAS: self.bias}

    def to_frame(self, by: str = "factor") -> pd.DataFrame:
        """Tabulate what each factor adds to the log-odds: a row for each row and class.

        The sum of a row is the log-odds of its class. `by="column"` adds up all that is said of a
        column. The values and counts of a single row are in `explanation[i].to_frame()`.
        """
        import pandas as pd

        from priory.base.errors import SettingError

        if by not in ("factor", "column"):
            raise SettingError(f"by must be 'factor' or 'column', not {by!r}.")
        names, said = self.titles, self.log_odds
        if by == "column":
            columns = self.by_column()
            names = [PRIOR, *columns]
            said = np.stack([said[0], *(log_odds(scores) for scores in columns.values())])
        n, k = len(self), len(self.classes)
        levels: Any = [pd.RangeIndex(n), pd.Index(self.classes)]
        codes: Any = [np.repeat(np.arange(n), k), np.tile(np.arange(k), n)]
        index = pd.MultiIndex(
            levels=levels,
            codes=codes,
            names=["row", "class"],
            verify_integrity=False,
        )
        return pd.DataFrame(said.reshape(len(names), n * k).T, index, names, copy=False)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values, row by row."""
        return {"classes": list(self.classes), "rows": [row.to_dict() for row in self]}

    def importance(self) -> Importance:
        """Measure how far each column moves these predictions, and what it tells of the class.

        >>> from priory import NaiveBayes
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"], "windy": [1, 0, 1, 0]}
        >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
        >>> print(model.explain(days).importance())
        column   mean |log-odds|  bits
        outlook             1.10  1.00
        windy               0.00  0.00
        """
        from priory.model.importance import importance

        return importance(self)

    def plot(self, kind: str = "auto", label: Any = None) -> Any:
        """Plot one row as a waterfall, of several the importance of each column.

        "waterfall" and "bars" are of a single row (see `RowExplanation.plot`), "importance" is of
        any number.
        """
        from priory.base.errors import SettingError

        if kind == "auto":
            kind = "waterfall" if len(self) == 1 else "importance"
        if kind == "importance":
            if label is not None:
                raise SettingError("kind='importance' is of all classes: leave label out.")
            return self.importance().plot()
        if len(self) != 1:
            raise SettingError(
                f"kind={kind!r} is of one row, and these are {len(self):,}: take one, as in "
                "explanation[0].plot()."
            )
        return self[0].plot(kind, label)

    def __len__(self) -> int:
        return len(self.frame)

    @overload
    def __getitem__(self, row: int) -> RowExplanation: ...
    @overload
    def __getitem__(self, row: slice) -> Explanation: ...
    def __getitem__(self, row: int | slice) -> RowExplanation | Explanation:
        if isinstance(row, slice):
            return self._slice(row)
        i = range(len(self))[row]
        one = slice(i, i + 1)
        factors = []
        for t, term in enumerate(self.model.terms):
            score = self._scores(t, one)[0]
            column = self._columns[t].take(one)
            table = self._tables[t]
            factors.append(_factor(term, column, score, bool(self._left_out[t][i]), table))
        return RowExplanation(
            self.classes,
            self.log_prior,
            tuple(factors),
            self.log_joint[i],
            self.posterior[i],
            None if self.bias is None else self.bias[i],
            self._is_score,
            self._prior_support,
            None if self.interval is None else _interval_of(self.interval, i),
        )

    def __iter__(self) -> Iterator[RowExplanation]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} row{'s' * (len(self) != 1)}>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        more = len(self) - MOST_ROWS
        remarks = [f"({more:,} more rows are not shown)"] if more > 0 else []
        some = (row._repr_html_() for row in self[:MOST_ROWS])
        return html_together(*some, remarks=remarks)

    def _slice(self, rows: slice) -> Explanation:
        taken = replace(
            self,
            frame=self.frame.take(rows),
            log_factors=self.log_factors[:, rows],
            bias=None if self.bias is None else self.bias[rows],
            interval=None if self.interval is None else _interval_of(self.interval, rows),
        )
        return taken

    def _scores(self, t: int, rows: slice) -> FloatArray:
        """Compute the log-likelihood of some rows under one term, without its weight."""
        term, frame = self.model.terms[t], self.frame.take(rows)
        score = np.zeros((len(frame), len(self.classes)))
        term.add_log_likelihood(frame, score)
        if term.family.base_measure_in_joint and term.about == "value":
            column = self._columns[t].take(rows)
            score += term.family.log_base_measure(column, term.parameters)[:, None]
        return score

    @cached_property
    def _columns(self) -> list[Column]:
        return [term.column(self.frame) for term in self.model.terms]

    @cached_property
    def _left_out(self) -> list[BoolArray]:
        return [
            term.family.leaves_out(column, term.parameters)
            for term, column in zip(self.model.terms, self._columns, strict=True)
        ]

    @cached_property
    def _tables(self) -> list[Any]:
        """The table behind each term, None where there is none."""
        if self.statistics is None:
            return [None] * len(self.model.terms)
        found: list[Any] = []
        for term in self.model.terms:
            table: Any = self.statistics.tables.get(term.block.name)
            if term.about == "correction":
                table = None
            elif term.about == "missing":
                table, _ = presence(term.block, table, self.statistics.weight, None)
            found.append(table)
        return found

    @cached_property
    def _prior_support(self) -> Support | None:
        if self.statistics is None or not self.statistics.weight.sum():
            return None
        weight = self.statistics.weight
        if not np.allclose(np.exp(self.log_prior), weight / weight.sum(), rtol=1e-9, atol=0.0):
            return None  # it was given
        return Support(weight, np.full_like(weight, weight.sum()))

    @property
    def _is_score(self) -> bool:
        return self.bias is not None or any(
            term.weight != 1.0 or not term.family.is_likelihood for term in self.model.terms
        )


def explain(model: Model, frame: Frame, statistics: Statistics | None = None) -> Explanation:
    """Explain the prediction of each row; the statistics are for the counts behind it."""
    frame = _owned(frame)
    n, k = len(frame), len(model.classes)
    said = np.zeros((len(model.terms), n, k))
    is_biased = model.bias is not None and bool(model.bias.any())

    def score(t: int, term: Term) -> BoolArray | None:
        """Score all rows by one term, and find those that it says anything of."""
        out = said[t]
        term.add_log_likelihood(frame, out)
        speaks = None if not is_biased or term.offset is None else _says(out)
        if term.weight != 1.0:
            np.multiply(out, term.weight, out=out) if term.weight else out.fill(0.0)
        return speaks

    tasks = [partial(score, t, term) for t, term in enumerate(model.terms)]
    found = in_parallel(tasks, worthwhile(said.size))
    spoken = [(s, term.offset) for s, term in zip(found, model.terms, strict=True)]
    biased = [(s, offset) for s, offset in spoken if s is not None and offset is not None]
    bias: FloatArray | None = None
    if biased:
        spoke = np.stack([s for s, _ in biased], axis=1).astype(np.float64)
        total = spoke @ np.stack([b for _, b in biased])
        bias = total if total.any() else None
    explanation = Explanation(model, frame, said, bias, statistics)
    if np.isneginf(said).any():  # a warning of impossible rows should come now, not later
        _ = explanation.posterior
    return explanation


def _interval_of(interval: Interval, rows: int | slice) -> Interval:
    return interval._replace(low=interval.low[rows], high=interval.high[rows])


def _says(scores: FloatArray) -> BoolArray:
    """Find the rows that something is said of."""
    if scores.shape[1] > 8:
        return np.asarray(scores.any(axis=1))
    return np.logical_or.reduce([scores[:, k] != 0 for k in range(scores.shape[1])])


def _owned(frame: Frame) -> Frame:
    """Copy what may be the user's own arrays: rows are written out later, and must not change."""
    columns: dict[str, Column] = dict(frame.columns)
    for name, column in frame.columns.items():
        if isinstance(column, Numbers):
            columns[name] = Numbers(column.values.copy())
        elif isinstance(column, Counts) and isinstance(column.matrix, np.ndarray):
            columns[name] = Counts(column.matrix.copy(), column.threshold)
    return replace(frame, columns=columns)


def _column_name(term: Term) -> str:
    return term.block.columns[-1] if term.about == "missing" else term.block.title


def _factor(term: Term, row: Any, score: FloatArray, left_out: bool, table: Any) -> RowFactor:
    found = _plain_factor(term, row, score, left_out, table)
    if term.about == "value" and isinstance(found.value, int | float):
        return replace(found, told=term.block.shown(found.value))
    return found


def _plain_factor(term: Term, row: Any, score: FloatArray, left_out: bool, table: Any) -> RowFactor:
    block, value, name = term.block, row.value(0), _column_name(term)
    if term.about == "correction" and not left_out:
        formula = term.family.formula(block, value, term.parameters)
        return RowFactor(name, _value(term, value), term.about, False, score, formula=formula)
    told = (name, _value(term, value), term.about, left_out, score, term.weight)
    if left_out:
        return RowFactor(*told)
    support = _only(None if table is None else term.family.support(row, table, term.parameters))
    if term.about == "missing":
        formula = f"P({name} is {'missing' if value else 'there'} | class)"
        return RowFactor(*told, formula=formula, support=support)
    parts = term.family.parts(block, row, term.parameters) or FactorParts(())
    is_one_line = not parts.each and not parts.together
    each = tuple(parts.each)
    if each and table is not None:
        behind = term.family.part_support(row, table, term.parameters)
        if behind is not None:
            each = tuple(p._replace(support=_only(behind, i)) for i, p in enumerate(each))
    return RowFactor(
        *told,
        each,
        tuple(parts.together),
        tuple(parts.notes),
        term.family.formula(block, value, term.parameters) if is_one_line else "",
        parts.noun,
        support if is_one_line else None,
        block.analyzer,
        tuple(parts.unknown),
    )


def _only(support: Support | None, row: int = 0) -> Support | None:
    """Take the counts of one row."""
    if support is None:
        return None
    return Support(None if support.seen is None else support.seen[row], support.total[row])


def _value(term: Term, value: Any) -> Any:
    """Convert a value for display: a bin to its ends."""
    pairing = term.block.pairing
    if pairing is None or not isinstance(value, tuple):
        return value
    if pairing.is_conditional and value[-1] is None:
        return None
    return tuple(
        v if v is None or pairing.edges[j] is None else pairing.shown(j, v).removeprefix("in ")
        for j, v in enumerate(value)
    )
