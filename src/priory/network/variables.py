"""Variables and their values: found by name, and read from any table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from priory.base.errors import ExpressionError, InputError, SettingError, did_you_mean, listing
from priory.base.labels import count_codes, label_array, label_key, sorted_labels
from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, Label
from priory.data.coding import integer_labels
from priory.data.columns import Labels
from priory.data.rawtables import RawTable, open_table
from priory.kernels.labels import narrow_codes

__all__ = [
    "WORTH_A_THREAD",
    "Coded",
    "Domain",
    "Domains",
    "as_label",
    "code_of",
    "declared_domains",
    "domain_of",
    "find_variable",
    "find_variables",
    "label_column",
    "read_coded",
    "true_and_false",
]

Domain: TypeAlias = tuple[Label, ...]
Domains: TypeAlias = Mapping[str, Domain]

WORDS = {"true": True, "yes": True, "false": False, "no": False}
"""Strings that say whether something is so."""

NARROW = 16
STRETCH = 32_768
WORTH_A_THREAD = 20_000
"""So many rows are worth a second thread."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Hold the rows of some variables as codes into their domains; a negative code is a gap."""

    n_rows: int
    domains: Domains
    codes: Mapping[str, AnyArray]
    _gaps: dict[str, bool] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """Return how many values each variable has."""
        return {name: len(domain) for name, domain in self.domains.items()}

    def has_gaps(self, name: str) -> bool:
        """Return whether a variable is missing anywhere; it is looked up once."""
        if name not in self._gaps:
            self._gaps[name] = bool(self.codes[name].min(initial=0) < 0)
        return self._gaps[name]

    @property
    def whole(self) -> AnyArray:
        """Return which rows have no gap."""
        there = np.ones(self.n_rows, dtype=np.bool_)
        for name, codes in self.codes.items():
            if self.has_gaps(name):
                there &= codes >= 0
        return there

    def take(self, rows: Any) -> Coded:
        """Return the rows chosen by an index, a slice or a mask."""
        codes = {name: column[rows] for name, column in self.codes.items()}
        return Coded(len(np.arange(self.n_rows)[rows]), self.domains, codes)


def read_coded(
    data: Any,
    names: Sequence[str] | None = None,
    declared: Domains | None = None,
    fixed: bool | Literal["or a gap"] = False,
    as_they_came: bool = False,
) -> Coded:
    """Return the columns of any table as codes into domains.

    A domain holds the values declared for it, in their order, and others that were seen, sorted; a
    truth always has both of its values. With `fixed` domains a value outside of them is an error,
    or with "or a gap" it is missing.
    Domains `as_they_came` are in any order and may hold values without rows, but cost nothing.

    >>> coded = read_coded({"sky": ["grey", "blue", None], "rain": [True, True, False]})
    >>> coded.domains, coded.codes["sky"].tolist()
    ({'sky': ('blue', 'grey'), 'rain': (False, True)}, [1, 0, -1])
    """
    raw = open_table(data)
    wanted = raw.names if names is None else tuple(names)
    for name in wanted:
        if name not in raw.places:
            raise InputError(
                f"Column {name!r} was not found. Columns: {listing(raw.names, 10)}."
                f"{did_you_mean(name, raw.names)}"
            )
    tasks = [partial(_labels, raw, name) for name in wanted]
    threads = thread_count() if raw.n_rows > WORTH_A_THREAD else 1
    columns = dict(zip(wanted, in_parallel(tasks, threads), strict=True))
    if as_they_came:
        came = {name: column.labels for name, column in columns.items()}
        return Coded(raw.n_rows, came, {name: c.codes for name, c in columns.items()})
    domains, codes = {}, {}
    for name, column in columns.items():
        known = (declared or {}).get(name, ())
        domains[name], codes[name] = _coded(column, name, known, fixed)
    return Coded(raw.n_rows, domains, codes)


def _labels(raw: RawTable, name: str) -> Labels:
    """Return a column as labels, whole numbers by the shortest way, codes in a byte if they fit."""
    values = raw.get(raw.places[name])
    if getattr(getattr(values, "dtype", None), "kind", "") == "i" and hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind == "i" and values.ndim == 1:
        return _integers(values)
    try:
        column = raw.column(name, values).column.as_labels()
    except InputError as error:
        raise InputError(f"Column {name!r}: {error}") from None
    if len(column.labels) < 128 and column.codes.dtype != np.int8:
        return Labels(column.codes.astype(np.int8), column.labels)
    return column


def _integers(values: AnyArray) -> Labels:
    """Return whole numbers as labels: if all are small, the numbers are codes themselves."""
    kind = np.int32 if values.dtype.itemsize <= 4 else np.int64
    values = np.ascontiguousarray(values, dtype=kind)
    small = np.empty(len(values), dtype=np.int8)
    if len(values) and narrow_codes(values, small) and small.max() < NARROW:
        return Labels(small, tuple(range(int(small.max()) + 1)))
    column = integer_labels(values)
    few = len(column.labels) < 128
    return Labels(column.codes.astype(np.int8) if few else column.codes, column.labels)


