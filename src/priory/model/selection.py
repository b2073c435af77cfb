"""Column selection by minimum description length.

    saves = log2 P(column | class) − log2 P(column)        over all rows
    costs = ½ log2 n · (parameters with classes − parameters without)

A column is kept if its description given the class, with the additional parameters, is shorter.
With relative frequencies the saving is n · I(X; Y), the mutual information with the target.
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
from priory.families.base import n_classes
from priory.families.bernoulli import Bernoulli
from priory.families.priors import Prior
from priory.families.protocols import Parametric, as_parametric
from priory.model.description import bits_of_parameter
from priory.model.term import Choice, presence
from priory.statistics.statistics import Statistics

__all__ = ["Worth", "worth"]

NOT_JUDGED = (Kind.WORDS, Kind.COUNTS)
"""These have far more parameters than rows, for which ½ log2 n each is no good estimate."""


@dataclass(frozen=True)
class Worth:
    """The bits that a column saves given the class, and the bits of its additional parameters.

    >>> str(Worth(1.25, 14.3))
    'left out: saves 1.2 bits, costs 14.3'
    """

    saves: float
    costs: float

    @property
    def pays(self) -> bool:
        """Whether it saves more than it costs."""
        return self.saves > self.costs

    def __add__(self, other: Worth) -> Worth:
        return Worth(self.saves + other.saves, self.costs + other.costs)

    def __str__(self) -> str:
        verdict = "kept" if self.pays else "left out"
        return f"{verdict}: saves {self.saves:.1f} bits, costs {self.costs:.1f}"


def worth(
    statistics: Statistics, block: Block, choices: Sequence[Choice], gaps: bool
) -> Worth | None:
    """Compute the worth of a block under the best of some choices; None if it is not assessed.

    With `gaps` missing values count too, if that pays.
    """
    if block.kind in NOT_JUDGED:
        return None
    seen = np.flatnonzero(statistics.rows > 0)
    table: Any = statistics.tables[block.name]
    n_rows = float(statistics.weight.sum())
    try:
        best = max(
            (
                _worth(as_parametric(c.family), table.only_classes(seen), c.prior, n_rows)
                for c in choices
            ),
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


def _worth(family: Parametric, table: Any, prior: Prior | None, n_rows: float) -> Worth:
    """Compute the saving and the cost of parameters per class, compared with pooled ones."""
    pooled = reduce(add, (table.only_classes(np.array([k])) for k in range(n_classes(table))))
    apart, together = (
        family.log_likelihood_of(sums, family.parameters(sums, prior)) for sums in (table, pooled)
    )
    further = family.n_free(table, prior) - family.n_free(pooled, prior)
    return Worth((apart - together) / log(2.0), bits_of_parameter(n_rows) * further)
