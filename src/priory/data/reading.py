"""Read any table in memory: find what its columns are, and bring them into coded form.

`open_table` gives one face to pandas, polars, Arrow, NumPy, scipy.sparse and plain Python; `infer`
says what each column is; `read` codes the columns that a schema asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from priory.base.errors import InputError, SchemaError, did_you_mean, listing
from priory.base.typing import FloatArray
from priory.data.coding import integer_labels
from priory.data.columns import Column, Combined, Counts, Frame, Labels, Numbers
from priory.data.natural import Natural, natural
from priory.data.numerals import labels_to_numbers
from priory.data.pairing import Pairing
from priory.data.rawtables import RawTable, open_table
from priory.data.rows import bins, of_parts, read_row, split_by, together
from priory.data.schema import Block, Kind, Schema, unit_of
from priory.data.texts import texts
from priory.text.analyzer import Analyzer

__all__ = [
    "check_lengths",
    "infer",
    "infer_empty",
    "only_column",
    "open_table",
    "read",
    "read_labels",
    "read_weights",
    "with_pairs",
]

LARGEST_WEIGHT = 1e100
SMALLEST_WEIGHT = 1e-100

IDENTIFIER_ROWS = 1000
"""From so many rows on, a column of strings that never repeat is not even counted."""

UNIQUE = "no string repeats: a unique identifier"
UNIQUE_OR_TEXT = "no string repeats: a unique identifier, or text"
"""Why a column is an identifier; the second where its strings have several words."""


def infer(
    X: Any,
    declared: Mapping[tuple[str, ...], Kind | Analyzer] | None = None,
) -> Schema:
    """Infer what each column is, and why.

    `declared` names the kind of some columns, or of several columns counted as one block; an
    analyzer says that a column holds texts, and what their words are.

    >>> print(infer({"outlook": ["Sunny", "Rain"], "humidity": [85.0, 70.0]}))
    column    kind     family  why
    outlook   labels   –       strings
    humidity  numbers  –       numbers
    """
    raw = open_table(X)
    if not raw.names:
        raise InputError("X has rows without a single key: there is nothing to learn from.")
    declared = dict(declared or {})
    _check_declared(raw, declared)
    block_of = {name: columns for columns in declared for name in columns}
    raw.read_columns([name for name in raw.names if name not in block_of])
    blocks = []
    for name in raw.names:
        columns = block_of.get(name)
        if columns is None:
            blocks.append(_infer_column(raw, name))
        elif columns[0] == name:  # a block of several columns stands where its first column does
            blocks.append(_declared_block(raw, columns, declared[columns]))
    names = [block.name for block in blocks]
    if len(set(names)) < len(names):
        twice = [name for name in names if names.count(name) > 1]
        raise SchemaError(
            f"{twice[0]!r} is both a column and a block of columns; rename the column."
        )
    return _with_values(raw, Schema(raw.names, tuple(blocks), raw.named))


def infer_empty(X: Any, schema: Schema) -> Schema:
    """Infer the kinds of columns that were empty so far in a learned schema.

    A kind that is known stays, whatever type the next batch happens to have; values that its type
    declares are added to those declared before. A column that was not there at first cannot be
    learned any more, and is refused.
    """
    raw = _with_missing(open_table(X), schema)
    strange = [name for name in raw.names if name not in schema.known]
    if strange and raw.named and schema.named:
        raise SchemaError(
            f"Column {listing(strange)} was not there when the model learned; leave it out. "
            f"Columns: {listing(schema.columns)}.{did_you_mean(strange[0], schema.columns)}"
        )
    empty = [block for block in schema if block.kind is Kind.EMPTY]
    if not empty:
        return _with_values(raw, schema)
    source = _match(raw, schema, also=[block.name for block in empty])
    found = {
        block.name: replace(
            _infer_column(raw, source[block.name]), name=block.name, columns=block.columns
        )
        for block in empty
    }
    blocks = tuple(found.get(block.name, block) for block in schema)
    return _with_values(raw, replace(schema, blocks=blocks))


def _with_values(raw: RawTable, schema: Schema) -> Schema:
    """Add the values that the types of a table's columns declare."""
    labels = [block for block in schema if block.kind is Kind.LABELS]
    if not labels:
        return schema
    source = _match(raw, schema)
    declared = {b.name: b.declaring(raw.declared(source[b.columns[0]])) for b in labels}
    if all(declared[block.name] is block for block in labels):
        return schema
    return replace(schema, blocks=tuple(declared.get(block.name, block) for block in schema))


