"""The confusion matrix with its labels, and the counts of the four outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from priory.base.formatting import aligned
from priory.base.html import html_table
from priory.base.typing import AnyArray, Label
from priory.evaluation.rendering import amount, shown

__all__ = ["ConfusionTable", "Outcomes"]

WIDTH = 80


class Outcomes(NamedTuple):
    """True and false positives and negatives of one class against the rest."""

    true_positives: float
    false_positives: float
    false_negatives: float
    true_negatives: float


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionTable:
    """The confusion matrix with its labels: rows are true labels, columns predicted labels.

    >>> from priory.evaluation import Evaluation
    >>> e = Evaluation.of_predictions(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
    >>> print(e.confusion_table)
    true ↓ predicted →  cat  dog
    cat                   1    1
    dog                   0    2
    """

    classes: tuple[Label, ...]
    counts: AnyArray

    def mistakes(self, n: int | None = None) -> list[tuple[Label, Label, float]]:
        """List (true label, predicted label, count), the most frequent mistakes first.

        >>> ConfusionTable(("a", "b"), np.array([[5, 2], [1, 9]])).mistakes()
        [('a', 'b', 2), ('b', 'a', 1)]
        """
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[: np.count_nonzero(wrong)]
        pairs = np.column_stack(np.unravel_index(order, wrong.shape)).tolist()[:n]
        return [(self.classes[i], self.classes[j], wrong[i, j].item()) for i, j in pairs]

    @property
    def fits(self) -> bool:
        """Whether the table, with all its labels, fits into 80 columns."""
        return len(str(self).splitlines()[0]) <= WIDTH and not self._numbered

    @property
    def _numbered(self) -> bool:
        return self._width([shown(label) for label in self.classes]) > WIDTH

    def _width(self, heads: list[str]) -> int:
        cells = max(len(amount(x)) for x in self.counts.flat)
        return max(18, *map(len, heads)) + sum(2 + max(cells, len(head)) for head in heads)

    def __str__(self) -> str:
        names = [shown(label) for label in self.classes]
        heads = names
        if self._numbered:  # too wide: number the columns
            heads = [str(k + 1) for k in range(len(names))]
            names = [
                f"{head:>{len(heads[-1])}} {name}" for head, name in zip(heads, names, strict=True)
            ]
        rows = [("true ↓ predicted →", *heads)]
        rows += [(names[k], *map(amount, row)) for k, row in enumerate(self.counts.tolist())]
        return aligned(rows, right=True)

    def __repr__(self) -> str:
        return f"<ConfusionTable of {len(self.classes)} classes>"

    def _repr_html_(self) -> str:
        names = [shown(label, None) for label in self.classes]
        rows = [[name, *map(amount, row)] for name, row in zip(names, self.counts, strict=True)]
        return html_table(["true ↓ predicted →", *names], rows)
