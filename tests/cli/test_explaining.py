"""The commands that say why call the library, and say what it says."""

import csv
import io
import json

import pytest
from tests.cli.test_cli import DAYS

from priory import load
from priory.cli import main

DAY = ["--set", "outlook=Sunny", "--set", "temperature=Cool", "--set", "humidity=High"]


@pytest.fixture
def shell(capsys):
    def call(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def model(tmp_path, shell):
    path = tmp_path / "days.priory"
    assert shell("train", DAYS, "-t", "play", "--textbook", "-o", path)[0] == 0
    return path


def test_explain_writes_counts_pages_and_pictures(shell, model, tmp_path):
    pytest.importorskip("matplotlib")
    page, picture = tmp_path / "day.html", tmp_path / "day.svg"
    code, out, _ = shell("explain", model, *DAY, "--counts", "--html", page, "--plot", picture)
    assert code == 0
    assert "5 of 14" in out
    assert "<!doctype html>" in page.read_text("utf-8")
    assert "3 of 5" in page.read_text("utf-8")
    assert "<svg" in picture.read_text("utf-8")
    code, _, err = shell("explain", model, *DAY, "--plot", tmp_path / "day.gif")
    assert code != 0
    assert "--plot writes .png, .svg or .pdf files, not 'day.gif'" in err
    told = json.loads(shell("explain", model, *DAY, "--json")[1])
    assert told["factors"][0]["counts"]["count"] == {"No": 3.0, "Yes": 2.0}


def test_what_if(shell, model):
    day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High"}
    expected = load(model).what_if(day, fixed=["outlook"])
    assert shell("what-if", model, *DAY, "--fixed", "outlook") == (0, f"{expected}\n", "")
    options = ["--target", "Yes", "--probability", "0.9", "--cost", "outlook=3", "--seconds", 5]
    told = json.loads(shell("what-if", model, *DAY, *options, "--json")[1])
    found = load(model).what_if(day, "Yes", probability=0.9, costs={"outlook": 3.0})
    assert told == found.to_dict()
    from_file = shell("what-if", model, DAYS, "--row", 3)
    assert from_file[0] == 0
    assert "becomes P(No)" in from_file[1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--cost", "wind=much"], "--cost wind= takes a number above 0, or steps, not 'much'"),
        (["--range", "wind=3"], "--range wind= takes LOW..HIGH, such as 18..65, not '3'"),
        (["--target", "Maybe"], "target must be one of the classes, 'No', 'Yes', not 'Maybe'"),
        (["--direction", "wind=left"], "must be 'up' or 'down', not 'left'"),
        (["--fixed", "windy"], "Did you mean 'wind'"),
    ],
)
def test_what_if_refuses(shell, model, options, told):
    code, _, err = shell("what-if", model, *DAY, *options)
    assert code != 0
    assert told in err


def test_label_errors(shell, model, tmp_path):
    code, out, err = shell("label-errors", model, DAYS, "-n", 3)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 3
    assert "rows are suspicious (exact leave-one-out)" in err
    with open(DAYS, encoding="utf-8") as file:
        days = list(csv.DictReader(file))
    for row in rows:  # rows count from 1
        assert days[int(row["row"]) - 1]["play"] == row["label"]
    written = tmp_path / "errors.jsonl"
    assert shell("label-errors", model, DAYS, "-o", written)[0] == 0
    assert len(written.read_text("utf-8").splitlines()) == 14
    code, _, err = shell("label-errors", model, DAYS, "-t", "plya")
    assert code != 0
    assert "plya" in err
