"""One face for pandas, polars, Arrow, NumPy, scipy.sparse and plain Python tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from priory.base.errors import InputError, SchemaError, listing
from priory.base.parallel import in_parallel, worthwhile
from priory.base.typing import AnyArray, Label
from priory.data.arrow import arrow_gaps, arrow_values
from priory.data.columns import Column, Labels, Numbers, Strings, Texts
from priory.kernels.labels import encode_integers, encode_objects
from priory.kernels.strings import encode_fixed_strings, encode_strings
from priory.kernels.text import Splitter, text_sizes

__all__ = ["Natural", "RawTable", "natural", "open_table", "texts"]

EXACT = 2**53
"""Whole numbers up to this size are exact in a float64."""

GAPS = ("NAType", "NaTType")
"""The types of pandas that stand for a gap, by name: pandas may not be there."""

SURROGATE = re.compile("[\ud800-\udfff]")

ORDERED = "ordered categories"
"""Why a column of categories is labels that have an order of their own."""


class Natural(NamedTuple):
    """Say what a column is by its type alone: labels or numbers, and why.

    `order` is that of categories whose order was declared, from the least to the greatest.
    """

    column: Column
    why: str
    order: tuple[Label, ...] = ()


@dataclass(frozen=True, eq=False)
class RawTable:
    """Give the columns of any table by name.

    `matrix` is the table as one array or sparse matrix, where it is one. `of_rows` says that it was
    given row by row, by keys: what no row names is a gap in all of them.
    """

    names: tuple[str, ...]
    n_rows: int
    named: bool
    get: Callable[[int], Any]
    matrix: Any = None
    of_rows: bool = False
    _seen: dict[str, Natural] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.places) < len(self.names):
            twice = [name for name in self.places if self.names.count(name) > 1]
            raise SchemaError(
                f"Column {listing(twice)} stands more than once; give each column its own name."
            )
        if (broken := _with_surrogate(self.names)) is not None:
            raise SchemaError(
                f"The name of column {self.names[broken]!r} holds {_LONE}; rename it."
            )
        if not self.names and not self.of_rows:
            raise InputError(
                f"Found array with 0 feature(s) (shape=({self.n_rows}, 0)) while a minimum of 1 "
                "is required."
            )

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Return the position of each column."""
        return {name: i for i, name in enumerate(self.names)}

    def column(self, name: str, values: Any = None) -> Natural:
        """Return a column in its natural form; whoever has its values already may give them."""
        if name not in self._seen:
            found = self.get(self.places[name]) if values is None else values
            self._seen[name] = natural(found, name)
        return self._seen[name]

    def declared(self, name: str) -> tuple[Label, ...]:
        """Return the values that the type of a column lists, with rows or without.

        pandas' categoricals do, polars' enums and Arrow's dictionaries; others are not read here.

        >>> import pandas as pd
        >>> open_table({"x": pd.Categorical(["a"], ["a", "b"]), "z": ["a"]}).declared("x")
        ('a', 'b')
        """
        if name not in self._seen:
            values = self.get(self.places[name])
            if not _lists_values(values):
                return ()
            self.column(name, values)
        column, why, _ = self._seen[name]
        lists = isinstance(column, Labels) and why.endswith(("category", "categories"))
        return column.labels if lists else ()  # type: ignore[union-attr]

    def read_columns(self, names: Sequence[str]) -> None:
        """Bring columns into their natural form, several at a time where that is sooner."""
        unread = [name for name in names if name not in self._seen]
        threads = worthwhile(self.n_rows * len(unread))
        in_parallel([partial(self.column, name) for name in unread], threads)


def open_table(X: Any) -> RawTable:
    """Return any table in memory by its columns."""
    if isinstance(X, RawTable):
        return X
    module = type(X).__module__.partition(".")[0]
    if module == "pandas" and hasattr(X, "iloc"):
        if X.ndim == 1:
            raise InputError(
                "X is a Series, which may be one row or one column of a table. Give a row as "
                "df.iloc[[0]] or as a dict, a column as df[['name']]."
            )
        return RawTable(tuple(map(_name, X.columns)), len(X), True, lambda i: X.iloc[:, i])
    if module == "scipy" and hasattr(X, "tocsr"):
        return _open_sparse(X)
    if hasattr(X, "__arrow_c_stream__") or module == "pyarrow":
        return _open_arrow(X)
    if isinstance(X, Mapping):
        return _open_mapping(X)
    if isinstance(X, Sequence) and X and all(isinstance(row, Mapping) for row in X):
        return _open_rows(X)
    return _open_array(X)


