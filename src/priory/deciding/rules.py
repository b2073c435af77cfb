"""What to do about a row, given the probabilities of its classes.

    expected cost of a decision d = Σ_k P(k | x) · cost[k, d]

The decision with the least expected cost is taken (Elkan 2001), "unsure" among them where it has a
cost (Chow 1970). Nothing is learned here: costs, thresholds and priors may change with every row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from priory.base.errors import SettingError, check_number, did_you_mean, listing
from priory.base.labels import label_array, label_key
from priory.base.typing import AnyArray, FloatArray, IntArray, Label
from priory.model.class_prior import ClassPrior, class_probabilities
from priory.statistics.statistics import Statistics

__all__ = ["OPTIONS", "Rule", "rule_for"]

OPTIONS = (
    "costs",
    "unsure",
    "unsure_cost",
    "prior",
    "positive",
    "threshold",
    "precision",
    "recall",
    "false_positive_rate",
    "unsure_label",
)
"""What can be asked for, by name."""

WANTED = ("precision", "recall", "false_positive_rate")

Finder = Callable[[str, float, Label], float]
"""Finds the threshold that meets a wanted rate of the positive class, on rows held out."""


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """Turn P(k | x) into decisions; `rule_for` makes one.

    >>> costs = np.array([[0.0, 1.0], [9.0, 0.0]])  # true class × decision
    >>> rule = Rule(("ham", "spam"), "unsure", costs=costs)
    >>> rule.decide(np.array([[0.95, 0.05], [0.85, 0.15]])).tolist()
    ['ham', 'spam']
    >>> rule.expected_costs(np.array([[0.95, 0.05]])).round(2).tolist()
    [[0.45, 0.95]]
    """

    classes: tuple[Label, ...]
    unsure_label: Label
    shift: FloatArray | None = None
    """log P_wanted(k) − log P_learned(k), which replaces the class prior."""
    costs: FloatArray | None = None
    """Classes × decisions: the classes, and then "unsure" where that has a cost."""
    least: float | None = None
    """Below this probability of the class decided for, the decision is "unsure"."""
    positive: int | None = None
    threshold: float | None = None

    def __repr__(self) -> str:
        names = ("costs", "least", "threshold", "shift")
        given = [name for name in names if getattr(self, name) is not None]
        return f"<Rule for {len(self.classes)} classes: {', '.join(given) or 'most probable'}>"

    @property
    def may_be_unsure(self) -> bool:
        """Whether a decision can be "unsure"."""
        extra = self.costs is not None and self.costs.shape[1] > len(self.classes)
        return extra or self.least is not None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The decisions: every class, and "unsure" where it is one."""
        return (*self.classes, self.unsure_label) if self.may_be_unsure else self.classes

    def posterior(self, p: FloatArray) -> FloatArray:
        """Replace the class prior: P'(k | x) ∝ P(k | x) · P_wanted(k) / P_learned(k)."""
        if self.shift is None:
            return p
        with np.errstate(divide="ignore"):
            scores = np.log(p) + self.shift
        top = scores.max(axis=1, keepdims=True)
        wanted = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
        total = wanted.sum(axis=1, keepdims=True)
        # A row of which only classes are possible that the prior rules out keeps what it had.
        return np.where(total > 0, wanted / np.where(total > 0, total, 1.0), p)

    def expected_costs(self, p: FloatArray) -> FloatArray:
        """Compute Σ_k P(k | x) · cost[k, d], rows × decisions; without costs an error costs 1."""
        p = self.posterior(p)
        return 1.0 - p if self.costs is None else p @ self.costs

    def codes(self, p: FloatArray) -> IntArray:
        """Find the decision for each row: the place of a class, or one more for "unsure"."""
        K, p = len(self.classes), self.posterior(p)
        if self.costs is not None:
            expected = p @ self.costs
            slack = 1e-12 * np.abs(self.costs).max(initial=0.0)  # a tie goes to the first
            found = np.argmax(expected <= expected.min(axis=1, keepdims=True) + slack, axis=1)
        else:
            found = p.argmax(axis=1)
        if self.threshold is not None and self.positive is not None:
            others = p.copy()
            others[:, self.positive] = -1.0
            is_positive = p[:, self.positive] >= self.threshold
            found = np.where(is_positive, self.positive, others.argmax(axis=1))
        if self.least is not None:
            sure = p[np.arange(len(p)), np.minimum(found, K - 1)] >= self.least
            found = np.where(sure, found, K)
        return np.asarray(found, dtype=np.int64)

    def decide(self, p: FloatArray) -> AnyArray:
        """Decide for each row: a class, or the label of "unsure"."""
        return label_array(self.labels)[self.codes(p)]


