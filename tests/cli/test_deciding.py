"""Decisions, drift and certificates from the shell."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from priory.cli import main

DAYS = "examples/play_tennis.csv"


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([*map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def table(out):
    return list(csv.DictReader(io.StringIO(out)))


@pytest.fixture
def days(tmp_path, run):
    path = tmp_path / "days.priory"
    assert run("train", DAYS, "--target", "play", "--textbook", "-o", path)[0] == 0
    return path


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 300, p=[0.7, 0.3])
    x = rng.normal(size=300) + 1.5 * (y == "yes")
    return pd.DataFrame({"x": x, "c": rng.choice(["a", "b"], 300), "class": y})


@pytest.fixture
def tuned(tmp_path, rows, run):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    path = tmp_path / "model.priory"
    given = ("train", tmp_path / "rows.csv", "--target", "class", "--keep-sample", "-o", path)
    assert run(*given)[0] == 0
    return path


def test_costs(tuned, tmp_path, run):
    costs = tmp_path / "costs.csv"
    costs.write_text("true,no,yes,unsure\nno,0,1,.4\nyes,9,0,.4\n")
    code, out, _ = run("predict", tuned, tmp_path / "rows.csv", "--costs", costs)
    assert code == 0
    found = table(out)
    assert {row["prediction"] for row in found} == {"no", "yes", "unsure"}
    assert all(0 <= float(row["expected cost"]) <= 0.4 + 1e-12 for row in found)
    plain = table(run("predict", tuned, tmp_path / "rows.csv")[1])
    of_plain, of_found = ([r["prediction"] for r in rows].count("no") for rows in (plain, found))
    assert of_found < of_plain


def test_unsure_prior_threshold_interval_set_and_novelty(tuned, tmp_path, run):
    given = ("predict", tuned, tmp_path / "rows.csv")
    found = table(run(*given, "--unsure", ".8", "--interval", "--set", ".9", "--novelty")[1])
    for row in found:
        assert (row["prediction"] == "unsure") == (float(row["probability"]) < 0.8)
        assert float(row["low"]) <= float(row["high"])
        assert set(row["set"].split()) <= {"no", "yes"} and 0 < float(row["novelty p"]) <= 1
    often = table(run(*given, "--prior", "no=.1,yes=.9")[1])
    plain = table(run(*given)[1])
    assert sum(r["prediction"] == "yes" for r in often) > sum(
        r["prediction"] == "yes" for r in plain
    )
    low = table(run(*given, "--threshold", ".1", "--proba")[1])
    assert all((r["prediction"] == "yes") == (float(r["P(yes)"]) >= 0.1) for r in low)
    low = table(run(*given, "--threshold", ".1", "--positive", "no", "--proba")[1])
    assert all((r["prediction"] == "no") == (float(r["P(no)"]) >= 0.1) for r in low)


def test_textbook_intervals_need_no_rows(days, run):
    code, out, _ = run("predict", days, DAYS, "--interval")
    assert code == 0 and {"low", "high"} <= set(table(out)[0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", ".9"), "train it with --keep-sample"),
        (("--novelty",), "train it with --keep-sample"),
        (("--unsure", "2"), "unsure must be between 0 and 1"),
        (("--prior", "No=.5"), "--prior must name every class"),
        (("--prior", "often"), "--prior takes uniform"),
        (("--costs", "absent.csv"), "cannot be read"),
        (("--positive", "No"), "names the class that a threshold is of"),
        (("--threshold", ".5", "--positive", "Maybe"), "no class"),
    ],
)
def test_what_cannot_be_is_refused(days, run, options, said):
    code, out, err = run("predict", days, DAYS, *options)
    assert code != 0 and not out and said in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have a header"),
        ("true,No,Yes\nNo,0\n", "line 2: class 'No' has 1 costs"),
        ("true,No,Yes\nNo,0,1\nNo,0,1\n", "line 3: class 'No' comes twice"),
        ("true,No,Yes\nNo,0,x\n", "must be numbers"),
        ("true,No,Maybe\nNo,0,1\nYes,1,0\n", "neither a class nor 'unsure'"),
    ],
)
def test_costs_that_cannot_be_read(days, tmp_path, run, text, said):
    (tmp_path / "costs.csv").write_text(text)
    code, _, err = run("predict", days, DAYS, "--costs", tmp_path / "costs.csv")
    assert code != 0 and said in err


def test_untuned_models_warn(days, run):
    code, _, err = run("predict", days, DAYS, "--unsure", ".8")
    assert code == 0 and "--weights columns" in err


def test_drift(tuned, tmp_path, rows, run):
    code, out, _ = run("drift", tuned, tmp_path / "rows.csv")
    assert code == 0 and "class prior" in out and "drifted" not in out
    rows.assign(x=rows["x"] + 2).to_csv(tmp_path / "new.csv", index=False)
    found = json.loads(run("drift", tuned, tmp_path / "new.csv", "--json")[1])
    assert [c["column"] for c in found["columns"] if c["p_corrected"] < 0.05] == ["x"]
    (tmp_path / "none.csv").write_text("x,c\n")
    code, _, err = run("drift", tuned, tmp_path / "none.csv")
    assert code != 0 and "no rows" in err


@pytest.mark.parametrize("kind", ["days", "tuned"])
def test_forget_with_a_certificate(kind, request, tmp_path, rows, run):
    model = request.getfixturevalue(kind)
    whole = pd.read_csv(DAYS) if kind == "days" else rows
    old, gone, paper = tmp_path / "old.priory", tmp_path / "gone.csv", tmp_path / "paper.json"
    old.write_bytes(model.read_bytes())
    whole[2:6].to_csv(gone, index=False)
    assert run("forget", model, gone, "--certificate", paper)[0] == 0
    code, out, _ = run("verify", paper, model, gone, "--before", old)
    assert code == 0 and "NO" not in out and "before − rows = after" in out
    assert ("chosen anew" if kind == "tuned" else "sums alone") in out
    code, out, _ = run("verify", paper, old, "--json")
    assert code == 1 and not json.loads(out)["claims"]["the model is the one certified"]
    whole[:4].to_csv(gone, index=False)
    code, out, _ = run("verify", paper, model, gone)
    assert code == 1 and "NO   the rows are those forgotten" in out
    (tmp_path / "broken.json").write_text("{}")
    code, _, err = run("verify", tmp_path / "broken.json", model)
    assert code not in (0, 1) or "no certificate" in err
    code, _, err = run("forget", model, gone, "--certificate", gone)
    assert code != 0 and "would overwrite" in err
