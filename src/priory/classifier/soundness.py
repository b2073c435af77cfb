"""What the table of a model file must be, part by part, before it is believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import ModelFileError, listing
from priory.base.labels import are_in_order
from priory.data.arrow import arrow_values
from priory.data.pairing import Pairing
from priory.data.schema import Block, Kind
from priory.statistics.longtable import COLUMNS, SUMS, coded
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CellsTable, LabelsTable, NumbersTable, Table
from priory.statistics.tables.sums import SumsTable

if TYPE_CHECKING:
    import pyarrow as pa

    from priory.statistics.tables import PairsTable, WordsTable

__all__ = [
    "DamageError",
    "TooMuchMemoryError",
    "check_entries",
    "check_numbers",
    "check_order",
    "check_schema",
    "check_statistics",
    "check_types",
]

TEXTS = COLUMNS[:4]
"""The columns of a long table that are texts: dictionaries in Arrow."""


class DamageError(Exception):
    """Something inside of a file is wrong."""


class TooMuchMemoryError(ModelFileError):
    """A file would take more memory than is allowed."""


def check_types(schema: Any) -> None:
    """Refuse columns of other types than are written."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    for name, found in zip(schema.names, schema.types, strict=True):
        wanted = text if name in TEXTS else pa.int64() if name == "rows" else pa.float64()
        if found != wanted:
            raise DamageError(f"column {name!r} has the type {found}")


def check_schema(header: Mapping[str, Any]) -> None:
    """Refuse blocks, classes and columns that do not fit each other."""
    schema, tables, classes = header["schema"], header["tables"], header["classes"]
    columns = schema["columns"]
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise DamageError("its columns have no names")
    if not isinstance(classes, list) or not all(isinstance(token, str) for token in classes):
        raise DamageError("its classes are no list of JSON values")
    known, taken, names = set(columns), set[str](), set[str]()
    if len(known) < len(columns):
        raise DamageError("two columns have one name")
    for block in schema["blocks"]:
        of_block = block["columns"]
        if not (isinstance(block["name"], str) and isinstance(block["why"], str)):
            raise DamageError("a block has no name")
        if not isinstance(of_block, list) or not of_block or not known.issuperset(of_block):
            raise DamageError(f"block {block['name']!r:.60} is of columns that are not there")
        together = "pairing" in block  # of columns that have blocks of their own as well
        if block["name"] in names or not (together or taken.isdisjoint(of_block)):
            raise DamageError(f"block {block['name']!r:.60} stands twice")
        if len(of_block) > 1 and not Kind(block["kind"]).is_of_several:
            raise DamageError(f"block {block['name']!r:.60} has several columns")
        if together:
            _check_pairing(block)
        elif block["kind"] == Kind.PAIRS:
            raise DamageError(f"block {block['name']!r:.60} does not say which pairs it counts")
        else:
            taken.update(of_block)
        names.add(block["name"])
        if Kind(block["kind"]).is_counted and not isinstance(tables.get(block["name"]), dict):
            raise DamageError(f"block {block['name']!r:.60} has no table")


def _check_pairing(block: Mapping[str, Any]) -> None:
    pairing, name = Pairing.from_dict(block["pairing"]), f"block {block['name']!r:.60}"
    if not len(pairing.edges) == len(block["columns"]) == len(set(block["columns"])):
        raise DamageError(f"{name} has bins of other columns")
    if block["kind"] != (Kind.JOINT if pairing.use == "joint" else Kind.PAIRS):
        raise DamageError(f"{name} is counted as {block['kind']!r:.40}")


def check_numbers(table: pa.Table) -> None:
    """Refuse sums that no rows could have."""
    for name in ("rows", *SUMS):
        if table[name].null_count:
            raise DamageError(f"column {name!r} has missing values")
    rows = arrow_values(table["rows"], np.int64)
    if len(rows) and (rows.min() < 0 or rows.max() > 2**53):
        raise DamageError("a number of rows is negative or beyond belief")
    for name in SUMS:
        if not np.isfinite(arrow_values(table[name], np.float64)).all():
            raise DamageError(f"column {name!r} holds a number that is not finite")
    for name in SUMS[::2]:
        hi, lo = (arrow_values(table[part], np.float64) for part in (name, f"{name}_lo"))
        if (np.abs(lo) > np.spacing(np.abs(hi))).any():
            raise DamageError(f"a sum of {name!r} has a second part that is larger than rounding")
    if (arrow_values(table["weight"], np.float64) < 0).any():
        raise DamageError("a weight is negative")


