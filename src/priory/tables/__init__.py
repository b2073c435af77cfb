"""Tables of plain sums per class, one class of table for each kind of column.

A table knows nothing of families, priors or predictions. Its life is: `count` some rows,
then `+`, `-`, `*` with other tables of the same column. Beside each float `weight` stands the
integer number of `rows` behind it: when rows reach zero the entry is gone, exactly, whatever
the rounding of the weights.
"""

from __future__ import annotations

from priory.schema import Kind
from priory.tables.base import Table
from priory.tables.cells import CellsTable
from priory.tables.counts import CountsTable
from priory.tables.labels import LabelsTable
from priory.tables.moments import MomentsTable
from priory.tables.numbers import NumbersTable
from priory.tables.pairs import PairsTable
from priory.tables.scatter import ScatterTable
from priory.tables.words import WordsTable

__all__ = [
    "TABLES",
    "CellsTable",
    "CountsTable",
    "LabelsTable",
    "MomentsTable",
    "NumbersTable",
    "PairsTable",
    "ScatterTable",
    "Table",
    "WordsTable",
]

TABLES: dict[Kind, type[Table]] = {
    Kind.LABELS: LabelsTable,
    Kind.NUMBERS: NumbersTable,
    Kind.MOMENTS: MomentsTable,
    Kind.COUNTS: CountsTable,
    Kind.SCATTER: ScatterTable,
    Kind.WORDS: WordsTable,
    Kind.JOINT: LabelsTable,  # of combinations
    Kind.PAIRS: PairsTable,
}
"""The table of each kind that is counted."""
