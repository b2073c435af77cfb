"""One column of any kind in its natural form: labels or numbers, by its type alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime, time
from typing import Any, NamedTuple

import numpy as np

from priory.base.errors import InputError
from priory.base.typing import AnyArray, Label
from priory.data.arrow import arrow_nulls, arrow_values
from priory.data.columns import Column, Labels, Numbers
from priory.kernels.labels import encode_integers, encode_objects
from priory.kernels.strings import encode_fixed_strings, encode_strings

__all__ = ["LAST_SECOND", "Natural", "float_array", "lists_values", "natural", "with_surrogate"]

EXACT = 2**53
"""Integers up to this size are exact in a float64."""

MISSING = ("NAType", "NaTType")
"""The types of pandas that stand for a missing value, by name: pandas may not be there."""

SURROGATE = re.compile("[\ud800-\udfff]")
LONE = "half of a surrogate pair, which is no character"

LAST_SECOND = 9.2e12
"""Beyond it, in the year 293,508, lies what PostgreSQL and DuckDB send for an infinite date."""

DATE, DURATION = "date, in seconds since 1970", "duration, in seconds"
ORDERED = "ordered categories"
"""Why a column of categories is labels that have an order of their own."""


class Natural(NamedTuple):
    """Say what a column is by its type alone: labels or numbers, and why.

    `order` is that of categories whose order was declared, from the least to the greatest.
    """

    column: Column
    why: str
    order: tuple[Label, ...] = ()


def natural(values: Any, name: str) -> Natural:
    """Read one column in its natural form, from any kind of array or sequence."""
    if len(shape := getattr(values, "shape", ())) > 1:
        raise InputError(f"{name!r} must be one-dimensional, but has shape {shape}.")
    # Nobody has masked arrays without having loaded their module, which takes a while.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):
        return _natural_masked(values, name)
    module = type(values).__module__.partition(".")[0]
    if module == "pandas":
        return _natural_pandas(values, name)
    if module == "pyarrow":
        return _natural_arrow(values, name)
    if hasattr(values, "__arrow_c_stream__"):
        import pyarrow as pa

        return _natural_arrow(pa.chunked_array(values), name)
    if not isinstance(values, np.ndarray):
        if hasattr(values, "__array__"):
            values = np.asarray(values)
        elif isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
            raise InputError(
                f"{name!r} must be a sequence with a value for each row, not {values!r:.50}, "
                f"of type {type(values).__name__}."
            )
        else:
            objects = np.empty(len(values), dtype=object)
            objects[:] = list(values)
            values = objects
    if values.ndim != 1:
        raise InputError(f"{name!r} must be one-dimensional, but has shape {values.shape}.")
    return _natural_numpy(values, name)


def with_surrogate(strings: Sequence[Any]) -> int | None:
    """Find the first string that cannot be written as UTF-8, if there is one.

    Such strings come from bytes that were decoded wrongly. No file, terminal or other program can
    take them.
    """
    try:
        "".join(strings).encode()  # all at once: it is hardly ever there
    except TypeError:  # labels of other types are among them
        places = [i for i, string in enumerate(strings) if isinstance(string, str)]
        found = with_surrogate([strings[i] for i in places])
        return None if found is None else places[found]
    except UnicodeEncodeError:
        return next(i for i, string in enumerate(strings) if SURROGATE.search(string))
    return None


def float_array(array: AnyArray) -> AnyArray:
    """Give floats as the kernels read them."""
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)


def _natural_masked(array: Any, name: str) -> Natural:
    """Read a column in which what is masked is missing, whatever stands below the mask."""
    mask = np.ma.getmaskarray(array)
    found = natural(array.filled(None) if array.dtype.kind == "O" else array.data, name)
    if not mask.any():
        return found
    if isinstance(found.column, Numbers):
        values = found.column.values
        return found._replace(
            column=Numbers(np.where(mask[:, None], values.dtype.type(np.nan), values))
        )
    column = found.column.as_labels()
    codes = np.where(mask, column.codes.dtype.type(-1), column.codes)
    return found._replace(column=Labels(codes, column.labels))


def _natural_numpy(array: AnyArray, name: str) -> Natural:
    kind = array.dtype.kind
    if kind == "f":
        return Natural(Numbers(float_array(array).reshape(-1, 1)), "float")
    if kind in "iu":
        return _natural_integers(array)
    if kind == "b":
        return Natural(Labels(array.view(np.int8), (False, True)), "boolean")
    if kind in "Mm":
        seconds = array.astype(f"{kind}8[us]").astype(np.int64) / 1e6
        seconds[np.isnat(array)] = np.nan
        return Natural(Numbers(seconds.reshape(-1, 1)), DATE if kind == "M" else DURATION)
    if kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if kind == "U":
        native = np.require(array, array.dtype.newbyteorder("="), "A")
        return _natural_labels(*encode_fixed_strings(native), name)
    if kind in "OT":
        return _natural_objects(array.astype(object), name)
    raise InputError(
        f"Column {name!r} has the type {array.dtype}, which cannot be read. "
        "Turn it into strings or numbers."
    )


def _natural_integers(array: AnyArray) -> Natural:
    """Read integers; as labels where a float64 would round them, such as huge ids."""
    if array.itemsize == 8 and len(array) and (array.max() > EXACT or array.min() < -EXACT):
        whole = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
        codes, distinct = encode_integers(whole.view(np.int64))
        return Natural(Labels(codes, tuple(distinct.view(whole.dtype).tolist())), "integer")
    return Natural(Numbers(array.astype(np.float64).reshape(-1, 1)), "integer")


def _natural_objects(array: AnyArray, name: str) -> Natural:
    try:
        codes, labels = encode_objects(array)
    except TypeError as error:
        value = array[error.args[0]]
        if value is np.ma.masked:
            return _natural_objects(_without_masked(array), name)
        if type(value).__name__ == "Period" and hasattr(value, "start_time"):
            return _natural_periods(array, name)
        if _is_time(value):
            return _natural_dates(array, name)
        hint = (
            "Lists and other collections must be spread over columns of their own"
            if hasattr(value, "__len__") and not isinstance(value, bytes)
            else "Turn it into strings or numbers"
        )
        raise InputError(
            f"Column {name!r} holds {value!r:.100}, of type {type(value).__name__}, in row "
            f"{error.args[0]}; values must be numbers, strings, booleans or dates. {hint}."
        ) from None
    return _natural_labels(codes, labels, name)


def _without_masked(array: AnyArray) -> AnyArray:
    objects = np.empty(len(array), dtype=object)
    objects[:] = [None if value is np.ma.masked else value for value in array.tolist()]
    return objects


def _natural_periods(array: AnyArray, name: str) -> Natural:
    """Read periods of time as the date on which each begins."""
    import pandas as pd

    try:
        return _natural_pandas(pd.Series(pd.PeriodIndex(array)), name)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Column {name!r} mixes periods with other values, or with others of another "
            f"frequency: {error}"
        ) from None


def _natural_dates(array: AnyArray, name: str) -> Natural:
    """Read objects of Python's datetime; a day among points in time is its first moment."""
    import pyarrow as pa

    values = [None if _is_missing(value) else _plain_time(value) for value in array.tolist()]
    other = [i for i, value in enumerate(values) if value is not None and not _is_time(value)]
    if other:
        raise InputError(
            f"Column {name!r} mixes dates with other values: row {other[0]} holds "
            f"{values[other[0]]!r:.60}. Make all of them dates."
        )
    if any(isinstance(value, datetime) for value in values):
        values = [
            datetime.combine(value, time()) if type(value) is date else value for value in values
        ]
    try:
        return _natural_arrow(pa.array(values, from_pandas=True), name)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(f"Column {name!r} mixes dates with other values: {error}") from None


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or value is np.ma.masked
        or bool(type(value).__name__ in MISSING or value != value)
    )


