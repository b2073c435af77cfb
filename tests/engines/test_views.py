"""A view with class, probability and reasons says what Python's explanation says."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

from priory import Settings, load, train
from priory.base.errors import SettingError
from priory.cli import main
from priory.export import to_sql

from ..export.engines import NO_POSTGRES, postgres
from .rows import mixed

pytest.importorskip("sqlglot")


def by_duckdb(table, view):
    with duckdb.connect() as base:
        base.register("given", table)
        base.execute("CREATE TABLE days AS SELECT * FROM given")
        base.execute(view)
        return base.execute('SELECT * FROM "the view"').df()


def by_sqlite(table, view):
    base = sqlite3.connect(":memory:")
    table.to_sql("days", base, index=False)
    base.execute(view)
    return pd.read_sql_query('SELECT * FROM "the view"', base)


def by_postgres(table, view):
    return postgres(table, f'{view};\nSELECT * FROM "the view"')


def expected_reasons(row, most):
    """Find the factors that speak most for the first class over the second."""
    best, second = np.argsort(-row.log_joint, kind="stable")[:2]
    found = []
    for factor in row.factors:
        if factor.weight and not factor.left_out:
            gain = factor.weight * (factor.log_likelihood[best] - factor.log_likelihood[second])
            found.append((gain, factor))
    found.sort(key=lambda pair: -pair[0])
    return [gain for gain, _ in found if gain > 0][:most]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("settings", [Settings.textbook(), Settings(families="plain")], ids=str)
@pytest.mark.filterwarnings("ignore:.*have no 'kind' and were skipped")
def test_a_view(dialect, settings):
    if dialect == "postgres" and NO_POSTGRES:
        pytest.skip(NO_POSTGRES)
    run = {"duckdb": by_duckdb, "sqlite": by_sqlite, "postgres": by_postgres}[dialect]
    rows = mixed(300).select(["colour", "count", "x", "rounded", "kind"])
    model = train(rows, "kind", settings=settings)
    table = rows.drop(["kind"]).to_pandas().head(40)
    table["row number"] = np.arange(len(table))
    found = run(table, to_sql(model, "days", dialect, view="the view", reasons=2))
    found = found.sort_values("row number").reset_index(drop=True)
    features = table.drop(columns="row number")
    p = model.predict_proba(features)
    assert found["prediction"].tolist() == model.predict(features).tolist()
    np.testing.assert_allclose(found["probability"].astype(float), p.max(axis=1), atol=1e-9)
    assert [c for c in found if c.startswith("reason")] == ["reason 1", "reason 2"]
    titles = {term.title: term for term in model.model.terms}
    for i, row in enumerate(model.explain(features)):
        gains = expected_reasons(row, 2)
        told = [found.loc[i, f"reason {r}"] for r in (1, 2)]
        told = [title for title in told if isinstance(title, str)]
        assert len(told) == len(gains) and len(set(told)) == len(told)
        best, second = np.argsort(-row.log_joint, kind="stable")[:2]
        by_title = {}
        for term, factor in zip(model.model.terms, row.factors, strict=True):
            gain = term.weight * (factor.log_likelihood[best] - factor.log_likelihood[second])
            by_title[term.title] = gain
        np.testing.assert_allclose([by_title[title] for title in told], gains, atol=1e-9)
        assert titles.keys() >= set(told)


def test_the_shell(tmp_path, capsys):
    out = str(tmp_path / "days.priory")
    assert main(["train", "examples/play_tennis.csv", "-t", "play", "--textbook", "-o", out]) == 0
    capsys.readouterr()
    given = ["export", out, "--to", "sql", "--table", "days", "--view", "the view"]
    assert main([*given, "--reasons", "2"]) == 0
    view = capsys.readouterr().out
    days = pd.read_csv("examples/play_tennis.csv")
    found = by_duckdb(days, view)
    assert found["prediction"].tolist() == load(out).predict(days).tolist()
    assert list(found)[-4:] == ["prediction", "probability", "reason 1", "reason 2"]
    assert found["reason 1"].isin(["outlook", "temperature", "humidity", "wind"]).all()
    assert main(["export", out, "--to", "json", "--view", "v"]) == 2
    assert "--view is written in SQL" in capsys.readouterr().err


def test_one_column_and_no_reasons():
    model = train({"x": ["a", "b", "b"], "y": [0, 1, 1]}, "y", settings=Settings.textbook())
    table = pd.DataFrame({"x": ["a", "b", None]})
    for run, dialect in ((by_duckdb, "duckdb"), (by_sqlite, "sqlite")):
        found = run(table, to_sql(model, "days", dialect, view="the view", reasons=3))
        told = dict(zip(found["x"], found["reason 1"], strict=True))
        assert told["a"] == told["b"] == "x" and "reason 2" not in found
        assert pd.isna(found["reason 1"]).sum() == 1
        found = run(table, to_sql(model, "days", dialect, view="the view", reasons=0))
        assert list(found) == ["x", "prediction", "probability"]
    with pytest.raises(SettingError, match=r"^reasons must be an integer of at least 0, not -1"):
        to_sql(model, view="v", reasons=-1)
