"""Events: which cells of a joint distribution they hold in, and what makes them likely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TypeAlias

import numpy as np

from priory.base.typing import AnyArray, BoolArray, FloatArray

__all__ = ["Event", "Junction", "Leaf", "Logic"]

Shape: TypeAlias = int | tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Leaf:
    """Hold which values of one variable, or of two, make a statement true; of none, a constant."""

    axes: tuple[str, ...]
    truth: BoolArray

    @property
    def variables(self) -> frozenset[str]:
        """The variables that it is about."""
        return frozenset(self.axes)

    def __call__(self, codes: Mapping[str, AnyArray], shape: Shape) -> BoolArray:
        """Tell in which cells it is true."""
        if not self.axes:
            return np.full(shape, bool(self.truth))
        return np.asarray(self.truth[tuple(codes[name] for name in self.axes)])

    def negated(self) -> Leaf:
        """Make the statement that is true where this one is not."""
        return Leaf(self.axes, np.asarray(~self.truth))


@dataclass(frozen=True, eq=False)
class Junction:
    """Join statements by `and` if every one must be true, otherwise by `or`."""

    every: bool
    parts: tuple[Logic, ...]

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that it is about."""
        return frozenset[str]().union(*(part.variables for part in self.parts))

    def __call__(self, codes: Mapping[str, AnyArray], shape: Shape) -> BoolArray:
        """Tell in which cells it is true."""
        join = np.logical_and if self.every else np.logical_or
        parts = (part(codes, shape) for part in self.parts)
        return np.asarray(reduce(join, parts, np.full(shape, self.every)))

    def negated(self) -> Junction:
        """Make the statement that is true where this one is not, by De Morgan."""
        return Junction(not self.every, tuple(part.negated() for part in self.parts))


Logic: TypeAlias = Leaf | Junction


@dataclass(frozen=True, eq=False)
class Event:
    """Hold what an expression means: in which cells it holds.

    `soft` are likelihoods of the values of some variables, evidence that is not certain. `fixed`
    are the values that it fixes, as codes; `only_fixed`: it does nothing else.
    """

    text: str
    logic: Logic
    soft: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that it is about."""
        return self.logic.variables.union(self.soft)

    def __call__(self, codes: Mapping[str, AnyArray], shape: Shape) -> BoolArray:
        """Tell in which cells the event holds.

        Codes are by variable, one for each of n cells, or the axes of a table of some shape.
        """
        return self.logic(codes, shape)

    @cached_property
    def parts(self) -> tuple[Logic, ...]:
        """The statements all of which must be true; those about one variable are made one."""
        left: dict[str, BoolArray] = {}
        others: list[Logic] = []
        for part in _conjuncts(self.logic):
            if isinstance(part, Leaf) and len(part.axes) == 1:
                left[part.axes[0]] = part.truth & left.get(part.axes[0], True)
            else:
                others.append(part)
        return (*(Leaf((name,), truth) for name, truth in left.items()), *others)

    @cached_property
    def fixed(self) -> Mapping[str, int]:
        """The variables of which one value is left, and its code."""
        single = [p for p in self.parts if isinstance(p, Leaf) and len(p.axes) == 1]
        if any(not part.truth.any() for part in single):
            return {}  # they contradict each other
        return {p.axes[0]: int(p.truth.argmax()) for p in single if p.truth.sum() == 1}

    @cached_property
    def only_fixed(self) -> bool:
        """Whether it says nothing but the values of some variables."""
        return not self.soft and len(self.fixed) == len(self.parts)


def _conjuncts(logic: Logic) -> Iterator[Logic]:
    if isinstance(logic, Junction) and logic.every:
        for part in logic.parts:
            yield from _conjuncts(part)
    elif not (isinstance(logic, Leaf) and not logic.axes and logic.truth):
        yield logic