def _plain_time(value: Any) -> Any:
    """Convert a date or duration of NumPy to one of Python, to the microsecond."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    return value.astype("timedelta64[us]").item() if isinstance(value, np.timedelta64) else value


def _is_time(value: Any) -> bool:
    return (
        isinstance(value, np.datetime64 | np.timedelta64)
        or hasattr(value, "isoformat")
        or hasattr(value, "total_seconds")
    )


def _natural_labels(codes: AnyArray, labels: Sequence[Label], name: str) -> Natural:
    """Make labels, or numbers where every label is a number."""
    if (broken := with_surrogate(labels)) is not None:
        row = int(np.argmax(codes == broken))
        raise InputError(
            f"Column {name!r} holds {labels[broken]!r:.60} in row {row}, {LONE}. Decode the data "
            "anew, or replace it: value.encode('utf-8', 'replace').decode()."
        )
    types = {str if isinstance(v, str) else bool if isinstance(v, bool) else float for v in labels}
    if types == {float} and all(-EXACT <= v <= EXACT for v in labels if isinstance(v, int)):
        numbers = np.array([*map(float, labels), np.nan])
        return Natural(Numbers(numbers[codes].reshape(-1, 1)), "numbers")
    names = {str: "strings", bool: "boolean", float: "numbers"}
    why = names[types.pop()] if len(types) == 1 else "mixed types"
    return Natural(Labels(codes, tuple(labels)), why)


def _natural_pandas(series: Any, name: str) -> Natural:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _natural_numpy(series.to_numpy(), name)
    values = getattr(series, "array", series)  # it may be an array by itself
    if hasattr(dtype, "categories"):
        return _coded(values.codes, values.categories.to_numpy(dtype=object), dtype.ordered)
    if hasattr(values, "to_timestamp"):  # a period of time is the date on which it begins
        return _natural_pandas(values.to_timestamp(), name)
    if getattr(dtype, "storage", "") == "python":  # a column of Python's own strings
        return _natural_objects(values.to_numpy(dtype=object), name)
    import pyarrow as pa

    try:
        return _natural_arrow(pa.array(series, from_pandas=True), name)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return _natural_objects(np.asarray(series, dtype=object), name)


def lists_values(values: Any) -> bool:
    """Say whether the type of a column declares its values, without a look at them."""
    dtype = getattr(values, "dtype", None)
    in_arrow = type(values).__module__.startswith("pyarrow")
    arrow = values.type if in_arrow else getattr(dtype, "pyarrow_dtype", None)
    return hasattr(dtype, "categories") or hasattr(arrow, "index_type")


def _coded(codes: AnyArray, categories: AnyArray, ordered: bool = False) -> Natural:
    """Read a dictionary-encoded column; categories of other types become strings."""
    try:
        places, labels = encode_objects(categories)
    except TypeError:
        places, labels = encode_objects(np.array([str(c) for c in categories], dtype=object))
    # Categories are distinct, so their places count up, but for those that mean missing.
    if len(labels) < len(places) or codes.dtype.kind != "i":
        codes = np.append(places, np.int32(-1)).astype(np.int32)[codes]
    column = Labels(codes, tuple(labels))
    types = {type(label) for label in labels}
    why = "boolean" if types == {bool} else "category"
    return Natural(column, why) if not ordered else Natural(column, ORDERED, column.labels)


def _natural_arrow(array: Any, name: str) -> Natural:
    import pyarrow as pa
    import pyarrow.compute as pc

    t, kind = pa.types, array.type
    if t.is_dictionary(kind):
        array = _one_chunk(array)
        indices = array.indices
        if pa.types.is_unsigned_integer(indices.type):
            indices = indices.cast(pa.int64())
        codes = indices.fill_null(-1) if indices.null_count else indices
        categories = np.array(array.dictionary.to_pylist(), dtype=object)
        return _coded(codes.to_numpy(zero_copy_only=False), categories, kind.ordered)
    if t.is_boolean(kind):
        codes = arrow_values(array.cast(pa.int8()), np.int8)
        if array.null_count:
            codes = np.where(arrow_nulls(array), np.int8(-1), codes)
        return Natural(Labels(codes, (False, True)), "boolean")
    if t.is_integer(kind) and kind.bit_width == 64 and _beyond_exact(array):
        encoded = _natural_arrow(pc.dictionary_encode(array), name)
        return Natural(encoded.column, "integer")
    if t.is_integer(kind) or t.is_floating(kind):
        why = "integer" if t.is_integer(kind) else "float"
        return Natural(Numbers(float_array(_arrow_floats(array)).reshape(-1, 1)), why)
    if t.is_decimal(kind):
        return Natural(Numbers(_arrow_floats(array.cast(pa.float64())).reshape(-1, 1)), "decimal")
    if t.is_temporal(kind) and not t.is_interval(kind):
        return _natural_temporal(array, kind)
    if t.is_null(kind):
        return Natural(
            Labels(np.full(len(array), -1, dtype=np.int32), ()), "every value is missing"
        )
    if t.is_string(kind) or t.is_large_string(kind) or kind == pa.string_view():
        bits = 0 if kind == pa.string_view() else 32 if t.is_string(kind) else 64
        pieces = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        codes, labels = encode_strings([(bits, len(p), p.offset, p.buffers()) for p in pieces])
        return Natural(Labels(codes, tuple(labels)), "strings")
    hint = (
        "Spread it over columns of its own"
        if t.is_nested(kind)
        else "Cast it to numbers or strings"
    )
    raise InputError(f"Column {name!r} has the type {kind}, which cannot be read. {hint}.")


def _one_chunk(array: Any) -> Any:
    import pyarrow as pa

    if not isinstance(array, pa.ChunkedArray):
        return array
    array = array.unify_dictionaries()
    return array.combine_chunks() if array.num_chunks else pa.array([], array.type)


def _natural_temporal(array: Any, kind: Any) -> Natural:
    import pyarrow as pa

    t = pa.types
    if t.is_date(kind):
        array, kind = array.cast(pa.timestamp("s")), pa.timestamp("s")
    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
    whole = array.cast(pa.int32() if t.is_time32(kind) else pa.int64())
    seconds = _arrow_floats(whole).astype(np.float64) / per_second
    if not t.is_timestamp(kind):
        return Natural(Numbers(seconds.reshape(-1, 1)), DURATION)
    seconds[np.abs(seconds) > LAST_SECOND] = np.inf
    return Natural(Numbers(seconds.reshape(-1, 1)), DATE)


def _beyond_exact(array: Any) -> bool:
    import pyarrow.compute as pc

    ends = pc.min_max(array).as_py()
    return ends["max"] is not None and (ends["max"] > EXACT or ends["min"] < -EXACT)


def _arrow_floats(array: Any) -> AnyArray:
    """Convert an Arrow array of numbers to floats, nulls to NaN."""
    import pyarrow as pa

    if pa.types.is_integer(array.type) or pa.types.is_float16(array.type):
        array = array.cast(pa.float64(), safe=False)
    numbers = arrow_values(array, np.float32 if pa.types.is_float32(array.type) else np.float64)
    return np.where(arrow_nulls(array), np.nan, numbers) if array.null_count else numbers
