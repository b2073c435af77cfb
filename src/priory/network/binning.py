"""Measurements: numbers of which hardly two are the same, put into bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.base.labels import count_codes
from priory.data.columns import Labels, Numbers
from priory.data.rawtables import open_table
from priory.data.schema import Block, Kind
from priory.families.cuts import even_cuts
from priory.families.histogram import bin_names
from priory.statistics.tables import CellsTable

__all__ = ["Bins", "binned", "is_measured"]

MOST_FRACTIONS, MOST_INTEGERS = 10, 20
"""So many different numbers may be labels in any case: fractions, and integers."""


class Bins(Labels):
    """Hold a column of measurements by the bins that they fall into, from the least up."""

    @classmethod
    def of(cls, column: Labels) -> Bins:
        """Cut about n^¼ bins of equal frequency, five to eight, as the classifier does."""
        values = np.array([*column.labels, np.nan], dtype=np.float64)[column.codes]
        everything = np.zeros(len(values), dtype=np.int32)
        block = Block("", ("",), Kind.NUMBERS, "measured")
        numbers = Numbers(values.reshape(-1, 1))
        cuts = even_cuts(CellsTable.count(block, numbers, everything, None, 1))
        codes = np.searchsorted(cuts, values, side="left").astype(np.int8)
        codes[np.isnan(values)] = -1
        return cls(codes, bin_names(cuts))


def is_measured(column: Labels) -> bool:
    """Tell whether labels are measurements.

    They are numbers, and more than ten different ones with fractions, or more than twenty
    integers that make up more than half as many as there are rows.
    """
    labels = column.labels
    if len(labels) <= MOST_FRACTIONS or any(isinstance(v, str | bool) for v in labels):
        return False
    counts = count_codes(column.codes, len(labels))
    seen = int(np.count_nonzero(counts))
    if any(isinstance(value, float) for value in labels):
        return seen > MOST_FRACTIONS
    return seen > max(MOST_INTEGERS, 0.5 * float(counts.sum()))


def binned(data: Any) -> dict[str, Any]:
    """Put every column of measurements into bins, and leave the others as they are.

    The bins hold about the same number of rows, n^¼ of them but at least five and at most eight,
    as where the classifier counts numbers together. Their names tell their ends, and they are in
    order. The result is a dict of columns.

    >>> from priory import JointTable
    >>> table = JointTable.from_data(binned({"x": [i / 7 for i in range(50)]}))
    >>> table.values["x"][:2], table.p("x <= '(1.35714, 2.78571]'")
    (('(-inf, 1.35714]', '(1.35714, 2.78571]'), 0.4)
    """
    import pyarrow as pa

    raw = open_table(data)
    result = {}
    for name in raw.names:
        values = raw.get(raw.places[name])
        column = raw.column(name, values).column
        if isinstance(column, Numbers):
            try:
                labels = column.as_labels()
            except InputError as error:
                raise InputError(f"Column {name!r}: {error}") from None
            if is_measured(labels):
                bins = Bins.of(labels)
                indices = pa.array(bins.codes, mask=bins.codes < 0)
                values = pa.DictionaryArray.from_arrays(indices, list(bins.labels), ordered=True)
        result[name] = values
    return result
