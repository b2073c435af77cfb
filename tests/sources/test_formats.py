"""Formats beside CSV: read, or refused with a message that says what to do."""

import bz2
import json
import sqlite3
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import priory
from priory.base.errors import InputError, PrioryWarning, SettingError
from priory.sources import open_source
from priory.sources import rows as rows_module
from priory.sources.base import Form

DAYS = [{"n": i, "s": "uvw"[i % 3], "y": "ab"[i % 2]} for i in range(12)]


@pytest.fixture
def expected(tmp_path):
    path = tmp_path / "days.csv"
    pd.DataFrame(DAYS).to_csv(path, index=False)
    return priory.train(path, "y").statistics


@pytest.mark.parametrize("text", [json.dumps(DAYS), "\ufeff " + json.dumps(DAYS, indent=2) + "\n"])
def test_an_array_of_json(tmp_path, expected, text, monkeypatch):
    for at_once in (7, 1 << 20):
        monkeypatch.setattr(rows_module, "AT_ONCE", at_once)
        for name in ("a.json", "bare"):
            (tmp_path / name).write_text(text)
            assert priory.train(tmp_path / name, "y").statistics == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", r"a.json is empty"),
        ("", r"a.json is empty"),
        ("[{}]", r"a.json has rows without a single key"),
        ('[{"x": 1, "y": "a"}, 7]', r"Row 2 of .*a.json must be an object, not 7"),
        ('[{"x": 1, "y": "a"}, {"x": 2', r"Row 2 of .*a.json is not JSON: "),
        ('[{"x": 1, "y": "a"}', r"Row 2 of .*a.json is cut off"),
        ('{"x": 1, "y": "a"}\n\n{"x": 2,\n', r"Line 3 of .*a.json is not JSON: "),
        ('{"x": 1, "y": "a"}\n[1]\n', r"Line 2 of .*a.json must be an object such as"),
        ('{\n "x": 1,\n "y": "a"\n}\n', r"Line 1 of .*a.json is not JSON: "),
    ],
)
def test_json_that_is_none(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        priory.train(path, "y")


def test_json_says_what_a_string_is(tmp_path):
    rows = [
        {"zip": "10115", "n": 1, "when": "2024-01-05", "mixed": 1, "y": "a"},
        {"zip": "20095", "n": "NA", "when": "2024-01-06", "mixed": "?", "y": "b"},
        {"zip": "80331", "n": 2.5, "when": None, "mixed": 3, "y": "a", "deep": [1, {"k": 2}]},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    forms = open_source(path).forms()
    assert [forms[name] for name in ("zip", "n", "when", "mixed", "deep")] == [
        Form.TEXT,
        Form.NUMBER,
        Form.DATE,
        Form.INTEGER,
        Form.TEXT,
    ]
    (batch,) = open_source(path).batches(forms)
    assert batch.columns["n"].to_pylist() == [1, None, 2.5] and not batch.misread
    assert batch.columns["deep"].to_pylist() == [None, None, '[1, {"k": 2}]']


def test_arrow_streams_are_read_again_and_again(tmp_path, expected):
    table = pa.table(pd.DataFrame(DAYS))
    for name in ("a.arrow", "a.arrows", "bare"):
        with pa.ipc.new_stream(tmp_path / name, table.schema) as stream:
            stream.write_table(table, max_chunksize=5)
        assert priory.train(tmp_path / name, "y").statistics == expected
        tan = priory.train(tmp_path / name, "y", structure="tan").statistics
        assert tan.n_rows == expected.n_rows
    (tmp_path / "bare").write_bytes(b"FEA1" + bytes(20))
    with pytest.raises(InputError, match=r"bare is a Feather file of the first version. Write it"):
        priory.train(tmp_path / "bare", "y")


def test_packed_parquet(tmp_path, expected):
    pq.write_table(pa.table(pd.DataFrame(DAYS)), tmp_path / "a.parquet")
    packed = tmp_path / "a.parquet.bz2"
    packed.write_bytes(bz2.compress((tmp_path / "a.parquet").read_bytes()))
    assert priory.train(packed, "y").statistics == expected
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no footer")
    with pytest.raises(InputError, match=r"broken.parquet could not be read: "):
        priory.train(tmp_path / "broken.parquet", "y")


def sqlite_base(path, tables):
    base = sqlite3.connect(path)
    for name, frame in tables.items():
        frame.to_sql(name, base, index=False)
    base.commit()
    base.close()
    return path


def test_sqlite(tmp_path, expected):
    one = sqlite_base(tmp_path / "one.db", {"days": pd.DataFrame(DAYS)})
    assert priory.train(one, "y").statistics == expected
    assert priory.train(one, "y", where="n < 4").statistics.n_rows == 4
    two = sqlite_base(tmp_path / "two", {"days": pd.DataFrame(DAYS), "it's": pd.DataFrame(DAYS)})
    with pytest.raises(
        SettingError, match=r"two is a database that holds 2 tables: 'days', \"it's"
    ):
        priory.train(two, "y")
    assert priory.train(two, "y", table="it's").statistics == expected
    with pytest.raises(SettingError, match=r"table='day' was not found.*Did you mean 'days'\?"):
        priory.train(two, "y", table="day")
    with pytest.raises(SettingError, match=r"none.db is a database that holds no table"):
        priory.train(sqlite_base(tmp_path / "none.db", {}), "y")
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(InputError, match=r"broken.db could not be read: "):
        priory.train(tmp_path / "broken.db", "y")


def test_a_query_of_sqlite_may_only_read(tmp_path):
    path = sqlite_base(tmp_path / "one.db", {"days": pd.DataFrame(DAYS)})
    for query in (
        "DELETE FROM days",
        "PRAGMA user_version = 1",
        "SELECT 1 AS x, abs(load_extension('x')) AS y",
    ):
        with pytest.raises(SettingError, match=r"^A query may only read, not "):
            priory.train(f"sqlite:///{path}", "y", query=query)
    query = "SELECT *, abs(-9223372036854775807 - (y IS NOT NULL)) AS z FROM days"
    with pytest.raises(InputError, match=r"one\.db could not be read: integer overflow\.$"):
        priory.train(f"sqlite:///{path}", "y", query=query)


def test_sqlite_has_values_of_any_type_in_a_column(tmp_path):
    path = tmp_path / "a.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE t (x, y)")
    base.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), ("NA", "b"), (2.5, "a"), (3, "b")])
    base.commit()
    base.close()
    assert priory.train(path, "y").statistics.schema["x"].why == "float"


