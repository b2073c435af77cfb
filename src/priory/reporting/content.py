"""What a report is made of, worked out once for all of its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.errors import NoLikelihoodError, SettingError
from priory.base.formatting import shown
from priory.classifier.fitted import Fitted
from priory.data.columns import Frame
from priory.data.reading import with_pairs
from priory.evaluation.evaluation import Evaluation
from priory.explaining.doctor import Diagnosis, diagnose
from priory.model.explanation import explain
from priory.model.importance import Importance
from priory.model.row_explanation import RowExplanation
from priory.reporting.axes import Axes, axes_of
from priory.reporting.form import form_columns
from priory.reporting.page_model import page_value
from priory.statistics.sampling import Sample
from priory.tuning.leave_one_out import class_codes

__all__ = ["Content", "Example", "classifier_of", "drawn_examples", "given_examples"]

MOST_EXAMPLES = 3
SOME_ROWS = 2_000
"""On so many rows it is measured how far columns move predictions."""


@dataclass(frozen=True, eq=False)
class Example:
    """A row that is explained, as people and as pages read it."""

    title: str
    row: RowExplanation
    values: list[Any]


@dataclass(frozen=True, eq=False)
class Content:
    """A model, how good it is, and the rows it is explained on."""

    classifier: Fitted
    target: str | None
    evaluation: Evaluation | None
    examples: tuple[Example, ...]
    has_given_rows: bool = False
    """Whether the examples are rows of the user's, which were asked for."""
    sample: Sample | None = None
    """Rows with their classes, of which averages are told; none of them is shown."""

    @cached_property
    def axes(self) -> Axes:
        """What each column adds, value by value."""
        return axes_of(self.classifier)

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        """The columns of a row, as a form asks for them."""
        return form_columns(self.classifier)

    @cached_property
    def importance(self) -> Importance | None:
        """How far each column moves predictions."""
        if self.sample is None or not len(self.sample.y):
            return None
        frame = self.sample.frame.take(slice(0, SOME_ROWS))
        frame = with_pairs(frame, self.classifier.statistics.schema)
        return explain(self.classifier.model, frame, self.classifier.statistics).importance()

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Which columns depend on each other given the class."""
        if self.sample is None or not len(self.sample.y):
            return None
        sample, known = self.sample, self.classifier
        codes = class_codes(sample.y, known.statistics)
        given = (sample.frame, codes, sample.weight)
        return diagnose(known.model, known.statistics, *given, known.settings)

    @property
    def names(self) -> list[str]:
        """The classes, as they are shown."""
        return [shown(label) for label in self.classifier.classes]

    @property
    def of_target(self) -> str:
        """The target, as it stands in a sentence."""
        return "the class" if self.target is None else self.target


def drawn_examples(classifier: Fitted) -> tuple[Example, ...]:
    """Draw a row of each of the largest classes from the model, so that no data is shown."""
    statistics = classifier.statistics
    largest = np.argsort(-statistics.weight, kind="stable")[:MOST_EXAMPLES]
    found = []
    for k in sorted(largest.tolist()):
        label = classifier.classes[k]
        try:
            columns, _ = classifier.sample(1, [label], random_state=k)
        except NoLikelihoodError:
            return ()
        table = {name: values[:1] for name, values in columns.items()}
        found += _examples(classifier, classifier.frame(table), [f"drawn from {shown(label)}"])
    return tuple(found)


def given_examples(
    classifier: Fitted, frame: Frame, rows: Mapping[str, int]
) -> tuple[Example, ...]:
    """Take rows that the user wants to be in the report, by their titles."""
    some = frame.take(np.array(list(rows.values()), dtype=np.int64))
    return tuple(_examples(classifier, some, list(rows)))


def classifier_of(model: Any) -> Fitted:
    """Take the classifier of a fitted model; an estimator that is not fitted says so."""
    if isinstance(model, Fitted):
        return model
    if not hasattr(model, "read_rows"):
        raise SettingError(f"model must be one of priory's, not {model!r:.60}.")
    _ = model.classes_
    found: Fitted = model.classifier_
    return found


def _examples(classifier: Fitted, frame: Frame, titles: Sequence[str]) -> list[Example]:
    told = explain(classifier.model, frame, classifier.statistics)
    return [
        Example(title, told[i], _row_values(classifier, frame, i)) for i, title in enumerate(titles)
    ]


def _row_values(classifier: Fitted, frame: Frame, i: int) -> list[Any]:
    """List the values of a row in the order of the columns, as scoring.js reads them."""
    found: dict[str, Any] = {}
    for block in classifier.statistics.schema:
        if block.pairing is not None or block.name not in frame.columns:
            continue
        column: Any = frame[block.name]
        value = column.value(i)
        values = value if isinstance(value, tuple) else (value,)
        found |= dict(zip(block.columns, map(page_value, values), strict=True))
    return [found.get(name) for name in classifier.statistics.schema.columns]
