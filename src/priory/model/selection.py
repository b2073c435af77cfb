"""Which columns pay for themselves, in bits (minimum description length).

    saves = log2 P(column | class) − log2 P(column)        over all rows
    costs = ½ log2 n · (parameters with classes − parameters without)

A column stays if a description of it that looks at the class is the shorter one, its further
parameters included. With relative frequencies what it saves on its own values is n · I(X; Y), which
is also what it saves on the classes: the information of the one about the other is mutual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import log
from operator import add
from typing import Any

import numpy as np

from priory.base.errors import NoLikelihoodError, PrioryError
from priory.data.schema import Block, Kind
from priory.families import Bernoulli, Family
from priory.families.base import n_classes
from priory.families.priors import Prior
from priory.model.description import bits_of_parameter
from priory.model.model import Choice, presence
from priory.statistics.statistics import Statistics

__all__ = ["Worth", "worth"]

NOT_JUDGED = (Kind.WORDS, Kind.COUNTS)
"""These have far more parameters than rows; ½ log2 n for each would be no fair price."""


@dataclass(frozen=True)
class Worth:
    """Hold how many bits a column saves by looking at the class, and what that costs.

    >>> str(Worth(1.25, 14.3))
    'left out: saves 1.2 bits, costs 14.3'
    """

    saves: float
    costs: float

    @property
    def pays(self) -> bool:
        """Return whether more is saved than it costs."""
        return self.saves > self.costs

    def __add__(self, other: Worth) -> Worth:
        return Worth(self.saves + other.saves, self.costs + other.costs)

    def __str__(self) -> str:
        verdict = "stays" if self.pays else "left out"
        return f"{verdict}: saves {self.saves:.1f} bits, costs {self.costs:.1f}"


def worth(
    statistics: Statistics, block: Block, choices: Sequence[Choice], gaps: bool
) -> Worth | None:
    """Return what a block is worth under the best of some choices; None if it is not judged.

    With `gaps` the gaps of a column may speak too, where that pays.
    """
    if block.kind in NOT_JUDGED:
        return None
    seen = np.flatnonzero(statistics.rows > 0)
    table: Any = statistics.tables[block.name]
    n_rows = float(statistics.weight.sum())
    try:
        best = max(
            (_worth(c.family, table.only_classes(seen), c.prior, n_rows) for c in choices),
            key=lambda found: found.saves - found.costs,
        )
    except NoLikelihoodError:
        return None
    except PrioryError as error:
        raise type(error)(f"Column {block.title!r}: {error}") from None
    if gaps and hasattr(table, "present"):
        derived, prior = presence(block, table, statistics.weight, choices[0].prior)
        of_gaps = _worth(Bernoulli(), derived.only_classes(seen), prior, n_rows)
        if of_gaps.pays:
            best = best + of_gaps
    return best


def _worth(family: Family, table: Any, prior: Prior | None, n_rows: float) -> Worth:
    """Return what parameters for each class save over the same ones for all, and cost."""
    pooled = reduce(add, (table.only_classes(np.array([k])) for k in range(n_classes(table))))
    apart, together = (
        family.log_likelihood_of(sums, family.parameters(sums, prior)) for sums in (table, pooled)
    )
    further = family.n_free(table, prior) - family.n_free(pooled, prior)
    return Worth((apart - together) / log(2.0), bits_of_parameter(n_rows) * further)
