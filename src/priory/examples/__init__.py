"""Small tables that come with the package."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources

__all__ = ["house_votes", "play_tennis"]


def play_tennis() -> tuple[list[Mapping[str, str | None]], list[str]]:
    """Return fourteen days, and for each whether tennis was played.

    >>> X, y = play_tennis()
    >>> X[0], y[0]
    ({'outlook': 'Sunny', 'temperature': 'Hot', 'humidity': 'High', 'wind': 'Weak'}, 'No')
    """
    return _read("play_tennis.csv", "play")


def house_votes() -> tuple[list[Mapping[str, str | None]], list[str]]:
    """Return sixteen votes of 435 members of Congress in 1984, and their parties; some are missing.

    Schlimmer, J. (1987), Congressional Voting Records, UCI Machine Learning Repository,
    doi 10.24432/C5C01P, CC BY 4.0.

    >>> X, y = house_votes()
    >>> len(X), X[0]["immigration"], X[0]["synfuels-corporation-cutback"], y[0]
    (435, 'y', None, 'republican')
    """
    return _read("house_votes.csv", "party")


def _read(name: str, target: str) -> tuple[list[Mapping[str, str | None]], list[str]]:
    with (resources.files(__name__) / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    y = [row.pop(target) for row in rows]
    return [{column: value or None for column, value in row.items()} for row in rows], y
