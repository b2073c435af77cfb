"""Observations: listed once, and each distinct one counted, for all hypotheses together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.base.labels import label_key
from priory.base.typing import FloatArray

__all__ = ["Observations", "observation_key"]


@dataclass(frozen=True, eq=False)
class Observations:
    """Hold observations, one after the other."""

    listed: list[Any]

    @classmethod
    def of(cls, data: Any) -> Observations:
        """List the observations; a string, a number or a mapping is a single one.

        >>> Observations.of("heads").listed, Observations.of([1, 1, 0]).counts
        (['heads'], {1: 2, 0: 1})
        """
        if isinstance(data, Observations):
            return data
        if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
            return cls([data])
        return cls(data.tolist() if isinstance(data, np.ndarray) else list(data))

    @cached_property
    def pairs(self) -> list[tuple[Any, int]]:
        """Each distinct observation, and how often it came; all of them if they have no hash."""
        try:
            counted = Counter(map(observation_key, self.listed))
        except TypeError:
            return [(observation, 1) for observation in self.listed]
        first: dict[Any, Any] = {}
        for observation in self.listed:
            first.setdefault(observation_key(observation), observation)
        return [(first[key], n) for key, n in counted.items()]

    @property
    def counts(self) -> dict[Any, int]:
        """How often each distinct observation came; True and 1 are one here."""
        result: dict[Any, int] = {}
        for observation, n in self.pairs:
            plain = observation.item() if isinstance(observation, np.generic) else observation
            try:
                result[plain] = result.get(plain, 0) + n
            except TypeError:
                raise InputError(f"An observation must be a value, not {plain!r:.60}.") from None
        return result

    def numbers(self, what: str) -> FloatArray:
        """Give the observations as finite numbers."""
        try:
            found = np.array(self.listed, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array([np.nan])
        if found.ndim != 1 or not np.isfinite(found).all():
            wrong = next((x for x in self.listed if not _is_finite(x)), self.listed)
            raise InputError(f"{what} takes finite numbers, not {wrong!r:.60}.")
        return found


def _is_finite(x: Any) -> bool:
    try:
        return not isinstance(x, str) and bool(np.isfinite(float(x)))
    except (TypeError, ValueError):
        return False


def observation_key(value: Any) -> Any:
    """Make the key by which an observation is counted: True, 1 and "1" are different ones."""
    value = value.item() if isinstance(value, np.generic) else value
    return label_key(value) if isinstance(value, bool | int | float | str) else value
