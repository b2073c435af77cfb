"""Variables and their values: found by name, and read from any table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Any, Literal, TypeAlias

import numpy as np

from priory.base.errors import ExpressionError, InputError, SettingError, did_you_mean, listing
from priory.base.labels import count_codes, label_key, sorted_labels
from priory.base.parallel import in_parallel, thread_count
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.coding import integer_labels
from priory.data.columns import Labels
from priory.data.rawtables import RawTable, open_table
from priory.kernels.labels import narrow_codes
from priory.network.binning import Bins, is_measured

__all__ = [
    "WORTH_A_THREAD",
    "Coded",
    "Domain",
    "Domains",
    "as_label",
    "check_rows",
    "code_of",
    "declared_domains",
    "domain_of",
    "find_variable",
    "find_variables",
    "numbers",
    "ordered_names",
    "places",
    "read_coded",
    "true_and_false",
]

Domain: TypeAlias = tuple[Label, ...]
Domains: TypeAlias = Mapping[str, Domain]

WORDS = {"true": True, "yes": True, "false": False, "no": False}

NARROW = 16
WORTH_A_THREAD = 20_000
"""The number of rows from which a second thread pays."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Hold rows as codes into the domains of their variables; a negative code is missing.

    `ordered` are the variables whose values are in an order that was declared.
    """

    n_rows: int
    domains: Domains
    codes: Mapping[str, AnyArray]
    ordered: frozenset[str] = frozenset()
    _missing: dict[str, bool] = field(default_factory=dict)

    def has_missing(self, name: str) -> bool:
        """Tell whether a variable has missing values; they are looked for once."""
        if name not in self._missing:
            self._missing[name] = bool(self.codes[name].min(initial=0) < 0)
        return self._missing[name]

    @property
    def complete(self) -> AnyArray:
        """Which rows have no missing values."""
        result = np.ones(self.n_rows, dtype=np.bool_)
        for name, codes in self.codes.items():
            if self.has_missing(name):
                result &= codes >= 0
        return result

    def take(self, mask: AnyArray) -> Coded:
        """Choose rows by a mask."""
        if mask.all():
            return self
        codes = {name: column[mask] for name, column in self.codes.items()}
        return Coded(int(np.count_nonzero(mask)), self.domains, codes, self.ordered)

    def within(self, domains: Domains) -> Coded:
        """Code the same rows by other domains; values that these lack are missing."""
        codes = {
            name: np.array([*places(self.domains[name], domains[name]), -1], dtype=np.int32)[column]
            for name, column in self.codes.items()
        }
        return Coded(self.n_rows, domains, codes, self.ordered)


def read_coded(
    data: Any,
    names: Sequence[str] | None = None,
    declared: Domains | None = None,
    fixed: bool | Literal["or missing"] = False,
    as_they_came: bool = False,
    bins: bool = False,
) -> Coded:
    """Read the columns of any table as codes into domains.

    A domain holds the values declared for it, in their order, then the others that occur, sorted;
    a boolean always has both of its values. With `fixed` domains any other value is an error, or
    with "or missing" a missing value. Domains `as_they_came` are in any order and may hold values
    without rows, but cost nothing. Measurements, numbers of which hardly two are the same, are put
    into `bins`, or refused.

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
    how: Literal["bin", "refuse"] = "bin" if bins else "refuse"
    tasks = [
        partial(_labels, raw, name, "keep" if fixed or (declared or {}).get(name) else how)
        for name in wanted
    ]
    threads = thread_count() if raw.n_rows > WORTH_A_THREAD else 1
    columns = dict(zip(wanted, in_parallel(tasks, threads), strict=True))
    if as_they_came:
        came = {name: column.labels for name, column in columns.items()}
        return Coded(raw.n_rows, came, {name: c.codes for name, c in columns.items()})
    domains, codes, ordered = {}, {}, set()
    for name, column in columns.items():
        order = column.labels if isinstance(column, Bins) else raw.order(name)
        known = (declared or {}).get(name) or order
        domains[name], codes[name] = _coded(column, name, known, fixed)
        if domains[name] == known:
            ordered.add(name)
    return Coded(raw.n_rows, domains, codes, frozenset(ordered))


def _labels(raw: RawTable, name: str, measured: Literal["bin", "refuse", "keep"]) -> Labels:
    """Read a column as labels; measurements are put into bins, refused, or labels as well."""
    column = _as_labels(raw, name)
    if measured == "keep" or not is_measured(column):
        return column
    if measured == "bin":
        return Bins.of(column)
    raise InputError(
        f"Column {name!r} holds {len(column.labels):,} different numbers in {len(column):,} rows: "
        "measurements, not labels. Bin them, priory.network.binned(data), or declare its values: "
        f"values={{{name!r}: [...]}}."
    )


def _as_labels(raw: RawTable, name: str) -> Labels:
    """Read a column as labels, integers by the shortest way, codes in a byte if they fit."""
    values = raw.get(raw.places[name])
    if getattr(getattr(values, "dtype", None), "kind", "") == "i" and hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind == "i" and values.ndim == 1:
        return _integers(values)
    try:
        column = raw.column(name, values).column.as_labels()
    except InputError as error:
        raise InputError(f"Column {name!r}: {error}") from None
    return _in_bytes(column)


