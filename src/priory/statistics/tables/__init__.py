"""Tables of plain sums per class, one class of table for each kind of column.

A table knows nothing of families, priors or predictions. Its life is: `count` some rows,
then `+`, `-`, `*` with other tables of the same column. Beside each float `weight` stands the
integer number of `rows` behind it: when rows reach zero the entry is gone, exactly, whatever
the rounding of the weights. The tables of texts, pairs and matrices are imported when they are
first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer
from priory.data.schema import Kind
from priory.statistics.tables.base import Table
from priory.statistics.tables.cells import CellsTable
from priory.statistics.tables.labels import LabelsTable
from priory.statistics.tables.moments import MomentsTable
from priory.statistics.tables.numbers import NumbersTable

if TYPE_CHECKING:
    from priory.statistics.tables.counts import CountsTable
    from priory.statistics.tables.pairs import PairsTable
    from priory.statistics.tables.scatter import ScatterTable
    from priory.statistics.tables.words import WordsTable

__all__ = [
    "CellsTable",
    "CountsTable",
    "LabelsTable",
    "MomentsTable",
    "NumbersTable",
    "PairsTable",
    "ScatterTable",
    "Table",
    "WordsTable",
    "table_type",
]

_LATER = {
    "CountsTable": "counts",
    "PairsTable": "pairs",
    "ScatterTable": "scatter",
    "WordsTable": "words",
}
_OF_KIND = {
    Kind.LABELS: "LabelsTable",
    Kind.NUMBERS: "NumbersTable",
    Kind.MOMENTS: "MomentsTable",
    Kind.COUNTS: "CountsTable",
    Kind.SCATTER: "ScatterTable",
    Kind.WORDS: "WordsTable",
    Kind.JOINT: "LabelsTable",  # of combinations
    Kind.PAIRS: "PairsTable",
}


__getattr__ = importer(globals(), _LATER)


def table_type(kind: Kind) -> type[Table]:
    """Find the table of a kind that is counted.

    >>> table_type(Kind.NUMBERS).__name__
    'NumbersTable'
    """
    name = _OF_KIND[kind]
    found: type[Table] = globals().get(name) or __getattr__(name)
    return found
