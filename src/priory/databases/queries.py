"""The queries: classes, values of labels, cells and moments of numbers, and the sample of rows.

    SELECT class, value, count(*), sum(weight) FROM rows GROUP BY class, value

counts labels. Numbers are grouped by their leading bits at the level of some first rows, which can
only be too fine; the engine then makes cells larger until at most 1,024 are left, as
`statistics.cells` does, and sends their counts and the sums of x − c and (x − c)² for each class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from priory.databases.dialects import Dialect, Level
from priory.statistics.cells import CELL_LIMIT

__all__ = ["Lookup", "Rows", "literal"]

FACTORS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST = 31
"""The finaliser of splitmix64, as `statistics.hashing` has it."""


@dataclass(frozen=True)
class Lookup:
    """The hash that each value of a column, as the database has it, adds to that of its row."""

    values: Mapping[str, int]
    """By the value as a literal."""
    of_numbers: bool = False


@dataclass(frozen=True)
class Rows:
    """The rows that are counted: what stands after FROM, and the expressions of their columns."""

    dialect: Dialect
    origin: str
    target: str
    weight: str | None
    columns: Mapping[str, str]
    """The expression of each column, by its name."""
    times: frozenset[str] = frozenset()
    """The columns of dates and times, which are counted in seconds."""
    places: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {name: f"c{i}" for i, name in enumerate(self.columns)})

    def selected(self, names: Sequence[str], as_numbers: Sequence[str] = ()) -> str:
        """Select the class y, the weight w and some columns of the rows that have a class."""
        double = self.dialect.double
        parts = [f"{self.target} AS y"]
        parts += [] if self.weight is None else [f"CAST({self.weight} AS {double}) AS w"]
        for name in names:
            sql = self.columns[name]
            sql = self._number(name, sql) if name in as_numbers else sql
            parts.append(f"{sql} AS {self.places[name]}")
        return f"SELECT {', '.join(parts)} FROM {self.origin}"

    def _number(self, name: str, sql: str) -> str:
        return self.dialect.seconds(sql) if name in self.times else self.dialect.number(sql)

    @property
    def _some(self) -> str:
        """The condition that a row counts: it has a class and is not of weight zero."""
        return "y IS NOT NULL" if self.weight is None else "y IS NOT NULL AND w <> 0"

    def classes(self) -> str:
        """Count the rows of each class, those without one included."""
        weights = (
            ""
            if self.weight is None
            else ", sum(w) AS w, min(w) AS least, max(w) AS most, count(w) AS weights, "
            "min(CASE WHEN w > 0 THEN w END) AS above"
        )
        some = "" if self.weight is None else " WHERE w <> 0 OR w IS NULL"
        return f"SELECT y, count(*) AS n{weights} FROM ({self.selected([])}) AS r{some} GROUP BY y"

    def first(self, name: str, most: int, as_range: bool, there: bool = False) -> str:
        """Look at some first rows of a column: its ends, or each value and how many have it."""
        column = self.columns[name]
        some = " WHERE v IS NOT NULL" if there else ""
        every = f"(SELECT {column} AS v FROM {self.origin}) AS u"
        look = f"(SELECT v FROM {every}{some} LIMIT {most}) AS r"
        if as_range:
            return f"SELECT min(v) AS least, max(v) AS most FROM {look}"
        return f"SELECT v, count(*) AS n FROM {look} GROUP BY v"

    def level(self, name: str, most: int) -> str:
        """Find the level of the cells of some first rows, and about where they lie."""
        look = f"SELECT * FROM ({self.selected([name], [name])}) AS r LIMIT {most}"
        return (
            f"WITH cells AS MATERIALIZED (SELECT DISTINCT key AS k FROM "
            f"({self._keyed(name, look)}) AS q) SELECT (SELECT l FROM ({self._coarser}) AS n) "
            f"AS level, (SELECT sum({self.places[name]}) / count(*) FROM ({look}) AS f WHERE "
            f"{self.dialect.is_number(self.places[name])} AND abs({self.places[name]}) <= 1e150) "
            "AS mean"
        )

    def labels(self, name: str) -> str:
        """Count each value of a column by class."""
        value, weight = self.places[name], "" if self.weight is None else ", sum(w) AS w"
        return (
            f"SELECT y, {value} AS v, count(*) AS n{weight} FROM ({self.selected([name])}) AS r "
            f"WHERE {value} IS NOT NULL AND {self._some} GROUP BY y, {value}"
        )

    def moments(self, name: str) -> str:
        """Sum a column of numbers and their squares by class."""
        d, x, own = self.dialect, self.places[name], "" if self.weight is None else "w * "
        n = "count(*)" if self.weight is None else "sum(w)"
        return (
            f"SELECT y, count(*) AS n, {n} AS w, sum({own}{x}) AS s1, sum({own}{x} * {x}) AS s2 "
            f"FROM ({self.selected([name], [name])}) AS r "
            f"WHERE {d.is_number(x)} AND {self._some} GROUP BY y"
        )

    def numbers(self, name: str, level: int, about: float, many: bool = False) -> str:
        """Count the cells of a column by class, and sum x − c and (x − c)²."""
        d, x, w = self.dialect, self.places[name], self.weight is not None
        # What is too large is refused by its size; its square would be an error in PostgreSQL.
        off = f"CASE WHEN abs({x}) <= 1e150 THEN {x} - {literal(about, d)} ELSE 0 END"
        own, n = ("w * ", "sum(w)") if w else ("", "count(*)")
        cells = (
            f"SELECT y, key >> {level} AS k, count(*) AS n, {n} AS w, sum({own}({off})) AS a, "
            f"sum({own}({off}) * ({off})) AS b, max(abs({x})) AS most "
            f"FROM ({self._keyed(name, self.selected([name], [name]))}) AS q GROUP BY 1, 2"
        )
        coarse = (
            "SELECT y, k >> CAST(l AS INTEGER) AS k, sum(n) AS n, sum(w) AS w, sum(a) AS a, "
            "sum(b) AS b, max(most) AS most FROM cells CROSS JOIN level GROUP BY 1, 2"
        )
        packed = [d.packed("coalesce(n, 0)", "i8" if many else "i4", "ks.k") + " AS cells"]
        packed += [d.packed("coalesce(w, 0)", "f8", "ks.k") + " AS weights"] if w else []
        keys = f"CASE WHEN ys.i = 1 THEN (SELECT {d.packed('k', 'i8', 'k')} FROM ks) END AS keys"
        return (
            f"WITH cells AS MATERIALIZED ({cells}), "
            f"level AS MATERIALIZED ({self._coarser}), "
            f"coarse AS MATERIALIZED ({coarse}), "
            "ks AS (SELECT DISTINCT k FROM coarse), "
            "ys AS (SELECT y, row_number() OVER () AS i FROM (SELECT DISTINCT y FROM coarse) AS u) "
            "SELECT ys.y, (SELECT l FROM level) AS coarser, sum(n) AS n, sum(w) AS w, sum(a) AS a, "
            f"sum(b) AS b, max(most) AS most, {', '.join(packed)}, {keys} "
            "FROM ys CROSS JOIN ks LEFT JOIN coarse ON coarse.y = ys.y AND coarse.k = ks.k "
            "GROUP BY ys.y, ys.i"
        )

    def _keyed(self, name: str, rows: str) -> str:
        """Select the bits of the numbers that are there, in the order of the numbers."""
        d, x = self.dialect, self.places[name]
        kept = f"y, {x}" if self.weight is None else f"y, w, {x}"
        there = f"SELECT {kept}, {d.bits(x)} AS bits FROM ({rows}) AS r WHERE {d.is_number(x)}"
        return f"SELECT {kept}, {d.key('bits')} AS key FROM ({there} AND {self._some}) AS b"

    @property
    def _coarser(self) -> str:
        """Select by how many bits cells must be coarser to be few enough.

        Two neighbours fall together once the bits in which they differ are gone; so as many must
        go as the limit-th largest difference has.
        """
        d = self.dialect
        differ = d.xored("k", "lag(k) OVER (ORDER BY k)")
        largest = f"CASE WHEN x < 0 THEN {2**63 - 1} ELSE x END DESC NULLS LAST"
        return (
            f"SELECT count(l) AS l FROM (SELECT x FROM (SELECT {differ} AS x FROM "
            f"(SELECT DISTINCT k FROM cells) AS u) AS v ORDER BY {largest} "
            f"LIMIT 1 OFFSET {CELL_LIMIT - 1}) AS t "
            "CROSS JOIN generate_series(0, 62) AS g(l) WHERE (x >> CAST(l AS INTEGER)) > 0"
        )

    def sample(
        self,
        classes: Mapping[str, tuple[int, int]],
        lookups: Mapping[str, Lookup],
        seeds: Mapping[str, int],
    ) -> str:
        """Select the different rows with small hashes, and how many there are of each.

        `classes` are the hash and the bound of each class, `lookups` the hashes of values that are
        known, `seeds` those of columns of numbers whose hashes are computed there.
        """
        d = self.dialect
        kept = [self.places[name] for name in self.columns]
        base = ["y", *kept, "bound"] + ([] if self.weight is None else ["w"])
        joins = [
            _values(
                "m", ("v", "h", "bound"), [(v, *map(d.unsigned, hs)) for v, hs in classes.items()]
            )
        ]
        on = ["m.v = r.y"]
        fixed = ["m.h"]
        for i, (name, lookup) in enumerate(lookups.items()):
            if not lookup.values:
                continue
            pairs = [(v, d.unsigned(h)) for v, h in lookup.values.items()]
            joins.append(f"LEFT JOIN {_values(f'm{i}', ('v', 'h'), pairs)}")
            own = f"r.{self.places[name]}"
            on.append(f"m{i}.v = {self._number(name, own) if lookup.of_numbers else own}")
            fixed.append(f"m{i}.h")
        joined = " ".join(f"{join} ON {equal}" for join, equal in zip(joins, on, strict=True))
        work = {f"n{i}": name for i, name in enumerate(seeds)}
        bits = [
            f"CASE WHEN {d.is_number(sql)} THEN {d.hash_bits(sql)} END AS {n}"
            for n, name in work.items()
            for sql in [self._number(name, f"r.{self.places[name]}")]
        ]
        known = [f"{h} AS f{i}" for i, h in enumerate(fixed)]
        columns = [f"r.{c}" for c in base if c != "bound"] + ["m.bound", *known, *bits]
        some = "" if self.weight is None else " WHERE r.w <> 0"
        query = (
            f"SELECT {', '.join(columns)} FROM ({self.selected(list(self.columns))}) AS r "
            f"JOIN {joined}{some}"
        )
        kept_now = [*base, *(f"f{i}" for i in range(len(fixed)))]
        for level in self._mixes(list(work)):
            query = self._over(query, kept_now, level)
        if work:
            seeded = {n: d.xored(n, d.unsigned(seeds[name])) for n, name in work.items()}
            query = self._over(query, kept_now, seeded)
            for level in self._mixes(list(work)):
                query = self._over(query, kept_now, level)
        for level in d.summed([*(f"f{i}" for i in range(len(fixed))), *work]):
            query = self._over(query, base, level)
        for level in self._mixes(["h"]):
            query = self._over(query, base, level)
        sums = "count(*) AS n" + ("" if self.weight is None else ", sum(w) AS w, sum(w * w) AS q")
        by = ", ".join(["h", "y", *kept])
        few = d.at_most("h", "bound")
        return f"SELECT {by}, {sums} FROM ({query}) AS s WHERE {few} GROUP BY {by}"

    def _mixes(self, names: Sequence[str]) -> list[Level]:
        """Write the levels that mix the bits of some columns."""
        steps: list[list[Level]] = []
        for name in names:
            own: list[Level] = []
            for shift, factor in FACTORS:
                own += self.dialect.half_mixed(name, shift, factor)
            steps.append([*own, self.dialect.shifted(name, LAST)])
        return [
            {k: v for level in levels for k, v in level.items()}
            for levels in zip(*steps, strict=True)
        ]

    def _over(self, query: str, kept: Sequence[str], level: Level) -> str:
        named = ", ".join([*kept, *(f"{sql} AS {name}" for name, sql in level.items())])
        return f"SELECT {named} FROM ({query}{self.dialect.barrier}) AS q"


def _values(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    listed = ", ".join(f"({', '.join(row)})" for row in rows)
    return f"(VALUES {listed}) AS {name}({', '.join(columns)})"


def literal(value: object, dialect: Dialect) -> str:
    """Write a value of a column, typed, so that it can be compared with that column.

    >>> from priory.databases.dialects import DIALECTS
    >>> literal("it's", DIALECTS["postgres"]), literal(0.1, DIALECTS["duckdb"])
    ("CAST('it''s' AS text)", "CAST('0.1' AS DOUBLE)")
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"CAST('{value!r}' AS {dialect.double})"
    text = str(value).replace("'", "''")
    return f"CAST('{text}' AS {dialect.text})"
