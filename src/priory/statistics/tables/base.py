"""What a table is: plain sums per class, with `+`, `-` and `*`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from priory.base.errors import ForgetError
from priory.base.labels import label_key
from priory.base.typing import CodeArray, FloatArray, IntArray, Label
from priory.data.schema import Block
from priory.statistics.doubledouble import DoubleDouble
from priory.statistics.longtable import Entries

__all__ = ["Table", "difference", "spread_keys"]


class Table(ABC):
    """Hold the sums of one block of columns, per class.

    Tables are frozen dataclasses. `+` and `-` expect the same classes on both sides, in the
    same order (`Statistics` sees to that); labels and cells align themselves.
    """

    per_class: ClassVar[tuple[str, ...]] = ()
    """The fields whose first axis is the class."""

    @classmethod
    @abstractmethod
    def count(
        cls,
        block: Block,
        column: Any,
        y: CodeArray,
        weight: FloatArray | None,
        n_classes: int,
    ) -> Self:
        """Count some rows: `y` is the class code of each, `weight` its weight."""

    not_compared: ClassVar[tuple[str, ...]] = ()
    """The fields that tell how the sums came about, not what they are."""

    def absorb(self, column: Any, y: CodeArray) -> bool:
        """Add a few rows of weight 1 in place, and return whether that could be done.

        Nothing is changed where it could not: a table must not grow for new labels or cells.
        """
        return False

    def copy(self) -> Self:
        """Return the same sums in arrays of their own."""
        changes = {name: _copied(getattr(self, name)) for name in self.per_class}
        return replace(self, **changes)  # type: ignore[type-var]

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def __mul__(self, factor: float) -> Self: ...

    @abstractmethod
    def entries(self, block: Block) -> list[Entries]:
        """Return the sums as rows of the long table."""

    @classmethod
    @abstractmethod
    def from_entries(
        cls, block: Block, n_classes: int, header: Mapping[str, Any], parts: Mapping[str, Entries]
    ) -> Self:
        """Return the table of such rows; with no rows, the empty table."""

    def header(self) -> dict[str, Any]:
        """Return what the rows of the long table do not say."""
        return {}

    def without_rare(self, min_count: int) -> Self:
        """Return the table without the values that fewer rows have, where it keeps values."""
        return self

    def with_classes(self, where: IntArray, n_classes: int) -> Self:
        """Return the table among `n_classes` classes, class i standing at where[i]."""
        changes = {name: _spread(getattr(self, name), where, n_classes) for name in self.per_class}
        return replace(self, **changes)  # type: ignore[type-var]

    def only_classes(self, kept: IntArray) -> Self:
        """Return the table of some of the classes."""
        changes = {name: _picked(getattr(self, name), kept) for name in self.per_class}
        return replace(self, **changes)  # type: ignore[type-var]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(
            _equal(getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)  # type: ignore[arg-type]
            if f.name not in self.not_compared
        )

    __hash__ = None  # type: ignore[assignment]


def spread_keys(array: Any, where: IntArray, size: int) -> Any:
    """Return a classes × `size` array in which key i stands at where[i]."""
    result = np.zeros((len(array), size), dtype=array.dtype)
    result[:, where] = array
    return result


def difference(
    rows: IntArray,
    taken_rows: IntArray,
    weight: FloatArray,
    taken_weight: FloatArray,
    names: Sequence[Label] | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return rows and weights after taking some away, or refuse what cannot be there."""
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


def _copied(array: Any) -> Any:
    if isinstance(array, DoubleDouble):
        return DoubleDouble(array.hi.copy(), array.lo.copy())
    return array.copy()


def _picked(array: Any, kept: IntArray) -> Any:
    if isinstance(array, Table):
        return array.only_classes(kept)
    if isinstance(array, DoubleDouble):
        return DoubleDouble(array.hi[kept], array.lo[kept])
    return array[kept]


def _spread(array: Any, where: IntArray, size: int) -> Any:
    if isinstance(array, Table):
        return array.with_classes(where, size)
    if isinstance(array, DoubleDouble):
        return array.spread(where, size)
    result = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    result[where] = array
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