def read(X: Any, schema: Schema) -> Frame:
    """Read the columns that a schema counts, coded.

    Columns that it does not know are not looked at. One that it knows must be there, but for rows
    that are given by keys, where it is missing.
    """
    row = read_row(X, schema) if isinstance(X, Mapping) else None
    if row is not None:
        return row
    raw = _with_missing(open_table(X), schema)
    source = _match(raw, schema)
    labels = [block for block in schema.counted if block.kind in (Kind.LABELS, Kind.JOINT)]
    raw.read_columns([source[name] for block in labels for name in block.columns])
    binned: dict[Any, Labels] = {}  # a column may be in several pairs
    columns = {
        block.name: _read_block(
            raw, schema, block, [source[name] for name in block.columns], binned
        )
        for block in schema.counted
    }
    return Frame(raw.n_rows, columns, _other_units(raw, schema, source))


def _other_units(raw: RawTable, schema: Schema, source: Mapping[str, str]) -> dict[str, str]:
    """Find the columns of numbers that are no longer dates, or have become some, and what."""
    found = {}
    for block in schema.counted:
        if block.kind is Kind.NUMBERS and block.why != "declared":
            given = raw.column(source[block.name])
            is_number = isinstance(given.column, Numbers) or given.why in ("integer", "numbers")
            if is_number and unit_of(given.why) != block.unit and not given.column.missing.all():
                found[block.name] = unit_of(given.why)
    return found


def with_pairs(frame: Frame, schema: Schema) -> Frame:
    """Add the columns that are counted together to a frame of single columns."""
    columns = dict(frame.columns)
    for block in schema.counted:
        if block.pairing is not None:
            columns[block.name] = together(frame.columns, block, block.pairing)
    return Frame(len(frame), columns)


def read_labels(y: Any, name: str = "y") -> Labels:
    """Read the class of each row; a missing one is an error.

    >>> read_labels(["No", "Yes", "No"]).labels
    ('No', 'Yes')
    """
    if isinstance(y, Labels):
        return y.seen()
    y = only_column(y)
    if type(y) is np.ndarray and y.dtype.kind == "i" and y.ndim == 1:
        return integer_labels(y)
    found = natural(y, name)
    column = found.column
    if unit_of(found.why) != "number":
        raise InputError(
            f"{name} holds dates, which are no classes; turn them into names, say by strftime."
        )
    if isinstance(column, Counts):
        raise InputError(f"{name} must be one column of labels, not a matrix")
    coded = _as_labels(column, name)
    if coded.missing.any():
        rows = np.flatnonzero(coded.missing)
        raise InputError(
            f"{name} has {len(rows)} missing labels (NaN or None), the first in row {rows[0]}. "
            "A row can be learned only with its class: leave those rows out."
        )
    return coded.seen()  # a category without rows is no class


def only_column(y: Any) -> Any:
    """Take the column of a table or matrix that has but one; anything else as it is.

    >>> only_column(np.array([["a"], ["b"]])).tolist()
    ['a', 'b']
    """
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or hasattr(y, "tocsr"):
        return y
    if isinstance(y, np.ndarray):
        return y.reshape(-1)
    return open_table(y).get(0)


