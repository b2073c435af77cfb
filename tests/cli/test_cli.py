"""The commands: results on stdout, talk on stderr, exit codes, and one clear line when it fails."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from priory import Classifier, NaiveBayes, Settings, load, train
from priory.cli import main
from priory.cli.app import app
from priory.families.priors import MEstimate

ROOT = Path(__file__).parents[2]
DAYS = str(ROOT / "examples" / "play_tennis.csv")
DAY = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
COMMANDS = {
    command.name or command.callback.__name__.replace("_", "-")
    for command in app.registered_commands
}


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments, stdin=""):
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "days.priory"
    train(DAYS, "play", settings=Settings.textbook()).save(path)
    return path


# Training


def test_train_tells_what_it_learned_and_saves_it(run, tmp_path):
    code, out, err = run("train", DAYS, "--target", "play")
    assert code == 0
    for word in ("outlook", "categorical", "strings", "Yes", "64.3%", "mutual information"):
        assert word in out
    assert "saved to play_tennis.priory" in err and "saved" not in out
    saved = load(tmp_path / "play_tennis.priory")
    assert saved.statistics == train(DAYS, "play").statistics
    assert saved.provenance.sources[0].rows == 14


def test_train_leaves_out_what_does_not_pay(run, tmp_path):
    rows = [f"{'ab'[i % 2]},{'pq'[(i // 7) % 2]},{'xy'[i % 2]}\n" for i in range(80)]
    (tmp_path / "t.csv").write_text("tells,noise,y\n" + "".join(rows))
    code, out, _ = run("train", "t.csv", "-t", "y", "--textbook", "--select", "mdl")
    assert code == 0
    assert "left out: saves" in out and "costs 3.2" in out
    assert load("t.priory").settings.select == "mdl"
    assert "left out: saves" in run("show", "t.priory")[1]
    code, _, err = run("train", "t.csv", "-t", "y", "--select", "best")
    assert code == 2 and "best" in err


def test_train_a_structure(run, tmp_path):
    code, out, _ = run("train", DAYS, "-t", "play", "--structure", "aode", "-o", "aode.priory")
    assert code == 0 and "in every pair of columns" in out
    assert load(tmp_path / "aode.priory").settings.structure == "aode"
    code, out, _ = run("explain", "aode.priory", "--set", "outlook=Sunny", "--set", "wind=Weak")
    assert code == 0 and "P(outlook = Sunny, wind = Weak | class)" in out
    code, _, _ = run("train", DAYS, "-t", "play", "--pairs", "auto", "-o", "pairs.priory")
    assert code == 0 and load(tmp_path / "pairs.priory").settings.pairs == "auto"
    code, _, err = run("train", DAYS, "-t", "play", "--structure", "knot")
    assert code != 0 and "structure must be one of 'naive', 'tan', 'aode', 'joint'" in err


def test_train_with_every_option(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "id;x;z;w;y\n" + "".join(f"{i};{i % 4};{'?' if i % 3 else 1};2;{'ab'[i % 2]}\n"
                                 for i in range(40)),
        encoding="utf-16",
    )  # fmt: skip
    code, out, _ = run(
        *("train", path, "-t", "y", "-o", "m.priory", "--families", "x=labels", "--drop", "id"),
        *("--where", "x < 3", "--weight", "w", "--na-values", "?", "--smoothing", "0.5"),
        *("--encoding", "utf-16", "--delimiter", ";", "--n-threads", "1", "--min-count", "2"),
        "--json",
    )
    assert code == 0
    told = json.loads(out)
    assert told["model"] == "m.priory" and told["rows"] == 30 and told["warnings"] == []
    assert {row["family"].removesuffix(", corrected") for row in told["columns"]} == {"categorical"}
    saved = load("m.priory")
    assert saved.settings.smoothing == 0.5 and saved.provenance.min_count == 2
    assert saved.statistics.weight.sum() == 60


def test_textbook(run):
    run("train", DAYS, "-t", "play", "--textbook", "-o", "m.priory")
    assert load("m.priory").settings == Settings.textbook("plain", 1.0)


COINS = "coin,grams,note,y\n" + "".join(
    f"{'pfd'[i % 3]},{i % 7 + i / 8},{'red sea' if i % 5 else 'blue sky'},{i % 2 + 1}\n"
    for i in range(30)
)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ("", {}),
        ("--smoothing 0", {"smoothing": 0}),
        ("--smoothing coin=2", {"smoothing": {"coin": 2.0}}),
        ("--m-estimate 3", {"smoothing": MEstimate(3, "uniform")}),
        ("--m-estimate 3,marginal", {"smoothing": MEstimate(3, "marginal")}),
        ("--class-prior uniform", {"class_prior": "uniform"}),
        ("--class-prior 1=.3,2=.7", {"class_prior": {1: 0.3, 2: 0.7}}),
        ("--class-prior words --text note", {"class_prior": "words", "text": "note"}),
        ("--missing category", {"missing": "category"}),
        ("--missing coin=category", {"missing": {"coin": "category"}}),
        ("--unseen smooth", {"unseen": "smooth"}),
        ("--unseen coin=smooth", {"unseen": {"coin": "smooth"}}),
        ("--families grams=histogram", {"families": {"grams": "histogram"}}),
        ("--families categorical", {"families": "categorical"}),
        ("--weights none", {"weights": None}),
        ("--weights temperature", {"weights": "temperature"}),
        ("--weights columns", {"weights": "columns"}),
        ("--structure tan", {"structure": "tan"}),
    ],
)  # fmt: skip
def test_the_shell_asks_for_the_textbook_as_python_does(run, tmp_path, options, same):
    (tmp_path / "coins.csv").write_text(COINS)
    code, _, err = run(*f"train coins.csv -t y --textbook -o m.priory {options}".split())
    assert code == 0, err
    table = pd.read_csv(tmp_path / "coins.csv")
    X, y = table.drop(columns="y"), table["y"]
    ours, shells = NaiveBayes.textbook(**same).fit(X, y), load("m.priory")
    assert shells.statistics == ours.statistics_
    new = {"coin": ["p", "x", None], "grams": [2.0, None, 5.0], "note": ["red sea"] * 3}
    found, wanted = shells.predict_log_proba(new), ours.predict_log_proba(new)
    if shells.tuning is None:
        np.testing.assert_array_equal(found, wanted)
    else:  # weights are learned by steps, which rounding may turn
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    assert (shells.tuning is None) == (same.get("weights") is None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--smoothing x", r"--smoothing takes a number of at least 0 .* not 'x'"),
        ("--smoothing -1", r"--smoothing takes a number of at least 0 .* --m-estimate M"),
        ("--smoothing wind=x", r"--smoothing takes a number of at least 0 .* not 'x'"),
        ("--smoothing nan", r"--smoothing takes a number of at least 0 .* not 'nan'"),
        ("--smoothing 1 --m-estimate 1", "--smoothing and --m-estimate both smooth"),
        ("--m-estimate -1", r"--m-estimate takes a number .* not '-1'"),
        ("--m-estimate 2,even", r"--m-estimate takes a number .* not '2,even'"),
        ("--class-prior flat", "--class-prior takes uniform, words, or .* not 'flat'"),
        ("--class-prior No=.3,Yes=x", "--class-prior takes .* not 'No=.3,Yes=x'"),
        ("--class-prior No=.3,No=.7", "--class-prior takes .* not 'No=.3,No=.7'"),
        ("--class-prior No=.3,Ja=.7", "--class-prior must name every class: it names 'No', 'Ja'"),
        ("--class-prior No=.3,Yes=.3", r"The sum of the priors should be 1: --class-prior adds to"),
        ("--class-prior words", "--class-prior words needs a column of text"),
        ("--missing gone", "--missing must be one of .* not 'gone'"),
        ("--missing skip --missing error", "--missing takes one value for all columns, or COLUMN"),
        ("--missing skip --missing wind=error", "--missing takes NAME=VALUE, not 'skip'"),
        ("--unseen wnid=error", "--unseen names a column 'wnid' .* Did you mean 'wind'"),
        ("--unseen smooth --structure tan", "--structure tan leaves .*; --unseen must be 'skip'"),
        ("--weights all", "--weights must be one of none, auto, .* not 'all'"),
        ("--families wind", "--families names a family 'wind'"),
        ("--families wind=catgorical", "Did you mean 'categorical'"),
        ("--families wind=gaussian", r"learn it as categories: --families wind=categorical"),
    ],
)
def test_what_cannot_be_honoured_is_said_of_the_option(run, options, message):
    code, out, err = run(*f"train {DAYS} -t play --textbook -o m.priory {options}".split())
    assert code in (1, 2) and out == ""
    assert re.search(message, err) and len(err.splitlines()) == 1
    assert not Path("m.priory").exists()


def test_a_class_may_be_named_by_its_text(run, tmp_path):
    for y, named in ([True, False] * 4, "true=.9,false=.1"), (["1", "2"] * 4, "1=.9,2=.1"):
        frame = pd.DataFrame({"x": list("abcdefgh"), "y": y})
        frame.to_parquet(tmp_path / "t.parquet")
        code, _, err = run("train", "t.parquet", "-t", "y", "--textbook", "--class-prior", named)
        assert code == 0, err
        prior = load("t.priory").predict_proba({"x": ["z"]})[0]
        assert prior.max().round(12) == 0.9 and load("t.priory").classes[prior.argmax()] == y[0]


def test_warnings_speak_of_options(run, tmp_path):
    (tmp_path / "t.csv").write_text("id,x,y\n" + "".join(f"a{i},b,{i % 2}\n" for i in range(20)))
    _, _, err = run("train", "t.csv", "-t", "y", "--textbook")
    assert "To use it all the same: --families id=categorical." in err


def test_inspect_advises_what_the_shell_takes(run, tmp_path):
    path = tmp_path / "odd.csv"
    numbers = "".join(f"{i % 97}.5,{'ab'[i % 2]}\n" for i in range(30_000))
    path.write_text(f'x,y\n{numbers}oops,a\n"don\'t ]",b\n')
    code, out, _ = run("inspect", path, "-t", "y")
    assert code == 0 and "--na-values oops --na-values 'don'\"'\"'t ]'." in out


def test_a_workbook_on_stdin_has_no_suffix(run, tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "days.xlsx"
    pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "a"]}).to_excel(path, index=False)
    with path.open() as file:
        done = shell("inspect", "-", "-t", "y", stdin=file)
    assert done.returncode == 0 and "x       numbers" in done.stdout


def test_several_columns_as_one_block(run):
    run("train", DAYS, "-t", "play", "--families", "outlook,wind=joint", "-o", "m.priory")
    assert load("m.priory").statistics.schema["outlook, wind"].kind == "joint"


def test_several_files_patterns_queries_and_stdin(run, tmp_path):
    table = pd.read_csv(DAYS)
    for i in range(2):
        table.iloc[i::2].to_csv(tmp_path / f"part{i}.csv", index=False)
    expected = train(DAYS, "play").statistics
    for data in (
        ["part0.csv", "part1.csv"],
        ["part*.csv"],
        [f"SELECT * FROM read_csv('{DAYS}', all_varchar = true)"],
    ):
        assert run("train", *data, "-t", "play", "-o", "m.priory")[0] == 0
        assert load("m.priory").statistics == expected
    assert run("train", "-", "-t", "play", stdin=Path(DAYS).read_text())[0] == 0
    assert load("model.priory").statistics == expected
    packed = subprocess.run(["gzip", "-c", DAYS], capture_output=True, check=True).stdout
    assert run("train", "-", "-t", "play", stdin=packed)[0] == 0
    assert load("model.priory").statistics == expected
    code, _, err = run("train", "-", DAYS, "-t", "play")
    assert code == 2 and "- for stdin stands alone" in err


def test_warnings_are_lines_on_stderr(run, tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"name {i},{i % 2},{'ab'[i % 2]}" for i in range(2000)]
    path.write_text("id,leak,y\n" + "\n".join(rows) + "\n")
    code, out, err = run("train", path, "-t", "y")
    assert code == 0
    assert "priory: warning: Column 'id' has hardly two rows alike" in err
    assert "Column 'leak' alone gives the class of 100.0% of the rows" in out.replace("\n", " ")
    assert "--drop leak" in out
    told = json.loads(run("train", path, "-t", "y", "--json")[1])
    assert told["target_leakage"] == [{"column": "leak", "right": 1.0}]
    assert len(told["warnings"]) == 1


# Asking


def test_predict_csv_jsonl_and_parquet(run, model, tmp_path):
    expected = load(model).predict_proba(pd.read_csv(DAYS).drop(columns="play"))
    code, out, err = run("predict", model, DAYS, "--proba", "--keep", "play")
    assert (code, err) == (0, "")
    table = pd.read_csv(io.StringIO(out))
    assert list(table) == ["play", "prediction", "probability", "P(No)", "P(Yes)"]
    assert table["P(Yes)"].tolist() == expected[:, 1].tolist()
    assert table["play"].tolist() == pd.read_csv(DAYS)["play"].tolist()
    for name, read in (
        ("o.csv", pd.read_csv),
        ("o.jsonl", lambda path: pd.read_json(path, lines=True)),
        ("o.parquet", lambda path: pq.read_table(path).to_pandas()),
        ("o.tsv", lambda path: pd.read_csv(path, sep="\t")),
    ):
        assert run("predict", model, DAYS, "-o", name) == (0, "", "")
        answer = read(tmp_path / name)
        assert list(answer) == ["prediction", "probability"]
        assert answer["prediction"].tolist() == table["prediction"].tolist()
    lines = run("predict", model, DAYS, "--json")[1].splitlines()
    assert len(lines) == 14 and json.loads(lines[0])["prediction"] == "No"
    code, _, err = run("predict", model, DAYS, "-o", "o.xlsx")
    assert code == 2 and "-o writes .csv, .tsv, .jsonl" in err


def test_predict_lines_of_json(run, model):
    p = load(model).predict_proba(DAY)[0]
    code, out, err = run("predict", model, "-", "--proba", stdin=json.dumps(DAY))
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "prediction": "No",
        "probability": p[0],
        "probabilities": {"No": p[0], "Yes": p[1]},
    }
    # A gap, an absent column, the target and blank lines do no harm.
    lines = [{**DAY, "wind": None}, {"outlook": "Rain", "play": "Yes"}, {}]
    code, out, _ = run("predict", model, "-", stdin="\n\n".join(map(json.dumps, lines)) + "\n")
    assert code == 0 and len(out.splitlines()) == 3
    # The same through the long way round.
    slow = run("predict", model, "-", "--json", "--keep", "outlook", stdin=json.dumps(DAY))[1]
    assert json.loads(slow)["probability"] == p[0]


def test_rows_by_keys_are_read_as_in_python(run, model):
    whole = {"outlook": "Sunny", "temperature": None, "humidity": None, "wind": "Strong"}
    expected = load(model).predict_proba(whole)[0].max()
    for row in (
        {"outlook": "Sunny", "wind": "Strong"},
        {"outlook": "Sunny", "wind": "Strong", "play": "No", "moon": "full"},
        whole,
    ):
        assert json.loads(run("predict", model, "-", stdin=json.dumps(row))[1])[
            "probability"
        ] == pytest.approx(expected)
        assert load(model).predict_proba(row)[0].max() == pytest.approx(expected)


def test_warnings_of_lines_are_told_once(run, model):
    code, out, err = run("predict", model, "-", stdin='{"outlook": 3}\n' * 3)
    assert code == 0 and len(out.splitlines()) == 3
    assert err.count("priory: warning: Column 'outlook': 100% of 3 values were never learned") == 1


def test_predict_csv_from_stdin(run, model):
    code, out, _ = run("predict", model, "-", stdin=Path(DAYS).read_text())
    assert (
        code == 0
        and out.splitlines()[0] == "prediction,probability"
        and len(out.splitlines()) == 15
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"outlok": "Rain"}', "Column 'outlok' was not there when the model learned"),
        ('{"outlook": "Rain"', "Line 1 is not JSON"),
        ("{}\n[1]", "Line 2 must be an object"),
        ('{}\n\n{"a', "Line 3 is not JSON"),
        ('{"outlook": {"a": 1}}', "Column 'outlook' holds {'a': 1}"),
    ],
)
def test_bad_lines(run, model, line, message):
    code, _, err = run("predict", model, "-", stdin=line)
    assert code == 1 and message in err and "Traceback" not in err


def test_evaluate(run, model):
    code, out, _ = run("evaluate", model, DAYS, "--json")
    figures = json.loads(out)
    table = pd.read_csv(DAYS)
    X, y = table.drop(columns="play"), table["play"]
    estimator = load(model).to_sklearn()
    from sklearn.metrics import log_loss

    assert code == 0 and figures["rows"] == 14
    assert figures["accuracy"] == pytest.approx(estimator.score(X, y))
    assert figures["log_loss"] == pytest.approx(log_loss(y, estimator.predict_proba(X)))
    assert "accuracy" in run("evaluate", model, DAYS)[1]
    assert "the model was not trained on these rows" in run("evaluate", model, DAYS)[1]


def test_evaluate_rows_of_other_classes_or_none(run, model, tmp_path):
    table = pd.read_csv(DAYS)
    table.loc[0, "play"] = "Maybe"
    table.loc[1, "play"] = None
    table.to_csv(tmp_path / "other.csv", index=False)
    figures = json.loads(run("evaluate", model, "other.csv", "--json")[1])
    assert (figures["rows"], figures["rows_without_class"]) == (13, 1)
    assert figures["impossible_rows"] == 1  # a class the model cannot know counts as a sure miss
    assert figures["log_loss"] > 2
    table.assign(play=None).to_csv(tmp_path / "none.csv", index=False)
    code, _, err = run("evaluate", model, "none.csv")
    assert code == 1 and "No row has a class in column 'play'" in err


def test_explain(run, model):
    expected = str(load(model).explain(DAY)[0])
    given = [word for name, value in DAY.items() for word in ("--set", f"{name}={value}")]
    assert run("explain", model, *given) == (0, expected + "\n", "")
    table = pd.read_csv(DAYS).drop(columns="play")
    for row in (1, 14):
        expected = str(load(model).explain(table.iloc[[row - 1]])[0])
        assert run("explain", model, DAYS, "--row", row)[1] == expected + "\n"
    told = json.loads(run("explain", model, "--set", "outlook=Sunny", "--json")[1])
    assert told["prediction"] == "No" and len(told["factors"]) == 4
    assert told["factors"][1]["left_out"] is True
    code, _, err = run("explain", model, DAYS, "--row", 15)
    assert code == 1 and "There is no row 15: the data have 14" in err
    code, _, err = run("explain", model, "--set", "outlok=Sunny")
    assert code == 1 and "Did you mean 'outlook'?" in err
    code, _, err = run("explain", model)
    assert code == 2 and "Give either data with --row, or values with --set" in err


def test_values_have_the_types_that_were_learned(run, tmp_path):
    X = {"t": [True, False], "n": [1.5, 2.5], "i": [1, 2], "s": ["1", "x"]}
    settings = Settings.textbook(families={"i": "categorical", "n": "gaussian"})
    Classifier(settings).update(X, ["a", "b"]).save(tmp_path / "m.priory")
    given = [word for pair in ("t=true", "n=2", "i=2", "s=1") for word in ("--set", pair)]
    told = json.loads(run("explain", "m.priory", *given, "--json")[1])
    assert [f["value"] for f in told["factors"]] == [True, 2.0, 2, "1"]
    assert not any(f["left_out"] for f in told["factors"])
    code, _, err = run("explain", "m.priory", "--set", "n=many")
    assert code == 1 and "Column 'n' holds numbers, and 'many' is none" in err
    told = json.loads(run("explain", "m.priory", "--set", "n=", "--json")[1])
    assert told["factors"][1]["value"] is None


def test_show(run, model):
    code, out, err = run("show", model)
    assert code == 0 and "outlook" in out and err == ""
    told = json.loads(run("show", model, "--json")[1])
    assert told["provenance"]["target"] == "play"
    assert [row["class"] for row in told["classes"]] == ["No", "Yes"]
    assert told["informative"][0]["column"] == "outlook"


# Changing


def test_show_tables(run, model):
    code, out, _ = run("show", model, "--tables")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["column", "parameter", "value", "class", "estimate", "count", "total"]
    assert ["outlook", "P(value", "|", "class)", "Sunny", "Yes", "0.25", "2", "9"] in lines
    _, out, _ = run("show", model, "--tables", "--fractions", "--json")
    found = json.loads(out)
    assert found[0]["fraction"] == "5/14"
    sunny = [row for row in found if (row["value"], row["class"]) == ("Sunny", "Yes")]
    assert sunny == [
        {
            "column": "outlook",
            "parameter": "P(value | class)",
            "value": "Sunny",
            "class": "Yes",
            "estimate": 0.25,
            "count": 2.0,
            "total": 9.0,
            "fraction": "1/4",
        }
    ]


def test_update_then_forget_restores_the_model(run, model, tmp_path):
    before = load(model).statistics
    code, out, err = run("update", model, DAYS)
    assert (code, out) == (0, "") and "14 rows learned" in err
    assert load(model).statistics.n_rows == 28
    told = json.loads(run("forget", model, DAYS, "--json")[1])
    assert told == {"model": str(model), "rows": 14, "forgotten": 14}
    assert load(model).statistics == before
    code, _, err = run("forget", model, DAYS, "--where", "outlook = 'Rain'", "-o", "less.priory")
    assert code == 0 and load("less.priory").statistics.n_rows == 9
    assert load(model).statistics == before
    content = (tmp_path / "less.priory").read_bytes()
    code, _, err = run("forget", "less.priory", DAYS)
    assert code == 1 and "cannot be forgotten" in err
    assert (tmp_path / "less.priory").read_bytes() == content


def test_a_model_that_learns_on_says_whether_it_is_tuned(run, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 300)
    rows = pd.DataFrame({"x": rng.normal(size=300) + (y == "yes"), "y": y})
    rows[:200].to_csv(tmp_path / "a.csv", index=False)
    rows[200:].to_csv(tmp_path / "b.csv", index=False)
    assert run("train", "a.csv", "-t", "y", "-o", "m.priory")[0] == 0
    code, _, err = run("update", "m.priory", "b.csv", "-o", "n.priory")
    assert code == 0 and "stale" in err and "--keep-sample" in err and "keep_sample" not in err
    code, out, err = run("show", "n.priory")
    assert code == 0 and "Stale: rows came or went" in out and "keep_sample" not in err
    assert run("train", "a.csv", "-t", "y", "-o", "m.priory", "--keep-sample")[0] == 0
    assert "stale" not in run("update", "m.priory", "b.csv")[2]
    assert json.loads(run("show", "m.priory", "--json")[1])["tuning"] == "tuned"
    rows.to_csv(tmp_path / "both.csv", index=False)
    expected = train(tmp_path / "both.csv", "y").predict_proba(rows[["x"]])
    np.testing.assert_allclose(load("m.priory").predict_proba(rows[["x"]]), expected, rtol=1e-4)
    code, _, err = run("train", "a.csv", "-t", "y", "--keep-sample", "--min-count", 5)
    assert code == 2 and "--keep-sample keeps rows as they are, and --min-count" in err


def test_halves_merged_are_the_whole(run, tmp_path):
    table = pd.read_csv(DAYS)
    for i in range(2):
        table.iloc[i::2].to_csv(tmp_path / f"{i}.csv", index=False)
        assert run("train", f"{i}.csv", "-t", "play", "-o", f"{i}.priory")[0] == 0
    told = json.loads(run("merge", "0.priory", "1.priory", "-o", "both.priory", "--json")[1])
    assert told["rows"] == 14
    assert load("both.priory").statistics == train(DAYS, "play").statistics
    code, _, err = run("merge", "0.priory", "-o", "x.priory")
    assert code == 2 and "merge needs two models" in err


def test_sample(run, model):
    code, out, _ = run("sample", model, "-n", 5, "--random-state", 1)
    assert code == 0
    table = pd.read_csv(io.StringIO(out))
    assert list(table) == [*DAY, "play"] and len(table) == 5
    assert run("sample", model, "-n", 5, "--random-state", 1)[1] == out
    lines = run("sample", model, "-n", 3, "--class", "Yes", "--json")[1].splitlines()
    assert [json.loads(line)["play"] for line in lines] == ["Yes"] * 3
    code, _, err = run("sample", model, "--class", "Maybe")
    assert code == 1 and "Class 'Maybe' is not known. Classes: 'No', 'Yes'" in err


def test_export_json(run, model):
    told = json.loads(run("export", model, "--to", "json")[1])
    assert told["classes"] == ["No", "Yes"]
    assert told["factors"][0]["parameters"]["values"] == ["Overcast", "Rain", "Sunny"]


# Failing


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "x.priory", "--fractions"], 2, "--fractions is for the tables of parameters"),
        (["train", "none.csv", "-t", "y"], 1, "There is no file none.csv"),
        (["train", DAYS, "-t", "plya"], 1, "Did you mean 'play'?"),
        (["train", DAYS, "-t", "play", "--drop", "x"], 1, "The column to drop 'x' was not found"),
        (["train", DAYS, "-t", "play", "--where", "x >"], 2, "--where 'x >' is invalid"),
        (["train", DAYS], 2, "--target"),
        (["train", DAYS, "-t", "play", "-o", "no/m.priory"], 1, "No such file or directory"),
        (["show", "none.priory"], 1, "none.priory could not be read: No such file"),
        (["show", DAYS], 1, "is no model file of priory"),
        (["predict", "none.priory", "-"], 1, "could not be read"),
        (["frobnicate"], 2, "frobnicate"),
        (["train", DAYS, "-t", "play", "--frob"], 2, "--frob"),
        (["export", DAYS, "--to", "yaml"], 2, "yaml"),
    ],
)
def test_failures_are_one_line_with_an_exit_code(run, arguments, code, message):
    found, out, err = run(*arguments)
    assert found == code
    assert message in err and "Traceback" not in err and out == ""
    if code == 1:
        assert len(err.splitlines()) == 1


def test_a_bug_is_one_line_too(run, model, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("priory.cli.reports.summary", broken)
    code, _, err = run("show", model)
    assert code == 1 and "this should not have happened: ZeroDivisionError: oh" in err
    monkeypatch.setenv("PRIORY_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("show", model)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help_with_an_example_that_runs(
    run, command, tmp_path, model, monkeypatch
):
    monkeypatch.setattr("uvicorn.run", lambda app, **how: None)  # a server would not end
    code, out, _ = run(command, "--help")
    assert code == 0
    example = out.partition("Example: ")[2].split("\n\n")[0].replace("\n", " ").strip()
    assert example.startswith(f"priory {command} ")
    table = pd.read_csv(DAYS)
    for name in ("days", "new", "held-out", "march", "december", "withdrawn"):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    for name in ("january.priory", "february.priory"):
        (tmp_path / name).write_bytes(model.read_bytes())
    if "--to sql" in example:
        pytest.importorskip("sqlglot")
    if command == "mail":
        for name in ("junk.mbox", "inbox.mbox"):
            shutil.copy(ROOT / "examples" / "mail" / name, tmp_path)
    if command == "verify":
        table.head(3).to_csv(tmp_path / "gone.csv", index=False)
        (tmp_path / "old.priory").write_bytes(model.read_bytes())
        assert run("forget", "days.priory", "gone.csv", "--certificate", "paper.json")[0] == 0
    assert run(*example.partition(" > ")[0].split()[1:])[0] == 0


def test_help_and_version(run):
    code, out, _ = run("--help")
    assert code == 0 and all(command in out for command in COMMANDS)
    assert "--install-completion" in out
    assert run("--version")[1].startswith("priory 0.")


def shell(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "priory", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


COLD = """
import sys
from priory.cli import main
code = main(["predict", sys.argv[1], "-"])
print(code, *sorted(sys.modules), file=sys.stderr)
"""


def test_a_single_prediction_loads_little(model):
    done = subprocess.run(
        [sys.executable, "-c", COLD, model],
        input=json.dumps(DAY) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert json.loads(done.stdout)["prediction"] == "No"
    code, *loaded = done.stderr.split()
    assert code == "0" and "pyarrow" in loaded
    heavy = {"sklearn", "pandas", "duckdb", "scipy", "typer", "click", "rich", "polars"}
    assert not heavy & set(loaded)
    # Nor what is priory's own: families the model has not, and what learns and explains.
    assert "priory.families.categorical" in loaded
    own = (
        "families.histogram",
        "families.aode",
        "tuning.tuning",
        "tuning.leave_one_out",
        "model.explanation",
        "text.messages",
    )
    assert not {f"priory.{name}" for name in own} & set(loaded)


def test_the_module_runs_and_its_output_has_no_colour_in_a_pipe(model):
    done = shell("show", model)
    assert done.returncode == 0 and "\x1b" not in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
def test_an_interrupt_leaves_no_half_file(tmp_path, model):
    source = tmp_path / "endless"
    os.mkfifo(source)
    target = tmp_path / "m.priory"
    target.write_bytes(model.read_bytes())
    process = subprocess.Popen(
        [sys.executable, "-m", "priory", "train", "-", "-t", "y", "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    process.stdin.write("x,y\n1,a\n")
    process.stdin.flush()
    while not list(tmp_path.glob("priory-stdin-*")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in err and "Traceback" not in err
    assert target.read_bytes() == model.read_bytes()
    assert not list(tmp_path.glob("priory-stdin-*")) and not list(tmp_path.glob(".m.priory*"))


def test_a_reader_that_leaves_early_is_no_error(model):
    command = f"{sys.executable} -m priory sample {model} -n 200000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr


# Files as they come

MESSY = (
    'n,price,zip,y\n1,"1,5",01067,yes\nNA,"2,5",10115,no\n3,"3,5",04109, yes\n4,"4,5",20095,no\n'
)


def test_inspect(run, tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY)
    code, out, err = run("inspect", path, "-t", "y")
    assert code == 0 and err == ""
    assert "numbers  1 (25.0%)  3         integer" in out and "--decimal ','" in out
    found = json.loads(run("inspect", path, "--decimal", ",", "--json")[1])
    assert found["rows"] == 4 and found["unread"] == []
    assert [column["kind"] for column in found["columns"]] == [
        "numbers",
        "numbers",
        "labels",
        "labels",
    ]
    found = json.loads(run("inspect", path, "--json", "--na-values", "none")[1])
    assert {odd["column"]: odd["mend"] for odd in found["unread"]} == {
        "n": "If they stand for missing values: --na-values NA.",
        "price": "To read all of them as numbers: --decimal ','.",
    }
    code, out, _ = run("inspect", "-", stdin=MESSY)
    assert code == 0 and out.startswith("stdin: 4 rows")
    assert run("inspect", path, "-t", "why")[0] == 1


def test_train_tells_integers_and_what_does_not_parse(run, tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY)
    code, out, err = run("train", path, "-t", "y", "-o", "m.priory")
    assert code == 0 and "integer, 3 distinct values" in out
    assert "Column 'price' is read as labels" in err and "--decimal ','" in err
    assert "decimal=" not in err


def test_messages_name_stdin_and_not_a_temporary_file(run, model):
    for stdin, message in [
        ("outlook,wind\nRain\n", "Line 2 of stdin has 1 values, but there are 2 columns"),
        ("", "stdin is empty"),
        ('[{"outlook": "Rain"}, 3]', "Row 2 of stdin must be an object"),
        ("PAR1 is no footer", "stdin could not be read"),
        ("SQLite format 3\0 is no base", "stdin could not be read"),
    ]:
        code, _, err = run("predict", model, "-", stdin=stdin)
        assert code == 1 and message in err.replace("warning: ", "") and "/tmp" not in err
        assert "priory-stdin" not in err


def test_good_lines_before_a_bad_one_are_answered(run, model, tmp_path):
    lines = [json.dumps(DAY), json.dumps(DAY), "{not json", json.dumps(DAY), '{"outlook": [1]}']
    code, out, err = run("predict", model, "-", stdin="\n".join(lines))
    assert code == 1 and len(out.splitlines()) == 2 and "Line 3 is not JSON" in err
    code, out, err = run("predict", model, "-", "--on-error", "skip", stdin="\n".join(lines))
    assert code == 0 and len(out.splitlines()) == 3
    assert "2 lines were left out: Line 3 is not JSON" in err and "Line 5: Column 'outlook'" in err
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines[:4]))
    code, out, err = run("predict", model, path)
    assert code == 1 and len(out.splitlines()) == 2 and "Line 3 of" in err
    code, out, err = run("predict", model, path, "--on-error=skip")
    assert code == 0 and len(out.splitlines()) == 3 and "1 row was left out of" in err
    assert run("predict", model, path, "--on-error", "perhaps")[0] == 2


def test_update_and_merge_tell_what_is_new(run, model, tmp_path):
    text = Path(DAYS).read_text().replace(",Yes", ",Yess").replace("Weak", "Gale")
    (tmp_path / "typo.csv").write_text(text)
    code, _, err = run("update", model, tmp_path / "typo.csv", "-o", tmp_path / "new.priory")
    assert code == 0 and "new class: 'Yess'" in err and "new value of 'wind': 'Gale'" in err
    code, _, err = run("update", model, tmp_path / "typo.csv", "--no-new-classes")
    assert code == 1 and "9 rows of the class 'Yess'" in err and "Did you mean 'Yes'?" in err
    run("train", tmp_path / "typo.csv", "-t", "play", "-o", tmp_path / "b.priory", "--textbook")
    merge = ("merge", model, tmp_path / "b.priory", "-o", tmp_path / "c.priory")
    found = json.loads(run(*merge, "--json")[1])
    assert found["new_classes"] == ["Yess"] and found["new_values"] == {"wind": ["Gale"]}
    code, _, err = run(*merge, "--no-new-classes")
    assert code == 1 and "b.priory has 9 rows of the class 'Yess'" in err


def test_what_was_learned_reads_gap_words_of_set(run, tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY)
    run("train", path, "-t", "y", "-o", "m.priory", "--decimal", ",")
    assert run("explain", "m.priory", "--set", "n=NA", "--set", "price=2.5")[0] == 0
    assert run("explain", "m.priory", "--set", "n=nine")[0] == 1