def rule_for(
    statistics: Statistics,
    learned: FloatArray,
    find: Finder,
    *,
    costs: Any = None,
    unsure: float | None = None,
    unsure_cost: Any = None,
    prior: ClassPrior = None,
    positive: Label | None = None,
    threshold: float | None = None,
    precision: float | None = None,
    recall: float | None = None,
    false_positive_rate: float | None = None,
    unsure_label: Label | None = None,
) -> Rule:
    """Check what is asked for, and make the rule; `learned` is the class prior of the model."""
    classes = statistics.classes
    wanted = {"precision": precision, "recall": recall, "false_positive_rate": false_positive_rate}
    given = {name: value for name, value in wanted.items() if value is not None}
    by_threshold = {**given, **({} if threshold is None else {"threshold": threshold})}
    if len(by_threshold) > 1 or (by_threshold and costs is not None):
        named = [*by_threshold, *(["costs"] if costs is not None else [])]
        raise SettingError(f"Give one of {' and '.join(named)}: each alone decides.")
    if unsure is not None and unsure_cost is not None:
        raise SettingError(
            "unsure is the least probability of a decision, unsure_cost what it costs to make "
            "none: give one of them."
        )
    label = _unsure_label(classes, unsure_label)
    table = None if costs is None else read_costs(costs, classes, label)
    if unsure_cost is not None:
        table = _with_unsure(table, unsure_cost, len(classes))
    if unsure is not None:
        _check_share("unsure", unsure)
    shift = None
    if prior is not None:
        shift = _shift(statistics, learned, prior)
    place = None
    if by_threshold:
        place = _positive(classes, positive)
        if threshold is None:
            ((name, rate),) = given.items()
            _check_share(name, rate)
            threshold = find(name, rate, classes[place])
        _check_share("threshold", threshold)
    elif positive is not None:
        raise SettingError(
            "positive names the class that a threshold is of: give threshold, precision, recall "
            "or false_positive_rate too."
        )
    return Rule(classes, label, shift, table, unsure, place, threshold)