def test_duckdb_files(tmp_path, expected):
    path = tmp_path / "base.duckdb"
    with duckdb.connect(str(path)) as base:
        base.register("given", pd.DataFrame(DAYS))
        base.execute("CREATE TABLE days AS FROM given")
    assert priory.train(path, "y").statistics == expected
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE SCHEMA more; CREATE TABLE more.days AS FROM days LIMIT 6")
    with pytest.raises(SettingError, match=r"holds 2 tables: 'days', 'more.days'. Name one"):
        priory.train(path, "y")
    assert priory.train(path, "y", table="more.days").statistics.n_rows == 6


def test_excel(tmp_path, expected):
    path = tmp_path / "days.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame(DAYS).to_excel(book, sheet_name="days", index=False, startrow=2)
    assert priory.train(path, "y").statistics == expected
    frame = pd.DataFrame(DAYS).assign(
        n=["NA", *range(1, 12)], day=pd.date_range("2024-01-01", periods=12)
    )
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="first", index=False)
        pd.DataFrame(DAYS).to_excel(book, sheet_name="second", index=False)
    with pytest.warns(PrioryWarning, match=r"has the sheets 'first', 'second'; the first is read"):
        found = priory.train(path, "y").statistics
    assert found.schema["n"].why == "integer" and found.schema["day"].unit == "date"
    assert priory.train(path, "y", table="second").statistics == expected
    with pytest.raises(
        SettingError, match=r"table='third' was not found in .* Each sheet: 'first'"
    ):
        priory.train(path, "y", table="third")


def test_excel_needs_an_extra(tmp_path, monkeypatch):
    path = tmp_path / "days.xlsx"
    pd.DataFrame(DAYS).to_excel(path, index=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"is an Excel workbook.*pip install 'priory\[excel\]'"):
        priory.train(path, "y")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "is an old Excel workbook .* Save it as .xlsx or CSV",
        ),
        (b"PGDMP", "is a dump of a PostgreSQL database. Restore it"),
        (b"%PDF-1.7", "is a PDF. Save its table as CSV"),
        (b"\x89HDF\r\n", "is an HDF5 file"),
    ],
)
def test_other_files_are_told_by_their_bytes(tmp_path, start, message):
    path = tmp_path / "a"
    path.write_bytes(start + bytes(100))
    with pytest.raises(InputError, match=message):
        priory.train(path, "y")


def test_a_table_is_asked_for_where_there_is_none(tmp_path, expected):
    with pytest.raises(SettingError, match=r"table names a table of a database .* is csv"):
        priory.train(tmp_path / "days.csv", "y", table="days")
