"""Sampled rows in the types of the training data: integers, booleans, dates, categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from priory.base.errors import InputError
from priory.base.typing import AnyArray, FloatArray
from priory.data.schema import Block, Kind, Schema
from priory.statistics.statistics import Statistics

__all__ = ["as_learned", "column_types", "is_integer", "like_table"]

DAY = 86_400


def as_learned(columns: Mapping[str, AnyArray], statistics: Statistics) -> dict[str, AnyArray]:
    """Convert sampled columns to the NumPy types of the training data.

    Integers with missing values stay floats: NumPy's integers cannot be missing.
    """
    blocks = _blocks(statistics.schema)
    return {
        name: _as_learned(values, blocks[name], statistics.tables.get(blocks[name].name))
        for name, values in columns.items()
    }


def is_integer(column: str, statistics: Statistics) -> bool:
    """Tell whether all numbers of a column in the training data are known to be integers."""
    block = _blocks(statistics.schema)[column]
    return _holds_integers(block, statistics.tables.get(block.name))


def _blocks(schema: Schema) -> dict[str, Block]:
    """Find the block of each column; its own before those of pairs."""
    blocks: dict[str, Block] = {}
    for block in sorted(schema.blocks, key=lambda block: block.pairing is not None):
        for column in block.columns:
            blocks.setdefault(column, block)
    return blocks


def _as_learned(values: AnyArray, block: Block, table: Any) -> AnyArray:
    if block.kind is Kind.LABELS:
        return _labels(values, table.labels)
    if block.kind is Kind.COUNTS:
        return _rounded(values) if _holds_integers(block, table) else values
    if block.kind is not Kind.NUMBERS:
        return values
    numbers = values.astype(np.float64)
    if block.why.startswith("date"):
        if _all_cells(table, lambda x: x % DAY == 0):
            return (numbers / DAY).round().astype("datetime64[D]")
        return _microseconds(numbers).astype("datetime64[us]")
    if block.why.startswith("duration"):
        return _microseconds(numbers).astype("timedelta64[us]")
    keeps = block.why == "integer" or (block.why == "numbers" and _holds_integers(block, table))
    return _rounded(numbers) if keeps else numbers


def _holds_integers(block: Block, table: Any) -> bool:
    if block.kind is Kind.COUNTS:
        return bool((table.s1 == np.floor(table.s1)).all())
    if block.kind is not Kind.NUMBERS:
        return False
    return block.why == "integer" or _all_cells(table, lambda x: x == np.floor(x))


def _all_cells(table: Any, holds: Callable[[FloatArray], Any]) -> bool:
    """Test every number; only cells of level 0 still know them."""
    cells = table.cells
    return cells.level == 0 and len(cells.keys) > 0 and bool(np.all(holds(cells.values)))


def _rounded(numbers: AnyArray) -> AnyArray:
    numbers = np.rint(numbers)
    return numbers if np.isnan(numbers).any() else numbers.astype(np.int64)


def _microseconds(seconds: FloatArray) -> AnyArray:
    missing = np.isnan(seconds)
    whole = np.rint(np.where(missing, 0.0, seconds) * 1e6).astype(np.int64)
    return np.where(missing, np.iinfo(np.int64).min, whole)  # NaT


def _labels(values: AnyArray, labels: tuple[Any, ...]) -> AnyArray:
    """Convert labels to an array of their common type, if they have one."""
    types = {bool if isinstance(v, bool) else type(v) for v in labels}
    if types == {int} and values.dtype == bool:  # booleans that were 0 and 1 in the training data
        return values.astype(np.int64)
    if values.dtype != object or any(value is None for value in values.tolist()):
        return values
    if types in ({int}, {bool}):
        try:
            return np.array(values.tolist(), dtype=np.int64 if types == {int} else np.bool_)
        except OverflowError:  # beyond 64 bits
            return values
    return values


# Tables of the kind of the training data


def column_types(X: Any) -> dict[str, Any] | None:
    """List the types of the columns, in the terms of the library; None if there are none."""
    module = type(X).__module__.partition(".")[0]
    if module == "pandas" and hasattr(X, "dtypes") and X.ndim == 2:
        return {
            str(name): "date" if _holds_dates(X[name]) else dtype
            for name, dtype in zip(X.columns, X.dtypes, strict=True)
            if not hasattr(X[name], "columns")
        }
    if module == "polars" and hasattr(X, "collect_schema"):
        return dict(X.collect_schema())
    if module == "pyarrow" and hasattr(X, "schema"):
        return {field.name: field.type for field in X.schema}
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return {f"x{i}": X.dtype for i in range(X.shape[1])}
    return None


def _holds_dates(series: Any) -> bool:
    """Tell whether a column of objects holds dates without a time."""
    from datetime import date, datetime

    if series.dtype != object or not len(series):
        return False
    first = series.dropna()
    return (
        len(first) > 0
        and isinstance(first.iloc[0], date)
        and not isinstance(first.iloc[0], datetime)
    )


def like_table(
    columns: Mapping[str, AnyArray],
    container: str,
    types: Mapping[str, Any] | None,
    statistics: Statistics,
) -> Any:
    """Make a table of sampled columns, of the kind and the types of the training data."""
    types = types or {}
    if container == "pandas":
        import pandas as pd

        return pd.DataFrame(
            {name: _pandas(values, types.get(name)) for name, values in columns.items()}
        )
    if container in ("arrow", "polars"):
        import pyarrow as pa

        of_arrow = types if container == "arrow" else {}
        arrays = {
            name: _arrow(values, of_arrow.get(name), is_integer(name, statistics), name)
            for name, values in columns.items()
        }
        table = pa.table(arrays)
        return table if container == "arrow" else _polars(table, types)
    array = np.column_stack(list(columns.values()))
    dtype = next(iter(types.values()), array.dtype)
    return _cast(array, dtype) if array.dtype.kind in "iu" else array


def _pandas(values: AnyArray, dtype: Any) -> Any:
    """Make a Series of a type, or of the nearest type with missing values."""
    import pandas as pd

    series: Any = pd.Series(values)
    if dtype is None:
        return series
    if isinstance(dtype, str):  # dates without a time
        return series.astype("datetime64[us]").dt.date.astype(object)
    if isinstance(dtype, pd.CategoricalDtype):
        known = {str(category): category for category in dtype.categories}
        found = [known.get(str(value), value) for value in values.tolist()]
        return pd.Series(pd.Categorical(found, dtype=dtype))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return series.dt.tz_localize("UTC").dt.tz_convert(dtype.tz).astype(dtype)
    if dtype == np.dtype(object):
        return series.astype(object)
    if series.isna().any() and isinstance(dtype, np.dtype) and dtype.kind in "iub":
        return series.astype("boolean" if dtype.kind == "b" else "Int64")
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        return pd.Series(_cast(values, dtype))
    try:
        return series.astype(dtype)
    except (TypeError, ValueError):  # values of other batches may not fit
        return series


def _cast(values: AnyArray, dtype: Any) -> AnyArray:
    """Cast to an integer type, clipped to its range."""
    if np.dtype(dtype).kind not in "iu":
        return values.astype(dtype)
    ends = np.iinfo(dtype)
    return np.clip(values, ends.min, ends.max).astype(dtype)


def _arrow(values: AnyArray, kind: Any, whole: bool, name: str) -> Any:
    """Make an Arrow array of a type."""
    import pyarrow as pa

    if kind is not None and pa.types.is_integer(kind) and values.dtype.kind in "if":
        ends = np.iinfo(kind.to_pandas_dtype())
        values = np.clip(values, ends.min, ends.max)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"Column {name!r} has values of several types, which Arrow does not support: {error}. "
            "Use classifier_.sample, which returns arrays by column."
        ) from None
    if kind is None:
        is_float = pa.types.is_floating(array.type)
        return array.cast(pa.int64()) if whole and is_float else array
    return _to_arrow_type(array, kind)


def _to_arrow_type(array: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    t = pa.types
    if t.is_dictionary(kind):
        return array.cast(kind.value_type, safe=False).dictionary_encode().cast(kind)
    if t.is_decimal(kind):
        return pc.round(array, kind.scale).cast(kind, safe=False)
    if t.is_time(kind):
        return array.cast(pa.int64()).cast(pa.time64("us")).cast(kind, safe=False)
    try:
        return array.cast(kind, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return array


def _polars(table: Any, types: Mapping[str, Any]) -> Any:
    """Convert an Arrow table to a polars DataFrame, its columns to their types."""
    import polars as pl

    frame: Any = pl.from_arrow(table)
    made = []
    for series in frame.get_columns():
        dtype = types.get(series.name)
        zone = getattr(dtype, "time_zone", None)
        if zone is not None:
            series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        if dtype is not None and dtype.is_integer() and series.dtype.is_numeric():
            series = series.clip(dtype.min(), dtype.max()) if len(series) else series
        made.append(series if dtype is None else series.cast(dtype, strict=False))
    return pl.DataFrame(made)
