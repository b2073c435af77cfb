"""Three sites that may not share rows: files of sums, merged at one of them."""

import numpy as np
import pandas as pd
import pytest

from priory import load
from priory.cli import main

from .rows import mixed


@pytest.fixture
def sites(tmp_path, monkeypatch):
    """Write the rows of three sites, and a table of all of them, which none of them has."""
    monkeypatch.chdir(tmp_path)
    frame = mixed(900).drop(["empty", "w", "huge id"]).to_pandas().dropna(subset=["kind"])
    frame["colour"] = frame["colour"].str.strip()
    frame.to_csv("all.csv", index=False)
    for k, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_csv(f"site{k}.csv", index=False)
    # What all agree on: columns and classes, of rows that were made up.
    frame.iloc[::97].assign(x=lambda t: t["x"] + 0.125).to_csv("made-up.csv", index=False)
    return tmp_path


def run(*arguments, code=0):
    assert main(list(arguments)) == code


@pytest.mark.parametrize("options", [["--textbook"], ["--families", "plain"]], ids=str)
def test_three_sites_learn_what_one_would(sites, options):
    run("train", "all.csv", "-t", "kind", "-o", "all.priory", *options)
    run("train", "made-up.csv", "-t", "kind", "-o", "schema.priory", *options)
    for k in range(3):
        run("train", f"site{k}.csv", "--blank-like", "schema.priory", "-o", f"site{k}.priory")
    run("merge", *(f"site{k}.priory" for k in range(3)), "-o", "merged.priory")
    merged, whole = load("merged.priory"), load("all.priory")
    a, b = merged.statistics, whole.statistics
    assert a.classes == b.classes and a.rows.tolist() == b.rows.tolist()
    for name, table in b.tables.items():
        other = a.tables[name]
        if hasattr(table, "cells"):
            assert table.cells == other.cells
            np.testing.assert_allclose(table.moments.mean, other.moments.mean, rtol=1e-12)
            np.testing.assert_allclose(table.moments.variance, other.moments.variance, rtol=1e-12)
        else:
            assert table == other
    if options == ["--textbook"]:
        rows = pd.read_csv("all.csv").head(50)
        np.testing.assert_allclose(
            merged.predict_proba(rows), whole.predict_proba(rows), atol=1e-12
        )


def test_a_file_has_no_rows_of_the_others(sites):
    run("train", "site0.csv", "-t", "kind", "-o", "first.priory", "--textbook")
    run("train", "site1.csv", "--blank-like", "first.priory", "-o", "second.priory")
    second, rows = load("second.priory"), len(pd.read_csv("site1.csv"))
    assert second.statistics.n_rows == rows
    assert [source.name for source in second.provenance.sources] == ["site1.csv"]
    run(
        "train",
        "site1.csv",
        "--blank-like",
        "first.priory",
        "-o",
        "few.priory",
        "--min-count",
        "20",
    )
    for table in load("few.priory").statistics.tables.values():
        cells = getattr(table, "cells", table)
        assert (cells.rows.sum(axis=0) >= 20).all()


def test_settings_are_those_of_the_model(sites, capsys):
    run("train", "site0.csv", "-t", "kind", "-o", "first.priory", "--textbook")
    for option in (["--families", "gaussian"], ["--textbook"], ["--drop", "x"], ["--in-database"]):
        capsys.readouterr()
        run("train", "site1.csv", "--blank-like", "first.priory", *option, code=2)
        told = capsys.readouterr().err
        assert "--blank-like counts as that model does, with its settings" in told
        assert f"leave out {option[0]}." in told
