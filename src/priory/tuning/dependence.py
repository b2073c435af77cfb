"""Pairs of columns that depend on each other given the class: naive Bayes counts them twice.

Those that share most are found as for a tree (Chow & Liu 1968), and more of them where there are
more rows. How much more often values come together than if the columns were independent is a term
of its own, from 0 to the whole of it as its weight will have it. It is read out twice, since
neither way is always the better one:

    log (n_abk + m) / (n_ak n_bk / n_k + m)             by counting, whatever the dependence is
    log φ_r(z_a, z_b) / φ(z_a) φ(z_b),  r = r_k         numbers: were their ranks normal

The second is the density of a Gaussian copula with the correlation of the class. It needs no rows
in a cell to tell of it, and so can have cells that are narrow enough for columns that nearly say
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, BoolArray, CodeArray, FloatArray
from priory.families.cuts import even_bins
from priory.kernels.screening import shared_without
from priory.statistics.dealing import FOLDS
from priory.statistics.information import beyond_chance
from priory.tuning.coded import CodedColumn
from priory.tuning.folds import FoldedRows, odds
from priory.tuning.pairs import MOST_CLASSES, MOST_LOOKED_AT, Pair, fits, pair_of, together
from priory.tuning.trees import worthy_edges

__all__ = ["Dependence", "dependences", "most_dependent", "narrower"]

IMAGINED = 2.0
"""So many imagined rows, as many as independence expects, are in each cell of two columns."""

ROWS_OF_A_PAIR, MOST_OF_A_COLUMN = 15, 4
"""Beside those of a tree there are as many pairs as columns, or one for so many rows if those are
more; but not more than so many for each column."""

NARROWER, MOST_NUMBERS = 3, 80_000
"""Cells that need no rows are up to so many times narrower, in either direction, as long as all
pairs together have no more numbers (cells and classes) than this: they are kept with the model."""

MOST_KEPT = 1_500_000
"""So many numbers (cells and classes) all pairs together may have by counts."""

SHARED, UNSURE = 30.0, 5.0
"""A class's correlation is that of all classes until it has about so many rows, and theirs is
doubted as if so many rows had told of none."""

CLOSEST = 0.995
"""No correlation is taken to be closer to 1."""

APART = 0.05
"""So many of the rows are taken to know no dependence, so that one cell far off the line does not
outweigh everything else."""

FARTHEST = 30.0
"""Beyond so many nats no cell is less likely than another."""

ROUNDS = 3
"""How often cells are made to add up to those of each column."""

Ratio = Callable[[FloatArray], FloatArray]
"""Computes the log ratio of each cell from counts, whose first two axes are the columns."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """A pair of columns, without which folds it was chosen, and how its cells are read out."""

    pair: Pair
    without: BoolArray
    ratio: Ratio

    @property
    def is_counted(self) -> bool:
        """Whether it is read out by counts, in the cells that pairs are looked for in."""
        return self.ratio is counted_ratio

    def term(self, rows: FoldedRows) -> tuple[AnyArray, FloatArray]:
        """Compute what it says of each row without its fold, and the log ratios of its cells.

        They are rows × classes (log-odds of two), and cells × classes. Where a pair was not chosen
        without a fold, that is told nothing.
        """
        a, b = (column.size for column in self.pair.columns)
        codes, K = self.pair.codes, rows.n_classes
        known = codes >= 0
        at = codes[known].astype(np.int64) * (FOLDS * K) + rows.place[known]
        counted = np.bincount(at, rows.own[known], a * b * FOLDS * K)
        taken = counted.reshape(a, b, FOLDS, K)
        total = taken.sum(axis=2)
        left = self.ratio(np.maximum(total[:, :, None] - taken, 0.0)) * self.without[:, None]
        said = odds(left.reshape(a * b, FOLDS, K))
        of_rows = np.where(known[:, None], said[codes, rows.fold], 0.0)
        return of_rows.astype(np.float32), self.ratio(total).reshape(a * b, K)


def dependences(
    rows: FoldedRows,
    columns: Sequence[CodedColumn],
    codes: Sequence[CodeArray],
    room: int,
) -> list[Dependence]:
    """Find the pairs that share most given the class, by counts, and those of numbers by ranks too.

    They are chosen on all rows, and again without each fold: rows are told only of pairs
    that were chosen without them. There is `room` for so many terms.
    """
    if len(columns) < 2:
        return []
    most = min(most_dependent(len(columns), float(rows.own.sum())), room // 2 - len(columns))
    counted = _counted(rows, columns, codes, max(most, 0))
    of_numbers = [one for one in counted if all(c.edges is not None for c in one.pair.columns)]
    if not of_numbers or rows.n_classes > MOST_CLASSES:
        return counted
    bins = even_bins(len(rows))
    bins *= narrower(rows.n_classes, len(of_numbers), bins)
    finer: dict[int, tuple[CodedColumn, CodeArray]] = {}
    for place in sorted({place for one in of_numbers for place in one.pair.places}):
        block = columns[place].block
        column = CodedColumn.of(block, rows.statistics.tables[block.name], bins)
        finer[place] = column, column.codes(rows.frame)
    ranked = []
    for one in of_numbers:
        (a, of_a), (b, of_b) = (finer[place] for place in one.pair.places)
        pair = Pair((a, b), together(of_a, of_b, b.size), one.pair.places, one.pair.share)
        ranked.append(Dependence(pair, one.without, normal_ratio))
    return [*counted, *ranked]


def _counted(
    rows: FoldedRows,
    columns: Sequence[CodedColumn],
    codes: Sequence[CodeArray],
    most: int,
) -> list[Dependence]:
    """Find the pairs of a tree, and so many more of those that share most."""
    K, some = rows.n_classes, slice(0, MOST_LOOKED_AT)
    sizes, own = [column.size for column in columns], rows.own[some]
    told = np.full((FOLDS + 1, len(sizes), len(sizes)), -np.inf)
    pairs = [p for p in combinations(range(len(sizes)), 2) if fits(columns, p)]
    given = rows.place[some], own, FOLDS, K
    looked_at = [code[some] for code in codes]

    def share(pair: tuple[int, int]) -> FloatArray:
        i, j = pair
        return shared_without(looked_at[i], looked_at[j], sizes[i], sizes[j], *given)

    every = in_parallel([partial(share, pair) for pair in pairs], thread_count())
    for (i, j), shares in zip(pairs, every, strict=True):
        told[:, i, j] = told[:, j, i] = shares
    n_rows = float(own.sum())
    found = [_chosen(beyond_chance(of_fold, sizes, K), most) for of_fold in told]
    numbers = np.cumsum([sizes[i] * sizes[j] * K for i, j in found[-1]])
    return [
        Dependence(
            pair_of(columns, codes, p, told[-1][p] / n_rows),
            np.array([p in of_fold for of_fold in found[:-1]]),
            counted_ratio,
        )
        for p in found[-1][: int((numbers <= MOST_KEPT).sum())]
    ]


def most_dependent(n_columns: int, n_rows: float) -> int:
    """Tell how many pairs there may be beside those of a tree.

    >>> most_dependent(10, 100), most_dependent(10, 300), most_dependent(10, 1e6)
    (10, 20, 40)
    """
    wanted = round(n_rows, 6) / ROWS_OF_A_PAIR  # weights may add up to a hair less
    return int(np.clip(wanted, n_columns, MOST_OF_A_COLUMN * n_columns))


def _chosen(told: FloatArray, most: int) -> list[tuple[int, int]]:
    """Choose the pairs of the heaviest tree, and so many more at most."""
    tree = [(min(pair), max(pair)) for pair in worthy_edges(told)]
    rest = np.triu(told, 1)
    for edge in tree:
        rest[edge] = 0.0
    order = np.argsort(-rest, axis=None, kind="stable")[:most]
    more = [divmod(place, len(told)) for place in order[rest.flat[order] > 0].tolist()]
    return [*tree, *more]


def narrower(n_classes: int, n_pairs: int, bins: int) -> int:
    """Tell how many times narrower cells that need no rows are than bins of columns.

    >>> narrower(2, 30, 8), narrower(4, 50, 8), narrower(26, 80, 8)
    (3, 2, 1)
    """
    return int(np.clip(np.sqrt(MOST_NUMBERS / (n_classes * n_pairs)) / bins, 1, NARROWER))


def counted_ratio(n: FloatArray) -> FloatArray:
    """Compare counts with those of independent columns.

    >>> n = np.array([[8.0, 2.0], [2.0, 8.0]])
    >>> counted_ratio(n).round(3).tolist()  # log (8 + 2) / (5 + 2), log (2 + 2) / (5 + 2)
    [[0.357, -0.56], [-0.56, 0.357]]
    """
    expected = _independent(n)
    return np.log((n + IMAGINED) / (expected + IMAGINED))


def normal_ratio(n: FloatArray) -> FloatArray:
    """Compare what a normal dependence of the ranks expects with independent columns.

        −½ log(1 − r²) − (r² (z_a² + z_b²) − 2 r z_a z_b) / 2 (1 − r²)

    z is the normal score of a cell's middle among the ranks of its class, and r the correlation of
    the scores; the last axis of the counts are the classes. Cells are then made to add up to those
    of each column (Deming & Stephan 1940).

    >>> n = np.array([[8.0, 2.0], [2.0, 8.0]])[:, :, None].repeat(2, axis=2)
    >>> normal_ratio(n)[:, :, 0].round(1).tolist()
    [[0.2, -0.3], [-0.3, 0.2]]
    """
    of_a, of_b = n.sum(axis=1), n.sum(axis=0)
    z_a, z_b = _normal_scores(of_a), _normal_scores(of_b)
    spread = np.sqrt((of_a * z_a**2).sum(axis=0) * (of_b * z_b**2).sum(axis=0))
    shared = np.einsum("ab...,a...,b...->...", n, z_a, z_b)
    every = shared.sum(axis=-1, keepdims=True) / (spread.sum(axis=-1, keepdims=True) + UNSURE)
    r = np.clip((shared + SHARED * every) / (spread + SHARED), -CLOSEST, CLOSEST)
    a, b = z_a[:, None], z_b[None]
    bent = np.minimum((r**2 * (a**2 + b**2) - 2 * r * a * b) / (2 * (1 - r**2)), FARTHEST)
    expected = _independent(n + 1e-3)
    of_a, of_b = (expected.sum(axis=axis, keepdims=True) for axis in (1, 0))
    together = expected * np.exp(-bent)
    for _ in range(ROUNDS):
        together *= of_a / together.sum(axis=1, keepdims=True)
        together *= of_b / together.sum(axis=0, keepdims=True)
    return np.log((1 - APART) * together / expected + APART)


def _independent(n: FloatArray) -> FloatArray:
    """Expect as many in each cell as there would be if the columns were independent."""
    of_a, of_b = n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True)
    every = of_a.sum(axis=0, keepdims=True)
    return np.asarray(of_a * of_b / np.where(every > 0, every, 1.0))


def _normal_scores(n: FloatArray) -> FloatArray:
    """Compute the normal score of the middle of each cell of a column: of its mean rank."""
    from scipy.special import ndtri

    rank = np.cumsum(n, axis=0) - n / 2 + 0.5 / len(n)
    return np.asarray(ndtri(np.clip(rank / (n.sum(axis=0) + 1.0), 1e-4, 1 - 1e-4)))