def read_weights(
    weight: Any,
    n_rows: int,
    name: str = "sample_weight",
    place: Callable[[int], str] = "row {}".format,
) -> FloatArray | None:
    """Read sample weights as float64, or say what is wrong with them, by their name and place.

    Squares of numbers are multiplied by them and added up, and sums divided by sums: weights
    that are very large or very small would overflow or lose their digits on the way.
    """
    if weight is None:
        return None
    if np.ma.is_masked(weight):
        raise InputError(
            f"sample_weight is masked in row {int(np.argmax(np.ma.getmaskarray(weight)))}; give "
            "every row a weight, 0 for a row that does not count."
        )
    try:
        weights = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"sample_weight must be numbers: {error}.") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight must have one number a row: it has shape {weights.shape}, "
            f"the data have {n_rows} rows."
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name} must be finite and at least 0; {place(row)} has {float(weights[row])!r}. "
            "To take rows away, use forget."
        )
    wrong = (weights > LARGEST_WEIGHT) | ((weights < SMALLEST_WEIGHT) & (weights > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name} must be 0 or between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}; {place(row)} "
            f"has {float(weights[row])!r}. Multiply all weights by the same number."
        )
    return np.ascontiguousarray(weights)


def check_lengths(n_rows: int, y: Labels) -> None:
    """Refuse classes that are not one for each row."""
    if len(y) != n_rows:
        raise InputError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows, y has {len(y)}."
        )


def _declared_block(raw: RawTable, columns: tuple[str, ...], kind: Kind | Analyzer) -> Block:
    if kind in (Kind.NUMBERS, Kind.LABELS) and len(columns) == 1:
        _, why, order = raw.column(columns[0])
        if kind is Kind.NUMBERS and unit_of(why) != "number":  # dates are asked for as dates
            return Block(columns[0], columns, kind, why)
        # Categories that are numbers are read as what they are, not by their place.
        if kind is Kind.LABELS or any(isinstance(value, str) for value in order):
            return Block(columns[0], columns, kind, "declared", order=order)
    analyzer = Analyzer() if kind is Kind.WORDS else kind if isinstance(kind, Analyzer) else None
    kind = kind if isinstance(kind, Kind) else Kind.WORDS
    return Block(", ".join(columns), columns, kind, "declared", analyzer)


def _check_declared(raw: RawTable, declared: Mapping[tuple[str, ...], Kind | Analyzer]) -> None:
    seen: set[str] = set()
    for columns in declared:
        for name in columns:
            if name not in raw.places:
                raise SchemaError(_not_found(name, raw.names))
            if name in seen:
                raise SchemaError(
                    f"Column {name!r} is declared twice; it can be in one block only."
                )
            seen.add(name)


def _infer_column(raw: RawTable, name: str) -> Block:
    column, why, order = raw.column(name)
    if isinstance(column, Numbers) or why in ("integer", "numbers"):
        if len(column) and column.missing.all():
            return Block(name, (name,), Kind.EMPTY, "every value is missing")
        return Block(name, (name,), Kind.NUMBERS, why)
    if not isinstance(column, Labels):
        raise SchemaError(f"Column {name!r} is a matrix")
    present = len(column) - int(column.missing.sum())
    if not present:
        return Block(name, (name,), Kind.EMPTY, "every value is missing")
    if why == "strings" and len(column.labels) > present / 2:
        from priory.text.sentences import as_text, text_setting  # a prediction does without

        text = as_text(column.labels)
        if text is not None:
            return Block(name, (name,), Kind.WORDS, text.why, text.analyzer)
        if present >= IDENTIFIER_ROWS and len(column.labels) == present:
            why = UNIQUE_OR_TEXT if text_setting(name, column.labels) else UNIQUE
            return Block(name, (name,), Kind.IDENTIFIER, why)
    return Block(name, (name,), Kind.LABELS, why, order=order)


def _by_name(raw: RawTable, schema: Schema) -> bool:
    """Say whether columns are matched by name, x0, x1, … included, or else by position."""
    return raw.named and (schema.named or schema.known.issuperset(raw.names))


def _with_missing(raw: RawTable, schema: Schema) -> RawTable:
    """Add the columns that no row given by keys has: missing in all of them."""
    if not (raw.of_rows and _by_name(raw, schema)):
        return raw
    absent = tuple(name for name in schema.columns if name not in raw.places)
    strange = [name for name in raw.names if name not in schema.known]
    for name in strange:  # what is misspelt must not count as missing
        if hint := did_you_mean(name, absent):
            raise SchemaError(
                f"Column {name!r} was not there when the model learned.{hint} A column that is "
                "missing on purpose is None."
            )
    if strange and len(strange) == len(raw.names):
        raise SchemaError(_not_found(absent[0], raw.names))
    n, nothing = len(raw.names), [None] * raw.n_rows
    return RawTable(
        raw.names + absent,
        raw.n_rows,
        True,
        lambda i: raw.get(i) if i < n else nothing,
        of_rows=True,
        tidy=raw.tidy,
    )