def _name(column: Any) -> str:
    """Return the name of a column; the parts of a name in a MultiIndex are joined by dots.

    >>> _name("a"), _name(("a", "x")), _name(("a", ""))
    ('a', 'a.x', 'a')
    """
    if isinstance(column, tuple):
        return ".".join(str(part) for part in column if part != "")
    return str(column)


_LONE = "half of a surrogate pair, which is no character"


def _with_surrogate(strings: Sequence[Any]) -> int | None:
    """Return the place of the first string that cannot be written as UTF-8, if there is one.

    Such strings come from bytes that were decoded wrongly. No file, terminal or other program can
    take them.
    """
    try:
        "".join(strings).encode()  # all at once: it is hardly ever there
    except TypeError:  # labels of other types are among them
        places = [i for i, string in enumerate(strings) if isinstance(string, str)]
        found = _with_surrogate([strings[i] for i in places])
        return None if found is None else places[found]
    except UnicodeEncodeError:
        return next(i for i, string in enumerate(strings) if SURROGATE.search(string))
    return None


def natural(values: Any, name: str) -> Natural:
    """Return one column in its natural form, from any kind of array or sequence."""
    if len(shape := getattr(values, "shape", ())) > 1:
        raise InputError(f"{name!r} must be one-dimensional, but has shape {shape}.")
    if isinstance(values, np.ma.MaskedArray):
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


def texts(values: Any, name: str) -> Texts:
    """Return a column of texts; Arrow's are read in place, strings when they are needed."""
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and values.dtype == object:
        return _strings(values.to_numpy().tolist(), name)
    if module in ("pandas", "pyarrow") or hasattr(values, "__arrow_c_stream__"):
        return _encoded_arrow(values, name)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{name!r} must be one-dimensional, but has shape {values.shape}.")
        return _strings(values.tolist(), name)
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        raise InputError(
            f"{name!r} must be a sequence with a text for each row, not {values!r:.50}, of type "
            f"{type(values).__name__}."
        )
    return _strings(list(values), name)


def _strings(values: list[Any], name: str) -> Strings:
    try:
        ends, missing = text_sizes(values)
    except TypeError as error:
        value = values[error.args[0]]
        hint = "decode bytes first" if isinstance(value, bytes) else "turn it into strings"
        raise InputError(
            f"Column {name!r} is read as text, but holds {value!r:.60} in row {error.args[0]}, of "
            f"type {type(value).__name__}; {hint}."
        ) from None
    return Strings(values, ends, missing if missing.any() else None, Splitter())


def _encoded_arrow(values: Any, name: str) -> Texts:
    import pyarrow as pa

    try:
        if type(values).__module__.startswith("pandas"):
            array = pa.array(values, from_pandas=True)
        elif isinstance(values, pa.Array | pa.ChunkedArray):
            array = values
        else:
            array = pa.chunked_array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # lone surrogates have no UTF-8
        return _strings(np.asarray(values, dtype=object).tolist(), name)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_null(kind):
        kind = pa.string()
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()):
        raise InputError(
            f"Column {name!r} is read as text, but has the type {array.type}; turn it into strings."
        )
    if isinstance(array, pa.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)
    if isinstance(array, pa.ChunkedArray):  # several pieces may be more than 32 bits can number
        array = array.cast(pa.large_string()).combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    elif not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        array = array.cast(pa.large_string())
    _, starts, data = array.buffers()
    dtype = np.int32 if pa.types.is_string(array.type) else np.int64
    if starts is None or not len(array):
        offsets = np.zeros(len(array) + 1, dtype=dtype)
    else:
        offsets = np.frombuffer(starts, dtype)[array.offset : array.offset + len(array) + 1]
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return Texts(np.frombuffer(data or b"", np.uint8), offsets, missing, Splitter())


def _open_sparse(X: Any) -> RawTable:
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got {X.ndim}D array instead: a sparse one.")
    matrix = X.tocsr()
    if matrix.dtype.kind == "c":
        raise InputError("Complex data not supported: give real numbers.")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind != "f":
        matrix = matrix.astype(np.float64)
    names = tuple(f"x{i}" for i in range(matrix.shape[1]))

    def column(i: int) -> AnyArray:
        return np.asarray(matrix[:, [i]].todense()).ravel()

    return RawTable(names, matrix.shape[0], False, column, matrix)