def read_costs(costs: Any, classes: Sequence[Label], unsure: Label) -> FloatArray:
    """Read a matrix of costs, true class × decision, from numbers or from names.

    By name a class decided for itself costs 0 where nothing is said. One more column, or the name
    of "unsure", is what no decision costs.

    >>> read_costs({"a": {"b": 5}, "b": {"a": 1}}, ("a", "b"), "unsure").tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    K = len(classes)
    if hasattr(costs, "to_dict") and hasattr(costs, "index"):  # a DataFrame: rows are true classes
        costs = costs.to_dict("index")
    if isinstance(costs, Mapping):
        return _named_costs(costs, classes, unsure)
    try:
        table = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(
            f"costs must be numbers, true class × decision, not {costs!r:.80}."
        ) from None
    if table.ndim != 2 or table.shape[0] != K or table.shape[1] not in (K, K + 1):
        raise SettingError(
            f"costs must have a row and a column for each of the {K} classes {listing(classes)} "
            f"(and at most one more column, of {unsure!r}); its shape is {table.shape}."
        )
    return _finite(table)


def _named_costs(costs: Mapping[Any, Any], classes: Sequence[Label], unsure: Label) -> FloatArray:
    K = len(classes)
    decisions: list[Label] = [*classes, unsure]
    places = {label_key(label): j for j, label in enumerate(decisions)}
    for j, label in enumerate(decisions):  # from the shell every name is text
        places.setdefault(label_key(str(label)), j)
    table = np.full((K, K + 1), np.nan)
    np.fill_diagonal(table[:, :K], 0.0)
    for true, row in costs.items():
        i = places.get(label_key(_plain(true)), K)
        if i == K:
            raise SettingError(
                f"costs has a row of class {true!r}, which is not known. Classes: "
                f"{listing(classes)}.{did_you_mean(str(true), map(str, classes))}"
            )
        if not isinstance(row, Mapping):
            raise SettingError(f"costs[{true!r}] must map decisions to costs, not {row!r:.60}.")
        for decided, cost in row.items():
            j = places.get(label_key(_plain(decided)), -1)
            if j < 0:
                raise SettingError(
                    f"costs[{true!r}] has a decision {decided!r}, which is neither a class nor "
                    f"{unsure!r}. Classes: {listing(classes)}."
                    f"{did_you_mean(str(decided), map(str, decisions))}"
                )
            try:
                table[i, j] = float(cost)
            except (TypeError, ValueError):
                raise SettingError(
                    f"costs[{true!r}][{decided!r}] must be a number, not {cost!r:.60}."
                ) from None
    if np.isnan(table[:, K]).all():
        table = table[:, :K]
    gone = np.argwhere(np.isnan(table))
    if len(gone):
        i, j = gone[0]
        raise SettingError(
            f"costs says nothing of deciding for {decisions[j]!r} where {classes[i]!r} is true."
        )
    return _finite(table)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _finite(table: FloatArray) -> FloatArray:
    if not np.isfinite(table).all():
        raise SettingError("costs must be finite numbers; there is NaN or an infinity among them.")
    return table


def _with_unsure(table: FloatArray | None, cost: Any, K: int) -> FloatArray:
    """Add what "unsure" costs, the same for all classes or by class; an error costs 1 by itself."""
    table = 1.0 - np.eye(K) if table is None else table
    if table.shape[1] > K:
        raise SettingError("costs has a column of unsure already: leave unsure_cost out.")
    try:
        own = np.broadcast_to(np.asarray(cost, dtype=np.float64), (K,))
    except (TypeError, ValueError):
        raise SettingError(
            f"unsure_cost must be a number, or one for each of the {K} classes, not {cost!r:.60}."
        ) from None
    return _finite(np.column_stack([table, own]))


def _shift(statistics: Statistics, learned: FloatArray, prior: ClassPrior) -> FloatArray:
    try:
        wanted = class_probabilities(statistics, prior)
    except SettingError as error:
        raise SettingError(str(error).replace("class_prior", "prior")) from None
    with np.errstate(divide="ignore"):
        return np.where(learned > 0, np.log(wanted) - np.log(np.where(learned > 0, learned, 1)), 0)


def _positive(classes: Sequence[Label], positive: Label | None) -> int:
    if positive is None:
        if len(classes) != 2:
            raise SettingError(
                f"Of {len(classes)} classes, positive must name the one that the threshold is of. "
                f"Classes: {listing(classes)}."
            )
        return 1
    for k, label in enumerate(classes):
        if label_key(label) == label_key(_plain(positive)):
            return k
    for k, label in enumerate(classes):
        if str(label) == positive:
            return k
    raise SettingError(
        f"positive is {positive!r}, which is no class. Classes: {listing(classes)}."
        f"{did_you_mean(str(positive), map(str, classes))}"
    )


def _unsure_label(classes: Sequence[Label], asked: Label | None) -> Label:
    """Name what is no class: "unsure" among names, the next number below all among numbers."""
    label: Any = asked
    if label is None:
        numbers = [k for k in classes if isinstance(k, int | float) and not isinstance(k, bool)]
        label = min(-1, *(int(np.floor(k)) - 1 for k in numbers)) if numbers else "unsure"
    if label_key(label) in set(map(label_key, classes)):
        raise SettingError(f"unsure_label must be no class, and {label!r} is one: name another.")
    return _plain(label)


def _check_share(name: str, value: Any) -> None:
    check_number(name, value)
    if float(value) > 1:
        raise SettingError(f"{name} must be between 0 and 1, not {value!r}.")