def _match(raw: RawTable, schema: Schema, also: Sequence[str] = ()) -> Mapping[str, str]:
    """Find which column of the data stands for each column of the schema."""
    if not _by_name(raw, schema):
        if len(raw.names) != len(schema.columns):
            raise SchemaError(
                f"X has {len(raw.names)} features, but priory is expecting {len(schema.columns)} "
                f"features as input: {listing(schema.columns)}."
            )
        return dict(zip(schema.columns, raw.names, strict=True))
    needed = {name for block in schema.counted for name in block.columns} | set(also)
    for name in schema.columns:
        if name in needed and name not in raw.places:
            raise SchemaError(_not_found(name, raw.names))
    return {name: name for name in needed}


def _not_found(name: str, names: Sequence[str]) -> str:
    return (
        f"Column {name!r} was not found. Columns: {listing(names, 10)}.{did_you_mean(name, names)}"
    )


def _read_block(
    raw: RawTable, schema: Schema, block: Block, names: Sequence[str], binned: dict[Any, Labels]
) -> Column:
    if block.pairing is not None:
        return _read_together(raw, schema, block, block.pairing, names, binned)
    if block.analyzer is not None:
        values, is_mail = raw.get(raw.places[names[0]]), block.analyzer.unit == "email"
        return split_by(block.analyzer, texts(values, block.columns[0], is_mail))
    if raw.matrix is not None and block.kind in (Kind.COUNTS, Kind.MOMENTS, Kind.SCATTER):
        whole = raw.matrix
        if tuple(names) != raw.names:
            whole = whole[:, [raw.places[name] for name in names]]
        return Counts.of(whole) if block.kind is Kind.COUNTS else Numbers(whole)
    parts: list[Any] = [
        _as_kind(raw.column(name), block.kind, column, schema)
        for name, column in zip(names, block.columns, strict=True)
    ]
    if block.kind is Kind.JOINT:
        return Combined(tuple(parts))
    if len(parts) == 1 and block.kind is not Kind.COUNTS:
        column: Column = parts[0]
        return column
    matrix = np.concatenate([part.values for part in parts], axis=1)
    if block.kind is Kind.COUNTS and np.isnan(matrix).any():
        row, j = np.argwhere(np.isnan(matrix))[0].tolist()
        raise InputError(
            f"Column {block.columns[j]!r} is one of a block of counts, which has no missing "
            f"values, but is missing in row {row}. Give 0 for what was not counted."
        )
    return Counts.of(matrix) if block.kind is Kind.COUNTS else Numbers(matrix)


def _read_together(
    raw: RawTable,
    schema: Schema,
    block: Block,
    pairing: Pairing,
    names: Sequence[str],
    binned: dict[Any, Labels],
) -> Combined:
    parts = []
    for j, (name, ends) in enumerate(zip(names, pairing.edges, strict=True)):
        if (name, ends) not in binned:
            kind = Kind.LABELS if ends is None else Kind.NUMBERS
            column: Any = _as_kind(raw.column(name), kind, block.columns[j], schema)
            binned[name, ends] = column if ends is None else bins(pairing, j, column)
        parts.append(binned[name, ends])
    return of_parts(block, parts)


def _as_kind(found: Natural, kind: Kind, name: str, schema: Schema) -> Column:
    column = found.column
    if kind in (Kind.LABELS, Kind.JOINT):
        return _as_labels(column, f"Column {name!r}")
    if isinstance(column, Labels):
        return labels_to_numbers(column, name, schema.by_name.get(name))
    return column


def _as_labels(column: Column, name: str) -> Labels:
    try:
        return column.as_labels()
    except InputError as error:
        raise InputError(f"{name}: {error}.") from None
