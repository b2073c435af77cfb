"""A sample of rows that depends on the rows alone, not on their order or on how they came.

Each different row has a hash of its values and its class, and the sample is those with the least
hashes (`bottom_k`), each once, with how many there are of it and what they weigh together. A row in
the sample of a whole is in the sample of any part that holds it: so chunks, merges and machines
come to the same sample, to the last row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from priory.base.labels import label_key
from priory.base.typing import AnyArray, BoolArray, FloatArray, IntArray
from priory.data.columns import Frame, Labels
from priory.data.stacking import stack, stack_labels
from priory.statistics.bottom_k import EVERYTHING, least_hashes
from priory.statistics.chance import equal_by_chance, too_even_for_chance
from priory.statistics.hashing import row_hashes
from priory.statistics.statistics import Statistics

__all__ = ["Pool", "Sample", "joined"]

FEW = 1024
"""So few rows wait, whatever the size of the sample, until there are more of them."""

BY_CHANCE = 0.05
"""So many rows equal to a given one must be expected before equal rows are taken for chance."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows, how many there are of each, and the sums of their weights and squares.

    >>> from priory.data.reading import infer, read, read_labels
    >>> days = {"wind": ["weak", "weak", "strong", "weak"]}
    >>> sample = Sample.of(read(days, infer(days)), read_labels(["Y", "Y", "N", "N"]), None, 100)
    >>> sorted(sample.rows.tolist()), sample.n_rows
    ([1, 1, 2], 4)
    >>> (sample - sample).n_rows, (sample + sample).n_rows
    (0, 8)
    """

    frame: Frame
    y: Labels
    hashes: AnyArray
    rows: IntArray
    weight: FloatArray
    squares: FloatArray
    size: int
    bounds: AnyArray
    """Of each class, the hash up to which all of its rows are here; in the order of y.labels."""

    @classmethod
    def of(
        cls,
        frame: Frame,
        y: Labels,
        weight: FloatArray | None,
        size: int,
        hashes: AnyArray | None = None,
    ) -> Sample:
        """Sample some rows, whose hashes may be known; those of weight 0 are not rows."""
        hashes = row_hashes(frame, y) if hashes is None else hashes
        rows, bounds = least_hashes(hashes, y, size, None if weight is None else weight > 0)
        own = np.ones(len(rows)) if weight is None else weight[rows]
        found, first, which = np.unique(hashes[rows], return_index=True, return_inverse=True)
        count = np.bincount(which, minlength=len(found))
        total, squares = (_sums(which, w, len(found)) for w in (own, own * own))
        taken = rows[first]  # an index, not a slice: the sample must not share the user's memory
        return cls(frame.take(taken), y.take(taken), found, count, total, squares, size, bounds)

    @classmethod
    def of_groups(cls, frame: Frame, y: Labels, sums: Mapping[str, AnyArray], size: int) -> Sample:
        """Sample rows that come once each, with how many there are: rows, weight and squares."""
        hashes = row_hashes(frame, y)
        rows, bounds = least_hashes(hashes, y, size)
        whole = cls(frame, y, hashes, size=size, bounds=bounds, **sums)
        return whole.take(rows).in_order()

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def n_rows(self) -> int:
        """How many rows the different ones stand for."""
        return int(self.rows.sum())

    @property
    def is_whole(self) -> bool:
        """Whether every row that came is here."""
        return bool((self.bounds == EVERYTHING).all())

    @cached_property
    def known(self) -> dict[Any, Any]:
        """The bound of each class, by the key of its label."""
        return {label_key(k): b for k, b in zip(self.y.labels, self.bounds, strict=True)}

    @cached_property
    def copied(self) -> BoolArray:
        """Which rows came several times by being copied: too special or too even for chance."""
        several = self.rows > 1
        if not several.any():
            return several
        expected = equal_by_chance(self.frame, self.y, self.rows, several)
        special = several & (expected < BY_CHANCE)
        return np.asarray(special | too_even_for_chance(self.rows))

    def __add__(self, other: Sample) -> Sample:
        return joined([self, other])

    def __sub__(self, other: Sample) -> Sample:
        """Take the rows of another sample away; what is not here stays away."""
        taken = replace(other, rows=-other.rows, weight=-other.weight, squares=-other.squares)
        both = joined([self, taken])
        there = (both.rows > 0) & np.isin(both.hashes, self.hashes)
        return both.take(np.flatnonzero(there))

    def __mul__(self, factor: float) -> Sample:
        return replace(self, weight=self.weight * factor, squares=self.squares * factor**2)

    def take(self, rows: Any) -> Sample:
        """Take some of the rows."""
        return replace(
            self,
            frame=self.frame.take(rows),
            y=self.y.take(rows),
            **{name: getattr(self, name)[rows] for name in ("hashes", *SUMS)},
        )

    def smaller(self, size: int) -> Sample:
        """Make the sample that would have been taken with fewer places."""
        rows, bounds = least_hashes(self.hashes, self.y, size, before=self.bounds)
        return replace(
            self if len(rows) == len(self) else self.take(rows), size=size, bounds=bounds
        )

    def scale(self, statistics: Statistics) -> float:
        """Find what makes weights those of (Σw)² / Σw² rows, which they are worth (Kish 1965).

        So only their ratios matter: all weights ten times as large say nothing new. Nor do copies
        of rows, where they were copied.
        """
        rows, weight = statistics.rows, statistics.weight
        own = np.where(self.copied, self.weight**2, self.squares)
        plain = np.array_equal(weight, rows) and (self.weight == self.rows).all()
        if plain and not self.copied.any():
            return 1.0
        places = [statistics.places.get(label_key(label), -1) for label in self.y.labels]
        codes, K = np.array([*places, -1])[self.y.codes], len(rows)
        here = _sums(codes, self.rows.astype(np.float64), K)
        squares = _sums(codes, own, K) * rows / np.where(here > 0, here, 1.0)
        return float(weight.sum() / squares.sum())

    def only(self, names: Sequence[str]) -> Sample:
        """Keep these columns alone: rows that differ in others become the same."""
        if all(name in names for name in self.frame.columns):
            return self
        columns = {name: column for name, column in self.frame.columns.items() if name in names}
        frame = Frame(len(self.frame), columns)
        return replace(self, frame=frame, hashes=row_hashes(frame, self.y)).in_order()

    def holds(self, frame: Frame, y: Labels) -> AnyArray:
        """Say which rows may be among those that came: all that are not known to be absent."""
        hashes = row_hashes(frame, y)
        return (hashes > self._bound(y)) | np.isin(hashes, self.hashes)

    def lets_in(self, hashes: AnyArray, y: Labels) -> BoolArray:
        """Say which more rows may be of the sample, whatever else will come."""
        return np.asarray(hashes <= self._bound(y))

    def _bound(self, y: Labels) -> AnyArray:
        """Find the hash up to which all rows of the class of each row are here."""
        bounds = [self.known.get(label_key(label), EVERYTHING) for label in y.labels]
        return np.array(bounds, dtype=np.uint64)[y.codes]

    def spelled_out(self, most: int) -> tuple[Frame, Labels, FloatArray | None]:
        """List rows one by one with their weights, None where each is 1; copies up to so many.

        Of more copies than that, one stands for all of them.
        """
        times = self.rows if self.n_rows <= most else np.ones_like(self.rows)
        every = np.repeat(np.arange(len(self)), times)
        weight = (self.weight / times)[every]
        rows = self.frame.take(every), self.y.take(every)
        return *rows, None if (weight == 1).all() else weight

    def in_order(self) -> Sample:
        """Put the sample in the order in which it is kept: by hash, each different row once."""
        found, first, which = np.unique(self.hashes, return_index=True, return_inverse=True)
        if len(found) == len(self):
            return self if np.array_equal(found, self.hashes) else self.take(first)
        rows = np.zeros(len(found), dtype=np.int64)
        np.add.at(rows, which, self.rows)
        weight, squares = (_sums(which, w, len(found)) for w in (self.weight, self.squares))
        return replace(self.take(first), rows=rows, weight=weight, squares=squares)

    def retyped(self, labels: tuple[Any, ...]) -> Sample:
        """Give the classes other names."""
        return replace(self, y=Labels(self.y.codes, labels))


SUMS = ("rows", "weight", "squares")


class Pool:
    """Keep the sample of the rows that come by, also of single ones.

    >>> from priory.data.columns import Numbers
    >>> pool = Pool(100)
    >>> for x in 1.0, 2.0, 1.0:
    ...     pool.add(Frame(1, {"x": Numbers(np.array([[x]]))}), Labels(np.zeros(1, int), ("a",)))
    >>> pool.sample.rows.tolist() in ([1, 2], [2, 1])
    True
    """

    def __init__(self, size: int, sample: Sample | None = None) -> None:
        self._size, self._sample = size, sample
        self._waiting: list[tuple[Frame, Labels, FloatArray]] = []
        self._enough = max(FEW, size // 4)  # every look at the sample goes over all of it

    def add(self, frame: Frame, y: Labels, weight: FloatArray | None = None) -> None:
        """Look at some more rows; those of weight 0 are not rows."""
        own, hashes = np.arange(len(frame)), None  # a copy: the rows are the user's
        if len(frame) >= FEW and self._sample is not None and not self._sample.is_whole:
            hashes = row_hashes(frame, y)
            own = np.flatnonzero(self._sample.lets_in(hashes, y))  # few, of many rows
        if len(own) >= 4 * self._enough:
            self.join(Sample.of(frame, y, weight, self._size, hashes))
            return
        weights = np.ones(len(own)) if weight is None else weight[own]
        self._waiting.append((frame.take(own), y.take(own), weights))
        self._settle(self._enough)

    def absorb(self, other: Pool) -> None:
        """Take the rows of another pool in; few of them go on waiting."""
        if other._sample is not None:
            self.join(other._sample)
        self._waiting += other._waiting
        self._settle(self._enough)

    def _settle(self, least: int = 1) -> None:
        """Sample the rows that wait, if they are so many."""
        if self._waiting and sum(len(rows) for rows, _, _ in self._waiting) >= least:
            frames, labels, weights = zip(*self._waiting, strict=True)
            self._waiting = []
            rows = stack(frames), stack_labels(labels), np.concatenate(weights)
            self.join(Sample.of(*rows, self._size))

    def join(self, new: Sample) -> None:
        """Take the rows of another sample in."""
        self._sample = new if self._sample is None else self._sample + new

    @property
    def sample(self) -> Sample | None:
        """The sample of everything that came; None where nothing did."""
        self._settle()
        return self._sample

    def copy(self) -> Pool:
        """Make a pool of the same rows."""
        return Pool(self._size, self.sample)


def joined(samples: Sequence[Sample]) -> Sample:
    """Join samples to that of the rows of all of them."""
    y = stack_labels([sample.y for sample in samples])
    places = {label_key(label): k for k, label in enumerate(y.labels)}
    bounds = np.full(len(y.labels), EVERYTHING)
    for sample in samples:
        for label, bound in sample.known.items():
            bounds[places[label]] = min(bounds[places[label]], bound)
    hashes = np.concatenate([sample.hashes for sample in samples])
    whole = np.flatnonzero(hashes <= bounds[y.codes]) if len(y) else np.zeros(0, dtype=np.intp)
    size = min(sample.size for sample in samples)
    sums = {name: np.concatenate([getattr(s, name) for s in samples]) for name in SUMS}
    frame = stack([sample.frame for sample in samples])
    both = Sample(frame, y, hashes, size=size, bounds=bounds, **sums)
    if len(whole) < len(both):
        both = both.take(whole)
    return both.in_order().smaller(size)


def _sums(which: AnyArray, weight: FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(which, weight, n), dtype=np.float64)
