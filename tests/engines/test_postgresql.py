"""Rows that stream in from a real PostgreSQL server: the same model, and nothing but reading."""

import json
import traceback
from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest

import priory
from priory.base.errors import InputError, PrioryWarning, SettingError
from priory.cli import main
from priory.sources import forget, inspect, open_source, update

from .rows import mixed
from .servers import PASSWORD, address, run, server, write

pytestmark = [
    pytest.mark.skipif(bool(server()[1]), reason=server()[1] or "there is a server"),
    pytest.mark.filterwarnings("ignore:.*have no 'kind' and were skipped"),
]


@pytest.fixture(scope="module")
def table():
    rows = mixed(1200)
    write(rows, "streamed")
    return rows


@pytest.fixture
def shell(capsys):
    def run(*arguments, code=0):
        assert main(list(arguments)) == code
        told = capsys.readouterr()
        assert PASSWORD not in told.out + told.err
        return told

    return run


@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"where": 'x > 0 AND "Tailed" < 5'}])
@pytest.mark.parametrize(
    "what", [{"table": "streamed"}, {"query": "SELECT * FROM streamed -- all"}]
)
def test_the_model_is_that_of_the_table_in_memory(table, options, what):
    here = priory.train(table, "kind", **options)
    there = priory.train(address(), "kind", **what, **options)
    assert there.statistics == here.statistics
    np.testing.assert_array_equal(there.predict_proba(table), here.predict_proba(table))


def test_a_structure_is_counted_in_the_same_state_of_the_data(table):
    options = {"structure": "tan", "drop": ["empty", "w"]}
    here = priory.train(table, "kind", **options)
    there = priory.train(address(), "kind", table="streamed", **options)
    assert there.statistics == here.statistics


def test_update_and_forget(table):
    model, here = (priory.train(table.slice(0, 800), "kind") for _ in range(2))
    before = model.statistics
    update(model, address(), query="SELECT * FROM streamed OFFSET 800")
    update(here, table.slice(800))
    assert model.statistics == here.statistics
    forget(model, address(), query="SELECT * FROM streamed OFFSET 800")
    assert model.statistics.rows.tolist() == before.rows.tolist()


def test_types_of_the_server():
    run(
        "DROP TABLE IF EXISTS typed",
        "DO $$ BEGIN CREATE TYPE mood AS ENUM ('sad', 'glad'); "
        "EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "CREATE TABLE typed AS SELECT i, (i % 7)::numeric / 8 AS n, (i % 5)::money AS price, "
        "(CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'glad' END)::mood AS mood, "
        "('00000000-0000-0000-0000-00000000000' || i % 3)::uuid AS id, "
        "('10.0.0.' || i % 4)::inet AS ip, (i % 3) * interval '90 seconds' AS took, "
        "date '2024-01-01' + i AS day, timestamptz '2024-01-01 00:00+00' + i * interval '1 hour' "
        "AS at, (i % 2)::smallint AS y FROM generate_series(1, 60) AS i",
    )
    i = np.arange(1, 61)
    here = pa.table(
        {
            "i": i,
            "n": (i % 7) / 8,
            "price": (i % 5) * 1.0,
            "mood": [("sad", "glad")[k] for k in i % 2],
            "id": [f"00000000-0000-0000-0000-00000000000{k}" for k in i % 3],
            "ip": [f"10.0.0.{k}/32" for k in i % 4],
            "took": (i % 3) * 90.0,
            "day": np.datetime64("2024-01-01") + i,
            "at": np.datetime64("2024-01-01T00:00:00") + i * np.timedelta64(3600, "s"),
            "y": (i % 2).astype(np.int16),
        }
    )
    model = priory.train(address(), "y", table="typed", families="plain", weights=None)
    other = priory.train(here, "y", families="plain", weights=None)
    assert model.statistics == other.statistics
    run("DROP TABLE IF EXISTS typed", "DROP TYPE mood")


def test_columns_that_have_no_form():
    message = r"Column 'l' has the type list<.*>, which cannot be read"
    with pytest.raises(InputError, match=message):
        priory.train(address(), "y", query="SELECT ARRAY[1, 2] AS l, 'a' AS y")


def test_names_that_stand_twice(table):
    query = 'SELECT * FROM streamed a CROSS JOIN (SELECT 1 AS x, 2 AS "X") b'
    with closing(open_source(address(), query=query)) as source:
        assert source.columns == (*table.column_names, "x_1", "X")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM streamed", r"A query may only read, not 'DELETE"),
        ("WITH a AS (DELETE FROM streamed RETURNING *) SELECT * FROM a", r"data-modifying"),
        ("SELECT 1 AS kind; DROP TABLE streamed", r"syntax error"),
        ("SELECT 1) AS a; DROP TABLE streamed; SELECT * FROM (SELECT 1", r"multiple commands"),
        ("SELECT nextval('counter') AS x, 1 AS kind", r"A query may only read: cannot execute"),
        ("SELECT * FROM streamed FOR UPDATE", r"A query may only read: cannot execute"),
        (
            "SELECT set_config('transaction_read_only', 'off', true) AS x, 'a' AS kind",
            r"read-write",
        ),
    ],
)
def test_a_query_may_only_read(table, query, message):
    run("CREATE SEQUENCE IF NOT EXISTS counter")
    with pytest.raises((SettingError, InputError), match=message):
        priory.train(address(), "kind", query=query)
    assert inspect(address(), table="streamed").rows == table.num_rows


