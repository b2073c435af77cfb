"""What is fixed when columns are counted together: the bins of numbers, and the groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from priory.base.errors import SchemaError
from priory.base.typing import AnyArray, CodeArray, FloatArray

__all__ = ["MOST_PARENTS", "Pairing", "every_pair"]

MOST_PARENTS = 6
CONDITIONAL = {"edge": 1, "climbed": MOST_PARENTS, "given": MOST_PARENTS}
"""Uses in which the last column is told of given the others, its parents, and the most of them."""

USES = (*CONDITIONAL, "aode", "joint", "correction")


@dataclass(frozen=True)
class Pairing:
    """Say how several columns are counted together.

    `edges` holds the ends of each column's bins, None for a column of labels; the first and the
    last bin reach outwards. `pairs` are the groups of columns whose values are counted together,
    as positions: pairs, or a child after all of its parents. `use` is what they were chosen for:
    an edge of a tree, a child and its parents that were climbed to or given, all pairs, all the
    columns in one table, or one or two columns whose factors are corrected. As all this is
    declared, any chunking gives the same counts.

    >>> Pairing("edge", ((0.0, 1.5, 3.0), None), ((0, 1),)).bins(0, np.array([-9.0, 2.0])).tolist()
    [0, 1]
    """

    use: Literal["edge", "climbed", "given", "aode", "joint", "correction"]
    edges: tuple[tuple[float, ...] | None, ...]
    pairs: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if wrong := self._wrong():
            raise SchemaError(f"Columns cannot be counted together: {wrong}.")

    def _wrong(self) -> str | None:
        if self.use not in USES:
            return f"their use is {self.use!r:.40}"
        for ends in self.edges:
            if ends is None:
                continue
            if len(ends) < 2 or not all(isinstance(x, float) and math.isfinite(x) for x in ends):
                return "the ends of bins are no numbers"
            if any(a >= b for a, b in pairwise(ends[1:-1])):
                return "the ends of bins are not in order"
        d = len(self.edges)
        places = range(d)
        if any(len({*pair} & {*places}) < max(len(pair), 2) for pair in self.pairs):
            return "a pair is of columns that are not there"
        if len({frozenset(pair) for pair in self.pairs}) < len(self.pairs):
            return "a pair stands twice"
        if self.use == "aode":  # their number first: a file may claim any number of columns
            fits = len(self.pairs) == d * (d - 1) // 2 and self.pairs == every_pair(d)
        elif self.is_conditional:
            fits = self.pairs == (tuple(places),) and d <= CONDITIONAL[self.use] + 1
        else:
            fits = not self.pairs and (self.use != "correction" or d in (1, 2))
        return None if fits else f"the pairs are not those of {self.use!r}"

    @classmethod
    def of_child(cls, use: Any, edges: tuple[tuple[float, ...] | None, ...]) -> Pairing:
        """Count a child, the last of the columns, together with all the others, its parents."""
        return cls(use, edges, (tuple(range(len(edges))),))

    @property
    def is_conditional(self) -> bool:
        """Whether it is the last column that is told of, given the others."""
        return self.use in CONDITIONAL

    def bins(self, column: int, x: AnyArray) -> CodeArray:
        """Find the bin of each number of a column, -1 where it is missing."""
        ends = self.edges[column]
        assert ends is not None
        codes = np.searchsorted(np.array(ends[1:-1]), x, side="left").astype(np.int32)
        codes[np.isnan(x)] = -1
        return codes

    def n_bins(self, column: int) -> int:
        """Count the bins of a column of numbers."""
        ends = self.edges[column]
        assert ends is not None
        return len(ends) - 1

    def log_widths(self, column: int) -> FloatArray:
        """Take the log of the width of each bin; 0 for a bin of a single value."""
        widths = np.diff(np.array(self.edges[column]))
        return np.log(np.where(widths > 0, widths, 1.0))  # a lone value is a point mass

    def drawn(self, column: int, values: AnyArray, rng: np.random.Generator) -> AnyArray:
        """Turn drawn bins of a column into numbers, uniform in each; labels stay as they are."""
        ends = self.edges[column]
        if ends is None:
            return values
        bins, ends_of = values.astype(np.intp), np.array(ends)
        return rng.uniform(ends_of[bins], np.maximum(ends_of[bins + 1], ends_of[bins]))

    def shown(self, column: int, value: Any) -> str:
        """Write a value as it follows the name of its column: "= a", "in (1, 2]"."""
        ends = self.edges[column]
        if ends is None:
            return f"= {value}"
        low = "-∞" if value == 0 else f"{ends[value]:.4g}"
        high = "∞" if value == len(ends) - 2 else f"{ends[value + 1]:.4g}"
        return f"in ({low}, {high}{')' if high == '∞' else ']'}"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        edges = [None if ends is None else list(ends) for ends in self.edges]
        return {"use": self.use, "edges": edges, "pairs": [list(pair) for pair in self.pairs]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Pairing:
        """Restore a pairing from plain JSON values; refuse what cannot be one."""
        edges = tuple(None if ends is None else tuple(ends) for ends in plain["edges"])
        return cls(plain["use"], edges, tuple(tuple(map(int, pair)) for pair in plain["pairs"]))


def every_pair(n_columns: int) -> tuple[tuple[int, int], ...]:
    """List all pairs of columns, each once.

    >>> every_pair(3)
    ((0, 1), (0, 2), (1, 2))
    """
    return tuple(combinations(range(n_columns), 2))
