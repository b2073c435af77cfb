"""What is new in rows that a model learns on: classes and values that it had not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from priory.base.errors import SchemaError, did_you_mean, listing
from priory.base.labels import label_key
from priory.base.typing import Label
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable

__all__ = ["News", "news", "refuse_new_classes"]


@dataclass(frozen=True)
class News:
    """Classes, values of columns, and columns that were not there before."""

    classes: Sequence[Label] = ()
    values: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    columns: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Tell each of them in a line.

        >>> News(["maybe"], {"wind": ["gale", "calm"]}).lines()
        ["new class: 'maybe'", "new values of 'wind': 'gale', 'calm'"]
        """
        told = []
        if self.classes:
            told.append(
                f"new class{'es' if len(self.classes) > 1 else ''}: {listing(self.classes)}"
            )
        for column, values in self.values.items():
            told.append(
                f"new value{'s' if len(values) > 1 else ''} of {column!r}: {listing(values)}"
            )
        if self.columns:
            told.append(
                f"new column{'s' if len(self.columns) > 1 else ''}, not learned: "
                f"{listing(self.columns)}"
            )
        return told

    def to_dict(self) -> dict[str, object]:
        """Give them as plain values."""
        values = {column: list(values) for column, values in self.values.items()}
        return {
            "new_classes": list(self.classes),
            "new_values": values,
            "new_columns": list(self.columns),
        }


def news(before: Statistics, added: Statistics, columns: Sequence[str] = ()) -> News:
    """Find what is in some statistics and was not in others.

    >>> from priory import Classifier, Settings
    >>> old = Classifier(Settings.textbook()).update({"wind": ["weak"]}, ["Yes"]).statistics
    >>> new = Classifier(Settings.textbook()).update({"wind": ["gale"]}, ["No"]).statistics
    >>> news(old, new)
    News(classes=['No'], values={'wind': ['gale']}, columns=())
    """
    values = {}
    for name, table in added.tables.items():
        known = before.tables.get(name)
        block = added.schema.by_name[name]
        if isinstance(table, LabelsTable) and isinstance(known, LabelsTable) and not block.pairing:
            found = _unknown(known.labels, table.labels)
            if found and len(block.columns) == 1:
                values[name] = found
    return News(_unknown(before.classes, added.classes), values, columns)


def refuse_new_classes(before: Statistics, added: Statistics, name: str) -> None:
    """Refuse rows of a class that was not learned before: it may be a typing error."""
    for label in _unknown(before.classes, added.classes):
        n = int(added.rows[added.classes.index(label)])
        rows = "1 row" if n == 1 else f"{n:,} rows"
        known = [str(known) for known in before.classes]
        raise SchemaError(
            f"{name} has {rows} of the class {label!r}, which the model does not know. "
            f"Classes: {listing(before.classes, 20)}.{did_you_mean(str(label), known)}"
        )


def _unknown(known: Sequence[Label], given: Sequence[Label]) -> list[Label]:
    keys = set(map(label_key, known))
    return [label for label in given if label_key(label) not in keys]
