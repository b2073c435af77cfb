"""How a factor is shown to people: as a formula, and as the lines that it is the product of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from priory.base.formatting import shown
from priory.base.labels import label_key
from priory.base.typing import FloatArray, Label
from priory.data.columns import Numbers
from priory.data.schema import Block

if TYPE_CHECKING:
    from priory.families.base import Family

__all__ = [
    "FactorPart",
    "FactorParts",
    "Support",
    "assigned",
    "column_parts",
    "known_values",
    "listed",
]

BATCH = 64


class Support(NamedTuple):
    """Hold the counts behind numbers, of each class: 3 of 5 rows are 3 in `seen`, 5 in `total`.

    They are what was learned, without the prior's pseudo-counts. `seen` is None where a number
    was not counted but estimated from all the rows of its class, as a density is.
    """

    seen: FloatArray | None
    total: FloatArray

    def shown(self, k: int) -> str:
        """Write the counts of one class.

        >>> Support(np.array([3.0]), np.array([5.0])).shown(0), Support(None, np.ones(1)).shown(0)
        ('3 of 5', 'of 1')
        """
        total = f"of {self.total[k]:,.6g}"
        return total if self.seen is None else f"{self.seen[k]:,.6g} {total}"


class FactorPart(NamedTuple):
    """Hold one line of a factor: how it is written, and what it adds for each class."""

    title: str
    log_p: FloatArray
    """The logarithm of what the title says, with the exponent."""
    exponent: float = 1.0
    name: str = ""
    """The word or column that it is of."""
    support: Support | None = None


class FactorParts(NamedTuple):
    """Hold the lines of a factor, which add up to it: one for each word or column, and others."""

    each: Sequence[FactorPart]
    together: Sequence[FactorPart] = ()
    """What many words or columns add in one line, such as all that are not there."""
    notes: Sequence[str] = ()
    """What adds nothing, and why."""
    noun: str = "columns"
    unknown: Sequence[str] = ()
    """The words of a text that were never learned."""


def column_parts(family: Family, block: Block, row: Numbers, parameters: Any) -> FactorParts | None:
    """List a line for each column of a block of numbers that are independent given the class."""
    x = row.values[0]
    if len(x) == 1:
        return None
    there = np.flatnonzero(~np.isnan(x))
    each = []
    for first in range(0, len(there), BATCH):
        places = there[first : first + BATCH]
        alone = np.full((len(places), len(x)), np.nan)
        alone[np.arange(len(places)), places] = x[places]
        scores = family.log_likelihood(Numbers(alone), parameters)
        if family.base_measure_in_joint:
            scores += family.log_base_measure(Numbers(alone), parameters)[:, None]
        each += [
            FactorPart(
                f"P({block.columns[j]} = {shown(float(x[j]))} | class)",
                score,
                name=block.columns[j],
            )
            for j, score in zip(places.tolist(), scores, strict=True)
        ]
    missing = [block.columns[j] for j in np.flatnonzero(np.isnan(x)).tolist()]
    return FactorParts(each, notes=[f"missing: {listed(missing)}"] if missing else [])


def assigned(block: Block, values: Sequence[Any]) -> str:
    """Write columns and their values as a formula has them; what is missing is summed out."""
    pairing = block.pairing
    return ", ".join(
        f"{column} = {block.shown(value)}"
        if pairing is None
        else f"{column} {pairing.shown(j, value)}"
        for j, (column, value) in enumerate(zip(block.columns, values, strict=True))
        if value is not None
    )


def known_values(values: Sequence[Any], domains: Sequence[Sequence[Label]]) -> list[Any]:
    """Keep the values that are in their domains; the others become None."""
    return [
        value if value is not None and label_key(value) in set(map(label_key, domain)) else None
        for value, domain in zip(values, domains, strict=True)
    ]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Write some names in a line, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
