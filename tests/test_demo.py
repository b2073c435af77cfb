"""The demonstration runs, and its figures are those of the lecture example."""

import subprocess
import sys

import pytest

from priory import demo


@pytest.fixture(scope="module")
def shown() -> str:
    command = [sys.executable, "-X", "utf8", "-W", "error", "-m", "priory.demo"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def line(shown: str, start: str) -> list[str]:
    """Return the words after `start` of the first line that begins so."""
    found = next(text for text in shown.splitlines() if text.strip().startswith(start))
    return found.strip().removeprefix(start).split()


def test_it_fits_a_terminal_of_80_columns(shown: str) -> None:
    assert max(map(len, shown.splitlines())) <= 80
    assert all(text == text.rstrip() for text in shown.splitlines())


def test_it_shows_what_was_learned(shown: str) -> None:
    assert line(shown, "outlook      labels") == ["categorical", "strings"]
    assert line(shown, "P(class)") == ["5/14", "0.3571", "9/14", "0.6429"]
    assert line(shown, "outlook      Overcast") == ["0/5", "0.0000", "4/9", "0.4444"]
    assert line(shown, "wind         Strong") == ["3/5", "0.6000", "3/9", "0.3333"]


def test_it_works_the_prediction_out(shown: str) -> None:
    assert "0.0206 against 0.0053: so No, with probability 0.7954." in shown
    assert "0.0182 against 0.0071: so No, with probability 0.7201." in shown


def test_its_leave_one_out_is_that_of_refitting_without_each_row(shown: str) -> None:
    X, y = demo.play_tennis()
    right = 0
    for i, label in enumerate(y):
        others = [k for k in range(len(y)) if k != i]
        score = {}
        for c in ("No", "Yes"):
            rows = [X[k] for k in others if y[k] == c]
            p = len(rows) / len(others)
            for column, value in X[i].items():
                domain = {X[k][column] for k in others}
                p *= (sum(row[column] == value for row in rows) + 1) / (len(rows) + len(domain))
            score[c] = p
        right += max(score, key=lambda c: score[c]) == label
    assert line(shown, "all four columns, leave-one-out")[:3] == [str(right), "of", "14"]
    assert line(shown, "no column, the class prior alone, leave-one-out")[:3] == ["9", "of", "14"]
    assert line(shown, "all four columns, on days it has learned")[:3] == ["13", "of", "14"]
    assert "the statistics are the same, bit for bit." in shown
