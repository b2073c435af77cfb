"""One face for pandas, polars, Arrow, NumPy, scipy.sparse and plain Python tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from priory.base.errors import InputError, SchemaError, listing
from priory.base.parallel import in_parallel, worthwhile
from priory.base.typing import AnyArray, Label
from priory.data.columns import Labels
from priory.data.gaps import tidied
from priory.data.natural import LONE, Natural, float_array, lists_values, natural, with_surrogate

__all__ = ["RawTable", "open_table"]


@dataclass(frozen=True, eq=False)
class RawTable:
    """Give the columns of any table by name.

    `matrix` is the table as one array or sparse matrix, where it is one. `of_rows` says that it was
    given row by row, by keys: what no row has is missing in all of them. `tidy` strips blanks from
    strings, of which an empty one is missing.
    """

    names: tuple[str, ...]
    n_rows: int
    named: bool
    get: Callable[[int], Any]
    matrix: Any = None
    of_rows: bool = False
    tidy: bool = False
    _seen: dict[str, Natural] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.places) < len(self.names):
            twice = [name for name in self.places if self.names.count(name) > 1]
            raise SchemaError(
                f"Column {listing(twice)} stands more than once; give each column its own name."
            )
        if (broken := with_surrogate(self.names)) is not None:
            raise SchemaError(f"The name of column {self.names[broken]!r} holds {LONE}; rename it.")
        if not self.names and not self.of_rows:
            raise InputError(
                f"Found array with 0 feature(s) (shape=({self.n_rows}, 0)) while a minimum of 1 "
                "is required."
            )

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The position of each column."""
        return {name: i for i, name in enumerate(self.names)}

    def column(self, name: str, values: Any = None) -> Natural:
        """Read a column in its natural form, from `values` where they are known already."""
        if name not in self._seen:
            found = self.get(self.places[name]) if values is None else values
            self._seen[name] = _tidied(natural(found, name)) if self.tidy else natural(found, name)
        return self._seen[name]

    def declared(self, name: str) -> tuple[Label, ...]:
        """List the values that the type of a column declares, with rows or without.

        pandas' categoricals do, polars' enums and Arrow's dictionaries; others are not read here.

        >>> import pandas as pd
        >>> open_table({"x": pd.Categorical(["a"], ["a", "b"]), "z": ["a"]}).declared("x")
        ('a', 'b')
        """
        if name not in self._seen:
            values = self.get(self.places[name])
            if not lists_values(values):
                return ()
            self.column(name, values)
        column, why, _ = self._seen[name]
        lists = isinstance(column, Labels) and why.endswith(("category", "categories"))
        return column.labels if lists else ()  # type: ignore[union-attr]

    def order(self, name: str) -> tuple[Label, ...]:
        """List the values of a column whose type declares their order, least first.

        >>> import pandas as pd
        >>> open_table({"x": pd.Categorical(["a"], ["b", "a"], ordered=True)}).order("x")
        ('b', 'a')
        """
        return self._seen[name].order if self.declared(name) else ()

    def read_columns(self, names: Sequence[str]) -> None:
        """Bring columns into their natural form, several at a time where that is sooner."""
        unread = [name for name in names if name not in self._seen]
        threads = worthwhile(self.n_rows * len(unread))
        in_parallel([partial(self.column, name) for name in unread], threads)


def open_table(X: Any) -> RawTable:
    """Open any table in memory, to be read by columns."""
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


def _tidied(found: Natural) -> Natural:
    if isinstance(found.column, Labels) and found.why in ("strings", "mixed types"):
        return found._replace(column=tidied(found.column))
    return found


def _name(column: Any) -> str:
    """Name a column; the parts of a name in a MultiIndex are joined by dots.

    >>> _name("a"), _name(("a", "x")), _name(("a", ""))
    ('a', 'a.x', 'a')
    """
    if isinstance(column, tuple):
        return ".".join(str(part) for part in column if part != "")
    return str(column)


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
    """Open rows given as {column: value}; what a row does not have is missing in it."""
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
    """Convert an array of numbers to what the kernels read; None for others."""
    if isinstance(array, np.ma.MaskedArray):
        numbers = _matrix(array.data)
        return None if numbers is None else np.where(np.ma.getmaskarray(array), np.nan, numbers)
    if array.dtype.kind == "f":
        return float_array(array)
    return array.astype(np.float64) if array.dtype.kind in "iub" else None