def check_entries(table: pa.Table, header: Mapping[str, Any], allowed: int) -> None:
    """Refuse sums that stand twice or belong to nothing, and tables too large for the memory."""
    codes = {}
    for name in TEXTS:
        found, strings = coded(table[name])
        codes[name] = found.astype(np.int64) + 1
        if name != "block" and len(found) and found.min() < 0:
            raise DamageError(f"column {name!r} has missing values")
        if name == "block":
            names = strings.to_pylist()
            strange = set(names) - {block["name"] for block in header["schema"]["blocks"]}
            if strange:
                raise DamageError(
                    f"there are sums of a block {listing(strange, 1)} it does not know"
                )
    order = np.lexsort([codes[name] for name in ("class", "key", "part", "block")])
    changes = {name: np.diff(found[order]) != 0 for name, found in codes.items()}
    new_key = changes["block"] | changes["part"] | changes["key"]
    if not (new_key | changes["class"]).all():
        raise DamageError("a sum stands twice")
    # Words keep a sum only for the classes they occur in; the other tables are dense.
    blocks = header["schema"]["blocks"]
    of_words = {block["name"] for block in blocks if block["kind"] == Kind.WORDS}
    sparse = np.array([False, *(block in of_words for block in names)])[codes["block"][order]]
    keys = int((new_key & ~sparse[1:]).sum()) + 1
    # Rows, weights and the temporaries of reading: five numbers for each class and key.
    n_classes, needed = len(header["classes"]), 40 * len(header["classes"]) * keys
    needed += 200 * int(sparse.sum())
    for block in header["schema"]["blocks"]:
        d = len(block["columns"]) if Kind(block["kind"]).is_of_several else 1
        needed += 80 * n_classes * (d * d if block["kind"] == Kind.SCATTER else d)
    if needed > allowed:
        raise TooMuchMemoryError(
            f"would take about {needed / 2**20:,.0f} MB of memory, more than the "
            f"{allowed / 2**20:,.0f} allowed. If you trust it: load(path, max_memory={needed})."
        )


def check_statistics(statistics: Statistics) -> None:
    """Refuse tables that no counting could have made."""
    check_order(statistics.classes, "classes")
    if statistics.n_rows and not 0 < statistics.weight.sum() < np.inf:
        raise DamageError("the weights of its classes add up to nothing, or to more than 1e308")
    for block in statistics.schema.counted:
        _check_table(statistics.tables[block.name], block)
        if statistics.classes:
            _check_totals(statistics, block)


SLACK = 1e-3
"""By so much of a class's weight, or 1e-6 of all, rounding may let a sum exceed it: rows that were
learned and forgotten leave the rounding of their weights behind. Numbers of rows are exact."""


def _check_totals(statistics: Statistics, block: Block) -> None:
    """Refuse sums that are more than those of the class, and sums of squares below zero."""
    name, table = f"column {block.name!r:.60}", statistics.tables[block.name]
    most = statistics.weight * (1 + SLACK) + 1e-6 * statistics.weight.sum()
    for rows, weight in _counted(table, block.kind):
        if (rows.reshape(len(most), -1) > statistics.rows[:, None]).any():
            raise DamageError(f"{name} was counted in more rows than its class has")
        if not (weight.reshape(len(most), -1) <= most[:, None]).all():
            raise DamageError(f"{name} has more weight than its class")
    there: Any = table.moments if isinstance(table, NumbersTable) else table
    if isinstance(there, SumsTable):
        if ((there.rows > 0) & (there.weight <= 0)).any():
            raise DamageError(f"rows of {name} have no weight")
        allowed = 1e-8 * there.passed + 1e-24 * np.abs(there.raw_squares) + 1e-299
        with np.errstate(over="ignore", invalid="ignore"):
            if not ((there.passed >= 0) & (there.squares >= -allowed)).all():
                raise DamageError(f"the sum of squares of {name} is less than it can be")
    if block.kind is Kind.SCATTER:
        _check_scatter(there, name)
    if block.kind is Kind.COUNTS and not (there.s1 >= 0).all():
        raise DamageError(f"a sum of counts of {name} is negative")


def _check_scatter(table: Any, name: str) -> None:
    """Refuse products of columns that no rows have: as correlations they are no such matrix."""
    scatter, squares = table.scatter, table.squares
    if not (table.s2.hi == np.swapaxes(table.s2.hi, 1, 2)).all():
        raise DamageError(f"the products of {name} depend on their order")
    scale = np.where(squares > 0, squares, np.inf)
    ridge = 1.0 + 1e-6 + 1e-7 * table.passed / scale  # what rounding may have left
    for of_class, root, diagonal in zip(scatter, np.sqrt(scale), ridge, strict=True):
        correlations = of_class / np.outer(root, root)
        np.fill_diagonal(correlations, diagonal)
        try:
            np.linalg.cholesky(correlations)
        except np.linalg.LinAlgError:
            raise DamageError(f"the products of {name} are more than its squares allow") from None


