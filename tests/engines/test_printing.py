"""Printed queries run where they can, and count what `train` counts."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

import priory
from priory import Settings
from priory.cli import main

sqlglot = pytest.importorskip("sqlglot")


@pytest.fixture
def days(tmp_path):
    frame = pd.read_csv("examples/play_tennis.csv")
    frame["grams"] = np.linspace(0.5, 9.5, len(frame))
    path = tmp_path / "days.parquet"
    frame.to_parquet(path)
    return path


def printed(capsys, *arguments):
    assert main(["train", *map(str, arguments), "--print-sql"]) == 0
    return [part for part in capsys.readouterr().out.split(";\n") if part.strip()]


def test_the_queries_of_duckdb_count(days, capsys):
    queries = printed(capsys, days, "-t", "play")
    model = priory.train(days, "play", settings=Settings.textbook())
    with duckdb.connect() as base:
        base.execute(f"CREATE TABLE days AS FROM '{days}'")
        found = [base.execute(query).df() for query in queries]
    assert dict(zip(found[0]["y"], found[0]["n"], strict=True)) == {"No": 5, "Yes": 9}
    table = model.statistics.tables["outlook"]
    counts = {(y, v): n for y, v, n in found[1].itertuples(index=False)}
    expected = {
        (y, v): n
        for k, y in enumerate(model.classes)
        for v, n in zip(table.labels, table.rows[k].tolist(), strict=True)
        if n
    }
    assert counts == expected
    sums = found[5].set_index("y").loc[list(model.classes)]  # a GROUP BY has no order
    np.testing.assert_allclose(
        sums["a"] / sums["n"], model.statistics.tables["grams"].moments.mean[:, 0]
    )


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "sqlite", "tsql"])
def test_other_dialects(days, capsys, dialect):
    queries = printed(capsys, days, "-t", "play", "--dialect", dialect)
    assert len(queries) == 6
    for query in queries:
        assert sqlglot.parse_one(query, read=dialect).find(sqlglot.exp.Group)
        assert "NAN" not in query.upper()  # whose function has another name everywhere, or none
    quote = "`" if dialect == "bigquery" else "[" if dialect == "tsql" else '"'
    assert f"{quote}days" in queries[0]


def test_the_queries_of_sqlite_count(days, tmp_path, capsys):
    """A base of SQLite is counted in its own SQL, which has no function for NaN or for dates."""
    frame = pd.read_parquet(days)
    frame["day"] = pd.date_range("2024-01-01", periods=len(frame)).astype(str)
    path = tmp_path / "days.db"
    with closing(sqlite3.connect(path)) as base:
        frame.to_sql("days", base, index=False)
        queries = printed(capsys, f"sqlite:///{path}", "-t", "play")
        found = [pd.read_sql_query(query, base) for query in queries]
    sums = found[5].set_index("y")
    expected = frame.groupby("play")["grams"]
    pd.testing.assert_series_equal(sums["s1"], expected.sum(), check_names=False)
    pd.testing.assert_series_equal(sums["n"], expected.count(), check_names=False)
    seconds = pd.to_datetime(frame["day"]).astype("datetime64[s]").astype("int64")
    assert found[6]["s1"].sum() == seconds.sum()


def test_mistakes(days, capsys):
    assert main(["train", str(days), "-t", "play", "--dialect", "bigquery"]) == 2
    assert "--dialect is that of --print-sql" in capsys.readouterr().err
    assert main(["train", str(days), "-t", "play", "--print-sql", "--dialect", "nothing"]) == 2
    assert "--dialect must be one of" in capsys.readouterr().err
    assert main(["train", str(days), "--print-sql"]) == 2
    told = capsys.readouterr().err
    assert "--target COLUMN" in told