def _open_arrow(X: Any) -> RawTable:
    import pyarrow as pa

    if isinstance(X, pa.RecordBatchReader):
        X = X.read_all()
    elif not isinstance(X, pa.Table):
        try:
            X = pa.table(X)
        except (pa.ArrowInvalid, TypeError) as error:
            if hasattr(X, "columns"):
                raise InputError(
                    f"X, of type {type(X).__name__}, cannot be read as an Arrow table: {error}. "
                    "Cast the column at fault to numbers or strings."
                ) from None
            raise InputError(
                f"X is one column, of type {type(X).__name__}, not a table; give it a name: "
                "{'x': X}."
            ) from None
    return RawTable(tuple(X.column_names), X.num_rows, True, X.column)


def _open_rows(rows: Sequence[Mapping[Any, Any]]) -> RawTable:
    """Return rows given as {column: value}; what a row does not name is a gap in it."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    names = tuple(map(_name, keys))
    return RawTable(
        names, len(rows), True, lambda i: [row.get(keys[i]) for row in rows], of_rows=True
    )


def _open_mapping(X: Mapping[Any, Any]) -> RawTable:
    names = tuple(map(_name, X))
    values = list(X.values())
    alone = [isinstance(v, str | bytes) or not _has_length(v) for v in values]
    if all(alone):
        return _open_rows([X])
    if any(alone):
        name = names[alone.index(True)]
        raise InputError(
            f"Column {name!r} is a single value, {values[alone.index(True)]!r:.50}, but others are "
            "sequences; give a value for each row."
        )
    lengths = {name: len(v) for name, v in zip(names, values, strict=True)}
    if len(set(lengths.values())) > 1:
        raise InputError(f"The columns differ in length: {lengths}.")
    return RawTable(names, next(iter(lengths.values()), 0), True, values.__getitem__)


def _has_length(values: Any) -> bool:
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def _open_array(X: Any) -> RawTable:
    array = _to_array(X)
    fields = array.dtype.names
    if fields is not None:
        array = np.atleast_1d(array)  # a single record is one row
        return RawTable(fields, len(array), True, lambda i: array[fields[i]])
    if array.ndim == 0:
        raise InputError(
            f"X is no table: {X!r:.50}, of type {type(X).__name__}. Give a DataFrame, an Arrow "
            "table, a 2D array, a sparse matrix or a dict of columns."
        )
    if array.ndim != 2:
        hint = (
            "Reshape your data with array.reshape(-1, 1) if it has one column, or "
            "array.reshape(1, -1) if it has one row."
            if array.ndim == 1
            else "A table has rows and columns alone."
        )
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead, of shape {array.shape}. {hint}"
        )
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: give real numbers.")
    names = tuple(f"x{i}" for i in range(array.shape[1]))
    return RawTable(names, len(array), False, lambda i: array[:, i], _matrix(array))


def _to_array(X: Any) -> AnyArray:
    if hasattr(X, "collect") and type(X).__name__ == "LazyFrame":
        raise InputError("X is a LazyFrame, which holds no rows yet; give X.collect().")
    if isinstance(X, np.ma.MaskedArray):
        return X  # its columns know what is masked
    if isinstance(X, np.ndarray):
        return np.asarray(X)  # without what np.matrix does to its columns
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(
            f"X cannot be read as a table; its rows must have the same length: {error}"
        ) from None
    if array.dtype.kind in "US":  # a list of mixed rows: NumPy would turn its numbers into strings
        array = np.asarray(X, dtype=object)
    return array


def _matrix(array: AnyArray) -> AnyArray | None:
    """Return the array as the kernels read it, where it holds numbers."""
    if isinstance(array, np.ma.MaskedArray):
        numbers = _matrix(array.data)
        return None if numbers is None else np.where(np.ma.getmaskarray(array), np.nan, numbers)
    if array.dtype.kind == "f":
        return _float_array(array)
    return array.astype(np.float64) if array.dtype.kind in "iub" else None


def _float_array(array: AnyArray) -> AnyArray:
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)


def _natural_masked(array: Any, name: str) -> Natural:
    """Return a column in which what is masked is missing, whatever stands below the mask."""
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
        return Natural(Numbers(_float_array(array).reshape(-1, 1)), "float")
    if kind in "iu":
        return _natural_integers(array)
    if kind == "b":
        return Natural(Labels(array.view(np.int8), (False, True)), "boolean")
    if kind == "M":
        seconds = array.astype("datetime64[us]").astype(np.int64) / 1e6
        seconds[np.isnat(array)] = np.nan
        return Natural(Numbers(seconds.reshape(-1, 1)), "date, in seconds since 1970")
    if kind == "m":
        seconds = array.astype("timedelta64[us]").astype(np.int64) / 1e6
        seconds[np.isnat(array)] = np.nan
        return Natural(Numbers(seconds.reshape(-1, 1)), "duration, in seconds")
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
    """Return whole numbers; as labels where a float64 would round them, such as huge ids."""
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
    """Return periods of time as the date on which each begins."""
    import pandas as pd

    try:
        return _natural_pandas(pd.Series(pd.PeriodIndex(array)), name)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Column {name!r} mixes periods with other values, or with others of another "
            f"frequency: {error}"
        ) from None


def _natural_dates(array: AnyArray, name: str) -> Natural:
    """Return objects of Python's datetime; a day among points in time is its first moment."""
    import pyarrow as pa

    values = [None if _is_gap(value) else _plain_time(value) for value in array.tolist()]
    other = [i for i, value in enumerate(values) if value is not None and not _is_time(value)]
    if other:
        raise InputError(
            f"Column {name!r} mixes dates with other values: row {other[0]} holds "
            f"{values[other[0]]!r:.60}. Make all of them dates."
        )
    if any(isinstance(value, datetime) for value in values):
        values = [_first_moment(value) if type(value) is date else value for value in values]
    try:
        return _natural_arrow(pa.array(values, from_pandas=True), name)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(f"Column {name!r} mixes dates with other values: {error}") from None


