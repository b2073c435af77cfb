"""Orders of elimination: in which the variables are summed out, and what that costs.

Finding the best order is NP-hard. Three greedy rules are tried, and the order that multiplies the
fewest numbers is taken: the variable next that joins the fewest neighbours (min-fill), that joins
those of the fewest values (weighted min-fill), or whose table is the smallest (min-size). The
order in which the variables were named is tried as well: for a grid it is the best.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import prod
from typing import NamedTuple, TypeAlias

from priory.base.errors import TooLargeError

__all__ = ["MOST_NUMBERS", "MOST_PRODUCTS", "Order", "best_order", "check_cost"]

MOST_NUMBERS = 2**27
"""The most numbers that an intermediate table may hold: a gigabyte."""

MOST_PRODUCTS = 2**33
"""The most numbers that are multiplied for one answer: about a minute."""

ENOUGH = 100_000
"""An order that multiplies no more numbers than this is not worth looking for a better one."""

Neighbours: TypeAlias = dict[str, set[str]]
Rule: TypeAlias = Callable[[str, Neighbours, Mapping[str, int]], float]


class Order(NamedTuple):
    """Hold an order, the numbers of its largest table, and those of all its tables."""

    variables: tuple[str, ...]
    largest: int
    total: int


def best_order(
    scopes: Iterable[Collection[str]],
    sizes: Mapping[str, int],
    last: Collection[str] = (),
    keep: Collection[str] = (),
) -> Order:
    """Find a good order in which to eliminate all variables but those to keep; some come last.

    >>> best_order([("a", "b"), ("b", "c"), ("c", "d")], dict.fromkeys("abcd", 2), last=["a"])
    Order(variables=('d', 'c', 'b', 'a'), largest=4, total=14)
    """
    near: Neighbours = {name: set() for name in sizes}
    for scope in scopes:
        for name in scope:
            near[name].update(scope)
    for name, around in near.items():
        around.discard(name)
    kept, late = set(keep), set(last)
    others = [v for v in near if v not in kept]
    groups = [[v for v in others if v not in late], [v for v in others if v in late]]
    best = _greedy(near, sizes, groups, _size)
    assert best is not None
    for rule in (_weighted_fill, _fill, _as_given):
        if best.total > ENOUGH:
            most = min(best.total, MOST_PRODUCTS)
            best = _greedy(near, sizes, groups, rule, most) or best
    return best


def check_cost(order: Order, most_numbers: int, kept: int = 1, remembered: bool = False) -> None:
    """Refuse an order that needs a table too large, too many of them, or too many products.

    `kept` is the size of the answer; all the tables may have to be `remembered`.
    """
    most = max(order.largest, kept)
    how = (
        "Ask for fewer variables together, give more evidence, raise the network's most_numbers, "
        "or ask p or marginals for samples: approximate=100_000."
    )
    if most > most_numbers:
        raise TooLargeError(
            f"The exact answer needs a table of {most:,} numbers ({8 * most / 2**30:,.1f} GB); "
            f"{most_numbers:,} ({8 * most_numbers / 2**30:,.1f} GB) are the most. {how}"
        )
    if remembered and order.total > 4 * most_numbers:
        raise TooLargeError(
            f"The exact answer needs {order.total:,} numbers at once "
            f"({8 * order.total / 2**30:,.1f} GB); {4 * most_numbers:,} are the most, four times "
            f"most_numbers. {how}"
        )
    if order.total > MOST_PRODUCTS:
        raise TooLargeError(
            f"The exact answer needs {order.total:,} numbers to be multiplied; "
            f"{MOST_PRODUCTS:,} are the most. {how}"
        )


def _greedy(
    neighbours: Neighbours,
    sizes: Mapping[str, int],
    groups: Sequence[Sequence[str]],
    rule: Rule,
    most: int | None = None,
) -> Order | None:
    """Eliminate group after group, the variable of the lowest price first.

    None if it multiplies as many numbers as `most`, or more.
    """
    near = {name: set(others) for name, others in neighbours.items()}
    order: list[str] = []
    largest = total = 1
    for group in groups:
        price = {v: rule(v, near, sizes) for v in group}
        place = {v: i for i, v in enumerate(group)}  # of ties the first
        heap = [(cost, place[v], v) for v, cost in price.items()]
        heapify(heap)
        while heap:
            cost, _, v = heappop(heap)
            if price.get(v) != cost:
                continue  # it changed, or it is gone
            del price[v]
            table = sizes[v] * prod(sizes[w] for w in near[v])
            largest, total = max(largest, table), total + table
            if most is not None and total > most:
                return None
            for w in _eliminate(v, near):
                if w in price:
                    now = rule(w, near, sizes)
                    if now != price[w]:
                        price[w] = now
                        heappush(heap, (now, place[w], w))
            order.append(v)
    return Order(tuple(order), largest, total - 1)


def _eliminate(v: str, near: Neighbours) -> set[str]:
    """Join the neighbours of a variable and take it out; give those whose price may change."""
    around = near.pop(v)
    changed = set(around)
    for w in around:
        mine = near[w]
        mine.discard(v)
        new = around - mine
        new.discard(w)
        if new:
            for x in new:
                # who is a neighbour of both ends of a new edge has less to fill in
                changed |= mine & near[x]
            mine |= new
    return changed


def _as_given(v: str, near: Neighbours, sizes: Mapping[str, int]) -> float:
    return 0.0


def _size(v: str, near: Neighbours, sizes: Mapping[str, int]) -> float:
    return sizes[v] * prod(sizes[w] for w in near[v])


def _fill(v: str, near: Neighbours, sizes: Mapping[str, int]) -> float:
    around = near[v]
    return sum(len(around) - 1 - len(around & near[w]) for w in around)


def _weighted_fill(v: str, near: Neighbours, sizes: Mapping[str, int]) -> float:
    around = near[v]
    total = 0
    for w in around:
        missing = around - near[w]
        total += sizes[w] * (sum(sizes[x] for x in missing) - sizes[w])
    return total
