"""Nothing lost, nothing overwritten, nothing obeyed: the commands, files and terminals."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from priory import Classifier, Settings, load
from priory.base.errors import ModelFileError
from priory.cli import main

ROOT = Path(__file__).parents[2]
DAYS = ROOT / "examples" / "play_tennis.csv"


@pytest.fixture
def model(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "days.priory"
    assert main(["train", str(DAYS), "--target", "play", "--textbook", "-o", str(path)]) == 0
    return path


def priory(*arguments, **more):
    command = [sys.executable, "-m", "priory", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more)


# Two at once


def test_two_updates_at_once_lose_nothing(model):
    commands = [priory("update", model, DAYS) for _ in range(3)]
    for command in commands:
        _, err = command.communicate()
        assert command.returncode == 0, err
    assert load(model).statistics.n_rows == 4 * 14
    assert sorted(os.listdir(model.parent)) == [model.name]


def test_a_model_that_another_changed_is_not_replaced(model):
    first, second = load(model), load(model)
    rows = pd.read_csv(DAYS)
    X, y = rows.drop(columns="play"), rows["play"]
    first.update(X, y).save(model)
    first.update(X, y).save(model)  # it knows what it has saved
    with pytest.raises(ModelFileError, match=r"another changed it since it was loaded"):
        second.update(X, y).save(model)
    assert load(model).statistics.n_rows == 3 * 14
    second.save(model.parent / "other.priory")
    second.merge(load(model)).save(model.parent / "other.priory")
    model.unlink()
    second.save(model)  # there is nothing to lose


def test_an_estimator_saves_again_and_again(tmp_path):
    from priory import NaiveBayes
    from priory import load as load_any

    path = tmp_path / "m.priory"
    estimator = NaiveBayes.textbook().fit({"x": ["a", "b"]}, [0, 1])
    estimator.save(path)
    estimator.save(path)
    loaded, other = load_any(path), load_any(path)
    loaded.partial_fit({"x": ["a"]}, [1]).save(path)
    loaded.save(path)
    with pytest.raises(ModelFileError, match="another changed it"):
        other.save(path)


def test_whoever_reads_while_others_write_sees_a_whole_model(tmp_path):
    path = tmp_path / "m.priory"
    families = {"x": "categorical"}
    classifier = Classifier(Settings.textbook(families=families)).update({"x": ["a", "b"]}, [0, 1])
    classifier.save(path)
    done = threading.Event()

    def write():
        try:
            for _ in range(30):
                classifier.update({"x": [f"v{i}" for i in range(50)]}, [0] * 50).save(path)
        finally:
            done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        seen.append(load(path).statistics.n_rows)
    writer.join()
    assert seen[-1] > 50 and seen == sorted(seen) and all((n - 2) % 50 == 0 for n in seen)


# Output is not input


@pytest.fixture
def data(tmp_path) -> Path:
    path = tmp_path / "days.csv"
    path.write_text(DAYS.read_text())
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        "train days.csv --target play -o days.csv",
        "train *.csv --target play -o link.csv",
        "train days.csv --target play -o hard.csv",
        "predict days.priory days.csv -o days.csv",
        "predict days.priory days.csv -o ./link.csv",
        "update days.priory days.csv -o days.csv",
        "forget days.priory days.csv -o days.csv",
        "sample days.priory -o model.csv",
        "export model.csv --to json -o days.priory",
        "predict model.csv days.csv -o model.csv",
    ],
)
def test_output_over_input_is_refused(model, data, capsys, arguments):
    (data.parent / "link.csv").symlink_to(data)
    os.link(data, data.parent / "hard.csv")
    (data.parent / "model.csv").symlink_to(model)
    before, learned = data.read_bytes(), model.read_bytes()
    assert main(arguments.split()) == 2
    err = capsys.readouterr().err
    assert "would overwrite" in err and "which is read. Name another file with -o" in err
    assert data.read_bytes() == before and model.read_bytes() == learned


def test_output_over_a_file_of_a_query_or_of_stdin_is_refused(model, data, capsys):
    for query in ("SELECT * FROM 'days.csv'", "SELECT * FROM read_csv('d*.csv')"):
        assert main(["predict", str(model), query, "-o", "days.csv"]) == 2
        assert "-o days.csv would overwrite days.csv" in capsys.readouterr().err
    with data.open() as stdin:
        command = priory("predict", model, "-", "-o", data, stdin=stdin)
        _, err = command.communicate()
    assert command.returncode == 2 and "would overwrite /dev/stdin" in err
    assert data.read_bytes() == DAYS.read_bytes()


def test_output_over_a_text_of_a_folder_is_refused(tmp_path, capsys):
    for label in ("ham", "spam"):
        (tmp_path / "mail" / label).mkdir(parents=True)
        (tmp_path / "mail" / label / "1.txt").write_text(f"{label} and eggs")
    mail = str(tmp_path / "mail")
    assert main(["train", mail, "-o", f"{mail}/ham/1.txt"]) == 2
    assert "would overwrite" in capsys.readouterr().err
    for _ in range(2):
        assert main(["train", mail, "-o", f"{mail}/model.priory"]) == 0


def test_a_file_that_exists_is_replaced_as_it_is(model, data):
    out, link = data.parent / "answers.csv", data.parent / "link.csv"
    out.write_text("old")
    out.chmod(0o640)
    link.symlink_to(out)
    assert main(["predict", str(model), str(data), "-o", str(link)]) == 0
    assert link.is_symlink() and out.stat().st_mode & 0o777 == 0o640
    assert out.read_text().startswith("prediction,probability\n")
    assert main(["export", str(model), "--to", "sql", "-o", str(link.with_suffix(".sql"))]) == 0
    if os.name == "posix":
        assert main(["train", str(data), "--target", "play", "-o", "/dev/null"]) == 1
        assert not Path("/dev/null").is_file()


# Terminals


class Terminal(io.StringIO):
    def isatty(self):
        return True


NASTY = "red\x1b[31m\x9b2J\u202e"


@pytest.fixture
def nasty(tmp_path) -> Path:
    path = tmp_path / "nasty.priory"
    rows = {NASTY: [NASTY, "b", NASTY, "b"]}
    Classifier(Settings.textbook()).update(rows, [NASTY, "no", NASTY, "no"]).save(path)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        "show M",
        "show M --tables",
        "show M --json",
        "explain M D",
        "predict M D --proba",
        "predict M D --proba --json",
        "sample M",
        "export M --to json",
        "evaluate M D --target y",
        "evaluate M D",
        "predict M D --keep nothing",
    ],
)
def test_names_and_values_are_no_commands_to_a_terminal(nasty, monkeypatch, arguments):
    data = nasty.parent / "nasty.csv"
    pd.DataFrame({NASTY: [NASTY, "b"], "y": [NASTY, "no"]}).to_csv(data, index=False)
    out, err = Terminal(), Terminal()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    main(arguments.replace("M", str(nasty)).replace("D", str(data)).split())
    text = out.getvalue() + err.getvalue()
    assert text and not {"\x1b", "\x9b", "\u202e"} & set(text)
    assert "x1b[31m" in text or r"\u001b" in text or "target column" in text or "nothing" in text


def test_in_a_file_values_are_as_they_are(nasty, tmp_path):
    data = tmp_path / "cells.csv"
    pd.DataFrame({NASTY: ["=1+1", "b"], "id": ["=cmd()", "-1@x"]}).to_csv(data, index=False)
    out = tmp_path / "out.csv"
    assert main(["predict", str(nasty), str(data), "--keep", "id", "-o", str(out)]) == 0
    found = pd.read_csv(out)
    assert found["id"].tolist() == ["=cmd()", "-1@x"] and found["prediction"][1] == "no"
