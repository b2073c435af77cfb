"""Rows as JSON objects, and answers to them: one contract for pipes and for services.

A key that a row does not have, null and an empty string are gaps; keys that the model does not know
are ignored, unless they look misspelt; blanks around strings do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from priory.base.typing import FloatArray, Label

__all__ = ["answers", "tidy_row"]


def tidy_row(row: dict[str, Any]) -> dict[str, Any]:
    """Strip the strings of a row, in place; an empty one is missing.

    >>> tidy_row({"a": " x ", "b": "", "c": 1})
    {'a': 'x', 'b': None, 'c': 1}
    """
    for key, value in row.items():
        if isinstance(value, str) and (not value or value[0].isspace() or value[-1].isspace()):
            row[key] = value.strip() or None
    return row


def answers(
    classes: Sequence[Label], probabilities: FloatArray, proba: bool
) -> Iterator[dict[str, Any]]:
    """Name the most probable class of each row and its probability; with `proba`, all of them.

    >>> import numpy as np
    >>> next(answers(["No", "Yes"], np.array([[0.25, 0.75]]), True))["probabilities"]
    {'No': 0.25, 'Yes': 0.75}
    """
    names = [str(label) for label in classes]
    for p in probabilities.tolist():
        best = max(range(len(p)), key=p.__getitem__)
        answer: dict[str, Any] = {"prediction": classes[best], "probability": p[best]}
        if proba:
            answer["probabilities"] = dict(zip(names, p, strict=True))
        yield answer
