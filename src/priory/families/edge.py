"""Edge: what two columns tell together beyond what each tells alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from priory.base.errors import NoLikelihoodError
from priory.base.typing import AnyArray, BoolArray, CodeArray
from priory.data.columns import Pairs
from priory.data.schema import Block
from priory.families.base import Rng
from priory.families.conditional import Conditional, pair_places
from priory.families.described import assigned
from priory.families.pair_counts import PairCounts

__all__ = ["Edge"]


@dataclass(frozen=True)
class Edge(Conditional):
    """Correct two factors for their being dependent, given the class.

        log P(v | u, k) − log P(v | k)

    with the estimates of `Conditional`. It stands beside the factors of the two columns, with a
    weight of its own, and says nothing where either value is missing or was never seen.

    >>> from priory.data.columns import Labels
    >>> from priory.families.priors import Laplace
    >>> from priory.data.schema import Kind
    >>> from priory.statistics.tables import PairsTable
    >>> column = Pairs((Labels(np.array([0, 0, 1]), ("a", "b")), Labels(np.array([0, 1, 1]), "xy")))
    >>> block, y = Block("a → x", ("a", "x"), Kind.PAIRS), np.zeros(3, dtype=np.int32)
    >>> table = PairsTable.count(block, column, y, None, 1)
    >>> parameters = Edge().parameters(table, Laplace(1.0))
    >>> np.exp(Edge().log_likelihood(column, parameters)).round(3).tolist()
    [[1.25], [0.833], [1.111]]
    """

    name: ClassVar[str] = "edge"
    about: ClassVar[Literal["value", "edge"]] = "edge"
    is_edge: ClassVar[bool] = True

    def leaves_out(self, column: Pairs, parameters: PairCounts) -> BoolArray:
        """Return which rows have a gap, or a value never seen, in either column."""
        u, v = pair_places(column, parameters)
        return (u < 0) | (v < 0)

    @property
    def is_likelihood(self) -> bool:
        """Return False: it is a ratio."""
        return False

    def formula(self, block: Block, value: Any, parameters: PairCounts) -> str:
        """Return what the factor is of a row: a ratio."""
        alone = f"P({assigned(block, (*[None] * (len(value) - 1), value[-1]))} | class)"
        return f"{super().formula(block, value, parameters)} / {alone}"

    def sample(self, parameters: PairCounts, y: CodeArray, rng: Rng) -> AnyArray:
        """Refuse: a ratio is no distribution."""
        raise NoLikelihoodError(
            "An edge is a ratio of probabilities, of which nothing can be drawn; conditional can."
        )
