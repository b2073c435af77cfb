"""Conditions and queries that could do more than read are refused before anything is run."""

from contextlib import closing

import duckdb
import pandas as pd
import pytest

from priory import Settings, train
from priory.base.errors import InputError, SettingError
from priory.sources.opening import open_source

TEXTBOOK = {"settings": Settings.textbook()}


@pytest.fixture
def days(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "days.csv"
    path.write_text("wind,n,play\nweak,1,yes\nstrong,2,no\nweak,3,yes\n")
    (tmp_path / "other.csv").write_text("a\nsecret\n")
    return path


@pytest.mark.parametrize(
    "where",
    [
        "1=1); COPY (SELECT 1) TO 'stolen.csv'; SELECT * FROM (SELECT 1 WHERE (1=1",
        "1=1; COPY (SELECT 1) TO 'stolen.csv'",
        "1=1) OR (2=2",
        "1=1 UNION SELECT 2",
        "1=1 ORDER BY 1",
        "1=1 LIMIT 1",
        "1=1 GROUP BY wind",
        "wind IN (SELECT a FROM 'other.csv')",
        "EXISTS (FROM read_csv('other.csv'))",
        "wind = (SELECT content FROM read_text('other.csv'))",
        "",
        "SELECT",
    ],
)
def test_a_condition_is_one_expression(days, tmp_path, where):
    for source in (str(days), "SELECT * FROM 'days.csv'", {"wind": ["weak"], "play": ["yes"]}):
        with pytest.raises(SettingError, match=r"^where=.* is invalid: "):
            open_source(source, where=where)
    assert not (tmp_path / "stolen.csv").exists()


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("n > 1 AND wind IN ('weak', 'strong')", 2),
        ("n > 1 -- and so on", 2),
        ("wind LIKE 'w%' OR n BETWEEN 2 AND 3", 3),
        ("list_contains(list_transform([1, 2], lambda x: x + 1), n)", 2),
    ],
)
def test_conditions_that_are_one(days, where, rows):
    for source in (str(days), "SELECT * FROM 'days.csv'"):
        assert train(source, "play", where=where, **TEXTBOOK).statistics.n_rows == rows


@pytest.mark.parametrize(
    "query",
    [
        "SET threads = 1; COPY (SELECT 1) TO 'stolen.csv'; SELECT * FROM 'days.csv'",
        "SELECT 1; COPY (SELECT 1) TO 'stolen.csv'",
        "ATTACH 'new.db' AS d; SELECT * FROM 'days.csv'",
        "SET profiling_output = 'stolen.csv'; SELECT * FROM 'days.csv'",
        "WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a",
    ],
)
def test_a_query_may_only_read(days, tmp_path, query):
    with pytest.raises((SettingError, InputError), match=r"A query may only read"):
        open_source(query)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["days.csv", "other.csv"]


def test_what_may_stand_before_a_query(days, tmp_path):
    with duckdb.connect(str(tmp_path / "d.db")) as made:
        made.execute("CREATE TABLE t AS SELECT * FROM 'days.csv'")
    query = "ATTACH 'd.db' AS d (READ_ONLY); CREATE TEMP TABLE u AS FROM d.t; SELECT * FROM u"
    assert train(query, "play", **TEXTBOOK).statistics.n_rows == 3


def test_a_connection_reads_its_files_alone(days):
    pd.read_csv("days.csv").to_parquet("days.parquet")
    with closing(open_source("days.parquet", where="n > 0")) as source:
        for wrong in ("SELECT * FROM 'other.csv'", "COPY (SELECT 1) TO 'stolen.csv'"):
            with pytest.raises(duckdb.Error, match="disabled by configuration"):
                source._connection.sql(wrong)
        assert sum(batch.n_rows for batch in source.batches(source.forms())) == 3


@pytest.mark.parametrize("where", ["1=1; DROP TABLE days", "1=1; SELECT 2"])
def test_a_second_statement_is_told_as_such(days, where):
    with pytest.raises(SettingError, match="must be one condition"):
        train(days, "play", where=where, **TEXTBOOK)