def _integers(values: AnyArray) -> Labels:
    """Read integers as labels: if all are small, they are codes themselves."""
    kind = np.int32 if values.dtype.itemsize <= 4 else np.int64
    values = np.ascontiguousarray(values, dtype=kind)
    small = np.empty(len(values), dtype=np.int8)
    if len(values) and narrow_codes(values, small) and small.max() < NARROW:
        return Labels(small, tuple(range(int(small.max()) + 1)))
    return _in_bytes(integer_labels(values))


def _in_bytes(column: Labels) -> Labels:
    few = len(column.labels) < 128
    return Labels(column.codes.astype(np.int8, copy=False), column.labels) if few else column


def _coded(
    column: Labels, name: str, known: Domain, fixed: bool | Literal["or missing"]
) -> tuple[Domain, AnyArray]:
    seen = [*compress(column.labels, count_codes(column.codes, len(column.labels)))]
    domain = known if fixed else domain_of(seen, known)
    if fixed is True:
        for label, place in zip(seen, places(seen, domain), strict=True):
            if place < 0:
                raise InputError(
                    f"Column {name!r} holds {label!r}, which is not one of its values. "
                    f"{_values_of(domain)}{_hint(label, domain)}"
                )
    where = places(column.labels, domain)
    if where == list(range(len(where))):
        return domain, column.codes
    kind = np.int8 if len(domain) < 128 else np.int32
    return domain, np.array([*where, -1], dtype=kind)[column.codes]  # missing, −1, takes the last


def domain_of(seen: Iterable[Label], known: Domain) -> Domain:
    """List the declared values in their order, then the others that occur, sorted."""
    seen = list(seen)
    booleans = (False, True) if any(isinstance(label, bool) for label in seen) else ()
    declared = set(map(label_key, known))
    others = [label for label in (*seen, *booleans) if label_key(label) not in declared]
    return (*known, *sorted_labels(others))


def places(values: Iterable[Label], domain: Domain) -> list[int]:
    """Find the place of each value in a domain, −1 where it has none."""
    place = {label_key(value): i for i, value in enumerate(domain)}
    return [place.get(label_key(value), -1) for value in values]


def declared_domains(values: Mapping[str, Iterable[Label]] | None) -> Domains:
    """Check the declared values of variables, in the order given; none may appear twice."""
    declared = {}
    for name, given in (values or {}).items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SettingError(
                f"values[{name!r}] must be a sequence of values, such as [False, True], "
                f"not {given!r}."
            )
        domain = tuple(as_label(value, f"values[{name!r}]") for value in given)
        if isinstance(given, Set):  # which is in no order
            domain = sorted_labels(domain)
        if len(set(map(label_key, domain))) < len(domain):
            raise SettingError(f"values[{name!r}] holds a value twice: {listing(domain)}.")
        declared[str(name)] = domain
    return declared


def ordered_names(values: Mapping[str, Iterable[Label]] | None) -> frozenset[str]:
    """Find the variables whose values are declared in an order, that is, not as a set."""
    return frozenset(name for name, given in (values or {}).items() if not isinstance(given, Set))


def as_label(value: Any, what: str) -> Label:
    """Make a plain label of a value: NumPy's scalars become Python's, 2.0 becomes 2."""
    value = _plain(value)
    if not isinstance(value, bool | int | float | str) or value != value:
        raise InputError(
            f"{what} holds {value!r:.50}, of type {type(value).__name__}; values must be "
            "booleans, numbers or strings."
        )
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def numbers(given: Any, what: str) -> FloatArray:
    """Make an array of probabilities."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers, not {given!r:.60}.") from None


def find_variable(name: object, domains: Domains, what: str = "variable") -> str:
    """Check that there is such a variable; if not, say which there are."""
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
    """Check one or several names: each a variable, and none named twice."""
    several = (names,) if isinstance(names, str) else tuple(names)
    for name in several:
        find_variable(name, domains)
    if len(set(several)) < len(several):
        raise ExpressionError(f"A variable is named twice: {listing(several)}.")
    return several


def true_and_false(domain: Domain) -> tuple[int, int] | None:
    """Find the codes of the true and of the false value, −1 for one that is not there.

    A domain is boolean if it holds only True and False, 1 and 0, or the words true and false, yes
    and no; of any other domain the answer is None.

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
    """Find the code of a value; True and False also find yes and no, or 1 and 0."""
    value = _plain(value)
    if isinstance(value, bool | int | float | str) and (code := places([value], domain)[0]) >= 0:
        return code
    truths = true_and_false(domain)
    if isinstance(value, bool) and truths is not None and truths[not value] >= 0:
        return truths[not value]
    raise ExpressionError(
        f"Variable {name!r} has no value {value!r}. {_values_of(domain)}{_hint(value, domain)}"
    )


def check_rows(n: object) -> int:
    """Refuse a number of rows that is not an integer of at least 0."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise SettingError(f"n must be an integer of at least 0, not {n!r}.")
    return int(n)


def _values_of(domain: Domain) -> str:
    return f"Values: {listing(domain, 10)}."


def _hint(value: object, domain: Domain) -> str:
    twins = [known for known in domain if str(known) == str(value)]
    if twins:
        return f" Write {twins[0]!r}, {'with' if isinstance(twins[0], str) else 'without'} quotes."
    if not isinstance(value, str):
        return ""
    return did_you_mean(value, [known for known in domain if isinstance(known, str)])