def _is_gap(value: Any) -> bool:
    return (
        value is None
        or value is np.ma.masked
        or bool(type(value).__name__ in GAPS or value != value)
    )


def _plain_time(value: Any) -> Any:
    """Return a date or duration of NumPy as one of Python, to the microsecond."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    return value.astype("timedelta64[us]").item() if isinstance(value, np.timedelta64) else value


def _is_time(value: Any) -> bool:
    return (
        isinstance(value, np.datetime64 | np.timedelta64)
        or hasattr(value, "isoformat")
        or hasattr(value, "total_seconds")
    )


def _first_moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


def _natural_labels(codes: AnyArray, labels: Sequence[Label], name: str) -> Natural:
    """Return labels, or numbers where every label is a number."""
    if (broken := _with_surrogate(labels)) is not None:
        row = int(np.argmax(codes == broken))
        raise InputError(
            f"Column {name!r} holds {labels[broken]!r:.60} in row {row}, {_LONE}. Decode the data "
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


def _lists_values(values: Any) -> bool:
    """Return whether a column is of a type that lists its values, without a look at them."""
    dtype = getattr(values, "dtype", None)
    in_arrow = type(values).__module__.startswith("pyarrow")
    arrow = values.type if in_arrow else getattr(dtype, "pyarrow_dtype", None)
    return hasattr(dtype, "categories") or hasattr(arrow, "index_type")


def _coded(codes: AnyArray, categories: AnyArray, ordered: bool = False) -> Natural:
    """Return a dictionary-encoded column; categories of other types become strings."""
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
            codes = np.where(arrow_gaps(array), np.int8(-1), codes)
        return Natural(Labels(codes, (False, True)), "boolean")
    if t.is_integer(kind) and kind.bit_width == 64 and _beyond_exact(array):
        encoded = _natural_arrow(pc.dictionary_encode(array), name)
        return Natural(encoded.column, "integer")
    if t.is_integer(kind) or t.is_floating(kind):
        why = "integer" if t.is_integer(kind) else "float"
        return Natural(Numbers(_float_array(_arrow_floats(array)).reshape(-1, 1)), why)
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
    """Return a dictionary array in one piece, with one dictionary."""
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
    why = "date, in seconds since 1970" if t.is_timestamp(kind) else "duration, in seconds"
    return Natural(Numbers(seconds.reshape(-1, 1)), why)


def _beyond_exact(array: Any) -> bool:
    import pyarrow.compute as pc

    ends = pc.min_max(array).as_py()
    return ends["max"] is not None and (ends["max"] > EXACT or ends["min"] < -EXACT)


def _arrow_floats(array: Any) -> AnyArray:
    """Return an Arrow array of numbers as floats, nulls as NaN."""
    import pyarrow as pa

    if pa.types.is_integer(array.type) or pa.types.is_float16(array.type):
        array = array.cast(pa.float64(), safe=False)
    numbers = arrow_values(array, np.float32 if pa.types.is_float32(array.type) else np.float64)
    return np.where(arrow_gaps(array), np.nan, numbers) if array.null_count else numbers