def _counted(table: Any, kind: Kind) -> Iterator[tuple[Any, Any]]:
    """Give the rows and weights that are at most those of the class: by class, or class × key."""
    if isinstance(table, NumbersTable):
        yield table.moments.rows, table.moments.weight
        yield from _counted(table.cells, kind)
    elif isinstance(table, LabelsTable | CellsTable):
        yield table.rows.sum(axis=1), table.weight.sum(axis=1)
    elif kind is Kind.PAIRS:
        for start, end in pairwise(table.starts.tolist()):
            yield table.rows[:, start:end].sum(axis=1), table.weight[:, start:end].sum(axis=1)
        yield table.pair_rows, table.pair_weight
    elif kind is Kind.WORDS:
        yield table.documents, table.documents_weight
        rows, weight = np.zeros(table.n_classes, dtype=np.int64), np.zeros(table.n_classes)
        np.maximum.at(rows, table.pairs.label, table.pairs.rows)
        np.maximum.at(weight, table.pairs.label, table.pairs.weight)
        yield rows, weight
    else:
        yield table.rows, table.weight
        if kind is Kind.COUNTS:
            yield table.documents, table.documents_weight


def _check_table(table: Table, block: Block) -> None:
    name = block.name
    if isinstance(table, LabelsTable):
        check_order(table.labels, f"values of column {name!r:.60}")
        wanted = {len(block.columns) if block.kind is Kind.JOINT else 0}
        found = {0} if table.labels else set()
        if tuple in set(map(type, table.labels)):
            found = {len(v) if isinstance(v, tuple) else 0 for v in table.labels}
        if found - wanted:
            raise DamageError(f"a value of {name!r:.60} is not of its columns")
    there: Any = table
    if block.kind is Kind.WORDS:
        _check_words(there, name)
    if block.kind is Kind.PAIRS:
        for column, labels in zip(block.columns, there.labels, strict=True):
            check_order(labels, f"values of column {column!r:.60} in {name!r:.60}")
    if block.pairing is not None:
        _check_bins(there, block.pairing, name)
    cells = table.cells if isinstance(table, NumbersTable) else table
    if isinstance(cells, CellsTable):
        if not 0 <= cells.level <= 62 or not (cells.keys[:-1] < cells.keys[1:]).all():
            raise DamageError(f"the cells of column {name!r:.60} overlap")
        most = 2 ** (63 - cells.level)
        if len(cells.keys) and not -most <= cells.keys[0] <= cells.keys[-1] < most:
            raise DamageError(f"a cell of column {name!r:.60} is beyond all numbers")


def _check_bins(table: PairsTable | LabelsTable, pairing: Pairing, name: str) -> None:
    for j, ends in enumerate(pairing.edges):
        if ends is not None:
            bins = range(len(ends) - 1)
            values = _parts(table, j) if isinstance(table, LabelsTable) else table.labels[j]
            if any(type(v) is not int or v not in bins for v in values):
                raise DamageError(f"a bin of {name!r:.60} is none of those it has")


def _parts(table: LabelsTable, j: int) -> list[Any]:
    return [combination[j] for combination in table.labels]


def _check_words(table: WordsTable, name: str) -> None:
    if table.dropped.shape != (table.n_classes,) or not (table.dropped >= 0).all():
        raise DamageError(f"the words dropped of column {name!r:.60} are no numbers of words")
    if not np.isfinite(table.dropped).all():
        raise DamageError(f"the words dropped of column {name!r:.60} are beyond belief")
    if (table.pairs.count < 0).any() or (table.pairs.log_tf < 0).any():
        raise DamageError(f"a word of column {name!r:.60} stands less often than never")


def _each_part(label: Any) -> tuple[Any, ...]:
    return label if isinstance(label, tuple) else (label,)


def check_order(labels: tuple[Any, ...], what: str) -> None:
    """Refuse labels that are none, or not in their order."""
    if not set(map(type, labels)) <= {bool, int, float, str}:
        for part in (part for label in labels for part in _each_part(label)):
            if not isinstance(part, bool | int | float | str):
                raise DamageError(f"the {what} hold {part!r:.40}, which is no label")
    if not are_in_order(labels):
        raise DamageError(f"the {what} are not in order")
