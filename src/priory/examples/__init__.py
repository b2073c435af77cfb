"""Small tables that come with the package."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources

__all__ = ["play_tennis"]


def play_tennis() -> tuple[list[Mapping[str, str | None]], list[str]]:
    """Return fourteen days, and for each whether tennis was played.

    >>> X, y = play_tennis()
    >>> X[0], y[0]
    ({'outlook': 'Sunny', 'temperature': 'Hot', 'humidity': 'High', 'wind': 'Weak'}, 'No')
    """
    with (resources.files(__name__) / "play_tennis.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    y = [row.pop("play") for row in rows]
    return [dict(row) for row in rows], y
