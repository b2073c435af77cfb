"""Evidence as factors: values, likelihoods, logic and interventions, in one form.

What fixes a value slices the tables; likelihoods and statements about one variable or two are
tables of their own; a disjunction is a chain of gates, each a variable that is true or false, so
that it is never multiplied out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any

import numpy as np

from priory.base.errors import SettingError, listing
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.network.elimination import sliced
from priory.network.events import Event, Junction, Leaf, Logic
from priory.network.expressions import EventLike, event_of
from priory.network.factors import Factor
from priory.network.variables import Domains

__all__ = ["Evidence", "Interventions", "read_evidence"]

Interventions = Mapping[str, Any]
"""Values that variables are set to, whatever their parents are."""

GATE = "\0gate "
"""How the names of gates begin, and no node's."""

MOST_DENSE = 4096
"""A disjunction over no more cells than this is one table."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Hold what is known, as factors over the variables of a network.

    `done` are the values that were set (`do`): those variables lose their own tables.
    """

    text: str
    fixed: Mapping[str, int]
    factors: tuple[Factor, ...]
    done: Mapping[str, int] = field(default_factory=dict)
    event: Event | None = None

    @property
    def names(self) -> set[str]:
        """The variables of the network that it is about."""
        event = self.event.variables if self.event is not None else frozenset[str]()
        return {*self.fixed, *event, *self.done}

    @property
    def gates(self) -> set[str]:
        """The variables that stand for parts of statements."""
        return {v for f in self.factors for v in f.variables if v.startswith(GATE)}

    @property
    def is_certain(self) -> bool:
        """Whether it says nothing: then its probability is 1."""
        return not self.fixed.keys() - self.done.keys() and not self.factors

    def relevant(self, graph: Graph, out: Collection[str]) -> list[str]:
        """List the nodes whose tables matter: the ancestors of what is asked for and known."""
        waiting, found = [*out, *self.names], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                if name not in self.done:
                    waiting.extend(graph.parents[name])
        return [name for name in graph.nodes if name in found and name not in self.done]

    def problem(
        self, graph: Graph, tables: Mapping[str, FloatArray], out: Collection[str]
    ) -> list[Factor]:
        """List the factors whose product is P(everything relevant, what is known)."""
        names = self.relevant(graph, out)
        factors = (Factor(graph.family(name), tables[name]) for name in names)
        return sliced([*factors, *self.factors], {**self.fixed, **self.done})


def read_evidence(
    given: EventLike | None,
    do: Interventions | None,
    domains: Domains,
    ordered: Collection[str],
    asked: bool = False,
) -> Evidence:
    """Read what is known and what is set; only if it is `asked` for may it be about what is set."""
    event = event_of(given, domains, ordered)
    done: Mapping[str, int] = {}
    text = event.text
    if do is not None:
        if not isinstance(do, Mapping):
            raise SettingError(
                f"do must be a mapping of variables to the values they are set to, not {do!r:.60}."
            )
        setting = event_of(do, domains)
        if not setting.only_fixed or len(setting.fixed) < len(do):
            raise SettingError(f"do sets variables to values, not to likelihoods: {do!r:.60}.")
        done = setting.fixed
        both = [name for name in done if name in event.variables]
        if both and not asked:
            raise SettingError(
                f"{listing(both)} is both set, in do, and observed, in given; it can only be one."
            )
        if event.text == "True":
            text = f"do({setting.text})"
        elif done:
            text = f"{event.text}, do({setting.text})"
    names = count()
    factors = [Factor((name,), likelihood) for name, likelihood in event.soft.items()]
    fixed = {name: code for name, code in event.fixed.items() if name not in done}
    for part in event.parts:
        if not (isinstance(part, Leaf) and len(part.axes) == 1 and part.axes[0] in fixed):
            factors += _true(part, domains, names)
    return Evidence(text, fixed, tuple(factors), done, event)


def _true(logic: Logic, domains: Domains, names: Iterator[int]) -> list[Factor]:
    """Make the factors of a statement that is true."""
    if isinstance(logic, Leaf):
        return [Factor(logic.axes, logic.truth.astype(np.float64))]
    if _size(logic, domains) <= MOST_DENSE:
        axes, truth = _dense(logic, domains)
        return [Factor(axes, truth.astype(np.float64))]
    gate, factors = _gate(logic, domains, names)
    return [*factors, Factor((gate,), np.array([0.0, 1.0]))]


def _gate(logic: Logic, domains: Domains, names: Iterator[int]) -> tuple[str, list[Factor]]:
    """Make a variable that is true where a statement is, and its factors."""
    if isinstance(logic, Leaf) or _size(logic, domains) <= MOST_DENSE:
        axes, truth = (
            (logic.axes, logic.truth) if isinstance(logic, Leaf) else _dense(logic, domains)
        )
        gate = _name(names)
        return gate, [Factor((*axes, gate), np.stack([~truth, truth], axis=-1).astype(np.float64))]
    joined = np.logical_and if logic.every else np.logical_or
    table = np.zeros((2, 2, 2))
    for a, b in np.ndindex(2, 2):
        table[a, b, int(joined(a, b))] = 1.0
    before, factors = _gate(logic.parts[0], domains, names)
    for part in logic.parts[1:]:
        one, more = _gate(part, domains, names)
        gate = _name(names)
        factors += [*more, Factor((before, one, gate), table)]
        before = gate
    return before, factors


def _name(names: Iterator[int]) -> str:
    return f"{GATE}{next(names)}"


def _size(logic: Logic, domains: Domains) -> int:
    return prod(len(domains[name]) for name in logic.variables)


def _dense(logic: Junction, domains: Domains) -> tuple[tuple[str, ...], Any]:
    """Make one table of a statement, an axis for each of its variables."""
    axes = tuple(sorted(logic.variables))
    shape = tuple(len(domains[name]) for name in axes)
    codes = dict(zip(axes, np.indices(shape, sparse=True), strict=True))
    return axes, np.broadcast_to(logic(codes, shape), shape)