def _coded(
    column: Labels, name: str, known: Domain, fixed: bool | Literal["or a gap"]
) -> tuple[Domain, AnyArray]:
    rows = count_codes(column.codes, len(column.labels))
    seen = [label for label, n in zip(column.labels, rows.tolist(), strict=True) if n]
    if fixed:
        domain = known
        places = {label_key(value): i for i, value in enumerate(domain)}
        for label in seen if fixed is True else ():
            if label_key(label) not in places:
                raise InputError(
                    f"Column {name!r} holds {label!r}, which is no value of it here. "
                    f"{_values_of(domain)}{_hint(label, domain)}"
                )
    else:
        domain = domain_of(seen, known)
        places = {label_key(value): i for i, value in enumerate(domain)}
    where = [places.get(label_key(label), -1) for label in column.labels]
    if where == list(range(len(where))):
        return domain, column.codes
    kind = np.int8 if len(domain) < 128 else np.int32
    return domain, np.array([*where, -1], dtype=kind)[column.codes]  # a gap, −1, takes the last


def domain_of(seen: Iterable[Label], known: Domain) -> Domain:
    """Return the declared values in their order, and after them others that were seen, sorted."""
    seen = list(seen)
    truths = (False, True) if any(isinstance(label, bool) for label in seen) else ()
    declared = set(map(label_key, known))
    others = [label for label in (*seen, *truths) if label_key(label) not in declared]
    return (*known, *sorted_labels(others))


def declared_domains(values: Mapping[str, Iterable[Label]] | None) -> Domains:
    """Return the declared values of variables, in the order given; none may stand twice."""
    declared = {}
    for name, given in (values or {}).items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SettingError(
                f"values[{name!r}] must be a sequence of values, such as [False, True], "
                f"not {given!r}."
            )
        domain = tuple(as_label(value, f"values[{name!r}]") for value in given)
        if len(set(map(label_key, domain))) < len(domain):
            raise SettingError(f"values[{name!r}] holds a value twice: {listing(domain)}.")
        declared[str(name)] = domain
    return declared


def as_label(value: Any, what: str) -> Label:
    """Return a value as a plain label: NumPy's scalars as Python's, 2.0 as 2."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, bool | int | float | str) or value != value:
        raise InputError(
            f"{what} holds {value!r:.50}, of type {type(value).__name__}; values must be truths, "
            "numbers or strings."
        )
    return value


def find_variable(name: object, domains: Domains, what: str = "variable") -> str:
    """Return the name if there is such a variable, or say which there are."""
    if isinstance(name, str) and name in domains:
        return name
    holders = [other for other, domain in domains.items() if name in domain]
    hint = did_you_mean(str(name), domains)
    if not hint and holders and isinstance(name, str):
        hint = f" It is a value of {holders[0]!r}: write {holders[0]} == {name!r}."
    raise ExpressionError(
        f"There is no {what} {name!r}. {what.capitalize()}s: {listing(domains, 10)}.{hint}"
    )


def find_variables(names: str | Iterable[str], domains: Domains) -> tuple[str, ...]:
    """Return one or several names as a tuple, each of them known and named once."""
    several = (names,) if isinstance(names, str) else tuple(names)
    for name in several:
        find_variable(name, domains)
    if len(set(several)) < len(several):
        raise ExpressionError(f"A variable is named twice: {listing(several)}.")
    return several


def true_and_false(domain: Domain) -> tuple[int, int] | None:
    """Return the codes of the true and of the false value, −1 for one that is not there.

    A domain is of truths if it holds nothing but True and False, 1 and 0, or the words true and
    false, yes and no; otherwise there is no answer.

    >>> true_and_false((False, True)), true_and_false(("no", "yes")), true_and_false(("a", "b"))
    ((1, 0), (1, 0), None)
    """
    found = {True: -1, False: -1}
    for code, value in enumerate(domain):
        if isinstance(value, str):
            truth = WORDS.get(value.strip().lower())
        else:
            truth = bool(value) if value in (0, 1) else None
        if truth is None or found[truth] >= 0:
            return None
        found[truth] = code
    kinds = {type(value) for value in domain}
    return (found[True], found[False]) if domain and len(kinds) == 1 else None


def code_of(value: object, name: str, domain: Domain) -> int:
    """Return the code of a value; True and False also find yes and no, or 1 and 0."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool | int | float | str):
        for code, known in enumerate(domain):
            if label_key(known) == label_key(value):
                return code
    truths = true_and_false(domain)
    if isinstance(value, bool) and truths is not None and truths[not value] >= 0:
        return truths[not value]
    raise ExpressionError(
        f"Variable {name!r} has no value {value!r}. {_values_of(domain)}{_hint(value, domain)}"
    )


def label_column(domain: Domain, codes: AnyArray) -> AnyArray:
    """Return the labels of codes as an array, of objects where their types are mixed."""
    return label_array(domain)[codes]


def _values_of(domain: Domain) -> str:
    return f"Values: {listing(domain, 10)}."


def _hint(value: object, domain: Domain) -> str:
    twins = [known for known in domain if str(known) == str(value)]
    if twins:
        return f" Write {twins[0]!r}, {'with' if isinstance(twins[0], str) else 'without'} quotes."
    if not isinstance(value, str):
        return ""
    return did_you_mean(value, [known for known in domain if isinstance(known, str)])
