"""Counting inside a database gives the model of the rows that stream out of it."""

import re
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import priory
from priory import Settings
from priory.base.errors import InputError, MissingValueError, PrioryWarning, SettingError
from priory.cli import main
from priory.sources import open_source
from priory.sources.planning import BYTES_MATTER, plan
from priory.statistics.tables import NumbersTable

from .rows import mixed
from .servers import address, server, write

NO_SERVER = pytest.mark.skipif(bool(server()[1]), reason=server()[1] or "there is a server")
ENGINES = ["duckdb", pytest.param("postgresql", marks=NO_SERVER)]
pytestmark = pytest.mark.filterwarnings("ignore:.*have no 'kind' and were skipped")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Write a table to an engine; the result is what `train` is given."""
    folder = tmp_path_factory.mktemp("bases")

    def written(engine, table, name):
        if engine == "postgresql":
            write(table, name)
            return {"source": address(), "table": name}
        file = folder / f"{name}.duckdb"
        if not file.exists():
            with duckdb.connect(str(file)) as made:
                made.register("given", table)
                made.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        return {"source": f"duckdb:///{file}", "table": name}

    return written


@pytest.fixture(scope="module")
def table():
    return mixed(900)


def by_both_roads(given, **options):
    roads = ({**given, "target": "kind", "in_database": inside} for inside in (False, True))
    return [priory.train(**road, **options) for road in roads]


def same(here, there):
    """Compare counts to the last bit, and moments to 1e-12 of their size."""
    a, b = here.statistics, there.statistics
    assert a.classes == b.classes and a.schema.columns == b.schema.columns
    assert [(x.name, x.kind) for x in a.schema] == [(x.name, x.kind) for x in b.schema]
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-14)
    for name, table in a.tables.items():
        other = b.tables[name]
        if not isinstance(table, NumbersTable):
            assert table == other
            continue
        assert table.cells == other.cells
        m, o = table.moments, other.moments
        np.testing.assert_array_equal(m.rows, o.rows)
        scale = np.sqrt(m.variance) + np.abs(m.mean)
        np.testing.assert_array_less(np.abs(m.mean - o.mean), 1e-12 * scale + 1e-300)
        np.testing.assert_allclose(m.variance, o.variance, rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": "w"},
        {"sample_size": 300},
        {"where": "x > 0 OR flag"},
        {"na_values": ["red", "3"]},
        {"families": {"count": "categorical", "flag": "categorical"}, "sample_size": 200},
    ],
    ids=str,
)
def test_the_same_model(base, table, engine, options):
    here, there = by_both_roads(base(engine, table, "inside"), **options)
    same(here, there)
    new = mixed(200, seed=5)
    np.testing.assert_allclose(there.predict_proba(new), here.predict_proba(new), atol=1e-9)
    assert [f.weight for f in there.model.terms] == pytest.approx(
        [f.weight for f in here.model.terms], abs=1e-9
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [50, 5000])
def test_rows_that_repeat_are_counted_once(base, engine, size):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 4000)
    few = pa.table({"a": rng.integers(0, 2 + y), "b": rng.random(4000) < 0.3, "kind": y})
    here, there = by_both_roads(base(engine, few, "few"), sample_size=size)
    same(here, there)
    np.testing.assert_allclose(there.predict_proba(few), here.predict_proba(few), atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_different_numbers_after_few(base, engine):
    """The level of the first rows is too fine for the rest."""
    n = 45_000
    x = np.concatenate([np.zeros(25_000), np.random.default_rng(2).standard_cauchy(n - 25_000)])
    sorted_ = pa.table({"x": x, "kind": np.arange(n) % 3})
    options = {"settings": Settings.textbook()}
    here, there = by_both_roads(base(engine, sorted_, "later"), **options)
    same(here, there)
    assert there.statistics.tables["x"].cells.level > 40


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_that_is_empty_at_first(base, engine):
    n = 21_000
    late = [None] * 20_900 + ["a", "b"] * 50
    given = pa.table({"late": late, "x": np.arange(n) % 7, "kind": np.arange(n) % 2})
    here, there = by_both_roads(base(engine, given, "late"), settings=Settings.textbook())
    same(here, there)
    assert there.statistics.tables["late"].labels == ("a", "b")


@pytest.mark.parametrize("engine", ENGINES)
def test_few_bytes_come_back(base, table, engine):
    source = open_source(**base(engine, table, "inside"))
    priory.train(source, "kind", in_database=True, drop=["w"])
    received = source.road.received
    assert max(received.columns.values()) < 60_000
    assert received.columns["x"] < 30_000 and received.columns["colour"] < 2_000
    assert re.search(
        r"counted in the database: .*bytes of sums came back, at most", str(source.road)
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_counted_inside(base, table, engine):
    given = {**base(engine, table, "inside"), "target": "kind", "in_database": True}
    with pytest.raises(SettingError, match=r"^in_database=True counts columns by themselves, but"):
        priory.train(**given, structure="tan")
    with pytest.raises(SettingError, match=r"but column 'colour' is read as words. Leave it out"):
        priory.train(**given, text={"colour": "word"})
    with pytest.raises(MissingValueError, match=r"^Column 'flag' has \d+ missing values\. Fill"):
        priory.train(**given, missing={"flag": "error"})
    with pytest.raises(InputError, match=r"has more than 2 different values"):
        priory.train(**given, max_classes=2)
    large = pa.table({"x": [1.0, 1e200, 3.0], "kind": ["a", "b", "a"]})
    with pytest.raises(InputError, match=r"^Column 'x' holds 1e\+200. Numbers must be finite"):
        priory.train(**{**given, **base(engine, large, "large")})
    negative = pa.table({"x": [1.0, 2.0, 3.0], "w": [1.0, -1.0, 1.0], "kind": ["a", "b", "a"]})
    with pytest.raises(InputError, match=r"^weight='w' must be finite and at least 0; a row has"):
        priory.train(**{**given, **base(engine, negative, "negative")}, weight="w")


def test_what_is_no_database(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n2,b\n")
    with pytest.raises(SettingError, match=r"^in_database=True is for PostgreSQL and DuckDB, but "):
        priory.train(tmp_path / "a.csv", "kind", in_database=True)
    with closing(sqlite3.connect(tmp_path / "a.db")) as made:
        made.execute("CREATE TABLE days AS SELECT 1 AS x, 'a' AS kind UNION SELECT 2, 'b'")
        made.commit()
    with pytest.raises(SettingError, match=r"but SQLite runs in this process, and its SQL"):
        priory.train(f"sqlite:///{tmp_path}/a.db", "kind", in_database=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_an_infinite_date_is_refused_by_both_roads(base, table, engine, kind):
    given = base(engine, table, "inside")
    del given["table"]
    dates = f"CASE WHEN x > 2 THEN 'infinity' ELSE '2024-01-01' END AS {kind}"
    query = f"SELECT kind, colour, CAST({dates}) AS until FROM inside"
    finite = f"SELECT kind, colour, NULLIF(until, 'infinity') AS until FROM ({query}) AS q"
    for inside in (False, True):
        with pytest.raises(InputError, match=r"^Column 'until' holds an infinite date\. Dates"):
            priory.train(**given, target="kind", query=query, in_database=inside)
    here, there = by_both_roads({**given, "query": finite})
    same(here, there)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_without_a_class_are_told(base, table, engine):
    with pytest.warns(PrioryWarning, match=r"^\d+ rows of .* have no 'kind' and were skipped"):
        priory.train(**base(engine, table, "inside"), target="kind", in_database=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_planner_says_why(base, table, engine, monkeypatch):
    source = open_source(**base(engine, table, "inside"))
    road = plan(source, Settings())
    assert not road.inside and "sooner than it counts" in road.why
    assert plan(source, Settings(), in_database=True).inside
    assert "structure" in plan(source, Settings(structure="tan")).why
    if engine == "postgresql":
        monkeypatch.setattr(source, "_host", "db.example.org")
        host, size = source.sends()
        assert host == "db.example.org" and 50_000 < size < 1_000_000
        monkeypatch.setattr(source, "sends", lambda: (host, 2.0 * BYTES_MATTER))
        road = plan(source, Settings())
        assert (
            road.inside and road.why == "its rows are about 8 GB, and db.example.org is elsewhere"
        )
    source.close()


def test_the_shell(base, table, tmp_path, capsys):
    out = str(tmp_path / "m.priory")
    given = [base("duckdb", table, "inside")["source"], "-t", "kind", "--textbook", "-o", out]
    assert main(["train", *given, "--in-database"]) == 0
    told = capsys.readouterr().err
    assert "counted in the database: --in-database was given; " in told
    assert main(["train", *given, "--in-database", "--structure", "tan"]) == 2
    assert "--in-database counts columns by themselves, but" in capsys.readouterr().err
    assert main(["train", *given]) == 0
    assert "streamed: DuckDB runs in this process" in capsys.readouterr().err
