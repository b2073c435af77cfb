"""What a table is: plain sums per class, with `+`, `-` and `*`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from priory.base.errors import ForgetError
from priory.base.labels import label_key
from priory.base.typing import CodeArray, FloatArray, IntArray, Label
from priory.data.schema import Block
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import BlockParts, Part

__all__ = ["DOCUMENTS", "Table", "add_keys", "difference", "spread_keys"]

COUNTS = ("rows", "weight")
DOCUMENTS = ("documents", "documents_weight")
"""The fields of two arrays that belong together: numbers of rows, and their weights."""


class Table(ABC):
    """The sums of one block of columns, per class.

    Tables are frozen dataclasses. `+` and `-` expect the same classes on both sides, in the
    same order (`Statistics` sees to that); labels and cells align themselves.
    """

    per_class: ClassVar[tuple[str, ...]] = ()
    """The fields whose first axis is the class: arrays, or tables."""

    not_compared: ClassVar[tuple[str, ...]] = ()
    """The fields that tell how the sums came about, not what they are."""

    @classmethod
    @abstractmethod
    def count(
        cls, block: Block, column: Any, y: CodeArray, weight: FloatArray | None, n_classes: int
    ) -> Self:
        """Count some rows: `y` is the class code of each, `weight` its weight."""

    @classmethod
    def shares_threads(cls, column: Any) -> bool:
        """Whether `count` shares this column among threads by itself; else they share the rows."""
        return False

    def absorb(self, column: Any, y: CodeArray) -> bool:
        """Add a few rows of weight 1 in place, if that can be done, and say whether it was.

        Nothing is changed where it could not: a table must not grow for new labels or cells.
        """
        return False

    def __add__(self, other: Self) -> Self:
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.per_class}
        return replace(self, **sums)  # type: ignore[type-var]

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    def __mul__(self, factor: float) -> Self:
        return self._each(lambda sums: sums if _are_rows(sums) else sums * factor)

    def copy(self) -> Self:
        """Copy the sums into arrays of their own."""
        return self._each(lambda sums: sums.copy())

    def with_classes(self, where: IntArray, n_classes: int) -> Self:
        """Place the sums among `n_classes` classes, class i at where[i]."""
        return self._each(lambda sums: _spread(sums, where, n_classes))

    def only_classes(self, kept: IntArray) -> Self:
        """Keep some of the classes."""
        return self._each(
            lambda sums: sums.only_classes(kept) if isinstance(sums, Table) else sums[kept]
        )

    def without_rare(self, min_count: int) -> Self:
        """Leave out the values that fewer rows have, where the table keeps values."""
        return self

    @abstractmethod
    def parts(self, block: Block) -> list[Part]:
        """Write the sums as rows of the long table."""

    def header(self) -> dict[str, Any]:
        """Say what the rows of the long table do not."""
        return {}

    @classmethod
    @abstractmethod
    def from_parts(cls, block: Block, n_classes: int, parts: BlockParts) -> Self:
        """Make the table of such rows; of none, the empty table."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(
            _equal(getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)  # type: ignore[arg-type]
            if f.name not in self.not_compared
        )

    __hash__ = None  # type: ignore[assignment]

    def _each(self, function: Callable[[Any], Any]) -> Self:
        changed = {name: function(getattr(self, name)) for name in self.per_class}
        return replace(self, **changed)  # type: ignore[type-var]


def spread_keys(array: Any, where: IntArray, size: int) -> Any:
    """Spread classes × keys over `size` keys: key i goes to where[i], zeros elsewhere."""
    result = np.zeros((len(array), size), dtype=array.dtype)
    result[:, where] = array
    return result


def add_keys(
    a: Any, here: IntArray, b: Any, there: IntArray, size: int, fields: Sequence[str] = COUNTS
) -> list[Any]:
    """Add sums of two tables, key i of `a` standing at here[i], key j of `b` at there[j]."""
    return [
        spread_keys(getattr(a, name), here, size) + spread_keys(getattr(b, name), there, size)
        for name in fields
    ]


def difference(
    a: Any,
    b: Any,
    fields: tuple[str, str] = COUNTS,
    there: IntArray | None = None,
    names: Sequence[Label] | None = None,
) -> tuple[IntArray, FloatArray]:
    """Subtract rows and their weights, or refuse; key j of `b` stands at there[j] in `a`."""
    (rows, taken_rows), (weight, taken_weight) = (
        (getattr(a, name), getattr(b, name)) for name in fields
    )
    if there is not None:
        taken_rows, taken_weight = (
            spread_keys(sums, there, rows.shape[1]) for sums in (taken_rows, taken_weight)
        )
    left = rows - taken_rows
    if np.any(left < 0):
        place = tuple(np.argwhere(left < 0)[0])
        what = f"value {names[place[-1]]!r} was" if names is not None else "they were"
        raise ForgetError(
            f"{what} learned {int(rows[place])} times in this class, "
            f"so {int(taken_rows[place])} cannot be forgotten"
        )
    left_weight = np.where(left > 0, weight - taken_weight, 0.0)
    if np.any(left_weight < -1e-9 * weight):
        raise ForgetError("a weight would turn negative; they were learned with less weight")
    return left, np.maximum(left_weight, 0.0)


def _are_rows(sums: Any) -> bool:
    """Whether these are numbers of rows, which a change of their weight leaves as they are."""
    return isinstance(sums, np.ndarray) and sums.dtype.kind == "i"


def _spread(sums: Any, where: IntArray, size: int) -> Any:
    if isinstance(sums, Table):
        return sums.with_classes(where, size)
    if isinstance(sums, DoubleDouble):
        return sums.spread(where, size)
    result = np.zeros((size, *sums.shape[1:]), dtype=sums.dtype)
    result[where] = sums
    return result


def _equal(a: Any, b: Any) -> bool:
    """Compare two fields to the last bit."""
    if isinstance(a, DoubleDouble):
        return np.array_equal(a.hi, b.hi) and np.array_equal(a.lo, b.lo)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple):
        return list(map(label_key, a)) == list(map(label_key, b))
    return bool(a == b)
