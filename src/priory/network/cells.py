"""The cells of a joint table: given as a mapping or an array, or counted from rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from priory.base.errors import InputError, SettingError, TooLargeError, listing
from priory.base.labels import label_key, sorted_labels
from priory.base.typing import FloatArray, IntArray, Label
from priory.data.combinations import distinct_combinations
from priory.families.priors import DiscretePrior, Laplace, MEstimate
from priory.network.variables import Coded, Domain, Domains, as_label, numbers, places

__all__ = ["Cells", "cell_labels", "check_size", "count_cells", "every_cell", "read_cells"]

MOST_LISTED = 20_000_000
"""The most cells that a table may list: with their codes, about a gigabyte."""


MANY = 100_000
"""From so many cells on, sums in pairs are exact enough, and much faster."""


class Cells(NamedTuple):
    """Hold cells × variables as codes, their probabilities and, if they were counted, counts.

    `ordered` are the variables whose values are in an order that was declared.
    """

    domains: Domains
    codes: IntArray
    p: FloatArray
    counts: FloatArray | None = None
    ordered: frozenset[str] = frozenset()


def read_cells(given: Any, variables: Sequence[str] | None, declared: Domains) -> Cells:
    """Read probabilities, as a mapping or an array; they must add up to 1."""
    read = _from_mapping if isinstance(given, Mapping) else _from_array
    cells = read(given, variables, declared)
    unknown = set(declared) - set(cells.domains)
    if unknown:
        raise SettingError(f"values names {listing(sorted(unknown))}, which is not a variable.")
    wrong = cells.p[~(np.isfinite(cells.p) & (cells.p >= 0))]
    if len(wrong):
        raise InputError(
            f"Probabilities must be numbers of at least 0; one is {wrong[0].item()!r}."
        )
    total = float(cells.p.sum()) if len(cells.p) > MANY else math.fsum(cells.p)
    if abs(total - 1.0) > 1e-6:
        raise InputError(f"The probabilities must add up to 1, but add up to {total:.9g}.")
    return cells if abs(total - 1.0) <= 1e-15 else cells._replace(p=cells.p / total)


def count_cells(coded: Coded, weights: FloatArray | None, prior: DiscretePrior) -> Cells:
    """Count the distinct rows; with a prior every combination of values is a cell."""
    domains, sizes = coded.domains, [*map(len, coded.domains.values())]
    codes, where = distinct_combinations([*coded.codes.values()], sizes)
    counts = np.bincount(where, weights=weights, minlength=len(codes)).astype(np.float64)
    codes, counts = codes[counts > 0], counts[counts > 0]
    if isinstance(prior, Laplace) and prior.alpha == 0:
        return Cells(domains, codes, counts / counts.sum(), counts, coded.ordered)
    check_size(domains, "Without smoothing=0 every combination of values is a cell, and there")
    dense = np.zeros(sizes)
    dense[tuple(codes.T)] = counts
    codes, counts = every_cell(sizes), dense.ravel()
    p = counts + _pseudo_counts(prior, domains, codes, counts)
    return Cells(domains, codes, p / p.sum(), counts, coded.ordered)


def cell_labels(domains: Domains, codes: IntArray) -> list[Any]:
    """List the values of every cell, as a tuple; of one variable, just the value."""
    columns = [
        [domain[code] for code in column.tolist()]
        for domain, column in zip(domains.values(), codes.T, strict=True)
    ]
    return columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]


def check_size(domains: Domains, what: str) -> None:
    """Refuse a table of more cells than can be listed."""
    sizes = {name: len(domain) for name, domain in domains.items()}
    cells = math.prod(sizes.values())
    if cells > MOST_LISTED:
        widest = sorted(sizes, key=lambda name: -sizes[name])[:3]
        raise TooLargeError(
            f"{what} would be {cells:,} cells; {MOST_LISTED:,} are the most. Choose fewer "
            f"variables, or bin those with many values: "
            f"{', '.join(f'{name!r} has {sizes[name]:,}' for name in widest)}."
        )


def _from_mapping(given: Any, variables: Sequence[str] | None, declared: Domains) -> Cells:
    cells = _flattened(given)
    widths = {len(key) for key, _ in cells}
    if len(widths) != 1:
        raise InputError(
            "Every cell must have a value of each variable; "
            + (f"some have {min(widths)}, some {max(widths)}." if widths else "there are no cells.")
        )
    names = _check_names(variables, widths.pop(), "variables of the cells")
    domains, codes = {}, []
    for name, column in zip(names, zip(*(key for key, _ in cells), strict=True), strict=True):
        domains[name] = declared.get(name) or sorted_labels(column)
        codes.append(places(column, domains[name]))
        if -1 in codes[-1]:
            raise InputError(
                f"A cell has {name!r} at {column[codes[-1].index(-1)]!r}, which is not among its "
                f"declared values: {listing(domains[name])}."
            )
    order = np.lexsort(codes[::-1])
    p = numbers([p for _, p in cells], "A table")
    return Cells(domains, np.array(codes, dtype=np.int64).T[order], p[order])


def _flattened(given: Mapping[Any, Any]) -> list[tuple[Domain, Any]]:
    """List the cells of nested mappings, or of one by tuples, as ((value, …), P)."""
    cells: dict[Any, tuple[Domain, Any]] = {}  # by key: Python holds (1,) and (True,) equal
    for key, inner in given.items():
        head: tuple[Label, ...] = key if isinstance(key, tuple) else (key,)
        head = tuple(as_label(value, "A cell") for value in head)
        for tail, p in _flattened(inner) if isinstance(inner, Mapping) else [((), inner)]:
            cell = (*head, *tail)
            if label_key(cell) in cells:
                raise InputError(f"The cell {cell!r} is given twice.")
            cells[label_key(cell)] = cell, p
    return [*cells.values()]


def _from_array(given: Any, variables: Sequence[str] | None, declared: Domains) -> Cells:
    array = numbers(given, "A table")
    if array.ndim == 0:
        raise InputError("An array of probabilities needs an axis for each variable.")
    domains: dict[str, Domain] = {}
    for name, size in zip(
        _check_names(variables, array.ndim, "axes of the array"), array.shape, strict=True
    ):
        domains[name] = declared.get(name, tuple(range(size)))
        if len(domains[name]) != size:
            raise InputError(
                f"Variable {name!r} has {len(domains[name])} values, but its axis is {size} long."
            )
    return Cells(domains, every_cell(array.shape), array.ravel())


def every_cell(shape: Sequence[int]) -> IntArray:
    """List the codes of every cell of an array, cells × axes, in as few bytes as they fit."""
    kind = np.int8 if max(shape, default=0) < 128 else np.int32
    codes = np.empty((len(shape), *shape), dtype=kind)
    for axis, size in enumerate(shape):
        codes[axis] = np.arange(size).reshape([-1, *[1] * (len(shape) - 1 - axis)])
    return codes.reshape(len(shape), -1).T


def _check_names(variables: Sequence[str] | None, width: int, what: str) -> tuple[str, ...]:
    if variables is None:
        raise SettingError(f"variables must name the {width} {what}.")
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    if len(names) != width or not all(isinstance(name, str) and name for name in names):
        raise SettingError(f"variables must be {width} names, not {listing(names)}.")
    if len(set(names)) < len(names):
        raise SettingError(f"variables names one of them twice: {listing(names)}.")
    return names


def _pseudo_counts(
    prior: DiscretePrior, domains: Domains, codes: IntArray, counts: FloatArray
) -> FloatArray:
    """Compute the pseudo-count of every cell; its label is the tuple of its values."""
    if not prior.values() and isinstance(prior, Laplace | MEstimate):
        return prior.pseudo_counts(range(len(counts)), counts)
    return prior.pseudo_counts(cell_labels(domains, codes), counts)
