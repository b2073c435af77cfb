"""What is learned beyond the weights of factors: corrections of columns, and of pairs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from priory.base.typing import CodeArray, FloatArray
from priory.data.pairing import Pairing
from priory.data.schema import Block, Kind
from priory.families.correction import CorrectionParameters
from priory.families.cuts import even_bins
from priory.kernels.additive import log_loss_residuals, sum_cells
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable
from priory.tuning.additive import CERTAINTY, Best, Cells, Problem, best_fit, softmax
from priory.tuning.coded import CodedColumn
from priory.tuning.folds import FoldedRows
from priory.tuning.interactions import interacting_pairs
from priory.tuning.pairs import MOST_CLASSES, Pair

__all__ = [
    "MOST_CORRECTED",
    "Corrected",
    "coded_columns",
    "correct",
    "correction_of",
    "pair_columns",
    "pair_corrections",
]

FEWEST_BINS, MOST_BINS = 8, 64
"""A column of numbers is corrected in about √n / 2 bins, but not fewer and not more."""

MOST_LABELS = 300
"""So many of its labels, the commonest, a column is corrected for."""

MOST_PAIRED = 60
"""Columns of more labels are in no pair: too few rows would share two of them."""

MOST_CORRECTED = 100
"""So many columns are corrected: those whose cells leave most unexplained."""

MOST_PARAMETERS = 400_000
"""So many numbers (cells and classes) may be learned."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """Corrections of columns and pairs, and the scores of rows that they were learned without."""

    columns: tuple[tuple[Block, CorrectionParameters], ...]
    pairs: tuple[tuple[Pair, FloatArray], ...]
    """Scores of the cells of each pair, cells × classes."""
    scores: FloatArray
    """The scores of all rows, each corrected by what was learned without it."""


def coded_columns(
    statistics: Statistics, names: Sequence[str], bins: int, most_labels: int
) -> list[CodedColumn]:
    """Code the single columns of labels and numbers among some blocks."""
    found = []
    for name in names:
        block, table = statistics.schema[name], statistics.tables[name]
        if block.pairing is None and isinstance(table, LabelsTable | NumbersTable):
            column = CodedColumn.of(block, table, bins, most_labels)
            if column.size > 1 and block.kind in (Kind.LABELS, Kind.NUMBERS):
                found.append(column)
    return found


def pair_columns(
    rows: FoldedRows, losses: Mapping[str, float], most: int = MOST_CORRECTED
) -> list[CodedColumn]:
    """Code the columns that may be in pairs, of many those that tell most by themselves."""
    names = sorted(losses, key=lambda name: losses[name])[:most]
    kept = [name for name in losses if name in set(names)]
    found = coded_columns(rows.statistics, kept, even_bins(len(rows)), MOST_PAIRED + 1)
    return [column for column in found if column.size <= MOST_PAIRED]


def correct(
    rows: FoldedRows,
    offset: FloatArray,
    names: Sequence[str],
    paired: Sequence[CodedColumn],
    codes: Sequence[CodeArray],
    dependent: Sequence[Pair] = (),
) -> Corrected:
    """Correct columns by their cells, then pairs of columns.

    `offset` is each row's score under weights that were learned without its fold. `names` are the
    blocks that may be corrected, `paired` the columns that may be so in pairs, with their `codes`.
    """
    S = offset.shape[1]
    columns, best = _columns(rows, offset, names)
    corrections: list[tuple[Block, CorrectionParameters]] = []
    if best.v is not None:
        offset = best.scores
        ends = np.cumsum([column.size for column in columns])[:-1]
        for column, scores in zip(columns, np.split(best.v, ends), strict=True):
            corrections.append(correction_of((column,), of_classes(scores)))
    pairs: list[tuple[Pair, FloatArray]] = []
    if len(paired) > 1 and S <= MOST_CLASSES:
        chosen = interacting_pairs(paired, codes, offset, rows.y, rows.weight)
        known = {pair.places for pair in chosen}
        chosen = _few([*chosen, *(pair for pair in dependent if pair.places not in known)], S)
        if chosen:
            cells = [Cells(pair.codes, pair.size) for pair in chosen]
            best = best_fit(Problem(offset, rows.y, rows.weight, cells), rows.fold)
            if best.v is not None:
                offset = best.scores
                ends = np.cumsum([pair.size for pair in chosen])[:-1]
                pairs = list(zip(chosen, np.split(best.v, ends), strict=True))
    return Corrected(tuple(corrections), tuple(pairs), offset)


def _columns(
    rows: FoldedRows, offset: FloatArray, names: Sequence[str]
) -> tuple[list[CodedColumn], Best]:
    """Choose the columns to be corrected, and learn how."""
    S = offset.shape[1]
    bins = int(np.clip(np.sqrt(len(rows)) / 2, FEWEST_BINS, MOST_BINS))
    columns = coded_columns(rows.statistics, names, bins, MOST_LABELS)
    cells = [
        Cells(column.codes(rows.frame), column.size, column.edges is not None) for column in columns
    ]
    certainty = CERTAINTY
    if len(cells) > MOST_CORRECTED:
        certainty *= 2  # they are chosen by looking at the rows that they are judged by
        gains = _gains(rows, offset, cells)
        kept = np.sort(np.argsort(-gains, kind="stable")[:MOST_CORRECTED]).tolist()
        columns, cells = [columns[j] for j in kept], [cells[j] for j in kept]
    if not cells or sum(block.size for block in cells) * S > MOST_PARAMETERS:
        return [], Best(None, offset)
    return columns, best_fit(Problem(offset, rows.y, rows.weight, cells), rows.fold, certainty)


def _gains(rows: FoldedRows, offset: FloatArray, cells: Sequence[Cells]) -> FloatArray:
    """Find by how much the cells of each column would lower the loss, to second order."""
    p = softmax(offset)
    wrong = np.ascontiguousarray(offset, dtype=np.float64).copy()
    log_loss_residuals(wrong, rows.y, rows.weight.copy())
    both = np.ascontiguousarray(np.hstack([wrong, rows.weight[:, None] * p * (1.0 - p)]))
    found = []
    for block in cells:
        sums = np.zeros((block.size, both.shape[1]))
        sum_cells(np.ascontiguousarray(block.codes[:, None]), both, sums)
        slope, bend = np.split(sums, 2, axis=1)
        found.append(float(((slope**2 - bend) / (bend + 1.0)).sum()) / 2)
    return np.array(found)


def _few(pairs: list[Pair], n_scores: int) -> list[Pair]:
    """Keep the first pairs, as long as they have not too many cells."""
    sizes = np.cumsum([pair.size for pair in pairs]) * n_scores
    return [pair for pair, size in zip(pairs, sizes, strict=True) if size <= MOST_PARAMETERS]


def of_classes(scores: FloatArray) -> FloatArray:
    """Give the scores of each class: of log-odds, half for one class and half against the other."""
    return scores if scores.shape[-1] > 1 else np.concatenate([-scores / 2, scores / 2], axis=-1)


def correction_of(
    columns: Sequence[CodedColumn], scores: FloatArray, why: str = ""
) -> tuple[Block, CorrectionParameters]:
    """Make the block of one or two columns that are corrected, and the scores of its cells."""
    names = tuple(column.block.name for column in columns)
    pairing = Pairing("correction", tuple(column.edges for column in columns), ())
    block = Block(" × ".join(names), names, Kind.PAIRS, why, None, pairing)
    sizes = tuple(column.size for column in columns)
    labels = tuple(column.values for column in columns)
    return block, CorrectionParameters(labels, scores.reshape(*sizes, scores.shape[-1]))


def pair_corrections(
    dependent: Sequence[tuple[Pair, FloatArray]], interacting: Sequence[tuple[Pair, FloatArray]]
) -> list[tuple[Block, CorrectionParameters]]:
    """Make one correction of each pair of columns, whatever it was let in for."""
    found: dict[tuple[int, int], list[tuple[Pair, FloatArray]]] = {}
    why: dict[tuple[int, int], dict[str, None]] = {}
    for pair, scores in dependent:
        found.setdefault(pair.places, []).append((pair, scores))
        said = f"they share {pair.share / np.log(2.0):.2g} bits given the class"
        why.setdefault(pair.places, {})[said] = None
    for pair, scores in interacting:
        found.setdefault(pair.places, []).append((pair, of_classes(scores)))
        said = f"together they explain {pair.share / np.log(2.0):.2g} bits more"
        why.setdefault(pair.places, {})[said] = None
    made = []
    for places, several in found.items():
        columns = max((pair for pair, _ in several), key=lambda pair: pair.size).columns
        every = [pair.scores_in(columns, scores) for pair, scores in several]
        made.append(correction_of(columns, np.sum(every, axis=0), "; ".join(why[places])))
    return made
