"""Databases in files, by address, table and query: the same model as of the table in memory."""

import sqlite3

import duckdb
import numpy as np
import pytest

import priory
from priory import Settings
from priory.base.errors import InputError, SettingError
from priory.base.secrets import without_secrets
from priory.cli import main

from .rows import mixed

pytestmark = pytest.mark.filterwarnings("ignore:.*have no 'kind' and were skipped")


TEXTBOOK = {"settings": Settings.textbook()}


@pytest.fixture(scope="module")
def table():
    return mixed(600)


@pytest.fixture(scope="module")
def bases(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases")
    with duckdb.connect(str(folder / "days.duckdb")) as base:
        base.register("given", table)
        base.execute("CREATE TABLE days AS SELECT * FROM given; CREATE TABLE other (a INTEGER)")
    with sqlite3.connect(folder / "days.db") as lite:
        table.to_pandas().to_sql("days", lite, index=False)
        lite.execute("CREATE TABLE other (a INTEGER)")
    lite.close()
    return folder


@pytest.mark.parametrize("scheme", ["duckdb", "sqlite"])
@pytest.mark.parametrize("what", [{"table": "days"}, {"query": "SELECT * FROM days -- all of it"}])
@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"where": 'x > 0 AND "Tailed" < 5'}])
def test_the_model_is_that_of_the_table_in_memory(table, bases, scheme, what, options):
    file = bases / {"duckdb": "days.duckdb", "sqlite": "days.db"}[scheme]
    given = table.drop(["flag"]) if scheme == "sqlite" else table  # its truths are 0 and 1
    more = {"drop": "flag"} if scheme == "sqlite" else {}
    here = priory.train(given, "kind", **TEXTBOOK, **options)
    for source in (f"{scheme}:///{file}", file):
        there = priory.train(source, "kind", **TEXTBOOK, **what, **more, **options)
        assert there.statistics == here.statistics
    np.testing.assert_array_equal(there.predict_proba(table), here.predict_proba(table))


@pytest.mark.parametrize("scheme", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM days",
        "DROP TABLE days",
        "ATTACH 'stolen.db' AS stolen",
        "SELECT * FROM days; DELETE FROM days",
        "PRAGMA user_version = 7",
        "WITH a AS (SELECT 1) INSERT INTO other SELECT * FROM a",
    ],
)
def test_a_query_may_only_read(bases, scheme, query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = bases / {"duckdb": "days.duckdb", "sqlite": "days.db"}[scheme]
    before = file.read_bytes()
    with pytest.raises((SettingError, InputError), match=r"may only read|could not be read"):
        priory.train(f"{scheme}:///{file}", "kind", query=query)
    assert file.read_bytes() == before and not list(tmp_path.iterdir())


def test_what_has_no_query(bases, table, tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n2,b\n")
    with pytest.raises(SettingError, match=r"^query names rows .*a.csv is csv. Give "):
        priory.train(tmp_path / "a.csv", "kind", query="SELECT 1")
    with pytest.raises(SettingError, match=r"^query names rows of .* are a Table in mem"):
        priory.train(table, "kind", query="SELECT 1")
    with pytest.raises(SettingError, match=r"^query names rows .* are a query already"):
        priory.train("SELECT 1 AS kind", "kind", query="SELECT 1")
    with pytest.raises(InputError, match=r"^sqlite://days.db names no file: sqlite:///days.db is"):
        priory.train("sqlite://days.db", "kind")
    with pytest.raises(SettingError, match=r"holds 2 tables: 'days', 'other'"):
        priory.train(f"sqlite:///{bases / 'days.db'}", "kind")


def test_the_shell(bases, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = f"duckdb:///{bases / 'days.duckdb'}"
    given = [source, "--query", "SELECT * FROM days", "-t", "kind", "--textbook"]
    assert main(["train", *given]) == 0
    assert (tmp_path / "days.priory").exists()
    assert main(["train", *given, "--table", "days"]) == 2
    assert (
        "--table days and --query 'SELECT * FROM days' both say what is read"
        in capsys.readouterr().err
    )
    assert main(["train", *given, "-o", str(bases / "days.duckdb")]) == 2
    assert "would overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:w0rd@host/base",
        "ATTACH 'postgresql://ann:w0rd@host/base' AS b",
        "host=h password=w0rd user=ann",
        "host=h password='w0rd with blanks' dbname=b",
        "SET s3_secret_access_key = 'w0rd'; SELECT 1",
        "postgresql://host/base?sslpassword=w0rd&user=ann",
    ],
)
def test_secrets_are_left_out(text):
    assert "w0rd" not in without_secrets(text)


@pytest.mark.parametrize("name", ["host/base", "host@other/base", "h:1/a b"])
def test_what_is_no_secret_stays(name):
    assert without_secrets(name) == name


def test_a_query_that_attaches_leaves_no_password(tmp_path, bases):
    path = bases / "days.duckdb"
    query = f"SET VARIABLE password='w0rd'; ATTACH '{path}' AS b (READ_ONLY); SELECT * FROM b.days"
    model = priory.train(query, "kind", **TEXTBOOK)
    model.save(tmp_path / "m.priory")
    assert b"w0rd" not in (tmp_path / "m.priory").read_bytes()
    assert model.provenance.sources[0].name.startswith("query SET VARIABLE password=…; ATTACH")
    with pytest.raises(InputError) as caught:
        priory.train("SELECT 1", "kind", attach={"b": "postgres:password=w0rd host=127.0.0.1"})
    assert "w0rd" not in str(caught.value)
