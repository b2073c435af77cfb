"""What engines write differently: the bits of a number, 64-bit arithmetic, and packed columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from priory.base.errors import SettingError, listing
from priory.base.typing import AnyArray

__all__ = ["DIALECTS", "Dialect", "Level", "Transpiled", "dialect_of"]

Level: TypeAlias = dict[str, str]
"""Columns of a subselect by name, each an expression of columns below it."""

ALL, SIGN = 2**64 - 1, 2**63


class Dialect:
    """Write parts of a query; those of DuckDB."""

    name: ClassVar[str] = "duckdb"
    double: ClassVar[str] = "DOUBLE"
    text: ClassVar[str] = "VARCHAR"
    barrier: ClassVar[str] = ""
    """What keeps a subselect from being merged into the one around it, which would repeat it."""

    def number(self, sql: str) -> str:
        """Write a value as a float64."""
        return f"CAST({sql} AS {self.double})"

    def seconds(self, sql: str) -> str:
        """Write a date or a time in seconds."""
        seconds = f"(CAST(epoch_us({sql}) AS DOUBLE) / 1e6)"  # NULL of an infinite date
        return f"CASE WHEN {sql} IS NOT NULL AND {seconds} IS NULL THEN 'inf' ELSE {seconds} END"

    def is_number(self, x: str) -> str:
        """Write that a value is neither missing nor NaN."""
        return f"{x} IS NOT NULL AND NOT isnan({x})"

    def bits(self, x: str) -> str:
        """Write the bits of a float64 as a signed integer; those of −0 are those of 0."""
        return f"CAST(CAST({x} + 0.0 AS BIT) AS BIGINT)"

    def key(self, bits: str) -> str:
        """Write the bits in the order of the numbers."""
        return f"CASE WHEN {bits} >= 0 THEN {bits} ELSE xor({bits}, 9223372036854775807) END"

    def packed(self, value: str, kind: str, order: str) -> str:
        """Aggregate integers ("i4", "i8") or floats ("f8") to one value, in an order."""
        types = {"i4": "INTEGER", "i8": "BIGINT", "f8": "DOUBLE"}
        return f"list(CAST({value} AS {types[kind]}) ORDER BY {order})"

    def unpacked(self, scalar: Any, kind: str) -> AnyArray:
        """Read what was packed."""
        return np.asarray(scalar.values.to_numpy(zero_copy_only=False), dtype=kind)

    def unsigned(self, number: int) -> str:
        """Write a 64-bit number of a hash."""
        return f"{number}::UBIGINT"

    def hash_bits(self, x: str) -> str:
        """Write the bits of a float64 as such a number."""
        return f"CAST(CAST({x} + 0.0 AS BIT) AS UBIGINT)"

    def xored(self, a: str, b: str) -> str:
        """Write a XOR b."""
        return f"xor({a}, {b})"

    def at_most(self, a: str, bound: str) -> str:
        """Compare two unsigned numbers."""
        return f"{a} <= {bound}"

    def half_mixed(self, x: str, shift: int, factor: int) -> list[Level]:
        """Write the levels of x ← (x ^ (x >> shift)) · factor, modulo 2^64."""
        product = f"{x}::UHUGEINT * {factor}::UHUGEINT"
        return [self.shifted(x, shift), {x: f"(({product}) & {ALL}::UHUGEINT)::UBIGINT"}]

    def shifted(self, x: str, shift: int) -> Level:
        """Write the level of x ← x ^ (x >> shift)."""
        return {x: f"xor({x}, {x} >> {shift})"}

    def summed(self, terms: Sequence[str]) -> list[Level]:
        """Write the levels of h, the sum of such numbers modulo 2^64, where NULL is 0."""
        total = " + ".join(f"coalesce({term}, 0)::UHUGEINT" for term in terms)
        return [{"h": f"(({total}) & {ALL}::UHUGEINT)::UBIGINT"}]


class Postgres(Dialect):
    """Write for PostgreSQL, whose integers are signed and must not overflow."""

    name = "postgres"
    double = "double precision"
    text = "text"
    barrier = " OFFSET 0"

    def seconds(self, sql: str) -> str:
        """Write a date or a time in seconds."""
        return f"CAST(EXTRACT(EPOCH FROM {sql}) AS double precision)"

    def is_number(self, x: str) -> str:
        """Write that a value is neither missing nor NaN."""
        return f"{x} <> 'NaN'"

    def bits(self, x: str) -> str:
        """Write the bits of a float64 as a signed integer; those of −0 are those of 0."""
        return f"CAST(CAST('x' || encode(float8send({x} + 0.0), 'hex') AS bit(64)) AS bigint)"

    def key(self, bits: str) -> str:
        """Write the bits in the order of the numbers."""
        return f"CASE WHEN {bits} >= 0 THEN {bits} ELSE {bits} # 9223372036854775807 END"

    def packed(self, value: str, kind: str, order: str) -> str:
        """Aggregate integers ("i4", "i8") or floats ("f8") to one value, in an order."""
        cast = {"i4": "int4", "i8": "int8", "f8": "float8"}[kind]
        return f"string_agg({cast}send(CAST({value} AS {cast})), ''::bytea ORDER BY {order})"

    def unpacked(self, scalar: Any, kind: str) -> AnyArray:
        """Read what was packed."""
        return np.frombuffer(scalar.as_py(), dtype=f">{kind}").astype(kind)

    def unsigned(self, number: int) -> str:
        """Write a 64-bit number of a hash."""
        return f"CAST({number - 2 * SIGN if number >= SIGN else number} AS bigint)"

    def hash_bits(self, x: str) -> str:
        """Write the bits of a float64 as such a number."""
        return self.bits(x)

    def xored(self, a: str, b: str) -> str:
        """Write a XOR b."""
        return f"{a} # {b}"

    def at_most(self, a: str, bound: str) -> str:
        """Compare two unsigned numbers."""
        sign = self.unsigned(SIGN)
        return f"({a} # {sign}) <= ({bound} # {sign})"

    def half_mixed(self, x: str, shift: int, factor: int) -> list[Level]:
        """Write the levels of x ← (x ^ (x >> shift)) · factor, modulo 2^64.

        The numbers are cut into parts of 22, 22 and 20 bits, whose products fit.
        """
        least = 2**22 - 1
        x0, x1, x2 = f"({x} & {least})", f"(({x} >> 22) & {least})", f"(({x} >> 44) & 1048575)"
        f0, f1, f2 = factor & least, (factor >> 22) & least, factor >> 44
        a, b, c = f"{x}a", f"{x}b", f"{x}c"
        return [
            self.shifted(x, shift),
            {
                a: f"{x0} * {f0}",
                b: f"{x0} * {f1} + {x1} * {f0}",
                c: f"{x0} * {f2} + {x1} * {f1} + {x2} * {f0}",
            },
            {a: f"{a} + (({b} & {least}) << 22)", c: f"{c} + ({b} >> 22)"},
            {x: f"({a} & {2**44 - 1}) | (({c} + ({a} >> 44)) << 44)"},
        ]

    def shifted(self, x: str, shift: int) -> Level:
        """Write the level of x ← x ^ (x >> shift), where the sign is a bit like others."""
        return {x: f"{x} # (({x} >> {shift}) & {2 ** (64 - shift) - 1})"}

    def summed(self, terms: Sequence[str]) -> list[Level]:
        """Write the levels of h, the sum of such numbers modulo 2^64, where NULL is 0."""
        least = 2**32 - 1
        high = " + ".join(f"coalesce({term} >> 32, 0)" for term in terms)
        low = " + ".join(f"coalesce({term} & {least}, 0)" for term in terms)
        total = f"((high + (low >> 32)) << 32) | (low & {least})"
        return [{"high": high, "low": low}, {"h": total}]


class Transpiled(Dialect):
    """Write what sqlglot can translate to other dialects: no bits, and no function for NaN.

    NaN is neither smaller nor, where it is equal to itself, less than infinity.
    """

    def __init__(self, name: str) -> None:
        self._writes = name

    def seconds(self, sql: str) -> str:
        """Write a date or a time in whole seconds."""
        if self._writes == "mysql":  # whose difference of dates is in days
            return f"CAST(EXTRACT(EPOCH FROM {sql}) AS DOUBLE)"
        since = f"date_diff('second', TIMESTAMP '1970-01-01', CAST({sql} AS TIMESTAMP))"
        return f"CAST({since} AS DOUBLE)"  # whose squares would overflow as integers

    def is_number(self, x: str) -> str:
        """Write that a value is neither missing nor NaN, nor too large to be squared."""
        return f"abs({x}) <= 1e150"


DIALECTS: dict[str, Dialect] = {"duckdb": Dialect(), "postgres": Postgres()}


def dialect_of(name: str) -> Dialect:
    """Find a dialect by its name."""
    if name not in DIALECTS:
        raise SettingError(f"dialect must be one of {listing(DIALECTS)}, not {name!r}.")
    return DIALECTS[name]
