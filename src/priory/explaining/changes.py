"""What every change of a row, alone and two together, does to the score of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from priory.base.typing import FloatArray
from priory.data.columns import Column, Frame
from priory.data.reading import with_pairs
from priory.data.rows import together
from priory.explaining.candidates import Candidates
from priory.model.model import Model
from priory.model.term import Term
from priory.statistics.statistics import Statistics

__all__ = ["IMPOSSIBLE", "Changes"]

IMPOSSIBLE = -1e7
"""What stands for log 0: far below all other scores, and still exact to nine decimals."""

MOST_CELLS = 1 << 21
"""So many scores of two columns together are worked out at most."""


@dataclass(frozen=True, eq=False)
class Changes:
    """Tabulate what changes add to the scores of the classes, beside those of the row as it is.

    A term of one column adds up. A term of two columns, a and b instead of a0 and b0, is

        t(a, b) − t(a0, b0) = [t(a, b0) − t(a0, b0)] + [t(a0, b) − t(a0, b0)] + more(a, b)

    so that only `more` is of both. Terms of three columns and more are not tabulated.
    """

    model: Model
    statistics: Statistics
    row: Frame
    columns: Sequence[Candidates]

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of the row as it is."""
        return np.maximum(self.model.log_joint(self.row)[0], IMPOSSIBLE)

    @cached_property
    def alone(self) -> list[FloatArray]:
        """What each value of each column adds, all others as they are: values × classes."""
        found = []
        for i in range(len(self.columns)):
            total = self._said([i])
            found.append(total[1:] - total[0])
        return found

    @cached_property
    def together(self) -> dict[tuple[int, int], FloatArray]:
        """What values of two columns add beside their own: values × values × classes."""
        found = {}
        for i, j in sorted(self._pairs):
            a, b = (1 + len(self.columns[c].values) for c in (i, j))
            table = self._said([i, j]).reshape(a, b, -1)
            more = table[1:, 1:] - table[1:, :1] - table[:1, 1:] + table[:1, :1]
            if (np.abs(more) > 1e-12).any():
                found[i, j] = more
        return found

    @cached_property
    def is_tabulated(self) -> bool:
        """Whether all terms are of one or two columns that change, and their tables fit."""
        if any(len(self._changing(term)) > 2 for term in self._terms):
            return False
        sizes = [1 + len(c.values) for c in self.columns]
        cells = sum(sizes[i] * sizes[j] for i, j in self._pairs)
        return cells * len(self.model.classes) <= MOST_CELLS

    @cached_property
    def has_zeros(self) -> bool:
        """Whether a probability of 0 is among the factors."""
        if not self.is_tabulated:
            return True
        tables = [self.scores, *self.alone, *self.together.values()]
        return any(bool((np.abs(table) >= -IMPOSSIBLE / 2).any()) for table in tables)

    def said_alone(self, i: int) -> FloatArray:
        """Tell what a column says with its present value and then each other: values × classes."""
        return self._said([i])

    def frame(self, combinations: Sequence[Sequence[tuple[int, int]]]) -> Frame:
        """Make rows with some changes each, given as a column and the place of its value."""
        frame = self.row.take(np.zeros(len(combinations), dtype=np.intp))
        columns = dict(frame.columns)
        for i, column in enumerate(self.columns):
            places = np.zeros(len(combinations), dtype=np.intp)
            for n, changes in enumerate(combinations):
                for c, v in changes:
                    if c == i:
                        places[n] = v + 1
            if places.any():
                columns[column.block] = column.coded(self.row[column.block]).take(places)
        return with_pairs(Frame(len(combinations), columns), self.statistics.schema)

    def _said(self, which: Sequence[int]) -> FloatArray:
        """Add up what the terms of some columns say of all combinations of their values.

        The present values come first. Only the columns of a term are looked at.
        """
        sizes = [1 + len(self.columns[i].values) for i in which]
        n = prod(sizes)
        places = np.unravel_index(np.arange(n), sizes)
        nowhere = np.zeros(n, dtype=np.intp)
        changed = {self.columns[i].block: (i, p) for i, p in zip(which, places, strict=True)}
        total = np.zeros((n, len(self.model.classes)))
        for term in self._terms:
            block = term.block
            if not all(self.columns[i].column in block.columns for i in which):
                continue
            names = [block.name] if block.pairing is None else list(block.columns)
            columns: dict[str, Column] = {}
            for name in names:
                if name in changed:
                    i, place = changed[name]
                    columns[name] = self._coded[i].take(place)
                else:
                    columns[name] = self.row[name].take(nowhere)
            if block.pairing is not None and term.about != "correction":
                columns[block.name] = together(columns, block, block.pairing)
            out = np.zeros_like(total)
            term.adder(Frame(n, columns), weighted=True)(slice(0, n), out)
            total += np.maximum(out, IMPOSSIBLE)
        return total

    @cached_property
    def _coded(self) -> list[Column]:
        return [column.coded(self.row[column.block]) for column in self.columns]

    @cached_property
    def _terms(self) -> list[Term]:
        return [term for term in self.model.terms if term.counts]

    def _changing(self, term: Term) -> list[int]:
        named = {c.column: i for i, c in enumerate(self.columns)}
        columns = term.block.columns[-1:] if term.about == "missing" else term.block.columns
        return sorted(named[c] for c in columns if c in named and self.columns[named[c]].values)

    @cached_property
    def _pairs(self) -> set[tuple[int, int]]:
        return {(i, j) for term in self._terms for i, j in combinations(self._changing(term), 2)}