def test_mistakes_are_told(table):
    with pytest.raises(SettingError, match=r"table='stremed' was not found .*Did you mean 'str"):
        priory.train(address(), "kind", table="stremed")
    with pytest.raises(InputError, match=r'could not be read: column "nope" does not exist\.$'):
        priory.train(address(), "kind", query="SELECT nope FROM streamed")
    with pytest.raises(SettingError, match=r'^where=\'nope > 1\' is invalid: column "nope" does'):
        priory.train(address(), "kind", table="streamed", where="nope > 1")
    with pytest.raises(SettingError, match=r"^table='streamed' and query='SELECT 1' both say"):
        priory.train(address(), "kind", table="streamed", query="SELECT 1")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: address("nobody"),
        lambda: address(password="sw0rd-f1sh%zz"),
        lambda: address().replace("/tests", "/nothing"),
        lambda: "postgresql://tests:sw0rd-f1sh@127.0.0.1:1/tests",
        lambda: "postgresql://tests:sw0rd-f1sh@127.0.0.1:port/tests",
        lambda: "postgresql://127.0.0.1:1/tests?user=tests&password=sw0rd-f1sh",
        lambda: "postgresql://tests:sw0rd-f1sh@127.0.0.1:1/tests?nonsense=1",
        lambda: "mysql://tests:sw0rd-f1sh@127.0.0.1/tests",
        lambda: "postgresql://tests:sw0rd-f1sh/more@127.0.0.1:1/tests",
        lambda: "postgresql://tests:a@sw0rd-f1sh@127.0.0.1:1/tests",
        lambda: "postgresql:/tests:sw0rd-f1sh@127.0.0.1:1/tests",
        lambda: "postgresq://tests:sw0rd-f1sh@127.0.0.1:1/tests",
        lambda: "host=127.0.0.1 user=tests password=sw0rd-f1sh",
    ],
)
def test_no_error_holds_a_password(wrong, shell):
    with pytest.raises(InputError) as caught:
        priory.train(wrong(), "y", table="days")
    assert PASSWORD not in str(caught.value) and "tests:" not in str(caught.value)
    told = "".join(traceback.format_exception(caught.value))
    assert PASSWORD not in told.replace(wrong.__code__.co_filename, "")
    shell("train", wrong(), "--table", "days", "-t", "y", code=1)


def test_no_file_holds_a_password(shell, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    query = f"SELECT *, 'password={PASSWORD}' <> '' AS always FROM streamed"
    shell("train", address(), "--query", query, "-t", "kind", "--keep-sample")
    saved = tmp_path / "model.priory"
    assert [path.name for path in tmp_path.iterdir()] == [saved.name]
    assert PASSWORD.encode() not in saved.read_bytes()
    shown = json.loads(shell("show", str(saved), "--json").out)
    assert "query SELECT" in json.dumps(shown)


def test_the_shell(shell, table, tmp_path):
    out, found = str(tmp_path / "m.priory"), str(tmp_path / "found.csv")
    given = (address(), "--query", "SELECT * FROM streamed", "--where", "x > -9")
    shell("inspect", *given, "-t", "kind")
    shell("train", *given, "-t", "kind", "-o", out, "--textbook")
    shell("predict", out, *given, "--keep", "kind", "-o", found)
    shell("evaluate", out, *given)
    shell("update", out, *given)
    shell("explain", out, *given, "--row", "3")
    done = shell("train", address(), "--table", "nothing", "-t", "kind", code=2)
    assert "--table nothing was not found in postgresql://127.0.0.1" in done.err
    done = shell("train", address(), "--query", "DROP TABLE streamed", "-t", "kind", code=2)
    assert "A query may only read" in done.err


def test_the_environment_says_who_and_where(table, monkeypatch):
    port, _ = server()
    for name, value in {"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "tests"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("PGDATABASE", "tests")
    model = priory.train("postgresql://", "kind", table="streamed")
    assert model.provenance.sources[0].name == "streamed of postgresql://"


def test_rows_are_not_all_in_memory(table):
    query = "SELECT i % 3 AS y, i AS a, i * 2 AS b, i / 2 AS c FROM generate_series(1, 900000) AS i"
    with closing(open_source(address(), query=query)) as source:
        sizes = [batch.n_rows for batch in source.batches(source.forms())]
    assert sum(sizes) == 900_000 and len(sizes) >= 3


def test_a_first_look_can_be_broken_off(table):
    query = "SELECT a.kind, b.x FROM streamed a, streamed b, generate_series(1, 100)"
    with closing(open_source(address(), query=query)) as source:
        for batch in source.batches(source.forms()):
            assert batch.n_rows
            break
        assert sum(batch.n_rows for batch in source.batches(source.forms(), 5)) == 5


def test_rows_without_a_class_are_told(table):
    with pytest.warns(PrioryWarning, match=r"rows of streamed of postgresql://127.0.0.1.* have no"):
        priory.train(address(), "kind", table="streamed")


def test_every_kind_of_table_is_found(table):
    run(
        "DROP MATERIALIZED VIEW IF EXISTS kept",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM streamed",
        "CREATE OR REPLACE VIEW seen AS SELECT * FROM streamed",
        "DROP TABLE IF EXISTS parted",
        "CREATE TABLE parted (x float8, kind text) PARTITION BY LIST (kind)",
        "CREATE TABLE parted_all PARTITION OF parted DEFAULT",
        "INSERT INTO parted SELECT x, kind FROM streamed",
    )
    n = priory.train(address(), "kind", table="streamed").statistics.n_rows
    for name in ("kept", "seen", "parted"):
        assert priory.train(address(), "kind", table=name).statistics.n_rows == n
    run("DROP MATERIALIZED VIEW kept", "DROP VIEW seen", "DROP TABLE parted")


def test_the_scheme_may_be_written_as_one_likes(table):
    written = address().replace("postgresql", "Postgresql")
    assert priory.train(written, "kind", table="streamed").statistics.n_rows
